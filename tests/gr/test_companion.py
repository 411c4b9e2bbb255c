# SPDX-License-Identifier: MIT
"""GNU Radio Companion lists the blocks. Its example flowgraphs compile and run without a display."""
import math
import os
import re
import subprocess
import sys

import pytest
import yaml
from conftest import BUILD, DEADLINE, REPOSITORY

GRC = BUILD / "gr" / "grc"
FLOWGRAPHS = REPOSITORY / "examples" / "gnuradio"
STEMS = sorted(path.stem for path in (REPOSITORY / "examples").glob("*.py"))
ENVIRONMENT = {**os.environ, "GRC_BLOCKS_PATH": str(GRC), "PYTHONPATH": str(BUILD / "gr"),
               "QT_QPA_PLATFORM": "offscreen"}

LOOP = """
import sys
sys.path.insert(0, sys.argv[1])
import loop
top = loop.loop(out=sys.argv[2], samples=20_000)
top.run()
print("turn", top.turns.level())
"""
PICTURE = """
import sys, time
sys.path.insert(0, sys.argv[1])
import spectrum
from PyQt5 import Qt
app = Qt.QApplication(sys.argv[:1])
top = spectrum.spectrum()
top.resize(900, 700)
top.show()
top.start()
canvases = [child for child in top.findChildren(Qt.QWidget) if child.metaObject().className() == "QwtPlotCanvas"]
of = {canvas.parent().metaObject().className(): canvas for canvas in canvases}

def is_blue(image, x, y):
    colour = image.pixelColor(x, y)
    return colour.blue() > colour.red() + 100 and colour.blue() > colour.green() + 100

def highest(name, rows):
    image = of[name].grab().toImage()
    for y in range(image.height()):
        if any(is_blue(image, x, y) for x in range(image.width())):
            return image.width(), [x for x in range(image.width())
                                   if any(is_blue(image, x, row) for row in range(y, y + rows))]

end = time.monotonic() + 60
while not (highest("FrequencyDisplayPlot", 1) and highest("TimeDomainDisplayPlot", 1)):
    assert time.monotonic() < end, "nothing is drawn"
    app.processEvents()
    time.sleep(0.05)
top.grab().save(sys.argv[2])
width, peak = highest("FrequencyDisplayPlot", 3)
_, tops = highest("TimeDomainDisplayPlot", 10)

# An axis of two decibels shows the level precisely. The curve exceeds it and is redrawn some time later.
top.frequency.set_y_axis(-7, -5)
def level():
    image = of["FrequencyDisplayPlot"].grab().toImage()
    rows = [y for y in range(image.height()) if any(is_blue(image, x, y) for x in range(image.width()))]
    return -5 - 2 * rows[0] / image.height() if rows else None
before, now = None, level()
while before is None or now is None or abs(now - before) > 0.02:  # until the curve is drawn with the new axis
    assert time.monotonic() < end + 60, "nothing is drawn"
    later = time.monotonic() + 1
    while time.monotonic() < later:
        app.processEvents()
        time.sleep(0.05)
    before, now = now, level()
print("level", now)
top.stop()
top.wait()
turns = 1 + sum(after - before > 5 for before, after in zip(tops, tops[1:]))
print("seen", (sum(peak) / len(peak) / width - 0.5) * 1e6, turns)
"""
FAKE = """
import sys
import numpy as np
import pmt
from gnuradio import gr, iio_stream

class Recorder(gr.sync_block):
    def __init__(self, endpoint, *arguments, **options):
        out = [np.complex64] if self.produces else None
        gr.sync_block.__init__(self, "recorder", None if self.produces else [np.complex64], out)
        for port in ("stats", "async_msgs"):
            self.message_port_register_out(pmt.intern(port))
        print("opened", endpoint)

def recorded(name):
    return lambda block, value: print("called", name, value)

for name in ("frequency", "sample_rate", "gain", "bandwidth", "settings"):
    setattr(Recorder, f"set_{name}", recorded(f"set_{name}"))
iio_stream.source = type("Source", (Recorder,), {"produces": True})
iio_stream.sink = type("Sink", (Recorder,), {"produces": False})
sys.path.insert(0, sys.argv[1])
"""
SLIDERS = FAKE + """
import spectrum
from PyQt5 import Qt
app = Qt.QApplication(sys.argv[:1])
top = spectrum.spectrum(endpoint=sys.argv[2])
for name, value in (("center_frequency", 2.5e9), ("radio_gain", 33)):
    print("moved", name)
    getattr(top, f"_{name}_win").findChild(Qt.QDoubleSpinBox).setValue(value)
"""
VARIABLES = FAKE + """
import radio
top = radio.radio()
for name, value in (("freq", 2.5e9), ("rate", 2e6), ("level", 33), ("width", 5e6), ("mode", "fast_attack")):
    getattr(top, f"set_{name}")(value)
"""
LISTED = """
from gnuradio import gr
from gnuradio.grc.core.platform import Platform
platform = Platform(version=gr.version(), version_parts=(gr.major_version(), gr.api_version(), gr.minor_version()),
                    prefs=gr.prefs())
platform.build_library()
print(sorted((name, block.label, block.category) for name, block in platform.blocks.items() if "iio_stream" in name))
"""


@pytest.fixture(autouse=True, scope="module")
def home(tmp_path_factory):
    """Gives the Companion a folder for its cache of block descriptions, which take seconds to read."""
    ENVIRONMENT["HOME"] = str(tmp_path_factory.mktemp("home"))


def run(*command, folder, **environment):
    done = subprocess.run([str(word) for word in command], env={**ENVIRONMENT, **environment},
                          capture_output=True, text=True, timeout=2 * DEADLINE, cwd=folder, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def compiled(flowgraph, folder):
    said = run("grcc", "-o", folder, flowgraph, folder=folder)
    made = folder / f"{flowgraph.stem}.py"
    assert made.exists(), said
    return made


def test_flowgraphs_have_the_names_of_the_other_examples():
    stems = {path.stem for path in FLOWGRAPHS.glob("*.grc")}
    assert len(stems) >= 4 and stems <= set(STEMS)


def test_capture_and_play_write_the_requested_number_of_samples(tmp_path):
    capture = compiled(FLOWGRAPHS / "capture.grc", tmp_path)
    said = run(sys.executable, capture, "--samples", "100000", "--file", "a.sigmf-meta", folder=tmp_path)
    assert (tmp_path / "a.sigmf-data").stat().st_size == 8 * 100000
    assert re.search(r"samples \. 100000\b", said) and re.search(r"ended \. samples", said)
    play = compiled(FLOWGRAPHS / "play.grc", tmp_path)
    run(sys.executable, play, "--samples", "5000", "--endpoint", "tone.cf32", folder=tmp_path)
    assert (tmp_path / "tone.cf32").stat().st_size == 8 * 5000


def test_loop_sends_and_receives_a_tone(tmp_path):
    made = compiled(FLOWGRAPHS / "loop.grc", tmp_path)
    said = run(sys.executable, "-c", LOOP, made.parent, tmp_path / "sent.cf32", folder=tmp_path)
    turn = float(said.split("turn ")[1].split()[0])  # GNU Radio 3.10.12 prints messages after this line
    assert turn == pytest.approx(2 * math.pi / 8, rel=1e-3)
    assert (tmp_path / "sent.cf32").stat().st_size == 8 * 20_000
    assert re.search(r"samples \. 20000\b", said) and re.search(r"ended \. samples", said)


def test_spectrum_shows_the_tone_at_its_frequency_and_level(tmp_path):
    """Finds the highest points of the plots in a picture of the window, relative to the axes."""
    made = compiled(FLOWGRAPHS / "spectrum.grc", tmp_path)
    said = run(sys.executable, "-c", PICTURE, made.parent, "window.png", folder=tmp_path)
    frequency, periods = map(float, said.split("seen ")[1].split()[:2])
    assert (tmp_path / "window.png").stat().st_size > 10_000
    assert float(re.search(r"^level (\S+)$", said, re.M)[1]) == pytest.approx(20 * math.log10(0.5), abs=0.1)
    assert abs(frequency - 125e3) < 15e3, "the peak must be at 125 kHz; the tolerance is some pixels"
    assert 31 <= periods <= 33, "256 samples with eight per period must show 32 periods"


def test_the_companion_lists_the_blocks_in_their_own_category(tmp_path):
    said = run(sys.executable, "-c", LISTED, folder=tmp_path)
    assert said.splitlines()[-1] == str([("iio_stream_sink", "IIO Stream Sink", ["IIO Stream"]),
                                         ("iio_stream_source", "IIO Stream Source", ["IIO Stream"])])


def lines(said, word):
    return [line.removeprefix(f"{word} ") for line in said.splitlines() if line.startswith(f"{word} ")]


@pytest.mark.parametrize("endpoint, opened, called", [
    ("iio:adc", "iio:adc?frequency=2400000000.0&gain=40", ["set_frequency 2500000000.0", "set_gain 33.0"]),
    ("sim:", "sim:", ["set_frequency None", "set_gain None"])])
def test_the_sliders_of_spectrum_tune_the_radio_if_there_is_one(tmp_path, endpoint, opened, called):
    made = compiled(FLOWGRAPHS / "spectrum.grc", tmp_path)
    said = run(sys.executable, "-c", SLIDERS, made.parent, endpoint, folder=tmp_path)
    assert lines(said, "opened") == [opened]
    assert lines(said, "called") == called


def radio(**parameters):
    """Returns a flowgraph in which a source and a sink have these parameters, and its variables."""
    flowgraph = yaml.safe_load((FLOWGRAPHS / "capture.grc").read_text())
    flowgraph["options"]["parameters"]["id"] = "radio"
    state = flowgraph["blocks"][0]["states"]
    variables = {"freq": "2.4e9", "rate": "1e6", "level": "40", "width": "10e6", "mode": '"slow_attack"'}
    flowgraph["blocks"] = [
        {"name": name, "id": "variable", "parameters": {"value": value}, "states": state}
        for name, value in variables.items()]
    flowgraph["blocks"] += [
        {"name": name, "id": f"iio_stream_{name}", "parameters": {"endpoint": "sim:", **parameters}, "states": state}
        for name in ("source", "sink")]
    flowgraph["connections"] = [["source", "0", "sink", "0"]]
    return flowgraph


def compiled_radio(folder, **parameters):
    path = folder / "radio.grc"
    path.write_text(yaml.safe_dump(radio(**parameters)))
    return compiled(path, folder)


def test_the_settings_of_the_dialog_open_the_device_and_follow_their_variables(tmp_path):
    made = compiled_radio(tmp_path, device="adc", uri="ip:192.168.2.1", channels="['a', 'b']", frequency="freq",
                          sample_rate="rate", gain="level", bandwidth="width", settings="{'agc': mode}")
    said = run(sys.executable, "-c", VARIABLES, made.parent, folder=tmp_path)
    endpoint = ("iio:adc?agc=slow_attack&bandwidth=10000000.0&channels=a,b&frequency=2400000000.0&gain=40"
                "&rate=1000000.0&uri=ip:192.168.2.1")
    assert lines(said, "opened") == [endpoint] * 2
    for call in ("set_frequency 2500000000.0", "set_sample_rate 2000000.0", "set_gain 33", "set_bandwidth 5000000.0",
                 "set_settings {'agc': 'fast_attack'}"):
        assert lines(said, "called").count(call) == 2, said
    assert len(lines(said, "called")) == 10


def test_empty_settings_leave_the_device_as_it_is(tmp_path):
    made = compiled_radio(tmp_path, device="adc", sample_rate="")
    said = run(sys.executable, "-c", VARIABLES, made.parent, folder=tmp_path)
    assert lines(said, "opened") == ["iio:adc"] * 2 and lines(said, "called") == []


def test_the_rate_of_the_samples_is_not_set_on_a_sink_without_a_device(tmp_path):
    """A recording has the rate in its metadata, and cannot change it."""
    made = compiled_radio(tmp_path, sample_rate="rate")
    said = run(sys.executable, "-c", VARIABLES, made.parent, folder=tmp_path)
    assert lines(said, "opened") == ["sim:?rate=1000000.0", "sim:"]
    assert lines(said, "called") == ["set_sample_rate 2000000.0", "set_sample_rate None"]


@pytest.mark.parametrize("parameters", [{"endpoint": ""}, {"uri": "ip:192.168.2.1"}, {"frequency": "'2.4 GHz'"}])
def test_the_companion_reports_parameters_that_are_not_possible(tmp_path, parameters):
    with pytest.raises(AssertionError, match="Assertion"):
        compiled_radio(tmp_path, **parameters)


def defaults(name):
    """Returns a flowgraph with the block and its default parameters."""
    flowgraph = yaml.safe_load((FLOWGRAPHS / "capture.grc").read_text())
    kept = {"source": "iio_stream_source", "tone": "analog_sig_source_x", "sink": "iio_stream_sink"}[name]
    flowgraph["blocks"] = [dict(flowgraph["blocks"][2], name=name, id=kept, parameters={})]
    return flowgraph


def test_a_source_with_default_parameters_runs(tmp_path):
    flowgraph = defaults("source")
    state = flowgraph["blocks"][0]["states"]
    flowgraph["options"]["parameters"]["id"] = "plain"
    flowgraph["blocks"] += [
        {"name": "some", "id": "blocks_head", "parameters": {"num_items": "10000"}, "states": state},
        {"name": "samp_rate", "id": "variable", "parameters": {"value": "1e6"}, "states": state},
        {"name": "sink", "id": "iio_stream_sink", "parameters": {}, "states": state}]
    flowgraph["connections"] = [["source", "0", "some", "0"], ["some", "0", "sink", "0"]]
    path = tmp_path / "plain.grc"
    path.write_text(yaml.safe_dump(flowgraph))
    run(sys.executable, compiled(path, tmp_path), folder=tmp_path)


@pytest.mark.parametrize("name", ["source", "sink"])
def test_the_template_uses_exactly_the_parameters_of_the_block(name):
    """No parameter is missing or unknown. The template of the source does not use ports."""
    text = (GRC / f"iio_stream_{name}.block.yml").read_text()
    block = yaml.safe_load(text)
    ids = {parameter["id"] for parameter in block["parameters"]}
    used = set(re.findall(r"\$\{\s*(\w+)", block["templates"]["make"]))
    assert used == ids - ({"ports"} if name == "source" else set())


@pytest.mark.parametrize("name", ["source", "sink"])
def test_the_documentation_lists_the_options_of_each_endpoint(name):
    """The list is generated from the option tables. tests/cli/added_option.cpp adds an option to sim:."""
    text = yaml.safe_load((GRC / f"iio_stream_{name}.block.yml").read_text())["documentation"]
    assert "# options" not in text
    assert re.search(r"\niio:DEVICE\n(  \S+=.*\n)*  frequency=FREQUENCY +Hz; default: unchanged\n", text), text
    template = REPOSITORY / "gr-blocks" / "grc" / f"iio_stream_{name}.block.yml"
    said = run(BUILD / "iio-stream", "help", "--companion", template, folder=GRC,
               LD_PRELOAD=str(BUILD / "tests" / "libadded-option.so"))
    assert ("colour=red" in yaml.safe_load(said)["documentation"]) == (name == "source")
    assert "colour=red" not in text and ("counter=" in text) == (name == "source")


def test_the_parameters_of_gr_iio_open_a_device(tmp_path):
    """The flowgraph fails only because there is no such device."""
    flowgraph = yaml.safe_load((FLOWGRAPHS / "capture.grc").read_text())
    [source] = [block for block in flowgraph["blocks"] if block["name"] == "source"]
    source["parameters"].update(endpoint="", uri="ip:127.0.0.1", device="cf-ad9361-lpc",
                                channels="['voltage0', 'voltage1']", buffer_size="0x8000")
    path = tmp_path / "capture.grc"
    path.write_text(yaml.safe_dump(flowgraph))
    made = compiled(path, tmp_path)
    done = subprocess.run([sys.executable, made], env=ENVIRONMENT, capture_output=True, text=True,
                          timeout=2 * DEADLINE, check=False)
    assert done.returncode != 0 and "ip:127.0.0.1" in done.stderr


