# SPDX-License-Identifier: MIT
"""The shape of the sources: which folders may include which others."""
import re

from test_style import ROOT, tracked

SRC = ROOT / "src"
SHARED = {"core", "sys", "uapi", "iio_stream"}  # what every room may see
# No endpoints themselves: they show or upload what another room has found or made, or are what two have on their wire.
SEES = {"serve": {"iio"}, "conformance": {"iio"}, "archive": {"file"}, "usb": {"framing"}, "tcp": {"framing"}}


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
