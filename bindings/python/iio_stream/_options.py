# SPDX-License-Identifier: MIT
"""Python's words for endpoints and streams, turned into the library's."""
from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, TypeAlias

from . import _core
from ._errors import Error, make

#: A number, or text as on the command line: "4Mi", "2.4G", "250ms".
Size: TypeAlias = "int | str"
Rate: TypeAlias = "float | str"
Duration: TypeAlias = "float | str | timedelta"
#: An endpoint: "scheme:rest?key=value", a path, or what uri() gives.
Endpoint: TypeAlias = "str | os.PathLike[str]"

ON_GAP = ("mark", "stop", "zero-fill")


def word(value: Any) -> str:
    """A value as it stands behind ``key=``: lists get commas, booleans are on or off."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (str, int, os.PathLike)):
        return str(value)
    if isinstance(value, timedelta):
        return f"{value.total_seconds()!r}s"
    if isinstance(value, Iterable):
        return ",".join(word(part) for part in value)
    return str(value)


def uri(endpoint: Endpoint, /, **options: Any) -> str:
    """An endpoint with options, as one string that every function here takes.

    >>> uri("sim:", pattern="tone", channels=["voltage0_i", "voltage0_q"])
    'sim:?channels=voltage0_i,voltage0_q&pattern=tone'

    Raises UsageError where an option is set twice.
    """
    return _core.uri(os.fspath(endpoint), {key: word(value) for key, value in options.items()})


def uris(endpoints: Endpoint | Iterable[Endpoint]) -> list[str]:
    """One endpoint or several."""
    if isinstance(endpoints, (str, os.PathLike)):
        return [uri(endpoints)]
    return [uri(one) for one in endpoints]


def size(name: str, value: Size | None) -> int:
    if value is None:
        return 0
    parsed = _core.parse_size(name, word(value))
    if parsed == 0:
        raise usage(f"{name}={value} asks for nothing", "leave it out for no limit")
    return parsed


def nanoseconds(name: str, value: Duration | None) -> int:
    if value is None:
        return 0
    parsed = _core.parse_duration(name, word(value))
    if parsed == 0:
        raise usage(f"{name}={value} asks for nothing", "leave it out for the default")
    return parsed


def seconds(name: str, value: Duration | None) -> float | None:
    """A time to wait, None for ever, 0 not at all."""
    return None if value is None else _core.parse_duration(name, word(value)) / 1e9


def one_of(name: str, value: str, known: Iterable[str]) -> str:
    known = list(known)
    if value not in known:
        raise usage(f"{name}={value} is not known", _core.suggest(value, known))
    return value


def usage(what: str, hint: str) -> Error:
    return make("usage", errno.EINVAL, "", "", what, hint, f"{what} ({hint})", None)


def config(source: str, sinks: Iterable[str], *, block_size: Size | None = None, blocks: Size | None = None,
           samples: Size | None = None, bytes: Size | None = None, duration: Duration | None = None,
           timeout: Duration | None = None, on_gap: str = "mark") -> Mapping[str, Any]:
    """A PipelineConfig, as the extension takes it."""
    return {"source": source, "sinks": list(sinks), "block_bytes": size("block_size", block_size),
            "block_count": size("blocks", blocks), "samples": size("samples", samples),
            "bytes": size("bytes", bytes), "duration_ns": nanoseconds("duration", duration),
            "timeout_ns": nanoseconds("timeout", timeout), "on_gap": one_of("on_gap", on_gap, ON_GAP)}
