# SPDX-License-Identifier: MIT
"""An ADC without DMA, on the kernel's software FIFO (kfifo), which takes no DMABUFs.

    script/vm -- /usr/bin/python3 -m pytest -q tests/vm/test_software_fifo.py

Linux 6.12, 2048 MB. Samples for which this FIFO has no room are lost silently. The streams report that they
cannot detect these losses.
"""
import json
import pathlib
import struct

import pytest
from conftest import iio_dir, run, sim, stream
from errors import failing

SLOW = "iios-sim-slow"
UNTOLD = {"certain": 0, "possible": 0, "lost_min": 0, "lost_max": None, "evidence": []}


def attribute(name, value):
    (iio_dir(SLOW) / name).write_text(str(value))


@pytest.fixture(autouse=True)
def fresh():
    sim(slow=1)


def test_a_stream_falls_back_automatically_and_reports_the_kernels_answer():
    attribute("sampling_frequency", 50_000)
    result = stream(f"iio:{SLOW} verify:lanes --samples 20000 --block-size 4Ki --blocks 32")
    hop = result.json["route"][0]
    assert hop["mechanism"] == "fileio" and hop["copies"] == 1
    assert "takes no DMABUFs" in hop["reason"] and "EPERM" in hop["reason"]
    assert "reports no losses" in hop["reason"]
    assert result.json["channels"] == ["voltage0", "voltage1"] and result.json["samples"] == 20_000
    assert result.json["sample_rate"] == 50_000 and result.gaps == UNTOLD
    report = result.json["sinks"][0]["report"]
    assert report["mismatches"] == report["gaps"] == report["repeats"] == 0


def test_requesting_dmabuf_is_an_error_with_the_kernels_answer():
    failing(f"iio:{SLOW} path=dmabuf null: --samples 9", status=3, name="EOPNOTSUPP",
            words=["EPERM", "takes no DMABUFs", SLOW])
    failing(f"iio:{SLOW} memory=udmabuf null: --samples 9", status=3, name="EOPNOTSUPP", words=["EPERM", SLOW])


def test_an_overflow_is_silent_and_the_summary_does_not_rule_it_out(tmp_path):
    attribute("sampling_frequency", 200_000)
    file = tmp_path / "a.sigmf-meta"
    result = stream(f"iio:{SLOW} verify:lanes {file} null: stall_at=5000 stall_for=500ms --samples 40000 "
                    "--block-size 4Ki --blocks 4", status=1)
    assert result.json["sinks"][0]["report"]["unreported"] >= 1
    assert result.gaps == UNTOLD
    captures = json.loads(file.read_text())["captures"]
    assert all(capture["iio_stream:index_exact"] is False for capture in captures)


def test_blocks_larger_than_the_fifo_work():
    attribute("sampling_frequency", 100_000)
    result = stream(f"iio:{SLOW} verify:lanes --samples 5000 --block-size 4Mi --blocks 2")
    assert result.json["samples"] == 5000 and result.json["sinks"][0]["report"]["mismatches"] == 0


def test_info_and_doctor_report_the_software_fifo():
    devices = {device["name"]: device for device in run("info --json").json["devices"]}
    buffer, = devices[SLOW]["buffers"]
    assert buffer["dmabuf"] is False and "EPERM" in buffer["reason"]
    assert "takes no DMABUFs" in run(f"info {SLOW}").out
    checks = {check["name"]: check for check in run("doctor --json").json["checks"]}
    assert f"{SLOW} (input, fileio: the driver's buffer takes no DMABUFs" in checks["IIO devices"]["detail"]
    assert checks["IIO devices"]["ok"]


def test_the_error_names_channels_that_the_driver_cannot_sample_together():
    sim(slow=1, slow_single=1)
    # The previous channel is disabled before the next one is enabled.
    for channel in ("voltage1", "voltage0", "voltage1"):
        assert stream(f"iio:{SLOW} channels={channel} verify:lanes --samples 100").json["channels"] == [channel]
    failing(f"iio:{SLOW} null: --samples 9", status=3, name="EINVAL",
            words=["voltage0, voltage1", "together", SLOW])


def test_a_dac_plays_all_samples_before_it_is_disabled(tmp_path):
    # The FIFO holds two blocks, which take the DAC some seconds. An earlier version lost the end.
    played = pathlib.Path("/sys/module/iios_sim/parameters/slow_played")
    file = tmp_path / "a.ri16"
    file.write_bytes(struct.pack("<20000h", *range(20000)))
    for samples in (1, 20_000):
        played.write_text("0")
        run(f"stream {file} rate=20k iio:{SLOW}-dac --samples {samples} --block-size 8Ki --timeout 2s")
        assert int(played.read_text()) == samples
        assert int(played.with_name("slow_last").read_text()) == samples - 1
