# SPDX-License-Identifier: MIT
"""`iio-stream serve` on a machine with or without a device: access control, and robustness against bad
clients. tests/vm/test_serve.py tests it in the lab with Debian's clients of libiio."""
import json
import pathlib
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

from conftest import DEADLINE, REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
from waiting import until  # noqa: E402


class Server:
    """A server that listens on a free port of this machine."""

    def __init__(self, start, *words, listen="127.0.0.1:0"):
        self.process = start("serve", "--listen", listen, "--json", *words, text=True)
        self.listening = re.match(r"iio-stream: serve: listening at (.+):(\d+)\n", self.process.stderr.readline())
        self.port = int(self.listening[2])

    def client(self):
        return socket.create_connection((self.listening[1].strip("[]"), self.port), timeout=DEADLINE)

    def threads(self):
        status = open(f"/proc/{self.process.pid}/status").read()
        return int(re.search(r"^Threads:\s+(\d+)", status, re.M)[1])

    def end(self):
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=DEADLINE)
        assert self.process.returncode == 0, err
        return json.loads(out)


@pytest.fixture
def server(start):
    return Server(start)


def ask(client, line):
    client.sendall(line.encode() + b"\r\n")
    return client.makefile("rb").readline()


def hung_up(client):
    """Waits until the server closes the connection, and ignores data before that."""
    try:
        while client.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


def test_an_invalid_command_gives_einval_and_the_connection_stays_open(server):
    with server.client() as client:
        for line in ("BINARY", "ZPRINT", "nonsense", "READBUF", "OPEN a b c", "READ x y z w v u t"):
            assert ask(client, line) == b"-22\n", line
        for line in ("READBUF iio:device99 8", "OPEN iio:device99 8 00000001", "READ iio:device99 name",
                     "GETTRIG iio:device99", "CLOSE iio:device99", "SET iio:device99 BUFFERS_COUNT 4"):
            assert ask(client, line) == b"-19\n", line
        assert re.fullmatch(rb"0\.\d+\..{7}\n", ask(client, "VERSION"))
        assert ask(client, "TIMEOUT 1000") == b"0\n"
        client.sendall(b"EXIT\r\n")
        assert hung_up(client)


@pytest.mark.skipif(shutil.which("iio_info") is None, reason="libiio-utils is not installed")
def test_iio_info_can_read_the_context(server):
    done = subprocess.run(["iio_info", "-u", f"ip:127.0.0.1:{server.port}"], capture_output=True, text=True,
                          timeout=DEADLINE, check=False)
    assert done.returncode == 0 and "IIO context has" in done.stdout and done.stderr == ""


def test_the_server_survives_garbage(server):
    noise = random.Random(1)
    for length in (1, 100, 5000, 200_000):
        with server.client() as client:
            try:
                client.sendall(noise.randbytes(length))
                client.shutdown(socket.SHUT_WR)
            except OSError:  # the server has closed the connection in the meantime
                pass
            assert hung_up(client)
    with server.client() as client:
        assert ask(client, "HELP").startswith(b"Available commands")


def test_a_line_that_is_too_long_closes_the_connection(server):
    with server.client() as client:
        client.sendall(b"READ " + b"x" * 5000)
        assert hung_up(client)


def test_a_value_that_is_too_large_is_refused_at_once(server):
    with server.client() as client:
        assert ask(client, "WRITE iio:device0 name 99999999999") == b"-7\n"
        assert hung_up(client)


def test_the_threads_of_a_hundred_clients_end_with_them(server):
    for _ in range(100):
        with server.client() as client:
            assert ask(client, "TIMEOUT 100") == b"0\n"
    until(lambda: server.threads() <= 3, "the end of their threads")
    assert server.end()["connections"] == 100


def test_a_client_beyond_the_limit_is_rejected(start):
    server = Server(start, "--clients", "3")
    clients = [server.client() for _ in range(3)]
    for client in clients:
        assert ask(client, "TIMEOUT 100") == b"0\n"
    with server.client() as one_more:
        assert hung_up(one_more)
    clients.pop().close()
    until(lambda: server.threads() <= 3, "the end of a thread")
    with server.client() as next_one:
        assert ask(next_one, "TIMEOUT 100") == b"0\n"
    for client in clients:
        client.close()
    stats = server.end()
    assert stats["turned_away"] == 1 and stats["connections"] == 4


def test_idle_and_very_slow_clients_are_replaced_by_new_ones(start):
    server = Server(start, "--clients", "4")
    idle, stalled, trickling, busy = (server.client() for _ in range(4))
    assert ask(idle, "TIMEOUT 100") == b"0\n"
    stalled.sendall(b"VERS")
    trickling.sendall(b"WRITE iio:device99 DEBUG a 60000\r\n")
    end = time.monotonic() + 11
    while time.monotonic() < end:
        assert ask(busy, "TIMEOUT 100") == b"0\n"
        trickling.sendall(b"1")
        time.sleep(0.5)
    new = [server.client() for _ in range(3)]
    for one in new:
        assert ask(one, "TIMEOUT 100") == b"0\n"
    assert hung_up(idle) and hung_up(stalled) and hung_up(trickling)
    with server.client() as one_more:
        assert hung_up(one_more)
    assert ask(busy, "TIMEOUT 100") == b"0\n"
    assert server.end()["turned_away"] == 1


def leave_descriptors(process, count):
    """Lowers the limit of the process so that it can open only `count` more files."""
    used = {int(path.name) for path in pathlib.Path(f"/proc/{process.pid}/fd").iterdir()}
    free = [number for number in range(max(used) + count + 1) if number not in used]
    limit = free[count - 1] + 1
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (limit, limit))


def is_answered(client, seconds=DEADLINE):
    client.settimeout(seconds)
    try:
        return ask(client, "TIMEOUT 100") == b"0\n"
    except TimeoutError:
        return False


def test_without_a_free_descriptor_a_client_waits_until_another_one_leaves(start):
    server = Server(start, "--clients", "64")
    first = server.client()
    assert is_answered(first)
    leave_descriptors(server.process, 2)  # enough for one more client
    second, third, fourth = (server.client() for _ in range(3))
    begin = time.monotonic()
    assert is_answered(second)
    assert not is_answered(third, seconds=1.5) and is_answered(first)
    first.close()
    assert third.makefile("rb").readline() == b"0\n"  # the answer to the earlier request
    pauses = (time.monotonic() - begin) / 0.5
    for client in (second, third, fourth):
        client.close()
    server.process.send_signal(signal.SIGINT)
    out, err = server.process.communicate(timeout=DEADLINE)
    assert 1 <= json.loads(out)["descriptor_shortages"] <= pauses + 3  # no retries in a busy loop
    assert err.count("no file descriptor is left") == 1 and "ulimit -n" in err


def test_more_clients_than_descriptors_are_refused(iio):
    def limited(soft, hard):
        return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))}

    words = "--listen localhost:0 --clients 2000 --duration 1s"
    err = iio("serve", words, status=2, **limited(1024, 1024)).err
    assert "2000 clients" in err and "1024" in err and "ulimit -n" in err
    iio("serve", words, **limited(1024, 9000))  # the server raises the soft limit


def test_by_default_only_this_machine_can_connect(start):
    process = start("serve", "--listen", ":0", text=True)
    assert re.match(r"iio-stream: serve: listening at (127\.0\.0\.1|\[::1\]):\d+\n", process.stderr.readline())
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=DEADLINE)


def test_the_server_accepts_ipv6_clients(start):
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no ::1")
    server = Server(start, listen="[::1]:0")
    with server.client() as client:
        assert ask(client, "TIMEOUT 100") == b"0\n"
    server.end()


def test_a_connected_client_does_not_delay_the_end_of_the_server(server):
    with server.client() as client:
        assert ask(client, "TIMEOUT 100") == b"0\n"
        client.sendall(b"VERS")
        assert server.end()["clients"] == 1


@pytest.mark.parametrize(("words", "status", "told"), [
    ("--listen localhost:99999", 2, "is not a valid address"),
    ("--listen [::1]x", 2, "is not a valid address"),
    ("--allow hardwaregain", 2, "DEVICE/[CHANNEL/]NAME"),
    ("--memory 1x", 2, "memory"),
    ("--listen 203.0.113.7", 3, "203.0.113.7"),
])
def test_invalid_options_are_errors_at_once(iio, words, status, told):
    assert told in iio("serve", words, "--duration 1s", status=status).err


def test_a_port_in_use_is_an_error(iio, server):
    err = iio("serve", "--listen", f"127.0.0.1:{server.port}", status=3).err
    assert "in use" in err and "--listen" in err


def test_the_summary_conforms_to_the_schema(server):
    import schemas
    schemas.check("serve", server.end())


def test_an_unknown_send_method_is_refused(start):
    process = start("serve", "--send", "fast", text=True)
    assert (process.wait(timeout=30), process.stderr.read()) == (2, "iio-stream: serve: --send fast is not auto or copy\n")
