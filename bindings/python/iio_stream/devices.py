# SPDX-License-Identifier: MIT
"""IIO devices, their attributes, and what this machine can do."""
from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._format import Channel
from ._options import Endpoint, Rate, text, word
from ._options import rate as rate_of
from ._options import uri as uri_of


@dataclass(frozen=True)
class Attribute:
    """An attribute of a device or of its ``channel``; ``value`` as read, or None and the ``error``."""

    channel: str | None
    name: str
    value: str | None
    error: str | None


@dataclass(frozen=True)
class Buffer:
    """One buffer of a device. DMA addresses and lengths are multiples of ``alignment`` bytes; ``dmabuf`` says
    whether it takes DMABUFs (None: unknown), ``dmabuf_reason`` why not; ``path`` is what ``path="auto"``
    uses, ``"dmabuf"``, ``"mmap"`` or ``"fileio"`` (None: not probed); ``remarks`` lists scan elements that
    could not be parsed, ``tuning`` the attributes that ``frequency=``, ``gain=`` and the others set."""

    index: int
    output: bool
    channels: tuple[Channel, ...]
    alignment: int
    dmabuf: bool | None
    dmabuf_reason: str | None
    path: str | None = None
    remarks: tuple[str, ...] = ()
    tuning: Mapping[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class DeviceInfo:
    """What is known about a device: ``id`` is the kernel's (``"iio:device0"``); ``sample_rate`` is in samples
    per second; ``remarks`` says what could not be read."""

    id: str
    name: str | None
    label: str | None
    sample_rate: float | None
    buffers: tuple[Buffer, ...]
    attributes: tuple[Attribute, ...]
    remarks: tuple[str, ...] = ()

    @classmethod
    def _from(cls, words: Mapping[str, Any]) -> DeviceInfo:
        buffers = tuple(Buffer(**{**buffer, "channels": tuple(Channel(**c) for c in buffer["channels"])})
                        for buffer in words["buffers"])
        attributes = tuple(Attribute(**attribute) for attribute in words["attributes"])
        return cls(**{**words, "buffers": buffers, "attributes": attributes})


def devices(uri: str = "local:") -> list[DeviceInfo]:
    """All IIO devices of a libiio context (``"local:"``, ``"ip:192.168.2.1"``); an empty list if the machine
    has no IIO at all. Raises Error if the context cannot be opened."""
    return [DeviceInfo._from(words) for words in _core.devices("", text("uri", uri))]


def device(name: str, uri: str = "local:") -> DeviceInfo:
    """One device by name, label, id or endpoint, ``"iio:NAME"``. Raises DeviceError, which suggests the
    nearest name."""
    return DeviceInfo._from(_core.devices(text("the device", name), text("uri", uri))[0])


def _attribute(value: object) -> str:
    """The text the kernel expects: no exponent unless needed, and 1 for True."""
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        number = float(value)
        return f"{number:.0f}" if number.is_integer() else repr(number)
    return word(value, "an attribute")


class Attributes:
    """Attributes by path, ``"DEVICE[/CHANNEL]/NAME"``: ``attr["adc/sampling_frequency"]`` reads one,
    ``attr["adc/sampling_frequency"] = 1e6`` writes it, ``attr.set()`` returns what the hardware made of it,
    ``attr.list("adc")`` returns all of a device."""

    def get(self, path: str, uri: str = "local:") -> str:
        """As the kernel prints it. Raises DeviceError."""
        return _core.get_attribute(text("the attribute", path), text("uri", uri))

    def set(self, path: str, value: object, uri: str = "local:") -> str:
        """Writes it and returns what the hardware made of it. Raises DeviceError."""
        return _core.set_attribute(text("the attribute", path), _attribute(value), text("uri", uri))

    def list(self, name: str, uri: str = "local:") -> tuple[Attribute, ...]:
        """All attributes of a device, or of its channel, ``"DEVICE/CHANNEL"``. Raises DeviceError."""
        name, _, channel = text("the device", name).partition("/")
        wanted = {channel, f"in_{channel}", f"out_{channel}"}
        return tuple(a for a in device(name, uri).attributes if not channel or a.channel in wanted)

    def __getitem__(self, path: str) -> str:
        return self.get(path)

    def __setitem__(self, path: str, value: object) -> None:
        self.set(path, value)


attr = Attributes()


@dataclass(frozen=True)
class Tuning:
    """The settings of a radio, as read back; None if it does not report one: ``frequency`` of the centre
    and ``bandwidth`` in Hz, ``gain`` in dB, ``rate`` in samples per second, the port ``antenna``, the gain
    control mode ``agc``, the names of the ``hardware``, and ``remarks`` where it chose another value than
    requested."""

    frequency: float | None
    gain: float | None
    bandwidth: float | None
    rate: float | None
    antenna: str | None
    hardware: str | None
    remarks: tuple[str, ...] = ()
    agc: str | None = None


def tune(endpoint: Endpoint, /, **changes: Any) -> Tuning:
    """Tunes the radio of ``"iio:DEVICE"``, streaming or not, and returns the settings read back. Keywords
    are the endpoint's options: ``frequency="2.4G"``, ``gain=40``, ``agc="slow_attack"``, ``bandwidth=``,
    ``rate=``, ``antenna=``.

    Raises UsageError for another endpoint or option, and DeviceError if the radio refuses.
    """
    return Tuning(**_core.tune(uri_of(endpoint), {key: word(value, key) for key, value in changes.items()}))


class Device:
    """A device, opened once: its attributes, and the radio in front of it.

    ``name`` is its name, label, id or endpoint, ``"iio:NAME"``; ``uri`` is libiio's. Attributes are read and
    written like items of a mapping, by ``[DEVICE/][CHANNEL/]NAME``; without DEVICE it is an attribute of this
    device: ``adc["in_voltage0/hardwaregain"] = 40``. Any number of threads may use it. Raises Error.
    """

    def __init__(self, name: str, uri: str = "local:") -> None:
        self._core = _core.Device(text("the device", name), text("uri", uri))

    @property
    def info(self) -> DeviceInfo:
        """Everything known about it, including each attribute."""
        return DeviceInfo._from(self._core.info())

    def get(self, attribute: str) -> str:
        """As the kernel prints it."""
        return self._core.get(text("the attribute", attribute))

    def set(self, attribute: str, value: object) -> str:
        """Writes it and returns what the hardware made of it."""
        return self._core.set(text("the attribute", attribute), _attribute(value))

    def __getitem__(self, attribute: str) -> str:
        return self.get(attribute)

    def __setitem__(self, attribute: str, value: object) -> None:
        self.set(attribute, value)

    @property
    def tuning(self) -> Tuning:
        """The current settings of its radio, read back from it."""
        return Tuning(**self._core.tuning())

    def tune(self, *, frequency: Rate | None = None, gain: float | None = None, bandwidth: Rate | None = None,
             rate: Rate | None = None, agc: str | None = None, antenna: str | None = None,
             channels: str | Sequence[str] | None = None, buffer: int = 0) -> Tuning:
        """Applies the given settings, and returns what is read back: ``frequency`` of the centre and
        ``bandwidth`` in Hz, ``gain`` in dB, ``rate`` in samples per second, as numbers or text (``"2.4G"``);
        for ``channels``, by default all of ``buffer``."""
        wanted: dict[str, Any] = {"buffer": buffer}
        for key, hertz in (("frequency", frequency), ("bandwidth", bandwidth), ("rate", rate)):
            if hertz is not None:
                wanted[key] = rate_of(key, hertz)
        if gain is not None:
            wanted["gain"] = float(gain)
        for key, name in (("agc", agc), ("antenna", antenna), ("channels", channels)):
            if name is not None:
                wanted[key] = word(name, key)
        return Tuning(**self._core.tune(wanted))

    def __repr__(self) -> str:
        return f"<iio_stream.Device {self.info.name or self.info.id}>"


@dataclass(frozen=True)
class Check:
    """One capability of the machine: what was found, and the command that adds it if it is missing."""

    name: str
    ok: bool
    detail: str
    fix: str | None


@dataclass(frozen=True)
class ProbeRow:
    """How one kind of memory performed with a device, or the ``error`` that kept it from being tried."""

    memory: str
    error: str | None
    blocks: int
    bytes_per_second: float
    cpu_seconds_per_gib: float
    interrupts_per_block: float | None
    data_arrived: bool | None  #: whether the DMA wrote this memory's own pages; None: not tried


@dataclass(frozen=True)
class Probe:
    """The verdict used by ``memory="auto"``, stored in the file ``stored_in``."""

    device: str
    block_bytes: int
    memories: tuple[ProbeRow, ...]
    recommended: str
    reason: str
    stored_in: str


def doctor() -> list[Check]:
    """What this machine can do; changes nothing.

    >>> all(check.detail for check in doctor())
    True
    """
    return [Check(**words) for words in _core.doctor()]


def probe(device: str) -> Probe:
    """Streams briefly from an input device, ``"iio:NAME"``, into each kind of memory and stores the verdict.
    Raises Error if nothing can be streamed at all."""
    words = _core.probe(text("the device", device))
    return Probe(**{**words, "memories": tuple(ProbeRow(**row) for row in words["memories"])})
