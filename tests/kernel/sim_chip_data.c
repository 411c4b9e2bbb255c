// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moves samples between a chip and the memory. An ADC sends the pattern of the stream in place of a
 * signal, or one of the chip's test modes. The core of a DAC passes samples on, depending on its
 * data source.
 */
#include <linux/bitops.h>

#include "sim_chip.h"

/* Returns the word that the chip sends in a test mode, as the table in its data sheet defines. */
static u16 sim_test_code(struct sim_chip *chip, u8 test, u64 scan)
{
	unsigned int bits = chip->kind->realbits;
	bool twos = (chip->spi_regs[CHIP_OUTPUT_MODE] & OUTPUT_FORMAT) == TWOS_COMPLEMENT;
	u16 ones = GENMASK(bits - 1, 0), sign = twos ? BIT(bits - 1) : 0;

	switch (test) {
	case TEST_MIDSCALE:
		return BIT(bits - 1) ^ sign;
	case TEST_POSITIVE:
		return ones ^ sign;
	case TEST_NEGATIVE:
		return sign;
	case TEST_CHECKERBOARD:
		return (scan & 1 ? 0x5555 : 0xaaaa) & ones;
	case TEST_TOGGLE:
		return scan & 1 ? 0 : ones;
	case TEST_RAMP:
		return scan & ones;
	default:	/* other modes are not modeled */
		return 0;
	}
}

/* Returns the same word in the format that the core outputs. */
static u16 sim_test_word(struct sim_chip *chip, unsigned int c, u64 scan)
{
	unsigned int bits = chip->kind->realbits;
	u32 format = *sim_chip_reg(chip, CORE_CHAN_CTRL(c));
	u16 code = sim_test_code(chip, chip->test[c], scan);

	if (!(format & CHAN_FORMAT_EN))
		return code;
	if (format & CHAN_FORMAT_TYPE)
		code ^= BIT(bits - 1);
	return format & CHAN_FORMAT_SIGNEXT ? sign_extend32(code, bits - 1) : code;
}

static bool sim_chip_tests(struct sim_chip *chip)
{
	unsigned int i;

	for (i = 0; i < chip->conv->layout.count; i++)
		if (chip->test[chip->active[i]] != TEST_OFF)
			return true;
	return false;
}

/*
 * Each channel has its own test mode. One can be in a test mode while the pattern of the other
 * continues.
 */
static void sim_chip_overlay(struct sim_chip *chip, u8 *out, u64 position, size_t bytes)
{
	unsigned int count = chip->conv->layout.count, i;
	u32 at;
	u64 scan = div_u64_rem(position / sizeof(u16), count, &at);

	for (; bytes >= sizeof(u16); bytes -= sizeof(u16), out += sizeof(u16)) {
		i = chip->active[at];
		if (chip->test[i] != TEST_OFF)
			put_unaligned_le16(sim_test_word(chip, i, scan), out);
		if (++at == count) {
			at = 0;
			scan++;
		}
	}
}

static void sim_chip_receive(struct sim_converter *conv, u8 *out, u64 position, size_t bytes)
{
	if (!sim_chip_in_eye(conv->chip)) {
		memset(out, 0xa5, bytes);	/* differs from the data that were sent */
		return;
	}
	sim_pattern_fill(&conv->layout, out, position, bytes);
	if (sim_chip_tests(conv->chip))
		sim_chip_overlay(conv->chip, out, position, bytes);
}

void sim_chip_move(struct sim_converter *conv, void *memory, u64 position, size_t bytes)
{
	u32 select = *sim_chip_reg(conv->chip, CORE_CHAN_CTRL_3(0)) & CHAN_DATA_SEL;

	if (!conv->core.tx)
		sim_chip_receive(conv, memory, position, bytes);
	else if (select == CHAN_DATA_DMA)
		sim_check(&conv->check, &conv->layout, memory, position, bytes);
	else
		conv->check.mismatches++;	/* accepted, but the core plays its own tone */
}
