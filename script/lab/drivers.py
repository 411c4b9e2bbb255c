# SPDX-License-Identifier: MIT
"""What a board's context does not say and the kernel's drivers do: which attributes are one clock, what is
refused in which mode, which subsets of the channels can be captured. Read from ADI's drivers."""

import errno
import re

# ad9361_conv.c: subsets of the channels that an AD9361 with two pairs, or two of them together, can send.
AD9361_MASKS = {
    4: (0x01, 0x02, 0x04, 0x08, 0x03, 0x0C, 0x0F),
    8: (0x01, 0x02, 0x04, 0x08, 0x03, 0x0C, 0x10, 0x20, 0x40, 0x80, 0x30, 0xC0,
        0x33, 0xCC, 0xC3, 0x3C, 0x0F, 0xF0, 0xFF),
}


class Rules:
    """Those of one device; clocks has the values of the whole board's."""

    def __init__(self, device, clocks):
        self.clocks = clocks
        self.name = device.get("name") or ""
        self.id = device.get("id")
        self.files = {a.get("filename") or a.get("name"): a.get("value")
                      for owner in [device, *device.iter("channel")] for a in owner.findall("attribute")}
        self.buffered = device.find("channel/scan-element") is not None

    def clock_of(self, file):
        """The clock that an attribute shows, None where it is nobody else's."""
        if not file.endswith("sampling_frequency"):
            return None
        name, value = None, self.files[file]
        if re.fullmatch(r"(ad9361-phy|cf-ad9361-.*?)(-B)?", self.name):
            name = "ad9361-B" if self.name.endswith("-B") else "ad9361"
        elif self.buffered:
            name = f"{self.id}-{'out' if file.startswith('out_') else 'in'}"
        # Where something divides it, it is another.
        return name if name is None or self.clocks.setdefault(name, value) == value else f"{self.id}-{file}"

    def clock(self, direction):
        """The clock of the device's samples."""
        likely = [f"{direction}_voltage_sampling_frequency", "sampling_frequency",
                  *(file for file in self.files if re.fullmatch(rf"{direction}_\w+_sampling_frequency", file))]
        return next((self.clock_of(file) for file in likely if self.buffered and file in self.files), None)

    def masks(self, channels):
        return AD9361_MASKS.get(channels) if re.fullmatch("cf-ad9361-(lpc|A)", self.name) else None

    def guard(self, file, files):
        """FILE=VALUE:ERRNO where an attribute can be written in one mode only."""
        mode = files.get("gain_control_mode")
        if mode and re.fullmatch(r"in_voltage\d_hardwaregain", file) and self.name.startswith("ad9361-phy"):
            return f"{mode}=manual:{errno.EOPNOTSUPP}"
        return None
