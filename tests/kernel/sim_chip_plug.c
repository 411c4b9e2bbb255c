// SPDX-License-Identifier: GPL-2.0-only
/*
 * The devices to which the kernel's drivers are bound: the platform device of the core, the chip
 * on SPI, and the sample clock. The chip finds the core through a software node, and both find
 * the clock by their names.
 */
#include <linux/clk-provider.h>
#include <linux/clkdev.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "sim_chip.h"

static const struct software_node sim_core_node = { .name = "iios-chip-core" };
static const struct property_entry sim_chip_entries[] = {
	PROPERTY_ENTRY_REF("io-backends", &sim_core_node),
	{ }
};
static const struct software_node sim_chip_node = {
	.name = SIM_CHIP_FRONT_END,
	.properties = sim_chip_entries,
};
static const struct software_node *sim_nodes[] = { &sim_core_node, &sim_chip_node, NULL };

struct sim_chip_clk {
	struct clk_hw hw;
	struct sim_converter *conv;
};

static struct sim_converter *sim_clk_converter(struct clk_hw *hw)
{
	return container_of(hw, struct sim_chip_clk, hw)->conv;
}

static unsigned long sim_clk_recalc_rate(struct clk_hw *hw, unsigned long parent)
{
	return READ_ONCE(sim_clk_converter(hw)->nominal_rate);
}

static int sim_clk_determine_rate(struct clk_hw *hw, struct clk_rate_request *request)
{
	return 0;	/* any rate is accepted */
}

static int sim_clk_set_rate(struct clk_hw *hw, unsigned long rate, unsigned long parent)
{
	return sim_converter_set_rate(sim_clk_converter(hw), rate);
}

static const struct clk_ops sim_clk_ops = {
	.recalc_rate = sim_clk_recalc_rate,
	.determine_rate = sim_clk_determine_rate,
	.set_rate = sim_clk_set_rate,
};

int sim_chip_clk_add(struct sim_chip *chip)
{
	static const struct clk_init_data init = {
		.name = "iios-chip-clk",
		.ops = &sim_clk_ops,
		.flags = CLK_GET_RATE_NOCACHE,	/* the knob "rate" changes it too */
	};
	struct sim_chip_clk *clk = kzalloc(sizeof(*clk), GFP_KERNEL);
	int ret;

	if (!clk)
		return -ENOMEM;
	clk->conv = chip->conv;
	clk->hw.init = &init;
	ret = clk_hw_register(NULL, &clk->hw);
	if (ret) {
		kfree(clk);
		return ret;
	}
	chip->clk = &clk->hw;
	chip->clk_of_chip = clkdev_hw_create(chip->clk, chip->kind->clock,
					     "spi-" SIM_CHIP_FRONT_END);
	chip->clk_of_core = clkdev_hw_create(chip->clk, NULL, "%s", chip->core_device);
	return chip->clk_of_chip && chip->clk_of_core ? 0 : -ENOMEM;
}

void sim_chip_clk_remove(struct sim_chip *chip)
{
	if (chip->clk_of_core)
		clkdev_drop(chip->clk_of_core);
	if (chip->clk_of_chip)
		clkdev_drop(chip->clk_of_chip);
	chip->clk_of_chip = NULL;
	chip->clk_of_core = NULL;
	if (!chip->clk)
		return;
	clk_hw_unregister(chip->clk);
	kfree(container_of(chip->clk, struct sim_chip_clk, hw));
	chip->clk = NULL;
}

int sim_chip_plug(struct sim_converter *conv)
{
	struct sim_chip *chip = conv->chip;
	struct platform_device_info info = { .name = chip->kind->driver, .id = SIM_CHIP_CORE };
	int ret = software_node_register_node_group(sim_nodes);

	if (ret)
		return ret;
	info.fwnode = software_node_fwnode(&sim_core_node);
	ret = sim_chip_clk_add(chip);
	if (!ret) {
		conv->pdev = platform_device_register_full(&info);
		ret = PTR_ERR_OR_ZERO(conv->pdev);
	}
	if (!ret)
		ret = sim_chip_spi_add(chip, &sim_chip_node);
	if (ret) {
		pr_err("iios-sim: %s: its driver is not bound: %d\n", conv->name, ret);
		sim_chip_unplug(conv);
	}
	return ret;
}

void sim_chip_unplug(struct sim_converter *conv)
{
	sim_chip_spi_remove(conv->chip);
	if (!IS_ERR_OR_NULL(conv->pdev))
		sim_unregister_from_node(conv->pdev);
	conv->pdev = NULL;
	sim_chip_clk_remove(conv->chip);
	software_node_unregister_node_group(sim_nodes);
}
