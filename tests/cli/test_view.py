# SPDX-License-Identifier: MIT
"""The command view: a spectrum and a waterfall in a terminal, which the emulator pyte reads, and PNG files."""
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios

import pyte
import pytest
from conftest import COMMAND, DEADLINE

COLUMNS, LINES = 108, 40
MARGIN = 8  # columns left of the picture


class Terminal:
    """A terminal in which one command runs."""

    def __init__(self, folder, words, size=(COLUMNS, LINES), **variables):
        self.screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self.screen)
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("DISPLAY", "WAYLAND_DISPLAY", "NO_COLOR")}
        environment |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", **variables}
        self.process = subprocess.Popen([COMMAND, *words.split()], cwd=folder, env=environment, stdin=slave,
                                        stdout=slave, stderr=slave)
        os.close(slave)

    def read(self):
        """Shows the next output. Returns False at its end."""
        try:
            data = os.read(self._master, 65536)
        except OSError:  # EIO: the command has closed the terminal
            return False
        self._stream.feed(data)
        return bool(data)

    def run(self):
        while self.read():
            pass
        status = self.process.wait(DEADLINE)
        assert status == 0, "\n".join(self.screen.display)
        return self

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self._master)

    def line(self, text):
        """The number of the first line that contains this text."""
        return next(number for number, line in enumerate(self.screen.display) if text in line)

    def bar(self, column):
        """The number of lines that the spectrum reaches in a column."""
        return sum(self.screen.buffer[number][MARGIN + column].data == "█" for number in range(self.line("dBFS  ")))

    def brightest(self, number):
        """The column of the lightest upper half in a line of the waterfall."""
        lightness = [sum(int(self.screen.buffer[number][column].fg[at:at + 2], 16) for at in (0, 2, 4))
                     for column in range(MARGIN, COLUMNS)]
        return lightness.index(max(lightness))


@pytest.fixture
def terminal(tmp_path):
    opened = []

    def start(words, **options):
        opened.append(Terminal(tmp_path, words, **options))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def test_a_recording_fills_the_terminal_with_its_spectrum_and_waterfall(iio, terminal):
    iio("record sim: pattern=tone frequency=250k rate=1M a.sigmf-meta --duration 1s --blocks 512")
    shown = terminal("view a.sigmf-meta").run()
    lines = shown.screen.display
    assert "a.sigmf-meta" in lines[0] and "voltage0_i, voltage0_q" in lines[0] and "1.00 MS/s" in lines[0]
    axis = shown.line("dBFS  ")
    assert lines[axis].split() == ["dBFS", "-500", "kHz", "0", "Hz", "500", "kHz"]
    # The tone is at 3/4 of the width, in the spectrum and in each line of the waterfall.
    place = (COLUMNS - MARGIN) * 3 // 4
    heights = [shown.bar(column) for column in range(COLUMNS - MARGIN)]
    assert abs(heights.index(max(heights)) - place) <= 1
    status = shown.line("highest")
    assert status == LINES - 2
    for number in range(axis + 1, status):
        assert abs(shown.brightest(number) - place) <= 1
    assert "1000000 samples, no gaps, highest -6.00 dBFS at 250.0 kHz" in lines[status]
    assert "0.0 s" in lines[axis + 1][:MARGIN] and "1.0 s" in lines[status - 1][:MARGIN]


def test_a_real_channel_is_shown_from_zero_to_half_of_the_rate(iio, terminal):
    iio("record sim: pattern=tone frequency=100k rate=1M format=ri16_le a.sigmf-meta --duration 200ms --blocks 512")
    shown = terminal("view a.sigmf-meta").run()
    assert shown.screen.display[shown.line("dBFS  ")].split()[1:] == ["0", "Hz", "250", "kHz", "500", "kHz"]
    heights = [shown.bar(column) for column in range(COLUMNS - MARGIN)]
    assert abs(heights.index(max(heights)) - (COLUMNS - MARGIN) / 5) <= 1


def test_a_loss_is_marked_at_its_time_in_the_waterfall(iio, terminal):
    iio("record sim: rate=1M drop_at=500k drop=1000 a.sigmf-meta --duration 1s --blocks 512")
    shown = terminal("view a.sigmf-meta").run()
    axis, status = shown.line("dBFS  "), shown.line("highest")
    marked = [number for number in range(axis + 1, status) if shown.screen.buffer[number][MARGIN - 1].data == "!"]
    assert len(marked) == 1 and abs(marked[0] - (axis + status) / 2) <= 2
    assert "1 gap, 1000 samples lost" in shown.screen.display[status]


@pytest.mark.parametrize("variables", [{}, {"NO_COLOR": "1"}], ids=["colors", "shades"])
def test_a_loss_is_visible_in_its_row(iio, terminal, variables):
    """It is red, or without colors empty."""
    iio("record sim: pattern=tone rate=1M drop_at=300k drop=400k a.sigmf-meta --duration 1s --blocks 512")
    shown = terminal("view a.sigmf-meta", **variables).run()
    row = next(line for line in range(LINES) if shown.screen.buffer[line][MARGIN - 1].data == "!")
    cells = [shown.screen.buffer[row][column] for column in range(MARGIN, COLUMNS)]
    assert all(cell.data == " " for cell in cells) if variables else {"cd0000"} <= {cell.fg for cell in cells} | {
        cell.bg for cell in cells}


@pytest.mark.parametrize("samples", [20, 500, 1023])
def test_fewer_samples_than_a_spectrum_have_their_level(iio, terminal, samples):
    iio(f"record sim: pattern=tone frequency=250k rate=1M a.sigmf-meta --samples {samples} --blocks 512")
    shown = terminal("view a.sigmf-meta").run()
    level = float(re.search(r"highest (\S+) dBFS", shown.screen.display[LINES - 2])[1])
    assert abs(level + 6) < 0.05


@pytest.mark.parametrize("size", [(30, 5), (200, 12)])
def test_small_terminals_show_something(iio, terminal, size):
    iio("record sim: rate=1M a.sigmf-meta --duration 100ms --blocks 512")
    assert "a.sigmf" in terminal("view a.sigmf-meta", size=size).run().screen.display[0]


def test_the_axis_is_around_the_frequency_that_is_given(iio, terminal):
    iio("record sim: rate=2M a.sigmf-meta --duration 100ms --blocks 512")
    shown = terminal("view a.sigmf-meta --centre 433M").run()
    assert shown.screen.display[shown.line("dBFS  ")].split()[1:] == ["432.00", "MHz", "433.00", "MHz", "434.00", "MHz"]


def test_a_live_source_is_redrawn_in_place_until_its_end(terminal):
    shown = terminal("view sim: pattern=tone frequency=-250k rate=1M --duration 1500ms").run()
    lines = shown.screen.display
    assert "sim:" in lines[0] and sum("dBFS  " in line for line in lines) == 1
    axis = shown.line("dBFS  ")
    assert "now" in lines[axis + 1][:MARGIN]
    # One row per tenth of a second, two rows per line.
    rows = sum(shown.screen.buffer[number][MARGIN].data == "▀" and shown.brightest(number) > 0
               for number in range(axis + 1, LINES - 2))
    assert rows >= 4
    assert abs(shown.brightest(axis + 1) - (COLUMNS - MARGIN) / 4) <= 1


def test_the_example_of_the_help_runs_as_printed(iio, terminal):
    recorded, viewed = re.search(r"Example:\n  iio-stream (.*) && iio-stream (.*)\n", iio("view --help").out).groups()
    iio(recorded)
    assert "a.sigmf-meta" in terminal(viewed).run().screen.display[0]


def test_ctrl_c_ends_a_live_view_with_status_0(terminal):
    shown = terminal("view sim:")
    while "highest" not in "".join(shown.screen.display):
        assert shown.read()
    shown.process.send_signal(signal.SIGINT)
    shown.run()


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb"])
def test_without_colors_the_waterfall_consists_of_shades(iio, terminal, variables):
    iio("record sim: pattern=tone frequency=0 rate=1M a.sigmf-meta --duration 100ms --blocks 512")
    shown = terminal("view a.sigmf-meta", **variables).run()
    assert {character.fg for line in range(LINES) for character in shown.screen.buffer[line].values()} == {"default"}
    row = shown.screen.display[shown.line("dBFS  ") + 1][MARGIN:]
    assert row[(COLUMNS - MARGIN) // 2] == "█" and row[0] == " "


def test_with_256_colors_the_waterfall_uses_the_palette(iio, terminal):
    iio("record sim: pattern=tone frequency=0 rate=1M a.sigmf-meta --duration 100ms --blocks 512")
    shown = terminal("view a.sigmf-meta", COLORTERM="").run()
    middle = (COLUMNS - MARGIN) // 2
    assert abs(shown.brightest(shown.line("dBFS  ") + 1) - middle) <= 1


def test_a_live_source_needs_a_terminal(iio):
    refused = iio("view sim:", status=2)
    assert "sim: is shown in a terminal, and stdout is not a terminal (-o FILE.png writes a picture)" in refused.err


@pytest.mark.parametrize("words, text", [
    ("view", "view: no source is given"),
    ("view a.sigmf-meta b.sigmf-meta", "view shows one source"),
    ("view sim: --bins 1000", "--bins 1000 is not a power of two from 16 to 65536"),
    ("view sim: -o picture.jpg", "-o picture.jpg: pictures are PNG files"),
])
def test_a_mistake_is_named(iio, words, text):
    assert text in iio(words, status=2).err


def test_an_unknown_channel_is_named(terminal, tmp_path):
    shown = terminal("view sim: --channel voltage9")
    while shown.read():
        pass
    assert shown.process.wait(DEADLINE) == 2
    assert "--channel voltage9: the source has no such channel" in "".join(shown.screen.display)
