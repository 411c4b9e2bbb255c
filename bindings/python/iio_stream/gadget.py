# SPDX-License-Identifier: MIT
"""Makes this board a USB device that ``ffs:`` endpoints stream through, like ``iio-stream gadget``."""
from __future__ import annotations

from dataclasses import dataclass

from . import _core
from ._options import text


@dataclass(frozen=True)
class Controller:
    """A USB device controller; ``holder`` is the gadget or driver that uses it, None if it is free."""

    name: str
    state: str
    speed: str
    holder: str | None


@dataclass(frozen=True)
class Gadget:
    """A gadget that contains the function of iio-stream. It is ``bound`` to the controller ``udc`` while a
    program, ``streamer`` ("PID NAME"), streams. ``ffs:`` endpoints refer to its ``mount``."""

    name: str
    udc: str
    bound: bool
    mount: str
    streamer: str | None


@dataclass(frozen=True)
class Status:
    """The USB device controllers and the gadgets of this machine."""

    controllers: tuple[Controller, ...]
    gadgets: tuple[Gadget, ...]


def up(*, name: str = "iio-stream", into: str = "", udc: str = "", id: str = "1d6b:0104",
       serial: str = "0", manufacturer: str = "iio-stream", product: str = "iio-stream",
       mount: str = "") -> bool:
    """Creates the gadget ``name``, or adds the function to the existing one ``into``, and mounts its
    FunctionFS at ``mount`` (default: /run/iio-stream/ffs). ``udc`` is a controller (default: the first free
    one), ``id`` the USB VID:PID (the default is for tests). Returns False if the gadget was already up.

    Raises UsageError for an invalid id. Raises Error, and leaves nothing behind, if the gadget cannot be
    created, for example because the controller is in use or ConfigFS is not permitted.
    """
    words = {"name": name, "into": into, "udc": udc, "id": id, "serial": serial,
             "manufacturer": manufacturer, "product": product, "mount": mount}
    return _core.gadget_up({key: text(key, value) for key, value in words.items()})


def down(name: str = "iio-stream") -> bool:
    """Ends any program that streams through the gadget, then removes everything that up() created. Returns
    False if the gadget was not up. Raises Error."""
    return _core.gadget_down(text("name", name))


def status() -> Status:
    """Returns the controllers and gadgets. Changes nothing.

    >>> status() == status()
    True
    """
    words = _core.gadget_status()
    return Status(tuple(Controller(**c) for c in words["controllers"]),
                  tuple(Gadget(**g) for g in words["gadgets"]))
