// SPDX-License-Identifier: GPL-2.0-only
/*
 * The common part of ADCs and DACs: the converter between an AXI-DMAC core and a stream, its IIO
 * channels and buffer, and functions that plug and unplug it.
 */
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/iio/buffer.h>
#include <linux/iio/buffer-dmaengine.h>

#include "sim.h"

static struct sim_converter *sim_converter_of(struct sim_core *core)
{
	return container_of(core, struct sim_converter, core);
}

static ssize_t sim_move(struct sim_core *core, void *memory, size_t bytes, ktime_t *until)
{
	struct sim_converter *conv = sim_converter_of(core);
	u64 position;
	ssize_t taken;

	if (conv->front_end && !conv->front_end->ready(conv))
		return SIM_TAKE_DEAD;
	taken = sim_stream_take(&conv->stream, bytes, &position, until);
	if (taken > 0 && conv->front_end)
		conv->front_end->move(conv, memory, position, taken);
	else if (taken > 0 && !core->tx)
		sim_pattern_fill(&conv->layout, memory, position, taken);
	else if (taken > 0)
		sim_check(&conv->check, &conv->layout, memory, position, taken);
	return taken;
}

static ktime_t sim_due(struct sim_core *core)
{
	return sim_stream_due(&sim_converter_of(core)->stream);
}

static bool sim_running(struct sim_core *core)
{
	return READ_ONCE(sim_converter_of(core)->stream.running);
}

static void sim_busy(struct sim_core *core)
{
	sim_stream_busy(&sim_converter_of(core)->stream);
}

/* ADI's cf_axi_adc driver clears the bit after it has submitted a block. */
static void sim_submitted(struct sim_core *core)
{
	struct sim_converter *conv = sim_converter_of(core);

	if (conv->xflow_clear)
		sim_stream_xflow(&conv->stream, SIM_OVERFLOW);
}

static void sim_idle(struct sim_core *core, ktime_t due)
{
	sim_stream_idle(&sim_converter_of(core)->stream, due);
}

static void sim_done(struct sim_core *core)
{
	sim_stream_done(&sim_converter_of(core)->stream);
}

/* Only front ends need this call. The IIO device of a converter uses its setup functions. */
static void sim_enable(struct sim_core *core, bool on)
{
	struct sim_converter *conv = sim_converter_of(core);

	if (conv->front_end)
		conv->front_end->enable(conv, on);
}

static const struct sim_client sim_converter_client = {
	.move = sim_move,
	.due = sim_due,
	.running = sim_running,
	.busy = sim_busy,
	.submitted = sim_submitted,
	.idle = sim_idle,
	.done = sim_done,
	.enable = sim_enable,
};

struct sim_converter *sim_from_iio(struct iio_dev *indio_dev)
{
	return *(struct sim_converter **)iio_priv(indio_dev);
}

static int sim_read_raw(struct iio_dev *indio_dev, const struct iio_chan_spec *chan, int *val,
			int *val2, long mask)
{
	if (mask != IIO_CHAN_INFO_SAMP_FREQ)
		return -EINVAL;
	*val = READ_ONCE(sim_from_iio(indio_dev)->nominal_rate);
	return IIO_VAL_INT;
}

static int sim_write_raw(struct iio_dev *indio_dev, const struct iio_chan_spec *chan, int val,
			 int val2, long mask)
{
	if (mask != IIO_CHAN_INFO_SAMP_FREQ || val2)
		return -EINVAL;
	return sim_converter_set_rate(sim_from_iio(indio_dev), val);
}

static int sim_update_scan_mode(struct iio_dev *indio_dev, const unsigned long *mask)
{
	struct sim_converter *conv = sim_from_iio(indio_dev);

	sim_layout_make(&conv->layout, conv->channels, conv->channel_count, mask);
	sim_stream_prepare(&conv->stream, conv->layout.scan_bytes);
	sim_check_restart(&conv->check, conv->layout.pattern);
	conv->core.chunk = sim_pattern_chunk(conv->layout.pattern);
	sim_core_restart(&conv->core);
	return 0;
}

static int sim_postenable(struct iio_dev *indio_dev)
{
	struct sim_converter *conv = sim_from_iio(indio_dev);

	sim_stream_run(&conv->stream);
	sim_core_kick(&conv->core);
	return 0;
}

static int sim_predisable(struct iio_dev *indio_dev)
{
	sim_stream_halt(&sim_from_iio(indio_dev)->stream);
	return 0;
}

static const struct iio_buffer_setup_ops sim_buffer_ops = {
	.postenable = sim_postenable,
	.predisable = sim_predisable,
};

static const struct iio_info sim_info = {
	.read_raw = sim_read_raw,
	.write_raw = sim_write_raw,
	.update_scan_mode = sim_update_scan_mode,
};

static const struct iio_info sim_info_with_registers = {
	.read_raw = sim_read_raw,
	.write_raw = sim_write_raw,
	.update_scan_mode = sim_update_scan_mode,
	.debugfs_reg_access = sim_xflow_front_end,
};

static int sim_buffer_setup(struct device *dev, struct iio_dev *indio_dev, bool tx)
{
#if SIM_HAS_DMABUF
	return devm_iio_dmaengine_buffer_setup_ext(dev, indio_dev, tx ? "tx" : "rx",
						   tx ? IIO_BUFFER_DIRECTION_OUT :
							IIO_BUFFER_DIRECTION_IN);
#else
	/* The kernel's DMA buffer supports input only. */
	return tx ? 0 : devm_iio_dmaengine_buffer_setup(dev, indio_dev, "rx");
#endif
}

static int sim_converter_probe(struct platform_device *pdev)
{
	struct sim_converter *conv = *(struct sim_converter **)dev_get_platdata(&pdev->dev);
	struct iio_dev *indio_dev;
	int ret;

	indio_dev = devm_iio_device_alloc(&pdev->dev, sizeof(conv));
	if (!indio_dev)
		return -ENOMEM;
	*(struct sim_converter **)iio_priv(indio_dev) = conv;
	indio_dev->name = conv->name;
	indio_dev->label = conv->label;
	indio_dev->info = conv->xflow == SIM_XFLOW_NONE ? &sim_info : &sim_info_with_registers;
	indio_dev->channels = conv->channels;
	indio_dev->num_channels = conv->channel_count;
	indio_dev->modes = INDIO_DIRECT_MODE;
	indio_dev->setup_ops = &sim_buffer_ops;
	if (conv->board)
		sim_board_dress(conv->board, indio_dev);
	ret = sim_buffer_setup(&pdev->dev, indio_dev, conv->core.tx);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "no DMA buffer\n");
	ret = devm_iio_device_register(&pdev->dev, indio_dev);
	if (!ret && conv->board)
		sim_board_debug_add(conv->board, indio_dev);
	return ret ? ret : sim_xflow_add(conv, indio_dev);
}

static const struct platform_device_id sim_converter_ids[] = {
	{ "iios-sim-adc" },
	{ "iios-sim-adc2" },
	{ "iios-sim-dac" },
	{ "iios-sim-board" },
	{ }
};

struct platform_driver sim_converter_driver = {
	.driver = { .name = "iios-sim" },
	.id_table = sim_converter_ids,
	.probe = sim_converter_probe,
};

static int sim_converter_plug_locked(struct sim_converter *conv)
{
	struct platform_device_info info = {
		.name = conv->name,
		.id = PLATFORM_DEVID_NONE,
		.data = &conv,
		.size_data = sizeof(conv),
	};
	struct platform_device *pdev;

	if (conv->pdev)
		return 0;
	if (conv->front_end)
		return conv->front_end->plug(conv);
	if (conv->board) {
		info.name = "iios-sim-board";
		info.id = conv->core.id;
	}
	conv->node = sim_xflow_node(conv);
	if (IS_ERR(conv->node))
		return PTR_ERR(conv->node);
	info.fwnode = conv->node;
	pdev = platform_device_register_full(&info);
	if (IS_ERR(pdev)) {
		fwnode_remove_software_node(conv->node);
		return PTR_ERR(pdev);
	}
	conv->pdev = pdev;
	return 0;
}

int sim_converter_plug(struct sim_converter *conv)
{
	int ret;

	mutex_lock(&conv->plug_lock);
	ret = sim_converter_plug_locked(conv);
	mutex_unlock(&conv->plug_lock);
	return ret;
}

/* Simulates that the device disappears. Open files and queued blocks stay as they are. */
void sim_converter_unplug(struct sim_converter *conv)
{
	mutex_lock(&conv->plug_lock);
	if (conv->pdev && conv->front_end) {
		conv->front_end->unplug(conv);
	} else if (conv->pdev) {
		sim_unregister_from_node(conv->pdev);
		fwnode_remove_software_node(conv->node);
	}
	conv->pdev = NULL;
	mutex_unlock(&conv->plug_lock);
}

int sim_converter_init(struct sim_converter *conv)
{
	int ret;

	mutex_init(&conv->plug_lock);
	spin_lock_init(&conv->stream.lock);
	conv->stream.tx = conv->core.tx;
	conv->core.client = &sim_converter_client;
	conv->stream.gaps = kvcalloc(SIM_TRUE_GAPS, sizeof(*conv->stream.gaps), GFP_KERNEL);
	if (!conv->stream.gaps)
		return -ENOMEM;
	ret = sim_core_add(&conv->core, conv->board ? conv->platform_name :
			   conv->slave_device ? conv->slave_device : conv->name,
			   conv->core.tx ? "tx" : "rx");
	return ret ? ret : sim_converter_plug(conv);
}

/* Can also be called after a failed or omitted init. */
void sim_converter_exit(struct sim_converter *conv)
{
	if (!conv->core.client)
		return;
	sim_converter_unplug(conv);
	sim_core_remove(&conv->core);
	kvfree(conv->stream.gaps);
}
