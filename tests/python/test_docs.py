# SPDX-License-Identifier: MIT
"""The statements about Python in the documentation are true. The snippets of the tutorial, the README and the
docstrings run."""
import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import BUILD, DEADLINE, PACKAGE, REPOSITORY

TUTORIAL = (REPOSITORY / "docs" / "python.md").read_text()
# These are the modules of the source tree, because an old build can contain others.
MODULES = [module.name for module in pkgutil.iter_modules([str(REPOSITORY / "bindings/python/iio_stream")])]


def snippets(text):
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_the_tutorials_snippets_run_one_after_the_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for number, snippet in enumerate(snippets(TUTORIAL)):
        exec(compile(snippet, f"docs/python.md, snippet {number}", "exec"), names)
    out = capsys.readouterr().out
    assert "-6.00 dBFS at 125000 Hz" in out
    assert "4 blocks: read sim:" in out
    assert "lost_min=300" in out
    assert "write memfd 4096 buffered" in out
    assert "125000 Hz, -6.00 dBFS (1024,)" in out and "SeenGap(seconds=0.04, lost_min=9000" in out


def test_the_tutorials_snippets_pass_mypy(tmp_path):
    tool = BUILD / "venv" / "bin" / "mypy"
    if not tool.exists():
        pytest.skip(f"{tool} is not installed: script/test installs it")
    (tmp_path / "tutorial.py").write_text("".join(snippets(TUTORIAL)))
    words = ["--strict", "--cache-dir", os.devnull, "--python-executable", sys.executable]
    done = subprocess.run([tool, *words, tmp_path / "tutorial.py"],
                          capture_output=True, text=True, check=False, timeout=10 * DEADLINE,
                          cwd=tmp_path, env={**os.environ, "MYPYPATH": str(PACKAGE)})
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("interpreter", dict.fromkeys([sys.executable, "/usr/bin/python3"]))
def test_the_readmes_snippet_is_the_example_and_runs(python, interpreter):
    [snippet] = snippets((REPOSITORY / "README.md").read_text())
    assert snippet == (REPOSITORY / "examples" / "capture.py").read_text().split("\n", 1)[1]
    # A source without a rate waits for a busy machine and loses no samples.
    said = python(f"import sys; sys.argv[1:] = ['sim:?rate=0']\n{snippet}", interpreter=interpreter)
    lines = re.findall(r"^sample (\d+): \((\d+), 2\) of int16, complex64, 0 gaps$", said, re.M)
    assert len(lines) > 1 and sum(int(count) for _, count in lines) == 1_000_000
    index = 0
    for first, count in lines:
        assert int(first) == index
        index += int(count)


STEMS = sorted(path.stem for path in (REPOSITORY / "examples").glob("*.py"))


def test_examples_have_the_same_names_in_each_language():
    assert sorted(path.stem for path in (REPOSITORY / "examples").glob("*.cpp")) == STEMS


def test_examples_play_the_same_in_each_language(python, tmp_path):
    source = (REPOSITORY / "examples" / "play.py").read_text()
    said = python(f"import sys; sys.argv[1:] = ['python.ci16']\n{source}")
    other = subprocess.run([BUILD / "examples" / "play", "cpp.ci16"], capture_output=True, text=True,
                           timeout=DEADLINE, cwd=tmp_path, check=True).stdout
    assert said == other and re.fullmatch(r"\d+ samples, ended by eof\n", said)
    mine, others = (np.fromfile(tmp_path / name, "<i2").astype(int) for name in ("python.ci16", "cpp.ci16"))
    assert len(mine) == len(others) > 10_000 and abs(mine - others).max() <= 1  # rounding
    assert mine[:2].tolist() == [16000, 0] and mine[4:6].tolist() == [0, 16000]


@pytest.mark.parametrize("stem,words", [("spectrum", r"(\+125000 Hz: -6\.0 dBFS, 0 gaps\n)+"),
                                        ("loop", r"(\+125000 Hz: 0\.501 of full scale\n){10}\d+ .*\n")])
def test_examples_measure_the_same_tone_in_each_language(python, tmp_path, stem, words):
    said = python((REPOSITORY / "examples" / f"{stem}.py").read_text())
    other = subprocess.run([BUILD / "examples" / stem], capture_output=True, text=True, timeout=DEADLINE,
                           cwd=tmp_path, check=True).stdout
    assert said == other and re.fullmatch(words, said)


def code_lines(stem, language):
    """Returns the code lines of main() in C++, or after the imports in Python. Omits comments and lines with
    only a brace."""
    text = (REPOSITORY / "examples" / f"{stem}.{language}").read_text()
    body = text.split("char** argv)\n" if language == "cpp" else "as ios\n", 1)[1]
    lines = [line.strip() for line in body.splitlines()]
    return [line for line in lines if line not in ("", "{", "}") and not line.startswith(("//", "#"))]


@pytest.mark.parametrize("stem,words", [
    ("capture_tuned", r"1000000 samples at 2 MS/s, \d+ lost between them, I of the first 0\.501\d*\n"),
    ("loopback", r"1000000 samples sent again\n"),
    ("continuous", r"before sample 50000: 300 or more lost\n1000000 samples, 1 gaps, 300 lost\n")])
def test_short_examples_do_the_same_in_each_language_without_casts(python, tmp_path, stem, words):
    said = python((REPOSITORY / "examples" / f"{stem}.py").read_text())
    other = subprocess.run([BUILD / "examples" / stem], capture_output=True, text=True, timeout=DEADLINE,
                           cwd=tmp_path, check=True).stdout
    assert re.fullmatch(words, said) and re.fullmatch(words, other)
    assert len(code_lines(stem, "cpp")) <= 10 and len(code_lines(stem, "py")) <= 6
    assert "_cast" not in (REPOSITORY / "examples" / f"{stem}.cpp").read_text()


@pytest.mark.parametrize("name", ["", *MODULES])
def test_examples_in_docstrings_are_correct(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(f"iio_stream.{name}" if name else "iio_stream")
    assert doctest.testmod(module).failed == 0
