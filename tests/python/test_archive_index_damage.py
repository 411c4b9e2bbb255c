# SPDX-License-Identifier: MIT
"""An index that is missing, is damaged, is not a file, or cannot be read or written."""
import hashlib
import json
import os
import subprocess

import pytest
from archives import INDEX, command, index, seven_parts
from conftest import BUILD, DEADLINE

import iio_stream as ios

pytest.importorskip("s3fs", reason="needs s3fs, which script/test installs")
pytest.importorskip("dask.array", reason="needs dask, which script/test installs")
pytest.importorskip("moto.server", reason="needs moto, which script/test installs")
import s3fs  # noqa: E402
from pushing import push  # noqa: E402


def test_without_an_index_the_error_names_the_command_that_writes_it(server, tmp_path):
    seven_parts(tmp_path)
    push(tmp_path, f"s3://{server.bucket}/x")
    for place in (tmp_path, f"s3://{server.bucket}/x"):
        said, err = command("list", place, "--indexed", status=5)
        assert INDEX in err and f"archive index {place}` writes it" in err and said["recordings"] == []
        with pytest.raises(FileNotFoundError, match=f"{INDEX}.*archive index"):
            ios.archive.open(place, indexed=True)


def signed(lines):
    """Returns an index of the given lines with a valid hash, which anyone with write access can make."""
    rest = b"\n".join(lines)
    head = {"iio_stream_index": 1, "sha512": hashlib.sha512(rest).hexdigest()}
    return json.dumps(head).encode() + b"\n" + rest


def spoiled(text):
    """Yields invalid indexes."""
    first, head, *lines = text.split(b"\n")
    words = json.loads(head)
    assert signed([head, *lines]).split(b"\n")[1:] == text.split(b"\n")[1:]
    for size in (0, len(first) // 2, len(first) + 1, len(first) + len(head), len(text) - 1):
        yield f"cut after {size} bytes", text[:size]
    yield "not ours", b'{"a": 1}\n'
    yield "a list", b"[]\n"
    yield "later", text.replace(b'"iio_stream_index":1', b'"iio_stream_index":2')
    yield "one letter", text.replace(b"ci16_le", b"ci16_be")
    yield "nested", signed([b"[" * 100_000])
    for key in ("as_of_ns", "recordings", "damaged"):
        yield f"{key} is a text", signed([json.dumps({**words, key: "x"}).encode(), *lines])
    for key in ("name", "parts", "global"):
        only = {name: value for name, value in words["recordings"][0].items() if name != key}
        yield f"no {key}", signed([json.dumps({**words, "recordings": [only]}).encode(), *lines])


def test_a_damaged_index_is_refused(server, tmp_path):
    seven_parts(tmp_path)
    index(tmp_path, parts=7)
    text = (tmp_path / INDEX).read_bytes()
    place = f"s3://{server.bucket}/x"
    push(tmp_path, place)
    index(place, parts=7)
    store = s3fs.S3FileSystem(skip_instance_cache=True)
    for what, broken in spoiled(text):
        (tmp_path / INDEX).write_bytes(broken)
        store.pipe(f"{server.bucket}/x/{INDEX}", broken)
        for where in (tmp_path, place):
            _, err = command("list", where, "--indexed", status=5)
            assert INDEX in err and f"archive index {where}" in err, (what, err)
            with pytest.raises(ios.StorageError, match=INDEX):
                list(ios.archive.open(where, indexed=True))
        index(place, parts=7, read=7)
        index(place, parts=7, read=0)
    index(tmp_path, parts=7)
    assert (tmp_path / INDEX).read_bytes().split(b"\n")[2:] == text.split(b"\n")[2:]


@pytest.mark.parametrize("broken", [b"", b"{", b"[]", b"null", b'{"words": 3, "part": 1}'])
@pytest.mark.parametrize("number", [1, 4])
def test_python_refuses_invalid_lines(tmp_path, number, broken):
    seven_parts(tmp_path)
    index(tmp_path, parts=7)
    lines = (tmp_path / INDEX).read_bytes().split(b"\n")[1:]
    (tmp_path / INDEX).write_bytes(signed([*lines[:number], broken, *lines[number + 1:]]))
    with pytest.raises(ios.StorageError, match=INDEX):
        list(ios.archive.open(tmp_path, indexed=True))


def test_python_refuses_names_outside_of_the_archive(tmp_path):
    seven_parts(tmp_path)
    index(tmp_path, parts=7)
    lines = (tmp_path / INDEX).read_bytes().split(b"\n")[1:]
    (tmp_path / INDEX).write_bytes(signed([lines[0].replace(b'"name":"a"', b'"name":"../a"'), *lines[1:]]))
    with pytest.raises(ios.StorageError, match=r"'\.\./a\.0000' is not a valid name"):
        list(ios.archive.open(tmp_path, indexed=True))


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)])
def test_an_index_that_is_not_a_regular_file_is_refused(tmp_path, make):
    seven_parts(tmp_path)
    make(tmp_path / INDEX)
    assert INDEX in command("list", tmp_path, "--indexed", status=5)[1]
    with pytest.raises(ios.StorageError, match=INDEX):
        ios.archive.open(tmp_path, indexed=True)
    assert command("list", tmp_path)[0]["parts"] == 7


def test_a_failure_to_write_the_index_leaves_the_old_one(server, tmp_path):
    seven_parts(tmp_path)
    place = f"s3://{server.bucket}/x"
    push(tmp_path, place)
    index(place, parts=7)
    store = s3fs.S3FileSystem(skip_instance_cache=True)
    text = store.cat_file(f"{server.bucket}/x/{INDEX}")
    server.faults.append(lambda environ, body: ("403 Forbidden", {}, [b""])
                         if environ["REQUEST_METHOD"] == "PUT" else None)
    _, err = command("index", place, status=5)
    assert INDEX in err and "403" in err
    assert store.cat_file(f"{server.bucket}/x/{INDEX}") == text


def test_an_index_that_cannot_be_read_is_replaced(server, tmp_path):
    seven_parts(tmp_path)
    place = f"s3://{server.bucket}"
    push(tmp_path, place)
    index(place, parts=7)
    server.faults.append(lambda environ, body: ("403 Forbidden", {}, [b""])
                         if (environ["REQUEST_METHOD"], environ["PATH_INFO"][-len(INDEX):]) == ("GET", INDEX)
                         else None)
    index(place, parts=7, read=7)
    assert command("list", place)[0]["parts"] == 7
    assert "403" in command("list", place, "--indexed", status=5)[1]


def test_several_processes_can_write_the_index(tmp_path):
    seven_parts(tmp_path)
    for _ in range(5):
        runs = [subprocess.Popen([BUILD / "iio-stream", "archive", "index", tmp_path, "--quiet"])
                for _ in range(6)]
        assert [one.wait(DEADLINE) for one in runs] == [0] * 6
        assert {**command("list", tmp_path, "--indexed")[0], "as_of": None} == command("list", tmp_path)[0]
    assert [path.name for path in tmp_path.iterdir() if INDEX in path.name] == [INDEX]
