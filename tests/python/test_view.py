# SPDX-License-Identifier: MIT
"""Pictures show tones at their frequency and level and losses at their place, with axes in Hz, seconds and
dBFS."""
import json

import numpy as np
import pytest

import iio_stream as ios
from iio_stream import view

pytest.importorskip("matplotlib", reason="needs matplotlib, which script/test installs")

RATE = 1_000_000
TONE = 0.5011872336272722  # amplitude of the tone of sim:, -6 dBFS


def tone(frequency, count, amplitude=1.0):
    return (amplitude * np.exp(2j * np.pi * frequency / RATE * np.arange(count))).astype("<c8")


def looked_at(path, samples, **options):
    """Writes a raw recording of complex floats and returns a view of it."""
    path.write_bytes(samples.tobytes())
    return view.look(path, format="cf32_le", **{"rate": RATE, **options})


@pytest.mark.parametrize("format,frequency", [
    ("ci16_le", 125_000), ("ci16_le", -300_100), ("cf32_le", 123_456.7), ("ri16_le", 125_000),
    ("le:s12/16>>4", 200_200), ("be:s24/32>>8", 33_333), ("be:u24/32>>8", 200_000), ("rf32_le", 410_000),
])
def test_a_tone_is_at_its_frequency_and_level(format, frequency):
    seen = view.look("sim:", pattern="tone", format=format, frequency=frequency, rate=RATE, samples=50_000)
    where, level = seen.peak
    step = seen.frequencies[1] - seen.frequencies[0]
    assert abs(where - frequency) <= step / 2
    assert level == pytest.approx(-6, abs=0.02)
    away = np.abs(seen.frequencies - frequency) > 10 * step
    if format.startswith("be:u"):
        away &= seen.frequencies > 10 * step  # half scale is 0 V or DC, depending on the converter
    assert seen.spectrum[away].max() < -60
    assert seen.samples == 50_000 and seen.rate == RATE and not seen.gaps


@pytest.mark.parametrize("frequency", [250_000, 250_000 + RATE / 1024 / 2, 0, -499_000])
def test_a_complex_tone_of_full_scale_is_0_dbfs(tmp_path, frequency):
    seen = looked_at(tmp_path / "a.raw", tone(frequency, 20_480))
    assert seen.peak[1] == pytest.approx(0, abs=0.01)
    assert seen.highest.max() == pytest.approx(0, abs=0.01)
    assert abs(np.abs(seen.points) - 1).max() < 1e-6


def test_full_scale_depends_on_the_significant_bits():
    for format in ("le:s16/16>>0", "le:s12/16>>0", "le:s12/16>>4", "le:s24/32>>8"):
        seen = view.look("sim:", pattern="tone", format=format, rate=RATE, samples=10_000)
        assert seen.peak[1] == pytest.approx(-6, abs=0.02), format
        assert seen.bits == ios.Format.parse(format).channels[0].bits


def test_the_spectrum_has_the_mean_and_the_peak_of_a_burst(tmp_path):
    samples = tone(-100_000, 102_400, 0.1)
    samples[51_200:61_440] += tone(200_000, 10_240, 0.5)  # a tenth of the time
    seen = looked_at(tmp_path / "a.raw", samples)
    burst, steady = (int(np.argmin(abs(seen.frequencies - where))) for where in (200_000, -100_000))
    assert seen.highest[burst] == pytest.approx(20 * np.log10(0.5), abs=0.1)
    assert seen.spectrum[burst] == pytest.approx(20 * np.log10(0.5) - 10, abs=0.1)
    assert seen.spectrum[steady] == pytest.approx(-20, abs=0.1)
    times = (seen.times[:-1] + seen.times[1:]) / 2
    loud = seen.waterfall[:, burst] > -10
    assert times[loud].min() == pytest.approx(0.0512, abs=0.0011)
    assert times[loud].max() == pytest.approx(0.0614, abs=0.0011)


def test_long_streams_have_a_limited_number_of_rows_that_cover_each_sample(tmp_path):
    samples = np.zeros(300 * 1024, "<c8")
    samples[123 * 1024:124 * 1024] = tone(0, 1024)
    seen = looked_at(tmp_path / "a.raw", samples, rows=8)
    assert 8 <= len(seen.waterfall) <= 16 and len(seen.times) == len(seen.waterfall) + 1
    assert seen.times[-1] >= 0.3072 > seen.times[-2]
    row = int(np.argmax(seen.waterfall[:, 512]))
    assert seen.times[row] <= 123 * 1024 / RATE < seen.times[row + 1]
    frames = round((seen.times[1] - seen.times[0]) * RATE) / 1024
    assert seen.waterfall[row, 512] == pytest.approx(-10 * np.log10(frames), abs=0.1)


@pytest.mark.parametrize("at", [80_000, 81_234])
def test_a_gap_is_shown_where_samples_were_lost(tmp_path, at):
    words = {"pattern": "tone", "rate": 0, "drop_at": at, "drop": 60_000, "samples": 200_000,
             "block_size": 40_000}
    ios.record("sim:", tmp_path / "a.sigmf-meta", **{**words, "rate": RATE})
    for seen in (view.look("sim:", **{**words, "rate": RATE}), view.look(tmp_path / "a.sigmf-meta")):
        [gap] = seen.gaps
        assert (gap.lost_min, gap.lost_max) == (60_000, 60_000)
        assert gap.seconds == pytest.approx(at / RATE) and seen.gap_count == 1
        empty = np.isnan(seen.waterfall[:, 0])
        assert (np.isnan(seen.waterfall).any(axis=1) == empty).all()
        step = seen.times[1]
        assert seen.times[:-1][empty].min() == pytest.approx(at / RATE, abs=2 * step)
        assert seen.times[1:][empty].max() == pytest.approx((at + 60_000) / RATE, abs=2 * step)
        assert step * empty.sum() == pytest.approx(0.06, abs=3 * step)
        assert seen.peak[1] == pytest.approx(-6, abs=0.02)  # no frame has the jump in its middle
        assert seen.spectrum.min() < -100


def test_frequencies_are_absolute_if_the_center_is_known(tmp_path):
    file = tmp_path / "a.sigmf-meta"
    ios.record("sim:", file, pattern="tone", frequency=125_000, rate=RATE, samples=50_000)
    assert view.look(file).centre is None and view.look(file).peak[0] == 125_000
    assert view.look(file, centre="2.4G").peak[0] == 2_400_125_000
    words = json.loads(file.read_text())
    words["captures"][0]["core:frequency"] = 433.92e6
    file.write_text(json.dumps(words))
    assert view.look(file).centre == 433.92e6 and view.look(file).peak[0] == 434_045_000
    with ios.source(file) as rx:
        assert rx.tuning.frequency == 433.92e6


def test_only_a_radio_can_be_tuned():
    with pytest.raises(ios.UsageError, match="sim:"):
        ios.tune("sim:", frequency="2.4G")
    with ios.source("sim:") as rx:
        assert rx.tuning.frequency is None and rx.tuning.gain is None


def test_a_channel_is_chosen_by_name():
    words = {"pattern": "lanes", "rate": RATE, "samples": 4096, "format": "ci16_le",
             "channels": "voltage0_i,voltage0_q,voltage1_i,voltage1_q"}
    assert view.look("sim:", **words).channel == "voltage0_i, voltage0_q"
    second = view.look("sim:", **words, channel="voltage1_q")
    assert second.channel == "voltage1_i, voltage1_q" and second.is_complex
    with ios.source("sim:", **words) as rx:
        assert np.isin(second.points, next(rx).iq()[:, 1]).all()
    with pytest.raises(ios.UsageError, match="channel=voltage1_k"):
        view.look("sim:", **words, channel="voltage1_k")


def test_without_a_rate_axes_count_samples(tmp_path):
    file = tmp_path / "a.raw"
    file.write_bytes(tone(125_000, 4096).tobytes())
    seen = view.look(file, format="cf32_le")
    assert seen.rate is None and seen.peak[0] == 0.125 and seen.times.tolist() == [0, 1024, 2048, 3072, 4096]


@pytest.mark.parametrize("count", [0, 1, 500])
def test_a_picture_can_cover_less_than_a_frame(tmp_path, count):
    seen = looked_at(tmp_path / "a.raw", tone(0, count))
    assert seen.samples == len(seen.points) == count and len(seen.waterfall) == 1
    seen.save(tmp_path / "a.png")


def test_axes_are_right_and_gaps_are_drawn(tmp_path):
    from iio_stream import view_picture
    seen = view.look("sim:", pattern="tone", rate=RATE, frequency=125_000, samples=100_000, drop_at=50_000,
                     centre="2.4G")
    figure = view_picture.figure(seen)
    figure.canvas.draw()
    spectrum, waterfall, _, points, _ = figure.axes
    assert spectrum.get_ylabel() == "dBFS" and spectrum.get_xlabel() == "frequency"
    for axis in (spectrum, waterfall):
        assert axis.get_xlim() == pytest.approx((2.3995e9, 2.4005e9), abs=RATE / 1024)
        marks = [label.get_text() for label in axis.get_xticklabels()]
        assert all(mark.endswith(" GHz") for mark in marks) and len(set(marks)) == len(marks) > 2
    line = spectrum.lines[1]
    assert line.get_xdata()[np.argmax(line.get_ydata())] == 2_400_125_000
    assert waterfall.get_ylabel() == "seconds" and waterfall.get_ylim() == (seen.times[-1], 0)
    [drawn] = waterfall.lines
    assert drawn.get_ydata() == pytest.approx([0.05, 0.05])
    assert points.get_xlim()[1] == pytest.approx(1.1 * TONE, rel=0.01)


def test_the_command_makes_a_png(tmp_path, python):
    from matplotlib.image import imread
    words = ["sim:", "pattern=tone", "rate=1M", "--samples", "64k", "-o", str(tmp_path / "a.png")]
    assert view.main(words) == 0
    picture = imread(tmp_path / "a.png")
    assert picture.shape[:2] == (900, 1200) and picture.std() > 0.1
    python("import runpy, sys\nsys.argv = ['view', 'sim:?rate=1M', '--duration', '20ms', '-o', 'b.png']\n"
           "runpy.run_module('iio_stream.view', run_name='__main__')")
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")


def test_fewer_samples_than_a_spectrum_have_their_level():
    for samples in (1, 20, 500):
        seen = view.look("sim:", pattern="tone", frequency=250_000, rate=RATE, samples=samples)
        assert seen.peak[1] == pytest.approx(-6, abs=0.05), samples


def test_a_loss_of_known_size_is_not_a_lower_bound():
    seen = view.look("sim:", pattern="tone", rate=RATE, drop_at=5000, drop=300, samples=20_000)
    assert "300 samples" in seen._repr_html_() and "at least" not in seen._repr_html_()


def test_the_command_reports_errors(tmp_path, capsys):
    picture = str(tmp_path / "a.png")
    for words in (["sim:"], ["sim:", "--window", "-o", picture], ["sim:", "rate", "-o", picture],
                  ["sim:", "-o", picture[:-3] + "jpg"], ["sim:", "-o", "/nowhere/a.png"]):
        with pytest.raises(SystemExit) as caught:
            view.main(words)
        assert caught.value.code == 2
    for words, said in ((["/nowhere/a.ci16"], "No such file"), (["sim:", "patern=tone"], "did you mean"),
                        (["sim:", "--bins", "3"], "bins=3"), (["sim:", "--centre", "x"], "centre=x")):
        capsys.readouterr()
        assert view.main([*words, "-o", picture]) == 1
        assert said in capsys.readouterr().err
    assert not (tmp_path / "a.png").exists()


def test_the_error_without_matplotlib_says_what_to_install(python):
    told = python("import sys\nsys.modules['matplotlib'] = None\nsys.stderr = sys.stdout\n"
                  "from iio_stream import view\nsys.exit(view.main(['sim:', '-o', 'a.png']))", status=1)
    assert "pip install matplotlib, or Debian's python3-matplotlib" in told


def test_a_window_shows_the_picture_until_it_is_closed(python):
    out = python("""
import matplotlib
matplotlib.use("svg")  # a backend whose show() returns at once
from iio_stream import view
from matplotlib import pyplot
assert view.main(["sim:", "rate=1M", "--duration", "20ms", "--window"]) == 0
[figure] = map(pyplot.figure, pyplot.get_fignums())
print(figure.get_suptitle(), len(figure.axes) >= 4)
""")
    assert out.strip().endswith("True") and "sim:" in out


def test_without_a_library_for_windows_the_error_names_one(python):
    told = python("""
import sys
import matplotlib
matplotlib.use("agg")
sys.stderr = sys.stdout
from iio_stream import view
sys.exit(view.main(["sim:", "--duration", "20ms", "--window"]))
""", status=1)
    assert "python3-tk" in told
