# SPDX-License-Identifier: MIT
"""What the files of the project have in common; cheap enough to be asked each time."""
import pathlib
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


def test_every_file_of_code_names_its_license_first():
    assert [name for name in CODE if "SPDX-License-Identifier:" not in
            "".join((ROOT / name).read_text().splitlines()[:2])] == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_shellcheck_finds_nothing_in(name):
    result = subprocess.run(["shellcheck", name], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
