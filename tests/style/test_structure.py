# SPDX-License-Identifier: MIT
"""The shape of the sources: who may include whom, and how long files and functions are."""
import json
import re
import shutil
import subprocess

import pytest
from test_style import ROOT, tracked

SRC = ROOT / "src"
SHARED = {"core", "sys", "uapi", "iio_stream"}  # what every room may see
# No endpoints themselves: they show or upload what another room has found or made, or are what two have on their wire.
SEES = {"serve": {"iio"}, "archive": {"file"}, "usb": {"framing"}, "tcp": {"framing"}}


def sources():
    return {name.removeprefix("src/"): (ROOT / name).read_text()
            for name in tracked("src") if name.endswith((".cpp", ".hpp"))}


def included(text):
    """The project's own headers that a file includes, by their path below src/ or src/include/."""
    return [header for header in re.findall(r'^#include [<"]((?:\w+/)+\w+\.hpp)[>"]', text, re.MULTILINE)
            if (SRC / header).exists() or (SRC / "include" / header).exists()]


def room(name):
    return name.split("/")[0] if "/" in name else ""


def test_no_room_includes_another_room():
    """cli/ and the files beside the rooms (builtin.cpp, doctor.cpp) put them together."""
    strangers = [f"{name} includes {header}" for name, text in sources().items()
                 for header in included(text)
                 if room(name) not in ("", "cli", "include", *SHARED) and room(header) not in SHARED | {room(name)} | SEES.get(room(name), set())]
    assert strangers == []


def test_what_is_shared_includes_no_room():
    """Public headers see public headers, sys/ sees no core/, core/ sees no endpoint."""
    allowed = {"include": {"iio_stream"}, "uapi": {"uapi"}, "sys": {"sys", "uapi", "iio_stream"},
               "core": {"core", "sys", "uapi", "iio_stream"}}
    strangers = [f"{name} includes {header}" for name, text in sources().items()
                 for header in included(text)
                 if room(name) in allowed and room(header) not in allowed[room(name)]]
    assert strangers == []


def test_no_headers_include_each_other_in_a_circle():
    graph = {name.removeprefix("include/"): included(text) for name, text in sources().items()
             if name.endswith(".hpp")}
    done = set()

    def visit(name, path):
        assert name not in path, " -> ".join([*path[path.index(name):], name])
        if name not in done:
            for header in graph.get(name, []):
                visit(header, [*path, name])
            done.add(name)

    for name in graph:
        visit(name, [])


CODE = tracked("src", "bindings", "gr-blocks", "soapy", "examples", "tests", "script")
MOST_LINES, MOST_FUNCTION_LINES = 300, 60


def test_no_file_is_too_long():
    """Scripts have no suffix; what fuzzing keeps is data."""
    files = [name for name in CODE + tracked("compat") if not name.startswith("tests/fuzz/corpus/")]
    assert {"script/test", "tests/vm/run", "tests/support/fake.cpp"} <= set(files)
    assert [name for name in files if len((ROOT / name).read_text().splitlines()) > MOST_LINES] == []


def functions(names):
    """(length in lines, "FILE:LINE: NAME") of each function that ctags sees in these files."""
    result = subprocess.run(["ctags", "-f", "-", "-L", "-", "--output-format=json", "--fields=+neK",
                             "--languages=C,C++,Python"], cwd=ROOT, input="\n".join(names), capture_output=True,
                            text=True, check=True)
    tags = [json.loads(line) for line in result.stdout.splitlines()]
    return [(tag["end"] - tag["line"] + 1, f"{tag['path']}:{tag['line']}: {tag['name']}") for tag in tags
            if tag["kind"] in ("function", "member") and "end" in tag]


@pytest.mark.skipif(not shutil.which("ctags"), reason="universal-ctags is not installed (script/install test)")
def test_no_function_is_too_long():
    found = functions([name for name in CODE if name.endswith((".cpp", ".hpp", ".cc", ".h", ".c", ".py"))])
    assert len(found) > 5000, "ctags does not see the functions"
    assert [where for length, where in found if length > MOST_FUNCTION_LINES] == []


@pytest.mark.skipif(not shutil.which("ctags"), reason="universal-ctags is not installed (script/install test)")
def test_a_function_that_is_too_long_is_found(tmp_path):
    for suffix, text in ((".cpp", "void f()\n{\n" + "    g();\n" * 58 + "}\n"),
                         (".py", "def f():\n" + "    g()\n" * 60)):
        (tmp_path / f"long{suffix}").write_text(text)
    assert sorted(length for length, _ in functions([str(tmp_path / "long.cpp"), str(tmp_path / "long.py")])) == [61, 61]
