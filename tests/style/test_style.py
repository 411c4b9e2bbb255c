# SPDX-License-Identifier: MIT
"""Checks all files of the project. The checks are fast enough to run every time."""
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tracked(*patterns):
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard",
                             "--", *patterns], capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def first_line(name):
    with open(ROOT / name, errors="replace") as file:
        return file.readline()


CODE = tracked("*.cpp", "*.hpp", "*.cc", "*.c", "*.h", "*.py")
SCRIPTS = [name for name in tracked("script", "tests", ".ci")
           if first_line(name).startswith("#!") and "sh" in first_line(name)]


def test_every_source_file_starts_with_its_license():
    assert [name for name in CODE if "SPDX-License-Identifier:" not in
            "".join((ROOT / name).read_text().splitlines()[:2])] == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_shellcheck_finds_no_problems(name):
    result = subprocess.run(["shellcheck", name], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def option_tables():
    """Returns {(folder, table): keys of its options} for the option tables of the library's endpoints."""
    tables = {}
    for name in tracked("src/*.hpp", "src/*.cpp"):
        text = (ROOT / name).read_text()
        for table, body in re.findall(r"OptionTable (k\w+)\{(.*?)\n\};", text, re.DOTALL):
            keys = re.findall(r'Option\{"([^"]+)"', body) + ["format"] * ("format_option(" in body)
            tables[pathlib.Path(name).parts[1], table] = keys
    return tables


def test_every_option_is_read_and_every_option_table_is_shown():
    """An option that is read but is in no table does not compile."""
    tables = option_tables()
    assert len(tables) > 10 and "rate" in tables["sim", "kOptions"]
    code = {name: (ROOT / name).read_text() for name in tracked("src/*.cpp", "src/*.hpp")}
    for (folder, table), keys in tables.items():
        room = "".join(text for name, text in code.items()
                       if name.startswith(f"src/{folder}/") or folder in ("core", "framing"))
        for key in keys:
            assert f'{table}["{key}"]' in room or (key == "format" and folder == "file"), \
                f"{folder}: nothing reads {key} of {table}"
        shown = re.findall(r"join\(([^;]*?)\)", room, re.DOTALL)
        assert any(re.search(rf"\b{table}\b", tables) for tables in shown), f"{folder}: {table} is not joined"


@pytest.mark.parametrize("name", sorted(p.name for p in (ROOT / "script").iterdir()
                                        if p.is_file() and os.access(p, os.X_OK) and p.name != "usb-demo"))
def test_help_of_a_script_installs_and_builds_nothing(name, tmp_path):
    for command in ("apt-get", "dpkg-query", "sudo", "cmake", "pip"):
        (tmp_path / command).write_text(f'#!/bin/sh\necho "{command} $*" >> {tmp_path}/called\nexit 1\n')
        (tmp_path / command).chmod(0o755)
    shown = subprocess.run([ROOT / "script" / name, "--help"], capture_output=True, text=True, check=True, timeout=60,
                           env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}).stdout
    assert len(shown.split()) > 8
    assert not (tmp_path / "called").exists()
