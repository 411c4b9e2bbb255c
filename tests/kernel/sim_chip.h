/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A converter chip and its AXI-ADC or AXI-DAC core, driven by the kernel's own drivers. sim_chip.c
 * has the registers of the core, sim_chip_spi.c has the registers of the chip, sim_chip_data.c
 * makes the samples, and sim_chip_plug.c has the devices to which the drivers are bound.
 */
#ifndef SIM_CHIP_H
#define SIM_CHIP_H

#include "sim.h"

#define SIM_CHIP_CORE		3	/* number of the AXI-DMAC and the core's device */
#define SIM_CHIP_CHANNELS	2
#define SIM_CHIP_SPI_REGS	256
#define SIM_CHIP_FRONT_END	"iios-chip"	/* node; the SPI device is "spi-" plus this */

/* Registers of the chip, as defined in ADI's AN-877. */
#define CHIP_CHANNEL_INDEX	0x05
#define CHIP_TEST_IO		0x0d
#define CHIP_OUTPUT_MODE	0x14
#define  OUTPUT_FORMAT		0x03
#define  TWOS_COMPLEMENT	0x01
#define CHIP_OUTPUT_DELAY	0x17

#define TEST_OFF		0
#define TEST_MIDSCALE		1
#define TEST_POSITIVE		2
#define TEST_NEGATIVE		3
#define TEST_CHECKERBOARD	4
#define TEST_PN23		5
#define TEST_PN9		6
#define TEST_TOGGLE		7
#define TEST_RAMP		15

/* Registers of the core. */
#define CORE_VERSION		0x000
#define CORE_RSTN		0x040
#define  RSTN_RSTN		BIT(0)
#define  RSTN_MMCM		BIT(1)
#define CORE_DRP_STATUS		0x074
#define  DRP_LOCKED		BIT(17)
#define CORE_XFLOW		0x088
#define CORE_CHAN_CTRL(c)	(0x400 + (c) * 0x40)
#define  CHAN_FORMAT_SIGNEXT	BIT(6)
#define  CHAN_FORMAT_TYPE	BIT(5)
#define  CHAN_FORMAT_EN		BIT(4)
#define  CHAN_ENABLE		BIT(0)
#define CORE_CHAN_STATUS(c)	(0x404 + (c) * 0x40)
#define  CHAN_OUT_OF_SYNC	(BIT(1) | BIT(2))
#define CORE_CHAN_CTRL_3(c)	(0x418 + (c) * 0x40)	/* CTRL_7 of a DAC */
#define  CHAN_PN_SEL		GENMASK(19, 16)
#define  CHAN_PN23		BIT(16)
#define  CHAN_DATA_SEL		GENMASK(3, 0)
#define  CHAN_DATA_DMA		2
#define CORE_DELAY(lane)	(0x800 + (lane) * 4)

struct clk_hw;
struct clk_lookup;
struct software_node;
struct spi_controller;
struct spi_device;

struct sim_chip_kind {
	const char *name;
	const char *driver;		/* driver of the core, and name of its device */
	const char *clock;		/* name in the chip's driver */
	bool tx;
	u8 header;			/* bytes before the data on SPI */
	u8 id_reg, id;
	u8 channels, realbits;
	u8 lanes;			/* delays in the core; 0: one delay in the chip */
	u32 version;
	u32 rate;
};

struct sim_chip {
	const struct sim_chip_kind *kind;
	struct sim_converter *conv;
	char core_device[32];
	u8 spi_regs[SIM_CHIP_SPI_REGS];
	u8 test[SIM_CHIP_CHANNELS];
	u32 *regs;			/* registers of the core */
	u8 active[SIM_CHIP_CHANNELS];	/* channels in the stream, in order */
	bool silent;			/* the core has no output */

	struct platform_device *spi_pdev;
	struct spi_controller *spi_host;
	struct spi_device *spi;
	struct clk_hw *clk;
	struct clk_lookup *clk_of_chip, *clk_of_core;
};

static inline u32 *sim_chip_reg(struct sim_chip *chip, unsigned int reg)
{
	return &chip->regs[reg / sizeof(u32)];
}

extern const struct sim_front_end sim_chip_front_end;

bool sim_chip_in_eye(struct sim_chip *chip);
void sim_chip_enable(struct sim_converter *conv, bool on);
bool sim_chip_ready(struct sim_converter *conv);
void sim_chip_move(struct sim_converter *conv, void *memory, u64 position, size_t bytes);
int sim_chip_plug(struct sim_converter *conv);
void sim_chip_unplug(struct sim_converter *conv);
int sim_chip_spi_add(struct sim_chip *chip, const struct software_node *node);
void sim_chip_spi_remove(struct sim_chip *chip);
int sim_chip_clk_add(struct sim_chip *chip);
void sim_chip_clk_remove(struct sim_chip *chip);

#endif
