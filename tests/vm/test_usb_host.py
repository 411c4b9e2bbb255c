# SPDX-License-Identifier: MIT
"""Tests the selection of a board, the limits on transfers in flight, and the permission to open a board."""
import contextlib
import fcntl
import json
import pathlib
import subprocess

import pytest
from conftest import run, sim, start
from errors import as_nobody
from usb import board, configured, end, gadget, host, host_device, listener, moved, no_silent_loss, udc
from waiting import until

LIMIT = pathlib.Path("/sys/module/usbcore/parameters/usbfs_memory_mb")
RESET = 0x5514  # usbfs: _IO('U', 20)


def node():
    folder = host_device()
    return "/dev/bus/usb/{:03}/{:03}".format(*(int((folder / name).read_text()) for name in ("busnum", "devnum")))


def test_a_serial_number_selects_the_board():
    sim()
    with gadget("--serial", "B17"):
        process = board("--block-size 64Ki")
        result = host("null: --bytes 1Mi", source="usb: serial=B17")
        assert result.json["bytes"] == 1 << 20
        wrong = run("stream usb: serial=B18 wait=1s null: --bytes 1Mi", status=3)
        assert "B18" in wrong.err, wrong.err
        process.terminate()
        end(process)


@contextlib.contextmanager
def usbfs_memory(mebibytes):
    before = LIMIT.read_text()
    LIMIT.write_text(str(mebibytes))
    try:
        yield
    finally:
        LIMIT.write_text(before)


def test_transfers_in_flight_respect_the_usbfs_limit():
    sim()
    with gadget(), usbfs_memory(1):
        process = board("--block-size 256Ki")
        result = host("verify:ramp --bytes 16Mi")
        assert result.json["bytes"] == 16 << 20
        no_silent_loss(result)
        process.terminate()
        end(process)


def test_without_permission_the_error_names_the_udev_rule():
    sim()
    with gadget():
        process = board()
        until(host_device)
        subprocess.run(["chmod", "0600", node()], check=True)
        refused = as_nobody("stream usb: wait=1s null: --bytes 1Mi")
        process.terminate()
        end(process)
    assert refused.status == 3 and "LIBUSB_ERROR_ACCESS" in refused.err and "70-iio-stream.rules" in refused.err, refused.err


def reset():
    with open(node(), "rb+", buffering=0) as device:
        fcntl.ioctl(device, RESET)


def number():
    """Returns the board's device number on its bus, or None until the board can be used. The number changes
    each time the cable is plugged in."""
    try:
        return int((configured() / "devnum").read_text())
    except (TypeError, OSError):
        return None


def unplug():
    before = number()
    udc("disconnect", 500)
    until(lambda: number() not in (None, before), "the cable is plugged in again")


@pytest.mark.parametrize("happens", [reset, unplug])
def test_a_stream_survives_a_reset_and_an_unplugged_cable(happens, tmp_path):
    sim()
    with gadget():
        process = board("--block-size 256Ki")
        reader = listener(f"verify:ramp --reconnect 30s --events {tmp_path}/events")
        happens()
        before = moved()  # more than the 16 MiB that the host's kernel buffers while its program waits
        until(lambda: moved() > before + (24 << 20), "more blocks")
        reader.terminate()
        no_silent_loss(end(reader))
        told = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
        gone = [(event["event"], event["sink"]) for event in told if event["event"] in ("gone", "back")]
        # A reset can end before the program detects it. The kernel also enumerates a device again if it does
        # not answer in time.
        times = len(gone) // 2
        assert gone == [("gone", None), ("back", None)] * times and times >= (happens is unplug)
        process.terminate()
        end(process)


def test_the_usb_demo_runs():
    done = start(command="script/usb-demo")
    out, err = done.communicate(timeout=200)
    assert done.returncode == 0, out + err
    assert "0 of them wrong" in out, out
