# SPDX-License-Identifier: MIT
# guest: --sim board=pluto
"""Every converter of real boards is recognized, and the command streams it.

    script/vm --sim board=pluto -- /usr/bin/python3 -m pytest -q tests/vm/test_board_streams.py

The expected values come from the boards' contexts. The simulator's counts show what was played.
"""
import json
import re
import xml.etree.ElementTree

import pytest

import board_unseen
import boards
from board_scans import LANES, NAMES, RAMP, are_lanes, devices, is_ramp, load, loaded, note, scans, scans_of
from conftest import iio_dir, knob, run, stream
from counts import pick

SAMPLES = 4096
SLOW_SAMPLES = 48  # for a converter at 1 kS/s or less


@pytest.mark.parametrize("board", NAMES)
def test_channels_scan_types_and_pairs_match_the_board(board):
    load(board)
    found = {d["name"]: d for d in run("info --json").json["devices"] if d["buffers"]}
    doctor = {check["name"]: check for check in run("doctor --json").json["checks"]}["IIO devices"]["detail"]
    expected = scans(board)
    assert set(found) == {scan.name for scan in expected}
    for scan in expected:
        buffer, = found[scan.name]["buffers"]
        assert buffer["remarks"] == [] and scan.name in doctor and "not understood" not in doctor
        assert [(c["id"], c["scan_type"]) for c in buffer["channels"]] == [(e.name, e.form) for e in scan.elements]
        halves = [c["id"] for c in buffer["channels"] if c["component"] in ("in_phase", "quadrature")]
        assert halves == [name for pair in scan.pairs for name in pair], scan.name


def at(device, file):
    return (iio_dir(device) / file).read_text().strip()


def attributes(scan):
    """Checks that `attr` shows the same attributes as the context."""
    listed = run("attr", "list", scan.name).out.splitlines()
    parts = (boards.lines(line).partition(" =") for line in listed)
    seen = {path: value.strip() for path, _, value in parts}
    for path, value in scan.attributes.items():
        if value == "ERROR":
            assert seen[path].startswith("?"), path
        else:
            assert seen[path] == boards.lines(value), path
    if scan.attributes:
        one = min(scan.attributes)
        if scan.attributes[one] != "ERROR":
            assert boards.lines(run("attr", "get", f"{scan.name}/{one}").out) == seen[one]


def record(scan, chosen, folder):
    """Records raw samples: each channel is in its place, and a recording of all channels has every byte that
    the core sent."""
    words, elements = f"iio:{scan.name} channels={','.join(chosen)}", scan.chosen(chosen)
    samples = SAMPLES if scan.dma else SLOW_SAMPLES
    raw = folder / "a.bin"
    if scan.dma and chosen == scan.channels:
        run("record", words, raw, f"overwrite=on --samples {samples} --json")
        assert is_ramp(raw.read_bytes()), (scan.name, chosen)
        run("record", words, "path=fileio", raw, f"overwrite=on --samples {samples} --json")
        assert is_ramp(raw.read_bytes()), (scan.name, chosen)
    scan.pattern(LANES)
    run("record", words, raw, f"overwrite=on --samples {samples} --json")
    scan.pattern(RAMP)
    assert are_lanes(elements, raw.read_bytes()), (scan.name, chosen)


def record_sigmf(scan, chosen, folder):
    """Checks that the datatype in the metadata matches the scan types."""
    elements, meta = scan.chosen(chosen), folder / "a.sigmf-meta"
    if len({e.form for e in elements}) != 1:
        return
    one = elements[0]
    whole = one.is_plain
    samples = SAMPLES if scan.dma else SLOW_SAMPLES
    scan.pattern(LANES)
    run("record", f"iio:{scan.name} channels={','.join(chosen)}", "" if whole else "convert=rf32_le", meta,
        f"overwrite=on --samples {samples} --json")
    scan.pattern(RAMP)
    head, pairs = json.loads(meta.read_text())["global"], scan.is_complex(chosen)
    form = f"{'i' if one.signed else 'u'}{one.bytes * 8}" if whole else "f32"
    suffix = "" if whole and one.bytes == 1 else "_le"
    assert head["core:datatype"] == f"{'c' if pairs else 'r'}{form}{suffix}", (scan.name, chosen)
    assert head["core:num_channels"] == len(chosen) // (2 if pairs else 1)
    if whole:
        assert {c["scan_type"] for c in head["iio_stream:channels"]} == {one.form}
        assert are_lanes(elements, meta.with_suffix(".sigmf-data").read_bytes())
    run("verify", meta)


def play(scan, chosen, folder):
    """Plays a pattern, and a recording: the core gets each sample in its place."""
    form = ",".join(e.form for e in scan.chosen(chosen))
    end = f"iio:{scan.name} channels={','.join(chosen)}"
    if not scan.dma:
        assert stream(f"sim: pattern=ramp rate=0 format={form} {end} --samples 256").json["samples"] == 256
        return
    knob("reset", 1, device=scan.name)
    stream(f"sim: pattern=ramp rate=0 format={form} {end} --samples 65536")
    assert knob("mismatches", device=scan.name) == "0", (scan.name, chosen)
    assert int(knob("delivered", device=scan.name)) >= 65536
    if chosen != scan.channels or not scan.elements[0].is_plain:
        return
    meta = folder / "p.sigmf-meta"
    run("record", f"sim: pattern=ramp rate=0 format={form}", meta, "overwrite=on --samples 8192 --json")
    knob("reset", 1, device=scan.name)
    run("play", meta, end, "--json")
    assert knob("mismatches", device=scan.name) == "0", (scan.name, chosen)
    assert int(knob("delivered", device=scan.name)) >= 8192


def capture(scan):
    """Streams all channels to a sink that discards them and to one that checks them, by DMABUF and by
    read()."""
    if not scan.dma:
        assert stream(f"iio:{scan.name} null: --samples {SLOW_SAMPLES}").json["samples"] == SLOW_SAMPLES
        return
    result = stream(f"iio:{scan.name} null: verify:ramp --samples 65536")
    assert result.json["samples"] == 65536
    stream(f"iio:{scan.name} path=fileio verify:ramp --samples 65536")
    if scan.pairs:
        stream(f"iio:{scan.name} convert=cf32_le null: --samples 4096")
        stream(f"iio:{scan.name} iq=off convert=rf32_le null: --samples 4096")


@pytest.mark.parametrize("board, device", devices())
def test_every_converter_streams(board, device, tmp_path, record_property):
    scan = loaded(board, device)
    attributes(scan)
    for chosen in scan.selections():
        if scan.output:
            play(scan, chosen, tmp_path)
        else:
            record(scan, chosen, tmp_path)
            record_sigmf(scan, chosen, tmp_path)
    if not scan.output:
        capture(scan)
    moved = ["play"] if scan.output else ["raw", "SigMF", "null:", *(["verify:", "fileio"] if scan.dma else [])]
    note(record_property, board, device, f"{len(scan.selections())}×", "info", "doctor", "attr", *moved)


@pytest.mark.parametrize("seed", range(pick(1, 12)))
def test_an_unseen_board_streams(seed, tmp_path):
    file = tmp_path / "unseen.xml"
    file.write_text(board_unseen.context(seed))
    load(file)
    found = scans_of(xml.etree.ElementTree.parse(file).getroot())
    assert len(found) == 4
    seen = {d["name"]: d for d in run("info --json").json["devices"] if d["buffers"]}
    for scan in found:
        assert [(c["id"], c["scan_type"]) for c in seen[scan.name]["buffers"][0]["channels"]] == \
            [(e.name, e.form) for e in scan.elements]
        attributes(scan)
        for chosen in scan.selections():
            if scan.output:
                play(scan, chosen, tmp_path)
            else:
                record(scan, chosen, tmp_path)
                record_sigmf(scan, chosen, tmp_path)
    # The stem of its name identifies the front end, and units and ranges identify its values.
    radio, phy = f"iio:axi-{board_unseen.RADIO}-rx", f"{board_unseen.RADIO}-phy"
    stream(f"{radio} frequency=2.4G gain=33.5 bandwidth=1M null: --samples 4096")
    assert at(phy, "out_altvoltage0_RX_LO_frequency") == "2400000000"
    assert (at(phy, "in_voltage0_gain_control_mode"), at(phy, "in_voltage0_hardwaregain")) == ("manual", "33.500000 dB")
    assert "41 dB is out of range: -3 dB to 40 dB" in run(f"stream {radio} gain=41 null:", status=3).err
    stream(f"{radio} agc=eager null: --samples 4096")
    assert at(phy, "in_voltage0_gain_control_mode") == "eager"


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_the_error_names_channels_that_the_driver_cannot_sample_together(path):
    load("fmcomms2-3")  # ad9361_available_scan_masks: each channel alone, pairs, all
    words = f"stream iio:cf-ad9361-lpc channels=voltage0,voltage2 path={path} null: --samples 4096"
    refused = run(words, status=3).err
    assert "does not sample these channels together: voltage0, voltage2" in refused and "channels=" in refused
    run("stream iio:cf-ad9361-lpc channels=voltage2,voltage3 null: --samples 4096")


def test_a_12_bit_recording_is_converted_for_a_16_bit_dac(tmp_path):
    load("pluto")
    meta = tmp_path / "a.sigmf-meta"
    run("record iio:cf-ad9361-lpc", meta, "--samples 65536 --json")
    for words in ("", "convert=ci16_le"):
        knob("reset", 1, device="cf-ad9361-dds-core-lpc")
        route = run("play", meta, words, "iio:cf-ad9361-dds-core-lpc", "--json").json["route"]
        hop, = [hop for hop in route if hop["mechanism"] == "convert:ci16_le"]
        assert ("cf-ad9361-dds-core-lpc plays ci16_le" in hop["reason"]) == (not words), hop
        assert int(knob("delivered", device="cf-ad9361-dds-core-lpc")) == 65536
    other = run("play", meta, "iio:cf-ad9361-dds-core-lpc channels=voltage0", status=2).err
    assert "(2 channels of" in other and "channels= chooses channels" in other


def test_a_sensor_is_recorded_with_and_without_its_timestamps(tmp_path):
    load("adxl355")
    run("record iio:adxl355 channels=accel_x,accel_y,accel_z,timestamp", tmp_path / "a.bin", "--samples 4 --json")
    assert (tmp_path / "a.bin").stat().st_size == 4 * 24
    run("record iio:adxl355 convert=rf32_le", tmp_path / "a.sigmf-meta", "--samples 4 --json")
    meta = json.loads((tmp_path / "a.sigmf-meta").read_text())["global"]
    assert meta["core:datatype"] == "rf32_le" and meta["core:num_channels"] == 3
