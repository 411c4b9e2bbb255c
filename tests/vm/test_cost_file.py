# SPDX-License-Identifier: MIT
# guest: --icount --disk 2Gi --sim pattern=stamp,check=none
"""What a GiB on the disk costs: the program's own instructions, user and kernel, counted by the
guest's clock. All that passes is shown beside it; it holds the time that the disk takes, too.

The bars (million instructions per GiB): the writer alone 12 by io_uring on huge pages and 130 by
libaio; the whole way the writer and 1.1 times the way to null: with the same memory. 9.8 to 11.9
were measured of the writer by io_uring; the limit leaves a margin.
"""
import json

import pytest
from conftest import ADC, DAC, DISK, run

BYTES = 512 << 20
GIB = 1 << 30
BLOCKS = "--block-size 4Mi --blocks 8"
# Of the reader as well: it does the same the other way.
WRITER = {"io_uring": 15, "libaio": 130}


def cost(*words, page=2 << 20):
    """Millions per GiB: guest nanoseconds, the program's own instructions; and the summary."""
    file = DISK / "summary"
    # On a slow host the guest's clock runs on while it waits for its disk.
    run(*words, f"{BLOCKS} --bytes {BYTES} --quiet --json={file} --timeout 10min", timeout=1200)
    summary = json.loads(file.read_text())
    assert summary["error"] is None and summary["bytes"] == BYTES
    assert summary["route"][0]["page_bytes"] == page
    cpu = summary["cpu"]["user_seconds"] + summary["cpu"]["system_seconds"]
    return summary["seconds"] * 1e3 * GIB / BYTES, cpu * 1e3 * GIB / BYTES, summary


@pytest.fixture(scope="module")
def to_null():
    total, own, _ = cost(f"bench iio:{ADC} memory=udmabuf null:")
    print(f"\nto null: {own:.1f} M instructions per GiB, {total:.1f} M ns")
    return own


@pytest.mark.parametrize("engine", ["io_uring", "libaio", "buffered"])
def test_the_disk_reads_the_blocks_and_the_cpu_does_not(engine, to_null):
    file = DISK / "cost.ci16"
    total, own, summary = cost(f"record iio:{ADC} memory=udmabuf {file} overwrite=on engine={engine}")
    file.unlink()
    print(f"\n{engine}: {own:.1f} M instructions per GiB, {total:.1f} M ns; the writer "
          f"{own - to_null:.1f}")
    if engine == "buffered":  # here for comparison
        assert summary["copies"] == 1
        return
    assert summary["copies"] == 0
    assert own <= WRITER[engine] + 1.1 * to_null
    assert own - to_null <= WRITER[engine]


@pytest.fixture(scope="module")
def recorded():
    file = DISK / "play.bin"
    cost(f"record iio:{ADC} memory=udmabuf {file} engine=io_uring")
    yield file
    file.unlink()


@pytest.mark.parametrize("engine", ["io_uring", "libaio", "buffered"])
def test_the_disk_fills_the_blocks_and_the_cpu_does_not(engine, to_null, recorded):
    source = f"file:{recorded} format=ci16_le channel_names=4 memory=udmabuf engine={engine}"
    _, reader, _ = cost(f"stream {source} null:")
    total, own, summary = cost(f"play {source} iio:{DAC}")
    print(f"\n{engine}: the reader {reader:.1f} M instructions per GiB, to the DAC {own:.1f}, {total:.1f} M ns")
    if engine == "buffered":  # here for comparison
        assert summary["copies"] == 1
        return
    assert summary["copies"] == 0
    assert reader <= WRITER[engine]
    assert own <= WRITER[engine] + 1.1 * to_null
