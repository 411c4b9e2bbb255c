# SPDX-License-Identifier: MIT
"""Recovery of recordings that were copied, that lost their journal, or that another program changed. An
interrupted raw file cannot be read before its recovery."""
import json
import os
import pathlib
import time

import pytest


def killed(start, tmp_path, words, name):
    """Starts a recording and kills it.

    The blocks hold two seconds, so that a busy machine loses no samples: a raw file cannot record a loss.
    """
    process = start(f"record sim: pattern=ramp rate=1M {words} {name} --progress --block-size 64Ki --blocks 128")
    assert process.stderr.read(1)
    time.sleep(1.3)
    process.kill()
    process.wait()
    return tmp_path / name


def test_recovery_without_the_journal_reports_an_unlimited_possible_loss(start, iio, tmp_path):
    meta = killed(start, tmp_path, "drop_at=100k drop=50", "k.sigmf-meta")
    meta.with_name("k.sigmf-data.journal").unlink()
    iio("recover k.sigmf-meta")
    gaps = iio("verify k.sigmf-meta --json").json["recording"]["gaps"]
    assert gaps["possible"] == 1 and gaps["lost_max"] is None
    iio("verify --pattern ramp k.sigmf-meta")  # the metadata contain each loss


@pytest.mark.parametrize("name", ["k.sigmf-meta", "k.ci16"])
def test_a_copy_with_zeros_in_place_of_holes_is_recovered_the_same_way(start, iio, tmp_path, name):
    killed(start, tmp_path, "", name)
    data = tmp_path / (name if name.endswith(".ci16") else "k.sigmf-data")
    journal = data.with_name(data.name + ".journal")
    for file in [data, journal, *tmp_path.glob("*.sigmf-meta")]:  # like tar and cp --sparse=never
        content = file.read_bytes()
        file.unlink()
        file.write_bytes(content)
    if len(content := data.read_bytes()) == len(content.rstrip(b"\0")):
        pytest.skip("no space was reserved")
    iio("recover", name)
    iio(f"verify --pattern ramp {name}")
    assert data.stat().st_size < len(content)


def test_recovery_of_a_copy_ends_before_a_block_of_zeros(start, iio, tmp_path):
    """Of several writes in flight, a later one can complete first. The samples after the hole are kept in
    another file."""
    killed(start, tmp_path, "", "k.sigmf-meta")
    data = tmp_path / "k.sigmf-data"
    content = bytearray(data.read_bytes())
    end = len(content.rstrip(b"\0"))
    if end == len(content):
        pytest.skip("no space was reserved")
    journal = data.with_name(data.name + ".journal")
    journal.write_text(journal.read_text().splitlines(keepends=True)[0])  # the last mark is before the hole
    hole = end // 65536 * 65536 - 3 * 65536
    content[hole:hole + 65536] = bytes(65536)
    data.unlink()
    data.write_bytes(content)
    iio("recover k.sigmf-meta")
    assert data.stat().st_size == hole
    assert (tmp_path / "k.sigmf-data.tail").read_bytes().rstrip(b"\0") == content[hole:].rstrip(b"\0")
    iio("verify --pattern ramp k.sigmf-meta")


def test_an_interrupted_raw_file_is_not_a_source(start, iio, tmp_path):
    killed(start, tmp_path, "", "d.ci16")
    if not (tmp_path / "d.ci16.journal").exists():
        pytest.skip("the file was written through the page cache")
    for command in ("play d.ci16 rate=0 null:", "stream d.ci16 e.ci16"):
        assert "iio-stream recover d.ci16" in iio(command, status=5).err
    assert not (tmp_path / "e.ci16").exists()
    iio("recover d.ci16")
    iio("stream d.ci16 e.ci16")
    iio("verify --pattern ramp e.ci16")


def test_recover_cuts_off_data_that_were_appended_to_a_complete_recording(iio, tmp_path):
    iio("record sim: rate=0 x.sigmf-meta --samples 10k")
    with (tmp_path / "x.sigmf-data").open("ab") as data:
        data.write(b"?" * 4000)
    iio("recover x.sigmf-meta")
    assert (tmp_path / "x.sigmf-data.tail").read_bytes() == b"?" * 4000
    assert iio("verify --pattern ramp x.sigmf-meta --json").json["samples"] == 10_000


def test_an_impossible_sample_count_in_the_metadata_loses_no_sample(iio, tmp_path):
    iio("record sim: rate=0 x.sigmf-meta --samples 10k")
    before, meta = (tmp_path / "x.sigmf-data").read_bytes(), json.loads((tmp_path / "x.sigmf-meta").read_text())
    meta["global"]["iio_stream:samples"] = 1 << 62  # this number times 4 is 0 in 64 bits
    (tmp_path / "x.sigmf-meta").write_text(json.dumps(meta))
    iio("recover x.sigmf-meta")
    assert (tmp_path / "x.sigmf-data").read_bytes() == before
    assert iio("verify --pattern ramp x.sigmf-meta --json").json["samples"] == 10_000


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="there is no tmpfs at /dev/shm")
def test_a_recording_can_be_in_dev_shm(iio, tmp_path):
    name = f"/dev/shm/{tmp_path.name}-{os.getpid()}.sigmf-meta"
    try:
        iio("record sim: rate=0 drop_at=500 drop=300", name, "--samples 10k")
        assert iio("verify --pattern ramp --json", name).json["recording"]["gaps"]["lost_min"] == 300
    finally:
        for path in pathlib.Path("/dev/shm").glob(pathlib.Path(name).stem + "*"):
            path.unlink()


@pytest.mark.parametrize("extensions", [None, [{"name": "antenna", "version": "1.0.0", "optional": True}]])
def test_recover_keeps_the_metadata_of_another_program_valid(iio, tmp_path, package, extensions):
    """The data do not end with a whole sample. recover describes this in keys of its own extension."""
    said = {"global": {"core:datatype": "ci16_le", "core:version": "1.2.5"},
            "captures": [{"core:sample_start": 0}], "annotations": []}
    if extensions:
        said["global"]["core:extensions"] = extensions
    (tmp_path / "x.sigmf-meta").write_text(json.dumps(said))
    (tmp_path / "x.sigmf-data").write_bytes(bytes(range(250)) * 16 + b"?")
    iio("verify x", status=5)
    iio("recover x")
    declared = json.loads((tmp_path / "x.sigmf-meta").read_text())["global"]["core:extensions"]
    assert sorted(one["name"] for one in declared) == sorted(["iio_stream", *(["antenna"] if extensions else [])])
    assert iio("verify x --json").json["samples"] == 1000
    assert all(one["same"] for one in package(tmp_path / "x.sigmf-meta"))


def test_recover_removes_metadata_files_that_were_not_renamed_yet(iio, tmp_path):
    """The recorder was killed while it prepared the next part, before it renamed its metadata file."""
    iio("record sim: rate=0 k rotate_bytes=64Ki --block-size 16Ki --samples 32k")
    for part in ("k.0001", "k.0002"):
        (tmp_path / f"{part}.sigmf-meta.new").write_text("{")
    assert not (tmp_path / "k.0002.sigmf-meta").exists()
    iio("recover k.0001.sigmf-meta")
    assert not list(tmp_path.glob("*.new"))
