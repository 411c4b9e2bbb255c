# SPDX-License-Identifier: MIT
"""The index says what the metadata say, each of which the full list reads."""
import functools
import itertools
import json
import os
import random
import subprocess
import sys

import numpy as np
import pytest
from archives import command, edit, record, seven_parts
from conftest import BUILD, DEADLINE, REPOSITORY

import iio_stream as ios

pytest.importorskip("s3fs", reason="script/test has it in build/venv")
pytest.importorskip("dask.array", reason="script/test has it in build/venv")
pytest.importorskip("moto.server", reason="script/test has it in build/venv")
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
import s3fs  # noqa: E402
import schemas  # noqa: E402
from pushing import push  # noqa: E402

INDEX = "iio-stream-index.jsonl"
SECOND = 10**9


def index(place, **expected):
    said, err = command("index", place)
    schemas.check("archive-index", said)
    assert not err and {key: said[key] for key in expected} == expected
    return said


def same(place, **options):
    """An archive, opened both ways."""
    full, _ = command("list", place)
    said, _ = command("list", place, "--indexed")
    schemas.check("archive-list", said)
    assert full["as_of"] is None and said["as_of"] is not None
    assert {**said, "as_of": None} == full
    found = ios.archive.open(place, **options)
    by_index = ios.archive.open(place, indexed=True, **options)
    assert tuple(by_index) == found.recordings and by_index.unfinished == found.unfinished
    assert repr(by_index).startswith(repr(found)[:-1])
    return found, by_index


def at(seconds):
    return f"2026-11-26T23:{int(seconds) // 60:02}:{seconds % 60:09.6f}Z"


def fleet(folder, seed):
    """Recordings with losses, retuned, with times in some of their parts; parts are gone."""
    chance = random.Random(seed)
    for name, hardware in (("roof", "AD9361"), ("yard/mast", "AD9081"), ("cellar", None)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        record(folder / f"{name}.sigmf-meta", drop_at=chance.randrange(20_000, 90_000), drop=300,
               samples=150_000)
        parts = sorted((folder / name).parent.glob(f"{(folder / name).name}.*-meta"))
        for number, part in enumerate(parts):
            edit(part, functools.partial(vary, number=number, hardware=hardware, chance=chance))
        for gone in chance.sample(parts[1:-1], 1):
            gone.unlink()
            gone.with_suffix(".sigmf-data").unlink()


def vary(words, number, hardware, chance):
    words["global"]["core:sample_rate"] = 1e4
    if hardware:
        words["global"]["core:hw"] = hardware
    if chance.random() < 0.3:
        words["global"]["core:author"] = f"part {number}"
    for one in list(words["captures"]):
        one.pop("core:datetime", None)
        if chance.random() < 0.7:
            early = chance.choice((0, 0, 0, -5))  # a clock that is set back
            one["core:datetime"] = at(max(one.get("core:global_index", 0) / 1e4 + early, 0))
        one["core:frequency"] = chance.choice((2.4e9, 2.4e9, 100e6))


@pytest.mark.parametrize("seed", range(4))
def test_it_finds_what_reading_all_metadata_finds(tmp_path, seed):
    fleet(tmp_path, seed)
    index(tmp_path, recordings=3, unfinished=0, damaged=0)
    found, by_index = same(tmp_path)
    chance = random.Random(seed)
    edges = [one.time(place) for one in found for gap in one.gaps
             for place in (gap.index, gap.index + gap.lost_min) if one.dated]
    edges += [one.time(part.index) for one in found for part in one.parts if one.dated]
    some = [None, *edges, *(np.datetime64(at(chance.uniform(0, 20))[:-1], "ns") for _ in range(20)),
            np.datetime64("2020-01-01"), np.datetime64("2030-01-01")]
    compared = 0
    for _ in range(150):
        begin, end = chance.choice(some), chance.choice(some)
        if begin is not None and end is not None and begin > end:
            begin, end = end, begin
        wanted = {"time": (begin, end), "frequency": chance.choice((None, 2.4e9, (90e6, 110e6))),
                  "device": chance.choice((None, None, "AD9*", "AD9361")),
                  "name": chance.choice((None, None, "yard/*"))}
        expected = found.select(**wanted)
        assert by_index.select(**wanted).recordings == expected.recordings, wanted
        compared += len(expected) > 0
    assert compared > 40


def test_select_makes_no_more_parts_than_it_takes(tmp_path, monkeypatch):
    parts = seven_parts(tmp_path)
    for number, part in enumerate(parts):
        edit(part, lambda words, n=number: (
            words["global"].update({"core:sample_rate": 1e3}),
            words["captures"][0].update({"core:datetime": at(n * 20)})))
    index(tmp_path, parts=7)
    by_index = ios.archive.open(tmp_path, indexed=True)
    made = []
    module = sys.modules["iio_stream.archive.indexed"]
    monkeypatch.setattr(module, "part_of", lambda stem, *words, of=module.part_of: (made.append(stem),
                                                                                   of(stem, *words))[1])
    [cut] = by_index.select(time=(at(61)[:-1], at(62)[:-1]))
    assert [part.name for part in cut.parts] == ["a.0003.sigmf-data"]
    assert made == ["a.0002", "a.0003", "a.0004"]
    assert not by_index.select(device="other*") and len(made) == 3


def test_computing_by_the_index_gives_the_same(server, tmp_path):
    seven_parts(tmp_path)
    place = f"s3://{server.bucket}/x"
    push(tmp_path, place)
    index(place, parts=7, read=7)
    [found], [by_index] = same(place)
    ours, theirs = (one.to_dask().compute(scheduler="synchronous") for one in (by_index, found))
    assert np.ma.allequal(ours, theirs) and (ours.mask == theirs.mask).all()


def metadata_read(server):
    return [path for method, path, _ in server.bodies if method == "GET" and ".sigmf-meta" in path]


def test_a_bucket_s_metadata_are_read_once(server, tmp_path):
    parts = seven_parts(tmp_path)
    place = f"s3://{server.bucket}"
    push(tmp_path, place)
    index(place, parts=7, read=7)
    before, _ = command("list", place)
    server.bodies.clear()
    index(place, parts=7, read=0)
    assert command("list", place)[0] == before and not metadata_read(server)
    for verb, options in (("verify", ()), ("prune", ("--older", "1d"))):
        server.bodies.clear()
        command(verb, place, *options)
        assert len(metadata_read(server)) == 7, verb
    # Another one, and one more.
    edit(parts[2], lambda words: words["global"].update({"core:hw": "another"}))
    store = s3fs.S3FileSystem(skip_instance_cache=True)
    store.pipe(f"{server.bucket}/{parts[2].name}", parts[2].read_bytes())
    ios.record("sim:", tmp_path / "new.sigmf-meta", rate=0, samples=5)
    push_one = [f"new.sigmf-{kind}" for kind in ("data", "meta")]
    store.pipe({f"{server.bucket}/{name}": (tmp_path / name).read_bytes() for name in push_one})
    server.bodies.clear()
    said, _ = command("list", place)
    assert sorted(path.rsplit("/", 1)[1] for path in metadata_read(server)) == [
        parts[2].name, "new.sigmf-meta"]
    assert said["parts"] == 7 and said["damaged"][0]["name"] == "a.0002.sigmf-meta"
    stale, _ = command("list", place, "--indexed")
    assert {**stale, "as_of": None} == before
    index(place, parts=said["parts"], read=2, damaged=1)
    assert command("list", place, "--indexed")[0]["parts"] == said["parts"]


def test_what_is_damaged_or_unfinished_then_is_said_by_the_index(tmp_path):
    parts = seven_parts(tmp_path)
    edit(parts[6], lambda words: words["global"].update({"iio_stream:state": "recording"}))
    parts[1].write_text("{")
    os.truncate(parts[2].with_suffix(".sigmf-data"), 100)
    index(tmp_path, parts=4, unfinished=1, damaged=2)
    found, by_index = same(tmp_path, on_damage="leave-out")
    assert [one.filename for one in by_index.damaged] == [one.filename for one in found.damaged]
    with pytest.raises(ios.StorageError, match="a.0001.sigmf-meta"):
        ios.archive.open(tmp_path, indexed=True)


def test_without_an_index_both_say_what_writes_it(server, tmp_path):
    seven_parts(tmp_path)
    push(tmp_path, f"s3://{server.bucket}/x")
    for place in (tmp_path, f"s3://{server.bucket}/x"):
        said, err = command("list", place, "--indexed", status=5)
        assert INDEX in err and f"iio-stream archive index {place}" in err and said["recordings"] == []
        with pytest.raises(FileNotFoundError, match=f"{INDEX}.*archive index"):
            ios.archive.open(place, indexed=True)


def spoiled(text):
    """Indexes that are none."""
    head, *lines = text.split(b"\n")
    words = json.loads(head)
    yield "cut in the first line", head[:len(head) // 2]
    yield "empty", b""
    yield "not ours", b'{"a": 1}\n'
    yield "a list", b"[]\n"
    yield "later", json.dumps({**words, "iio_stream_index": 2}).encode() + b"\n" + b"\n".join(lines)
    yield "nested", b"[" * 100_000
    for key in ("as_of_ns", "recordings", "damaged"):
        yield f"{key} is a text", json.dumps({**words, key: "x"}).encode() + b"\n" + b"\n".join(lines)
    for key in words["recordings"][0]:
        if key not in ("seconds", "begin_ns", "device", "frequency", "sample_rate", "gaps", "first_index"):
            only = {name: value for name, value in words["recordings"][0].items() if name != key}
            yield f"no {key}", json.dumps({**words, "recordings": [only]}).encode() + b"\n"


def test_a_damaged_index_is_refused_and_hides_nothing(server, tmp_path):
    seven_parts(tmp_path)
    index(tmp_path, parts=7)
    text = (tmp_path / INDEX).read_bytes()
    full, _ = command("list", tmp_path)
    place = f"s3://{server.bucket}/x"
    push(tmp_path, place)
    store = s3fs.S3FileSystem(skip_instance_cache=True)
    for what, broken in spoiled(text):
        (tmp_path / INDEX).write_bytes(broken)
        store.pipe(f"{server.bucket}/x/{INDEX}", broken)
        for where in (tmp_path, place):
            _, err = command("list", where, "--indexed", status=5)
            assert INDEX in err and f"archive index {where}" in err, (what, err)
            with pytest.raises(ios.StorageError, match=INDEX):
                list(ios.archive.open(where, indexed=True))
        assert command("list", tmp_path)[0] == full, what
        assert command("list", place)[0] == {**full, "place": place}, what
    index(tmp_path, parts=7)
    assert (tmp_path / INDEX).read_bytes().split(b"\n")[1:] == text.split(b"\n")[1:]


def test_an_index_with_damaged_lines_is_refused_by_python_and_hides_nothing(server, tmp_path):
    seven_parts(tmp_path)
    place = f"s3://{server.bucket}/x"
    push(tmp_path, place)
    full, _ = command("list", place)
    index(place, parts=7)
    store = s3fs.S3FileSystem(skip_instance_cache=True)
    text = store.cat_file(f"{server.bucket}/x/{INDEX}")
    lines = text.split(b"\n")
    for number, broken in itertools.product((1, 4), (b"", b"{", b"[]", b"null", b'{"words": 3, "part": 1}')):
        spoilt = b"\n".join([*lines[:number], broken, *lines[number + 1:]])
        store.pipe(f"{server.bucket}/x/{INDEX}", spoilt)
        assert command("list", place)[0] == full
        with pytest.raises(ios.StorageError, match=INDEX):
            list(ios.archive.open(place, indexed=True))
    store.pipe(f"{server.bucket}/x/{INDEX}", b"\n".join(lines[:5]))
    with pytest.raises(ios.StorageError, match="cut short"):
        ios.archive.open(place, indexed=True)
    assert command("list", place)[0] == full


def test_an_index_that_cannot_be_written_leaves_the_one_before(server, tmp_path):
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


def test_people_read_how_old_it_is(tmp_path):
    def said(*words, status=0):
        done = subprocess.run([BUILD / "iio-stream", "archive", *words], capture_output=True, text=True,
                              check=False, timeout=DEADLINE)
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    seven_parts(tmp_path)
    assert "1 recording in 7 parts indexed, 7 metadata read" in said("index", tmp_path)
    by_index = said("list", tmp_path, "--indexed")
    assert by_index.startswith(said("list", tmp_path).rstrip("\n") + "; as of 20")
    assert "archive index" in by_index
    assert "takes no --indexed (it is for list)" in said("verify", tmp_path, "--indexed", status=2)
