# SPDX-License-Identifier: MIT
"""Reads the recordings of an archive from the index that `iio-stream archive index` writes.

src/archive/index.hpp describes its format.
"""
from __future__ import annotations

import errno
import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from .parts import DATA, Mark, Part, description_of, part_of
from .reading import Store
from .recordings import Damage, Recording, series
from .selection import Wanted

_NAME = "iio-stream-index.jsonl"
_VERSION = 1
_MOST_BYTES = 1 << 30  # as in src/archive
_HINT = "`iio-stream archive index` writes a new one"


class Index(Sequence[Recording]):
    """The recordings in an index. Each is made on first access."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._made: dict[int, Recording] = {}
        first, _, rest = self._read().partition(b"\n")
        try:
            self._check(first, rest)
            head, *self._lines = rest.split(b"\n")
            words = _parsed(head)
            self._entries: list[dict[str, Any]] = words["recordings"]
            self.as_of = np.datetime64(int(words["as_of_ns"]), "ns")
            self.unfinished = tuple(str(name) for name in words["unfinished"])
            self.damaged = tuple(store.error(name, what) for name, what in words["damaged"])
            self._first = [0, *itertools.accumulate(1 + int(one["parts"]) for one in self._entries)]
        except (KeyError, TypeError, ValueError) as error:
            raise self._is_damaged(error) from None

    def _read(self) -> bytes:
        files, root = self._store.open()
        path = f"{root}/{_NAME}"
        try:
            files.invalidate_cache()
            found = files.info(path)
            if found["type"] != "file" or found.get("islink"):
                raise ValueError("it is not a regular file")
            if found["size"] > _MOST_BYTES:
                raise ValueError(f"it is larger than {_MOST_BYTES} bytes")
            return bytes(files.cat_file(path))
        except FileNotFoundError:
            raise self._store.error(_NAME, "the archive has no index", "`iio-stream archive index` writes it",
                                    errno.ENOENT) from None
        except ValueError as error:
            raise self._store.error(_NAME, str(error)) from None
        except Exception as error:
            raise self._store.failed(_NAME, "its text", error) from None

    @staticmethod
    def _check(first: bytes, rest: bytes) -> None:
        """Raises ValueError unless the file is a complete index of this version."""
        try:
            words = _parsed(first)
        except ValueError:
            raise ValueError("it is not an index") from None
        if not isinstance(words, dict) or words.get("iio_stream_index") != _VERSION:
            raise ValueError(f"it is not an index of version {_VERSION}")
        if hashlib.sha512(rest).hexdigest() != words.get("sha512"):
            raise ValueError("its SHA-512 differs from the one in its first line")

    def _is_damaged(self, error: Exception) -> Exception:
        detail = str(error) if isinstance(error, ValueError) else "it is damaged"
        return self._store.error(_NAME, detail, _HINT)

    @property
    def parts(self) -> int:
        return self._first[-1] - len(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, place: int) -> Recording: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Recording, ...]: ...

    def __getitem__(self, place: int | slice) -> Recording | tuple[Recording, ...]:
        if isinstance(place, slice):
            return tuple(self[number] for number in range(len(self))[place])
        number = range(len(self))[place]
        if number not in self._made:
            self._made[number] = self._recording(number, self._columns(number))
        return self._made[number]

    def near(self, wanted: Wanted) -> Iterator[Recording]:
        """Yields recordings that contain all samples that meet the conditions. They consist only of the parts
        that are needed for this."""
        for number, words in enumerate(self._entries):
            if not wanted.is_of(words["device"], words["name"]) or not self._is_tuned(words, wanted):
                continue
            columns = self._columns(number)
            if wanted.limits is not None:
                columns = columns.near(*wanted.limits)
            if columns.parts:
                yield self._recording(number, columns)

    def _is_tuned(self, words: dict[str, Any], wanted: Wanted) -> bool:
        """Returns whether a recording can overlap the band. Returns True if its frequency or rate changes,
        because the index does not record where."""
        if wanted.band is None or words["sample_rate"] is None:
            return True
        is_complex = str(words["global"]["core:datatype"]).startswith("c")
        if is_complex and words["frequency"] is None:
            return True
        return wanted.sees(Mark(0, None, words["frequency"], words["sample_rate"]), is_complex)

    def _columns(self, number: int) -> _Columns:
        first, following = self._first[number:number + 2]
        try:
            columns = _parsed(self._lines[first])
            made = _Columns(self._lines[first + 1:following], columns["part"], columns["bytes"],
                            columns["utc_ns"])
            if {len(made.lines)} != {len(made.parts), len(made.bytes), len(made.times)}:
                raise ValueError("the number of parts differs from the one that it states")
            return made
        except (KeyError, TypeError, ValueError) as error:
            raise self._is_damaged(error) from None

    def _recording(self, number: int, columns: _Columns) -> Recording:
        words = self._entries[number]
        try:
            parts = list(columns.made(words["name"], words["global"]))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise self._is_damaged(error) from None
        made = series(words["name"], parts, self._store, Damage(self._store, lenient=False))
        if made is None:
            raise self._is_damaged(ValueError(f"{words['name']} has no parts"))
        return made


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


@dataclass(frozen=True)
class _Columns:
    """Consecutive parts of a recording. ``lines`` are the index lines of their metadata, and ``parts`` are
    their names without the recording's name. ``bytes`` are the sizes of their samples in bytes. ``times`` are
    their earliest times in nanoseconds since 1970 UTC, or None."""

    lines: list[bytes]
    parts: list[str]
    bytes: list[int]
    times: list[int | None]

    def near(self, begin: float, end: float) -> _Columns:
        """Returns the parts that determine which samples were taken from ``begin`` to ``end``. The time of a
        sample is computed from the last capture with a time before it. The result therefore begins with the
        part whose capture determines ``begin`` and ends with the one that determines ``end``. It also has the
        previous part, for the loss at its end, and the part with the next such capture, up to which the last
        capture applies."""
        dated = [(n, at) for n, at in enumerate(self.times) if at is not None]
        if not dated:
            return self._cut(0, 0)
        first = max((n for n, at in dated if at <= begin), default=0)
        last = max((n for n, at in dated if at <= end), default=dated[0][0])
        following = next((n for n, _ in dated if n > last), len(self.times) - 1)
        before = next((n for n in range(first - 1, 0, -1) if self.bytes[n]), 0)
        return self._cut(before, following + 1)

    def _cut(self, begin: int, end: int) -> _Columns:
        return _Columns(self.lines[begin:end], self.parts[begin:end], self.bytes[begin:end],
                        self.times[begin:end])

    def made(self, name: str, common: Mapping[str, Any]) -> Iterator[Part]:
        for line, part, size in zip(self.lines, self.parts, self.bytes):
            words = _parsed(line)
            without = words.get("without", ())
            top = {key: value for key, value in common.items() if key not in without}
            whole = {**words["words"], "global": {**top, **words["words"]["global"]}}
            told = description_of(json.dumps(whole))
            stem = f"{name}.{part}" if part else name
            if any(step in ("", ".", "..") for step in stem.split("/")):
                raise ValueError(f"{stem!r} is not a valid name of a part")
            yield part_of(stem, told, told.samples_in(stem + DATA, size))
