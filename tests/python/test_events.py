# SPDX-License-Identifier: MIT
"""Events of a stream: a peer that disconnects, and the file of events as iio_stream.events reads it."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys

import pytest
from conftest import BUILD, DEADLINE

import iio_stream.events as events

sys.path.insert(0, str(BUILD.parent / "tests"))
import waiting  # noqa: E402

pytestmark = pytest.mark.timeout(10 * DEADLINE)


def line(number, kind="loss"):
    return json.dumps({"event": kind, "host": "roof.example", "n": number}) + "\n"


def numbers(found):
    return [one.event["n"] for one in found if one]


def test_follow_handles_incomplete_lines_rotation_and_truncation(tmp_path):
    log = tmp_path / "log"
    log.write_text(line(0) + "no JSON\n[1]\n" + line(1) + line(2)[:9])
    seen, found = [], events.follow(log)

    def more():
        while one := next(found):
            seen.append(one.event["n"])
        return seen

    assert more() == [0, 1]
    with open(log, "a") as file:
        file.write(line(2)[9:])
    assert more() == [0, 1, 2]
    with open(log, "a", buffering=1) as file:
        file.write(line(3))
        log.rename(tmp_path / "log.1")
        log.write_text(line(5))
        assert more() == [0, 1, 2, 3]
        file.write(line(4))  # the writer still has the old file open
    waiting.until(lambda: more() == [0, 1, 2, 3, 4, 5])
    log.unlink()
    assert more() == [0, 1, 2, 3, 4, 5]
    log.write_text(line(6))
    waiting.until(lambda: more() == [0, 1, 2, 3, 4, 5, 6])
    log.write_text(line(7) + line(8))  # longer than before
    waiting.until(lambda: more() == [0, 1, 2, 3, 4, 5, 6, 7, 8])
    os.truncate(log, 0)
    assert more() == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    with open(log, "a") as file:
        file.write(line(9))
    waiting.until(lambda: more() == list(range(10)))


def test_follow_continues_from_a_saved_place(tmp_path, caplog):
    log = tmp_path / "log"
    log.write_text("".join(line(n) for n in range(5)))
    found = list(events.follow(log, wait=False))
    assert numbers(found) == [0, 1, 2, 3, 4]
    at = found[2].place
    assert numbers(events.follow(log, at, wait=False)) == [3, 4]
    shutil.copy(log, tmp_path / "copy")
    (tmp_path / "copy").rename(log)  # another inode, like a file from a backup
    assert numbers(events.follow(log, at, wait=False)) == [3, 4]
    log.rename(tmp_path / "log.1")
    log.write_text(line(5))
    (tmp_path / "log.0.gz").write_text("packed")
    assert numbers(events.follow(log, at, wait=False)) == [3, 4, 5]
    log.rename(tmp_path / "log-20261128")
    log.write_text(line(6))
    assert numbers(events.follow(log, at, wait=False)) == [3, 4, 5, 6]
    (tmp_path / "log.1").unlink()
    assert numbers(events.follow(log, at, wait=False)) == [6] and "is gone" in caplog.text


def test_a_new_file_with_the_inode_of_the_old_one_is_read_from_its_start(tmp_path):
    log = tmp_path / "log"
    log.write_text(line(0) + line(1))
    at, inode = list(events.follow(log, wait=False))[-1].place, log.stat().st_ino
    log.write_text(line(2) + line(3) + line(4))
    assert log.stat().st_ino == inode and numbers(events.follow(log, at, wait=False)) == [2, 3, 4]
    log.write_text("")
    assert numbers(events.follow(log, at, wait=False)) == []
    with pytest.raises(FileNotFoundError):
        list(events.follow(tmp_path / "none", wait=False))


def test_a_peer_that_disconnects_and_reconnects_is_reported(tmp_path):
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    log = tmp_path / "log"
    place = f"tcp:127.0.0.1:{port}"
    sender = [BUILD / "iio-stream", "stream", "sim:", "rate=1M", place, "wait=60s", "--quiet"]
    kinds = lambda: [json.loads(text)["event"] for text in log.read_text().splitlines()]  # noqa: E731
    with subprocess.Popen([BUILD / "iio-stream", "stream", place, "wait=60s", "reconnect=60s",
                           "null:", "--quiet", "--events", log]) as receiver:
        try:
            first = subprocess.Popen(sender)
            waiting.until(lambda: log.exists() and kinds() == ["started"])
            first.kill()
            first.wait()
            waiting.until(lambda: kinds()[-1] == "gone")
            second = subprocess.Popen(sender)
            waiting.until(lambda: "back" in kinds())
            receiver.send_signal(signal.SIGINT)
            receiver.wait(DEADLINE)
        finally:
            receiver.kill()
            second.kill()
            second.wait()
    assert [kind for kind in kinds() if kind != "loss"] == ["started", "gone", "back", "ended"]
