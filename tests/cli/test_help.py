# SPDX-License-Identifier: MIT
"""The --help of every subcommand ends with an example that runs as printed."""
import os
import re
import subprocess

import pytest

from conftest import BUILD, COMMAND, DEADLINE, REPOSITORY

# attr and run need hardware (tests/vm/test_help.py), and view needs a terminal (test_view.py).
NEEDS_MORE = {"attr", "run", "view"}


def commands():
    """Reads the names from the source, because the command may not exist yet when pytest collects the
    tests."""
    main = (REPOSITORY / "src" / "cli" / "main.cpp").read_text()
    return re.findall(r'cli::Command\{"([a-z-]+)"', main)


def example(text):
    match = re.search(r"\nExample:\n  (iio-stream .*)\n", text)
    assert match, text
    return match.group(1)


def run_as_it_stands(line, folder):
    path = f"{BUILD}:{os.environ['PATH']}"
    return subprocess.run(line, shell=True, cwd=folder, env={**os.environ, "PATH": path},
                          capture_output=True, text=True, timeout=DEADLINE, check=False)


def test_the_help_lists_all_commands_of_the_source(iio):
    assert {"info", "attr", "doctor", "stream", "record", "play", "bench", "verify",
            "recover"} <= set(commands())
    listed = re.findall(r"^  ([a-z-]+) +\w", iio("--help").out, re.MULTILINE)
    assert [name for name in listed if name != "iio-stream"] == commands()


@pytest.mark.parametrize("name", commands())
def test_the_example_of_a_command_runs_as_printed(iio, tmp_path, name):
    result = iio(name, "--help")
    assert result.err == ""
    line = example(result.out)
    assert f"iio-stream {name} " in line + " "
    if name in NEEDS_MORE:
        return
    done = run_as_it_stands(line, tmp_path)
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"


def test_the_example_of_the_main_help_runs_as_printed(iio, tmp_path):
    assert run_as_it_stands(example(iio("--help").out), tmp_path).returncode == 0


@pytest.mark.parametrize("name, words", [
    ("stream", "SOURCE [KEY=VALUE]… SINK [KEY=VALUE]…"), ("record", "SOURCE [KEY=VALUE]… FILE [KEY=VALUE]…"),
    ("play", "FILE [KEY=VALUE]… DEVICE [KEY=VALUE]…"), ("bench", "SOURCE [KEY=VALUE]… [SINK [KEY=VALUE]…]"),
    ("gadget", "up|down|status"), ("archive", "push|list|verify|prune|pull|index|pack PLACE [TO]…")])
def test_the_usage_line_shows_the_order_of_the_arguments(iio, name, words):
    assert f"\nUsage: iio-stream {name} {words} [" in iio(name, "--help").out


def test_the_help_of_a_verb_of_gadget_lists_the_options_of_that_verb(iio):
    up, down, status = (iio("gadget", verb, "--help").out for verb in ("up", "down", "status"))
    assert "Usage: iio-stream gadget up [OPTION]" in up and "--udc NAME" in up and "--json" not in up
    assert "--name NAME" in down and "--udc" not in down
    assert "--json" in status and "--name" not in status


def test_doctor_prints_missing_features_and_their_fixes(iio):
    printed = iio("doctor").out
    for check in iio("doctor --json").json["checks"]:
        assert f"{'ok' if check['ok'] else 'missing':<7} {check['name']}" in printed
        assert check["ok"] or f"Fix with: {check['fix']}" in printed or "not needed for sim:" in check["detail"], check


def test_the_help_of_streaming_commands_lists_every_common_option(iio):
    for name in ("stream", "record", "bench", "play"):
        text = iio(name, "--help").out
        for option in ("duration samples bytes block-size blocks timeout reconnect on-gap max-gaps max-lost "
                       "min-rate progress no-progress json metrics-file metrics-listen events quiet verbose").split():
            assert f"--{option}" in text, (name, option)


@pytest.mark.parametrize("name", ["stream", "record", "play"])
def test_the_help_of_a_streaming_command_fits_on_a_screen(iio, name):
    text = iio(name, "--help").out
    assert text.count("\n") <= 60
    assert "frequency=" in text and "overwrite=" in text
    for scheme in ("sim:", "iio:", "usb:", "zmq:"):
        assert scheme in text.rstrip().splitlines()[-1]


def test_the_version_is_the_version_of_the_project(iio):
    header = (REPOSITORY / "src" / "include" / "iio_stream" / "api.hpp").read_text()
    version = re.search(r'kVersion = "(\d+\.\d+\.\d+)"', header).group(1)
    assert iio("--version").out == f"iio-stream {version}\n"
    assert COMMAND.name == "iio-stream"


def test_doctor_does_not_advise_to_open_debugfs_to_users(iio):
    for check in iio("doctor --json").json["checks"]:
        assert "chmod" not in (check["fix"] or ""), check
