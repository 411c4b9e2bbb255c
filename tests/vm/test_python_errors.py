# SPDX-License-Identifier: MIT
"""Each failure of a device raises an exception in Python, with the right class and errno, and with the same
text as the command. tests/python/test_catalogue.py tests failures without a device."""
import errno
import subprocess
import sys

import catalogue
import pytest
from conftest import ADC, DAC, finish, iio_dir, knob, run, sim, small_udmabufs, start

import iio_stream as ios
from waiting import until

RATE = 200_000  # slow enough for an emulator on a busy machine
SMALL = "--block-size 16Ki --blocks 16"
PHY = "iios-sim-phy"
GAIN = f"{PHY}/in_voltage0/hardwaregain"

STREAMS = [
    (3, "ENODEV", "iio:iios-sim-acd null: --samples 9"),
    (3, "ENODEV", f"iio:{PHY} null: --samples 9"),
    (3, "ENODEV", f"iio:{ADC} buffer=3 null: --samples 9"),
    (2, "EINVAL", f"iio:{DAC} null: --samples 9"),
    (2, "EINVAL", f"sim: channels=4 iio:{ADC} --samples 9"),
    (2, "EINVAL", f"sim: channels=2 iio:{DAC} --samples 9"),
    (2, "EINVAL", f"iio:{ADC} memroy=udmabuf null: --samples 9"),
    (2, "EINVAL", f"iio:{ADC} path=dmabf null: --samples 9"),
    (2, "EINVAL", f"iio:{ADC} channels=voltage0_i,voltage0_p null: --samples 9"),
    (2, "EINVAL", f"iio:{ADC} memory=heap:sytem null: --samples 9"),
    (2, "EINVAL", f"iio:{ADC} attr.sampling_frequncy=1 null: --samples 9"),
    (2, "EINVAL", f"iio:{ADC} counter=channel:cuont0 null: --samples 9"),
    (2, "EINVAL", f"iio:{ADC} null: --block-size 1000001 --samples 9"),
    (2, "EINVAL", f"iio:{ADC} memory=udmabuf null: --block-size 65Mi --blocks 2 --samples 9"),
    (5, "ENOENT", f"iio:{ADC} no/such/folder/a.bin --samples 9"),
    (5, "ENOSPC", f"iio:{ADC} /dev/full --samples 100000"),
]
CALLS = [
    (3, "ENODEV", "info iios-sim-acd", lambda: ios.device("iios-sim-acd")),
    (3, "ENODEV", "attr get iios-sim-acd/name", lambda: ios.attr["iios-sim-acd/name"]),
    (2, "EINVAL", f"attr get {GAIN.replace('gain', 'gian')}", lambda: ios.attr[GAIN.replace("gain", "gian")]),
    (3, "EINVAL", f"attr set {GAIN} 99", lambda: ios.attr.set(GAIN, 99)),
]


@pytest.fixture(autouse=True, scope="module")
def loaded():
    sim(rate=RATE)
    with small_udmabufs():
        yield


def agree(status, name, words, call=None):
    """Runs the command and then its Python equivalent, which must fail with the same error, and compares the
    two errors."""
    told = finish(start(f"stream {words} --json" if call is None else words))
    assert told.status == status, told.err
    error = catalogue.raised(call or (lambda: catalogue.stream(words)))
    catalogue.agree(error, name, status, told.out if call is None else "", told.err)
    return error


@pytest.mark.parametrize("status,name,words", STREAMS, ids=[row[2] for row in STREAMS])
def test_the_error_of_a_stream_equals_the_commands_error(status, name, words):
    agree(status, name, words)


@pytest.mark.parametrize("status,name,words,call", CALLS, ids=[row[2] for row in CALLS])
def test_the_error_of_a_function_equals_the_commands_error(status, name, words, call):
    agree(status, name, words, call)


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_dma_that_never_completes_is_a_timeout(path):
    knob("dead_at", 20_000)
    try:
        error = agree(3, "ETIMEDOUT", f"iio:{ADC} path={path} verify:ramp {SMALL} --timeout 500ms")
    finally:
        knob("dead_at", "off")
    assert isinstance(error, TimeoutError) and "timeout" in error.hint


def test_dma_that_refuses_everything_raises_a_device_error():
    sim(rate=RATE, refuse_at=0, refuse_count=1_000_000)
    try:
        agree(3, "ENOMEM", f"iio:{ADC} path=dmabuf verify:ramp {SMALL} --samples 50000")
    finally:
        sim(rate=RATE)


def test_more_blocks_than_the_memory_holds_are_refused():
    # The message names the free memory.
    with pytest.raises(ios.DeviceError, match="64 blocks of 1Gi") as caught:
        ios.source(f"iio:{ADC}", block_size="1Gi", blocks=64)
    assert caught.value.errno == errno.EOPNOTSUPP


def test_the_error_for_a_device_in_use_names_its_process():
    holder = start(f"stream iio:{ADC} null: {SMALL} --duration 60s --json")
    try:
        until(lambda: int(knob("delivered")) > RATE // 10, "the first samples")
        error = agree(3, "EBUSY", f"iio:{ADC} null: --samples 1000")
        assert f"process {holder.pid} iio-stream" in str(error)
    finally:
        holder.terminate()
        assert finish(holder, 10).status == 0


@pytest.mark.parametrize("how,name,words", [("unplug", "ENODEV", "gone"),
                                            ("disable", "ECANCELED", "another process disabled the buffer")])
@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_a_device_that_disappears_ends_the_iteration_after_its_last_block(path, how, name, words):
    with ios.source(f"iio:{ADC}", path=path, block_size="16Ki", blocks=16, timeout="2s") as rx:
        blocks = 0
        with pytest.raises(ios.DeviceError, match=words) as caught:
            for block in rx:
                blocks += 1
                del block
                if blocks == 5 and how == "unplug":
                    knob("unplug", 1)
                elif blocks == 5:
                    (iio_dir(ADC) / "buffer0/enable").write_text("0")
        assert blocks >= 5 and caught.value.errno == getattr(errno, name)
        with pytest.raises(ios.DeviceError, match=words):
            next(rx)
    if how == "unplug":
        knob("replug", 1)
        until(lambda: iio_dir(ADC), "the device is back")
    run(f"stream iio:{ADC} path={path} null: --samples 20000")


def test_a_device_that_cannot_be_opened_raises_a_permission_error():
    program = f"import iio_stream as ios\ntry: ios.source('iio:{ADC}')\n" \
              "except PermissionError as error: print(isinstance(error, ios.DeviceError), error.filename)"
    done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-B",
                           "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.startswith("True /"), done.stdout + done.stderr
