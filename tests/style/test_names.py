# SPDX-License-Identifier: MIT
"""Many files are compiled as one, in an order that any new file changes: constants of the files of one namespace,
anonymous or not, have names of their own."""
import collections
import pathlib
import re

import pytest
from test_style import ROOT, tracked

ROOMS = sorted({name.split("/")[1] for name in tracked("src/*/*.cpp")} - {"cli"})


def constants(text):
    """Names of the constants outside functions and classes."""
    return [name for statement in re.findall(r"^(?:constexpr|const) [^;(]*?\bk[A-Z][^;]*;", text, re.M)
            for name in re.findall(r"\b(k[A-Z]\w*)(?=\s*(?:=|\{|\[))", statement)]


def repeated(files):
    """{constant: the files that define it} where there are several."""
    found = collections.defaultdict(list)
    for name, text in files:
        for constant in set(constants(text)):
            found[constant].append(name)
    return {constant: names for constant, names in found.items() if len(names) > 1}


@pytest.mark.parametrize("room", ROOMS)
def test_no_constant_is_defined_twice_in(room):
    files = [(name, (ROOT / name).read_text()) for name in tracked(f"src/{room}/*.cpp")
             if pathlib.Path(name).parts[1] == room]
    assert repeated(files) == {}


def test_a_constant_that_is_defined_twice_is_found():
    assert repeated([("a", "constexpr std::size_t kMin = 64, kMax = 4;\n"), ("b", "    constexpr int kMin = 3;\n"),
                     ("c", "constexpr int kMax = 2;\n")]) == {"kMax": ["a", "c"]}
