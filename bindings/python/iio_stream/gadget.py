# SPDX-License-Identifier: MIT
"""This board as a USB device, which ``ffs:`` endpoints stream through; what ``iio-stream gadget`` does."""
from __future__ import annotations

from dataclasses import dataclass

from . import _core
from ._options import text


@dataclass(frozen=True)
class Controller:
    """A USB device controller; ``holder`` names the gadget or driver that has it, None where it is free."""

    name: str
    state: str
    speed: str
    holder: str | None


@dataclass(frozen=True)
class Gadget:
    """A gadget with our function in it: ``bound`` to the controller ``udc`` while a program streams,
    ``streamer`` ("PID NAME"). ``ffs:`` endpoints name its ``mount``."""

    name: str
    udc: str
    bound: bool
    mount: str
    streamer: str | None


@dataclass(frozen=True)
class Status:
    """What there is on this machine."""

    controllers: tuple[Controller, ...]
    gadgets: tuple[Gadget, ...]


def up(*, name: str = "iio-stream", into: str = "", udc: str = "", id: str = "1d6b:0104",
       serial: str = "0", manufacturer: str = "iio-stream", product: str = "iio-stream",
       mount: str = "") -> bool:
    """Makes the gadget ``name``, or adds the function to the one that exists, ``into``, and mounts its
    FunctionFS at ``mount`` (default: /run/iio-stream/ffs). ``udc`` is a controller (default: the first that
    is free), ``id`` USB's VID:PID (the default is for tests). False where it was up already.

    Raises UsageError for a wrong id, and Error, with nothing left behind, where something is in the way:
    a controller that somebody holds, no right to ConfigFS.
    """
    words = {"name": name, "into": into, "udc": udc, "id": id, "serial": serial,
             "manufacturer": manufacturer, "product": product, "mount": mount}
    return _core.gadget_up({key: text(key, value) for key, value in words.items()})


def down(name: str = "iio-stream") -> bool:
    """Ends whoever streams through the gadget, then removes all that up() made. False where it was not up.
    Raises Error."""
    return _core.gadget_down(text("name", name))


def status() -> Status:
    """The controllers and gadgets; changes nothing.

    >>> status() == status()
    True
    """
    words = _core.gadget_status()
    return Status(tuple(Controller(**c) for c in words["controllers"]),
                  tuple(Gadget(**g) for g in words["gadgets"]))
