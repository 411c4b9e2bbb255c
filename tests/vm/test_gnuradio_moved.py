# SPDX-License-Identifier: MIT
"""A typical receiver with gr-iio's FMComms2 source, ported as docs/gnuradio.md describes. Frequency, rate and
gain of the radio are set, and its samples go to a window that shows them over time and as a spectrum. Here
the converter and the front end are the lab's."""
import json
import os
import pathlib
import sys
import time

import pytest
from conftest import ADC, iio_dir, sim

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, os.environ.get("IIO_STREAM_BUILD", str(ROOT / "build")) + "/gr")
pytest.importorskip("gnuradio.gr")

from gnuradio import gr, iio_stream, qtgui  # noqa: E402
from gnuradio.fft import window  # noqa: E402
from PyQt5 import Qt  # noqa: E402

PHY = "iios-sim-phy"
RATE = 250_000
DEADLINE = 120


def attribute(name):
    return (iio_dir(PHY) / name).read_text().strip()


@pytest.fixture(scope="module")
def application():
    """Creates the application, which must outlive its windows."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    return Qt.QApplication([])


def test_an_fmcomms2_receiver_runs_after_porting(application):
    sim()
    top = gr.top_block()
    radio = iio_stream.source(iio_stream.with_options(
        iio_stream.endpoint_of("local:", ADC, ["voltage0_i", "voltage0_q"]),
        {"frequency": "2400000000", "rate": str(RATE), "bandwidth": "20M", "gain": "40",
         f"attr.{PHY}/in_voltage0/gain_control_mode": "manual"}), buffer_size=0x8000)
    course = qtgui.time_sink_c(1024, RATE, "", 1)
    spectrum = qtgui.freq_sink_c(1024, window.WIN_BLACKMAN_hARRIS, 2.4e9, RATE, "", 1)
    top.connect(radio, course)
    top.connect(radio, spectrum)
    top.start()
    end = time.monotonic() + DEADLINE
    while radio.nitems_written(0) < 2 * RATE:
        assert time.monotonic() < end, "no samples"
        application.processEvents()
        time.sleep(0.02)
    assert attribute("out_altvoltage0_RX_LO_frequency") == "2400000000"
    radio.tune({"frequency": "2450000000"})
    assert attribute("out_altvoltage0_RX_LO_frequency") == "2450000000"
    top.stop()
    top.wait()
    summary = json.loads(radio.summary())
    assert summary["ended"] == "signal" and summary["error"] is None and summary["samples"] >= 2 * RATE
    assert summary["route"][0]["mechanism"] == "dmabuf"
    assert attribute("in_voltage_sampling_frequency") == str(RATE) and radio.sample_rate() == RATE
    assert attribute("in_voltage_rf_bandwidth") == "20000000"
    assert attribute("in_voltage0_gain_control_mode") == "manual"
    assert attribute("in_voltage0_hardwaregain").startswith("40")
