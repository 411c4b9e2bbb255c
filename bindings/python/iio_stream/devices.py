# SPDX-License-Identifier: MIT
"""IIO devices, their attributes, and the capabilities of this machine."""
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
    """An attribute of a device or of its ``channel``. ``value`` is the text read; if reading failed, it is
    None and ``error`` gives the reason."""

    channel: str | None
    name: str
    value: str | None
    error: str | None


@dataclass(frozen=True)
class Buffer:
    """One buffer of a device. DMA addresses and lengths are multiples of ``alignment`` bytes. ``dmabuf`` is
    True if the buffer supports DMABUFs (None: unknown), and ``dmabuf_reason`` is the reason if it does not.
    ``path`` is the one that ``path="auto"`` selects: ``"dmabuf"``, ``"mmap"`` or ``"fileio"`` (None: not
    probed). ``remarks`` lists scan elements that could not be parsed. ``tuning`` lists the attributes that
    each tuning option (``frequency=``, ``gain=`` …) sets."""

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
    """Everything known about a device. ``id`` is the kernel's name for it (``"iio:device0"``).
    ``sample_rate`` is in samples per second, None if unknown. ``remarks`` lists values that could not be
    read."""

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
    """Returns all IIO devices of a libiio context (``"local:"``, ``"ip:192.168.2.1"``). The list is empty if
    the machine has no IIO at all. Raises Error if the context cannot be opened."""
    return [DeviceInfo._from(words) for words in _core.devices("", text("uri", uri))]


def device(name: str, uri: str = "local:") -> DeviceInfo:
    """Returns one device by name, label, id or endpoint, ``"iio:NAME"``. Raises DeviceError if it does not
    exist; the error suggests the nearest name."""
    return DeviceInfo._from(_core.devices(text("the device", name), text("uri", uri))[0])


def _attribute(value: object) -> str:
    """Converts a value to the text the kernel expects: without exponent unless needed, and 1 for True."""
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        number = float(value)
        return f"{number:.0f}" if number.is_integer() else repr(number)
    return word(value, "an attribute")


class Attributes:
    """Attributes by path, ``"DEVICE[/CHANNEL]/NAME"``. ``attr["adc/sampling_frequency"]`` reads one,
    ``attr["adc/sampling_frequency"] = 1e6`` writes it, ``attr.set()`` also returns the value the hardware
    then reports, and ``attr.list("adc")`` returns all attributes of a device."""

    def get(self, path: str, uri: str = "local:") -> str:
        """Returns the value as the kernel prints it. Raises DeviceError."""
        return _core.get_attribute(text("the attribute", path), text("uri", uri))

    def set(self, path: str, value: object, uri: str = "local:") -> str:
        """Writes the value and returns the one read back. Raises DeviceError."""
        return _core.set_attribute(text("the attribute", path), _attribute(value), text("uri", uri))

    def list(self, name: str, uri: str = "local:") -> tuple[Attribute, ...]:
        """Returns all attributes of a device, or of its channel, ``"DEVICE/CHANNEL"``. Raises DeviceError."""
        name, _, channel = text("the device", name).partition("/")
        wanted = {channel, f"in_{channel}", f"out_{channel}"}
        return tuple(a for a in device(name, uri).attributes if not channel or a.channel in wanted)

    def __getitem__(self, path: str) -> str:
        return self.get(path)

    def __setitem__(self, path: str, value: object) -> None:
        self.set(path, value)


attr = Attributes()
"""Attributes by path, ``"DEVICE[/CHANNEL]/NAME"``: ``attr[PATH]`` or ``attr.get(PATH, uri)`` reads one,
``attr[PATH] = value`` writes it, ``attr.set(PATH, value, uri)`` also returns the value that the hardware then
reports, and ``attr.list(DEVICE, uri)`` returns all attributes of a device."""


@dataclass(frozen=True)
class Tuning:
    """The settings of a radio, as read back from it. A setting that the radio does not report is None.
    ``frequency`` is the centre frequency in Hz, ``bandwidth`` is in Hz, ``gain`` in dB, and ``rate`` in
    samples per second. ``antenna`` is the port, ``agc`` the gain control mode, and ``hardware`` the names of
    the hardware. ``remarks`` lists settings for which the radio chose another value than requested."""

    frequency: float | None
    gain: float | None
    bandwidth: float | None
    rate: float | None
    antenna: str | None
    hardware: str | None
    remarks: tuple[str, ...] = ()
    agc: str | None = None


def tune(endpoint: Endpoint, /, **changes: Any) -> Tuning:
    """Tunes the radio of ``"iio:DEVICE"``, whether it streams or not, and returns the settings read back.
    Keywords are the endpoint's options: ``frequency="2.4G"``, ``gain=40``, ``agc="slow_attack"``,
    ``bandwidth=``, ``rate=``, ``antenna=``.

    Raises UsageError for other endpoints and options, and DeviceError if the radio rejects a value.
    """
    return Tuning(**_core.tune(uri_of(endpoint), {key: word(value, key) for key, value in changes.items()}))


class Device:
    """A handle of one device: its attributes, and the radio in front of it. The device is opened once.

    ``name`` is the name, label, id or endpoint of the device, ``"iio:NAME"``. ``uri`` is a libiio context.
    Attributes are read and written like items of a mapping, by ``[DEVICE/][CHANNEL/]NAME``. Without DEVICE,
    the attribute belongs to this device: ``adc["in_voltage0/hardwaregain"] = 40``. Any number of threads may
    use the object. All methods raise Error.
    """

    def __init__(self, name: str, uri: str = "local:") -> None:
        self._core = _core.Device(text("the device", name), text("uri", uri))

    @property
    def info(self) -> DeviceInfo:
        """Everything known about the device, including all attributes."""
        return DeviceInfo._from(self._core.info())

    def get(self, attribute: str) -> str:
        """Returns the value as the kernel prints it."""
        return self._core.get(text("the attribute", attribute))

    def set(self, attribute: str, value: object) -> str:
        """Writes the value and returns the one read back."""
        return self._core.set(text("the attribute", attribute), _attribute(value))

    def __getitem__(self, attribute: str) -> str:
        return self.get(attribute)

    def __setitem__(self, attribute: str, value: object) -> None:
        self.set(attribute, value)

    @property
    def tuning(self) -> Tuning:
        """The current settings of the radio, read back from it."""
        return Tuning(**self._core.tuning())

    def tune(self, *, frequency: Rate | None = None, gain: float | None = None, bandwidth: Rate | None = None,
             rate: Rate | None = None, agc: str | None = None, antenna: str | None = None,
             channels: str | Sequence[str] | None = None, buffer: int = 0) -> Tuning:
        """Applies the given settings and returns all settings read back. ``frequency`` is the centre
        frequency in Hz, ``bandwidth`` is in Hz, ``gain`` in dB, and ``rate`` in samples per second, each as a
        number or text (``"2.4G"``). They apply to ``channels``, by default to all channels of ``buffer``."""
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
    """One capability of the machine. ``detail`` describes the finding, and ``fix`` is the command that adds
    the capability if it is missing."""

    name: str
    ok: bool
    detail: str
    fix: str | None


@dataclass(frozen=True)
class ProbeRow:
    """The performance of one kind of memory with a device, or the ``error`` that prevented the test."""

    memory: str
    error: str | None
    blocks: int
    bytes_per_second: float
    cpu_seconds_per_gib: float
    interrupts_per_block: float | None
    data_arrived: bool | None  #: whether the DMA wrote into the pages of this memory; None: not tried


@dataclass(frozen=True)
class Probe:
    """The result of probe(), which ``memory="auto"`` uses. It is stored in the file ``stored_in``."""

    device: str
    block_bytes: int
    memories: tuple[ProbeRow, ...]
    recommended: str
    reason: str
    stored_in: str


def doctor() -> list[Check]:
    """Returns the capabilities of this machine. Changes nothing.

    >>> all(check.detail for check in doctor())
    True
    """
    return [Check(**words) for words in _core.doctor()]


def probe(device: str) -> Probe:
    """Streams briefly from an input device, ``"iio:NAME"``, into each kind of memory, and stores the result.
    Raises Error if no stream works at all."""
    words = _core.probe(text("the device", device))
    return Probe(**{**words, "memories": tuple(ProbeRow(**row) for row in words["memories"])})
