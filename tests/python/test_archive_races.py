# SPDX-License-Identifier: MIT
"""`iio-stream archive push` while files and objects change. No sample is lost, and only stored parts are
reported as stored."""
import os
import urllib.parse

import counts
import pytest
from archives import record

import iio_stream as ios

pytest.importorskip("s3fs", reason="needs s3fs, which script/test installs")
pytest.importorskip("moto.server", reason="needs moto, which script/test installs")
import botocore.session  # noqa: E402
import s3fs  # noqa: E402
from pushing import digests, large, push, stored  # noqa: E402


def replaced(data):
    (data.parent / "new").write_bytes(bytes(4096))
    (data.parent / "new").rename(data)


CHANGES = {"written to": lambda data: data.write_bytes(bytes(data.stat().st_size)),
           "longer": lambda data: data.open("ab").write(b"more"),
           "replaced": replaced,
           "gone": lambda data: data.unlink(),
           "with other metadata": lambda data: data.with_suffix(".sigmf-meta").write_text("{}")}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("keep", counts.pick(["none"], ["none", "all"]))
def test_a_recording_that_changes_during_the_upload_is_kept_and_not_counted(server, tmp_path, change, keep):
    folder = tmp_path / "rec"
    folder.mkdir()
    ios.record("sim:", folder / "a.sigmf-meta", rate=0, bytes="64Ki")
    done = []

    def damage(environ, body):
        if environ["REQUEST_METHOD"] == "PUT" and "sigmf-data" in environ["RAW_URI"] and not done:
            CHANGES[change](folder / "a.sigmf-data")
            done.append(digests(folder))
        return body

    server.damage = damage
    said, err = push(folder, f"s3://{server.bucket}", "--keep", keep, status=5)
    assert said["stored"] == said["removed"] == 0 and "changed while it was uploaded" in err
    assert digests(folder) == done[0] and "a.sigmf-meta" not in stored(f"s3://{server.bucket}")


@pytest.mark.parametrize("harm", ["other samples", "no samples"])
def test_an_object_that_changes_during_the_upload_is_not_counted_as_stored(server, tmp_path, harm):
    folder = tmp_path / "rec"
    folder.mkdir()
    record(folder / "a.sigmf-meta")
    before = digests(folder)

    def damage(environ, body):
        if environ["REQUEST_METHOD"] == "PUT" and environ["RAW_URI"].endswith("a.0001.sigmf-meta"):
            store, name = s3fs.S3FileSystem(skip_instance_cache=True), f"{server.bucket}/a.0001.sigmf-data"
            store.rm(name) if harm == "no samples" else store.pipe(name, bytes(65536))
        return body

    server.damage = damage
    said, err = push(folder, f"s3://{server.bucket}", "--keep", "none", status=5)
    assert said["stored"] == said["removed"] == 6 and "a prefix of its own" in err
    assert digests(folder) == {name: before[name] for name in ("a.0001.sigmf-data", "a.0001.sigmf-meta")}


def test_an_object_that_another_push_has_just_stored_is_not_replaced(server, tmp_path):
    """Neither push finds an object with the name, and the other push stores its object first."""
    folder = tmp_path / "rec"
    folder.mkdir()
    ios.record("sim:", folder / "a.sigmf-meta", rate=0, bytes="64Ki")
    others = []

    def fault(environ, body):
        if environ["REQUEST_METHOD"] == "PUT" and "sigmf-data" in environ["RAW_URI"] and not others:
            others.append(True)
            s3fs.S3FileSystem(skip_instance_cache=True).pipe(f"{server.bucket}/a.sigmf-data", bytes(65536))

    server.faults.append(fault)
    said, err = push(folder, f"s3://{server.bucket}", "--keep", "none", status=5)
    assert said["stored"] == said["removed"] == 0 and "a prefix of its own" in err
    store = s3fs.S3FileSystem(skip_instance_cache=True)
    assert store.cat_file(f"{server.bucket}/a.sigmf-data") == bytes(65536)


def test_symlinks_are_not_followed(server, tmp_path):
    (tmp_path / "rec").mkdir()
    record(tmp_path / "rec" / "a.sigmf-meta")
    (tmp_path / "more").mkdir()
    for path in (tmp_path / "rec").glob("a.0000.*"):
        path.rename(tmp_path / "more" / path.name)
        path.symlink_to(tmp_path / "more" / path.name)
    data = tmp_path / "rec" / "a.0001.sigmf-data"
    data.rename(tmp_path / "more" / data.name)
    data.symlink_to(tmp_path / "more" / data.name)
    os.symlink(tmp_path / "more", tmp_path / "rec" / "sub")
    said, err = push(tmp_path / "rec", f"s3://{server.bucket}", "--keep", "none", status=5)
    assert said["stored"] == said["removed"] == 5 and len(said["problems"]) == 2 and "link" in err
    assert len(list((tmp_path / "more").iterdir())) == 3 and data.is_symlink()


def test_an_empty_recording_is_stored_and_removed(server, tmp_path):
    (tmp_path / "rec").mkdir()
    record(tmp_path / "rec" / "a.sigmf-meta", samples=1)
    (tmp_path / "rec" / "a.0000.sigmf-data").write_bytes(b"")
    meta = tmp_path / "rec" / "a.0000.sigmf-meta"
    meta.write_text(meta.read_text().replace('"iio_stream:samples": 1', '"iio_stream:samples": 0'))
    said, _ = push(tmp_path / "rec", f"s3://{server.bucket}", "--keep", "none")
    assert said["stored"] == said["removed"] == 1 and not list((tmp_path / "rec").iterdir())


@pytest.mark.parametrize("other", ["finishes", "aborts"])
@pytest.mark.parametrize("answer", ["404 Not Found", "500 Internal Server Error"])
def test_an_upload_that_another_push_ends_is_restarted(server, tmp_path, other, answer):
    """S3 itself answers with status 404, and other stores with another error."""
    before = large(tmp_path / "rec")
    client = botocore.session.get_session().create_client("s3", endpoint_url=server.url)
    ended = []

    def fault(environ, body):
        words = dict(urllib.parse.parse_qsl(environ.get("QUERY_STRING", "")))
        if words.get("partNumber") != "2":
            return None
        if not ended:
            upload = {"Bucket": server.bucket, "Key": "a.sigmf-data", "UploadId": words["uploadId"]}
            ended.append(words["uploadId"])
            if other == "finishes":
                [part] = client.list_parts(**upload)["Parts"]
                parts = [{"PartNumber": 1, "ETag": part["ETag"]}]
                client.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
            else:
                client.abort_multipart_upload(**upload)
        if words["uploadId"] == ended[0]:
            return answer, {}, [b"<Error><Code>NoSuchUpload</Code><Message>it has ended</Message></Error>"]
        return None

    server.faults.append(fault)
    said, _ = push(tmp_path / "rec", f"s3://{server.bucket}", "--retry", "1s")
    assert said["stored"] == 1 and len(ended) == 1
    assert stored(f"s3://{server.bucket}") == before
