# SPDX-License-Identifier: MIT
"""Shared by the tests of real boards: the devices of a context that have scan elements, and the samples that
the simulator makes for them (docs/simulator.md, "lanes"), derived from the scan types alone."""
import array
import os
import re
import subprocess
import xml.etree.ElementTree

import boards
import counts
from conftest import DEBUG, knob

SOME = ["pluto", "fmcomms5", "ad9371", "daq2", "adxl355"]
NAMES = boards.NAMES if counts.FULL else SOME
TYPE = re.compile(r"([bl]e):([su])(\d+)/(\d+)>>(\d+)")
RAMP, LANES = 0, 1


def load(board, **parameters):
    words = [f"{key}={value}" for key, value in parameters.items()]
    subprocess.run(["sim-load", f"board={board}", *words], check=True)


class Element:
    """A channel and its parsed scan type."""

    def __init__(self, index, name, form):
        self.index, self.name, self.form = index, name, form
        order, sign, bits, storage, shift = TYPE.fullmatch(form).groups()
        self.order = {"le": "little", "be": "big"}[order]
        self.signed, self.bits, self.bytes, self.shift = sign == "s", int(bits), int(storage) // 8, int(shift)

    @property
    def is_plain(self):
        """Whether SigMF has a datatype for the channel's unconverted values."""
        return self.order == "little" and self.shift == 0 and self.bytes in (1, 2, 4)

    def lane(self, scan):
        """Returns the value that a core sends in the scan with this number."""
        value = self.index << self.bits - 4 | scan % (1 << self.bits - 4)
        value %= 1 << self.bits
        return value - (1 << self.bits) if self.signed and value >> self.bits - 1 else value

    def value(self, data):
        word = int.from_bytes(data, self.order) >> self.shift & (1 << self.bits) - 1
        return word - (1 << self.bits) if self.signed and word >> self.bits - 1 else word


class Scan:
    """A device's scan elements from a context, in scan order."""

    def __init__(self, device, tones):
        self.name = device.get("name")
        found = [(int(c.find("scan-element").get("index")), c.get("id"), c.find("scan-element").get("format").lower(),
                  c.get("type")) for c in device.findall("channel") if c.find("scan-element") is not None]
        self.elements = [Element(index, name, form) for index, name, form, _ in sorted(found)]
        self.output = any(way == "output" for *_, way in found)
        self.pairs = self._pairs(tones)
        self.attributes = {f"{'out' if c.get('type') == 'output' else 'in'}_{c.get('id')}/{a.get('name')}": a.get("value")
                           for c in device.findall("channel") for a in c.findall("attribute")
                           if a.get("value") and a.get("name") != "label"}

    def _pairs(self, tones):
        """Returns the I/Q pairs. Modifiers in the channels' names mark them, or else the names of the
        transmitter's tones do."""
        names = [element.name for element in self.elements]
        if any(name.endswith(("_i", "_q")) for name in names):
            return [(f"{name[:-2]}_i", f"{name[:-2]}_q") for name in names if name.endswith("_i")]
        chip = re.search(r"-(ad\w+?)-", self.name or "")
        if chip and chip[1] in tones:
            return list(zip(names[::2], names[1::2]))
        return []

    @property
    def dma(self):
        """Whether the device has a DMA core, whose pattern and counts are in debugfs."""
        return (DEBUG / self.name).exists()

    @property
    def channels(self):
        """The channels that carry samples."""
        return [element.name for element in self.elements if element.name != "timestamp"]

    def selections(self):
        """Returns all channels together, each single channel and each I/Q pair, without repeats. The short
        run only takes the last channel and the last pair."""
        some = slice(counts.pick(-1, None), None)
        wanted = [self.channels, *([name] for name in self.channels[some]), *(list(pair) for pair in self.pairs[some])]
        return [chosen for number, chosen in enumerate(wanted) if chosen not in wanted[:number]]

    def chosen(self, names):
        return [element for element in self.elements if element.name in names]

    def is_complex(self, names):
        """Returns whether these channels consist of complete I/Q pairs."""
        return bool(self.pairs) and list(names) == [n for pair in self.pairs for n in pair if n in names] and \
            all((i in names) == (q in names) for i, q in self.pairs)

    def pattern(self, number):
        if self.dma:
            knob("pattern", number, device=self.name)


def scans(board):
    """Returns the devices of a board that have scan elements. Chips whose tones are called TX1_I… have I/Q
    pairs."""
    return scans_of(xml.etree.ElementTree.fromstring(boards.text(board)))


def scans_of(tree):
    tones = {match[1] for device in tree.iter("device") for channel in device.findall("channel")
             if (channel.get("name") or "").startswith("TX1_I")
             and (match := re.search(r"-(ad\w+?)-", device.get("name")))}
    found = [Scan(device, tones) for device in tree.iter("device") if device.get("id").startswith("iio:")]
    return [scan for scan in found if scan.elements]


def devices(names=NAMES):
    """Returns [(board, device)] for these boards."""
    return [(board, scan.name) for board in names for scan in scans(board)]


def loaded(board, device, **parameters):
    """Loads a board, and returns one of its devices."""
    load(board, **parameters)
    return next(scan for scan in scans(board) if scan.name == device)


def is_ramp(data):
    """Returns whether the data, read as 64-bit words, count from 0."""
    words = array.array("Q", data[:len(data) // 8 * 8])
    return len(words) > 0 and all(word == number for number, word in enumerate(words))


def lanes(elements, data):
    """Returns the values of each scan. In a scan, each element is aligned to its own size."""
    at, places = 0, []
    for element in elements:
        at = -(-at // element.bytes) * element.bytes
        places.append(at)
        at += element.bytes
    widest = max(element.bytes for element in elements)
    size = -(-at // widest) * widest
    assert data and len(data) % size == 0
    return [[element.value(data[scan + place:scan + place + element.bytes])
             for element, place in zip(elements, places)] for scan in range(0, len(data), size)]


def are_lanes(elements, data):
    return all(values == [element.lane(number) for element in elements]
               for number, values in enumerate(lanes(elements, data)))


def note(record_property, board, device, *ran):
    """Records what ran for the table in docs/boards.md, which script/boards makes from pytest's results."""
    record_property(f"board {board}/{device}", " ".join(ran))
    record_property("kernel", os.uname().release)
