# SPDX-License-Identifier: MIT
"""`iio-stream gadget`: the objects that it creates in ConfigFS, and their removal."""
import contextlib
import pathlib
import subprocess
import sys

import pytest

from conftest import run, sim, start
from usb import FFS, GADGETS, RUN, UDC, board, end, gadget, host, left_behind, status, until_streamed_through
from waiting import until

G = GADGETS / "iio-stream"


def test_up_makes_a_gadget_and_down_removes_it():
    run("gadget up --serial 1234 --id 1d6b:0105")
    try:
        assert (G / "idVendor").read_text().strip() == "0x1d6b"
        assert (G / "idProduct").read_text().strip() == "0x0105"
        assert (G / "strings/0x409/serialnumber").read_text().strip() == "1234"
        assert (G / "configs/c.1/ffs.iio-stream").is_symlink()
        assert (RUN / "ffs/ep0").exists()
        assert status()["gadgets"] == [{"name": "iio-stream", "udc": UDC, "bound": False,
                                        "mount": "/run/iio-stream/ffs", "streamer": None}]
    finally:
        run("gadget down")
    assert left_behind() == []


def test_status_names_the_controller():
    controllers = status()["controllers"]
    assert [c["name"] for c in controllers] == [UDC]
    assert controllers[0]["holder"] is None
    assert UDC in run("gadget status").out


def test_up_and_down_can_be_repeated():
    with gadget():
        assert "already" in run("gadget up").out
    assert "not up" in run("gadget down").out


def test_the_python_functions_behave_like_the_command():
    program = f"""
import iio_stream as ios
from iio_stream import gadget
assert gadget.up(serial="B17") and not gadget.up()
try:
    told = gadget.status()
    assert [g.mount for g in told.gadgets] == ["/run/iio-stream/ffs"] and not told.gadgets[0].bound, told
    assert [c.name for c in told.controllers] == ["{UDC}"], told
    for wrong in ({{"id": "1d6b"}}, {{"udc": "none.0", "name": "other"}}):
        try:
            gadget.up(**wrong)
        except ios.Error as error:
            print(type(error).__name__)
finally:
    assert gadget.down() and not gadget.down()
"""
    done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["UsageError", "DeviceError"], done.stdout + done.stderr
    assert left_behind() == []


def interfaces(name):
    """Returns the numbers of the host's interfaces with that name."""
    return [int((path / "bInterfaceNumber").read_text(), 16) for path in
            pathlib.Path("/sys/bus/usb/devices").glob("*:*/")
            if (path / "interface").exists() and name in (path / "interface").read_text()]


@contextlib.contextmanager
def pluto():
    """Sets up another program's gadget: a serial port with Pluto's identity."""
    other = GADGETS / "other"
    subprocess.run(["sh", "-ec", f"""
        mkdir {other}; cd {other}; echo 0x0456 >idVendor; echo 0xb673 >idProduct
        mkdir configs/c.1 functions/acm.0; ln -s {other}/functions/acm.0 configs/c.1/; echo {UDC} >UDC"""],
                   check=True)
    try:
        yield other
        assert [p.name for p in (other / "functions").iterdir()] == ["acm.0"]
        assert (other / "UDC").read_text().strip() == UDC
    finally:
        subprocess.run(["sh", "-c", f"""
            cd {other}; echo >UDC; rm configs/c.1/acm.0; rmdir functions/acm.0 configs/c.1; cd ..
            rmdir other"""], check=True)
    assert left_behind() == []


def test_the_error_for_a_busy_controller_names_its_holder():
    with pluto() as other:
        result = run("gadget up", status=3)
        assert "gadget other" in result.err and UDC in result.err
        assert not G.exists() and not (RUN / "gadget-iio-stream").exists()
        # The function is added to the other gadget and removed again, which leaves that gadget unchanged.
        run("gadget up --into other")
        assert (other / "configs/c.1/ffs.iio-stream-other").is_symlink()
        run("gadget down --into other")


def test_samples_go_through_a_gadget_with_other_functions():
    """Our interface is the third of that gadget, and the endpoints have other numbers."""
    sim()
    with pluto():
        run("gadget up --into other")
        process = board("--bytes", "4Mi", "--block-size 64Ki")
        until(lambda: interfaces("iio-stream"))
        assert interfaces("iio-stream") == [2], "our interface must come after those of the serial port"
        result = host("verify:ramp", source="usb:0456:b673")
        assert result.json["bytes"] == 4 << 20 and result.json["gaps"]["possible"] == 0
        assert end(process).json["copies"] == 0
        run("gadget down --into other")


@pytest.mark.parametrize("options,said", [
    ("--udc nowhere", "available: " + UDC), ("--into nowhere", "no such gadget")])
def test_the_error_names_a_missing_controller_or_gadget(options, said):
    result = run("gadget up", options, status=3)
    assert said in result.err
    assert left_behind() == []


def test_a_failure_halfway_leaves_nothing_behind():
    RUN.mkdir(exist_ok=True)
    (RUN / "file").write_text("in the way")
    try:
        result = run("gadget up --mount /run/iio-stream/file/ffs", status=3)
        assert "/run/iio-stream/file/ffs" in result.err
        assert left_behind() == []
    finally:
        (RUN / "file").unlink()


@pytest.mark.parametrize("words", ["gadget sideways", "gadget up --id 12", "gadget up --name a/b"])
def test_wrong_arguments_are_usage_errors(words):
    run(words, status=2)


def test_down_ends_the_streamer_first():
    with gadget():
        process = start("stream sim:", FFS)
        until_streamed_through()
        assert status()["gadgets"][0]["streamer"] == f"{process.pid} iio-stream"
        assert "is streaming through it" in run("stream sim:", FFS, status=3).err
    assert process.wait(5) is not None


def test_the_error_for_an_unmounted_folder_suggests_gadget_up():
    assert "gadget up" in run("stream sim: ffs:/nowhere", status=3).err
