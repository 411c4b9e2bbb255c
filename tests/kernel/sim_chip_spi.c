// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers of the chip, and its SPI controller. A message has a header of one or two bytes.
 * The top bit of the header is set if the following bytes are read, and clear if they are written.
 */
#include <linux/platform_device.h>
#include <linux/spi/spi.h>

#include "sim_chip.h"

#define CHIP_TRANSFER		0xff	/* clears itself when the registers have been applied */

#define DAC_MODE		0x00
#define  DAC_RESET		BIT(5)
#define DAC_RECEIVER		0x10
#define  RECEIVER_LOOP		0x03
#define DAC_RECEIVER_STATUS	0x21
#define  RECEIVER_LOCKED	(BIT(3) | BIT(0))
#define DAC_MU			0x26
#define  MU_ENABLE		BIT(0)
#define DAC_MU_STATUS		0x2a
#define  MU_LOCKED		BIT(0)

static u8 sim_dac_read(struct sim_chip *chip, u8 reg)
{
	const u8 *regs = chip->spi_regs;

	if (reg == DAC_RECEIVER_STATUS)
		return (regs[DAC_RECEIVER] & RECEIVER_LOOP) == RECEIVER_LOOP ? RECEIVER_LOCKED : 0;
	if (reg == DAC_MU_STATUS)
		return regs[DAC_MU] & MU_ENABLE ? MU_LOCKED : 0;
	return regs[reg];
}

static void sim_dac_write(struct sim_chip *chip, u8 reg, u8 value)
{
	if (reg == DAC_MODE && value & DAC_RESET) {
		memset(chip->spi_regs, 0, sizeof(chip->spi_regs));
		chip->spi_regs[chip->kind->id_reg] = chip->kind->id;
	}
	chip->spi_regs[reg] = value;
}

static u8 sim_adc_read(struct sim_chip *chip, u8 reg)
{
	unsigned int c;

	if (reg == CHIP_TEST_IO)
		for (c = 0; c < chip->kind->channels; c++)
			if (chip->spi_regs[CHIP_CHANNEL_INDEX] & BIT(c))
				return chip->test[c];
	return chip->spi_regs[reg];
}

static void sim_adc_write(struct sim_chip *chip, u8 reg, u8 value)
{
	unsigned int c;

	if (reg == CHIP_TRANSFER)
		return;
	if (reg == CHIP_TEST_IO)
		for (c = 0; c < chip->kind->channels; c++)
			if (chip->spi_regs[CHIP_CHANNEL_INDEX] & BIT(c))
				WRITE_ONCE(chip->test[c], value & 0xf);
	chip->spi_regs[reg] = value;
}

static u8 sim_chip_spi_read(struct sim_chip *chip, u8 reg)
{
	return chip->kind->tx ? sim_dac_read(chip, reg) : sim_adc_read(chip, reg);
}

static void sim_chip_spi_write(struct sim_chip *chip, u8 reg, u8 value)
{
	if (reg == chip->kind->id_reg)
		return;
	if (chip->kind->tx)
		sim_dac_write(chip, reg, value);
	else
		sim_adc_write(chip, reg, value);
}

static int sim_chip_message(struct spi_controller *host, struct spi_message *message)
{
	struct sim_chip *chip = *(struct sim_chip **)spi_controller_get_devdata(host);
	unsigned int length = chip->kind->header, read = BIT(8 * length - 1), header = 0, at = 0, i;
	struct spi_transfer *transfer;

	list_for_each_entry(transfer, &message->transfers, transfer_list) {
		const u8 *out = transfer->tx_buf;
		u8 *in = transfer->rx_buf;

		for (i = 0; i < transfer->len; i++, at++) {
			u8 reg = (header & ~read) + at - length;

			if (at < length)
				header = header << 8 | (out ? out[i] : 0);
			else if (header & read && in)
				in[i] = sim_chip_spi_read(chip, reg);
			else if (!(header & read) && out)
				sim_chip_spi_write(chip, reg, out[i]);
		}
		message->actual_length += transfer->len;
	}
	message->status = 0;
	spi_finalize_current_message(host);
	return 0;
}

static struct spi_controller *sim_chip_controller(struct sim_chip *chip)
{
	struct spi_controller *host = spi_alloc_host(&chip->spi_pdev->dev, sizeof(chip));
	int ret;

	if (!host)
		return ERR_PTR(-ENOMEM);
	*(struct sim_chip **)spi_controller_get_devdata(host) = chip;
	host->bus_num = -1;
	host->num_chipselect = 1;
	host->bits_per_word_mask = SPI_BPW_MASK(8);
	host->transfer_one_message = sim_chip_message;
	ret = spi_register_controller(host);
	if (!ret)
		return host;
	spi_controller_put(host);
	return ERR_PTR(ret);
}

int sim_chip_spi_add(struct sim_chip *chip, const struct software_node *node)
{
	struct spi_board_info info = { .max_speed_hz = 10000000, .swnode = node };

	chip->spi_pdev = platform_device_register_simple("iios-spi", PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(chip->spi_pdev))
		return PTR_ERR(chip->spi_pdev);
	chip->spi_host = sim_chip_controller(chip);
	if (IS_ERR(chip->spi_host))
		return PTR_ERR(chip->spi_host);
	strscpy(info.modalias, chip->kind->name, sizeof(info.modalias));
	chip->spi = spi_new_device(chip->spi_host, &info);
	return chip->spi && chip->spi->dev.driver ? 0 : -ENODEV;
}

void sim_chip_spi_remove(struct sim_chip *chip)
{
	if (chip->spi)
		spi_unregister_device(chip->spi);
	if (!IS_ERR_OR_NULL(chip->spi_host))
		spi_unregister_controller(chip->spi_host);
	if (!IS_ERR_OR_NULL(chip->spi_pdev))
		platform_device_unregister(chip->spi_pdev);
	chip->spi = NULL;
	chip->spi_host = NULL;
	chip->spi_pdev = NULL;
}
