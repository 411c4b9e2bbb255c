# SPDX-License-Identifier: MIT
"""Reads samples from a store, by ranges of bytes."""
from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core, _options
from .._errors import Error, make
from .._format import Format
from ._extra import fsspec

DTYPES = ("complex64", "float32")


@dataclass(frozen=True)
class Store:
    """A folder, or a prefix in a bucket, that fsspec can open. Each worker opens it again from these
    fields."""

    url: str
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)  # can contain credentials

    def open(self) -> tuple[Any, str]:
        """Returns the file system, and the folder's path in it."""
        try:
            made, root = fsspec.url_to_fs(self.url, **self.options)
        except ImportError as error:
            raise ImportError(f"{self.url}: {error}: pip install 'iio-stream[archive]'") from error
        except ValueError as error:
            raise _options.usage(f"{self.url} cannot be opened: {error}",
                                 "a folder, file:// or s3://") from None
        return made, root.rstrip("/")

    def error(self, name: str, detail: str, hint: str = "", number: int = errno.EBADMSG) -> Error:
        """Makes a StorageError that names an object."""
        path = f"{self.url.rstrip('/')}/{name}".rstrip("/")
        text = f"read {path}: {detail}" + (f" ({hint})" if hint else "")
        return make("storage", number, "read", path, detail, hint, text, None)

    def failed(self, name: str, what: str, error: Exception) -> Error:
        """Makes the StorageError for an exception of the store's library."""
        number = errno.ENOENT if isinstance(error, FileNotFoundError) else getattr(error, "errno", None)
        return self.error(name, f"{what}: {type(error).__name__}: {error}", "", number or errno.EIO)

    def read(self, name: str, begin: int, end: int) -> bytes:
        """Returns the bytes [begin, end) of an object. Raises StorageError unless it gets all of them."""
        files, root = self.open()
        try:
            found = bytes(files.cat_file(f"{root}/{name}", start=begin, end=end))
        except Exception as error:
            raise self.failed(name, f"bytes {begin} to {end}", error) from None
        if len(found) != end - begin:
            raise self.error(name, f"bytes {begin} to {end} are {len(found)} bytes",
                             "it was replaced or shortened after the archive was opened")
        return found


@dataclass(frozen=True)
class Layout:
    """The layout of samples in the objects, and the requested layout: rows of ``columns`` values of
    ``dtype``."""

    stored: np.dtype[Any]
    types: tuple[str, ...]  # scan types of a sample's values, as stored
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, format: Format, dtype: npt.DTypeLike | None) -> Layout:
        """Makes the layout for a format. If ``dtype`` is None, samples stay as they are stored. Raises
        UsageError if the format cannot be converted to ``dtype``."""
        types = tuple(channel.type for channel in format.channels)
        if dtype is None:
            return cls(format.dtype, types, format.dtype)
        wanted = np.dtype(_options.one_of("dtype", np.dtype(dtype).name, DTYPES))
        if wanted.kind == "c" and not format.is_complex:
            raise _options.usage(f"dtype={dtype}, but {format.name} has no I/Q pairs",
                                 "dtype=\"float32\" gives its channels")
        return cls(format.dtype, types, wanted)

    @property
    def values(self) -> int:
        """The number of values in a sample, as stored."""
        return len(self.types)

    @property
    def columns(self) -> int:
        return self.values // (2 if self.dtype.kind == "c" else 1)

    @property
    def sample_bytes(self) -> int:
        return self.values * self.stored.itemsize

    def convert(self, data: bytes, into: npt.NDArray[Any]) -> None:
        """Fills an array (rows, columns) with samples: as stored, or scaled to full scale 1.0, which is
        2^(bits-1) of a stored integer."""
        if self.dtype == self.stored:
            into[:] = np.frombuffer(data, self.stored).reshape(-1, self.values)
        else:
            _core.to_floats(self.types, data, into.view(np.float32))


@dataclass(frozen=True)
class Piece:
    """A piece of an object: its ``samples`` samples from byte ``begin`` on go to the rows of an array from
    ``row`` on."""

    name: str
    begin: int
    samples: int
    row: int


def within(pieces: Iterable[Piece], first: int, count: int, sample_bytes: int) -> list[Piece]:
    """Returns the pieces cut to the rows [first, first + count). The first of these becomes row 0."""
    found = []
    for piece in pieces:
        begin, end = max(piece.row, first), min(piece.row + piece.samples, first + count)
        if begin < end:
            found.append(Piece(piece.name, piece.begin + (begin - piece.row) * sample_bytes, end - begin,
                               begin - first))
    return found


def read_samples(store: Store, pieces: Iterable[Piece], rows: int,
                 layout: Layout) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Returns an array of ``rows`` rows filled from pieces of objects, and a mask of the rows that were
    filled. All other rows are 0."""
    made = np.zeros((rows, layout.columns), layout.dtype)
    known = np.zeros(rows, bool)
    for piece in pieces:
        data = store.read(piece.name, piece.begin, piece.begin + piece.samples * layout.sample_bytes)
        layout.convert(data, made[piece.row:piece.row + piece.samples])
        known[piece.row:piece.row + piece.samples] = True
    return made, known
