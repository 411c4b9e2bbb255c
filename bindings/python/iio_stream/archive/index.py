# SPDX-License-Identifier: MIT
"""Finds the recordings of an archive by their metadata."""
from __future__ import annotations

import dataclasses
import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core, _options, _sigmf
from .._errors import Error
from .indexed import Index
from .parts import DATA, Part, description_of, part_of
from .reading import Store
from .recordings import Damage, Recording, series
from .selection import Frequencies, Times, Wanted

_META, _JOURNAL = ".sigmf-meta", ".sigmf-data.journal"
_BATCH = 256  # objects that are requested at once


@dataclass(frozen=True)
class Archive:
    """The recordings in a folder or bucket, ordered by name. ``unfinished`` are the parts that were left out
    because they are still being written, or were interrupted and not recovered. ``damaged`` has the errors of
    the parts that were left out with ``on_damage="leave-out"``. ``as_of`` is the time in UTC at which
    `iio-stream archive index` began to list the archive; None unless the archive was opened with
    ``indexed=True``."""

    url: str
    recordings: Sequence[Recording]
    unfinished: tuple[str, ...] = ()
    damaged: tuple[Error, ...] = ()
    as_of: np.datetime64 | None = None

    def __len__(self) -> int:
        return len(self.recordings)

    def __iter__(self) -> Iterator[Recording]:
        return iter(self.recordings)

    def select(self, *, time: Times | None = None, frequency: Frequencies | None = None,
               device: str | None = None, name: str | None = None) -> Archive:
        """Returns an archive of the samples that meet all conditions. Recordings are cut to these samples; a
        recording that was retuned may become several.

        ``time`` is (from, to) in UTC. Each is text ("2026-11-26T23:00"), a datetime, a numpy.datetime64, or
        None for no limit. ``frequency`` is a frequency that the recorded band contains, or a range (lowest,
        highest) that the band overlaps, in Hz or as text ("2.4G"). ``device`` (core:hw) and ``name`` are
        patterns ("AD936*"). Samples whose metadata lack the information for a condition do not meet it.
        Raises UsageError.
        """
        wanted = Wanted.of(time, frequency, device, name)
        near = self.recordings.near(wanted) if isinstance(self.recordings, Index) else self.recordings
        return dataclasses.replace(self, recordings=tuple(cut for one in near for cut in wanted.cuts(one)))

    def __repr__(self) -> str:
        parts = self.recordings.parts if isinstance(self.recordings, Index) \
            else sum(len(one.parts) for one in self.recordings)
        return (f"<iio_stream.archive.Archive {self.url}: {len(self)} recordings in {parts} parts, "
                f"{len(self.unfinished)} unfinished, {len(self.damaged)} damaged"
                + (">" if self.as_of is None else f", as of {self.as_of.astype('datetime64[s]')}Z>"))


def open(url: str | os.PathLike[str], /, *, on_damage: str = "stop", indexed: bool = False,
         **options: Any) -> Archive:
    """Finds the recordings below a folder, ``file://`` or ``s3://BUCKET/PREFIX``, by reading their metadata.
    It reads no samples. ``options`` are the options of fsspec for that kind of store (``endpoint_url=``).
    Options that are not given come from the environment (``AWS_ACCESS_KEY_ID``, ``AWS_ENDPOINT_URL`` ...), on
    each worker from the worker's own.

    With ``indexed=True``, only the index that ``iio-stream archive index`` has written is read. It lacks
    recordings that were stored after it was written, and still lists recordings that were removed since then.
    Each recording is made on first access; select() reads only the parts of the index that it needs.

    Raises StorageError, which names the object, for damaged metadata and for missing or short data; with
    ``on_damage="leave-out"`` that part is left out instead, and is a gap. Raises FileNotFoundError if there
    is nothing at ``url``, or no index, and UsageError for an invalid argument.
    """
    _options.one_of("on_damage", on_damage, ("stop", "leave-out"))
    store = Store(os.fspath(url), options)
    if indexed:
        index = Index(store)
        if index.damaged and on_damage == "stop":
            raise index.damaged[0]
        return Archive(store.url, index, index.unfinished, index.damaged, index.as_of)
    damage = Damage(store, on_damage == "leave-out")
    objects = _Objects(store)
    groups: dict[tuple[str, bool], list[Part]] = {}
    for stem, text in objects.metadata():
        try:
            part = objects.part(stem, text)
        except FileNotFoundError as error:
            damage.note(stem + DATA, f"{error.strerror}", number=errno.ENOENT)
        except ValueError as error:
            damage.note(stem + _META, f"the metadata are invalid: {error}")
        else:
            if part is not None:
                name = stem if part.number is None else stem.rpartition(".")[0]
                groups.setdefault((name, part.number is None), []).append(part)
    made = (series(name, parts, store, damage) for (name, _), parts in sorted(groups.items()))
    return Archive(store.url, tuple(one for one in made if one is not None),
                   tuple(sorted(objects.unfinished)), tuple(damage.errors))


class _Objects:
    """The objects in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._files, self._root = store.open()
        self._sizes = self._listed()
        self.unfinished = self._unfinished()

    def _listed(self) -> dict[str, int]:
        """Returns the sizes of the objects by their names below the folder."""
        try:
            self._files.invalidate_cache()
            found = self._files.find(self._root, detail=True)
            if not found and not self._files.isdir(self._root):
                raise FileNotFoundError(errno.ENOENT, "no objects below this prefix")
        except Exception as error:
            raise self._store.failed("", "list", error) from None
        return {path[len(self._root):].lstrip("/"): int(words["size"] or 0)
                for path, words in found.items() if words["type"] == "file"}

    def _unfinished(self) -> set[str]:
        """Returns the parts whose samples have no metadata, or still have a recorder's journal."""
        data = {name[:-len(DATA)] for name in self._sizes if name.endswith(DATA)}
        return {stem for stem in data if stem + _META not in self._sizes or stem + _JOURNAL in self._sizes}

    def metadata(self) -> Iterator[tuple[str, bytes | Exception]]:
        """For each part that can be finished, yields its name without suffix, and the text of its metadata or
        the error that reading the text raised."""
        left = sorted(name for name in self._sizes
                      if name.endswith(_META) and name[:-len(_META)] not in self.unfinished)
        while left:
            batch = [left.pop(0)]
            size = self._sizes[batch[0]]
            while left and len(batch) < _BATCH and size + self._sizes[left[0]] <= _core.MOST_METADATA:
                size += self._sizes[left[0]]
                batch.append(left.pop(0))
            for name, text in zip(batch, self._read(batch)):
                yield name[:-len(_META)], text

    def _read(self, names: list[str]) -> list[bytes | Exception]:
        """Returns each text, or the error that reading it raised. A text that is too large is cut to one
        byte more than the limit."""
        wanted = [name for name in names if self._sizes[name] > 0]  # an empty object has no ranges
        paths = [f"{self._root}/{name}" for name in wanted]
        found = self._files.cat_ranges(paths, 0, _core.MOST_METADATA + 1, on_error="return") if paths else []
        texts = dict(zip(wanted, found))
        return [texts.get(name, b"") for name in names]

    def part(self, stem: str, text: bytes | Exception) -> Part | None:
        """Returns a part, or None if it is still being written. Raises ValueError for invalid metadata and
        FileNotFoundError if its samples are missing."""
        if isinstance(text, Exception):
            raise self._store.failed(stem + _META, "its text", text)
        told = description_of(text)
        if told.state == "recording":
            self.unfinished.add(stem)
            return None
        return part_of(stem, told, self._samples(stem, told))

    def _samples(self, stem: str, told: _sigmf.Description) -> int:
        data, width = stem + DATA, told.format.sample_bytes
        if self._sizes.get(data, -1) < (told.samples or 0) * width:  # it may have grown since it was listed
            self._files.invalidate_cache()
            self._sizes[data] = int(self._files.info(f"{self._root}/{data}")["size"])
        return told.samples_in(data, self._sizes[data])
