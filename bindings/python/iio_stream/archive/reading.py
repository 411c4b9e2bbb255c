# SPDX-License-Identifier: MIT
"""Samples out of a store, by ranges of bytes."""
from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _options
from .._errors import Error, make
from .._format import Format
from ._extra import fsspec

DTYPES = ("complex64", "float32")


@dataclass(frozen=True)
class Store:
    """A folder, or a bucket's prefix, that fsspec can open; workers open it again by these words."""

    url: str
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)  # credentials may be in it

    def open(self) -> tuple[Any, str]:
        """The file system, and the folder's path in it."""
        try:
            made, root = fsspec.url_to_fs(self.url, **self.options)
        except ImportError as error:
            raise ImportError(f"{self.url}: {error}: pip install 'iio-stream[archive]'") from error
        except ValueError as error:
            raise _options.usage(f"{self.url} cannot be opened: {error}",
                                 "a folder, file:// or s3://") from None
        return made, root.rstrip("/")

    def error(self, name: str, detail: str, hint: str = "", number: int = errno.EBADMSG) -> Error:
        """A StorageError that names an object."""
        path = f"{self.url.rstrip('/')}/{name}".rstrip("/")
        text = f"read {path}: {detail}" + (f" ({hint})" if hint else "")
        return make("storage", number, "read", path, detail, hint, text, None)

    def failed(self, name: str, what: str, error: Exception) -> Error:
        """The StorageError for whatever the store's own library has raised."""
        number = errno.ENOENT if isinstance(error, FileNotFoundError) else getattr(error, "errno", None)
        return self.error(name, f"{what}: {type(error).__name__}: {error}", "", number or errno.EIO)

    def read(self, name: str, begin: int, end: int) -> bytes:
        """Bytes [begin, end) of an object, all of them, or a StorageError."""
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
    """How samples lie in the objects, and what they are wanted as: rows of ``columns`` values."""

    stored: np.dtype[Any]
    values: int  # of a sample, as stored
    bits: tuple[int, ...]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, format: Format, dtype: npt.DTypeLike | None) -> Layout:
        """Raises UsageError if the format cannot be that dtype; None: as it is stored."""
        bits = tuple(channel.bits for channel in format.channels)
        if dtype is None:
            return cls(format.dtype, len(bits), bits, format.dtype)
        wanted = np.dtype(_options.one_of("dtype", np.dtype(dtype).name, DTYPES))
        if wanted.kind == "c" and not format.is_complex:
            raise _options.usage(f"dtype={dtype}, but {format.name} has no I/Q pairs",
                                 "dtype=\"float32\" gives its channels")
        return cls(format.dtype, len(bits), bits, wanted)

    @property
    def columns(self) -> int:
        return self.values // (2 if self.dtype.kind == "c" else 1)

    @property
    def sample_bytes(self) -> int:
        return self.values * self.stored.itemsize

    def convert(self, data: bytes, into: npt.NDArray[Any]) -> None:
        """Fills (rows, columns) with samples as stored, or of full scale 1.0: an integer's is 2^(bits-1)."""
        stored = np.frombuffer(data, self.stored).reshape(-1, self.values)
        if self.dtype == self.stored:
            into[:] = stored
            return
        values = into.view(np.float32)
        for bits in set(self.bits):
            columns = [bits == one for one in self.bits]
            whole = slice(None) if all(columns) else columns
            values[:, whole] = _of_full_scale(stored[:, whole], bits)


def _of_full_scale(values: npt.NDArray[Any], bits: int) -> npt.NDArray[np.float32]:
    """Rounded once, where a float has fewer digits."""
    kind, width = values.dtype.kind, values.dtype.itemsize
    if kind == "f":
        return values.astype(np.float32)
    values = values.astype(f"={kind}{width}", copy=False)
    spare = 8 * width - bits  # bits above the significant ones mean nothing
    if spare:
        values = values << spare
    if kind == "u":  # half of an unsigned channel's range is 0
        values = (values ^ values.dtype.type(1 << (8 * width - 1))).view(f"=i{width}")
    if spare:
        values = values >> spare
    return np.multiply(values, np.float32(2.0 ** (1 - bits)), dtype=np.float32, casting="unsafe")


@dataclass(frozen=True)
class Piece:
    """``samples`` of an object from byte ``begin`` on, which are an array's from ``row`` on."""

    name: str
    begin: int
    samples: int
    row: int


def within(pieces: Iterable[Piece], first: int, count: int, sample_bytes: int) -> list[Piece]:
    """What of pieces is in rows [first, first + count), which become the rows from 0 on."""
    found = []
    for piece in pieces:
        begin, end = max(piece.row, first), min(piece.row + piece.samples, first + count)
        if begin < end:
            found.append(Piece(piece.name, piece.begin + (begin - piece.row) * sample_bytes, end - begin,
                               begin - first))
    return found


def read_samples(store: Store, pieces: Iterable[Piece], rows: int,
                 layout: Layout) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """An array of that many rows from pieces of objects, and which rows there are: all others are 0."""
    made = np.zeros((rows, layout.columns), layout.dtype)
    known = np.zeros(rows, bool)
    for piece in pieces:
        data = store.read(piece.name, piece.begin, piece.begin + piece.samples * layout.sample_bytes)
        layout.convert(data, made[piece.row:piece.row + piece.samples])
        known[piece.row:piece.row + piece.samples] = True
    return made, known
