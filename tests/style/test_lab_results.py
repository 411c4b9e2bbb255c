# SPDX-License-Identifier: MIT
"""Tests tests/vm/run with guests that die, simulated by a script: each test runs once and keeps its
result."""
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

import pytest
from test_style import ROOT

sys.path.insert(0, str(ROOT / "tests" / "runner"))
import results  # noqa: E402

# Runs the command directly, without a guest. The file `died`, which a test creates, simulates the guest's
# death.
VM = """#!/bin/sh
while [ "$1" != -- ]; do shift; done; shift
echo boot >>boots
"$@"
status=$?
[ -e died ] || exit $status
rm died
echo "the guest died" >&2
exit 98
"""
TESTS = """import os, pathlib, pytest
def note(name):
    with open("ran", "a") as file:
        file.write(name + "\\n")
def die():
    pathlib.Path("died").touch()
    os._exit(1)
"""


@pytest.fixture
def lab(tmp_path):
    """Returns a function that runs test files with the given bodies, with arguments for tests/vm/run. It
    returns the exit status, the results, the tests that ran, and the output."""
    (tmp_path / "script").mkdir()
    (tmp_path / "script" / "vm").write_text(VM)
    (tmp_path / "script" / "vm").chmod(0o755)
    vm = tmp_path / "tests" / "vm"
    vm.mkdir(parents=True)
    for name in ("run", "guest_pytest.py"):
        shutil.copy(ROOT / "tests" / "vm" / name, vm)

    def run(*words, **files):
        for name, body in files.items():
            (vm / f"test_{name}.py").write_text(TESTS + body)
        done = subprocess.run([vm / "run", *words, tmp_path / "results"], capture_output=True, text=True,
                              check=False)
        found = {}
        for path in (tmp_path / "results").glob("*.xml"):
            found.update({test.partition("::")[2]: how for test, how in results.outcomes(path).items()})
        ran = (tmp_path / "ran").read_text().split() if (tmp_path / "ran").exists() else []
        return done.returncode, found, ran, done.stdout

    return run


def test_results_match_those_of_pytest(lab, tmp_path):
    status, found, _, out = lab(first="""
def test_passes(record_property):
    record_property("board pluto/adc", "3\\u00d7 \\x1b")
def test_fails():
    assert 1 == 2, "of course \\x00"
def test_skips():
    pytest.skip("no reason")
@pytest.fixture
def broken():
    yield
    raise RuntimeError("at the end")
def test_teardown_fails(broken):
    print("said before")
""")
    assert status == 1 and "1 == 2" in out
    assert found == {"test_passes": "passed", "test_fails": "failed", "test_skips": "failed",
                     "test_teardown_fails": "failed"}
    tree = xml.parse(tmp_path / "results" / "lab-0.xml")
    assert "of course" in tree.find(".//testcase[@name='test_fails']/failure").text
    assert tree.find(".//property").attrib == {"name": "board pluto/adc", "value": "3\u00d7 ?"}
    assert tree.find(".//testcase").get("classname") == "tests.vm.test_first"


def test_each_test_runs_once_if_the_guest_dies(lab, tmp_path):
    status, found, ran, out = lab(first="""
def test_one():
    note("one")
def test_two():
    note("two")
    assert False
@pytest.mark.parametrize("value", ["a b", "c::d"])
def test_three(value):
    note("three")
    if value == "a b":
        die()
def test_four():
    note("four")
""")
    assert status == 1 and ran == ["one", "two", "three", "three", "four"]
    assert found == {"test_one": "passed", "test_two": "failed", "test_three[a b]": "failed",
                     "test_three[c::d]": "passed", "test_four": "passed"}
    tree = xml.parse(tmp_path / "results" / "lab-0.xml")
    text = tree.find(".//testcase[@name='test_three[a b]']/failure").text
    assert text == "the guest died (status 98 of script/vm); see lab-0.log"
    assert "-- tests/vm/test_first.py::test_two failed:" in out
    assert "2 tests continue in a fresh one" in out and (tmp_path / "boots").read_text() == "boot\n" * 2


def test_tests_that_never_started_fail_if_the_guest_dies_repeatedly(lab, tmp_path):
    status, found, ran, _ = lab(first="""
@pytest.mark.parametrize("number", range(7))
def test_it(number):
    note(str(number))
    die()
""")
    assert status == 1 and ran == ["0", "1", "2", "3", "4"]
    assert found == {f"test_it[{number}]": "failed" for number in range(7)}


def test_a_guest_that_dies_before_its_first_test_is_not_restarted(lab, tmp_path):
    status, found, _, _ = lab(first="die()\n")
    assert status == 98 and not found and (tmp_path / "boots").read_text() == "boot\n"
    # The totals count an empty file as a failure.
    assert (tmp_path / "results" / "lab-0.xml").read_text() == ""


def test_a_file_that_cannot_be_imported_counts_as_failed(lab):
    status, found, ran, _ = lab(first="import nothing_of_this_name\n",
                                second="# guest: ordinary\ndef test_one():\n    note('one')\n")
    assert (status, found, ran) == (1, {"import": "failed", "test_one": "passed"}, ["one"])


def test_an_expression_selects_tests(lab):
    status, found, ran, _ = lab("-k", "one", first="def test_one():\n    note('one')\n",
                                second="# guest: --other\ndef test_two():\n    note('two')\n")
    assert (status, found, ran) == (0, {"test_one": "passed"}, ["one"])
