# SPDX-License-Identifier: MIT
"""Converters with the kernel's own drivers: their folders in sysfs and debugfs."""
import pathlib

from conftest import iio_dir, sim

CHIPS = {  # name: scan type, channels, largest rate
    "ad9265": ("le:s16/16>>0", 1, 125_000_000),
    "ad9434": ("le:s12/16>>0", 1, 500_000_000),
    "ad9467": ("le:s16/16>>0", 1, 250_000_000),
    "ad9643": ("le:s14/16>>0", 2, 250_000_000),
    "ad9649": ("le:s14/16>>0", 1, 80_000_000),
    "ad9652": ("le:s16/16>>0", 2, 310_000_000),
}


def converter(chip, **parameters):
    """Reloads the simulator with that chip as the converter."""
    sim(converter=chip, **parameters)


def debugfs(chip, name, value=None):
    """Reads or writes a debug file of the drivers."""
    path = pathlib.Path("/sys/kernel/debug/iio") / iio_dir(chip).name / name
    if value is None:
        return path.read_text()
    return path.write_text(str(value))


def register(chip, address, where="backend0/direct_reg_access"):
    debugfs(chip, where, hex(address))
    return int(debugfs(chip, where), 0)
