# SPDX-License-Identifier: MIT
"""A program that streams legacy blocks through the file of a buffer, as libiio 1.x does: it closes the
device's file.

    block_client.py DEVICE-NAME SECONDS

Prints, as JSON, the number of samples that it received and the number that was missing in the simulator's
ramp.
"""
import fcntl
import json
import mmap
import os
import pathlib
import select
import struct
import sys
import time

GET_FD, ALLOC, FREE, QUERY, ENQUEUE, DEQUEUE = 0xC0046991, 0xC01069A0, 0x69A1, 0xC02069A2, 0xC02069A3, 0xC02069A4
BLOCK = struct.Struct("<6IQ")  # id, size, bytes_used, type, flags, offset, timestamp
BYTES, COUNT, DEADLINE_MS = 65536, 64, 5000


def folder(name):
    return next(path for path in pathlib.Path("/sys/bus/iio/devices").glob("iio:device*")
                if (path / "name").read_text().strip() == name)


def open_buffer(device):
    """Opens the device, and returns the buffer's file. The device's own file is closed again."""
    fd = os.open(f"/dev/{device.name}", os.O_RDWR | os.O_NONBLOCK)
    index = bytearray(struct.pack("<i", 0))
    fcntl.ioctl(fd, GET_FD, index)
    os.close(fd)
    buffer, = struct.unpack("<i", index)
    os.set_blocking(buffer, False)
    return buffer


def is_ready(buffer):
    poll = select.poll()
    poll.register(buffer, select.POLLIN)
    return poll.poll(DEADLINE_MS)


def main(name, seconds):
    device = folder(name)
    buffer = open_buffer(device)
    sysfs = device / "buffer0"
    sysfs.joinpath("enable").write_text("0")
    for element in sysfs.glob("*_en"):
        element.write_text("1")
    fcntl.ioctl(buffer, FREE, 0)
    fcntl.ioctl(buffer, ALLOC, bytearray(struct.pack("<4I", 0, BYTES, COUNT, 0)))
    blocks = []
    for number in range(COUNT):
        words = bytearray(BLOCK.pack(number, 0, 0, 0, 0, 0, 0))
        fcntl.ioctl(buffer, QUERY, words)
        blocks.append(mmap.mmap(buffer, BYTES, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE,
                                offset=BLOCK.unpack(words)[5]))
        fcntl.ioctl(buffer, ENQUEUE, words)
    sysfs.joinpath("enable").write_text("1")
    print("streaming", flush=True)
    expected = missing = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        words = bytearray(BLOCK.size)
        try:
            fcntl.ioctl(buffer, DEQUEUE, words)
        except BlockingIOError:
            if not is_ready(buffer):
                sys.exit(f"no block came within {DEADLINE_MS} ms")
            continue
        number, _, used = BLOCK.unpack(words)[:3]
        first, = struct.unpack_from("<Q", blocks[number], 0)
        last, = struct.unpack_from("<Q", blocks[number], used - 8)
        missing += first - expected + (last - first - (used // 8 - 1))
        expected = last + 1
        fcntl.ioctl(buffer, ENQUEUE, words)
    sysfs.joinpath("enable").write_text("0")
    print(json.dumps({"samples": expected, "missing": missing}))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
