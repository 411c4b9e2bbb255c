# SPDX-License-Identifier: MIT
"""Names of files and devices, which anyone can choose, cannot control a terminal. Each command prints them
escaped."""
import json
import os
import signal
import subprocess
import unicodedata

import pytest

from conftest import COMMAND, DEADLINE
from waiting import until

# This name clears the screen, sets the title, rings the bell, ends a line, is not UTF-8, has a two-byte
# control character, and reverses the writing direction.
NASTY = b"a\x1b[2J\x1b]0;owned\x07b\nforged\xff\xc2\x9b31m\xe2\x80\xaed"
SHOWN = b"a\\x1b[2J\\x1b]0;owned\\x07b\\x0aforged\\xff\\xc2\\x9b31m\\xe2\\x80\\xaed"


def run(folder, *words, **options):
    """Splits the strings into words and replaces %s with the name."""
    arguments = [os.fsencode(COMMAND)]
    for word in words:
        arguments += [part.replace(b"%s", NASTY) for part in word.encode().split()]
    return subprocess.run(arguments, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=DEADLINE, check=False, **options)


def check(output, shown=True):
    """Checks that the output is UTF-8, has no control character, and contains the name in one line."""
    text = output.decode()
    dangerous = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")} - {"\n"}
    assert not dangerous, ascii(text)
    assert not any(line.startswith("forged") for line in text.splitlines()), text
    assert not shown or b"owned" in output, text


def check_json(output):
    """Checks that the output is valid JSON in one line that is safe to print."""
    check(output)
    assert output.count(b"\n") == 1
    return json.loads(output)


MADE = {  # commands that create the files before the test
    "nothing": [], "raw": ["record sim: rate=0 %s.ci16 --samples 1000 --quiet"],
    "sigmf": ["record sim: rate=0 %s --samples 1000 --quiet"],
    "parts": ["record sim: rate=0 %s rotate_bytes=4Ki --block-size 4096 --samples 4000 --quiet"],
    "folder": ["record sim: rate=1M %s/x hash=end --samples 1000 --quiet"],
    "both": ["record sim: rate=0 %s --samples 1000 --quiet", "archive pack %s.sigmf-meta %s.sigmf --quiet"]}


def make(folder, what):
    if what == "folder":
        os.mkdir(os.path.join(os.fsencode(folder), NASTY))
    for line in MADE[what]:
        done = run(folder, line)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("made, words, status", [
    ("nothing", "record sim: rate=0 %s.ci16 --samples 1000", 0),
    ("nothing", "record sim: rate=0 %s --samples 1000 --verbose", 0),
    ("nothing", "record sim: rate=0 %s rotate_bytes=4Ki --block-size 4096 --samples 4000", 0),
    ("nothing", "record sim: rate=0 %s.ci16 rotate_bytes=4Ki keep=last:8Ki --block-size 4096 --samples 9000", 0),
    ("nothing", "record sim: rate=0 drop_at=500 %s.ci16 --samples 1000 --on-gap stop", 4),
    ("nothing", "record sim: rate=0 %s.ci16 on-full=drop convert=cf32_le --samples 1000", 2),
    ("nothing", "record sim: rate=0 x.ci16 keep=%s --samples 1", 2),
    ("nothing", "record sim: rate=0 x.ci16 --samples 1 --metrics-file %s/m", 5),
    ("nothing", "record sim: rate=0 x.ci16 --samples 1 --events %s/e", 5),
    ("nothing", "record sim: rate=0 x.ci16 --samples 1 --json=%s/j", 5),
    ("nothing", "record sim: rate=0 x.ci16 %s=1 --samples 1", 2),
    ("nothing", "record sim: rate=0 x.ci16 --%s", 2),
    ("raw", "record sim: rate=0 %s.ci16 --samples 1000", 5), ("sigmf", "record sim: rate=0 %s --samples 1000", 5),
    ("parts", "record sim: rate=0 %s rotate_bytes=4Ki --block-size 4096 --samples 4000", 5),
    ("raw", "play %s.ci16 null:", 0), ("sigmf", "stream %s null: --verbose", 0), ("both", "stream %s.sigmf null:", 0),
    ("nothing", "stream %s.ci16 null:", 5), ("nothing", "stream %s: null:", 5), ("nothing", "stream sim: zmq:%s", 2),
    ("nothing", "stream sim: tcp:%s", 2), 
    ("raw", "bench %s.ci16", 0), ("nothing", "bench %s.ci16", 5),
    ("nothing", "bench-io %s --size 64Ki --block-size 64Ki", 0), ("raw", "bench-io %s.ci16 --size 64Ki", 5),
    ("raw", "verify %s.ci16", 0), ("sigmf", "verify %s.sigmf-meta", 0), ("both", "verify %s.sigmf", 0),
    ("raw", "verify --pattern lanes %s.ci16", 1), ("nothing", "verify %s.ci16", 5),
    ("nothing", "verify %s.sigmf-meta", 5),
    ("raw", "recover %s.ci16", 0), ("sigmf", "recover %s.sigmf-meta", 0), ("nothing", "recover %s.sigmf-meta", 5),
    ("folder", "archive list %s", 0), ("sigmf", "archive verify .", 5),
    ("folder", "archive verify %s", 0), ("nothing", "archive list %s", 5), ("folder", "archive index %s", 0),
    ("folder", "archive prune %s --keep-size 0", 0),
    ("sigmf", "archive pull . to", 5), ("folder", "archive pull %s/ %s/to", 0),
    ("sigmf", "archive pack %s.sigmf-meta %s.sigmf", 0),
    ("raw", "archive pack %s.ci16 x.sigmf", 2),
    ("nothing", "archive push . s3://%s", 2), ("nothing", "archive %s .", 2),
    ("nothing", "check --report %s/x", 5),
    ("nothing", "info --uri %s", 3),
    ("nothing", "attr %s x", 2), ("nothing", "gadget %s", 2), ("nothing", "serve --listen %s", 3),
    ("nothing", "serve --allow %s --duration 1ms --listen :0", 2), ("nothing", "run -- ./%s", 2),
    ("nothing", "run --install --metrics-file %s", 2), ("nothing", "help %s", 2), ("nothing", "%s", 2),
    ("nothing", "--%s", 2), ("nothing", "stream --json=%s.ci16 %s", 2)])
def test_a_name_is_printed_escaped(tmp_path, made, words, status):
    make(tmp_path, made)
    done = run(tmp_path, words)
    assert done.returncode == status, done.stdout + done.stderr
    check(done.stdout + done.stderr)


@pytest.mark.parametrize("made, words", [
    ("nothing", "stream iio:%s null:"), ("nothing", "doctor --probe iio:%s"), ("nothing", "check %s --report none"),
    ("nothing", "info %s"), ("nothing", "attr get %s/x"), ("nothing", "attr list %s"),
    ("sigmf", "archive pack %s.sigmf-meta x.sigmf"), ("sigmf", "archive list ."),
    ("sigmf", "archive prune . --keep-size 0"),
    ("nothing", "archive push %s s3://bucket/x"), ("sigmf", "archive push . s3://bucket/x --retry 1ms"),
    ("folder", "archive pull %s to")])
def test_a_name_is_printed_escaped_if_at_all(tmp_path, made, words):
    """The output depends on the devices and credentials of this machine, or does not contain the name."""
    make(tmp_path, made)
    done = run(tmp_path, words, env={**os.environ, "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ACCESS_KEY_ID": "x",
                                     "AWS_SECRET_ACCESS_KEY": "x"})
    assert done.stdout + done.stderr
    check(done.stdout + done.stderr, shown=False)


@pytest.mark.parametrize("made, words", [
    ("nothing", "record sim: rate=0 %s.ci16 --samples 1000"), ("nothing", "record sim: rate=0 %s --samples 1000"),
    ("nothing", "record sim: rate=0 %s rotate_bytes=4Ki keep=last:8Ki hash=end --block-size 4096 --samples 9000"),
    ("raw", "record sim: rate=0 %s.ci16 --samples 1000"), ("sigmf", "stream %s null:"),
    ("nothing", "stream %s.ci16 null:"),
    ("nothing", "stream sim: rate=0 null: --and sim: rate=0 %s.ci16 --samples 100"),
    ("raw", "bench %s.ci16"), ("nothing", "bench-io %s --size 64Ki --block-size 64Ki"), ("raw", "verify %s.ci16"),
    ("sigmf", "verify %s.sigmf-meta"), ("nothing", "verify %s.sigmf-meta"), ("sigmf", "recover %s.sigmf-meta"),
    ("folder", "archive list %s"), ("sigmf", "archive list ."), ("folder", "archive verify %s"),
    ("sigmf", "archive verify ."), ("folder", "archive prune %s --keep-size 0"), ("folder", "archive pull %s to"),
    ("folder", "archive index %s"), ("sigmf", "archive pack %s.sigmf-meta %s.sigmf"),
    ("nothing", "archive push %s s3://bucket/x"), ("nothing", "check %s --report none")])
def test_json_with_a_dangerous_name_is_valid(tmp_path, made, words):
    make(tmp_path, made)
    done = run(tmp_path, words + " --json")
    check(done.stderr, shown=False)
    if done.stdout:
        check_json(done.stdout)
    else:  # an error before there was anything to report
        assert done.returncode in (2, 3, 5) and done.stderr


def test_recover_prints_the_names_of_its_files_escaped(tmp_path):
    assert run(tmp_path, MADE["sigmf"][0]).returncode == 0
    data = os.path.join(os.fsencode(tmp_path), NASTY + b".sigmf-data")
    with open(data, "ab") as file:
        file.write(b"\xff" * 7)
    done = run(tmp_path, "verify %s.sigmf-meta")
    check(done.stderr)
    done = run(tmp_path, "recover %s.sigmf-meta")
    assert done.returncode == 0 and b"contains the bytes that were cut off" in done.stdout
    check(done.stdout)
    assert done.stdout.count(b"\n") == 3 and done.stdout.count(SHOWN) == 3


def test_names_of_a_running_recording_are_printed_escaped(tmp_path):
    recorder = subprocess.Popen([COMMAND, "record", "sim:", "rate=100k", NASTY, "rotate_bytes=64Ki", "--block-size",
                                 "4096", "--progress", "--events", NASTY + b".events"], cwd=tmp_path,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        until(lambda: os.path.exists(os.path.join(os.fsencode(tmp_path), NASTY + b".0002.sigmf-data")), "part 2")
        for words in ("recover %s.0002.sigmf-meta", "verify %s.0002.sigmf-meta", "archive list .",
                      "record sim: rate=0 %s rotate_bytes=64Ki overwrite=on --block-size 4096 --samples 10"):
            done = run(tmp_path, words)
            check(done.stdout + done.stderr)
        recorder.send_signal(signal.SIGINT)
        out, err = recorder.communicate(timeout=DEADLINE)
    finally:
        recorder.kill()
    assert recorder.returncode == 0
    check(out)
    check(err.replace(b"\r\x1b[K", b""), shown=False)
    with open(os.path.join(os.fsencode(tmp_path), NASTY + b".events"), "rb") as file:
        lines = file.readlines()
    assert len(lines) > 3 and all(json.loads(line.decode()) for line in lines)


def test_names_in_events_are_escaped(tmp_path):
    done = run(tmp_path, "record sim: rate=0 %s rotate_bytes=4Ki --block-size 4096 --samples 4000 --quiet --events -")
    check(done.stderr)
    files = {event["file"] for event in map(json.loads, done.stderr.splitlines()) if event["event"] == "part"}
    assert all("\x1b[2J" in file and "\x9b31m" in file for file in files) and len(files) == 4


def test_names_of_members_of_a_sigmf_archive_are_printed_escaped(tmp_path):
    """The program that makes the tar file chooses the names of its members."""
    import tarfile
    assert run(tmp_path, "record sim: rate=0 x --samples 1000 --quiet").returncode == 0
    name = NASTY.decode(errors="surrogateescape")
    with tarfile.open(tmp_path / "y.sigmf", "w", format=tarfile.GNU_FORMAT) as tar:
        for kind in ("meta", "data"):
            tar.add(tmp_path / f"x.sigmf-{kind}", f"{name}/{name}.sigmf-{kind}")
            tar.add(tmp_path / f"x.sigmf-{kind}", f"{name}2/{name}.sigmf-{kind}")
    for words in ("verify y.sigmf", "stream y.sigmf null:", "recover y.sigmf", "archive list ."):
        done = run(tmp_path, words)
        check(done.stdout + done.stderr, shown=False)
    for words in ("verify y.sigmf --json", "stream y.sigmf null: --json"):
        done = run(tmp_path, words)
        check(done.stderr, shown=False)
        assert not done.stdout or json.loads(done.stdout.decode())
