# SPDX-License-Identifier: MIT
"""`iio-stream archive pack` writes SigMF archives that tar, SigMF's own package and iio-stream can read."""
import hashlib
import json
import os
import pathlib
import resource
import subprocess
import tarfile
import time

import pytest
from conftest import BUILD, DEADLINE, ramp
from waiting import until

SAMPLES = 100_000


@pytest.fixture
def roof(iio, tmp_path):
    """A recording with the SHA-512 of its samples."""
    iio(f"record sim: pattern=ramp roof.sigmf-meta hash=end --samples {SAMPLES}")
    return tmp_path / "roof.sigmf-meta"


def tar(folder, *words):
    return subprocess.run(["tar", *words], cwd=folder, check=True, capture_output=True, text=True,
                          timeout=DEADLINE).stdout


def is_clean(folder, *more):
    """Returns whether the folder contains only the recording and the named files."""
    return {path.name for path in folder.iterdir()} == {"roof.sigmf-data", "roof.sigmf-meta", *more}


def test_tar_lists_and_unpacks_a_packed_archive(roof, iio, tmp_path):
    said = iio("archive pack roof.sigmf-meta out.sigmf --json").json
    schemas = pytest.importorskip("schemas")
    schemas.check("archive-pack", said)
    assert (said["recordings"], said["hashed"], said["bytes"]) == (1, 1, SAMPLES * 4)
    assert tar(tmp_path, "tf", "out.sigmf").splitlines() == [
        "roof/", "roof/roof.sigmf-meta", "roof/roof.sigmf-data"]
    (tmp_path / "there").mkdir()
    tar(tmp_path / "there", "xf", "../out.sigmf")
    for kind in ("meta", "data"):
        assert (tmp_path / "there" / "roof" / f"roof.sigmf-{kind}").read_bytes() == \
            (tmp_path / f"roof.sigmf-{kind}").read_bytes()
    assert is_clean(tmp_path, "out.sigmf", "there")
    with tarfile.open(tmp_path / "out.sigmf") as archive:
        assert all(member.mode & 0o777 == (0o755 if member.isdir() else 0o644) and member.uid == 0
                   and abs(member.mtime - roof.stat().st_mtime) < 60 for member in archive)


@pytest.mark.parametrize("name", ["roof", "roof.sigmf-meta", "roof.sigmf-data"])
def test_an_archive_plays_and_verifies(roof, iio, tmp_path, name):
    iio("archive pack", name, "out.sigmf")
    iio("stream out.sigmf out.bin")
    assert (tmp_path / "out.bin").read_bytes() == ramp(SAMPLES)
    checked = iio("verify out.sigmf --json").json
    assert checked["ok"] and checked["samples"] == SAMPLES and checked["recording"]["hash"] == "good"


READER = """
import hashlib, sys, warnings, numpy, sigmf
warnings.simplefilter("error")
file = sigmf.fromfile(sys.argv[1], autoscale=False)
file.validate()
numbers = numpy.ascontiguousarray(file.read_samples()).view(numpy.float32)
print(file.sample_count, hashlib.sha256(numbers.astype("<i2").tobytes()).hexdigest())
"""


def test_sigmfs_own_package_reads_a_packed_archive(roof, iio, tmp_path):
    python = BUILD / "venv/bin/python"
    if not python.exists() or subprocess.run([python, "-c", "import sigmf"], capture_output=True,
                                             check=False).returncode:
        pytest.skip("build/venv has no sigmf")
    iio("archive pack roof out.sigmf")
    read = subprocess.run([python, "-c", READER, tmp_path / "out.sigmf"], capture_output=True, text=True,
                          timeout=DEADLINE, check=False)
    assert read.returncode == 0, read.stderr
    assert read.stdout.split() == [str(SAMPLES), hashlib.sha256(ramp(SAMPLES)).hexdigest()]


@pytest.mark.parametrize("name", ["n" * 90, "n" * 150, "räum", "with space"], ids=len)
def test_long_and_non_ascii_names_are_kept(iio, tmp_path, name):
    iio("record sim: rate=0 a.sigmf-meta --samples 100")
    for kind in ("meta", "data"):
        (tmp_path / f"a.sigmf-{kind}").rename(tmp_path / f"{name}.sigmf-{kind}")
    subprocess.run([BUILD / "iio-stream", "archive", "pack", name, "out.sigmf"], cwd=tmp_path, check=True,
                   capture_output=True, timeout=DEADLINE)
    assert tar(tmp_path, "tf", "out.sigmf", "--quoting-style=literal").splitlines()[1:] == [
        f"{name}/{name}.sigmf-{kind}" for kind in ("meta", "data")]
    with tarfile.open(tmp_path / "out.sigmf") as archive:
        assert archive.getnames()[0] == name
    assert iio("verify out.sigmf --json").json["samples"] == 100


def test_each_of_several_recordings_gets_its_own_folder(roof, iio, tmp_path):
    iio("record sim: rate=0 yard.sigmf-meta --samples 10")
    assert iio("archive pack roof yard both.sigmf --json").json["recordings"] == 2
    assert tar(tmp_path, "tf", "both.sigmf").splitlines() == [
        f"{name}/{file}" for name in ("roof", "yard")
        for file in ("", f"{name}.sigmf-meta", f"{name}.sigmf-data")]
    assert "tar -xf" in iio("stream both.sigmf null:", status=2).err
    (tmp_path / "else").mkdir()
    iio("record sim: rate=0 else/roof.sigmf-meta --samples 10")
    assert "two recordings are called roof" in iio("archive pack roof else/roof two.sigmf", status=2).err
    assert not (tmp_path / "two.sigmf").exists()


def test_an_existing_file_is_replaced_only_with_overwrite(roof, iio, tmp_path):
    (tmp_path / "out.sigmf").write_text("mine")
    refused = iio("archive pack roof out.sigmf", status=5)
    assert "--overwrite replaces it" in refused.err and (tmp_path / "out.sigmf").read_text() == "mine"
    iio("archive pack roof out.sigmf --overwrite")
    assert iio("verify out.sigmf --json").json["ok"] and is_clean(tmp_path, "out.sigmf")


def test_a_dangling_symlink_is_not_replaced(roof, iio, tmp_path):
    """The same check protects a file that another program creates while the archive is packed."""
    (tmp_path / "out.sigmf").symlink_to("nowhere")
    iio("archive pack roof out.sigmf", status=5)
    assert os.readlink(tmp_path / "out.sigmf") == "nowhere" and is_clean(tmp_path, "out.sigmf")


def test_packing_without_enough_space_leaves_no_file(iio, tmp_path):
    iio("record sim: rate=0 roof.sigmf-meta --bytes 8Mi")
    iio("archive pack roof out.sigmf", status=5,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20)))
    assert is_clean(tmp_path)


def has_open(process, path):
    for fd in pathlib.Path(f"/proc/{process.pid}/fd").glob("*"):
        try:
            if os.readlink(fd) == str(path.resolve()):
                return True
        except OSError:  # the file was closed in the meantime, or the process has ended
            pass
    return False


def test_killed_packing_leaves_no_file(iio, start, tmp_path):
    iio("record sim: rate=0 roof.sigmf-meta --bytes 64Mi")
    for _ in range(20):
        packing = start("archive pack roof out.sigmf")
        while packing.poll() is None and not has_open(packing, tmp_path / "roof.sigmf-data"):
            time.sleep(0.001)
        packing.kill()
        packing.wait(DEADLINE)
        if not (tmp_path / "out.sigmf").exists():
            break
        (tmp_path / "out.sigmf").unlink()  # packing finished before the kill
    else:
        pytest.fail("every run finished before it was killed")
    assert is_clean(tmp_path)


def test_damaged_samples_are_not_packed(roof, iio, tmp_path):
    samples = bytearray((tmp_path / "roof.sigmf-data").read_bytes())
    samples[1000] ^= 1
    (tmp_path / "roof.sigmf-data").write_bytes(samples)
    assert "SHA-512" in iio("archive pack roof out.sigmf", status=5).err and is_clean(tmp_path)


def test_anything_but_a_complete_recording_is_refused(roof, iio, start, tmp_path):
    (tmp_path / "raw.cf32").write_bytes(bytes(80))
    iio("archive pack roof packed.sigmf")
    for words, why, status in (
            ("raw.cf32 out.sigmf", "not a SigMF recording", 2),
            ("packed.sigmf out.sigmf", "not a SigMF recording", 2),
            ("nothing out.sigmf", "nothing.sigmf-meta", 5), ("roof out.tar", "NAME.sigmf", 2),
            ("roof no/such/out.sigmf", "no/such/out.sigmf", 5), ("roof", "has no destination", 2)):
        assert why in iio("archive pack", words, status=status).err
    assert "is for pack" in iio("archive list . --overwrite", status=2).err
    recorder = start("record sim: rate=1M live.sigmf-meta")
    data = tmp_path / "live.sigmf-data"
    until(lambda: data.exists() and data.stat().st_size > 0, "the first samples")  # the file is now locked
    assert "it is being recorded" in iio("archive pack live out.sigmf", status=5).err
    recorder.kill()
    recorder.wait()
    refused = iio("archive pack live out.sigmf", status=5).err
    assert "interrupted" in refused and "recover" in refused
    meta = json.loads(roof.read_text())
    meta["global"]["core:dataset"] = "roof.wav"
    roof.write_text(json.dumps(meta))
    (tmp_path / "roof.sigmf-data").rename(tmp_path / "roof.wav")
    iio("archive pack roof out.sigmf", status=5)
    assert not (tmp_path / "out.sigmf").exists()


def test_the_shell_completes_verbs_and_options(iio):
    words = [line.split("\t")[0] for line in iio("help --complete archive p").out.splitlines()]
    assert words == ["push", "prune", "pull", "pack"]
    assert "--overwrite" in iio("help --complete archive pack --o").out
