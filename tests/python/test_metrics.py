# SPDX-License-Identifier: MIT
"""`--metrics-listen` and `--metrics-file`, read by Prometheus' own parser."""
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest
from conftest import BUILD, DEADLINE

parser = pytest.importorskip("prometheus_client.openmetrics.parser",
                             reason="needs prometheus_client, which script/test installs")
TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"


@pytest.fixture
def stream(tmp_path):
    """Starts a process that streams. Yields it and the address of its metrics."""
    process = subprocess.Popen(
        [BUILD / "iio-stream", "stream", "sim:", "rate=1M", "drop_at=5000", "drop=100", "null:", "--and",
         "sim:", "rate=1M", "null:", "--metrics-listen", ":0", "--metrics-file", tmp_path / "m"],
        stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    yield process, re.fullmatch(r"iio-stream: metrics at http://(\S+)/metrics\n", line)[1]
    process.terminate()
    process.communicate(timeout=DEADLINE)
    assert process.returncode == 0


def families(text):
    return {one.name: (one.type, {sample.labels["pipeline"]: sample.value for sample in one.samples})
            for one in parser.text_string_to_metric_families(text)}


def get(address, path="/metrics"):
    return urllib.request.urlopen(f"http://{address}{path}", timeout=DEADLINE)


def test_prometheus_reads_the_metrics_during_a_stream(stream, tmp_path):
    _, address = stream
    seen, deadline = set(), time.monotonic() + DEADLINE
    while len(seen) < 3 and time.monotonic() < deadline:
        with get(address) as answer:
            assert answer.headers["Content-Type"] == TYPE
            found = families(answer.read().decode())
        seen.add(found["iio_stream_samples"][1]["0"])
        time.sleep(0.2)
    assert len(seen) >= 3 and max(seen) > 10_000
    assert found["iio_stream_gaps_certain"] == ("counter", {"0": 1, "1": 0})
    assert found["iio_stream_lost_samples_min"][1] == {"0": 100, "1": 0}
    assert families((tmp_path / "m").read_text()).keys() == found.keys()


def test_other_requests_are_refused_and_do_no_harm(stream):
    process, address = stream
    with pytest.raises(urllib.error.HTTPError, match="404"):
        get(address, "/")
    with pytest.raises(urllib.error.HTTPError, match="405"):
        urllib.request.urlopen(f"http://{address}/metrics", b"x", timeout=DEADLINE)
    host, port = address.rsplit(":", 1)
    for rubbish in (b"", bytes(9000), b"GET", b"GET \r\n\r\n", b"\r\n\r\n", b"GET /metrics " + b"a" * 9000):
        with socket.create_connection((host, int(port))) as one:
            one.sendall(rubbish)
    with socket.create_connection((host, int(port))):  # a silent client
        assert get(address).status == 200
    assert get(address, "/metrics?x=1").status == 200 and process.poll() is None


def test_slow_clients_do_not_delay_others(stream):
    """Each client has two seconds for its request. The server answers others in the meantime."""
    _, address = stream
    host, port = address.rsplit(":", 1)
    slow = [socket.create_connection((host.strip("[]"), int(port)), timeout=DEADLINE) for _ in range(5)]
    slow[0].sendall(b"GET /metrics HT")
    with get(address) as answer:
        assert answer.status == 200
    for one in slow:
        one.setblocking(False)
        with pytest.raises(BlockingIOError):
            one.recv(1)
        one.close()


def test_silent_clients_are_disconnected_after_two_seconds(stream):
    """At most 32 clients are connected at the same time. The others wait until the server disconnects
    some."""
    process, address = stream
    host, port = address.rsplit(":", 1)
    silent = [socket.create_connection((host.strip("[]"), int(port)), timeout=DEADLINE) for _ in range(40)]
    with get(address) as answer:
        assert answer.status == 200
    for one in silent:
        with one:
            assert one.recv(1) == b""
    assert process.poll() is None


def test_only_this_machine_can_read_metrics_by_default(stream):
    assert stream[1].startswith(("127.0.0.1:", "[::1]:"))


@pytest.mark.parametrize("address, status, say", [
    ("nowhere.invalid:1", 3, "nowhere.invalid"), (":x", 2, ":x"), ("taken", 3, "in use")])
def test_an_unusable_address_is_reported_at_once(tmp_path, address, status, say):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = address.replace("taken", f"127.0.0.1:{taken.getsockname()[1]}")
        words = ["record", "sim:", tmp_path / "a.ci16", "--samples", "9", "--metrics-listen", place]
        done = subprocess.run([BUILD / "iio-stream", *words], capture_output=True, text=True,
                              timeout=DEADLINE, check=False)
    assert done.returncode == status and say in done.stderr, done.stderr
    assert not (tmp_path / "a.ci16").exists() or not (tmp_path / "a.ci16").stat().st_size
