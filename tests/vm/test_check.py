# SPDX-License-Identifier: MIT
"""`iio-stream check` on simulated devices: no check fails on healthy devices, and each fault fails its check.

    script/vm --disk 1Gi --sim board=pluto -- /usr/bin/python3 -m pytest -q tests/vm/test_check.py
"""
# guest: --disk 1Gi --sim board=pluto
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys

import counts
import pytest
from check_faults import FAULTS, SHIM, set_knobs, one_of_each_kind, text_over
from conftest import ADC, DAC, DISK, finish, iio_dir, knob, run, sim, start, truth
from waiting import until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
jsonschema = pytest.importorskip("jsonschema")
import schemas  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
HEALTHY = {
    "simulator": {},
    "simulator at a rate": {"rate": 1_000_000, "slow": 1},
    "pluto": {"board": "pluto"},
    "ad9467": {"converter": "ad9467"},
}


@pytest.fixture(scope="module", autouse=True)
def shim():
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", SHIM, HERE / "fault_shim.c", "-ldl"], check=True)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def check(*words, status=0, prefix=(), env=None, timeout=600):
    command, *rest = [*prefix, "iio-stream"]
    result = run(*rest, "check", *words, "--json", command=command, status=status, timeout=timeout,
                 env={**os.environ, **(env or {})})
    schemas.check("check", result.json)
    return result


def outcomes(report, name):
    return [one["outcome"] for one in report["checks"] if one["name"] == name]


def failures(report):
    return {one["name"]: one["text"] for one in report["checks"] if one["outcome"] == "fail"}


@pytest.mark.parametrize("name", counts.pick(["simulator at a rate", "pluto", "ad9467"], list(HEALTHY)))
def test_no_check_fails_on_healthy_devices(name):
    sim(**HEALTHY[name])
    report = check("--transmit" if "simulator" in name else "", f"--scratch {DISK}").json
    assert failures(report) == {}
    assert report["complete"] and report["emulated"] and report["seconds"] < 600
    assert "fail" not in outcomes(report, "restored") and outcomes(report, "capture").count("pass") >= 3
    assert json.loads(pathlib.Path("check.json").read_text()) == report


@pytest.mark.parametrize("fault", [
    pytest.param(fault, id=str(fault), marks=[pytest.mark.leaves_dmabufs] if fault.leaves_dmabufs else [])
    for fault in (FAULTS if counts.FULL else one_of_each_kind(FAULTS))])
def test_the_fault_is_found(fault):
    sim(**fault.sim)
    set_knobs(fault)
    env = {"LD_PRELOAD": str(SHIM), **fault.shim} if fault.shim else {}
    with fault.around():
        result = check(fault.device, "--only", fault.check, fault.words, "--report none", status=None,
                       prefix=fault.prefix, env=env)
    found = failures(result.json)
    assert set(found) == {fault.check}, (found, [one["text"] for one in result.json["checks"]])
    texts = [one["text"] for one in result.json["checks"] if one["outcome"] == "fail"]
    assert any(re.search(fault.text, text) for text in texts), texts
    assert result.status == (fault.status or result.status) and result.status in (1, 3)


def test_a_rate_that_the_device_does_not_deliver_is_not_its_highest_rate():
    sim(board="pluto", rate=250_000)
    # Writing the rate has no effect.
    with text_over(iio_dir("ad9361-phy") / "in_voltage_sampling_frequency", "61440000\n"):
        measured, = check("cf-ad9361-lpc", "--only highest-rate", "--report none").json["checks"]
    assert measured["outcome"] == "pass"
    assert re.search(r"no rate .*: 61.44 MS/s \(only 2\d\d(\.\d)? kS/s arrived\)", measured["text"]), measured["text"]


def test_a_device_in_use_is_left_alone():
    sim(rate=1_000_000)
    streaming = start(f"stream iio:{ADC} null: --json --duration 60s")
    try:
        until(lambda: int(knob("delivered")) > 10_000, "samples arrive")
        report = check(ADC).json
        assert failures(report) == {}
        for name in ("capture", "rate", "statistics", "throughput"):
            result, = [one for one in report["checks"] if one["name"] == name]
            assert result["outcome"] == "skip" and result["text"].startswith("in use, not probed")
    finally:
        streaming.send_signal(signal.SIGINT)
        assert finish(streaming).json["gaps"]["certain"] == 0
    assert truth() == ([], 0)


def test_a_buffer_that_is_enabled_is_left_alone():
    sim(slow=1)
    folder = iio_dir("iios-sim-slow")
    (folder / "scan_elements/in_voltage0_en").write_text("1")
    (folder / "buffer0/enable").write_text("1")
    try:
        report = check("iios-sim-slow").json
        assert failures(report) == {} and outcomes(report, "available") == ["skip"]
        assert (folder / "buffer0/enable").read_text().strip() == "1"
    finally:
        (folder / "buffer0/enable").write_text("0")


def test_a_signal_ends_the_run_and_restores_the_settings():
    sim()
    delay = pathlib.Path("/sys/module/iios_sim/parameters/phy_delay_ms")
    frequency = iio_dir("iios-sim-phy") / "out_altvoltage0_RX_LO_frequency"
    before = frequency.read_text()
    delay.write_text("500")
    try:
        checking = start(f"check {ADC} --json")
        until(lambda: frequency.read_text() != before, "the check changes the frequency")
        checking.send_signal(signal.SIGINT)
        result = finish(checking)
    finally:
        delay.write_text("0")
    assert result.status == 1 and not result.json["complete"] and failures(result.json) == {}
    assert frequency.read_text() == before


def test_the_settings_of_a_buffer_are_restored():
    sim()
    folder = iio_dir(ADC)
    (folder / "scan_elements/in_voltage1_q_en").write_text("1")
    (folder / "buffer0/length").write_text("777")
    before = {path: path.read_text() for path in [*folder.glob("scan_elements/*_en"), folder / "buffer0/length"]}
    check(ADC, "--only capture")
    assert {path: path.read_text() for path in before} == before


def test_a_dac_is_not_enabled_unless_the_transmitter_is_silent():
    sim()
    knob("reset", 1, device=DAC)
    report = check().json
    assert set(outcomes(report, "play")) == {"skip"} and knob("transfers", device=DAC) == "0"
    assert "--transmit" in next(one["text"] for one in report["checks"] if one["name"] == "play")


def test_a_transmitter_is_silenced_and_restored():
    sim(board="pluto")
    phy = iio_dir("ad9361-phy")
    files = [phy / "out_altvoltage1_TX_LO_powerdown", phy / "out_voltage0_hardwaregain"]
    before = [path.read_text() for path in files]
    report = check("cf-ad9361-dds-core-lpc").json
    assert failures(report) == {} and "pass" in outcomes(report, "play")
    assert [path.read_text() for path in files] == before
    env = {"LD_PRELOAD": str(SHIM), "FAULT_STUCK": "TX_LO_powerdown"}
    knob("reset", 1, device="cf-ad9361-dds-core-lpc")
    report = check("cf-ad9361-dds-core-lpc", env=env).json
    assert set(outcomes(report, "play")) == {"skip"}
    assert knob("transfers", device="cf-ad9361-dds-core-lpc") == "0"


def test_a_report_only_contains_the_host_name_on_request():
    check("--only kernel", "--report check.json")
    text = pathlib.Path("check.json").read_text()
    assert socket.gethostname() not in text and json.loads(text)["host"] is None
    assert check("--only kernel", "--identify").json["host"] == socket.gethostname()


# The kernel never releases a block that is enqueued while the device disappears (docs/lab-findings.md).
@pytest.mark.leaves_dmabufs
def test_an_unplugged_driver_is_bound_again():
    sim()
    report = check(ADC, "--destructive", "--only unplug").json
    assert outcomes(report, "unplug") == ["pass"] and iio_dir(ADC) is not None
