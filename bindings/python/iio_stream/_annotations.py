# SPDX-License-Identifier: MIT
"""Reads the annotations of SigMF metadata, and adds one to the text of a metadata file.

Only one place in the text changes. The rest is never regenerated from parsed values, so its numbers, names
and spaces stay as they are.
"""
from __future__ import annotations

import json
import numbers
import operator
import re
import reprlib
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ._options import text as utf8
from ._options import usage

_MOST_HZ = 1e12
_MOST_COUNT = 2**63 - 1
_SPACE = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder().raw_decode
_OF_ARGUMENTS = {"core:sample_start": "start=", "core:sample_count": "count=", "core:label": "label=",
                 "core:comment": "comment=", "core:freq_lower_edge": "frequency=(lowest, highest)",
                 "core:freq_upper_edge": "frequency=(lowest, highest)"}


@dataclass(frozen=True)
class Annotation:
    """An annotation of ``count`` samples from ``start`` on, which is an index into the recording's ``array``.
    If ``count`` is None, the annotation extends to the end of its capture. ``frequency`` is a pair of the
    lowest and the highest frequency in Hz: at RF if the capture has a frequency, otherwise in the baseband.
    ``label``, ``comment`` and ``frequency`` are None if the annotation does not have them."""

    start: int
    count: int | None
    label: str | None
    comment: str | None
    frequency: tuple[float, float] | None


def annotations_of(metadata: Mapping[str, Any]) -> tuple[Annotation, ...]:
    """Returns the annotations of the file's samples, ordered by their start. Leaves out list elements that
    are not annotations, and individual values whose type SigMF does not allow."""
    offset = first_sample(metadata)
    found = sorted(((start, one) for start, one in _placed(metadata, "annotations") if start >= offset),
                   key=operator.itemgetter(0))
    return tuple(annotation(start - offset, one) for start, one in found)


def first_sample(metadata: Mapping[str, Any]) -> int:
    """Returns the ``core:sample_start`` of the file's first sample. It is ``core:offset``, unless a capture
    starts before it; in that case, all starts count from the file's first sample."""
    offset = _count(metadata["global"].get("core:offset")) or 0
    starts = [start for start, _ in _placed(metadata, "captures") or _placed(metadata, "annotations")]
    return 0 if starts and min(starts) < offset else offset


def annotation(start: int, one: Mapping[str, Any]) -> Annotation:
    """Makes an Annotation from an annotation in the metadata, which begins at sample ``start`` of the
    file."""
    low, high = (_known(one.get(f"core:freq_{edge}_edge"), int, float) for edge in ("lower", "upper"))
    return Annotation(start, _count(one.get("core:sample_count")), _known(one.get("core:label"), str),
                      _known(one.get("core:comment"), str),
                      None if low is None or high is None else (low, high))


def _known(value: Any, *types: type) -> Any:
    return value if type(value) in types else None


def _placed(metadata: Mapping[str, Any], name: str) -> list[tuple[int, Mapping[str, Any]]]:
    found = metadata.get(name)
    starts = [(_start(one), one) for one in (found if isinstance(found, list) else [])]
    return [(start, one) for start, one in starts if start is not None]


def _start(one: Any) -> int | None:
    return _count(one.get("core:sample_start")) if isinstance(one, dict) else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_COUNT \
        else None


def checked(path: str, samples: int, start: Any, count: Any, label: Any, comment: Any, frequency: Any,
            others: Mapping[str, Any]) -> dict[str, Any]:
    """Checks the arguments of annotate() and returns the annotation as a SigMF object. Its start counts from
    the first sample of the file. Raises UsageError for an invalid value and TypeError for a wrong type."""
    one: dict[str, Any] = {"core:sample_start": _whole("start", start)}
    begin = one["core:sample_start"]
    if not 0 <= begin < samples:
        raise usage(f"start={begin} is outside of the {samples} samples of {path}",
                    f"its samples are 0 to {samples - 1}" if samples else "nothing in it can be annotated")
    if count is not None:
        one["core:sample_count"] = _whole("count", count)
        if not 0 <= one["core:sample_count"] <= samples - begin:
            raise usage(f"count={one['core:sample_count']} from start={begin} on is outside of the {samples} "
                        f"samples of {path}", f"count=0 to {samples - begin}, or None for the capture's rest")
    if frequency is not None:
        one["core:freq_lower_edge"], one["core:freq_upper_edge"] = _edges(frequency)
    for key, value in (("label", label), ("comment", comment)):
        if value is not None:
            one[f"core:{key}"] = _text(key, value)
    for key, value in others.items():
        full = key if ":" in key else f"core:{key}"
        if value is not None or not full.startswith("core:"):
            one[full] = _other(full, value)
    return one


def _whole(name: str, value: Any) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={reprlib.repr(value)} is of type {type(value).__name__}: it must be a whole "
                        "number of samples") from None


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name}={reprlib.repr(value)} is of type {type(value).__name__}: it must be text, "
                        f"such as {name}={str(value)[:20]!r}")
    return utf8(name, value)


def _edges(frequency: Any) -> tuple[float, float]:
    shown = f"frequency={reprlib.repr(frequency)}"
    if isinstance(frequency, str) or not hasattr(frequency, "__len__") or len(frequency) != 2:
        raise TypeError(f"{shown} is not a pair of numbers: write frequency=(lowest, highest) in Hz")
    low, high = (_hertz(shown, edge) for edge in frequency)
    if low > high:
        raise usage(f"{shown}: the lowest is above the highest", f"frequency=({high!r}, {low!r})")
    return low, high


def _hertz(shown: str, edge: Any) -> float:
    if isinstance(edge, bool) or not isinstance(edge, numbers.Real):
        raise TypeError(f"{shown} is not a pair of numbers: write frequency=(lowest, highest) in Hz")
    number = int(edge) if isinstance(edge, numbers.Integral) else float(edge)
    if not abs(number) <= _MOST_HZ:
        raise usage(f"{shown}: {number!r} Hz is out of range", "SigMF allows -1e12 to 1e12 Hz")
    return number


def _other(key: str, value: Any) -> Any:
    if key in _OF_ARGUMENTS:
        raise usage(f"annotate() sets {key} itself", f"{_OF_ARGUMENTS[key]} is the argument for it")
    if key.startswith("iio_stream:"):
        raise usage(f"annotate() cannot set {key}: iio-stream notes the losses of a stream by such keys",
                    "use core's label= and comment=, or a namespace of your own")
    if key == "core:generator":
        if _text("generator", value).startswith("iio-stream "):
            raise usage(f"generator={value!r} marks annotations that iio-stream made and may rewrite",
                        "give your program's name")
    elif key == "core:uuid":
        try:
            return str(uuid.UUID(str(value)))
        except ValueError:
            raise usage(f"uuid={value!r} is not a valid UUID", "uuid=uuid.uuid4() makes one") from None
    elif key.startswith("core:"):
        raise usage(f"annotate() has no argument {key[5:]}",
                    "it has start, count, label, comment, frequency, generator and uuid; keys of an "
                    "extension are written **{'NAMESPACE:KEY': value}")
    return value


def refuse_undeclared(one: Mapping[str, Any], metadata: Mapping[str, Any], path: str) -> None:
    """Raises UsageError for a key whose namespace is not in core:extensions, as SigMF requires."""
    stated = metadata["global"].get("core:extensions")
    declared = {each.get("name") for each in stated if isinstance(each, dict)} \
        if isinstance(stated, list) else set()
    for key in one:
        namespace = key.split(":")[0]
        if namespace != "core" and namespace not in declared:
            example = json.dumps({"name": namespace, "version": "1.0.0", "optional": True})
            raise usage(f"{key}: the metadata in {path} declare no extension '{namespace}'",
                        f"add {example}, with its version, to core:extensions there")


def with_annotation(text: str, one: Mapping[str, Any]) -> str:
    """Returns the text of the metadata with one more annotation, inserted after those that start before it or
    at the same sample. Raises ValueError if ``annotations`` is not an array."""
    top = _skip(text, text.startswith("\ufeff"))
    members = list(_values(text, top))
    indent = text[top + 1:_skip(text, top + 1)]
    lists = [(begin, end) for name, _, begin, end in members if name == "annotations"]
    if not lists:
        end = members[-1][3]
        return text[:end] + "," + indent + '"annotations": ' + _alone(one, indent) + text[end:]
    begin, end = lists[-1]  # JSON parsers use the last of several members of one name
    if text[begin] != "[":
        raise ValueError(f"annotations = {text[begin:end][:80]} is not an array")
    space = text[begin + 1:_skip(text, begin + 1)]
    there = list(_values(text, begin))
    if not there:
        return text[:begin] + _alone(one, indent) + text[end:]
    place = max((end for _, other, _, end in there
                 if (_start(other) or 0) <= one["core:sample_start"]), default=None)
    written = space + _written(one, space, indent)
    if place is None:
        return text[:begin + 1] + written + "," + text[begin + 1:]
    return text[:place] + "," + written + text[place:]


def _skip(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


def _values(text: str, at: int) -> Iterator[tuple[str | None, Any, int, int]]:
    """Yields the members of the object or array at ``at`` as (name, value, begin, end); an array's names are
    None. The text is valid JSON."""
    has_names = text[at] == "{"
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        name = None
        if has_names:
            name, at = _decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        value, end = _decode(text, at)
        yield name, value, at, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _alone(one: Mapping[str, Any], indent: str) -> str:
    """Formats an array of one annotation for a text in which ``indent`` precedes the outermost names."""
    space = indent + (indent[indent.rindex("\n") + 1:] or "  ") if "\n" in indent else ""
    return f"[{space}{_written(one, space, indent)}{indent if space else ''}]"


def _written(one: Mapping[str, Any], space: str, indent: str) -> str:
    """Formats an annotation in the style of the text: ``space`` precedes each annotation, and ``indent`` the
    outermost names."""
    line = space[space.rindex("\n"):] if "\n" in space else ""
    step = len(line) - 1 - len(indent[indent.rfind("\n") + 1:])
    return json.dumps(one, ensure_ascii=False, allow_nan=False, default=_plain,
                      indent=max(step, 1) if line else None).replace("\n", line)


def _plain(value: Any) -> Any:
    """Converts NumPy's numbers and arrays to JSON's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{reprlib.repr(value)} of type {type(value).__name__} has no form in JSON")
