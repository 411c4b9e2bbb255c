# SPDX-License-Identifier: MIT
"""Typing mistakes are refused with status 2 and the nearest valid word.

    script/vm -- /usr/bin/python3 -m pytest -q tests/vm/test_usage.py

Linux 6.12, 2048 MB.
"""
import array
import fcntl
import os
import subprocess
import threading

import pytest
from conftest import ADC, DAC, iio_dir, knob, sim, small_udmabufs, stream
from errors import failing, usage


@pytest.fixture(autouse=True, scope="module")
def loaded():
    sim()
    with small_udmabufs():
        yield


@pytest.mark.parametrize("words,mistake,nearest", [
    ("stream iioo:x null:", "iioo:", "iio"),
    (f"stream iio:{ADC} nul:", "nul:", "null"),
    (f"stream iio:{ADC} null: --sampels 9", "--sampels", "--samples"),
    (f"stream iio:{ADC} memroy=udmabuf null: --samples 9", "memroy", "memory"),
    (f"stream iio:{ADC} chanels=voltage0_i null: --samples 9", "chanels", "channels"),
    (f"stream iio:{ADC} path=dmabf null: --samples 9", "dmabf", "dmabuf"),
    (f"stream iio:{ADC} channels=voltage0_i,voltage0_p null: --samples 9", "voltage0_p", "voltage0_"),
    (f"stream iio:{ADC} memory=heap:sytem null: --samples 9", "sytem", "system"),
    (f"stream iio:{ADC} memory=udambuf null: --samples 9", "udambuf", "udmabuf"),
    (f"stream iio:{ADC} attr.sampling_frequncy=1 null: --samples 9", "sampling_frequncy",
     "sampling_frequency"),
    (f"stream iio:{ADC} counter=channel:cuont0 null: --samples 9", "cuont0", ""),
    (f"stream iio:{ADC} null: on-full=blok --samples 9", "blok", "block"),
    (f"stream iio:{ADC} verify:rmap --samples 9", "rmap", "ramp"),
    (f"stream iio:{ADC} null: --bytes 4X", "4X", "Mi"),
    (f"stream iio:{ADC} null: --duration 5sek", "5sek", "s"),
    (f"stream iio:{ADC} null: --on-gap stopp --samples 9", "stopp", "stop"),
    (f"strem iio:{ADC} null:", "strem", "stream"),
    (f"attr get {ADC}/sampling_frequncy", "sampling_frequncy", "sampling_frequency"),
    (f"attr get {ADC}/voltage0_k/raw", "voltage0_k", "voltage0_"),
    ("attr gte iios-sim-phy/x", "gte", "get"),
])
def test_the_error_for_a_typing_mistake_names_the_nearest_word(words, mistake, nearest):
    usage(words, words=[mistake, nearest])


def test_inspecting_a_device_does_not_disturb_a_stream():
    with subprocess.Popen(["sh", "-c", f"while :; do iio-stream info {ADC} >/dev/null; done"]) as looking:
        try:
            for _ in range(20):
                stream(f"iio:{ADC} verify:ramp --samples 1000")
        finally:
            looking.kill()


def test_a_stream_waits_for_a_buffer_that_is_briefly_in_use():
    """The buffer is in use by a program that has already closed the device."""
    device = os.open(f"/dev/{iio_dir(ADC).name}", os.O_RDWR)
    number = array.array("i", [0])
    fcntl.ioctl(device, 0xC0046991, number)  # IIO_BUFFER_GET_FD_IOCTL of linux/iio/buffer.h
    os.close(device)
    release = threading.Timer(0.2, os.close, number)
    release.start()
    stream(f"iio:{ADC} verify:ramp --samples 1000")
    release.join()


def test_the_error_for_a_misaligned_block_names_the_nearest_sizes():
    error = failing(f"iio:{ADC} null: --block-size 1000001 --samples 9", status=2, name="EINVAL",
                    words=["1000001", "multiple of 8"]).json["error"]
    assert "1000000" in error["hint"] and "1000008" in error["hint"]


def test_the_error_for_4M_suggests_an_aligned_size():
    sim(align=16)
    try:
        # With 3 channels of 2 bytes and a bus of 16 bytes, sizes must be multiples of 48.
        error = failing(f"iio:{ADC} channels=voltage0_i,voltage0_q,voltage1_i null: --block-size 4M --samples 9",
                        status=2, name="EINVAL", words=["4000000", "multiple of 48"]).json["error"]
        assert "3999984" in error["hint"]
    finally:
        sim()


def test_the_alignment_of_a_wide_bus_is_required():
    sim(align=16)
    try:
        failing(f"iio:{ADC} channels=voltage0_i null: --block-size 65544 --samples 9", status=2,
                name="EINVAL", words=["65544", "16"])
        stream(f"iio:{ADC} channels=voltage0_i verify:ramp --block-size 65552 --samples 100000")
        failing(f"sim: channels=4 iio:{DAC} --block-size 65544 --samples 9", status=2, name="EINVAL",
                words=["65544", "16", DAC])
    finally:
        sim()


def test_blocks_beyond_udmabufs_limit_are_refused_if_udmabuf_is_requested():
    error = failing(f"iio:{ADC} memory=udmabuf null: --block-size 65Mi --blocks 2 --samples 9", status=2,
                    name="EINVAL", words=["udmabuf", "65Mi", "64Mi", "size_limit_mb"]).json["error"]
    assert error["hint"]


def test_blocks_beyond_udmabufs_limit_use_other_memory_by_default():
    result = stream(f"iio:{ADC} verify:ramp --block-size 65Mi --blocks 2 --bytes 65Mi", timeout=60)
    assert result.json["route"][0]["memory"] == "heap:system"


def test_blocks_beyond_the_memory_are_refused_before_the_oom_killer_acts():
    failing(f"iio:{ADC} null: --block-size 1Gi --blocks 64 --samples 9", status=3, name="EOPNOTSUPP",
            words=["64 blocks of 1Gi", "memory is available"])


def test_a_refused_command_does_not_touch_the_device():
    knob("reset", 1)
    usage(f"stream iio:{ADC} null: frobnicate=1 --samples 9", words=["frobnicate"])
    assert knob("bytes") == "0"
