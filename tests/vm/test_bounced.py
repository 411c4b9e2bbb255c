# SPDX-License-Identifier: MIT
# guest: --memory 5120 --disk 1Gi
# guest: --kernel-args swiotlb=force --disk 1Gi
"""Memory that the DMA cannot address: the kernel copies its data, at moments that a stream cannot observe.

    script/vm --memory 5120 --disk 1Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_bounced.py

dma-axi-dmac has 32-bit addresses. For memory above 4 GiB, or if configured to, the kernel gives the DMA other
pages (swiotlb), and the blocks keep their previous content. Every sample must be right, or there must be an
error.
"""
import array
import pathlib

import pytest
from conftest import ADC, DAC, DISK, run, sim, stream
from libiio_programs import ramp_of
from playing import RAMP, RAW, count, play, ramp_file
from serving import Serving, readdev, said
from usb import board, end, gadget, host, schemas
from usb_transmit import send, taker

SAMPLES = 400_000
BYTES = 8 * SAMPLES


def is_ramp(path):
    words = array.array("Q", path.read_bytes())
    return words == array.array("Q", range(SAMPLES))


def is_told(hop):
    return "swiotlb" in (hop["reason"] or "")


@pytest.mark.parametrize("sg", [0, 1])
def test_a_recording_contains_what_the_device_produced(sg):
    sim(sg=sg)
    file = DISK / "bounced.bin"
    for words in ("", "path=auto memory=auto"):
        result = run(f"record iio:{ADC} {words} {file} overwrite=on --samples {SAMPLES} --json")
        assert is_ramp(file)
        assert is_told(result.json["route"][0]) and result.json["route"][0]["memory"] != "udmabuf"
    result = stream(f"iio:{ADC} verify:ramp --samples {SAMPLES} --block-size 64Ki --blocks 8")
    assert result.json["sinks"][0]["report"]["mismatches"] == 0
    hop = result.json["route"][0]  # a heap whose pages happen to be low is used without a remark
    assert is_told(hop) or (hop["mechanism"] == "dmabuf" and hop["memory"].startswith("heap:"))


@pytest.mark.parametrize("memory", ["heap:system", "udmabuf"])
def test_requested_memory_that_is_bounced_is_an_error(memory):
    sim(sg=0)
    for sink in ("verify:ramp", "null:"):
        result = run(f"stream iio:{ADC} memory={memory} {sink} --samples {SAMPLES} --json --block-size 64Ki", status=3)
        assert result.json["samples"] == 0
        assert memory in result.json["error"]["message"]
        assert "swiotlb" in result.out or "cannot map" in result.out


def was_played():
    """Returns whether all samples were played. With write(), the kernel's last block is padded with zeros."""
    played = count("delivered")
    return played >= SAMPLES and count("mismatches") == played - SAMPLES


def test_the_device_plays_what_the_file_contains():
    sim(sg=0)
    ramp_file(RAMP, bytes=BYTES)
    for words in ("", "memory=udmabuf", "memory=heap:system"):
        result = play(f"{RAMP} {RAW} {words} iio:{DAC} --block-size 64Ki")
        assert was_played(), words
        assert words or is_told(result.json["route"][1])
    failing = run(f"play {RAMP} {RAW} iio:{DAC} path=dmabuf --json --block-size 64Ki", status=3)
    assert "swiotlb" in failing.json["error"]["message"]


def test_samples_arrive_unchanged_from_device_to_device():
    sim(sg=0)
    stream(f"iio:{ADC} iio:{DAC} --samples {SAMPLES} --block-size 64Ki")
    assert was_played()
    with gadget():
        process = board(f"--bytes {BYTES}")
        result = host("verify:ramp")
        on_board = end(process)
        assert result.json["bytes"] == BYTES and result.json["sinks"][0]["report"]["mismatches"] == 0
        assert is_told(on_board.json["route"][0])
    with gadget():
        process = taker(options="--timeout 30s")  # an emulated device is slow on a busy host
        send(f"--bytes {BYTES}")
        end(process)
        assert was_played()


@pytest.mark.parametrize("sg", [0, 1])
def test_the_probe_reports_for_each_memory_whether_the_data_arrived(sg):
    sim(sg=sg)
    result = run(f"doctor --probe iio:{ADC} --json", timeout=120).json
    schemas.check("doctor", result)
    forced = "swiotlb=force" in pathlib.Path("/proc/cmdline").read_text()
    for row in result["probe"]["memories"]:
        arrived, error = row["data_arrived"], row["error"] or ""
        if forced:
            assert arrived is not True
        # The pages of this memory happen to be low. A heap's pages can be checked, but not every user can
        # check a udmabuf's pages.
        if arrived:
            assert not error or "may be unable to address" in error
        else:
            assert "swiotlb" in error or "cannot map" in error or "refuse" in error, error
    if forced:
        assert result["probe"]["recommended"] == "pages" and result["probe"]["reason"]
        recorded = stream(f"iio:{ADC} verify:ramp --samples {SAMPLES} --block-size 64Ki")
        assert recorded.json["route"][0]["mechanism"] == "fileio"
        assert recorded.json["sinks"][0]["report"]["mismatches"] == 0


def test_the_probe_does_not_trust_a_fence_alone():
    """With pattern=none, the device reports completion and writes nothing."""
    sim(pattern="none")
    rows = run(f"doctor --probe iio:{ADC} --json", timeout=120).json["probe"]["memories"]
    assert [row["data_arrived"] for row in rows if row["blocks"]] == []
    assert not any(row["data_arrived"] for row in rows)


@pytest.mark.parametrize("sg", [0, 1])
def test_a_client_of_serve_receives_what_the_device_produced(sg):
    sim(sg=sg, rate=1_000_000)
    with Serving("--listen", "localhost") as server:
        data = said(readdev(SAMPLES, buffer=65536))
        stats = server.end()
    assert len(ramp_of(data)) == SAMPLES
    # The DMA cannot address the memory that network cards could send in place.
    hop = stats["devices"][0]["route"][0]
    assert is_told(hop) or (hop["mechanism"], hop["copies"]) == ("dmabuf", 0), hop
