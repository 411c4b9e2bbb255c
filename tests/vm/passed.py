#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What had passed in a guest, also in one that died: tests/vm/passed.py LOG RESULT.xml

Prints the names of those tests, from pytest's own lines; if the guest could not hand out its
JUnit file any more, RESULT.xml is made of them.
"""
import re
import sys
import xml.etree.ElementTree as xml

LINE = re.compile(r"^(tests/vm/\w+\.py::.+?) (PASSED|FAILED|ERROR|SKIPPED)\b", re.M)


def passed(log):
    outcomes = {}
    for name, outcome in LINE.findall(log):
        if outcomes.get(name, "PASSED") == "PASSED":  # a teardown's error comes after
            outcomes[name] = outcome
    return [name for name, outcome in outcomes.items() if outcome == "PASSED"]


def is_result(path):
    try:
        xml.parse(path)
    except (xml.ParseError, OSError):
        return False
    return True


def main():
    log, result = sys.argv[1:]
    with open(log, encoding="utf-8", errors="replace") as file:
        names = passed(file.read())
    if not is_result(result):
        suite = xml.Element("testsuite")
        for name in names:
            file, _, test = name.partition("::")
            xml.SubElement(suite, "testcase", classname=file[:-len(".py")].replace("/", "."), name=test)
        xml.ElementTree(suite).write(result)
    print("\n".join(names))


if __name__ == "__main__":
    main()
