# SPDX-License-Identifier: MIT
"""script/build in a configured tree, and its output."""
import os
import pathlib
import shutil
import subprocess

BUILD = pathlib.Path(__file__).resolve().parents[2] / "script" / "build"


def test_help_builds_nothing(tmp_path):
    (tmp_path / "script").mkdir()
    shutil.copy(BUILD, tmp_path / "script" / "build")  # the folder has no other programs
    said = subprocess.run([tmp_path / "script" / "build", "--help"], check=True, capture_output=True, text=True).stdout
    assert "script/build [NINJA-WORD...]" in said and not (tmp_path / "build").exists()


def test_newly_installed_parts_are_detected(tmp_path):
    """If a user installs GNU Radio later, as in the README, the next build includes its blocks."""
    (tmp_path / "script").mkdir()
    (tmp_path / "build").mkdir()
    shutil.copy(BUILD, tmp_path / "script" / "build")
    tools = {"script/install": "", "cmake": 'echo "$@" >>calls'}
    for name, text in tools.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    ninja, calls = tmp_path / "build" / "build.ninja", tmp_path / "calls"
    ninja.touch()

    def build(*words):
        return subprocess.run([tmp_path / "script" / "build", *words], check=True, capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}).stdout

    def called():
        calls.unlink(missing_ok=True)
        assert build("unit-tests") == ""
        return calls.read_text().splitlines()

    assert called() == ["--build build -- unit-tests"]
    os.utime(ninja, (0, 0))  # older than any package
    assert called() == ["build", "--build build -- unit-tests"]
    ninja.unlink()
    first, second = called()
    assert first.startswith("-S . -B build ") and second == "--build build -- unit-tests"
    (tmp_path / "build" / "python").mkdir()
    assert build() == ("built: build/iio-stream build/python. Next: build/iio-stream doctor; "
                       "sudo cmake --install build\n")
