# SPDX-License-Identifier: MIT
"""`iio-stream archive verify` finds damage to recordings, in a folder and in a bucket."""
import hashlib
import json
import os
import subprocess
import sys

import pytest
from archives import COUNT, command, edit, record, seven_parts, told
from conftest import BUILD, REPOSITORY

import iio_stream as ios

pytest.importorskip("s3fs", reason="needs s3fs, which script/test installs")
pytest.importorskip("moto.server", reason="needs moto, which script/test installs")
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
import s3fs  # noqa: E402
import schemas  # noqa: E402
from pushing import push  # noqa: E402


def hashed(folder):
    """Makes seven parts with the SHA-512 of their samples, which Python computes."""
    folder.mkdir()
    parts = seven_parts(folder)
    for part in parts:
        samples = part.with_suffix(".sigmf-data").read_bytes()
        edit(part, lambda words, s=samples: words["global"].update(
            {"core:sha512": hashlib.sha512(s).hexdigest()}))
    return parts


def put(folder, bucket):
    """Copies a folder to a bucket unchanged, because push would refuse damaged files."""
    store = s3fs.S3FileSystem(skip_instance_cache=True)
    store.pipe({f"{bucket}/{path.name}": path.read_bytes() for path in folder.iterdir()})


def verdicts(server, folder, status):
    """Verifies a folder and its copy in a bucket. Both must give the same result."""
    said, err = command("verify", folder, status=status)
    schemas.check("archive-verify", said)
    put(folder, server.bucket)
    again, _ = command("verify", f"s3://{server.bucket}", status=status)
    for one in (said, again):
        one.pop("place")
        one["error"] = bool(one["error"])
    for one, other in zip(said["problems"], again["problems"]):
        assert one["name"] == other["name"]
    one, other = ({**verdict, "problems": len(verdict["problems"])} for verdict in (said, again))
    assert one == other
    return said, err


def test_undamaged_recordings_are_good(server, tmp_path):
    hashed(tmp_path / "rec")
    ios.record("sim:", tmp_path / "rec" / "b.sigmf-meta", rate=0, samples=10)
    (tmp_path / "rec" / "c.sigmf-data").write_bytes(bytes(100))
    said, _ = verdicts(server, tmp_path / "rec", 0)
    assert said["ok"] and (said["recordings"], said["parts"]) == (2, 8)
    assert (said["good"], said["without_hash"]) == (7, 1)
    assert said["bytes"] == COUNT * 4 and said["unfinished"] == ["c"]
    assert said["gaps"] == {"certain": 1, "possible": 0, "lost_min": 300, "lost_max": 300}
    text = subprocess.run([BUILD / "iio-stream", "archive", "verify", tmp_path / "rec"], capture_output=True,
                          text=True, check=True, timeout=60).stdout
    assert "2 recordings in 8 parts: 7 with a good hash, 1 without one" in text and "1 unfinished" in text


def test_a_part_that_a_killed_recorder_had_prepared_is_not_a_loss(server, tmp_path):
    record(tmp_path / "a.sigmf-meta", rate=1e6)
    ready = tmp_path / "a.0007.sigmf-meta"
    ready.write_bytes((tmp_path / "a.0006.sigmf-meta").read_bytes())
    ready.with_suffix(".sigmf-data").write_bytes(b"")
    edit(ready, lambda words: (words["global"].update({"iio_stream:samples": 0}),
                               words["captures"][0].update({"core:global_index": 10 * COUNT})))
    said, _ = verdicts(server, tmp_path, 0)
    assert said["ok"] and said["parts"] == 8 and said["gaps"]["certain"] == 0
    [recording] = ios.archive.open(f"s3://{server.bucket}").recordings
    assert recording.stop == COUNT and not recording.gaps
    [listed] = command("list", tmp_path)[0]["recordings"]
    assert listed.pop("seconds") == pytest.approx(0.1) and [listed] == told(ios.archive.open(tmp_path))


def shortened(parts):
    os.truncate(parts[2].with_suffix(".sigmf-data"), 65532)


def flipped(parts):
    data = parts[2].with_suffix(".sigmf-data")
    samples = bytearray(data.read_bytes())
    samples[40_000] ^= 1
    data.write_bytes(samples)


def longer(parts):
    with open(parts[2].with_suffix(".sigmf-data"), "ab") as data:
        data.write(bytes(4))


def gone(parts):
    for path in (parts[2], parts[2].with_suffix(".sigmf-data")):
        path.unlink()


def jumps(parts):
    for part in parts[2:]:
        edit(part, lambda words: [one.update({"core:global_index": one["core:global_index"] + 7})
                                  for one in words["captures"]])


HARM = {
    "a flipped bit": (flipped, "a.0002.sigmf-data", "SHA-512", 6),
    "too short": (shortened, "a.0002.sigmf-meta", "16384 samples of 4 bytes", 6),
    "too long": (longer, "a.0002.sigmf-data", "65540 bytes, but 65536 according to its metadata", 6),
    "no samples": (lambda parts: parts[2].with_suffix(".sigmf-data").unlink(), "a.0002.sigmf-data", "", 6),
    "not JSON": (lambda parts: parts[2].write_text("{"), "a.0002.sigmf-meta", "JSON", 6),
    "a part is missing": (gone, "a.0003.sigmf-meta", "no part between a.0001 and it", 6),
    "an unrecorded loss": (jumps, "a.0002.sigmf-meta", "7 samples are missing before it, and not", 7),
    "overlap": (lambda parts: edit(parts[2], lambda words: words["captures"][0].update(
        {"core:global_index": 100})), "a.0002.sigmf-meta", "before the end of a.0001", 6),
    "another format": (lambda parts: edit(parts[2], lambda words: words["global"].update(
        {"core:sample_rate": 5.0})), "a.0002.sigmf-meta", "5 Hz", 6),
    "another device": (lambda parts: edit(parts[2], lambda words: words["global"].update(
        {"core:hw": "another"})), "a.0002.sigmf-meta", "'another'", 6),
}


@pytest.mark.parametrize("harm", HARM)
def test_the_damaged_file_is_named(server, tmp_path, harm):
    change, name, words, good = HARM[harm]
    change(hashed(tmp_path / "rec"))
    said, err = verdicts(server, tmp_path / "rec", 5)
    assert not said["ok"] and said["good"] == good
    assert any(one["name"] == name and words in one["what"] for one in said["problems"]), said["problems"]
    assert f"archive: {name}: " in err


def test_recorded_losses_and_pruned_parts_are_not_problems(tmp_path):
    """The losses are at several places in a part, including its beginning and end. The loss of recording b is
    removed with its part."""
    for name, place in (("a", 16_384), ("b", 16_383), ("c", 16_385), ("d", 99_999)):
        record(tmp_path / f"{name}.sigmf-meta", drop_at=place, drop=300)
    for path in tmp_path.glob("b.0000.*"):
        path.unlink()
    said, _ = command("verify", tmp_path)
    assert said["ok"] and said["gaps"]["lost_min"] == 900


def test_verify_continues_after_a_broken_connection(server, tmp_path):
    hashed(tmp_path / "rec")
    push(tmp_path / "rec", f"s3://{server.bucket}")
    cut = set()

    def fault(environ, body):
        path = environ["RAW_URI"]
        if not path.endswith("-data") or path in cut:
            return None
        cut.add(path)
        whole = (tmp_path / "rec" / path.rsplit("/", 1)[1]).read_bytes()

        def half():
            yield whole[:len(whole) // 2]
            raise OSError("cut")

        etag = hashlib.md5(whole).hexdigest()
        return "200 OK", {"Content-Length": str(len(whole)), "ETag": f'"{etag}"'}, half()

    server.faults.append(fault)
    server.asked.clear()
    said, _ = command("verify", f"s3://{server.bucket}")
    assert said["good"] == 7 == len(cut) and said["bytes"] == COUNT * 4
    assert all(part for method, path, part, _ in server.asked if path.endswith("-data"))


def test_an_object_that_changes_while_it_is_read_is_a_problem(server, tmp_path):
    hashed(tmp_path / "rec")
    push(tmp_path / "rec", f"s3://{server.bucket}")

    def fault(environ, body):
        if not environ["RAW_URI"].endswith("a.0003.sigmf-data") or "HTTP_RANGE" in environ:
            return None

        def half():
            yield bytes(1000)
            raise OSError("cut")

        return "200 OK", {"Content-Length": "65536", "ETag": '"another"'}, half()

    server.faults.append(fault)
    said, _ = command("verify", f"s3://{server.bucket}", status=5)
    assert said["good"] == 6 and [one["name"] for one in said["problems"]] == ["a.0003.sigmf-data"]


def test_a_store_that_becomes_unreachable_is_an_error(server, tmp_path):
    hashed(tmp_path / "rec")
    push(tmp_path / "rec", f"s3://{server.bucket}")
    server.faults.append(lambda environ, body: OSError("cut") if environ["RAW_URI"].endswith("-data")
                         else None)
    said, err = command("verify", f"s3://{server.bucket}", "--retry", "0.5s", status=5)
    assert not said["ok"] and json.dumps(said["error"]) and "sigmf-data" in err


def test_data_compares_samples_without_a_hash_with_the_md5_of_the_store(server, tmp_path, monkeypatch):
    """The store has an MD5 of the samples. A folder has none."""
    (tmp_path / "rec").mkdir()
    seven_parts(tmp_path / "rec")
    url = f"s3://{server.bucket}"
    push(tmp_path / "rec", url)
    said, _ = command("verify", url, "--data")
    schemas.check("archive-verify", said)
    assert (said["good"], said["good_in_store"], said["without_hash"], said["bytes"]) == (0, 7, 0, COUNT * 4)
    said, _ = command("verify", tmp_path / "rec", "--data")
    assert (said["good_in_store"], said["without_hash"], said["bytes"]) == (0, 7, COUNT * 4)
    app = server._app

    def damaged(environ, start):
        answer = b"".join(app(environ, start))
        return [b"x" + answer[1:] if environ["PATH_INFO"].endswith("a.0003.sigmf-data") else answer]

    monkeypatch.setattr(server, "_app", damaged)
    assert command("verify", url)[0]["without_hash"] == 7
    said, err = command("verify", url, "--data", status=5)
    assert said["good_in_store"] == 6 and [one["name"] for one in said["problems"]] == ["a.0003.sigmf-data"]
    assert "its MD5 is " in err and "is for verify" in command("list", url, "--data", status=2)[1]


def test_a_wrong_range_of_an_object_is_refused(server, tmp_path):
    """After a broken connection the store sends the missing bytes, but with the Content-Range of the first
    ones."""
    hashed(tmp_path / "rec")
    push(tmp_path / "rec", f"s3://{server.bucket}")
    whole = (tmp_path / "rec" / "a.0003.sigmf-data").read_bytes()
    etag = f'"{hashlib.md5(whole).hexdigest()}"'

    def fault(environ, body):
        if not environ["RAW_URI"].endswith("a.0003.sigmf-data"):
            return None

        def half():
            yield whole[:32768]
            raise OSError("cut")

        if "HTTP_RANGE" not in environ:
            return "200 OK", {"Content-Length": "65536", "ETag": etag}, half()
        return ("206 Partial Content", {"Content-Length": "32768", "ETag": etag,
                                        "Content-Range": "bytes 0-32767/65536"}, [whole[32768:]])

    server.faults.append(fault)
    said, err = command("verify", f"s3://{server.bucket}", status=5)
    assert said["good"] == 6 and "Content-Range" in err


def test_problems_are_reported_even_if_the_store_becomes_unreachable_later(server, tmp_path):
    longer(hashed(tmp_path / "rec"))
    put(tmp_path / "rec", server.bucket)

    def half():
        yield bytes(10)
        raise OSError("cut")

    server.faults.append(lambda environ, body: ("200 OK", {"Content-Length": "6784"}, half())
                         if environ["RAW_URI"].endswith("a.0006.sigmf-data") else None)
    said, err = command("verify", f"s3://{server.bucket}", "--retry", "1s", status=5)
    assert [one["name"] for one in said["problems"]] == ["a.0002.sigmf-data"]
    assert "a.0006.sigmf-data" in said["error"] and "archive: a.0002.sigmf-data: " in err
