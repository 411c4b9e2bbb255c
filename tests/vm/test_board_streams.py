# SPDX-License-Identifier: MIT
# guest: --sim board=pluto
"""The devices of real boards: what they are is understood, they stream, and their radios are tuned.

    script/vm --sim board=pluto -- /usr/bin/python3 -m pytest -q tests/vm/test_board_streams.py

What is expected comes from the boards' contexts, and what was played from the simulator.
"""
import array
import json
import re
import subprocess
import xml.etree.ElementTree

import pytest

import boards
import counts
from conftest import DEBUG, iio_dir, knob, run, stream

SOME = ["pluto", "fmcomms5", "ad9371", "daq2", "adxl355"]
NAMES = boards.NAMES if counts.FULL else SOME


def load(name):
    subprocess.run(["sim-load", f"board={name}"], check=True)


class Scan:
    """A device's scan elements as a context has them: [(id, type)], in scan order."""

    def __init__(self, device, tones):
        self.name = device.get("name")
        found = [(int(c.find("scan-element").get("index")), c.get("id"), c.find("scan-element").get("format").lower(),
                  c.get("type")) for c in device.findall("channel") if c.find("scan-element") is not None]
        self.elements = [(name, form) for _, name, form, _ in sorted(found)]
        self.output = any(way == "output" for *_, way in found)
        self.pairs = self._pairs(tones)

    def _pairs(self, tones):
        """A core says what is I and Q by modifiers, or its transmitter does by the names of its tones."""
        names = [name for name, _ in self.elements]
        if any(name.endswith(("_i", "_q")) for name in names):
            return [(f"{name[:-2]}_i", f"{name[:-2]}_q") for name in names if name.endswith("_i")]
        chip = re.search(r"-(ad\w+?)-", self.name or "")
        if chip and chip[1] in tones:
            return list(zip(names[::2], names[1::2]))
        return []


def scans(board):
    """The devices of a board that have scan elements. The chips whose tones are called TX1_I… have I and Q."""
    tree = xml.etree.ElementTree.fromstring(boards.text(board))
    tones = {match[1] for device in tree.iter("device") for channel in device.findall("channel")
             if (channel.get("name") or "").startswith("TX1_I")
             and (match := re.search(r"-(ad\w+?)-", device.get("name")))}
    found = [Scan(device, tones) for device in tree.iter("device") if device.get("id").startswith("iio:")]
    return [scan for scan in found if scan.elements]


def is_ramp(data):
    words = array.array("Q", data[:len(data) // 8 * 8])
    return len(words) > 0 and all(word == number for number, word in enumerate(words))


@pytest.mark.parametrize("board", NAMES)
def test_channels_types_and_pairs_are_the_boards(board):
    load(board)
    devices = {d["name"]: d for d in run("info --json").json["devices"] if d["buffers"]}
    doctor = {check["name"]: check for check in run("doctor --json").json["checks"]}["IIO devices"]["detail"]
    expected = scans(board)
    assert set(devices) == {scan.name for scan in expected}
    for scan in expected:
        buffer, = devices[scan.name]["buffers"]
        assert buffer["remarks"] == [] and scan.name in doctor and "not understood" not in doctor
        assert [(c["id"], c["scan_type"]) for c in buffer["channels"]] == scan.elements, scan.name
        halves = [c["id"] for c in buffer["channels"] if c["component"] in ("in_phase", "quadrature")]
        assert halves == [name for pair in scan.pairs for name in pair], scan.name


def selections(scan):
    names = [name for name, _ in scan.elements]
    return [names, *([name] for name in names), *(list(pair) for pair in scan.pairs)]


def record(scan, chosen, folder):
    """Raw and as SigMF: the bytes that the core sent, and what the metadata calls them."""
    words = f"iio:{scan.name} channels={','.join(chosen)}"
    raw = folder / "a.bin"
    run("record", words, raw, "overwrite=on --samples 4096 --json")
    assert is_ramp(raw.read_bytes()), (scan.name, chosen)
    types = {form for name, form in scan.elements if name in chosen}
    whole = re.fullmatch(r"le:s\d+/(16|32)>>0", min(types)) if len(types) == 1 else None
    complex_ = chosen == [name for pair in scan.pairs for name in pair if name in chosen] and len(chosen) > 1
    if whole:
        run("record", words, folder / "a.sigmf-meta", "overwrite=on --samples 4096 --json")
        meta = json.loads((folder / "a.sigmf-meta").read_text())["global"]
        assert meta["core:datatype"] == f"{'c' if complex_ else 'r'}i{whole[1]}_le", (scan.name, chosen)
        assert {c["scan_type"] for c in meta["iio_stream:channels"]} == types
        run("verify", folder / "a.sigmf-meta")


def play(scan, chosen):
    types = dict(scan.elements)
    form = ",".join(types[name] for name in chosen)
    knob("reset", 1, device=scan.name)
    stream(f"sim: pattern=ramp rate=0 format={form} iio:{scan.name} channels={','.join(chosen)} --samples 65536")
    assert knob("mismatches", device=scan.name) == "0", (scan.name, chosen)
    assert int(knob("delivered", device=scan.name)) >= 65536


@pytest.mark.parametrize("board", [name for name in NAMES if name != "adxl355"])
def test_every_converter_streams(board, tmp_path):
    load(board)
    for scan in scans(board):
        if not (DEBUG / scan.name).exists():
            continue  # a sensor without DMA
        for chosen in selections(scan):
            if scan.output:
                play(scan, chosen)
            else:
                record(scan, chosen, tmp_path)
        if not scan.output:
            result = stream(f"iio:{scan.name} null: verify:ramp --samples 65536")
            assert result.json["samples"] == 65536
            stream(f"iio:{scan.name} path=fileio verify:ramp --samples 65536")
        if scan.pairs and not scan.output:
            stream(f"iio:{scan.name} convert=cf32_le null: --samples 4096")
            stream(f"iio:{scan.name} iq=off convert=rf32_le null: --samples 4096")


def at(device, file):
    return (iio_dir(device) / file).read_text().strip()


def tuned(words):
    return stream(f"{words} null: --samples 4096").json


def test_an_ad9361_is_tuned():
    load("pluto")
    assert at("ad9361-phy", "in_voltage0_gain_control_mode") == "slow_attack"
    summary = tuned("iio:cf-ad9361-lpc frequency=2.4G rate=30.72M gain=40 bandwidth=20M antenna=B_BALANCED")
    assert summary["sample_rate"] == 30_720_000
    assert at("ad9361-phy", "out_altvoltage0_RX_LO_frequency") == "2400000000"
    assert at("ad9361-phy", "in_voltage0_gain_control_mode") == "manual"
    assert at("ad9361-phy", "in_voltage0_hardwaregain").startswith("40.0")
    assert at("ad9361-phy", "in_voltage_rf_bandwidth") == "20000000"
    assert at("ad9361-phy", "in_voltage0_rf_port_select") == "B_BALANCED"
    # Its tones have frequencies, too; they are none of the radio's.
    tone = at("cf-ad9361-dds-core-lpc", "out_altvoltage1_TX1_I_F2_frequency")
    stream("sim: rate=0 pattern=ramp iio:cf-ad9361-dds-core-lpc frequency=900M gain=-20 --samples 4096")
    assert at("ad9361-phy", "out_altvoltage1_TX_LO_frequency") == "900000000"
    assert at("ad9361-phy", "out_voltage0_hardwaregain").startswith("-20.0")
    assert at("cf-ad9361-dds-core-lpc", "out_altvoltage1_TX1_I_F2_frequency") == tone
    tuned("iio:cf-ad9361-lpc agc=fast_attack")
    assert at("ad9361-phy", "in_voltage0_gain_control_mode") == "fast_attack"
    assert "one of them" in run("stream iio:cf-ad9361-lpc agc=hybrid gain=4 null:", status=2).err


def test_a_second_chip_is_tuned_by_its_channels():
    load("fmcomms5")
    before = at("ad9361-phy", "out_altvoltage0_RX_LO_frequency"), at("ad9361-phy-B", "in_voltage0_hardwaregain")
    tuned("iio:cf-ad9361-A channels=voltage6,voltage7 frequency=1G gain=31")
    assert at("ad9361-phy-B", "out_altvoltage0_RX_LO_frequency") == "1000000000"
    assert at("ad9361-phy-B", "in_voltage1_hardwaregain").startswith("31.0")
    assert (at("ad9361-phy", "out_altvoltage0_RX_LO_frequency"), at("ad9361-phy-B", "in_voltage0_hardwaregain")) == before
    tuned("iio:cf-ad9361-A frequency=1.5G")
    assert {at(phy, "out_altvoltage0_RX_LO_frequency") for phy in ("ad9361-phy", "ad9361-phy-B")} == {"1500000000"}


def test_other_transceivers_are_tuned():
    load("adrv9002_splitdma")
    tuned("iio:axi-adrv9002-rx2-lpc frequency=3G gain=20")
    assert at("adrv9002-phy", "out_altvoltage1_RX2_LO_frequency") == "3000000000"
    assert at("adrv9002-phy", "in_voltage1_gain_control_mode") == "spi"
    assert at("adrv9002-phy", "in_voltage1_hardwaregain").startswith("20.0")
    tuned("iio:axi-adrv9002-rx-lpc agc=automatic")
    assert at("adrv9002-phy", "in_voltage0_gain_control_mode") == "automatic"
    load("ad9371")
    tuned("iio:axi-ad9371-rx-obs-hpc frequency=2.5G gain=40")
    assert at("ad9371-phy", "out_altvoltage2_RX_SN_LO_frequency") == "2500000000"
    assert at("ad9371-phy", "in_voltage2_hardwaregain").startswith("40.0")
    assert at("ad9371-phy", "in_voltage2_gain_control_mode") == "manual"


def test_a_converter_with_oscillators_turns_either_way(tmp_path):
    load("ad9081")
    # Four pairs at four frequencies: the recording of all of them claims none.
    run("record iio:axi-ad9081-rx-hpc", tmp_path / "all.sigmf-meta", "--samples 4096 --json")
    assert "core:frequency" not in json.loads((tmp_path / "all.sigmf-meta").read_text())["captures"][0]
    run("record iio:axi-ad9081-rx-hpc channels=voltage1_i,voltage1_q frequency=-123456789", tmp_path / "one.sigmf-meta",
        "--samples 4096 --json")
    assert at("axi-ad9081-rx-hpc", "in_voltage1_i_main_nco_frequency") == "-123456789"
    assert json.loads((tmp_path / "one.sigmf-meta").read_text())["captures"][0]["core:frequency"] == -123456789
    stream("sim: rate=0 pattern=ramp iio:axi-ad9081-tx-hpc channels=voltage2_i,voltage2_q frequency=-1G --samples 4096")
    assert at("axi-ad9081-rx-hpc", "out_voltage2_i_main_nco_frequency") == "-1000000000"


def test_a_sensor_is_recorded_with_its_time(tmp_path):
    load("adxl355")
    run("record iio:adxl355 channels=accel_x,accel_y,accel_z,timestamp", tmp_path / "a.bin", "--samples 4 --json")
    assert (tmp_path / "a.bin").stat().st_size == 4 * 24
    run("record iio:adxl355 convert=rf32_le", tmp_path / "a.sigmf-meta", "--samples 4 --json")
    meta = json.loads((tmp_path / "a.sigmf-meta").read_text())["global"]
    assert meta["core:datatype"] == "rf32_le" and meta["core:num_channels"] == 3
