# SPDX-License-Identifier: MIT
"""script/demo: what it compiles, what it shows, and what a failure shows."""
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys

import pytest
from test_package import BUILD, ROOT, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import counts  # noqa: E402

DEMO = ROOT / "script" / "demo"
PROCESSOR_SECONDS = 300  # 150 s on two idle processors


def test_the_demo_compiles_only_the_library_and_the_command():
    targets = set(re.findall(r'/script/build" (?:-n )?([\w-]+)', DEMO.read_text()))
    assert len(targets) == 1
    commands = run("ninja", "-C", BUILD, "-t", "commands", *targets)
    folders = {pathlib.PurePath(name).parts[:3] for name in re.findall(r" -o (\S+\.o)\b", commands)}
    assert folders == {("src", "CMakeFiles", "iio-stream-objects.dir"), ("src", "CMakeFiles", "iio-stream-command.dir")}


def demo(tmp_path, build, *words, terminal=False):
    """Runs the demo in a tree whose script/build and command are shell scripts."""
    script = tmp_path / "tree" / "script"
    script.mkdir(parents=True)
    (tmp_path / "tree" / "build").mkdir()
    (tmp_path / "logs").mkdir()
    shutil.copy(ROOT / "script" / "demo", script / "demo")
    command = """
        case "$*" in
            doctor) printf 'ok      kernel         6.12: DMABUFs\\nok      io_uring       usable\\n'
                    printf 'missing IIO devices    no device\\n        Fix with: none\\n' ;;
            view*) echo "$* $DISPLAY" ;;
        esac"""
    for path, text in ((script / "build", build), (tmp_path / "tree" / "build" / "iio-stream", command)):
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    environment = {**os.environ, "TMPDIR": str(tmp_path / "logs"), "DISPLAY": ":0"}
    command = [str(script / "demo"), *words]
    if terminal:  # util-linux's script runs a program in a terminal
        command = ["script", "-qec", shlex.join(command), "/dev/null"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60,
                          env=environment)


def test_the_demo_without_the_lab_ends_with_a_picture_and_two_lines_of_doctor(tmp_path):
    build = 'case "$1" in -n) echo Unpacking ;; *) echo "[1/2] compiled" ;; esac'
    done = demo(tmp_path, build, "--no-vm", terminal=True)
    said = done.stdout.replace("\r\n", "\n")
    assert done.returncode == 0, said
    assert "Unpacking" not in said and "[1/2] compiled\n" in said
    picture, doctor = said.split("\n$ iio-stream doctor ")
    assert "\nview radio.sigmf-meta \n" in picture  # without a display
    assert doctor.splitlines()[1:3] == ["ok      kernel         6.12: DMABUFs", "missing IIO devices    no device"]
    assert "Fix with" not in doctor and not list((tmp_path / "logs").iterdir())


def test_the_demo_draws_nothing_into_a_file(tmp_path):
    done = demo(tmp_path, "exit 0", "--no-vm")
    assert done.returncode == 0, done.stderr
    assert "\nview radio.sigmf-meta" not in done.stdout


def test_a_failed_installation_names_the_log_with_everything_that_apt_printed(tmp_path):
    done = demo(tmp_path, "seq 1000; echo 'E: no network' >&2; exit 100", "--no-vm")
    log, = (tmp_path / "logs").iterdir()
    assert done.returncode == 1 and str(log) in done.stderr
    assert "E: no network" in done.stdout and "\n900\n" not in done.stdout
    assert log.read_text().splitlines() == [*map(str, range(1, 1001)), "E: no network"]


@pytest.mark.skipif(not counts.FULL, reason="compiles the library in a fresh Debian: runs with --full")
@pytest.mark.skipif(os.geteuid() != 0, reason="a fresh Debian needs root")
@pytest.mark.timeout(3600)
def test_the_demo_takes_at_most_300_seconds_of_processor_time_in_a_fresh_debian(tmp_path):
    """The packages are installed before, because their time depends on the network."""
    root = tmp_path / "root"
    run(ROOT / "script" / "fresh-root", "bookworm", root)
    try:
        (root / "iio-stream").mkdir()
        run("git", "-C", ROOT, "archive", "-o", root / "tree.tar", "HEAD")
        run("tar", "-xf", root / "tree.tar", "-C", root / "iio-stream")
        run(ROOT / "script" / "in-root", root, "/iio-stream/script/install", "build")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = run(ROOT / "script" / "in-root", root, "/iio-stream/script/demo", "--no-vm")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    finally:
        shutil.rmtree(root)
    assert "\nDone. " in said
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime <= PROCESSOR_SECONDS
