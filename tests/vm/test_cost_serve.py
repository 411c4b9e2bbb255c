# SPDX-License-Identifier: MIT
# guest: --icount --sim pattern=stamp,check=none
"""Compares the cost of a GiB for `iio-stream serve` with that for Debian's iiod. The same client on the same machine
reads an ADC that is faster than the client. The guest's clock counts the server's own instructions, in user space and
in the kernel. The cost of a short run is subtracted from that of a long one, so the start is not included.

    script/vm --icount --sim pattern=stamp,check=none -- /usr/bin/python3 -B -m pytest -q -s tests/vm/test_cost_serve.py
"""
import resource
import subprocess
import time

import pytest
from conftest import ADC
from libiio_programs import SAMPLE
from serving import PORT, URI, Serving, answers, need_clients, readdev
from waiting import until

pytestmark = need_clients()
GIB = 1 << 30
SHORT, LONG = 32 << 20, 288 << 20
BUFFER = 1 << 20
# M instructions per GiB. One copy into the socket takes about 130, and TCP most of the rest.
MOST = 400
POOL = 64  # blocks
MOST_FOR_A_COPY = 250


def spent(process):
    """Returns the processor time of the process and all of its threads, also of those that have ended."""
    return time.clock_gettime_ns(~process.pid << 3 | 2)  # CPUCLOCK_SCHED


def fetch(size, buffer=BUFFER):
    words = readdev(size // SAMPLE, buffer=buffer // SAMPLE)
    subprocess.run([str(word) for word in words], check=True, timeout=300, stdout=subprocess.DEVNULL)


def per_gib(process, buffer=BUFFER):
    fetch(SHORT, buffer)  # the first read of a file comes from the host
    costs = []
    for size in (SHORT, LONG):
        before = spent(process)
        fetch(size, buffer)
        costs.append(spent(process) - before)
    return (costs[1] - costs[0]) * GIB / (LONG - SHORT) / 1e6


def of_iiod(buffer=BUFFER):
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with subprocess.Popen(["iiod"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until(answers, f"iiod at port {PORT}")
        try:
            return per_gib(process, buffer)
        finally:
            process.kill()


@pytest.mark.parametrize("buffer", [1 << 20, 64 << 10])
def test_a_gib_costs_less_than_with_iiod(buffer):
    with Serving() as server:
        ours = per_gib(server.process, buffer)
        stats = server.end()
    theirs = of_iiod(buffer)
    device, = stats["devices"]
    sent = sum(reader["samples"] for reader in stats["readers"])
    print(f"\nbuffers of {buffer >> 10} KiB: {ours:.0f} M instructions per GiB, iiod {theirs:.0f}; "
          f"{device['samples'] / sent:.3f} samples captured for each one sent")
    # Each of the three captures ends with the blocks that its client did not fetch.
    blocks = 3 * POOL * (device["samples"] / device["blocks"])
    assert device["samples"] <= sent + blocks
    assert all(reader["dropped_samples"] == 0 for reader in stats["readers"])
    assert ours < theirs and (buffer < BUFFER or ours <= MOST)


def of_client(words):
    """Returns the instructions of a client program in millions, with its start."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in words], check=True, timeout=300, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def test_a_remote_context_costs_one_copy_more_than_iio_readdev():
    """libiio receives into a buffer of its own, from which iio-stream copies. `iio_readdev` writes its buffer to
    /dev/null, which copies nothing."""
    def ours(size):
        return ["iio-stream", "bench", f"iio:{ADC}", f"uri={URI}", "null:", "--block-size", BUFFER, "--blocks", 16,
                "--bytes", size, "--quiet"]

    def libiio(size):
        return readdev(size // SAMPLE, buffer=BUFFER // SAMPLE)

    costs = []
    with Serving():
        for command in (ours, libiio):
            of_client(command(SHORT))
            costs.append((of_client(command(LONG)) - of_client(command(SHORT))) * GIB / (LONG - SHORT))
    print(f"\na remote context: {costs[0]:.0f} M instructions per GiB, iio_readdev {costs[1]:.0f}")
    assert costs[0] - costs[1] < MOST_FOR_A_COPY
