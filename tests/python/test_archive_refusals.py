# SPDX-License-Identifier: MIT
"""`iio-stream archive push` with errors of the network, the store or the user. Only stored parts are reported
as stored, and each error has a hint."""
import itertools
import shutil
import ssl
import subprocess

import pytest
from archives import COUNT, command, record, seven_parts

import iio_stream as ios

pytest.importorskip("s3fs", reason="needs s3fs, which script/test installs")
pytest.importorskip("moto.server", reason="needs moto, which script/test installs")
from pushing import PIECE, digests, large, push, stored  # noqa: E402
from s3_server import Server  # noqa: E402


def test_pieces_of_another_file_are_sent_again(server, tmp_path):
    """An unfinished upload with this name can belong to another file."""
    before = large(tmp_path / "rec")
    import boto3
    s3 = boto3.client("s3")
    made = s3.create_multipart_upload(Bucket=server.bucket, Key="a.sigmf-data")
    s3.upload_part(Bucket=server.bucket, Key="a.sigmf-data", UploadId=made["UploadId"], PartNumber=1,
                   Body=bytes(PIECE))
    said, _ = push(tmp_path / "rec", f"s3://{server.bucket}")
    assert said["stored"] == 1 and said["resumed"] == 0 and stored(f"s3://{server.bucket}") == before


def test_errors_of_the_store_and_the_network_are_retried(server, tmp_path):
    (tmp_path / "rec").mkdir()
    seven_parts(tmp_path / "rec")
    answers = [("500 Internal Server Error", {}, [b"oops"]), ("503 Busy", {}, []),
               ("429 Too Many Requests", {}, []), OSError("cut"),
               ("400 Bad Request", {}, [b"<Error><Code>BadDigest</Code><Message/></Error>"])]
    asked = itertools.count(1)

    def fault(environ, body):
        if environ["REQUEST_METHOD"] == "PUT" and next(asked) % 3 == 0 and answers:
            return answers.pop()
        return None

    server.faults.append(fault)
    said, _ = push(tmp_path / "rec", f"s3://{server.bucket}/x")
    assert said["retries"] == 5 and said["stored"] == 7 and not answers
    assert stored(f"s3://{server.bucket}/x") == digests(tmp_path / "rec")


@pytest.mark.parametrize("size", ["64Ki", "40Mi"])
def test_a_wrongly_stored_object_is_not_counted_as_stored(server, tmp_path, size):
    """The store answers 200 but changes one byte. The metadata are then not stored either."""
    (tmp_path / "rec").mkdir()
    ios.record("sim:", tmp_path / "rec" / "a.sigmf-meta", rate=0, bytes=size)

    def damage(environ, body):
        samples = environ["REQUEST_METHOD"] == "PUT" and len(body) > 4096
        return bytes([body[0] ^ 1]) + body[1:] if samples else body

    server.damage = damage
    said, err = push(tmp_path / "rec", f"s3://{server.bucket}/x", status=5)
    assert said["stored"] == 0 and "the stored object differs from the data sent" in err
    assert "a.sigmf-meta" not in stored(f"s3://{server.bucket}/x")
    server.damage = lambda environ, body: body
    said, _ = push(tmp_path / "rec", f"s3://{server.bucket}/x")
    assert said["stored"] == 1 and stored(f"s3://{server.bucket}/x") == digests(tmp_path / "rec")


def own_etags(server, monkeypatch):
    """Gives objects ETags that are not an MD5, as stores that encrypt do."""
    app = server._app

    def encrypting(environ, start):
        def with_etag(status, headers, *rest):
            return start(status, [(name, '"0123-of-its-own"' if name.lower() == "etag" else value)
                                  for name, value in headers], *rest)

        if environ.get("HTTP_IF_MATCH") == '"0123-of-its-own"':
            del environ["HTTP_IF_MATCH"]
        return app(environ, with_etag)

    monkeypatch.setattr(server, "_app", encrypting)


def test_objects_without_an_md5_are_read_back(server, tmp_path, monkeypatch):
    (tmp_path / "rec").mkdir()
    record(tmp_path / "rec" / "a.sigmf-meta")
    own_etags(server, monkeypatch)
    server.asked.clear()
    said, _ = push(tmp_path / "rec", f"s3://{server.bucket}")
    assert said["stored"] == 7
    read = sum(size for method, path, _, size in server.asked if method == "GET" and path.endswith("data"))
    assert read == COUNT * 4


@pytest.mark.parametrize("ranges", [True, False])
def test_reading_back_continues_after_a_broken_connection(server, tmp_path, monkeypatch, ranges):
    """Push reads the rest, or the whole object from a store without ranges."""
    folder = tmp_path / "rec"
    folder.mkdir()
    record(folder / "a.sigmf-meta")
    own_etags(server, monkeypatch)
    cut = set()

    def fault(environ, body):
        path = environ["RAW_URI"]
        if not ranges:
            environ.pop("HTTP_RANGE", None)
        if environ["REQUEST_METHOD"] != "GET" or "list-type" in path or path in cut:
            return None
        cut.add(path)
        whole = (folder / path.rsplit("/", 1)[1]).read_bytes()

        def half():
            yield whole[:len(whole) // 2]
            raise OSError("cut")

        return "200 OK", {"Content-Length": str(len(whole)), "ETag": '"0123-of-its-own"'}, half()

    server.faults.append(fault)
    server.asked.clear()
    said, _ = push(folder, f"s3://{server.bucket}")
    assert said["stored"] == 7 and said["retries"] == len(cut) == 14
    assert stored(f"s3://{server.bucket}") == digests(folder)
    again = [(part, size) for method, path, part, size in server.asked
             if method == "GET" and path.endswith("0000.sigmf-data")][:1]
    assert again == [("bytes=32768-", 32768) if ranges else (None, 65536)]


@pytest.mark.parametrize("answer, words", [
    (("200 OK", {}, [b"<a>" * 100]), "nested too deep"),
    (("200 OK", {}, [b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>']), "document type"),
    (("200 OK", {}, [b"not XML"]), "not XML"),
    (("200 OK", {}, iter(lambda: b"x" * 65536, b"")), "longer than 1048576 bytes"),
    (("307 Temporary Redirect", {"Location": "http://127.0.0.1:1/"}, []), "AWS_ENDPOINT_URL"),
    (("403 Forbidden", {}, [b"<Error><Code>AccessDenied</Code><Message>No\x1b[2J</Message></Error>"]),
     "HTTP status 403"),
], ids=["deep", "entities", "not XML", "endless", "redirect", "control characters"])
def test_malicious_answers_are_errors(server, tmp_path, answer, words):
    large(tmp_path / "rec")
    server.faults.append(lambda environ, body: answer if "uploads=" in environ["RAW_URI"] else None)
    said, err = push(tmp_path / "rec", f"s3://{server.bucket}", status=5)
    assert words in err and said["stored"] == 0 and "\x1b" not in err


def test_a_list_of_pieces_without_an_end_is_an_error(server, tmp_path):
    large(tmp_path / "rec")
    asked = []

    def fault(environ, body):
        if environ["REQUEST_METHOD"] != "GET" or "list-type" in environ["RAW_URI"]:
            return None
        if "uploads=" in environ["RAW_URI"]:
            return "200 OK", {}, [b"<ListMultipartUploadsResult><Upload><Key>a.sigmf-data</Key>"
                                  b"<UploadId>x</UploadId></Upload></ListMultipartUploadsResult>"]
        asked.append(environ["RAW_URI"])
        return "200 OK", {}, [b"<ListPartsResult><IsTruncated>true</IsTruncated><Part>"
                              b"<PartNumber>1</PartNumber><Size>1</Size></Part></ListPartsResult>"]

    server.faults.append(fault)
    said, err = push(tmp_path / "rec", f"s3://{server.bucket}", status=5)
    assert "has no end" in err and said["stored"] == 0 and len(asked) == 2


def test_the_errors_of_push_have_hints(server, tmp_path, monkeypatch):
    (tmp_path / "rec").mkdir()
    record(tmp_path / "rec" / "a.sigmf-meta")
    for url, words in (("http://x/y", "s3://BUCKET/PREFIX"),
                       ("s3://abc/../y", "a '..' in its prefix"), ("s3://abc/x/./y", "a '.' in its prefix"),
                       ("s3://Bucket_1/y", "invalid bucket name 'Bucket_1'")):
        assert words in push(tmp_path / "rec", url, status=2)[1]
    assert "NoSuchBucket" in push(tmp_path / "rec", "s3://nothing-there/y", "--retry", "1s", status=5)[1]
    assert "nowhere" in push(tmp_path / "nowhere", f"s3://{server.bucket}", status=5)[1]
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    assert "onnect" in push(tmp_path / "rec", f"s3://{server.bucket}", "--retry", "0.5s", status=5)[1]
    for address in ("ftp://127.0.0.1", "http://user:hunter2@127.0.0.1:9"):
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        said = push(tmp_path / "rec", f"s3://{server.bucket}", status=2)[1]
        assert "AWS_ENDPOINT_URL is not a valid address" in said and "hunter2" not in said
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert "AWS_SECRET_ACCESS_KEY" in push(tmp_path / "rec", f"s3://{server.bucket}", status=2)[1]
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    assert "~/.aws/credentials" in push(tmp_path / "rec", f"s3://{server.bucket}", status=2)[1]


def test_tls_certificates_are_checked(server, tmp_path, monkeypatch):
    (tmp_path / "rec").mkdir()
    record(tmp_path / "rec" / "a.sigmf-meta")
    openssl = shutil.which("openssl") or pytest.skip("no openssl")
    subprocess.run([openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-keyout", tmp_path / "key", "-out", tmp_path / "cert", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    secure = Server(ssl_context=context)
    monkeypatch.setenv("AWS_ENDPOINT_URL", secure.url)
    assert "certificate" in push(tmp_path / "rec", f"s3://{server.bucket}", status=5)[1]
    assert not secure.bodies
    monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / "cert"))
    assert push(tmp_path / "rec", f"s3://{server.bucket}")[0]["stored"] == 7
    secure.stop()
    assert len(secure.sent()) == 14 and not secure.badly_signed


def test_metadata_of_more_than_64_mib_are_neither_pushed_nor_read_from_a_store(server, tmp_path):
    """The other recordings are pushed and read."""
    words, folder, url = "the metadata have more than 64 MiB", tmp_path / "rec", f"s3://{server.bucket}"
    folder.mkdir()
    for name in ("a", "most", "z"):
        ios.record("sim:", folder / f"{name}.sigmf-meta", rate=0, samples=10)
    for name, size in (("a", (64 << 20) + 1), ("most", 64 << 20)):
        meta = folder / f"{name}.sigmf-meta"
        meta.write_text(meta.read_text().ljust(size))
    said, _ = push(folder, url, status=5)
    assert said["stored"] == 2 and len(said["problems"]) == 1
    assert "a.sigmf-meta" in said["problems"][0] and words in said["problems"][0]
    kept = sorted(f"{name}.sigmf-{kind}" for name in ("most", "z") for kind in ("data", "meta"))
    assert sorted(stored(url)) == kept
    import boto3
    for kind in ("data", "meta"):
        boto3.client("s3").upload_file(str(folder / f"a.sigmf-{kind}"), server.bucket, f"a.sigmf-{kind}")
    for place in (url, str(folder)):
        said, _ = command("list", place)
        assert [one["name"] for one in said["recordings"]] == ["most", "z"]
        assert [(one["name"], one["what"]) for one in said["damaged"]] == [("a.sigmf-meta", words)]
        said, err = command("pull", place, tmp_path / f"of {place[:2]}", status=5)
        assert said["pulled"] == 2 and words in err
        said, err = command("verify", place, status=5)
        assert words in err and "a.sigmf-meta" in err
        assert sorted(path.name for path in (tmp_path / f"of {place[:2]}").iterdir()) == kept
