# SPDX-License-Identifier: MIT
"""Converts Python arguments for endpoints and streams to the library's texts and numbers."""
from __future__ import annotations

import errno
import numbers
import operator
import os
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._errors import Error, make

if TYPE_CHECKING:
    from typing import TypeAlias  # from Python 3.10 on

#: A number, or text as on the command line: "4Mi", "2.4G", "250ms".
Size: TypeAlias = "int | str | np.integer[Any]"
Rate: TypeAlias = "float | str | np.integer[Any] | np.floating[Any]"
Duration: TypeAlias = "float | str | timedelta | np.timedelta64 | np.integer[Any] | np.floating[Any]"
#: An endpoint: "scheme:rest?key=value", a path, or a result of uri().
Endpoint: TypeAlias = "str | os.PathLike[str]"

ON_GAP = ("mark", "stop", "zero-fill")
ON_FULL = ("block", "drop")


def text(name: str, value: Any) -> str:
    """Returns ``value``. Raises TypeError if it is not text, and UsageError if it is not valid UTF-8."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, not {_kind(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise usage(f"{name}={value!a} is not UTF-8", "rename it") from None
    return value


def word(value: Any, name: str = "an option") -> str:
    """Returns a value as written after ``key=``: list elements are separated by commas, booleans are ``on``
    or ``off``, and NumPy's numbers and times with a time zone are accepted. Raises TypeError for anything
    else."""
    if isinstance(value, str):
        return text(name, value)
    if isinstance(value, os.PathLike):
        return text(name, os.fsdecode(value))
    if isinstance(value, (bool, np.bool_)):
        return "on" if value else "off"
    if isinstance(value, np.timedelta64):
        if np.isnat(value):
            raise TypeError(f"{name} is not a valid time")
        return f"{(value / np.timedelta64(1, 'ns')):.0f}ns"
    if isinstance(value, timedelta):
        return f"{value.total_seconds()!r}s"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise TypeError(f"{name}={value} has no time zone: add tzinfo=timezone.utc")
        return value.astimezone(timezone.utc).replace(tzinfo=None).isoformat() + "Z"
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return word(value[()], name)
    if isinstance(value, (list, tuple, range, np.ndarray, Iterator)):
        return ",".join(word(part, name) for part in value)
    if isinstance(value, Decimal):
        return str(value)
    try:
        return str(operator.index(value))
    except TypeError:
        if isinstance(value, numbers.Real):  # includes all NumPy floats
            return repr(float(value))
    raise TypeError(f"{name} cannot be {_kind(value)}: it takes numbers, text, True or False, or a list")


def _kind(value: object) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def schemes() -> dict[str, tuple[str, ...]]:
    """Returns the schemes of endpoints, and whether each is a source, a sink or both.

    >>> schemes()["file"]
    ('source', 'sink')
    """
    return _core.schemes()


def uri(endpoint: Endpoint, /, **options: Any) -> str:
    """Returns an endpoint with options, as a string that every function of this package accepts.

    >>> uri("sim:", pattern="tone", channels=["voltage0_i", "voltage0_q"])
    'sim:?channels=voltage0_i,voltage0_q&pattern=tone'

    Raises UsageError if an option is set twice.
    """
    return _core.uri(text("the endpoint", os.fsdecode(endpoint)),
                     {key: word(value, key) for key, value in options.items()})


def uris(endpoints: Endpoint | Iterable[Endpoint]) -> list[str]:
    """Returns one or several endpoints as a list."""
    if isinstance(endpoints, (str, os.PathLike)):
        return [uri(endpoints)]
    if not isinstance(endpoints, Iterable):
        raise TypeError(f"expected one endpoint or several, but this is {_kind(endpoints)}")
    return [uri(one) for one in endpoints]


def size(name: str, value: Size | None) -> int:
    if value is None:
        return 0
    parsed = _core.parse_size(name, word(value, name))
    if parsed == 0:
        raise usage(f"{name}={value} would stream nothing", "leave it out for no limit")
    return parsed


def nanoseconds(name: str, value: Duration | None) -> int:
    if value is None:
        return 0
    parsed = _core.parse_duration(name, word(value, name))
    if parsed == 0:
        raise usage(f"{name}={value} would stream nothing", "leave it out for the default")
    return parsed


def seconds(name: str, value: Duration | None) -> float | None:
    """Returns a time to wait, in seconds: None for no limit, 0 for no wait."""
    return None if value is None else _core.parse_duration(name, word(value, name)) / 1e9


def rate(name: str, value: Rate) -> float:
    return _core.parse_rate(name, word(value, name))


def one_of(name: str, value: str, known: Iterable[str]) -> str:
    known = list(known)
    if text(name, value) not in known:
        raise usage(f"{name}={value} is not valid", _core.suggest(value, known))
    return value


def usage(what: str, hint: str) -> Error:
    return make("usage", errno.EINVAL, "", "", what, hint, f"{what} ({hint})", None)


def config(source: str, sinks: Iterable[str], *, block_size: Size | None = None, blocks: Size | None = None,
           samples: Size | None = None, bytes: Size | None = None, duration: Duration | None = None,
           timeout: Duration | None = None, on_gap: str = "mark", on_full: str = "block") -> dict[str, Any]:
    """Returns the words from which the extension makes a PipelineConfig."""
    return {"source": source, "sinks": list(sinks), "block_size": size("block_size", block_size),
            "blocks": size("blocks", blocks), "samples": size("samples", samples),
            "bytes": size("bytes", bytes), "duration_ns": nanoseconds("duration", duration),
            "timeout_ns": nanoseconds("timeout", timeout), "on_gap": one_of("on_gap", on_gap, ON_GAP),
            "on_full": one_of("on_full", on_full, ON_FULL)}
