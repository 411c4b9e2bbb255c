# SPDX-License-Identifier: MIT
"""Contexts of real boards, as libiio wrote them down there: what the lab's boards must show."""
import os
import re
import xml.etree.ElementTree
from pathlib import Path

FOLDER = Path(os.environ.get("IIO_STREAM_BOARDS", "/nonexistent"))
NAMES = sorted(path.stem for path in FOLDER.glob("*.xml"))


def text(name):
    """A context as the XML that a parser takes."""
    data = (FOLDER / f"{name}.xml").read_bytes()
    whole = data.decode("utf-16" if data[:2] == b"\xff\xfe" else "utf-8")
    return whole[whole.rindex("<context "):]


def values(name):
    """{(device, attribute's file): value} of what the kernel's files show; None if the board refused to tell."""
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
    """A value of several lines: in XML a line's end is a space."""
    return re.sub(r"\s+", " ", value).strip()
