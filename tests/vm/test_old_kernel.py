# SPDX-License-Identifier: MIT
"""Debian 12's stock kernel has no IIO DMABUFs: streams fall back automatically and report why.

    script/vm --kernel 6.1 --disk 2Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_old_kernel.py

Linux 6.1, 2048 MB. The tests are skipped on other kernels.
"""
# guest: --kernel 6.1 --disk 2Gi
import os
import subprocess

import counts
import pytest
from conftest import ADC, DAC, DISK, run, sim, stream
from errors import failing
from libiio_programs import ramp_of

pytestmark = pytest.mark.skipif(not os.uname().release.startswith("6.1."), reason="needs --kernel 6.1")


@pytest.fixture(autouse=True)
def fresh():
    sim()


def test_a_recording_falls_back_automatically_and_reports_why():
    file = DISK / "a.ci16"
    result = run(f"record iio:{ADC} {file} overwrite=on --bytes {counts.RECORD_BYTES} --json")
    hop = result.json["route"][0]
    assert hop["mechanism"] == "fileio" and hop["copies"] == 1
    assert "6.11" in hop["reason"] and "ENOTTY" in hop["reason"]
    assert result.json["error"] is None and file.stat().st_size == result.json["bytes"]
    assert run(f"verify --pattern ramp {file} --json").json["ok"]
    verbose = run(f"stream iio:{ADC} null: --samples 1000 --verbose").err
    assert "fileio" in verbose and "6.11" in verbose


def test_requesting_dmabuf_is_an_error_with_the_kernels_answer():
    failing(f"iio:{ADC} path=dmabuf null: --samples 1000", status=3, name="EOPNOTSUPP", words=["ENOTTY", "6.11", ADC])
    for memory in ("udmabuf", "heap:system"):
        result = run(f"stream iio:{ADC} memory={memory} null: --samples 1000 --json", status=3)
        assert memory.removeprefix("heap:") in result.json["error"]["message"]


def test_an_unmodified_program_streams_by_read_and_reports_why():
    readdev = ["iio_readdev", "-u", "local:", "-b", "8192", "-s", "65536", ADC]
    for words, said in (["run"], "fileio, 1 copy: "), (["run", "--quiet"], ""), (["run", "--path", "fileio"], ""):
        done = subprocess.run(["iio-stream", *words, "--", *readdev], capture_output=True, timeout=60, check=True)
        assert len(ramp_of(done.stdout)) == 65536
        # If the guest is busy, samples might be lost between two calls of read(). Another line reports that.
        lines = [line for line in done.stderr.decode().splitlines() if "samples lost so far" not in line]
        assert [said in line for line in lines] == ([True] if said else []), done.stderr
        assert not said or "6.11" in done.stderr.decode()


@pytest.mark.parametrize("scan", ["s16", "s12", "be16", "s32"])
def test_channels_are_captured_correctly(scan):
    sim(scan=scan, pattern="lanes")
    for channels in ("voltage0_i,voltage0_q,voltage1_i,voltage1_q", "voltage0_q,voltage1_i", "voltage1_q"):
        result = stream(f"iio:{ADC} channels={channels} verify:lanes --samples 100000")
        assert result.json["channels"] == channels.split(",")


def test_a_short_last_block_has_the_exact_length():
    for samples in (1, 7, 100_001):
        assert stream(f"iio:{ADC} verify:ramp --samples {samples}").json["samples"] == samples


def test_losses_are_reported():
    sim(rate=100_000, fifo=4096)
    result = stream(f"iio:{ADC} verify:ramp null: stall_at=20000 stall_for=700ms --duration 1500ms "
                    "--block-size 16Ki --blocks 8")
    assert result.json["sinks"][0]["report"]["unreported"] == 0
    assert result.gaps["certain"] + result.gaps["possible"] >= 1


def test_info_and_doctor_report_what_is_missing_and_how_to_fix_it():
    devices = {device["name"]: device for device in run("info --json").json["devices"]}
    buffer, = devices[ADC]["buffers"]
    assert buffer["dmabuf"] is False and "6.11" in buffer["reason"]
    checks = {check["name"]: check for check in run("doctor --json").json["checks"]}
    kernel = checks["kernel"]
    assert not kernel["ok"] and "6.11" in kernel["detail"] and "apt install" in kernel["fix"]
    for name in ("heap:system", "udmabuf"):
        assert not checks[name]["ok"] and checks[name]["detail"]
    assert "fileio" in checks["IIO devices"]["detail"]


def test_a_probe_fails_without_dmabuf_memory():
    result = run(f"doctor --probe iio:{ADC} --json", status=3)
    assert "no DMABUF memory" in result.err


def test_a_dac_without_an_output_buffer_is_refused():
    failing(f"sim: channels=4 iio:{DAC} --samples 9", status=3, name="ENODEV", words=[DAC, "no such buffer"])
