# SPDX-License-Identifier: MIT
"""The index contains the same facts as the metadata of the recordings."""
import functools
import hashlib
import json
import os
import random
import subprocess
import sys

import numpy as np
import pytest
from archives import command, edit, index, record, seven_parts
from conftest import BUILD, DEADLINE, REPOSITORY

import iio_stream as ios

pytest.importorskip("s3fs", reason="needs s3fs, which script/test installs")
pytest.importorskip("dask.array", reason="needs dask, which script/test installs")
pytest.importorskip("moto.server", reason="needs moto, which script/test installs")
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
import s3fs  # noqa: E402
import schemas  # noqa: E402
from pushing import push  # noqa: E402


def same(place, **options):
    """Opens an archive with and without its index, and compares the two."""
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
    """Makes recordings with losses, changes of frequency, times in some parts, and missing parts."""
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
            early = chance.choice((0, 0, 0, -5))  # a negative value sets the clock back
            one["core:datetime"] = at(max(one.get("core:global_index", 0) / 1e4 + early, 0))
        one["core:frequency"] = chance.choice((2.4e9, 2.4e9, 100e6))


@pytest.mark.parametrize("seed", range(4))
def test_select_finds_the_same_recordings_with_and_without_the_index(tmp_path, seed):
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


def test_select_by_the_index_creates_only_the_parts_that_it_needs(tmp_path, monkeypatch):
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


def test_computing_by_the_index_gives_the_same_result(server, tmp_path):
    seven_parts(tmp_path)
    place = f"s3://{server.bucket}/x"
    push(tmp_path, place)
    index(place, parts=7, read=7)
    [found], [by_index] = same(place)
    ours, theirs = (one.to_dask().compute(scheduler="synchronous") for one in (by_index, found))
    assert np.ma.allequal(ours, theirs) and (ours.mask == theirs.mask).all()


def metadata_read(server):
    return sorted(path.rsplit("/", 1)[1] for method, path, _ in server.bodies
                  if method == "GET" and ".sigmf-meta" in path)


def test_writing_the_index_reads_only_new_or_changed_metadata(server, tmp_path):
    parts = seven_parts(tmp_path)
    place = f"s3://{server.bucket}"
    push(tmp_path, place)
    index(place, parts=7, read=7)
    before, _ = command("list", place)
    server.bodies.clear()
    schemas.check("archive-index", index(place, parts=7, read=0))
    assert not metadata_read(server)
    for verb, *options in (["list"], ["verify"], ["prune", "--older", "1d"], ["pull", tmp_path / "p"]):
        server.bodies.clear()
        command(verb, place, *options)
        assert len(set(metadata_read(server))) == 7, verb
    # One object is changed, and one is added.
    edit(parts[2], lambda words: words["global"].update({"core:hw": "another"}))
    store = s3fs.S3FileSystem(skip_instance_cache=True)
    store.pipe(f"{server.bucket}/{parts[2].name}", parts[2].read_bytes())
    ios.record("sim:", tmp_path / "new.sigmf-meta", rate=0, samples=5)
    push_one = [f"new.sigmf-{kind}" for kind in ("data", "meta")]
    store.pipe({f"{server.bucket}/{name}": (tmp_path / name).read_bytes() for name in push_one})
    stale, _ = command("list", place, "--indexed")
    assert {**stale, "as_of": None} == before
    said, _ = command("list", place)
    assert said["parts"] == 7 and said["damaged"][0]["name"] == "a.0002.sigmf-meta"
    server.bodies.clear()
    index(place, parts=7, read=2, damaged=1)
    assert metadata_read(server) == [parts[2].name, "new.sigmf-meta"]
    assert command("list", place, "--indexed")[0]["recordings"] == said["recordings"]


def test_metadata_that_were_replaced_while_they_were_read_are_read_again(server, tmp_path):
    """The store lists one object but returns another one, with another ETag."""
    parts = seven_parts(tmp_path)
    place = f"s3://{server.bucket}"
    push(tmp_path, place)
    full, _ = command("list", place)
    words = json.loads(parts[3].read_text())
    words["global"]["core:sha512"] = "0" * 128
    other = json.dumps(words).encode()
    server.faults.append(lambda environ, body: (
        "200 OK", {"ETag": f'"{hashlib.md5(other).hexdigest()}"', "Content-Length": str(len(other))}, [other])
        if environ["REQUEST_METHOD"] == "GET" and environ["PATH_INFO"].endswith(parts[3].name) else None)
    index(place, parts=7, read=7)
    [by_index] = ios.archive.open(place, indexed=True)
    assert by_index.parts[3].sha512 == "0" * 128
    server.faults.clear()
    index(place, parts=7, read=1)
    [by_index] = ios.archive.open(place, indexed=True)
    assert by_index.parts[3].sha512 is None
    assert {**command("list", place, "--indexed")[0], "as_of": None} == full


def test_the_index_contains_damaged_and_unfinished_parts(tmp_path):
    parts = seven_parts(tmp_path)
    edit(parts[6], lambda words: words["global"].update({"iio_stream:state": "recording"}))
    parts[1].write_text("{")
    os.truncate(parts[2].with_suffix(".sigmf-data"), 100)
    index(tmp_path, parts=4, unfinished=1, damaged=2)
    found, by_index = same(tmp_path, on_damage="leave-out")
    assert [one.filename for one in by_index.damaged] == [one.filename for one in found.damaged]
    with pytest.raises(ios.StorageError, match="a.0001.sigmf-meta"):
        ios.archive.open(tmp_path, indexed=True)


def test_the_text_list_shows_the_time_of_the_index(tmp_path):
    def said(*words, status=0):
        done = subprocess.run([BUILD / "iio-stream", "archive", *words], capture_output=True, text=True,
                              check=False, timeout=DEADLINE)
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    seven_parts(tmp_path)
    assert "indexed 1 recording in 7 parts, read the metadata of 7 parts" in said("index", tmp_path)
    by_index = said("list", tmp_path, "--indexed")
    assert by_index.startswith(said("list", tmp_path).rstrip("\n") + "; as of 20")
    assert "archive index" in by_index
    assert "takes no --indexed (it is for list)" in said("verify", tmp_path, "--indexed", status=2)
