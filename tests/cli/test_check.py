# SPDX-License-Identifier: MIT
"""`iio-stream check` on any host, with or without IIO devices. tests/vm/test_check.py tests it with
devices."""
import json
import re
import socket
import subprocess
import sys

import pytest

from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
MACHINE = "--only kernel --only heaps --only udmabuf --only limits --only context --only kernel-log"


def schemas():
    pytest.importorskip("jsonschema")
    import schemas as module
    return module


def test_the_json_conforms_to_the_schema(iio):
    report = iio("check", MACHINE, "--json", status=None).json
    schemas().check("check", report)
    assert report["only"] == ["kernel", "heaps", "udmabuf", "limits", "context", "kernel-log"]
    assert [one["number"] for one in report["checks"]] == sorted(one["number"] for one in report["checks"])
    assert report["totals"] == {outcome: sum(one["outcome"] == outcome for one in report["checks"])
                                for outcome in ("pass", "fail", "skip")}


def test_the_exit_status_is_0_only_if_no_check_failed(iio):
    result = iio("check", MACHINE, "--json", status=None)
    assert (result.status == 0) == (result.json["totals"]["fail"] == 0)


def test_the_report_equals_the_json_output(iio, tmp_path):
    report = iio("check --only limits --json --report check.json").json
    assert json.loads((tmp_path / "check.json").read_text()) == report
    iio("check --only limits --report other.json")
    assert json.loads((tmp_path / "other.json").read_text())["command"] == "check"


@pytest.mark.parametrize("words", ["--report none", ""])
def test_report_none_or_a_selection_of_checks_writes_no_report(iio, tmp_path, words):
    iio(f"check --only limits {words}")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_not_a_report_is_not_overwritten(iio, tmp_path):
    (tmp_path / "check.json").write_text('{"mine": 1}')
    result = iio("check --only limits --report check.json", status=2)
    assert "is not a check report" in result.err and "--report" in result.err
    assert (tmp_path / "check.json").read_text() == '{"mine": 1}'


def test_the_report_names_the_host_only_with_identify(iio, tmp_path):
    iio("check --only limits --report check.json")
    assert socket.gethostname() not in (tmp_path / "check.json").read_text()
    assert iio("check --only limits --identify --json").json["host"] == socket.gethostname()


def test_the_table_has_a_line_for_each_result(iio):
    lines = iio("check --only kernel --only limits --report check.json").out.splitlines()
    assert re.match(r"pass 101 kernel +\S", lines[0]) and re.match(r"pass 108 limits +\S", lines[1])
    assert re.match(r"2 passed, 0 failed, 0 skipped in [\d.]+ s; report: check.json", lines[2]) and len(lines) == 3


def test_with_json_the_table_is_on_stderr(iio):
    result = iio("check --only limits --json")
    assert "108 limits" in result.err and result.json["command"] == "check"


def test_a_check_can_be_named_by_its_number(iio):
    check, = iio("check --only 108 --json").json["checks"]
    assert check["name"] == "limits"


def test_an_unknown_check_names_the_nearest(iio):
    result = iio("check --only limit", status=2)
    assert "there is no check 'limit'" in result.err and "limits" in result.err


def test_an_unknown_device_is_an_error(iio, tmp_path):
    result = iio("check no-such-device", status=None)
    assert result.status in (2, 3) and ("no-such-device" in result.err or "no IIO device" in result.err)
    assert not (tmp_path / "check.json").exists()


def test_the_manual_lists_every_check(iio):
    listed = [line.split(maxsplit=2) for line in iio("check --list").out.splitlines()]
    text = (REPOSITORY / "docs" / "check.md").read_text()
    assert re.findall(r"^\| (\d+) \| ([\w-]+) \| (.*) \|$", text, re.MULTILINE) == [tuple(words) for words in listed]
    assert len(listed) > 40


def test_names_and_numbers_are_unique(iio):
    listed = [line.split(maxsplit=2) for line in iio("check --list").out.splitlines()]
    numbers, names = [int(words[0]) for words in listed], [words[1] for words in listed]
    assert numbers == sorted(set(numbers)) and len(set(names)) == len(names)


def test_the_page_of_checked_boards_is_generated_from_the_reports():
    subprocess.run([sys.executable, REPOSITORY / "script" / "checked-boards", "--check"], check=True)


@pytest.mark.parametrize("path", sorted((REPOSITORY / "docs" / "checks").glob("*.json")), ids=lambda path: path.stem)
def test_the_reports_in_the_documentation_conform_to_the_schema(path):
    report = json.loads(path.read_text())
    schemas().check("check", report)
    assert report["host"] is None and report["serial"] is None
