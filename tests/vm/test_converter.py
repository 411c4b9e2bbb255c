# SPDX-License-Identifier: MIT
"""ADCs under the kernel's own, unmodified drivers: Debian's ad9467 and adi-axi-adc.

    script/vm --disk 1Gi --sim converter=ad9467 -- /usr/bin/python3 -m pytest -q tests/vm/test_converter.py

Linux 6.12 (or 7.3), 2048 MB.
"""
# guest: --disk 1Gi --sim converter=ad9467
import json

import counts
import pytest
from conftest import DISK, finish, iio_dir, interrupt, knob, run, start, stream, truth
from converters import CHIPS, converter, debugfs, register
from waiting import until

ADC = "ad9467"
XFLOW, CHANNEL = 0x88, 0x400  # registers of the core
SIZE = "256Mi" if counts.FULL else "32Mi"


@pytest.fixture(autouse=True, scope="module")
def fresh():
    converter(ADC)


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_a_recording_contains_every_sample(path):
    file = DISK / "a.ci16"
    result = run(f"record iio:{ADC} path={path} {file} overwrite=on --bytes {SIZE} --json", timeout=300)
    assert result.mechanism == path and result.json["error"] is None
    assert result.json["sample_format"] == "ri16_le" and result.json["sample_rate"] == 250_000_000
    assert result.gaps["evidence"] == ["overflow-bit", "starvation"] and result.gaps["certain"] == 0
    verdict = run(f"verify --pattern ramp {file} --json", timeout=300).json
    assert verdict["ok"] and verdict["bytes"] == result.json["bytes"] == file.stat().st_size
    assert truth(ADC) == ([], 0)


@pytest.mark.parametrize("chip", counts.some(sorted(set(CHIPS) - {ADC}), 5))
def test_related_chips_stream(chip):
    converter(chip, pattern="lanes")
    scan_type, channels, rate = CHIPS[chip]
    try:
        device, = run(f"info {chip} --json").json["devices"]
        buffer, = device["buffers"]
        assert [c["scan_type"] for c in buffer["channels"]] == [scan_type] * channels
        assert device["sample_rate"] == rate
        for path in ("dmabuf", "fileio"):
            report = stream(f"iio:{chip} path={path} verify:lanes --bytes 4Mi").json["sinks"][0]["report"]
            assert (report["mismatches"], report["swaps"], report["gaps"]) == (0, 0, 0)
        if channels > 1:  # the driver enables the selected channel
            result = stream(f"iio:{chip} channels=voltage1 verify:lanes --bytes 1Mi")
            assert result.json["sinks"][0]["report"]["mismatches"] == 0 and result.json["sample_bytes"] == 2
    finally:
        converter(ADC)


def test_the_drivers_have_calibrated_the_interface():
    table = debugfs(ADC, "calibration_table_dump").split()
    assert table[0] == "xxx" + 18 * "o" + 11 * "x"
    assert register(ADC, 0x800) == 12  # lane 0's delay: the middle of the good range
    assert register(ADC, 0) >> 16 == 10 and debugfs(ADC, "backend0/name").strip() == "axi-adc"
    assert register(ADC, 1, "direct_reg_access") == 0x50  # the chip's identity, on SPI


@pytest.mark.parametrize("mode,words", counts.some([("midscale_short", (0x8000, 0x8000)),
                                                    ("pos_fullscale", (0xFFFF, 0xFFFF)),
                                                    ("checkerboard", (0xAAAA, 0x5555)),
                                                    ("one_zero_toggle", (0xFFFF, 0))]))
def test_a_recording_contains_the_pattern_of_the_test_mode(mode, words):
    file = DISK / "mode.raw"
    debugfs(ADC, "in_voltage0_test_mode", mode)
    try:
        run(f"record iio:{ADC} {file} overwrite=on --samples 65536 --quiet")
    finally:
        debugfs(ADC, "in_voltage0_test_mode", "off")
    pair = b"".join(word.to_bytes(2, "little") for word in words)
    assert file.read_bytes() == pair * 32768
    assert stream(f"iio:{ADC} verify:ramp --bytes 1Mi").json["sinks"][0]["report"]["mismatches"] == 0


def test_the_prbs_monitor_is_synchronized_during_a_stream():
    converter(ADC, rate=1_000_000)
    streaming = start(f"stream iio:{ADC} null: --quiet")
    try:
        until(lambda: int(knob("delivered", device=ADC)) > 10_000, "samples arrive")
        debugfs(ADC, "in_voltage0_test_mode", "prbs9")
        assert "CH0: OK" in debugfs(ADC, "in_voltage0_test_mode")
        debugfs(ADC, "in_voltage0_test_mode", "off")
        assert register(ADC, CHANNEL) & 1 == 0  # the driver leaves the channel disabled
        seen = int(knob("delivered", device=ADC))
        until(lambda: int(knob("delivered", device=ADC)) > seen, "samples continue")
    finally:
        interrupt(streaming)
        finish(streaming)
    stream(f"iio:{ADC} verify:ramp --bytes 1Mi")
    assert register(ADC, CHANNEL) & 1
    converter(ADC)


def test_a_stream_times_out_if_the_core_has_both_channels_off():
    converter("ad9643", rate=1_000_000)
    streaming = start("stream iio:ad9643 null: --timeout 1s --json")
    try:
        until(lambda: int(knob("delivered", device="ad9643")) > 10_000, "samples arrive")
        for channel in (0, 1):  # the driver leaves each channel disabled after a pseudo-random test
            for mode in ("prbs9", "off"):
                debugfs("ad9643", f"in_voltage{channel}_test_mode", mode)
        result = finish(streaming)
        assert result.status == 3 and result.json["error"]["name"] == "ETIMEDOUT"
        stream("iio:ad9643 verify:ramp --bytes 1Mi")  # the next stream enables them again
    finally:
        streaming.kill()
        streaming.wait()
        converter(ADC)


def test_an_overflow_bit_that_is_set_before_the_start_is_not_a_loss():
    assert register(ADC, XFLOW) == 4  # nothing takes the samples
    result = stream(f"iio:{ADC} verify:ramp --bytes 4Mi")
    assert result.gaps["certain"] == 0 and "overflow-bit" in result.gaps["evidence"]
    assert register(ADC, XFLOW) == 4


@pytest.mark.parametrize("path, delay", [("dmabuf", 0), ("fileio", 0), ("dmabuf", 40), ("fileio", 40)])
def test_every_loss_is_found_and_no_false_loss_is_reported(path, delay):
    """`delay` is the register's delay in milliseconds."""
    converter(ADC, rate=1_000_000, xflow_delay_ms=delay)
    words = f"iio:{ADC} path={path} verify:ramp --samples 600000 --block-size 64Ki --blocks 48"
    try:
        gaps = stream(words).gaps
        assert gaps["certain"] == gaps["possible"] == 0
        for name, value in (("drop", 77), ("drop_xflow", 1), ("drop_at", 300_000 if delay else 100_000)):
            knob(name, value, device=ADC)
        result = stream(words)
        assert truth(ADC)[1] == 77
        assert (result.gaps["certain"], result.gaps["possible"]) == (1, 0)
        assert result.json["sinks"][0]["report"]["unreported"] == 0
    finally:
        converter(ADC)


def test_samples_lost_before_a_restart_are_not_reported_as_a_loss():
    """The device refuses the first blocks each time that it is enabled: while the program tests the order of
    the kernel's blocks, and when the stream starts. No samples arrive."""
    converter(ADC, rate=1_000_000, refuse_at=0, refuse_count=2, refuse_most=6)
    try:
        result = stream(f"iio:{ADC} path=fileio verify:ramp --samples 600000 --block-size 64Ki --blocks 16 --timeout 1s")
        assert knob("refused", device=ADC) == "6" and truth(ADC) == ([], 0)
        assert (result.gaps["certain"], result.gaps["possible"]) == (0, 0)
        assert "overflow-bit" in result.gaps["evidence"]
    finally:
        converter(ADC)


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_a_register_that_the_driver_also_clears_is_not_evidence(path):
    """A bit that is already clear when it is read does not rule out a loss in an empty queue."""
    converter(ADC, rate=1_000_000, fifo=4096, xflow_clear=1)
    words = f"iio:{ADC} path={path} verify:ramp --block-size 64Ki --blocks 16"
    try:
        healthy = stream(f"{words} --samples 600000")
        assert healthy.gaps["certain"] == 0  # the two blocks of read() might run dry on a busy machine
        assert path == "fileio" or healthy.gaps["possible"] == 0
        stalled = stream(f"{words} null: stall_at=100000 stall_for=700ms --duration 2s")
        lost = sum(n for at, n in truth(ADC)[0] if at < stalled.json["samples"])
        assert lost > 0 and stalled.gaps["certain"] + stalled.gaps["possible"] >= 1
        assert stalled.gaps["lost_min"] <= lost <= stalled.gaps["lost_max"]
        assert stalled.json["sinks"][0]["report"]["unreported"] == 0
        for result in (healthy, stalled):
            assert "clears the overflow register" in result.json["route"][0]["reason"]
        assert healthy.gaps["evidence"] == ["starvation"]  # a clear bit is not evidence, but a set bit is
        if path == "dmabuf":
            assert stalled.gaps["certain"] >= 1 and stalled.gaps["evidence"] == ["overflow-bit", "starvation"]
    finally:
        converter(ADC)


def test_an_overflow_is_found_through_the_drivers_own_backend():
    converter(ADC, rate=1_000_000, fifo=0, drop_at=400_000, drop=77, drop_xflow=1)
    try:
        # The register is read once a second.
        result = stream(f"iio:{ADC} verify:ramp --duration 2500ms --block-size 64Ki")
        assert truth(ADC) == ([(400_000, 77)], 77)
        report = result.json["sinks"][0]["report"]
        assert (report["gaps"], report["lost"], report["unreported"]) == (1, 77, 0)
        assert result.gaps["certain"] == 1 and result.gaps["lost_min"] >= 1 and result.gaps["lost_max"] >= 77
        assert int(knob("xflow_reads", device=ADC)) > 0
    finally:
        converter(ADC)


def test_a_new_rate_is_refused_during_a_stream_but_a_new_scale_is_not():
    streaming = start(f"stream iio:{ADC} null: --quiet")
    try:
        until(lambda: int(knob("delivered", device=ADC)) > 0, "samples arrive")
        refused = run(f"attr set {ADC}/voltage0/sampling_frequency 200000000", status=3)
        assert "only while the device does not stream" in refused.err
        run(f"attr set {ADC}/voltage0/scale 0.038146")
    finally:
        interrupt(streaming)
        finish(streaming)
    wrong = run(f"attr set {ADC}/voltage0/scale 1.5", status=3)
    assert "scale_available: 0.030517" in wrong.err
    assert "dmesg" in run(f"stream iio:{ADC} rate=251M null: --samples 1", status=3).err
    result = stream(f"iio:{ADC} rate=200M verify:ramp --bytes 1Mi")  # the driver calibrates for a while
    assert result.json["sample_rate"] == 200_000_000
    assert (iio_dir(ADC) / "in_voltage_sampling_frequency").read_text().strip() == "200000000"
    converter(ADC)


def test_the_probe_counts_the_interrupts_of_the_dma():
    probe = run(f"doctor --probe {ADC} --json", timeout=120).json["probe"]
    rows = {row["memory"]: row["interrupts_per_block"] for row in probe["memories"]}
    assert 0.5 < rows["udmabuf"] < 2 and "interrupts per block" in probe["reason"]
    converter(ADC, sg=0)
    try:
        probe = run(f"doctor --probe {ADC} --json", timeout=120).json["probe"]
        rows = {row["memory"]: row["interrupts_per_block"] for row in probe["memories"]}
        # One interrupt for each segment; newer kernels make udmabufs with few segments.
        assert rows["udmabuf"] > 1.5
        assert rows["udmabuf"] <= 4 or probe["recommended"] == "heap:system"
    finally:
        converter(ADC)


def test_metadata_have_no_frequency_without_a_front_end():
    run(f"record iio:{ADC} {DISK / 'plain'} overwrite=on --bytes 1Mi --quiet")
    meta = json.loads((DISK / "plain.sigmf-meta").read_text())
    assert "core:frequency" not in meta["captures"][0]
    assert meta["global"]["core:sample_rate"] == 250_000_000 and meta["global"]["core:datatype"] == "ri16_le"
    assert ADC in meta["global"]["core:hw"] and "phy" not in meta["global"]["core:hw"]
