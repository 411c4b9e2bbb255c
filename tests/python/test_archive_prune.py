# SPDX-License-Identifier: MIT
"""`iio-stream archive prune` removes the oldest parts, each completely, and nothing else."""
import datetime
import os
import signal
import subprocess
import sys
import time

import pytest
from archives import command, edit, record, seven_parts
from conftest import BUILD, DEADLINE, REPOSITORY

pytest.importorskip("s3fs", reason="needs s3fs, which script/test installs")
pytest.importorskip("moto.server", reason="needs moto, which script/test installs")
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
import schemas  # noqa: E402
from pushing import digests, push, stored  # noqa: E402

PART = 65536  # bytes


def dated(folder):
    """Makes seven parts that were recorded 60, 50 … 0 days ago."""
    folder.mkdir()
    parts = seven_parts(folder)
    for number, part in enumerate(parts):
        at = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=60 - 10 * number)

        def date(words, at=at):
            words["global"]["core:sample_rate"] = 1e6
            for one in words["captures"]:
                one["core:datetime"] = at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

        edit(part, date)
    return parts


def names(parts):
    return [part.name.removesuffix(".sigmf-meta") for part in parts]


def left(folder, bucket):
    """Returns the names of the parts in the bucket, or in the folder if there is none. Each must have both
    files."""
    found = stored(f"s3://{bucket}") if bucket else digests(folder)
    stems = sorted({name.rpartition(".")[0] for name in found})
    assert len(found) == 2 * len(stems), found
    return stems


@pytest.mark.parametrize("where", ["folder", "bucket"])
@pytest.mark.parametrize("options, gone", [
    (["--older", "35d"], 3), (["--older", "1000d"], 0), (["--older", "1h"], 6),
    (["--keep-size", f"{4 * PART}"], 3), (["--keep-size", "1Ti"], 0), (["--keep-size", "0"], 7),
    (["--older", "55d", "--keep-size", f"{5 * PART}"], 2), (["--older", "25d", "--keep-size", "1Ti"], 4)])
def test_prune_removes_the_oldest_parts(server, tmp_path, where, options, gone):
    parts = dated(tmp_path / "rec")
    bucket = server.bucket if where == "bucket" else None
    place = f"s3://{bucket}" if bucket else tmp_path / "rec"
    if bucket:
        push(tmp_path / "rec", place)
    would, _ = command("prune", place, *options, "--dry-run")
    assert left(tmp_path / "rec", bucket) == names(parts)
    said, _ = command("prune", place, *options)
    schemas.check("archive-prune", said)
    assert {**said, "dry_run": True} == would
    assert [one["name"] for one in said["removed"]] == names(parts)[:gone]
    assert said["parts"] == 7 - gone and left(tmp_path / "rec", bucket) == names(parts)[gone:]
    assert not bucket or digests(tmp_path / "rec").keys() >= {part.name for part in parts}


def test_prune_removes_the_metadata_of_a_part_first(server, tmp_path):
    dated(tmp_path / "rec")
    push(tmp_path / "rec", f"s3://{server.bucket}")
    server.bodies.clear()
    command("prune", f"s3://{server.bucket}", "--keep-size", "0")
    order = [path for method, path, _ in server.bodies if method == "DELETE"]
    for number in range(7):
        meta, data = (order.index(f"/{server.bucket}/a.000{number}.sigmf-{kind}")
                      for kind in ("meta", "data"))
        assert meta < data
    assert len(order) == 14


def test_a_part_without_a_time_has_the_age_of_its_file(tmp_path):
    parts = seven_parts(tmp_path)
    for number, part in enumerate(parts):
        edit(part, lambda words: [one.pop("core:datetime", None) for one in words["captures"]])
        os.utime(part, (time.time() - 86400 * (7 - number),) * 2)
    said, _ = command("prune", tmp_path, "--older", "4.5d")
    assert [one["name"] for one in said["removed"]] == names(parts)[:3]


def test_unfinished_and_damaged_parts_are_kept(tmp_path):
    parts = dated(tmp_path / "rec")
    parts[0].write_text("{")
    parts[1].unlink()
    parts[2].with_suffix(".sigmf-data.journal").write_text("")
    os.truncate(parts[3].with_suffix(".sigmf-data"), 10)
    said, _ = command("prune", tmp_path / "rec", "--keep-size", "0")
    assert [one["name"] for one in said["removed"]] == names(parts)[4:]
    assert (said["unfinished"], said["damaged"], said["parts"]) == (2, 2, 0)
    assert sorted(path.name[:6] for path in (tmp_path / "rec").iterdir()) == [
        "a.0000", "a.0000", "a.0001", "a.0002", "a.0002", "a.0002", "a.0003", "a.0003"]


def test_a_part_that_cannot_be_removed_is_named_and_the_others_are_removed(server, tmp_path):
    parts = dated(tmp_path / "rec")
    push(tmp_path / "rec", f"s3://{server.bucket}")
    server.faults.append(lambda environ, body: ("405 Method Not Allowed", {}, [
        b"<Error><Code>Locked</Code><Message>The object is locked.</Message></Error>"])
        if environ["REQUEST_METHOD"] == "DELETE" and "0001" in environ["RAW_URI"] else None)
    said, err = command("prune", f"s3://{server.bucket}", "--older", "25d", status=5)
    assert [one["name"] for one in said["removed"]] == [names(parts)[n] for n in (0, 2, 3)]
    assert [one["name"] for one in said["problems"]] == ["a.0001"] and "Locked" in err
    assert left(None, server.bucket) == [names(parts)[n] for n in (1, 4, 5, 6)]


def test_ctrl_c_ends_prune_between_two_parts(server, tmp_path):
    """prune reports the removed parts. No part loses only one of its objects."""
    (tmp_path / "rec").mkdir()
    record(tmp_path / "rec" / "a.sigmf-meta", samples=16_384 * 40)
    push(tmp_path / "rec", f"s3://{server.bucket}")
    server.bodies.clear()
    server.faults.append(lambda environ, body: time.sleep(0.1) if environ["REQUEST_METHOD"] == "DELETE"
                         else None)
    words = [BUILD / "iio-stream", "archive", "prune", f"s3://{server.bucket}", "--keep-size", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as slow:
        deadline = time.monotonic() + DEADLINE
        while not [path for method, path, _ in server.bodies if method == "DELETE"]:
            assert time.monotonic() < deadline and slow.poll() is None
            time.sleep(0.01)
        slow.send_signal(signal.SIGINT)
        out, err = slow.communicate(timeout=DEADLINE)
    assert slow.returncode == 1 and "ended early" in err, out + err
    server.faults.clear()
    assert 0 < out.count("removed a.") == 40 - len(left(None, server.bucket)) < 40


def test_the_text_output_names_removed_parts(tmp_path):
    dated(tmp_path / "rec")
    words = [BUILD / "iio-stream", "archive", "prune", tmp_path / "rec", "--older", "45d"]
    for more, verb in ((["--dry-run"], "would remove"), ([], "removed")):
        out = subprocess.run([*words, *more], capture_output=True, text=True, check=True,
                             timeout=DEADLINE).stdout
        lines = out.splitlines()
        assert [line.split(",")[0] for line in lines[:2]] == [f"{verb} a.0000", f"{verb} a.0001"]
        assert f"{verb} 2 parts, 128.00 KiB; 5 parts" in lines[2] and len(lines) == 3


def test_the_errors_of_prune_have_hints(tmp_path):
    assert "no limit is given" in command("prune", tmp_path, status=2)[1]
    assert "older=soon" in command("prune", tmp_path, "--older", "soon", status=2)[1]
    assert "keep-size=much" in command("prune", tmp_path, "--keep-size", "much", status=2)[1]
    assert "takes no --older" in command("list", tmp_path, "--older", "1d", status=2)[1]
    assert "nowhere" in command("prune", tmp_path / "nowhere", "--older", "1d", status=5)[1]


def test_a_new_recording_with_the_same_name_is_not_removed(server, tmp_path):
    """The new recording is stored after prune has read the metadata, and just before it removes the old
    one."""
    import boto3
    parts = dated(tmp_path / "rec")
    push(tmp_path / "rec", f"s3://{server.bucket}")
    renewed = b'{"another": "recording"}'
    store = boto3.client("s3")

    def fault(environ, body):
        if environ["REQUEST_METHOD"] == "HEAD" and environ["RAW_URI"].endswith(parts[0].name):
            server.faults.clear()
            store.put_object(Bucket=server.bucket, Key=parts[0].name, Body=renewed)

    server.faults.append(fault)
    said, err = command("prune", f"s3://{server.bucket}", "--older", "25d", status=5)
    assert len(said["removed"]) == 3 and [one["name"] for one in said["problems"]] == names(parts)[:1]
    assert "another recording has its name now" in err
    assert store.get_object(Bucket=server.bucket, Key=parts[0].name)["Body"].read() == renewed
    store.head_object(Bucket=server.bucket, Key=parts[0].with_suffix(".sigmf-data").name)


def test_parts_that_were_removed_before_an_error_of_the_store_are_reported(server, tmp_path):
    parts = dated(tmp_path / "rec")
    push(tmp_path / "rec", f"s3://{server.bucket}")

    def fault(environ, body):
        if environ["REQUEST_METHOD"] == "DELETE" and "0005" in environ["RAW_URI"]:
            time.sleep(1)  # the other parts are removed in the meantime
            return "403 Forbidden", {}, [b"<Error><Code>AccessDenied</Code></Error>"]
        return None

    server.faults.append(fault)
    said, err = command("prune", f"s3://{server.bucket}", "--older", "1h", status=5)
    assert [one["name"] for one in said["removed"]] == names(parts)[:5]
    assert left(None, server.bucket) == names(parts)[5:] and said["parts"] == 2 and "AccessDenied" in err


@pytest.mark.parametrize("which, goes", [(["--keep-size", f"{3 * PART}"], 4), (["--older", "55d"], 1)])
def test_prune_orders_parts_by_index_if_the_clock_was_set_back(tmp_path, which, goes):
    """By the clock, the third to the seventh part were recorded a year earlier."""
    parts = dated(tmp_path / "rec")
    for part in parts[2:]:
        edit(part, lambda words: [one.update({"core:datetime": "2025" + one["core:datetime"][4:]})
                                  for one in words["captures"]])
    said, _ = command("prune", tmp_path / "rec", *which, "--dry-run")
    assert [one["name"] for one in said["removed"]] == names(parts)[:goes]
