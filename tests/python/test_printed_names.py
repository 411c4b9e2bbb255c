# SPDX-License-Identifier: MIT
"""The output of the package's commands cannot control a terminal, whatever the names of files and recordings
are."""
import os
import subprocess
import sys
import unicodedata

import pytest
from conftest import DEADLINE, PACKAGE

import iio_stream as ios

# This name clears the screen, sets the title, ends a line, is not UTF-8, has a two-byte control character,
# and reverses the writing direction.
NASTY = b"a\x1b[2J\x1b]0;owned\x07b\nforged\xff\xc2\x9b31m\xe2\x80\xaed"


def run(folder, *words):
    """Splits the strings into words and replaces %s with the name."""
    arguments = [part.replace(b"%s", NASTY) for part in " ".join(words).encode().split()]
    return subprocess.run([sys.executable, "-B", "-m", *arguments], cwd=folder, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=DEADLINE, check=False,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONIOENCODING": "utf-8"})


def check(output):
    """Checks that the output is UTF-8, contains the name, and has no control character."""
    text = output.decode()
    assert not {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")} - {"\n"}, ascii(text)
    assert "owned" in text and not any(line.startswith("forged") for line in text.splitlines()), text


@pytest.mark.parametrize("words", [
    "view %s.sigmf-meta -o x.png", "view sim: %s -o x.png", "view sim: -o %s/x.png", "view sim: -o %s",
    "view sim: --live --%s", "events %s/a nats://127.0.0.1:9 --%s"])
def test_names_in_errors_of_a_command_are_escaped(tmp_path, words):
    done = run(tmp_path, f"iio_stream.{words}")
    assert done.returncode != 0
    check(done.stdout + done.stderr)


@pytest.mark.parametrize("words", ["spectrum folder -o x.png", "spectrum %s -o x.png",
                                   "spectrum folder -o x.png --%s",
                                   "spectrum folder --on-damage leave-out -o x.png"])
def test_names_in_an_archive_are_escaped(tmp_path, words):
    pytest.importorskip("s3fs", reason="needs s3fs, which script/test installs")
    pytest.importorskip("dask.array", reason="needs dask, which script/test installs")
    folder = os.fsencode(tmp_path) + b"/folder/"
    os.mkdir(folder)
    for kind, content in ((b"meta", b"{"), (b"data", b"")):
        with open(folder + NASTY + b".sigmf-" + kind, "wb") as file:
            file.write(content)
    done = run(tmp_path, f"iio_stream.archive {words}")
    assert done.returncode != 0
    check(done.stdout + done.stderr)


def test_the_text_of_an_error_is_escaped_and_its_filename_is_not(tmp_path):
    path = f"{tmp_path}/a\x1b[2J\n\x9b31m\u202ed.sigmf-meta"
    with pytest.raises(ios.Error) as raised:
        ios.open_recording(path)
    assert f"{tmp_path}/a\\x1b[2J\\x0a\\xc2\\x9b31m\\xe2\\x80\\xaed" in str(raised.value)
    assert str(raised.value).isprintable() and raised.value.filename == path
