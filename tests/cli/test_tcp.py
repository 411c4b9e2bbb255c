# SPDX-License-Identifier: MIT
"""Streams over TCP from one iio-stream process to another."""
import contextlib
import json
import re
import socket
import threading
import time

import pytest
from conftest import DEADLINE, ramp
from tcp_peer import LONG, connect, finished
from waiting import until


@pytest.mark.parametrize("giver, taker", [("", "wait=20s"), ("bind=off wait=20s", "bind=on"),
                                          ("check=crc32c", "wait=20s check=crc32c")])
def test_the_receiver_gets_all_samples_of_the_sender(start, port, tmp_path, giver, taker):
    receives = start(f"record tcp:127.0.0.1:{port} {taker} x.sigmf-meta --json {LONG}")
    sends = start(f"stream sim: rate=0 tcp:127.0.0.1:{port} {giver} --samples 3M --json {LONG}")
    sent, got = json.loads(finished(sends)), json.loads(finished(receives))
    assert (tmp_path / "x.sigmf-data").read_bytes() == ramp(3_000_000)
    assert sent["sinks"][0]["delivered_samples"] == got["samples"] == 3_000_000
    assert got["ended"] == "eof" and got["gaps"]["lost_max"] == 0 and got["gaps"]["evidence"][0] == "counter"
    assert [hop["copies"] for hop in sent["route"]][-1] == 1 and got["route"][0]["copies"] == 1
    assert sent["route"][-1]["mechanism"] == got["route"][0]["mechanism"] == "tcp"


def test_format_and_rate_are_transferred(iio, start, port, tmp_path):
    receives = start(f"record tcp:127.0.0.1:{port} wait=20s x.sigmf-meta {LONG}")
    sends = start(f"stream sim: rate=250k pattern=tone channels=a,b,c,d convert=cf32_le tcp:127.0.0.1:{port}"
                  f" --samples 50k {LONG}")
    finished(sends)
    finished(receives)
    meta = json.loads((tmp_path / "x.sigmf-meta").read_text())["global"]
    assert (meta["core:datatype"], meta["core:sample_rate"]) == ("cf32_le", 250000)
    assert meta["core:num_channels"] == 2
    iio("record sim: rate=250k pattern=tone channels=a,b,c,d convert=cf32_le y.sigmf-meta --samples 50k")
    assert (tmp_path / "x.sigmf-data").read_bytes() == (tmp_path / "y.sigmf-data").read_bytes()


def test_a_loss_of_the_sender_is_reported_by_the_receiver(start, port):
    receives = start(f"stream tcp:127.0.0.1:{port} wait=20s verify:ramp --json {LONG}")
    sends = start(f"stream sim: pattern=ramp rate=1M drop_at=100k tcp:127.0.0.1:{port} --samples 500k --json {LONG}")
    sent, got = json.loads(finished(sends)), json.loads(finished(receives))
    assert got["gaps"]["lost_min"] == got["gaps"]["lost_max"] == sent["gaps"]["lost_min"] > 0


def test_dropped_blocks_are_counted_at_both_ends(start, port):
    sends = start(f"stream sim: pattern=ramp rate=4M tcp:127.0.0.1:{port} on-full=drop hold=2 --duration 3s --json {LONG}")
    receives = start(f"stream tcp:127.0.0.1:{port} wait=20s null: rate=1M --json --blocks 4 {LONG}")
    sent, got = json.loads(finished(sends)), json.loads(finished(receives))
    sink = sent["sinks"][0]
    assert sink["dropped_samples"] > 0
    assert sink["delivered_samples"] + sink["dropped_samples"] == sent["samples"]
    assert sink["delivered_samples"] == got["samples"]
    assert got["gaps"]["lost_min"] == got["gaps"]["lost_max"] == sink["dropped_samples"]


def test_a_stream_survives_broken_connections(start, port, tmp_path):
    """A relay between the two ends closes each connection after some bytes."""
    receives = start(f"record tcp:127.0.0.1:{port} bind=on reconnect=20s x.sigmf-meta --json {LONG}")
    relay = socket.create_server(("127.0.0.1", 0))
    relay.settimeout(DEADLINE)
    sends = start(f"stream sim: rate=0 tcp:127.0.0.1:{relay.getsockname()[1]} bind=off wait=20s reconnect=20s"
                  f" --samples 500k --block-size 64Ki --json {LONG}")
    cuts = iter([150_000, 777_777, 100])

    def copy(a, b, most):
        with contextlib.suppress(OSError):
            while most > 0 and (data := a.recv(min(most, 65536))):
                b.sendall(data)
                most -= len(data)
        for end in (a, b):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def serve():
        while True:
            try:
                near, _ = relay.accept()
                far = connect(port)
            except OSError:
                return
            threading.Thread(target=copy, args=(far, near, 1 << 40), daemon=True).start()
            copy(near, far, next(cuts, 1 << 40))

    threading.Thread(target=serve, daemon=True).start()
    sent, got = json.loads(finished(sends)), json.loads(finished(receives))
    relay.close()
    assert (tmp_path / "x.sigmf-data").read_bytes() == ramp(500_000)
    assert got["gaps"]["lost_max"] == 0 and sent["sinks"][0]["delivered_samples"] == 500_000
    assert re.search(r"connections broken: [1-9]", got["route"][0]["reason"])


def test_another_sender_continues_after_a_gap(start, port):
    receives = start(f"stream tcp:127.0.0.1:{port} bind=on reconnect=20s null: --json {LONG}")
    killed = start(f"stream sim: pattern=ramp rate=1M tcp:127.0.0.1:{port} bind=off wait=20s {LONG}")
    time.sleep(1)
    killed.kill()
    finished(start(f"stream sim: pattern=ramp rate=1M tcp:127.0.0.1:{port} bind=off wait=20s --samples 100k {LONG}"))
    got = json.loads(finished(receives))
    assert got["gaps"]["certain"] == 1 and got["gaps"]["lost_max"] is None


def test_the_error_of_a_killed_sender_names_its_address(start, port):
    sends = start(f"stream sim: pattern=ramp rate=1M tcp:127.0.0.1:{port} {LONG}")
    receives = start(f"record tcp:127.0.0.1:{port} wait=20s x.sigmf-meta {LONG}")
    time.sleep(1)
    sends.kill()
    text = finished(receives, 3)
    assert re.search(rf"receive from tcp:127.0.0.1:{port}: .*closed the connection before", text), text


def deserted(start, port, tmp_path):
    """Returns a sender whose receiver was killed. The sender has no more samples to read, and has waited for
    another receiver for longer than --timeout."""
    sends = start(f"stream sim: rate=0 tcp:127.0.0.1:{port} reconnect=50s --samples 500k --block-size 64Ki"
                  " --timeout 1s --events log --json")
    first = start(f"stream tcp:127.0.0.1:{port} wait=20s null: rate=100k {LONG}")
    until(lambda: "started" in (tmp_path / "log").read_text() if (tmp_path / "log").exists() else False)
    time.sleep(0.5)
    first.kill()
    until(lambda: '"gone"' in (tmp_path / "log").read_text())
    time.sleep(3)
    assert sends.poll() is None, sends.communicate()
    return sends


def test_the_end_of_a_stream_waits_for_a_receiver_that_comes_back(start, port, tmp_path):
    sends = deserted(start, port, tmp_path)
    got = json.loads(finished(start(f"record tcp:127.0.0.1:{port} x.sigmf-meta --json {LONG}")))
    assert json.loads(finished(sends))["sinks"][0]["delivered_samples"] == 500_000
    data = (tmp_path / "x.sigmf-data").read_bytes()
    assert 0 < len(data) == 4 * got["samples"] < 2_000_000 and ramp(500_000).endswith(data)


def test_a_signal_ends_the_wait_for_a_receiver_that_is_gone(start, port, tmp_path):
    sends = deserted(start, port, tmp_path)
    sends.terminate()
    assert sends.wait(20) == 3


@pytest.mark.parametrize("words, status, says", [
    ("stream sim: tcp:localhost", 2, "is not a valid address"),
    ("stream sim: tcp:", 2, "is not a valid address"),
    ("stream sim: tcp://127.0.0.1:5000", 2, "zmq:tcp://"), ("stream tcp:*:5000 null:", 2, "bind=on"),
    ("stream tcp:127.0.0.1:1 null:", 3, "wait= waits for it"),
    ("stream sim: tcp:127.0.0.1:0 wait=200ms", 3, "none connected"),
    ("stream tcp:127.0.0.1:0 bind=on wait=200ms null:", 3, "none connected"),
    ("stream sim: tcp:127.0.0.1:1 bind=off wait=300ms", 3, "refused")])
def test_invalid_addresses_and_absent_peers_are_errors(iio, words, status, says):
    begun = time.monotonic()
    assert says in iio(words, status=status).err
    assert time.monotonic() - begun < 10


def test_a_signal_ends_a_sender_that_waits_for_a_receiver(start, port):
    sends = start(f"stream sim: tcp:127.0.0.1:{port}")
    time.sleep(0.5)
    sends.terminate()
    sends.wait(10)


@pytest.mark.parametrize("words, status", [("wait=300ms", 3), ("", 0)])
def test_files_are_unchanged_if_the_receiver_never_connects(iio, start, port, tmp_path, words, status):
    """A deadline or a signal ends the wait. overwrite=on replaces a file only when every endpoint is
    ready."""
    iio("record sim: pattern=ramp rate=1M old.sigmf-meta --samples 1000")
    iio("record sim: pattern=ramp rate=1M old.wav --samples 1000")
    iio("record sim: pattern=ramp rate=1M parts rotate_bytes=2Ki --samples 2000 --block-size 1Ki")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    sends = start("stream sim: pattern=ramp rate=1M new.ci16 new.sigmf-meta old.sigmf-meta overwrite=on old.wav overwrite=on"
                  f" parts rotate_bytes=1Ki overwrite=on tcp:127.0.0.1:{port} {words} --block-size 1Ki --events -")
    if not words:
        assert b"started" in sends.stderr.readline()
        sends.terminate()
    finished(sends, status)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    iio("verify old.sigmf-meta")


@pytest.mark.parametrize("engine", ["engine=auto", "engine=buffered"])
def test_a_file_is_replaced_when_the_receiver_has_connected(iio, start, port, tmp_path, engine):
    iio("record sim: pattern=ramp rate=1M x.sigmf-meta --samples 1000")
    sends = start(f"stream sim: rate=0 x.sigmf-meta overwrite=on {engine} tcp:127.0.0.1:{port} --samples 100k"
                  f" --events log {LONG}")
    until(lambda: (tmp_path / "log").exists() and "started" in (tmp_path / "log").read_text())
    assert (tmp_path / "x.sigmf-data").read_bytes() == ramp(1000)
    finished(start(f"stream tcp:127.0.0.1:{port} wait=20s null: {LONG}"))
    finished(sends)
    assert (tmp_path / "x.sigmf-data").read_bytes() == ramp(100_000)
    iio("verify x.sigmf-meta")
