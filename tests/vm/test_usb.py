# SPDX-License-Identifier: MIT
# guest: ordinary
# guest: --kernel 7.3 --disk 2Gi
"""Samples go from the ADC over USB to the host, with the kernel's own gadget and host stacks in between."""
import re

import pytest

from counts import USB_BYTES
from conftest import DISK, run, sim, start
from usb import FFS, board, end, gadget, host, schemas, udc, until_streamed_through


def hop(result, number=1):
    return result.json["route"][number]


def check_host(result, nbytes):
    verified = result.json["sinks"][0]["report"]
    assert result.json["bytes"] == nbytes
    assert verified["gaps"] == 0 and verified["repeats"] == 0, verified
    assert result.json["gaps"]["certain"] == 0 and result.json["gaps"]["possible"] == 0


MI = 1 << 20


def test_every_sample_arrives_and_the_board_copies_none():
    sim()
    with gadget():
        process = board("--bytes", str(USB_BYTES))
        result = host("verify:ramp", timeout=900)
        on_board = end(process)
    check_host(result, USB_BYTES)
    schemas.check("summary", result.json)
    schemas.check("summary", on_board.json)
    assert result.json["ended"] == "eof"
    assert on_board.json["copies"] == 0
    assert [h["mechanism"] for h in on_board.json["route"]] == ["dmabuf", "ffs-dmabuf"]
    assert on_board.json["sinks"][0]["delivered_samples"] == USB_BYTES // on_board.json["sample_bytes"]
    assert on_board.json["sinks"][0]["report"] == {
        "unheard_samples": 0, "resent_blocks": 0, "failed_blocks": 0}
    assert hop(result, 0)["mechanism"] == "usb-bulk"


def test_the_board_makes_no_system_call_that_touches_samples(tmp_path):
    sim()
    trace = tmp_path / "trace"
    with gadget():
        traced = start("-f", "-o", trace, "-e",
                       "trace=ioctl,mmap,read,write,pread64,pwrite64,io_submit,openat", "iio-stream",
                       "stream", "iio:iios-sim-adc", FFS, "--bytes", "8Mi", "--block-size", "1Mi",
                       "--json", command="strace")
        result = host("verify:ramp")
        end(traced)
    check_host(result, 8 * MI)
    lines = trace.read_text().splitlines()
    transfers = [line for line in lines if re.search(r"ioctl\(.*0x67, 0x85|FUNCTIONFS_DMABUF_TRANSFER",
                                                     line)]
    assert len(transfers) == 8, "\n".join(line for line in lines if "ioctl" in line)
    assert not [line for line in lines if "DMA_BUF_IOCTL_SYNC" in line or "_IOC_WRITE, 0x62, 0" in line]
    moved = [int(m[1]) for line in lines if (m := re.search(r"(?:read|write)(?:64)?\(.*= (\d+)$", line))]
    assert not [n for n in moved if n >= 64 << 10], "a read or write of the size of samples"
    # The headers are written first, and then the message about the end.
    sizes = [int(size) for line in lines for size in re.findall(r"aio_nbytes=(\d+)", line)]
    assert sizes[-1] == sizes[0] == 100 and len([size for size in sizes if size != 100]) == 1 and max(sizes) < 512
    blocks = [line for line in lines if "mmap(" in line and "MAP_SHARED" in line and "1048576" in line]
    assert blocks == []


def test_every_sample_arrives_at_high_speed():
    sim()
    with gadget(speed="high"):
        process = board("--bytes 8Mi")
        result = host("verify:ramp")
        assert end(process).json["copies"] == 0
    check_host(result, 8 * MI)


def test_write_is_used_if_the_controller_refuses_dmabufs():
    sim()
    with gadget(sg=0):
        process = board("--bytes 16Mi")
        result = host("verify:ramp")
        on_board = end(process)
    check_host(result, 16 * MI)
    route = on_board.json["route"]
    assert route[1]["mechanism"] == "ffs-write" and route[1]["copies"] == 1
    assert "no scatter-gather" in route[1]["reason"]


def test_path_write_can_be_requested_although_dmabufs_work():
    sim()
    with gadget():
        process = board("path=write --bytes 4Mi")
        check_host(host("verify:ramp"), 4 * MI)
        assert end(process).json["route"][1]["reason"] == "path=write was given"


@pytest.mark.parametrize("nbytes,block", [(3000000, "1Mi"), (1000000, "100000")],
                         ids=["last_block_not_full", "block_not_a_multiple_of_packets"])
def test_a_block_is_only_padded_on_the_wire(nbytes, block):
    sim()
    with gadget():
        process = board(f"--bytes {nbytes} --block-size {block}")
        check_host(host("verify:ramp"), nbytes)
        end(process)


@pytest.mark.parametrize("size", ["1Ki", "64Ki", "768Ki", "16Mi"])
def test_a_block_can_arrive_in_several_transfers(size):
    sim()
    with gadget():
        process = board("--bytes 4Mi --block-size 1Mi")
        check_host(host(f"transfer_size={size} transfers=2 verify:ramp"), 4 * MI)
        end(process)


def test_a_host_can_read_fewer_samples_than_the_board_sends():
    sim()
    with gadget():
        process = board()
        check_host(host("verify:ramp --bytes 4Mi"), 4 * MI)
        process.terminate()
        on_board = end(process).json
    assert on_board["ended"] == "signal"
    assert on_board["sinks"][0]["report"]["unheard_samples"] > 0


def test_the_first_block_of_a_board_can_be_late():
    with gadget():
        process = board("--bytes 4Mi --timeout 20s", source="sim: rate=0 stall_at=1 stall_for=3s")
        check_host(host("verify:ramp"), 4 * MI)
        end(process)


def test_a_second_program_on_the_host_is_refused():
    sim(rate=1000000)
    with gadget():
        process = board()
        first = start("stream usb: wait=30s verify:ramp --json")
        while not int(udc("sg_requests")):
            assert first.poll() is None
        refused = host("null:", state=3)
        assert "another program is streaming from it" in refused.err
        first.terminate()
        assert end(first).json["sinks"][0]["report"]["unreported"] == 0
        process.terminate()
        end(process)


def test_a_board_can_also_record_the_stream_to_a_file():
    sim()
    path = DISK / "teed.ci16"
    with gadget():
        process = board(path, "overwrite=on --bytes 32Mi")
        check_host(host("verify:ramp"), 32 * MI)
        on_board = end(process, 120)
    assert on_board.json["copies"] == 0
    run("verify", path, "--pattern ramp")
    path.unlink()


def test_a_missing_board_is_an_error():
    result = run("stream usb: null:", status=3)
    assert "no streaming board was found" in result.err


def test_a_signal_ends_the_wait_for_a_host():
    with gadget():
        process = start("stream sim:", FFS, "--json")
        until_streamed_through()
        process.terminate()
        result = end(process)
    assert result.json["ended"] == "signal" and result.json["samples"] == 0


def test_a_missing_host_is_an_error():
    with gadget():
        result = run("stream sim:", FFS, "wait=2s", status=3)
    assert "no program on the host has requested" in result.err or "no host" in result.err


@pytest.mark.parametrize("words", ["stream usb:12 null:", "stream sim: ffs:here", "stream usb: transfer_size=1000 null:",
                                   "stream sim: ffs:/x path=fast"])
def test_wrong_arguments_are_usage_errors(words):
    run(words, status=2)
