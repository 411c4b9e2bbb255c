# SPDX-License-Identifier: MIT
# guest: --icount --disk 2Gi --sim pattern=stamp,check=none
"""The cost of a GiB on the disk from memory other than reserved huge pages, and with Debian's libiio."""
import pathlib
import re
import resource
import subprocess
import time

import pytest
from conftest import ADC, DISK
from test_cost_file import BYTES, GIB, WRITER, cost

# The target for libaio is 130; the measured costs are 131 to 206. io_submit() alone takes 131, of which 74
# are for pinning the pages. The rest are the completions and the unpinning, which interrupt the program.
ON_SMALL_PAGES = {"io_uring": 100, "libaio": 250}
HUGE = pathlib.Path("/proc/sys/vm/nr_hugepages")
TRANSPARENT = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")


def wait_for_huge_pages():
    """Waits for free huge pages. A work queue of the kernel frees the blocks of a finished stream; until then
    the next stream would find none."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        text = pathlib.Path("/proc/meminfo").read_text()
        total, free = (int(re.search(rf"HugePages_{which}: +(\d+)", text)[1]) for which in ("Total", "Free"))
        if free == total > 0:
            return
        time.sleep(0.05)
    pytest.fail("huge pages are not freed")


@pytest.fixture
def none_set_apart():
    before = HUGE.read_text()
    wait_for_huge_pages()
    HUGE.write_text("0")
    yield
    HUGE.write_text(before)


@pytest.fixture
def small_pages(none_set_apart):
    TRANSPARENT.write_text("never")
    yield
    TRANSPARENT.write_text("always")


def beside(name, words, sink, page):
    """Returns the writer's share of the cost of a route to the disk, and the summary."""
    # If no CPU maps the blocks, the program does not request huge pages for them.
    _, null, _ = cost(f"bench iio:{ADC} {words} null:", page=4096)
    file = DISK / "cost.ci16"
    _, own, summary = cost(f"record iio:{ADC} {words} {file} overwrite=on {sink}", page=page)
    file.unlink()
    print(f"\n{name}: {own:.1f} M instructions per GiB, {null:.1f} to null; the writer {own - null:.1f}")
    return own - null, summary


def test_transparent_huge_pages_cost_as_little_as_reserved_ones(none_set_apart):
    writer, summary = beside("transparent huge pages", "memory=udmabuf", "engine=io_uring", 2 << 20)
    assert summary["copies"] == 0 and writer <= WRITER["io_uring"]


@pytest.mark.parametrize("engine", ["io_uring", "libaio"])
def test_the_cost_of_pinning_small_pages_is_limited(engine, small_pages):
    writer, summary = beside(f"{engine} on 4 KiB pages", "memory=udmabuf", f"engine={engine}", 4096)
    assert summary["copies"] == 0 and writer <= ON_SMALL_PAGES[engine]


def test_contiguous_memory_costs_one_copy():
    _, summary = beside("one copy", "memory=heap:system", "", 4096)
    assert summary["copies"] == 1 and summary["route"][-1]["mechanism"] == "io_uring-direct"


@pytest.mark.parametrize("way", ["iio_readdev -b 131072 -s {samples} {adc} >{file}",
                                 "iio_readdev -b 131072 -s {samples} {adc} | cat >{file}"])
def test_the_cost_with_libiio_is_printed_for_comparison(way):
    """Debian's libiio records the same blocks by fileio, and writes them through the page cache."""
    file = DISK / "cost.bin"
    command = way.format(samples=BYTES // 8, adc=ADC, file=file)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["sh", "-c", command], check=True, timeout=300)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert file.stat().st_size == BYTES
    file.unlink()
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"\n{command}: {own * 1e3 * GIB / BYTES:.1f} M instructions per GiB")
    assert own > 0
