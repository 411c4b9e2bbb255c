# SPDX-License-Identifier: MIT
"""Checks that constants have unique names within a namespace, anonymous or not. Unity builds compile many
files as one, in an order that any new file changes."""
import collections
import pathlib
import re

import pytest
from test_style import ROOT, tracked

ROOMS = sorted({name.split("/")[1] for name in tracked("src/*/*.cpp")} - {"cli"})


def constants(text):
    """Returns the names of the constants outside functions and classes."""
    return [name for statement in re.findall(r"^(?:constexpr|const) [^;(]*?\bk[A-Z][^;]*;", text, re.M)
            for name in re.findall(r"\b(k[A-Z]\w*)(?=\s*(?:=|\{|\[))", statement)]


def repeated(files):
    """Returns {constant: the files that define it} for each constant that several files define."""
    found = collections.defaultdict(list)
    for name, text in files:
        for constant in set(constants(text)):
            found[constant].append(name)
    return {constant: names for constant, names in found.items() if len(names) > 1}


@pytest.mark.parametrize("room", ROOMS)
def test_no_constant_of_a_folder_is_defined_twice(room):
    files = [(name, (ROOT / name).read_text()) for name in tracked(f"src/{room}/*.cpp")
             if pathlib.Path(name).parts[1] == room]
    assert repeated(files) == {}


def test_a_duplicate_constant_is_found():
    assert repeated([("a", "constexpr std::size_t kMin = 64, kMax = 4;\n"), ("b", "    constexpr int kMin = 3;\n"),
                     ("c", "constexpr int kMax = 2;\n")]) == {"kMax": ["a", "c"]}
