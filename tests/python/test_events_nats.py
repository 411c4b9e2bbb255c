# SPDX-License-Identifier: MIT
"""iio_stream.events passes events to NATS. The tests use NATS' own server and client."""
import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest
from conftest import BUILD, DEADLINE, PACKAGE

sys.path.insert(0, str(BUILD.parent / "tests"))
import waiting  # noqa: E402
from test_events import line  # noqa: E402

pytestmark = pytest.mark.timeout(10 * DEADLINE)

HERE = {**os.environ, "PYTHONPATH": str(PACKAGE)}
nats = pytest.importorskip("nats", reason="needs nats-py, which script/test installs")
SERVER = shutil.which("nats-server", path=os.environ["PATH"] + ":/usr/sbin")


@pytest.fixture
def server(tmp_path):
    """NATS' own server with JetStream and a password. Yields a function that starts it, and its address."""
    if SERVER is None:
        pytest.skip("nats-server is missing: apt-get install nats-server")
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    with contextlib.ExitStack() as stack:

        def start():
            process = stack.enter_context(subprocess.Popen(
                [SERVER, "-a", "127.0.0.1", "-p", str(port), "-js", "-sd", tmp_path / "store",
                 "--user", "u", "--pass", "hush-hush"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            stack.callback(process.kill)
            waiting.until(lambda: can_connect(port))
            return process

        yield start, f"nats://127.0.0.1:{port}"


def can_connect(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def passing(log, url, *more):
    return subprocess.Popen([sys.executable, "-B", "-m", "iio_stream.events", log, url, *more],
                            env={**HERE, "NATS_USER": "u", "NATS_PASSWORD": "hush-hush"},
                            stderr=subprocess.PIPE, text=True)


def stored(url):
    """Reads the subjects and messages of the stream with NATS' client."""
    async def read():
        link = await nats.connect(url, user="u", password="hush-hush")
        try:
            store = link.jetstream()
            state = (await store.stream_info("iio-stream")).state
            return [(m.subject, json.loads(m.data)) for m in
                    [await store.get_msg("iio-stream", n) for n in range(1, state.last_seq + 1)]]
        finally:
            await link.close()
    return asyncio.run(read())


def test_nats_has_each_event_once_after_kills_of_either_side(server, tmp_path):
    start, url = server
    nats_server = start()
    log, process = tmp_path / "log", None
    amount, kills = 60, {10: "client", 20: "server", 30: "client", 40: "server"}
    process = passing(log, url)
    for n in range(amount):
        with open(log, "a") as file:
            file.write(line(n, "part" if n % 3 else "loss"))
        if n in kills:
            waiting.until(lambda: (tmp_path / "log.sent").exists(), "the first event is passed on")
            time.sleep(0.3)  # the kill can then come at any point
        if kills.get(n) == "client":
            process.kill()
            process.communicate()
            process = passing(log, url)
        elif kills.get(n) == "server":
            nats_server.kill()
            nats_server.wait()
            nats_server = start()
    end = str(log.stat().st_size)
    waiting.until(lambda: (tmp_path / "log.sent").read_text().split()[0] == end, "all events are passed on")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130 and "Traceback" not in said and "hush-hush" not in said
    found = stored(url)
    assert [message["n"] for _, message in found] == list(range(amount))
    assert found[0][0] == "iio-stream.roof_example.loss" and found[1][0] == "iio-stream.roof_example.part"


def test_once_passes_on_only_existing_and_new_events(server, tmp_path):
    start, url = server
    start()
    (tmp_path / "log").write_text(line(0))
    for _ in range(2):
        process = passing(tmp_path / "log", url, "--once")
        assert process.communicate(timeout=DEADLINE) == (None, "") and process.returncode == 0
    assert len(stored(url)) == 1


def test_files_with_the_same_inode_and_size_are_distinguished(server, tmp_path):
    start, url = server
    start()
    for n in range(4):
        (tmp_path / "log").write_text(line(n))
        (tmp_path / "log.sent").write_text("-100 5 x") if n == 3 else None
        process = passing(tmp_path / "log", url, "--once")
        process.communicate(timeout=DEADLINE)
        assert process.returncode == 0
    assert [message["n"] for _, message in stored(url)] == [0, 1, 2, 3]


def test_an_unwritable_place_and_a_too_long_line_do_not_stop_the_events(server, tmp_path):
    start, url = server
    start()
    (tmp_path / "log.sent").mkdir()
    long = json.dumps({"event": "loss", "n": 1, "x": "x" * (1 << 21)}) + "\n"
    (tmp_path / "log").write_text(line(0) + long + line(2))
    process = passing(tmp_path / "log", url, "--once")
    _, said = process.communicate(timeout=DEADLINE)
    assert (process.returncode == 0 and said.count("log.sent") == 1
            and "larger than the server accepts" in said)
    assert [message["n"] for _, message in stored(url)] == [0, 2]


@pytest.mark.parametrize("words, status, said", [
    (["log", "nats://u:hush-hush@127.0.0.1:1"], 2, "NATS_PASSWORD"),
    (["none", "nats://127.0.0.1:1", "--once"], 1, "127.0.0.1"),
])
def test_invalid_arguments_give_a_clear_error(words, status, said, tmp_path):
    module = [sys.executable, "-B", "-m", "iio_stream.events"]
    process = subprocess.run([*module, *words], cwd=tmp_path, env=HERE, capture_output=True, text=True,
                             timeout=DEADLINE, check=False)
    assert process.returncode == status and said in process.stderr and "Traceback" not in process.stderr
