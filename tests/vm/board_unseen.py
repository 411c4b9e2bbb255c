# SPDX-License-Identifier: MIT
"""Contexts of boards that do not exist: random names, labels, formats and numbers of channels."""
import random
import xml.etree.ElementTree as tree

RADIO = "quux9"  # the stem of the name identifies its front end
FORMATS = ["le:U14/16>>0", "le:S14/16>>2", "be:S24/32>>8", "be:U12/16>>4", "le:s20/32>>0", "le:u16/16>>0", "be:s16/16>>0"]


def _attribute(owner, file, name, value):
    tree.SubElement(owner, "attribute", name=name, filename=file, value=value)


def _device(context, number, name, label=None):
    device = tree.SubElement(context, "device", id=f"iio:device{number}", name=name)
    if label:
        device.set("label", label)
    return device


def _converter(device, chance, way, ids, dma):
    form, rate = chance.choice(FORMATS), str(chance.randint(1, 900 if dma else 4) * 1000)
    for index, name in enumerate(ids):
        channel = tree.SubElement(device, "channel", id=name, type=f"{way}put")
        tree.SubElement(channel, "scan-element", index=str(index), format=form)
        _attribute(channel, f"{way}_voltage_sampling_frequency", "sampling_frequency", rate)
        _attribute(channel, f"{way}_{name}_scale", "scale", f"0.{chance.randint(1, 10 ** 9):09}")
    if dma:
        buffer = tree.SubElement(device, "buffer", index="0")
        tree.SubElement(buffer, "buffer-attribute", name="length_align_bytes", value="8")


def _front_end(device):
    channel = tree.SubElement(device, "channel", id="altvoltage0", name="RX_LO", type="output")
    _attribute(channel, "out_altvoltage0_RX_LO_frequency", "frequency", "915000000")
    _attribute(channel, "out_altvoltage0_RX_LO_frequency_available", "frequency_available", "[70000000 1 6000000000]")
    channel = tree.SubElement(device, "channel", id="voltage0", type="input")
    _attribute(channel, "in_voltage0_hardwaregain", "hardwaregain", "12.500000 dB")
    _attribute(channel, "in_voltage0_hardwaregain_available", "hardwaregain_available", "[-3.000000 0.500000 40.000000]")
    _attribute(channel, "in_voltage0_gain_control_mode", "gain_control_mode", "lazy")
    _attribute(channel, "in_voltage0_gain_control_mode_available", "gain_control_mode_available", "lazy manual eager")
    _attribute(channel, "in_voltage_rf_bandwidth", "rf_bandwidth", "200000")


def context(seed):
    """Returns a context with an ADC with I/Q pairs behind a front end, an ADC with real channels, a DAC, and
    a slow converter."""
    chance = random.Random(seed)
    root = tree.Element("context", name="local", description=f"unseen {seed}")
    _front_end(_device(root, 0, f"{RADIO}-phy"))
    pairs = [f"voltage{n}_{half}" for n in range(chance.randint(1, 3)) for half in "iq"]
    _converter(_device(root, 1, f"axi-{RADIO}-rx", f"antenna {chance.randint(1, 9)}"), chance, "in", pairs, dma=True)
    reals = [f"voltage{n}" for n in range(chance.randint(1, 7))]
    _converter(_device(root, 2, f"zork-{seed}", "left bank"), chance, "in", reals, dma=True)
    outputs = [f"voltage{n}" for n in range(chance.choice([1, 2, 4]))]
    _converter(_device(root, 3, f"axi-blorp-{seed}"), chance, "out", outputs, dma=True)
    slow = ["voltage0", "voltage1", "voltage5"][:chance.randint(1, 3)]
    _converter(_device(root, 4, f"snail{seed}"), chance, "in", slow, dma=False)
    return tree.tostring(root, encoding="unicode")
