# SPDX-License-Identifier: MIT
"""Contexts that libiio wrote on real boards: the lab's boards must match them."""
import os
import re
import xml.etree.ElementTree
from pathlib import Path

FOLDER = Path(os.environ.get("IIO_STREAM_BOARDS", "/nonexistent"))
NAMES = sorted(path.stem for path in FOLDER.glob("*.xml"))


def text(name):
    """Returns a board's context as XML text for a parser."""
    data = (FOLDER / f"{name}.xml").read_bytes()
    whole = data.decode("utf-16" if data[:2] == b"\xff\xfe" else "utf-8")
    return whole[whole.rindex("<context "):]


def values(name):
    """Returns {(device, attribute's file): value} of the kernel's files. The value is None if it could
    not be read on the board."""
    found = {}
    for device in xml.etree.ElementTree.fromstring(text(name)).iter("device"):
        for owner in [device, *device.iter("channel")]:
            for attribute in owner.findall("attribute"):
                file = attribute.get("filename") or attribute.get("name")
                found[device.get("id"), file] = attribute.get("value")
        for attribute in device.iter("debug-attribute"):
            found[device.get("id"), f"debug/{attribute.get('name')}"] = attribute.get("value")
    return found


def lines(value):
    """Normalizes a value of several lines, because XML turns the end of a line into a space."""
    return re.sub(r"\s+", " ", value).strip()
