# SPDX-License-Identifier: MIT
"""A host can set only those attributes of the board that the board's command line allows.

    script/vm -- /usr/bin/python3 -m pytest -q tests/vm/test_usb_attributes.py
"""
import errno
import json
import pathlib
import time

import counts
import pytest
from conftest import iio_dir, run, sim
from usb import Request, board, end, gadget, host
from waiting import until

PHY = "iios-sim-phy"
GET_ATTR = 5
GAIN = f"attr.{PHY}/in_voltage0/hardwaregain"


def phy(name):
    return (iio_dir(PHY) / name).read_text().strip()


NUMBERS = range(256) if counts.FULL else [*range(16), 0x7f, 0x80, 0xcc, 0xcd, 0xce, 0xff]


@pytest.fixture
def streaming():
    """Runs a board whose host may set the frequency, the gain and the gain control."""
    sim(rate=200_000)
    with gadget():
        process = board(f"allow=frequency,agc,gain,{GAIN}", source="iio:iios-sim-adc frequency=1G")
        yield process
        process.terminate()
        end(process)


def test_a_board_can_be_tuned_over_usb_and_recordings_have_its_frequency(streaming, tmp_path):
    path = tmp_path / "air.sigmf-meta"
    run(f"record usb: wait=30s {path} --samples 20000 --json")
    assert json.loads(path.read_text())["captures"][0]["core:frequency"] == 1e9
    path = tmp_path / "there.sigmf-meta"
    run(f"record usb: wait=30s frequency=2.4G {GAIN}=33 {path} --samples 20000 --json")
    assert json.loads(path.read_text())["captures"][0]["core:frequency"] == 2.4e9
    assert phy("out_altvoltage0_RX_LO_frequency") == "2400000000"
    assert phy("in_voltage0_hardwaregain").startswith("33")


def test_a_value_that_the_radio_refuses_is_reported_with_the_radios_error(streaming):
    error = run(f"stream usb: wait=30s {GAIN}=999 null: --samples 9 --json", status=3).json["error"]
    assert error["errno"] == 22 and "hardwaregain" in error["message"] and f"{GAIN}=999" in error["object"]
    assert "4k" in run("stream usb: wait=30s frequency=4kk null: --samples 9", status=3).err
    host("null:", "--samples", "20000")


def test_the_gain_control_accepts_the_drivers_own_modes(streaming):
    def tuned(options, status=0):
        return run(f"stream usb: wait=30s {options} null: --samples 20000 --json", status=status)

    tuned("agc=fast_attack")
    assert phy("in_voltage0_gain_control_mode") == "fast_attack"
    tuned("gain=7")
    assert phy("in_voltage0_gain_control_mode") == "manual" and phy("in_voltage0_hardwaregain").startswith("7")
    error = tuned("agc=fats_attack", status=3).json["error"]
    assert error["errno"] == 22 and "fast_attack" in error["hint"]
    assert "only one can set the gain" in tuned("agc=fast_attack gain=3", status=2).err
    tuned("agc=manual gain=9")
    assert phy("in_voltage0_hardwaregain").startswith("9")


def test_a_hanging_radio_delays_neither_host_nor_stream(streaming):
    """The host gets an answer within its timeout. The stream continues, and the result of the write is
    reported later."""
    delay = pathlib.Path("/sys/module/iios_sim/parameters/phy_delay_ms")
    delay.write_text("12000")
    try:
        error = run("stream usb: wait=30s frequency=2.5G null: --samples 9 --json", status=3).json["error"]
        assert error["errno"] == errno.ETIMEDOUT and "has not answered yet" in error["message"]
        assert phy("out_altvoltage0_RX_LO_frequency") == "1000000000", "the radio still hangs"
        host("null:", "--samples", "200000")
    finally:
        delay.write_text("0")
    with Request() as request:
        until(lambda: request(0xc1, GET_ATTR, 0, 64) and b"value" in request.answer, "the value")
    assert json.loads(request.answer) == {"value": "2500000000.0"}


@pytest.mark.parametrize("words", ["bandwidth=3M", f"attr.{PHY}/in_voltage0/rf_bandwidth=1000000"])
def test_settings_that_are_not_allowed_are_refused(streaming, words):
    assert "does not allow it" in run("stream usb: wait=30s", words, "null: --samples 9", status=2).err


@pytest.mark.parametrize("allow,words", [("frequncy", "frequency"), ("rate", "rate"), ("attr.x", "attr.x"),
                                         ("attr.nothing/x", "nothing"), (f"attr.{PHY}/in_voltage0/gian", "gian")])
def test_allowed_settings_must_exist(allow, words):
    sim(rate=200_000)
    with gadget():
        failed = run(f"stream iio:iios-sim-adc ffs:/run/iio-stream/ffs allow={allow} --samples 9 --json", status=None)
    assert failed.status in (2, 3) and words in failed.err


def answers(request, kind, number, value):
    """Returns whether the board answers a request. Attributes are requested repeatedly, because the board
    reads them while it continues to stream."""
    for _ in range(50 if (kind, number) in ((0xc1, 5), (0x41, 6)) else 1):
        if request(kind, number, value, 64 if kind & 0x80 else number == 6):
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("allow,attributes", counts.some([("frequency", 1), (None, 0)]))
def test_requests_only_reach_allowed_attributes(allow, attributes):
    sim(rate=200_000)
    with gadget():
        process = board(*([] if allow is None else [f"allow={allow}"]))
        with Request() as request:
            until(lambda: request(0xc1, 1, 0, 1024))
            tried = [(kind, number, value)
                     for kind in (0xc0, 0xc1, 0xa1, 0x41, 0x21)
                     for number in NUMBERS for value in ((0, 1, 0xffff) if number < 8 else (0,))
                     # The kernel answers this request for Microsoft's descriptors.
                     if (kind, number) != (0xc0, 0xcd)]
            # No program reads the samples that START triggers.
            tried.sort(key=lambda one: one == (0xc1, 2, 0))
            answered = {one for one in tried if answers(request, *one)}
        process.terminate()
        end(process)
    texts = {(0xc1, number, value) for number in (1, 4) for value in (0, 1, 0xffff)}
    own = {(0xc1, 5, value) for value in range(attributes)} | {(0x41, 6, value) for value in range(attributes)}
    assert answered == texts | own | {(0xc1, 2, 0), (0x41, 3, 0)}
