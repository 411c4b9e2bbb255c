# SPDX-License-Identifier: MIT
"""SigMF archives are recordings in a tar file, as tar, Python's tarfile and SigMF's own package write
them."""
import json
import subprocess
import tarfile

import numpy
import pytest

from conftest import DEADLINE

SAMPLES = numpy.arange(4000, dtype="<i2").reshape(-1, 2)


@pytest.fixture
def pair(tmp_path):
    """Writes a recording into its own folder, for tar."""

    def make(folder="rec", name="rec", **more):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        meta = {"global": {"core:datatype": "ci16_le", "core:sample_rate": 1e6, "core:version": "1.2.5", **more},
                "captures": [{"core:sample_start": 0, "core:frequency": 433.92e6}], "annotations": []}
        (tmp_path / folder / f"{name}.sigmf-meta").write_text(json.dumps(meta))
        (tmp_path / folder / f"{name}.sigmf-data").write_bytes(SAMPLES.tobytes())

    return make


@pytest.fixture
def tar(tmp_path):
    def run(*words):
        subprocess.run(["tar", *words], cwd=tmp_path, check=True, timeout=DEADLINE)

    return run


@pytest.fixture
def plays(iio, tmp_path):
    """Checks that stream and verify find the samples, format and rate of the recording in an archive."""

    def check(archive="arch.sigmf", *words):
        (tmp_path / "out.bin").unlink(missing_ok=True)
        summary = iio("stream", archive, *words, "out.bin --json").json
        assert (tmp_path / "out.bin").read_bytes() == SAMPLES.tobytes()
        assert (summary["sample_format"], summary["sample_rate"]) == ("ci16_le", 1e6)
        checked = iio("verify", archive, "--json").json
        assert checked["ok"] and checked["samples"] == len(SAMPLES) and checked["recording"]["kind"] == "sigmf"
        return summary

    return check


@pytest.mark.parametrize("options", ["", "overwrite=on", "rotate_bytes=4Ki"])
def test_a_recording_is_refused_if_its_name_is_that_of_an_archive(pair, tar, plays, iio, tmp_path, options):
    pair()
    tar("-cf", "arch.sigmf", "rec")
    refused = iio(f"record sim: arch.sigmf {options} --samples 100 --block-size 4Ki", status=2).err
    assert "arch.sigmf is an archive" in refused and "arch.sigmf-meta names the recording" in refused
    assert not list(tmp_path.glob("arch.*sigmf-*"))
    plays()
    iio("record sim: new.sigmf --samples 100")
    assert iio("verify new.sigmf --json").json["samples"] == 100


@pytest.mark.parametrize("form", ["ustar", "pax", "gnu", "v7", "oldgnu"])
def test_every_format_of_tar_plays_and_verifies(pair, tar, plays, form):
    pair()
    tar(f"--format={form}", "-cf", "arch.sigmf", "rec")
    plays()


@pytest.mark.parametrize("form", ["ustar", "pax", "gnu"])
def test_long_names_are_read(pair, tar, plays, form):
    folder = "/".join(["a" * 40] * 3)
    pair(folder, "n" * (60 if form == "ustar" else 200))
    tar(f"--format={form}", "-cf", "arch.sigmf", folder)
    plays()


def test_the_order_of_members_and_other_files_do_not_matter(pair, tar, plays, tmp_path):
    pair()
    (tmp_path / "rec" / "readme.txt").write_text("x" * 1000)
    tar("-cf", "arch.sigmf", "rec/readme.txt", "rec/rec.sigmf-data", "rec/rec.sigmf-meta")
    plays()


@pytest.mark.parametrize("again", ["rec/rec.sigmf-data", "./rec/rec.sigmf-data", "rec/rec.sigmf-meta", "rec"])
def test_the_last_of_several_members_with_one_name_is_used(pair, tar, plays, tmp_path, again):
    pair()
    data, meta = tmp_path / "rec" / "rec.sigmf-data", tmp_path / "rec" / "rec.sigmf-meta"
    if "data" in again or again == "rec":
        data.write_bytes(bytes(SAMPLES.nbytes // 2))
    if "meta" in again or again == "rec":
        meta.write_text(meta.read_text().replace("1000000.0", "2000000.0"))
    tar("-cf", "arch.sigmf", "rec")
    pair()
    tar("-rf", "arch.sigmf", again)
    plays()


def test_the_frequency_is_kept(pair, tar, iio, tmp_path):
    pair()
    tar("-cf", "arch.sigmf", "rec")
    iio("stream arch.sigmf copy.sigmf-meta")
    copy = json.loads((tmp_path / "copy.sigmf-meta").read_text())
    assert copy["captures"][0]["core:frequency"] == 433.92e6


def test_samples_in_an_archive_are_read_directly_or_the_route_gives_a_reason(pair, tar, plays):
    pair()
    tar("-cf", "arch.sigmf", "rec")
    hop = plays()["route"][0]
    if "direct" in hop["mechanism"] and hop["copies"] != 0:
        assert "the samples begin at byte" in hop["reason"]
    assert plays("arch.sigmf", "direct=off")["route"][0]["mechanism"] == "buffered"


def test_an_archive_loops_without_a_gap(pair, tar, iio, tmp_path):
    pair()
    tar("-cf", "arch.sigmf", "rec")
    iio("stream arch.sigmf loop=on out.bin --samples 7000 --block-size 4Ki")
    assert (tmp_path / "out.bin").read_bytes() == (SAMPLES.tobytes() * 4)[:7000 * 4]


def test_the_hash_of_the_samples_in_an_archive_is_checked(pair, tar, iio, plays, tmp_path):
    pair()
    iio("verify rec/rec.sigmf-meta --add-hash")
    tar("-cf", "arch.sigmf", "rec")
    plays()
    assert iio("verify arch.sigmf --json").json["recording"]["hash"] == "good"
    archive = bytearray((tmp_path / "arch.sigmf").read_bytes())
    at = archive.index(SAMPLES.tobytes())
    archive[at + 100] ^= 1
    (tmp_path / "arch.sigmf").write_bytes(archive)
    assert iio("verify arch.sigmf --json", status=5).json["recording"]["hash"] == "bad"


def test_an_archive_is_never_changed(pair, tar, iio, tmp_path):
    pair()
    tar("-cf", "arch.sigmf", "rec")
    before = (tmp_path / "arch.sigmf").read_bytes()
    assert "tar -xf" in iio("verify arch.sigmf --add-hash", status=2).err
    iio("recover arch.sigmf", status=None)
    assert (tmp_path / "arch.sigmf").read_bytes() == before


def test_an_archive_made_by_pythons_tarfile_is_read(pair, plays, tmp_path):
    """sigmf-python makes archives with tarfile in pax format, without an entry for the folder."""
    pair()
    with tarfile.open(tmp_path / "arch.sigmf", "w", format=tarfile.PAX_FORMAT) as archive:
        for suffix in ("meta", "data"):
            archive.add(tmp_path / "rec" / f"rec.sigmf-{suffix}", f"rec/rec.sigmf-{suffix}")
    plays()


def test_a_recording_is_read_if_there_is_no_archive_of_its_name(pair, iio):
    pair(".", "rec")
    assert iio("stream rec.sigmf null: --json").json["samples"] == len(SAMPLES)


def test_bad_archives_are_errors(pair, tar, iio, tmp_path):
    pair()
    pair("two", "two")
    tar("-cf", "good.sigmf", "rec")
    good = (tmp_path / "good.sigmf").read_bytes()
    tar("-cf", "both.sigmf", "rec", "two")
    tar("-cf", "nometa.sigmf", "rec/rec.sigmf-data")
    tar("-cf", "nodata.sigmf", "rec/rec.sigmf-meta")
    tar("-czf", "packed.sigmf", "rec")
    (tmp_path / "rec" / "rec.sigmf-data").write_bytes(b"")
    (tmp_path / "rec" / "rec.sigmf-data").open("r+b").truncate(1 << 20)
    tar("--sparse", "-cf", "sparse.sigmf", "rec")
    at = good.index(b"rec/rec.sigmf-data")
    cases = {"empty": b"", "text": b"not a tar file\n" * 100, "cut": good[:at + 512 + 1000],
             "cut-header": good[:at + 100], "damaged": good[:at + 124] + b"x" + good[at + 125:]}
    for name, content in cases.items():
        (tmp_path / f"{name}.sigmf").write_bytes(content)
    why = {"both": "2 recordings", "nometa": "no file NAME.sigmf-meta", "nodata": "without its .sigmf-data",
           "packed": "not a valid header", "sparse": "holes", "empty": "before the first header",
           "text": "not a valid header", "cut": "truncated", "cut-header": "truncated", "damaged": "not a valid header"}
    for name, words in why.items():
        for command in (f"stream {name}.sigmf null:", f"verify {name}.sigmf"):
            refused = iio(command, status=None)
            assert refused.status in (2, 5) and words in refused.err and f"{name}.sigmf" in refused.err, refused.err


@pytest.mark.parametrize("size, status", [(64 << 20, 0), ((64 << 20) + 1, 5)])
def test_every_reader_refuses_metadata_of_more_than_64_mib(iio, tmp_path, size, status):
    iio("record sim: rate=0 x --samples 1k")
    meta = tmp_path / "x.sigmf-meta"
    meta.write_text(meta.read_text().ljust(size))
    with tarfile.open(tmp_path / "y.sigmf", "w") as archive:
        archive.add(meta, "y.sigmf-meta")
        archive.add(tmp_path / "x.sigmf-data", "y.sigmf-data")
    for command in ("verify x", "recover x", "play x null: rate=0", "verify y.sigmf"):
        done = iio(command, status=status)
        assert ("the metadata have more than 64 MiB" in done.err) == (status != 0), command
