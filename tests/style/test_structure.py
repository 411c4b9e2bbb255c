# SPDX-License-Identifier: MIT
"""Checks which folders of the sources include which others."""
import re

from test_style import ROOT, tracked

SRC = ROOT / "src"
# A room is a folder directly below src/. Every room can include the shared folders.
SHARED = {"core", "sys", "uapi", "iio_stream"}
# {room: the rooms whose headers it can include, although they are not shared}. serve and conformance show the
# devices that iio finds, archive uploads the recordings that file makes, and framing is the wire format that
# usb and tcp share.
SEES = {"serve": {"iio"}, "conformance": {"iio"}, "archive": {"file"}, "usb": {"framing"}, "tcp": {"framing"}}
# Additional single headers: a recording with archive= pushes each part after closing it.
SEES_HEADERS = {"file": {"archive/push/push_queue.hpp"}}


# {part of a room: the other parts that it can include}, from the lowest layer to the highest. A part is a
# folder of the room, or the files of one name directly in the room's folder. The other files there form a
# part with the room's name. A part that is not listed can include the whole room.
LAYERS = {
    "core/base": set(),
    "core/loss": {"core/base"},
    "core/options": {"core/base"},
    "core/format": {"core/base", "core/options"},
    "core/memory": {"core/base", "core/loss"},
    "core/stream": {"core/base", "core/loss", "core/options", "core/format", "core/memory"},
    "core/user": {"core/base", "core/loss", "core/options", "core/format", "core/memory", "core/stream"},
    "iio/iq_pairs": set(),
    "iio/options": {"iio/iq_pairs"},
    "iio/context": {"iio/iq_pairs"},
    "iio/buffer": {"iio/iq_pairs"},
    "iio/loss": {"iio/buffer"},
    "iio/tuning": {"iio/iq_pairs", "iio/options", "iio/context"},
    "iio/capture": {"iio/buffer", "iio/loss", "iio/tuning"},
    "iio/playback": {"iio/buffer", "iio/loss"},
    "iio/remote": {"iio/options", "iio/context", "iio/loss", "iio/tuning"},
    "iio/probe": {"iio/options", "iio/context", "iio/buffer"},
    "sys": set(),
    "sys/device": {"sys"},
    "sys/disk": {"sys"},
    "sys/memory": {"sys", "sys/disk"},
    "sys/network": {"sys"},
    "usb": set(),
    "usb/board": {"usb"},
    "usb/host": {"usb"},
}


def sources():
    return {name.removeprefix("src/"): (ROOT / name).read_text()
            for name in tracked("src") if name.endswith((".cpp", ".hpp"))}


def included(text):
    """Returns the project's own headers that a file includes, by their path below src/ or src/include/."""
    return [header for header in re.findall(r'^#include [<"]((?:\w+/)+\w+\.hpp)[>"]', text, re.MULTILINE)
            if (SRC / header).exists() or (SRC / "include" / header).exists()]


def room(name):
    return name.split("/")[0] if "/" in name else ""


def part(name):
    """Returns the part, as LAYERS names it, to which a file belongs."""
    deepest = name.rsplit("/", 1)[0]
    alone = name.rsplit(".", 1)[0]
    return alone if alone in LAYERS else deepest


def test_no_room_includes_another_room():
    """cli/ and the files beside the rooms (builtin.cpp, doctor.cpp) are exempt, because they combine the
    rooms."""
    strangers = [f"{name} includes {header}" for name, text in sources().items()
                 for header in included(text)
                 if room(name) not in ("", "cli", "include", *SHARED)
                 and room(header) not in SHARED | {room(name)} | SEES.get(room(name), set())
                 and header not in SEES_HEADERS.get(room(name), set())]
    assert strangers == []


def test_the_command_escapes_the_names_that_it_prints():
    """All output for people goes through cli/output/print.hpp. The exceptions are JSON in a file and the
    progress line."""
    allowed = {"cli/output/print.cpp", "cli/output/progress.cpp", "cli/command.cpp"}
    raw = [f"{name}: {call}" for name, text in sources().items() if room(name) == "cli" and name not in allowed
           for call in re.findall(r"\b(?:f?printf|f?puts|f?putc|putchar|perror) ?\(|std::c(?:out|err)\b", text)]
    assert raw == []


def test_shared_folders_include_no_room():
    """Public headers include only public headers, sys/ does not include core/, and core/ includes no
    endpoint."""
    allowed = {"include": {"iio_stream"}, "uapi": {"uapi"}, "sys": {"sys", "uapi", "iio_stream"},
               "core": {"core", "sys", "uapi", "iio_stream"}}
    strangers = [f"{name} includes {header}" for name, text in sources().items()
                 for header in included(text)
                 if room(name) in allowed and room(header) not in allowed[room(name)]]
    assert strangers == []


def test_no_layer_of_a_room_includes_a_higher_layer():
    strangers = [f"{name} includes {header}" for name, text in sources().items() if part(name) in LAYERS
                 for header in included(text)
                 if room(header) == room(name) and part(header) not in LAYERS[part(name)] | {part(name)}]
    assert strangers == []


def test_every_folder_of_a_layered_room_is_a_layer():
    layered = {room(name) for name in LAYERS}
    folders = {part(name) for name in sources() if room(name) in layered and name.count("/") > 1}
    assert folders == {name for name in LAYERS if (SRC / name).is_dir() and "/" in name}


def test_headers_do_not_include_each_other_in_a_cycle():
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
