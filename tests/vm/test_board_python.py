# SPDX-License-Identifier: MIT
# guest: --sim board=pluto
"""Real boards in Python: recording, playback, and tuning during a stream.

    script/vm --sim board=pluto -- /usr/bin/python3 -m pytest -q tests/vm/test_board_python.py
"""
import numpy as np
import pytest

import iio_stream as ios
from board_scans import LANES, devices, load, loaded, note
from conftest import iio_dir, knob
from counts import pick

SAMPLES = 4096
SLOW_SAMPLES = 32  # for a converter at 1 kS/s or less
RATE = 250_000     # slow enough for an emulator on a busy machine


def at(device, file):
    return (iio_dir(device) / file).read_text().strip()


def expected(elements, samples):
    """Returns the expected values, a row for each sample, each relative to its full scale."""
    columns = [[element.lane(number) / 2 ** (element.bits - element.signed) for number in range(samples)]
               for element in elements]
    if not all(element.signed for element in elements):  # the middle of an unsigned scale is 0
        columns = [[2 * value - 1 for value in column] for column in columns]
    return np.array(columns).T


def record(scan, chosen):
    elements, samples = scan.chosen(chosen), SAMPLES if scan.dma else SLOW_SAMPLES
    scan.pattern(LANES)
    with ios.source(f"iio:{scan.name}", channels=chosen, samples=samples) as rx:
        blocks = [(block.convert("rf32_le").copy(), block.iq().copy() if scan.is_complex(chosen) else None)
                  for block in rx]
    wanted = expected(elements, samples)
    got = np.concatenate([values.reshape(-1, len(chosen)) for values, _ in blocks])
    assert np.allclose(got, wanted, rtol=0, atol=1e-6), (scan.name, chosen)
    if scan.is_complex(chosen):
        iq = np.concatenate([values.reshape(-1, len(chosen) // 2) for _, values in blocks])
        assert iq.dtype == np.complex64
        assert np.allclose(iq, wanted[:, ::2] + 1j * wanted[:, 1::2], rtol=0, atol=1e-6), (scan.name, chosen)


def play(scan, chosen):
    """Plays whole blocks of a ramp. A core compares them with the ramp; a software FIFO only accepts them."""
    samples, bytes_ = (65536, 2 * len(chosen)) if scan.dma else (256, 2)
    if scan.dma:
        knob("reset", 1, device=scan.name)
    ramp = np.arange(samples * bytes_ // 8, dtype="<u8").view("u1")
    form = ",".join(element.form for element in scan.chosen(chosen))
    with ios.sink(f"iio:{scan.name}", channels=chosen, format=form) as tx:
        assert tx.write(ramp.tobytes()) == samples
    if scan.dma:
        assert knob("mismatches", device=scan.name) == "0", (scan.name, chosen)
        assert int(knob("delivered", device=scan.name)) >= samples


@pytest.mark.parametrize("board, device", pick(devices(["pluto", "fmcomms2-3"]), devices()))
def test_python_records_and_plays(board, device, record_property):
    scan = loaded(board, device)
    for chosen in scan.selections():
        (play if scan.output else record)(scan, chosen)
    note(record_property, board, device, "Python")


@pytest.mark.parametrize("board", ["pluto", "fmcomms2-3"])
def test_a_running_radio_can_be_tuned(board):
    load(board, rate=RATE)
    address = ios.uri("iio:cf-ad9361-lpc", channels=["voltage0", "voltage1"])
    with ios.source(address, frequency="2.4G", gain=40, samples=RATE // 2) as rx:
        assert (rx.tuning.frequency, rx.tuning.gain, rx.tuning.rate) == (2.4e9, 40, RATE)
        got = len(next(rx))
        tuning = ios.tune(address, frequency=2.45e9, gain=20, bandwidth="5M", antenna="B_BALANCED")
        assert (tuning.frequency, tuning.gain, tuning.bandwidth, tuning.antenna) == (2.45e9, 20, 5e6, "B_BALANCED")
        assert at("ad9361-phy", "out_altvoltage0_RX_LO_frequency") == "2450000000"
        assert at("ad9361-phy", "in_voltage0_gain_control_mode") == "manual"
        assert at("ad9361-phy", "in_voltage0_hardwaregain").startswith("20.0")
        ios.tune(address, agc="slow_attack")
        assert at("ad9361-phy", "in_voltage0_gain_control_mode") == "slow_attack"
        with pytest.raises(ios.DeviceError, match="99 dB is out of range: -3 dB to 71 dB"):
            ios.tune(address, gain=99)
        assert got + sum(len(block) for block in rx) == RATE // 2


def test_the_value_that_the_driver_chose_is_reported():
    load("pluto")
    tuning = ios.tune("iio:cf-ad9361-dds-core-lpc", gain=-10.2)  # the steps are 0.25 dB
    assert tuning.gain == -10.25 and at("ad9361-phy", "out_voltage0_hardwaregain") == "-10.250000 dB"
    assert list(tuning.remarks) == ["gain=-10.2: ad9361-phy/out_voltage0/hardwaregain set -10.25"]
    assert ios.tune("iio:cf-ad9361-dds-core-lpc", gain=-10.5).remarks == ()
