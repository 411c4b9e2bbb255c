# SPDX-License-Identifier: MIT
"""Properties of ADI's drivers that a board's context does not contain: which attributes show the same clock,
which writes fail in which mode, and which subsets of the channels can be captured. They were taken from the
drivers' sources."""

import errno
import re

# Subsets of the channels that two pairs, or the four pairs of two chips, can send (ad9361_conv.c,
# adrv9002_conv.c).
TWO_PAIRS = (0x01, 0x02, 0x04, 0x08, 0x03, 0x0C, 0x0F)
FOUR_PAIRS = (0x01, 0x02, 0x04, 0x08, 0x03, 0x0C, 0x10, 0x20, 0x40, 0x80, 0x30, 0xC0,
              0x33, 0xCC, 0xC3, 0x3C, 0x0F, 0xF0, 0xFF)
MASKS = {("cf-ad9361-lpc", 4): TWO_PAIRS, ("cf-ad9361-A", 8): FOUR_PAIRS, ("axi-adrv9002-rx-lpc", 4): TWO_PAIRS}
DIVIDER = 8  # the divider in the core, besides 1 (cf_axi_adc_core.c, cf_axi_dds.c)

# The clock of the chip that an attribute shows: (device, attribute's file, clock).
CLOCKS = [(re.compile(device), re.compile(file), clock) for device, file, clock in (
    (r"(ad9361-phy|cf-ad9361.*)-B", r".*", "ad9361-B"),
    (r"ad9361-phy|cf-ad9361-.*", r".*", "ad9361"),
    (r"ad9371-phy", r"in_voltage[01]_.*", "ad9371-rx"),
    (r"ad9371-phy", r"in_voltage2_.*", "ad9371-obs"),
    (r"ad9371-phy|axi-ad9371-tx-.*", r"out_.*", "ad9371-tx"),
    (r"axi-ad9371-rx-hpc", r".*", "ad9371-rx"),
    (r"axi-ad9371-rx-obs-.*", r".*", "ad9371-obs"),
    (r"adrv9002-phy", r"in_voltage0_.*", "adrv9002-rx1"),
    (r"adrv9002-phy", r"in_voltage1_.*", "adrv9002-rx2"),
    (r"adrv9002-phy", r"out_voltage0_.*", "adrv9002-tx1"),
    (r"adrv9002-phy", r"out_voltage1_.*", "adrv9002-tx2"),
    (r"axi-adrv9002-rx-.*", r".*", "adrv9002-rx1"),
    (r"axi-adrv9002-rx2-.*", r".*", "adrv9002-rx2"),
    (r"axi-adrv9002-tx-.*", r".*", "adrv9002-tx1"),
    (r"axi-adrv9002-tx2-.*", r".*", "adrv9002-tx2"),
)]


class Rules:
    """The rules of one device. `clocks` are the values of all clocks of the board."""

    def __init__(self, device, clocks):
        self.clocks = clocks
        self.name = device.get("name") or ""
        self.id = device.get("id")
        self.files = {a.get("filename") or a.get("name"): a.get("value")
                      for owner in [device, *device.iter("channel")] for a in owner.findall("attribute")}
        self.buffered = device.find("channel/scan-element") is not None

    def clock_of(self, file):
        """Returns (clock, its value) if an attribute shows a clock or a value derived from it, else (None,
        None)."""
        for form in ("list", "divided", "whole"):
            rate = file.removesuffix("_available") if form == "list" else file
            if not rate.endswith("sampling_frequency") or (form == "list" and rate == file):
                continue
            name, parent = self._named(rate), self._parent(rate)
            if name and form == "whole":
                value = self.files[file]
                # If something else divides the clock, it is a different clock.
                return (name if self.clocks.setdefault(name, value) == value else f"{self.id}-{file}"), value
            if name and parent and self.clocks.setdefault(name, parent) == parent:
                how = "list" if form == "list" else str(int(parent) // int(self.files[file]))
                return f"{name}/{how}", parent
        return None, None

    def _named(self, file):
        for device, files, clock in CLOCKS:
            if device.fullmatch(self.name) and files.fullmatch(file):
                return clock
        return f"{self.id}-{'out' if file.startswith('out_') else 'in'}" if self.buffered else None

    def _parent(self, file):
        """Returns the undivided clock if the core can divide it."""
        choice = (self.files.get(f"{file}_available") or "").split()
        if self.buffered and len(choice) == 2 and all(word.isdigit() for word in choice) and \
                int(choice[0]) // DIVIDER == int(choice[1]) and self.files[file] in choice:
            return choice[0]
        return None

    def clock(self, direction):
        """Returns the clock of the device's samples."""
        likely = [f"{direction}_voltage_sampling_frequency", "sampling_frequency",
                  *(file for file in self.files if re.fullmatch(rf"{direction}_\w+_sampling_frequency", file))]
        found = next((self.clock_of(file)[0] for file in likely if self.buffered and file in self.files), None)
        return found and found.split("/")[0]

    def masks(self, channels):
        return MASKS.get((self.name, channels))

    def guard(self, file, files):
        """Returns FILE=VALUE:ERRNO if an attribute can be written only in one mode, =:ERRNO if it cannot be
        written."""
        mode = files.get("gain_control_mode")
        if mode and re.fullmatch(r"in_voltage\d_hardwaregain", file) and self.name.startswith("ad9361-phy"):
            return f"{mode}=manual:{errno.EOPNOTSUPP}"
        if file.endswith("sampling_frequency") and re.fullmatch(r"(adrv9002|ad9371)-phy", self.name):
            return f"=:{errno.EINVAL}"  # the chip's profile sets it
        if file.endswith("sampling_frequency") and self.name.startswith("axi-adrv9002-rx"):
            return f"=:{errno.ENODEV}"
        return None
