# SPDX-License-Identifier: MIT
"""Runs pytest in a guest for tests/vm/run: python3 tests/vm/guest_pytest.py WORD-OF-PYTEST...

Writes a line of JSON for each event to stdout immediately, so that the results survive the death of the
guest: the list of tests, the start and the outcome of each test, and pytest's status. All other output goes
to stderr.
"""
import json
import os
import sys

import pytest


class Events:
    def __init__(self, descriptor):
        self._descriptor = descriptor
        self._reports = []

    def _write(self, **event):
        line = (json.dumps(event) + "\n").encode()
        while line:
            line = line[os.write(self._descriptor, line):]

    def pytest_collection_finish(self, session):
        self._write(tests=[item.nodeid for item in session.items])

    def pytest_collectreport(self, report):
        if report.failed:
            self._write(test=report.nodeid, outcome="failed", seconds=0, text=report.longreprtext,
                        properties=[])

    def pytest_runtest_logstart(self, nodeid):
        self._reports = []
        self._write(begun=nodeid)

    def pytest_runtest_logreport(self, report):
        self._reports.append(report)
        if report.when == "teardown":
            outcomes = [one.outcome for one in self._reports]
            outcome = next((word for word in ("failed", "skipped") if word in outcomes), "passed")
            text = "\n".join(one.longreprtext for one in self._reports if one.outcome == outcome)
            self._write(test=report.nodeid, outcome=outcome,
                        seconds=sum(one.duration for one in self._reports), text=text,
                        properties=[[str(name), str(value)] for name, value in report.user_properties])

    def pytest_sessionfinish(self, exitstatus):
        self._write(status=int(exitstatus))


if __name__ == "__main__":
    stdout = os.dup(1)  # programs that the tests start do not inherit it
    os.dup2(2, 1)
    sys.exit(pytest.main(sys.argv[1:], plugins=[Events(stdout)]))
