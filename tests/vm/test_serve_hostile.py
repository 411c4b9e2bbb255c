# SPDX-License-Identifier: MIT
"""`iio-stream serve` with hostile clients: a reader that runs at the same time receives every sample. The
tests need --full."""
import contextlib
import pathlib
import random
import resource
import socket
import struct
import subprocess
import threading
import time

import counts
from conftest import ADC, sim, truth
from libiio_programs import SAMPLE, ramp_of
from serving import HOST, PORT, Line, Serving, device_id, need_clients, readdev

pytestmark = need_clients()
RATE = 20_000
PLACES = 64  # largest number of clients at one time
OWN = 10     # threads that the server has without any client


def garbage(chance, _):
    with socket.create_connection((HOST, PORT), timeout=5) as client:
        client.sendall(chance.randbytes(chance.randrange(1, 20_000)))
        client.recv(65536)


def stall(_, seconds):
    with socket.create_connection((HOST, PORT), timeout=5) as client:
        client.sendall(b"READ iio:dev")
        time.sleep(seconds)


def reset(_, __):
    with socket.create_connection((HOST, PORT), timeout=5) as client:
        client.sendall(b"PRINT\r\n")
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def impatient(chance, seconds):
    client = Line()
    try:
        assert client.ask(f"TIMEOUT {chance.randrange(1, 100)}") == 0
        time.sleep(seconds)
    finally:
        client.close()


def deaf(adc, seconds):
    client = Line()
    try:
        if client.ask(f"OPEN {adc} 4096 0000000f") == 0:
            client.say(f"READBUF {adc} {1 << 30}")
            time.sleep(seconds)
    finally:
        client.close()


def hostile(number, adc, end):
    chance = random.Random(number)
    while time.monotonic() < end:
        act = chance.choice([garbage, stall, reset, impatient, deaf])
        with contextlib.suppress(OSError, ValueError):  # the server has closed the connection
            act(adc if act is deaf else chance, min(chance.random() * 3, max(end - time.monotonic(), 0)))


def read_beside(server, folder, seconds):
    """Starts a reader, and returns a function that waits for its end and checks what it has read."""
    samples = RATE * seconds // 4096 * 4096
    path = pathlib.Path(folder) / "read"
    with path.open("wb") as out:
        reader = subprocess.Popen([str(word) for word in readdev(samples, buffer=4096)], stdout=out,
                                  stderr=subprocess.PIPE)

    def check():
        said = reader.communicate(timeout=120)[1]
        assert reader.returncode == 0, said
        data = path.read_bytes()
        assert len(data) == samples * SAMPLE and len(ramp_of(data)) == samples
        stats = server.end()
        assert all(device["gaps"]["lost_max"] == 0 for device in stats["devices"]) and truth()[1] == 0
    return check


def threads_of(server):
    return len(list(pathlib.Path(f"/proc/{server.process.pid}/task").iterdir()))


if counts.FULL:

    def test_a_hundred_hostile_clients_do_not_disturb_a_reader(tmp_path):
        sim(rate=RATE)
        with Serving("--memory", "16Mi") as server:
            check = read_beside(server, tmp_path, 12)
            time.sleep(1)
            end = time.monotonic() + 9
            clients = [threading.Thread(target=hostile, args=[n, device_id(ADC), end]) for n in range(100)]
            for client in clients:
                client.start()
            most = 0
            while any(client.is_alive() for client in clients):
                most = max(most, threads_of(server))
                time.sleep(0.2)
            assert most <= PLACES + OWN
            check()

    def test_ten_thousand_open_connections_do_not_disturb_a_reader(tmp_path):
        resource.setrlimit(resource.RLIMIT_NOFILE, (20_000, 20_000))
        sim(rate=RATE)
        with Serving() as server, contextlib.ExitStack() as held:
            check = read_beside(server, tmp_path, 12)
            time.sleep(1)
            for _ in range(10_000):
                client = socket.socket()
                client.setblocking(False)
                client.connect_ex((HOST, PORT))
                held.callback(client.close)
            assert threads_of(server) <= PLACES + OWN
            check()
