# SPDX-License-Identifier: MIT
# guest: --memory 5120 --disk 1Gi
"""udmabuf on a machine with memory that the DMA cannot address, when all of that memory is in use.

    script/vm --memory 5120 --disk 1Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_low_memory.py
"""
import mmap
import pathlib

import pytest
from conftest import ADC, run, sim

HUGE = 2 << 20
MAP_HUGETLB = 0x40000
POOL = pathlib.Path("/proc/sys/vm/nr_hugepages")
FILLED = [pathlib.Path(f"/dev/shm/fill{number}") for number in range(8)]
STREAM = ("iio-stream", "stream", f"iio:{ADC}", "memory=udmabuf", "verify:ramp", "--samples", "400000",
          "--block-size", "64Ki", "--json")


@pytest.fixture(autouse=True, scope="module")
def all_high_memory_is_taken():
    """The kernel allocates high pages first. The fixture reserves them as huge pages, so that no program gets
    them."""
    before = POOL.read_text()
    POOL.write_text("1400")
    held = mmap.mmap(-1, int(POOL.read_text()) * HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB)
    for path in FILLED:  # and the remaining small pieces
        path.write_bytes(bytes(16 * HUGE))
    yield
    held.close()
    for path in FILLED:
        path.unlink()
    POOL.write_text(before)


def test_pages_that_are_known_to_be_in_low_memory_are_used():
    sim(sg=0)
    result = run(*STREAM[1:])
    hop = result.json["route"][0]
    assert (hop["mechanism"], hop["memory"]) == ("dmabuf", "udmabuf") and "/proc/self/pagemap" in hop["reason"]
    assert result.json["sinks"][0]["report"]["mismatches"] == 0


def test_udmabuf_is_refused_without_the_privilege_to_read_physical_addresses():
    sim(sg=0)
    result = run("--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin", *STREAM, command="setpriv", status=3)
    assert "may be unable to address" in result.json["error"]["message"]
