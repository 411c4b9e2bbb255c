#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the totals of the test runners' results: tests/runner/results.py FOLDER [FAILED-STEP...]

Reads the JUnit files of ctest, pytest and the lab, and the last line of the output of the lab's own tests. A
step that failed counts as a failure even if none of its tests did. A test that was skipped in the lab counts
as failed, because the lab provides everything that a test can need. A test that is listed in tests/flaky.txt
and fails is named and counted, but does not count as a failure. The exit status is 0 if nothing failed.
"""
from __future__ import annotations

import datetime
import re
import sys
import xml.etree.ElementTree as xml
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAKY = ROOT / "tests" / "flaky.txt"
SELFTESTS = ("selftest", "zcu102")  # steps whose logs end with a line of their counts
WORSE = ("passed", "skipped", "failed")


def flaky_tests(path: Path = FLAKY) -> set[str]:
    """Returns the tests of a file with lines TEST-ID | date | evidence. Raises ValueError for any other
    line."""
    found = set()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.rsplit("|", 2)]
        if len(parts) != 3 or not all(parts):
            raise ValueError(f"{path}:{number}: not of the form TEST-ID | date | evidence")
        try:
            datetime.date.fromisoformat(parts[1])
        except ValueError:
            raise ValueError(f"{path}:{number}: {parts[1]} is not a date such as 2026-11-29") from None
        found.add(parts[0])
    return found


def identity(case: xml.Element) -> str:
    """Returns the name as ctest prints it, or as pytest accepts it: tests/vm/test_usb.py::test_end[2]."""
    place, name = case.get("classname") or "", case.get("name") or ""
    if place == name or not place:
        return name
    parts = place.split(".")
    for count in range(len(parts), 0, -1):  # the rest are classes
        file = "/".join(parts[:count]) + ".py"
        if (ROOT / file).is_file():
            return "::".join([file, *parts[count:], name])
    return f"{place}::{name}"


def outcomes(path: Path) -> dict[str, str]:
    """Returns {test: outcome} of a JUnit file, or {} if the runner did not finish writing it."""
    try:
        cases = list(xml.parse(path).iter("testcase"))
    except (xml.ParseError, OSError):
        return {}
    is_lab = path.stem.startswith("lab-")
    found: dict[str, str] = {}
    for case in cases:
        if case.find("failure") is not None or case.find("error") is not None:
            outcome = "failed"
        elif case.find("skipped") is not None or case.get("status") in ("disabled", "notrun"):
            outcome = "failed" if is_lab else "skipped"
        else:
            outcome = "passed"
        test = identity(case)
        found[test] = max(outcome, found.get(test, "passed"), key=WORSE.index)
    return found


def only_flaky_failed(paths: Iterable[Path], flaky: set[str]) -> bool:
    """Returns whether each file is complete, and at least one test failed, and all tests that failed are
    listed."""
    all_outcomes = [outcomes(path) for path in paths]
    failed = {test for found in all_outcomes for test, outcome in found.items() if outcome == "failed"}
    return all(all_outcomes) and bool(failed) and failed <= flaky


def junit(path: Path, flaky: set[str]) -> dict[str, int]:
    found = outcomes(path)
    if not found:
        print(f"{path.name} contains no result")
        found = {path.name: "failed"}
    for test, outcome in found.items():
        if outcome == "failed":
            print(f"failed, but listed as flaky: {test}" if test in flaky else f"failed: {test}")
    count = {outcome: list(found.values()).count(outcome) for outcome in WORSE}
    count["flaky"] = sum(outcome == "failed" and test in flaky for test, outcome in found.items())
    count["failed"] -= count["flaky"]
    return count


def selftest(path: Path) -> dict[str, int]:
    found = re.findall(r"^(\d+) passed, (\d+) failed$", path.read_text(errors="replace"), re.MULTILINE)
    passed, failed = map(int, found[-1] if found else (0, 1))
    return {"passed": passed, "failed": failed}


def totals(folders: Iterable[Path], failed_steps: Sequence[str], flaky: set[str],
           have_tests: bool = True) -> int:
    """Prints the totals, and returns the exit status. Without any result the run fails, unless no step has
    tests."""
    parts = []
    for folder in folders:
        parts += [junit(path, flaky) for path in sorted(folder.glob("*.xml"))]
        parts += [selftest(log) for step in SELFTESTS if (log := folder / f"{step}.log").exists()]
    total = {key: sum(part.get(key, 0) for part in parts) for key in (*WORSE, "flaky")}
    total["failed"] = max(total["failed"], len(failed_steps))
    if have_tests and total["passed"] == 0:
        total["failed"] = max(total["failed"], 1)
    flaky_failed = f" ({total['flaky']} flaky failed)" if total["flaky"] else ""
    steps = f" (steps that failed: {', '.join(failed_steps)})" if failed_steps else ""
    print(f"{total['passed']} passed{flaky_failed}, {total['failed']} failed, {total['skipped']} skipped"
          f"{steps}")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(totals([Path(sys.argv[1])], sys.argv[2:], flaky_tests()))
