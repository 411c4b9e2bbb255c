# SPDX-License-Identifier: MIT
# guest: ordinary
# guest: --kernel 7.3 --disk 2Gi
"""Streams after a start of read() or write() for which the kernel had no memory, as can happen to libiio with
large buffers. Such a start leaves the buffer in fileio mode, and ATTACH fails with EBUSY from then on.

    script/vm -- /usr/bin/python3 -m pytest -q tests/vm/test_failed_start.py

Linux 6.12 and 7.3, 2048 MB.
"""
import pathlib

import pytest
from conftest import ADC, DAC, iio_dir, sim, stream

CONSOLE = pathlib.Path("/proc/sys/kernel/printk")
MOST_PAGES = 4 << 20  # largest contiguous allocation of the kernel, in bytes
RAMP = "sim: pattern=ramp channels=4 rate=0"


def fail_to_start(buffer, kernel_log):
    """Requests two blocks of 16 MiB. The kernel's single warning about that is expected."""
    level = CONSOLE.read_text()
    CONSOLE.write_text("1")
    (buffer / "length").write_text(str(MOST_PAGES))
    with pytest.raises(OSError, match="Cannot allocate memory"):
        (buffer / "enable").write_text("1")
    kernel_log.news()
    CONSOLE.write_text(level)


@pytest.mark.parametrize("device,ends", [(ADC, f"iio:{ADC} verify:ramp"), (DAC, f"{RAMP} iio:{DAC}")])
def test_dmabufs_work_after_a_failed_start_in_fileio_mode(device, ends, kernel_log):
    sim(rate=250_000)
    buffer = iio_dir(device) / "buffer0"
    for channel in buffer.glob("*_en"):
        channel.write_text("1")
    fail_to_start(buffer, kernel_log)
    result = stream(f"{ends} --block-size 16Ki --blocks 16 --samples 50000")
    assert "dmabuf" in [hop["mechanism"] for hop in result.json["route"]]
    assert result.json["samples"] == 50_000 and result.gaps["certain"] == 0
