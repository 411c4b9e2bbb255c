# SPDX-License-Identifier: MIT
"""`iio-stream archive push` into moto's S3 server stores exactly the recorded files."""
import hashlib
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from archives import command, edit, record, seven_parts, truth
from conftest import DEADLINE, REPOSITORY

import iio_stream as ios

pytest.importorskip("s3fs", reason="needs s3fs, which script/test installs")
pytest.importorskip("dask.array", reason="needs dask, which script/test installs")
pytest.importorskip("moto.server", reason="needs moto, which script/test installs")
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
import schemas  # noqa: E402
from pushing import COMMAND, PIECE, digests, large, push, stored  # noqa: E402
from s3_server import KEY, SECRET  # noqa: E402


def test_push_stores_the_recorded_files_with_the_samples_first(server, tmp_path):
    (tmp_path / "rec").mkdir()
    seven_parts(tmp_path / "rec")
    before = digests(tmp_path / "rec")
    url = f"s3://{server.bucket}/roof top/2026+1"
    said, err = push(tmp_path / "rec", url)
    assert said["parts"] == said["stored"] == 7 and said["already"] == said["unfinished"] == 0, said
    assert said["bytes"] == sum(path.stat().st_size for path in (tmp_path / "rec").iterdir())
    assert "stored 7 of 7 parts" in err
    assert stored(url) == before == digests(tmp_path / "rec")
    order = [path for _, path in server.sent()]
    for path in order[:]:
        data = path.replace("-meta", "-data")
        assert order.count(path) == 1 and order.index(data) <= order.index(path)
    [recording] = ios.archive.open(url)
    got = recording.to_dask(None).compute()
    assert np.array_equal(got[:25_000].data.reshape(-1, 2), truth(0, 25_000))
    assert recording.gaps[0].lost_min == 300

    server.bodies.clear()
    said, _ = push(tmp_path / "rec", url + "/")
    assert said["already"] == 7 and said["bytes"] == 0 and not server.sent(), said


def test_a_large_file_is_pushed_in_pieces_and_resumed(server, tmp_path):
    before = large(tmp_path / "rec")
    url = f"s3://{server.bucket}"
    server.faults.append(lambda environ, body: ("503 Slow Down", {}, [b"<Error><Code>SlowDown</Code>"
                         b"<Message>Please reduce your request rate.</Message></Error>"])
                         if "partNumber=3" in environ["RAW_URI"] else None)
    said, err = push(tmp_path / "rec", url, "--retry", "1s", status=5)
    assert said["stored"] == 0 and said["retries"] > 0 and "SlowDown: Please reduce" in said["error"]
    assert "a.sigmf-data" in err and not stored(url)
    server.faults.clear()
    server.bodies.clear()
    said, _ = push(tmp_path / "rec", url)
    assert said["stored"] == 1 and said["resumed"] == 2 * PIECE
    assert said["bytes"] == 8 << 20 | (tmp_path / "rec" / "a.sigmf-meta").stat().st_size
    assert len(server.sent()) == 2 and stored(url) == before


def test_another_stored_recording_with_the_same_name_is_not_replaced(server, tmp_path):
    for name, pattern in (("one", "ramp"), ("two", "noise")):
        (tmp_path / name).mkdir()
        record(tmp_path / name / "a.sigmf-meta", pattern=pattern)
    url = f"s3://{server.bucket}/x"
    push(tmp_path / "one", url)
    before = stored(url)
    said, err = push(tmp_path / "two", url, status=5)
    assert len(said["problems"]) == 7 and said["stored"] == 0
    assert "another recording is stored as s3://" in err
    assert stored(url) == before


def test_unfinished_parts_are_pushed_only_after_they_are_complete(server, tmp_path):
    folder = tmp_path / "rec"
    folder.mkdir()
    with subprocess.Popen([COMMAND, "record", "sim:", "rate=1M", folder / "a.sigmf-meta", "rotate_bytes=1Mi",
                           "--quiet"]) as recorder:
        try:
            deadline = time.monotonic() + DEADLINE
            while not (folder / "a.0003.sigmf-meta").exists():
                assert time.monotonic() < deadline and recorder.poll() is None
                time.sleep(0.02)
            recorder.send_signal(signal.SIGSTOP)  # otherwise a slow push finds all parts closed
            said, _ = push(folder, f"s3://{server.bucket}")
            assert said["unfinished"] >= 1 and said["stored"] >= 1
        finally:
            recorder.kill()
    for name, digest in stored(f"s3://{server.bucket}").items():
        assert digest == hashlib.sha256((folder / name).read_bytes()).hexdigest()
    said, _ = push(folder, f"s3://{server.bucket}")
    assert said["unfinished"] >= 1 and not said["problems"]
    for path in folder.glob("*.sigmf-meta"):
        subprocess.run([COMMAND, "recover", path], check=True, capture_output=True)
    said, _ = push(folder, f"s3://{server.bucket}")
    assert said["unfinished"] == 0 and said["stored"] >= 1
    kept = {name: digest for name, digest in digests(folder).items() if name.endswith(("-data", "-meta"))}
    assert stored(f"s3://{server.bucket}") == kept


@pytest.mark.parametrize("hash", ["off", "end"])
def test_push_detects_other_stored_samples_with_and_without_a_hash(server, tmp_path, hash):
    """Two parts can have the same metadata. These differ only in their samples."""
    for name, pattern in (("one", "ramp"), ("two", "noise")):
        (tmp_path / name).mkdir()
        record(tmp_path / name / "a.sigmf-meta", pattern=pattern)
    for path in (tmp_path / "one").glob("*-meta"):
        (tmp_path / "two" / path.name).write_bytes(path.read_bytes())
        if hash == "end":
            for folder in ("one", "two"):
                subprocess.run([COMMAND, "verify", "--add-hash", tmp_path / folder / path.name], check=True,
                               capture_output=True)
    url = f"s3://{server.bucket}"
    push(tmp_path / "one", url)
    said, _ = push(tmp_path / "two", url, status=5)
    assert said["already"] == 0 and len(said["problems"]) == 7
    said, _ = push(tmp_path / "one", url)
    assert said["already"] == 7


def test_damaged_recordings_are_named_and_the_others_are_stored(server, tmp_path):
    (tmp_path / "rec").mkdir()
    parts = seven_parts(tmp_path / "rec")
    parts[1].write_text("{")
    os.truncate(parts[2].with_suffix(".sigmf-data"), 100)
    said, err = push(tmp_path / "rec", f"s3://{server.bucket}", status=5)
    assert said["stored"] == 5 and len(said["problems"]) == 2
    assert parts[1].name in err and parts[2].name in err


def test_two_simultaneous_pushes_store_each_part_correctly(server, tmp_path):
    before = large(tmp_path / "rec")
    # If one push sends a piece after the other push has completed the upload, moto returns a server error.
    # --retry limits the retries.
    words = [COMMAND, "archive", "push", tmp_path / "rec", f"s3://{server.bucket}", "--retry", "3s"]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(2)]
    for one in both:
        out, err = one.communicate(timeout=DEADLINE)
        assert one.returncode == 0, out + err
    assert stored(f"s3://{server.bucket}") == before


def test_address_and_credentials_are_read_from_the_usual_files(server, tmp_path, monkeypatch):
    (tmp_path / "rec").mkdir()
    record(tmp_path / "rec" / "a.sigmf-meta")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name)
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(
        f"[default]\naws_access_key_id=wrong\naws_secret_access_key=wrong\n"
        f"[roof]\n aws_access_key_id = nested\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n")
    (tmp_path / ".aws" / "config").write_text(
        f"[profile roof]\nregion = eu-north-1\nendpoint_url = {server.url}/\n")
    monkeypatch.setenv("AWS_PROFILE", "roof")
    assert push(tmp_path / "rec", f"s3://{server.bucket}")[0]["stored"] == 7


def test_ctrl_c_ends_push_and_the_next_push_resumes(server, tmp_path):
    before = large(tmp_path / "rec")
    url = f"s3://{server.bucket}"
    with subprocess.Popen([COMMAND, "archive", "push", tmp_path / "rec", url, "--bandwidth", "12Mi"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as slow:
        deadline = time.monotonic() + DEADLINE
        while not [path for _, path in server.sent() if "partNumber=1" in path]:
            assert time.monotonic() < deadline and slow.poll() is None
            time.sleep(0.02)
        slow.send_signal(signal.SIGINT)
        out, err = slow.communicate(timeout=DEADLINE)
    assert slow.returncode == 1 and "push again to continue" in err, f"{slow.returncode} {out} {err}"
    assert not stored(url)
    said, _ = push(tmp_path / "rec", url)
    assert said["resumed"] == PIECE and stored(url) == before


def test_the_summary_of_push_conforms_to_the_schema(server, tmp_path):
    (tmp_path / "rec").mkdir()
    record(tmp_path / "rec" / "a.sigmf-meta")
    schemas.check("archive-push", push(tmp_path / "rec", f"s3://{server.bucket}")[0])


@pytest.mark.parametrize("rule, left", [("all", 7), ("last:150Ki", 3), ("none", 0), ("last:1h", 5)])
def test_stored_parts_are_removed_according_to_keep(server, tmp_path, rule, left):
    folder = tmp_path / "rec"
    folder.mkdir()
    parts = seven_parts(folder)
    now = np.datetime64("now", "s")
    for number, part in enumerate(parts):  # the first two are more than an hour old
        taken = now - np.timedelta64(4000 if number < 2 else 0, "s")
        edit(part, lambda words, taken=taken: words["captures"][0].update({"core:datetime": f"{taken}Z"}))
    before = digests(folder)
    url = f"s3://{server.bucket}"
    if rule == "none":
        push(folder, url)  # this push stores the parts and removes nothing
    said, _ = push(folder, url, "--keep", rule)
    assert said["removed"] == 7 - left and said["stored"] + said["already"] == 7
    assert sorted(path.name for path in folder.iterdir()) == sorted(before)[2 * (7 - left):]
    assert stored(url) == before


def parts_at(folder, name, hours):
    """Makes parts of 64 KiB whose samples were recorded the given numbers of hours ago."""
    record(folder / f"{name}.sigmf-meta", samples=16_384 * len(hours))
    parts = sorted(folder.glob(f"{name}.*-meta"))
    for part, ago in zip(parts, hours, strict=True):
        taken = np.datetime64("now", "s") - np.timedelta64(int(ago * 3600), "s")

        def date(words, taken=taken):
            words["global"]["core:sample_rate"] = 1e6
            words["captures"][0]["core:datetime"] = f"{taken}Z"

        edit(part, date)
    return parts


@pytest.mark.parametrize("rule, left", [
    ("last:128Ki", ["a.0000", "a.0001"]), ("last:192Ki", ["a.0000", "a.0001", "b.0001"]),
    ("last:150min", ["a.0000", "a.0001"])])
def test_keep_last_keeps_the_newest_parts_whatever_their_names_are(server, tmp_path, rule, left):
    """The parts of recording a are the newest and are stored first. All files have the same age."""
    folder = tmp_path / "rec"
    folder.mkdir()
    parts_at(folder, "a", (2, 1))
    parts_at(folder, "b", (4, 3))
    parts_at(folder, "c", (6, 5))
    push(folder, f"s3://{server.bucket}", "--keep", rule)
    assert sorted(path.name.removesuffix(".sigmf-meta") for path in folder.glob("*-meta")) == left


def test_keep_last_orders_parts_by_index_if_the_clock_was_set_back(server, tmp_path):
    folder = tmp_path / "rec"
    folder.mkdir()
    parts_at(folder, "a", (5, 4, 50, 49))
    push(folder, f"s3://{server.bucket}", "--keep", "last:128Ki")
    assert sorted(path.name for path in folder.glob("*-data")) == ["a.0002.sigmf-data", "a.0003.sigmf-data"]


def test_only_stored_parts_are_removed(server, tmp_path):
    folder = tmp_path / "rec"
    folder.mkdir()
    parts = seven_parts(folder)
    parts[1].write_text("{")
    server.damage = lambda environ, body: body[:-1] + b"!" if "a.0003.sigmf-data" in environ["RAW_URI"] \
        else body
    said, err = push(folder, f"s3://{server.bucket}", "--keep", "none", status=5)
    assert "a.0003.sigmf-data" in err and said["removed"] == 5 and len(said["problems"]) == 2
    left = {name for part in (parts[1], parts[3])
            for name in (part.name, part.with_suffix(".sigmf-data").name)}
    assert {path.name for path in folder.iterdir()} == left
    # Simulates a push that was killed between the two files of a recording.
    server.damage = lambda environ, body: body
    parts[3].with_suffix(".sigmf-data").rename(tmp_path / "lost")
    said, _ = push(folder, f"s3://{server.bucket}", "--keep", "none", status=5)
    assert parts[3].exists() and len(said["problems"]) == 2  # its samples are not stored
    (tmp_path / "lost").rename(parts[3].with_suffix(".sigmf-data"))
    push(folder, f"s3://{server.bucket}", status=5)
    parts[3].with_suffix(".sigmf-data").unlink()
    said, _ = push(folder, f"s3://{server.bucket}", "--keep", "none", status=5)
    assert not parts[3].exists() and len(said["problems"]) == 1


@pytest.mark.parametrize("name", [b"a\x1b[2J", b"line\nbreak", b"\xff", b"n" * 242], ids=repr)
def test_names_that_pull_refuses_are_refused_by_push(server, tmp_path, name):
    folder = tmp_path / "rec"
    folder.mkdir()
    for path in ("a", "z"):
        ios.record("sim:", folder / f"{path}.sigmf-meta", rate=0, samples=10)
    before = {path.read_bytes() for path in folder.glob("a.*")}
    for kind in (b"meta", b"data"):
        os.rename(folder / f"a.sigmf-{kind.decode()}", bytes(folder) + b"/" + name + b".sigmf-" + kind)
    url = f"s3://{server.bucket}/x"
    said, err = push(folder, url, "--keep", "none", status=5)
    assert said["stored"] == said["removed"] == 1 and len(said["problems"]) == 1
    assert "refuses such names" in err and "\x1b" not in err
    assert {path.read_bytes() for path in folder.iterdir()} == before
    assert stored(url).keys() == {"z.sigmf-meta", "z.sigmf-data"}
    said, _ = command("pull", url, tmp_path / "here")
    assert said["pulled"] == 1


def test_record_refuses_a_name_that_cannot_be_pushed(server, tmp_path):
    done = subprocess.run([COMMAND, "record", "sim:", tmp_path / "a\x1b.sigmf-meta", "rotate_bytes=1Mi",
                           f"archive=s3://{server.bucket}", "--samples", "10"], capture_output=True,
                          text=True, timeout=DEADLINE, check=False)
    assert done.returncode == 2 and "refuses such names" in done.stderr and "\x1b" not in done.stderr
    assert not list(tmp_path.glob("*sigmf*"))


def test_an_invalid_keep_rule_is_refused(server, tmp_path):
    for rule in ("last:", "most", "last:many", "last:-1s"):
        assert "keep" in push(tmp_path, f"s3://{server.bucket}", "--keep", rule, status=2)[1]
