# SPDX-License-Identifier: MIT
"""What SigMF metadata say, checked: they may be anyone's, or damaged."""
from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._format import Format

_MOST = (1 << 63) - 1  # samples, as in src/file/sigmf
_MOST_HZ = 1e12


@dataclass(frozen=True)
class RecordedGap:
    """Between samples offset-1 and offset of the recording, for some offset in [offset_min, offset_max], at
    least ``lost_min`` and at most ``lost_max`` samples are missing (None: no upper bound is known)."""

    offset_min: int
    offset_max: int
    lost_min: int
    lost_max: int | None
    evidence: str | None


@dataclass(frozen=True)
class Capture:
    """Valid from sample ``start`` on: the ``index`` of that sample in its stream, lost ones included (a lower
    bound if ``exact`` is False), its time in UTC (ISO 8601), and the frequency and the sample rate in Hz, if
    they are known."""

    start: int
    index: int
    exact: bool
    datetime: str | None
    frequency: float | None
    sample_rate: float | None = None


@dataclass(frozen=True)
class Description:
    """Of a recording's samples; ``samples`` and ``state`` are None if it is not ours. ``zeros`` are samples
    [begin, end) that stand for lost ones."""

    format: Format
    state: str | None
    samples: int | None
    captures: tuple[Capture, ...]
    gaps: tuple[RecordedGap, ...]
    zeros: tuple[tuple[int, int], ...]
    words: Mapping[str, Any]

    def samples_in(self, data: str, size: int) -> int:
        """Of data of that name and size in bytes. Raises ValueError if the metadata say that it has more."""
        width = self.format.sample_bytes
        samples = size // width if self.samples is None else self.samples
        if samples * width > size:
            raise ValueError(f"{samples} samples of {width} bytes, but {data} has {size} bytes")
        return samples


def parse(text: str | bytes) -> Mapping[str, Any]:
    """The JSON of a metadata file. Raises ValueError."""
    try:
        words = json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(words, dict) or not isinstance(words.get("global"), dict):
        raise ValueError("there is no object 'global'")
    return words


def describe(words: Mapping[str, Any]) -> Description:
    """Raises ValueError, which names the key and its value; UsageError for an unknown format."""
    top = words["global"]
    for key in ("core:dataset", "core:trailing_bytes", "core:metadata_only"):
        if top.get(key):
            raise ValueError(f"global: {key} = {_shown(top[key])} is not supported")
    offset = _count(top, "core:offset", "global", 0)
    rate = _hertz(top, "core:sample_rate", "global", positive=True)
    notes = [(f"annotations[{n}]", note) for n, note in enumerate(_objects(words, "annotations"))]
    return Description(
        _format_of(top, rate), _text(top, "iio_stream:state", "global"),
        _count(top, "iio_stream:samples", "global") if "iio_stream:samples" in top else None,
        _captures(_objects(words, "captures"), offset, rate),
        tuple(_gap_of(note, where, offset) for where, note in notes if "iio_stream:lost_min" in note),
        tuple(_zeros_of(note, where, offset) for where, note in notes if "iio_stream:filled" in note), words)


def _captures(captures: list[Mapping[str, Any]], offset: int, rate: float | None) -> tuple[Capture, ...]:
    made: list[Capture] = []
    for number, words in enumerate(captures):
        where = f"captures[{number}]"
        if words.get("core:header_bytes"):
            raise ValueError(f"{where}: there are headers between the samples")
        start = _place(words, where, offset)
        before = made[-1] if made else Capture(0, 0, True, None, None)
        following = before.index + start - before.start
        index = _count(words, "core:global_index", where, following)
        if start < before.start or (made and index < following):
            key = "core:sample_start" if start < before.start else "core:global_index"
            raise ValueError(f"{where}: {key} = {words[key]} is less than the capture before says")
        made.append(Capture(start, index, words.get("iio_stream:index_exact", True) is not False,
                            _text(words, "core:datetime", where), _hertz(words, "core:frequency", where),
                            _hertz(words, "iio_stream:sample_rate", where, positive=True) or rate))
    if not made or made[0].start > 0:
        first = made[0] if made else Capture(0, 0, True, None, None)
        if first.index < first.start:
            raise ValueError(f"captures[0]: core:global_index = {first.index} is less than core:sample_start")
        made.insert(0, Capture(0, first.index - first.start, first.exact, None, None, rate))
    return tuple(made)


def _gap_of(note: Mapping[str, Any], where: str, offset: int) -> RecordedGap:
    first = _place(note, where, offset)
    least = _count(note, "iio_stream:lost_min", where)
    most = None if note.get("iio_stream:lost_max") is None else _count(note, "iio_stream:lost_max", where)
    if most is not None and most < least:
        raise ValueError(f"{where}: iio_stream:lost_max = {most} is less than iio_stream:lost_min")
    return RecordedGap(first, first + _count(note, "core:sample_count", where, 0), least, most,
                       _text(note, "iio_stream:evidence", where))


def _zeros_of(note: Mapping[str, Any], where: str, offset: int) -> tuple[int, int]:
    begin = _place(note, where, offset)
    return begin, begin + _count(note, "iio_stream:filled", where)


def _format_of(top: Mapping[str, Any], rate: float | None) -> Format:
    keys = ("core:datatype", "core:num_channels", "iio_stream:channels")
    return _parsed_format(json.dumps({key: top[key] for key in keys if key in top}), rate)


@functools.lru_cache(maxsize=64)  # an archive has many parts of few formats
def _parsed_format(text: str, rate: float | None) -> Format:
    top = json.loads(text)
    datatype = top.get("core:datatype")
    if not isinstance(datatype, str) or ":" in datatype or "," in datatype:
        raise ValueError(f"global: core:datatype = {_shown(datatype)} is no datatype of SigMF")
    count = _count(top, "core:num_channels", "global", 1) * (2 if datatype.startswith("c") else 1)
    shape = dataclasses.replace(Format.parse(datatype, count), sample_rate=rate)
    channels = top.get("iio_stream:channels")
    if not channels:
        return shape
    try:  # ours: what the words mean; their layout is as the datatype says
        told = Format.parse(",".join(one["scan_type"] for one in channels),
                            ",".join(one["id"] for one in channels))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"global: iio_stream:channels cannot be read: {error}") from None
    if len(told.channels) != count or not told.is_uniform or told.dtype != shape.dtype \
            or any(one.shift for one in told.channels):
        raise ValueError(f"global: iio_stream:channels are not {count} of {datatype}")
    return dataclasses.replace(shape, channels=tuple(
        dataclasses.replace(plain, id=one.id, type=one.type, bits=one.bits,
                            component="counter" if words.get("counter") is True else plain.component)
        for plain, one, words in zip(shape.channels, told.channels, channels)))


def _objects(words: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = words.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ValueError(f"{name} must be an array of objects")
    return found


def _place(words: Mapping[str, Any], where: str, offset: int) -> int:
    start = _count(words, "core:sample_start", where)
    if start < offset:
        raise ValueError(f"{where}: core:sample_start = {start} is less than core:offset")
    return start - offset


def _count(words: Mapping[str, Any], key: str, where: str, otherwise: int | None = None) -> int:
    value = words.get(key, otherwise)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST:
        raise ValueError(f"{where}: {key} = {_shown(value)} must be a whole number from 0 to 2^63-1")
    return value


def _hertz(words: Mapping[str, Any], key: str, where: str, positive: bool = False) -> float | None:
    value = words.get(key)
    if value is None:
        return None
    least = "above 0" if positive else "from -1e12"
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= _MOST_HZ \
            or (positive and value <= 0):
        raise ValueError(f"{where}: {key} = {_shown(value)} must be a number {least} to 1e12")
    return float(value)


def _text(words: Mapping[str, Any], key: str, where: str) -> str | None:
    value = words.get(key)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{where}: {key} = {_shown(value)} must be a string")
    return value


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
