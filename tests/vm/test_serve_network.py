# SPDX-License-Identifier: MIT
# guest: --icount --net pair
"""`iio-stream serve` to another machine over a network card with scatter-gather, which reads the blocks in
place.

    script/vm --icount --net pair -- /usr/bin/python3 -m pytest -q tests/vm/test_serve_network.py
"""
import itertools
import socket
import subprocess
import threading
import time
from pathlib import Path

import counts
import numpy as np
import pytest
from conftest import ADC, sim, truth
from libiio_programs import SAMPLE, ramp_of
from network import OWN, PEER, Network, set_scatter_gather
from serving import Line, Serving, device_id, need_clients, readdev

pytestmark = need_clients()
BLOCK = 65536


@pytest.fixture(scope="module")
def network():
    one = Network()
    yield one
    one.close()


@pytest.fixture(autouse=True)
def fresh():
    sim(rate=1_000_000)


def read_over(network, samples, buffer=BLOCK):
    """Reads this many samples with a client on the other machine, and checks that they count without gaps.
    Returns the number of the last one."""
    words = network.words(readdev(samples, uri=f"ip:{OWN}", buffer=buffer))
    came = 0
    with subprocess.Popen(words, stdout=subprocess.PIPE) as client:
        first = None
        while piece := client.stdout.read(8 << 20):
            ramp = ramp_of(piece)
            first = int(ramp[0]) if first is None else first
            assert ramp[0] == first + came
            came += len(ramp)
    assert (client.returncode, came) == (0, samples)
    return first + came - 1


def hop_of(stats):
    [reader] = stats["readers"]
    return reader["hop"]


@pytest.mark.parametrize("way,mechanism,copies", [("auto", "send in place", 0), ("copy", "send", 1)])
def test_every_sample_arrives_and_the_route_shows_the_mechanism(network, way, mechanism, copies):
    sim(rate=counts.SERVED_RATE)
    samples = counts.SERVED_BYTES // SAMPLE
    with Serving("--listen", "*", "--send", way) as server:
        read_over(network, samples)
        stats = server.end()
    hop = hop_of(stats)
    assert (hop["mechanism"], hop["copies"]) == (mechanism, copies), hop
    assert (hop["reason"] is None) == (copies == 0)
    assert stats["readers"][0]["dropped_samples"] == 0 and truth()[1] == 0


def test_small_answers_are_copied(network):
    with Serving("--listen", "*") as server:
        read_over(network, 100 * 512, buffer=512)
        stats = server.end()
    assert hop_of(stats)["copies"] == 1 and "16 KiB" in hop_of(stats)["reason"]


def test_a_client_on_this_machine_is_sent_a_copy():
    with Serving() as server:
        subprocess.run([str(word) for word in readdev(BLOCK)], stdout=subprocess.DEVNULL, timeout=60, check=True)
        stats = server.end()
    assert hop_of(stats)["copies"] == 1 and "this machine" in hop_of(stats)["reason"]


def test_without_scatter_gather_the_samples_are_copied(network):
    set_scatter_gather(network.own, False)
    try:
        with Serving("--listen", "*") as server:
            read_over(network, BLOCK)
            stats = server.end()
    finally:
        set_scatter_gather(network.own, True)
    assert hop_of(stats)["copies"] == 1 and "scatter-gather" in hop_of(stats)["reason"]


WITHOUT_RIGHT = ["setpriv", "--bounding-set", "-ipc_lock", "--inh-caps", "-ipc_lock"]


@pytest.mark.parametrize("kib,copies", [(64, 1), (3072, 0), (65536, 0)])
def test_the_route_reports_a_memlock_limit_that_is_too_small(network, kib, copies):
    """Tests three limits: too small for one block, large enough for the blocks that are being sent, and large
    enough for all blocks."""
    samples = 1 << 20
    with Serving("--listen", "*", by=["prlimit", f"--memlock={kib << 10}", *WITHOUT_RIGHT]) as server:
        read_over(network, samples)
        stats = server.end()
    assert stats["readers"][0]["dropped_samples"] == 0
    assert hop_of(stats)["copies"] == copies, hop_of(stats)
    assert copies == 0 or "ulimit -l" in hop_of(stats)["reason"]


def test_without_io_uring_the_samples_are_copied(network):
    disabled = Path("/proc/sys/kernel/io_uring_disabled")
    disabled.write_text("2\n", encoding="ascii")
    try:
        with Serving("--listen", "*") as server:
            read_over(network, BLOCK)
            stats = server.end()
    finally:
        disabled.write_text("0\n", encoding="ascii")
    assert hop_of(stats)["copies"] == 1 and "io_uring" in hop_of(stats)["reason"]


def line_over(network):
    line = Line.__new__(Line)
    line.socket = network.socket()
    line.socket.settimeout(60)
    line.socket.connect((OWN, 30431))
    line.file = line.socket.makefile("rb", buffering=0)
    return line


def pieces(line, wanted):
    """Sends READBUF, and yields the size of each piece of the answer. The caller must then read its
    samples."""
    adc = device_id(ADC)
    assert line.ask(f"OPEN {adc} 131072 0000000f") == 0
    line.say(f"READBUF {adc} {wanted}")
    for first in itertools.chain([True], itertools.repeat(False)):
        size = line.number()
        if first:
            line.file.readline()
        yield size
        wanted -= size
        if not wanted:
            return


def take(line, size, got):
    end = len(got) + size
    while len(got) < end:
        got += line.socket.recv(end - len(got))


def jumps_of(words):
    """Returns the number of samples that are missing between the received samples, and checks that none
    arrives twice or late."""
    steps = np.diff(words.astype(np.int64))
    assert (steps >= 1).all(), f"word {words[int(np.argmin(steps)) + 1]} after {words[int(np.argmin(steps))]}"
    return int((steps - 1).sum())


def test_a_client_that_stalls_receives_unchanged_blocks(network):
    """While the client does not read, its blocks do not change, and the device waits."""
    got = bytearray()
    with Serving("--listen", "*", "--memory", "8Mi") as server:
        line = line_over(network)
        for size in pieces(line, 16 << 20):
            if not got:
                time.sleep(2)
            take(line, size, got)
        line.close()
        stats = server.end()
    gaps = stats["devices"][0]["gaps"]
    assert 0 < jumps_of(np.frombuffer(got, "<u8")) <= truth()[1]
    assert gaps["lost_min"] <= truth()[1] <= gaps["lost_max"]
    assert stats["readers"][0]["dropped_samples"] == 0 and hop_of(stats)["copies"] == 0


def test_many_clients_that_stall_leave_enough_blocks_for_another(network):
    """Each of them holds blocks that its card still reads."""
    stalled = 31
    with Serving("--listen", "*", "--memory", "8Mi", "--clients", 2 * stalled) as server:
        adc = device_id(ADC)
        lines = [line_over(network) for _ in range(stalled)]
        for line in lines:
            assert line.ask(f"OPEN {adc} 16384 0000000f") == 0
            line.say(f"READBUF {adc} {1 << 30}")
            assert line.number() > 0  # so each begins with another block
        last = read_over(network, 40 * BLOCK)
        stats = server.end()
        for line in lines:
            line.close()
    # Once only the stalled clients are left, the device waits for them and loses samples.
    assert all(delivered > last for delivered, _ in truth()[0])
    assert sorted(reader["dropped_samples"] > 0 for reader in stats["readers"]) == [False] + stalled * [True]
    assert all(reader["hop"]["copies"] == 0 for reader in stats["readers"])


def test_a_connection_that_reopens_the_device_receives_the_new_blocks(network):
    """The memory of the new blocks can have the address of the previous blocks, whose pages the kernel still
    has registered."""
    with Serving("--listen", "*", "--memory", "4Mi") as server:
        line = line_over(network)
        for _ in range(4):
            got = bytearray()
            for size in pieces(line, 8 << 20):
                take(line, size, got)
            assert len(ramp_of(got)) == len(got) // SAMPLE  # each time the ramp begins with 0
            assert line.ask(f"CLOSE {device_id(ADC)}") == 0
        line.close()
        stats = server.end()
    assert len(stats["readers"]) == 4 and all(one["hop"]["copies"] == 0 for one in stats["readers"])


@pytest.mark.parametrize("when", ["kept", "early"])
def test_a_block_that_is_released_too_early_is_detected(network, when):
    """Proves that nothing is copied, and that the test above would detect a fault: it deliberately releases
    blocks before the kernel has finished with them."""
    sim(rate=200_000)
    with network.socket() as listener:
        listener.bind((PEER, 0))
        listener.listen()
        got = []

        def receive():
            connection, _ = listener.accept()
            with connection:
                time.sleep(2)  # during this time the device fills each block several times
                while piece := connection.recv(1 << 20):
                    got.append(piece)

        reader = threading.Thread(target=receive)
        reader.start()
        samples = 500_000
        done = subprocess.run(["lab-zero-copy", PEER, str(listener.getsockname()[1]), str(samples), when,
                               f"iio:{ADC}?memory=udmabuf"],
                              capture_output=True, text=True, timeout=120, check=False)
        reader.join()
    assert (done.returncode, done.stdout) == (0, "in place\n"), done.stderr
    words = np.frombuffer(b"".join(got), "<u8")
    assert len(words) == samples
    steps = np.diff(words.astype(np.int64))
    assert (steps >= 1).all() == (when == "kept")


def busy():
    """Returns the seconds in which the guest's only processor was busy; a second is 10^9 instructions. Of the
    times in /proc/stat, only the idle time is measured; the others depend on what the timer's ticks happen to
    hit. On Linux 7.3 even that is inaccurate: the same path took 2.9 to 4.9 seconds per GiB."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(word) for word in file.readline().split()[1:]]
    return time.monotonic() - (fields[3] + fields[4]) / 100


def test_sending_a_gib_in_place_costs_less_than_copying_it(network):
    """The client discards the data, so that it costs little."""
    def spent(way, size):
        with Serving("--listen", "*", "--send", way):
            line = line_over(network)
            dropped = bytearray(1 << 20)
            before = busy()
            for piece in pieces(line, size):
                while piece:
                    piece -= line.socket.recv_into(dropped, min(piece, len(dropped)), socket.MSG_TRUNC)
            after = busy()
            line.close()
        return after - before

    sim(rate=20_000_000)
    size = 256 << 20
    spent("copy", 1 << 20)  # the first read of a file comes from the host
    copied, in_place = (spent(way, size) * (1 << 30) / size for way in ("copy", "auto"))
    print(f"\nboth ends together, G instructions per GiB: {copied:.2f} copied, {in_place:.2f} in place")
    assert in_place < 0.95 * copied
