# SPDX-License-Identifier: MIT
"""Sample formats, and the NumPy dtypes that describe them."""
from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core, _options

_KINDS = {"signed": "i", "unsigned": "u", "floating": "f"}
# PEP 3118's letters for plain numbers in this machine's byte order, which memoryview can index.
_CODES = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q",
          "f4": "f", "f8": "d"}


@dataclass(frozen=True)
class Channel:
    """One enabled scan element.

    ``type`` is the kernel's text, such as ``"le:s12/16>>4"``: 12 significant bits, signed, in 16 bits
    of storage, to be shifted right by 4. ``component`` is ``"real"``, ``"in_phase"``, ``"quadrature"``
    or ``"counter"``. ``offset`` is in bytes from the start of a sample.
    """

    id: str
    type: str
    number: str
    big_endian: bool
    bits: int
    storage_bits: int
    shift: int
    repeat: int
    scan_index: int
    component: str
    offset: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of one value as stored in memory, not shifted; a subarray if ``repeat`` is above 1."""
        order = ">" if self.big_endian else "<"
        base = np.dtype(f"{order}{_KINDS[self.number]}{self.storage_bits // 8}")
        return base if self.repeat == 1 else np.dtype((base, (self.repeat,)))


@dataclass(frozen=True)
class Format:
    """The format of a sample, which has one value of every enabled channel.

    ``name`` is the SigMF datatype if there is one (``"ci16_le"``), otherwise the scan types. ``sample_rate``
    is in samples per second, None if unknown.

    >>> Format.parse("ci16_le").dtype
    dtype('int16')
    >>> [channel.id for channel in Format.parse("ci16_le").channels]
    ['voltage0_i', 'voltage0_q']
    """

    name: str
    channels: tuple[Channel, ...]
    sample_bytes: int
    sample_rate: float | None
    is_complex: bool

    @classmethod
    def parse(cls, name: str, channels: int | str | None = None) -> Format:
        """Makes a Format from the name of a SigMF datatype, or scan types separated by commas, and the number
        of channels (I and Q are two) or their names. Raises UsageError."""
        words = "" if channels is None else _options.word(channels, "channels")
        return cls._from(_core.parse_format(_options.text("the format", name), words))

    @classmethod
    def _from(cls, words: Mapping[str, Any]) -> Format:
        channels = tuple(Channel(**channel) for channel in words["channels"])
        rate = words["sample_rate"]
        return cls(words["name"], channels, words["sample_bytes"], rate if rate > 0 else None,
                   words["is_complex"])

    @property
    def is_uniform(self) -> bool:
        """Whether all channels have the same dtype and no padding. Arrays are then of shape (samples,
        channels)."""
        first = self.channels[0]
        return (all(c.dtype == first.dtype and c.repeat == 1 for c in self.channels)
                and self.sample_bytes == len(self.channels) * first.dtype.itemsize)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of an array's elements: one value or, if channels differ, a whole sample."""
        if self.is_uniform:
            return self.channels[0].dtype
        fields = {"names": [c.id for c in self.channels], "formats": [c.dtype for c in self.channels],
                  "offsets": [c.offset for c in self.channels], "itemsize": self.sample_bytes}
        return np.dtype(fields)  # type: ignore[call-overload, no-any-return]


def _code(channel: Channel) -> str:
    """Returns the PEP 3118 name of a channel's type, with its byte order."""
    letter = _CODES[f"{_KINDS[channel.number]}{channel.storage_bits // 8}"]
    shape = f"({channel.repeat})" if channel.repeat > 1 else ""
    return shape + (">" if channel.big_endian else "<") + letter


def _struct_code(format: Format) -> str:
    """Returns the PEP 3118 name of a whole sample, padding included."""
    code, at = "", 0
    for channel in format.channels:
        code += "x" * (channel.offset - at) + f"{_code(channel)}:{channel.id}:"
        at = channel.offset + channel.dtype.itemsize
    return "T{" + code + "x" * (format.sample_bytes - at) + "}"


def layout(words: Mapping[str, Any]) -> tuple[np.dtype[Any], int, str, bool]:
    """Returns the fields of the extension's Layout: the dtype, the values per sample (0: a whole sample is
    one element), the PEP 3118 name, and whether the values are plain numbers in this machine's byte order."""
    format = Format._from(words)
    if not format.is_uniform:
        return format.dtype, 0, _struct_code(format), False
    first = format.channels[0]
    if first.dtype.isnative:
        return format.dtype, len(format.channels), _code(first).lstrip("<>"), True
    return format.dtype, len(format.channels), _code(first), False


assert sys.byteorder == "little", "a big-endian machine would need SigMF's _be names"
