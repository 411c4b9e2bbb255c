# SPDX-License-Identifier: MIT
# guest: --sim board=pluto
"""Real boards in the lab: libiio finds the same devices, attributes and values there as on the board."""
import array
import pathlib
import subprocess

import iio
import pytest

import boards
import conftest
import counts

SOME = ["pluto", "fmcomms5", "ad9081", "adrv9002_splitdma", "adxl355", "cn0511"]
SYSFS = pathlib.Path("/sys/bus/iio/devices")
DEBUGFS = pathlib.Path("/sys/kernel/debug/iio")
IDS = ("iio:device", "iio_sysfs_trigger", "trigger")
# Attributes of the kernel itself, which depend on its version.
KERNELS = {"waiting_for_supplier"}


def load(name):
    subprocess.run(["sim-load", f"board={name}"], check=True)


def form(channel):
    """Returns everything that libiio reports about a scan element."""
    if not channel.scan_element:
        return None
    data = channel.data_format
    return (channel.index, data.length, data.bits, data.shift, data.is_signed, data.is_fully_defined, data.is_be,
            data.repeat)


def shape(context):
    """Returns {device: (name, attributes, debug attributes, channels)}. Older versions of libiio treat the
    label as an attribute."""
    devices = {}
    for device in context.devices:
        if device.id.startswith(IDS):
            channels = sorted((c.id, c.output, c.name or "", form(c), tuple(sorted(a.filename for a in c.attrs.values())))
                              for c in device.channels)
            attributes = set(device.attrs) | ({"label"} if device.label else set())
            devices[device.id] = (device.name, sorted(attributes - KERNELS), sorted(device.debug_attrs), channels)
    return devices


@pytest.mark.parametrize("name", boards.NAMES if counts.FULL else SOME)
def test_devices_channels_and_attributes_match_the_board(name, tmp_path):
    load(name)
    (tmp_path / "context.xml").write_text(boards.text(name))
    expected = shape(iio.XMLContext(str(tmp_path / "context.xml")))
    seen = shape(iio.LocalContext())
    assert list(seen) == list(expected)
    for device, parts in expected.items():
        assert seen[device] == parts, device


def values(context):
    """Returns {device: {(channel, attribute): value}} as libiio reads them. A value is None if the driver
    refuses."""
    def read(attribute):
        try:
            return boards.lines(attribute.value)
        except OSError:
            return None

    def full(channel):
        return ("out_" if channel.output else "in_") + channel.id

    return {device.id: {(owner, attribute.name): read(attribute)
                        for owner, holder in [("", device), *((full(c), c) for c in device.channels)]
                        for attribute in holder.attrs.values()}
            for device in context.devices if device.id.startswith(IDS)}


@pytest.mark.parametrize("name", boards.NAMES if counts.FULL else SOME)
def test_info_and_libiio_read_the_same_attributes(name):
    load(name)
    expected = values(iio.LocalContext())
    seen = {device["id"]: {(a["channel"] or "", a["name"]): None if a["error"] else boards.lines(a["value"])
                           for a in device["attributes"]}
            for device in conftest.run("info", "--json").json["devices"]}
    assert list(seen) == list(expected)
    for device, attributes in expected.items():
        attributes.pop(("", "label"), None)
        assert seen[device] == attributes, device


def shown(device, file):
    path = DEBUGFS / device / file.removeprefix("debug/") if file.startswith("debug/") else SYSFS / device / file
    try:
        return path.read_text()
    except OSError:
        return "ERROR"


def register(value):
    """Parses a register value in any base, so that values in different bases compare equal."""
    return value if value == "ERROR" else int(value, 0)


@pytest.mark.parametrize("name", boards.NAMES if counts.FULL else SOME)
def test_every_file_has_the_same_value_as_on_the_board(name):
    load(name)
    expected = {key: boards.lines(value) for key, value in boards.values(name).items()
                if value is not None and key[0].startswith(IDS)}
    seen = {key: boards.lines(shown(*key)) for key in expected}
    for key in expected:
        if key[1] == "debug/direct_reg_access":
            expected[key], seen[key] = register(expected[key]), register(seen[key])
    assert seen == expected


def is_ramp(data):
    """Returns whether the data, read as 64-bit words, count from 0."""
    words = array.array("Q", data)
    return all(word == number for number, word in enumerate(words))


@pytest.mark.parametrize("board, device, scan", [("pluto", "cf-ad9361-lpc", 4), ("fmcomms5", "cf-ad9361-A", 16),
                                                 ("ad9081", "axi-ad9081-rx-hpc", 16)])
def test_libiio_streams_from_a_boards_converter(board, device, scan):
    load(board)
    command = ["iio_readdev", "-u", "local:", "-b", "16384", "-s", str(4 * 16384), device]
    data = subprocess.run(command, check=True, capture_output=True).stdout
    assert len(data) == 4 * 16384 * scan
    assert is_ramp(data)
