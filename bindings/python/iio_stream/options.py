# SPDX-License-Identifier: MIT
"""The options of endpoints, from the library's table for each scheme."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from . import _core, _options

Opens = TypeVar("Opens", bound=Callable[..., Any])


@dataclass(frozen=True)
class Option:
    """One option of an endpoint.

    ``key`` is its keyword (``"attr."``: all keywords that start with it). ``type`` is ``"text"``,
    ``"choice"``, ``"number"``, ``"size"``, ``"rate"``, ``"time"`` or ``"switch"``. ``values`` lists the
    possible values, with placeholders in capitals. ``unit`` is the unit of a bare number, empty if there is
    none. ``default`` is a value, or text that describes it. ``help`` is one sentence. ``source`` is True if
    sources accept the option, and ``sink`` if sinks do.
    """

    key: str
    type: str
    values: str
    unit: str
    default: str
    help: str
    source: bool
    sink: bool


def options(scheme: str, /) -> tuple[Option, ...]:
    """Returns all options that endpoints of a scheme accept.

    >>> [option.key for option in options("null")]
    ['rate', 'stall_at', 'stall_for', 'convert', 'on-full', 'hold']
    >>> options("sim")[3].unit, options("sim")[3].default
    ('S/s', '1M')

    Raises UsageError for a scheme that is not in schemes().
    """
    name = scheme.removesuffix(":") if isinstance(scheme, str) else scheme
    name = _options.one_of("scheme", name, _core.schemes())
    return tuple(Option(**option) for option in _core.options(name))


def documented(side: str) -> Callable[[Opens], Opens]:
    """Returns a decorator that adds the options of all endpoints to the docstring of a function that opens
    them."""

    def add(function: Opens) -> Opens:
        lines = ["Options of each endpoint, as keywords; ``options()`` returns them as objects:\n"]
        for name, sides in _core.schemes().items():
            if side in sides:
                lines.append(f"{name}:")
                lines += [f"    {_line(option)}" for option in options(name) if getattr(option, side)]
        function.__doc__ = (function.__doc__ or "").rstrip() + "\n\n" + "\n".join(
            f"    {line}".rstrip() for line in lines) + "\n"
        return function

    return add


def _line(option: Option) -> str:
    unit = f"{option.unit}; " if option.unit else ""
    return f"{option.key} ({option.values}): {option.help} ({unit}default: {option.default})"
