# SPDX-License-Identifier: MIT
"""Shared by the tests of USB, which run the gadget and its host in one guest."""
import contextlib
import ctypes
import fcntl
import json
import pathlib
import re
import struct
import subprocess
import sys
import time

from conftest import finish, run, start

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import schemas  # noqa: E402
from waiting import until  # noqa: E402

FFS = "ffs:/run/iio-stream/ffs"
UDC = "dummy_udc.0"
KNOBS = pathlib.Path("/sys/kernel/debug/iios-udc")
GADGETS = pathlib.Path("/sys/kernel/config/usb_gadget")
RUN = pathlib.Path("/run/iio-stream")
UDC_FILE = GADGETS / "iio-stream" / "UDC"
# usbfs: _IOWR('U', 0, struct usbdevfs_ctrltransfer), _IOR('U', 15, unsigned)
CONTROL = 0xc0185500
CLAIM_INTERFACE = 0x8004550f
BULK = 0xc0185502  # _IOWR('U', 2, struct usbdevfs_bulktransfer)


def udc(name, value=None):
    """Reads or writes one of the gadget controller's settings."""
    if value is None:
        return (KNOBS / name).read_text().strip()
    (KNOBS / name).write_text(str(value))


def status():
    answer = json.loads(run("gadget status --json").out)
    schemas.check("gadget", answer)
    return answer


def left_behind():
    """Returns the objects that a removed gadget must not leave behind."""
    mounts = [line for line in pathlib.Path("/proc/mounts").read_text().splitlines()
              if " functionfs " in line]
    notes = [path.name for path in RUN.glob("gadget-*")] if RUN.exists() else []
    return list(GADGETS.iterdir()) + mounts + notes


@contextlib.contextmanager
def gadget(*options, **parameters):
    """Sets up a gadget on a controller with these parameters."""
    subprocess.run(["udc-load", *(f"{key}={value}" for key, value in parameters.items())], check=True)
    run("gadget up", *options)
    try:
        yield
    finally:
        run("gadget down")
        deadline = time.monotonic() + 10  # a work queue frees the requests of FunctionFS
        while left_behind() and time.monotonic() < deadline:
            time.sleep(0.05)
    assert left_behind() == []


def board(*words, source="iio:iios-sim-adc", options=(), **more):
    """Starts the board's program."""
    return start("stream", source, FFS, *words, "--json", *options, **more)


def host(*words, source="usb:", timeout=120, state=0):
    """Runs the host's program until it ends."""
    return run("stream", source, "wait=30s", *words, "--json", timeout=timeout, status=state)


def end(process, timeout=60, state=0):
    result = finish(process, timeout)
    assert result.status == state, f"{result.out}\n{result.err}"
    return result


def host_device():
    """Returns the board's sysfs folder on the host."""
    for path in pathlib.Path("/sys/bus/usb/devices").glob("*/idProduct"):
        if path.read_text().strip() == "0104":
            return path.parent
    return None


def configured():
    """Returns the board's sysfs folder once the board is configured. Before that, there are no interfaces to
    claim."""
    folder = host_device()
    return folder if folder and (folder / "bConfigurationValue").read_text().strip() else None


def endpoints_in():
    """Returns the addresses of the board's IN endpoints, in the order of their descriptors."""
    found, data = [], (host_device() / "descriptors").read_bytes()
    while data:
        if data[1] == 5 and data[2] & 0x80:
            found.append(data[2])
        data = data[data[0]:]
    return found


class Request:
    """Sends raw control requests to the board."""

    def __enter__(self):
        folder = until(configured, "the board's configuration")
        number = [int((folder / name).read_text()) for name in ("busnum", "devnum")]
        self.device = open(f"/dev/bus/usb/{number[0]:03}/{number[1]:03}", "rb+", buffering=0)
        fcntl.ioctl(self.device, CLAIM_INTERFACE, struct.pack("I", 0))
        return self

    def __exit__(self, *_):
        self.device.close()

    def __call__(self, kind, request, value, length):
        """Sends a request, and returns whether the answer was not a STALL."""
        try:
            return self.send(kind, request, value, 0, bytes(length))
        except OSError as error:
            raise AssertionError(f"request {request} of kind {kind:#x}, value {value}: {error}") from error

    def send(self, kind, request, value, index, data, timeout=10000):
        """Sends any request, whose answer can be as long as `data`; `timeout` is in ms. Returns whether the
        answer was not a STALL."""
        answer = ctypes.create_string_buffer(data, max(len(data), 1))
        words = bytearray(struct.pack("BBHHHIP", kind, request, value, index, len(data), timeout,
                                      ctypes.addressof(answer)))
        try:
            got = fcntl.ioctl(self.device, CONTROL, words)
        except BrokenPipeError:
            return False
        self.answer = answer.raw[:got]
        return True

    def read(self, endpoint, length, timeout=10000):
        """Reads one transfer of a bulk endpoint."""
        data = ctypes.create_string_buffer(length)
        transfer = bytearray(struct.pack("IIIP", endpoint, length, timeout, ctypes.addressof(data)))
        got = fcntl.ioctl(self.device, BULK, transfer)
        return data.raw[:got]


def ask_for_stream():
    """Sends START like a host program, but reads nothing."""
    with Request() as request:
        until(lambda: request(0xc1, 2, 0, 12))


def until_streamed_through():
    """Waits until a program on the board has bound the gadget."""
    until(lambda: status()["gadgets"][0]["bound"])


def transfers():
    """Returns the number of transfers that the board has queued."""
    return int(udc("sg_requests"))


def moved():
    """Returns the number of bytes that have passed over the cable in either direction."""
    return int(udc("bytes"))


def listener(*words):
    """Starts a program on the host, and returns it when it has received some blocks and continues."""
    before = transfers()
    process = start("stream usb: wait=30s", *words, "--json")
    until(lambda: transfers() > before + 40 or process.poll() is not None, "a few blocks")
    assert process.poll() is None, process.communicate()
    return process


def held_by(process):
    """Returns the process's number of open files and its resident KiB."""
    folder = pathlib.Path("/proc") / str(process.pid)
    resident = re.search(r"VmRSS:\s+(\d+)", (folder / "status").read_text())
    return len(list((folder / "fd").iterdir())), int(resident.group(1))


def no_silent_loss(result):
    checked = result.json["sinks"][0]["report"]
    assert checked["unreported"] == checked["repeats"] == checked["reorders"] == 0, checked


def set_configuration():
    path = host_device() / "bConfigurationValue"
    path.write_text("0")
    path.write_text("1")


def authorise():
    path = host_device() / "authorized"
    path.write_text("0")
    path.write_text("1")


def rebind():
    UDC_FILE.write_text("\n")
    time.sleep(0.5)
    UDC_FILE.write_text(UDC)


CABLE_EVENTS = [set_configuration, authorise, rebind]
