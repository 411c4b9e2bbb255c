# SPDX-License-Identifier: MIT
"""A program on the board that answers GET_INFO and nothing else."""
import os
import select
import struct
import threading

from usb import FFS, UDC, UDC_FILE, Request
from waiting import until

GET_INFO, START = 1, 2
SETUP = 4  # type of a FunctionFS event
EP0 = FFS.removeprefix("ffs:") + "/ep0"


def descriptors():
    """Returns the same descriptors as the real board program, for each speed."""
    body = b""
    for packet in (64, 512, 1024):
        body += bytes([9, 4, 0, 0, 3, 0xff, 0x49, 1, 1])
        for address in (0x81, 0x02, 0x83):
            body += struct.pack("<BBBBHB", 7, 5, address, 2, packet, 0)
            body += bytes([6, 0x30, 0, 0, 0, 0]) if packet == 1024 else b""
    return struct.pack("<IIIIII", 3, 24 + len(body), 1 | 2 | 4, 4, 4, 7) + body


def strings(name=b"iio-stream samples\0"):
    return struct.pack("<IIIIH", 2, 16 + 2 + len(name), 1, 1, 0x409) + name


def told_info():
    """Returns the real board program's answer to GET_INFO."""
    with Request() as request:
        until(lambda: request(0xc1, GET_INFO, 0, 1024), "GET_INFO")
        return request.answer


class SilentBoard:
    def __init__(self, info):
        self.info, self.asked = info, []

    def __enter__(self):
        self.ep0 = os.open(EP0, os.O_RDWR)
        for text in (descriptors(), strings()):
            os.write(self.ep0, text)
        UDC_FILE.write_text(UDC)
        self.over = os.eventfd(0)
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()
        return self

    def __exit__(self, *_):
        os.eventfd_write(self.over, 1)
        self.thread.join()
        os.close(self.over)
        os.close(self.ep0)

    def serve(self):
        while self.over not in select.select([self.ep0, self.over], [], [])[0]:
            events = os.read(self.ep0, 4 * 12)
            for at in range(0, len(events), 12):
                kind, request, value, _, length, event = struct.unpack_from("<BBHHHB", events, at)
                if event != SETUP:
                    continue
                self.asked.append(request)
                if (kind, request) != (0xc1, GET_INFO):
                    os.eventfd_read(self.over)  # the next read() would answer with STALL
                    return
                os.write(self.ep0, self.info[value:value + length])
