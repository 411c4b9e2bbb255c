# SPDX-License-Identifier: MIT
"""Runs the recipes of the cookbook and the commands for users of other tools as printed, if they need no
board. tests/vm/test_recipes.py runs those that need a board, and tests/gr/test_docs.py runs those of GNU
Radio."""
import array
import datetime
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import BUILD, DEADLINE, REPOSITORY, ramp

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.documents import DOCS, place, recipes, right_columns  # noqa: E402

RECIPES = recipes("cookbook.md", "host")
TABLES = {heading: [code for code in codes if code.startswith("iio-stream") and place(code) == "host"]
          for heading, codes in right_columns("coming-from.md").items()}
ENVIRONMENT = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}", "PYTHONPATH": str(BUILD / "python")}


def run(language, code, folder):
    words = {"sh": ["bash", "-euo", "pipefail", "-c", code], "python": [sys.executable, "-c", code]}[language]
    done = subprocess.run(words, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=DEADLINE,
                          check=False)
    assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def swept(folder, _said):
    runs = json.loads((folder / "sweep.json").read_text())["runs"]
    assert [run["block_bytes"] for run in runs] == [64 << 10, 128 << 10, 256 << 10]


def together(folder, _said):
    assert [(folder / f"{name}.sigmf-data").stat().st_size for name in "abcd"] == 4 * [2_000_000]


def dated(_folder, said):
    times = [datetime.datetime.fromisoformat(line.split()[1]) for line in said.splitlines()]
    now = datetime.datetime.now(datetime.timezone.utc)
    assert len(times) > 1 and times == sorted(times)
    assert datetime.timedelta(0) < now - times[0] < datetime.timedelta(seconds=DEADLINE)


def parts(folder, _said):
    data = [path.read_bytes() for path in sorted(folder.glob("part.*.sigmf-data"))]
    assert len(data) == 4 and b"".join(data) == ramp(1_000_000)


def rescued(folder, said):
    assert "every sample in place" in said and (folder / "long.sigmf-data").stat().st_size > 0


CHECKS = {"Find the best block size": swept, "Record two boards together": together,
          "Give each sample a UTC time": dated, "Record in several files": parts,
          "Rescue an interrupted recording": rescued}


def test_each_check_belongs_to_a_recipe():
    assert set(CHECKS) <= set(RECIPES)


@pytest.mark.parametrize("heading", RECIPES)
def test_a_recipe_of_the_cookbook_runs(heading, tmp_path):
    said = "".join(run(language, code, tmp_path) for language, code in RECIPES[heading])
    CHECKS.get(heading, lambda folder, said: None)(tmp_path, said)


def test_the_first_steps_run_in_order(tmp_path):
    """A page for beginners continues from one section to the next."""
    for heading, codes in recipes("getting-started.md", "host").items():
        if heading == "Look at it" and not importlib.util.find_spec("matplotlib"):
            continue
        for language, code in codes:
            said = run(language, code, tmp_path)
        if heading == "Record":
            assert (tmp_path / "first.sigmf-data").stat().st_size == 4_000_000
        if heading == "Look at it":
            assert (tmp_path / "first.png").read_bytes().startswith(b"\x89PNG")
    assert said.startswith("1000000.0 1000000 ()\n0 ("), said


@pytest.mark.parametrize("heading", [heading for heading, codes in TABLES.items() if codes])
def test_the_commands_for_users_of_another_tool_run(heading, tmp_path):
    for code in TABLES[heading]:
        run("sh", code, tmp_path)


def test_custom_endpoints_compile_and_run(tmp_path):
    code = re.findall(r"^```cpp\n(.*?)^```", (DOCS / "extending.md").read_text(), re.M | re.S)
    (tmp_path / "own.cpp").write_text("\n".join(code))
    run("sh", f"g++ -std=c++20 -Wall -Wextra -Werror -I{REPOSITORY}/src/include own.cpp -o own -L{BUILD} -liio-stream"
              f" -Wl,-rpath,{BUILD}", tmp_path)
    said = run("sh", "./own", tmp_path)
    samples = array.array("h", (tmp_path / "random.ci16").read_bytes())
    assert said == f'samples {{"peak": {max(map(abs, samples))}}}\n' and len(samples) == 200_000
