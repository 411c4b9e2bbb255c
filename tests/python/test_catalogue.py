# SPDX-License-Identifier: MIT
"""Each error that the command can report on a host is an exception in Python with the same class, errno and
text. tests/vm/test_python_errors.py tests the errors of devices."""
import json
import subprocess

import catalogue
import pytest
from conftest import BUILD, DEADLINE

import iio_stream as ios

STREAMS = [
    (3, "ENODEV", "sim: rate=0 unplug_at=5000 null:"),
    (3, "ETIMEDOUT", "sim: rate=1M stall_at=1000 stall_for=1h null: --timeout 200ms"),
    (1, "ETIMEDOUT", "sim: rate=0 null: stall_at=1 stall_for=1h --samples 10k --timeout 300ms"),
    (5, "ENOENT", "nofile.ci16 null:"),
    (5, "ENOENT", "nofile.sigmf-meta null:"),
    (5, "ENOENT", "sim: no/such/folder/a.ci16"),
    (5, "EISDIR", "sim: folder.ci16"),
    (5, "EEXIST", "sim: there.ci16"),
    (5, "ENOSPC", "sim: rate=0 /dev/full"),
    (5, "EBUSY", "unfinished.sigmf-meta null:"),
    (5, "EBADMSG", "nonsense.sigmf-meta null:"),
    (2, "EINVAL", "there.bin null:"),
    (2, "EINVAL", "simm: null:"),
    (2, "EINVAL", "sim: nul:"),
    (2, "EINVAL", "null: sim:"),
    (2, "EINVAL", "sim: patern=ramp null:"),
    (2, "EINVAL", "sim: pattern=rmap null:"),
    (2, "EINVAL", "sim: rate=fast null:"),
    (2, "EINVAL", "sim: memory=udmabfu null:"),
    (2, "EINVAL", "sim: convert=cf33_le null:"),
    (2, "EINVAL", "sim: null: rate=fast"),
    (2, "EINVAL", "sim: null: on-full=drp"),
    (2, "EINVAL", "sim: a.ci16 overwrit=on"),
    (2, "EINVAL", "sim: verify:rmap"),
    (2, "EINVAL", "sim: channels=a,b,c format=ri16_le null: --block-size 4000000"),
]
LOSSES = "sim: rate=0 drop_at=5000 drop=100 null: --samples 10k"
CALLS = [
    (5, "ENOENT", "verify nofile.ci16", lambda: ios.verify("nofile.ci16")),
    (5, "ENOENT", "recover nofile.ci16", lambda: ios.recover("nofile.ci16")),
    (5, "ENOENT", "play nofile.ci16 null:", lambda: ios.play("nofile.ci16", "null:")),
    (5, "EEXIST", "record sim: there.ci16", lambda: ios.record("sim:", "there.ci16")),
    (5, "ENOENT", "bench-io no/such --size 1Mi", lambda: ios.bench_io("no/such", size="1Mi")),
    (5, "EEXIST", "bench-io there.ci16 --size 1Mi", lambda: ios.bench_io("there.ci16", size="1Mi")),
    (4, "ENODATA", f"stream {LOSSES} --max-gaps 0",
     lambda: ios.check(catalogue.stream(LOSSES), max_gaps=0)),
    (4, "ENODATA", f"stream {LOSSES} --max-lost 99",
     lambda: ios.check(catalogue.stream(LOSSES), max_lost=99)),
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.ci16").mkdir()
    for name in ("there.ci16", "there.bin"):
        (tmp_path / name).write_bytes(bytes(4096))
    ios.record("sim:", "unfinished.sigmf-meta", rate=0, samples=100)
    meta = tmp_path / "unfinished.sigmf-meta"
    words = json.loads(meta.read_text())
    words["global"]["iio_stream:state"] = "recording"
    meta.write_text(json.dumps(words))
    (tmp_path / "nonsense.sigmf-meta").write_text("{" + meta.read_text())
    (tmp_path / "nonsense.sigmf-data").write_bytes(bytes(400))


def command(words):
    return subprocess.run([BUILD / "iio-stream", *words.split()], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=DEADLINE)


@pytest.mark.parametrize("status,name,words", STREAMS, ids=[row[2] for row in STREAMS])
def test_the_exception_of_a_stream_equals_the_error_of_the_command(status, name, words):
    told = command(f"stream {words} --json")
    assert told.returncode == status, told.stderr
    error = catalogue.raised(lambda: catalogue.stream(words))
    catalogue.agree(error, name, status, told.stdout, told.stderr)


@pytest.mark.parametrize("status,name,words,call", CALLS, ids=[row[2] for row in CALLS])
def test_the_exception_of_a_function_equals_the_error_of_the_command(status, name, words, call):
    told = command(words)
    assert told.returncode == status, told.stderr
    catalogue.agree(catalogue.raised(call), name, status, "", told.stderr)
