# SPDX-License-Identifier: MIT
"""`iio-stream archive pull` restores the files that were pushed to an archive."""
import hashlib
import os
import signal
import subprocess
import sys
import time

import pytest
from archives import COUNT, command, edit, seven_parts
from conftest import BUILD, DEADLINE, REPOSITORY

import iio_stream as ios

pytest.importorskip("s3fs", reason="needs s3fs, which script/test installs")
pytest.importorskip("dask.array", reason="needs dask, which script/test installs")
pytest.importorskip("moto.server", reason="needs moto, which script/test installs")
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
import s3fs  # noqa: E402
import schemas  # noqa: E402
from pushing import digests, push  # noqa: E402

T = "2026-11-26T23:00:00"


def recorded(folder, hashed=True):
    """Makes seven parts with times. The sample index is the time in microseconds."""
    folder.mkdir()
    parts = seven_parts(folder)
    for part in parts:
        def date(words, part=part):
            words["global"]["core:sample_rate"] = 1e6
            for one in words["captures"]:
                one["core:datetime"] = f"{T}.{one.get('core:global_index', 0):06}Z"
            if hashed:
                samples = part.with_suffix(".sigmf-data").read_bytes()
                words["global"]["core:sha512"] = hashlib.sha512(samples).hexdigest()

        edit(part, date)
    return parts


@pytest.fixture
def url(server, tmp_path):
    recorded(tmp_path / "rec")
    push(tmp_path / "rec", f"s3://{server.bucket}/on top")
    server.bodies.clear()
    server.asked.clear()
    return f"s3://{server.bucket}/on top"


def test_pull_restores_pushed_files_and_skips_them_the_second_time(server, tmp_path, url):
    here = tmp_path / "new" / "here"
    said, _ = command("pull", url, here)
    schemas.check("archive-pull", said)
    assert (said["parts"], said["pulled"], said["bytes"]) == (7, 7, COUNT * 4)
    assert digests(here) == digests(tmp_path / "rec") and len(list(here.iterdir())) == 14
    server.bodies.clear()
    said, _ = command("pull", url, here)
    assert (said["pulled"], said["already"], said["bytes"]) == (0, 7, 0)
    assert not [path for _, path, _ in server.bodies if path.endswith("-data")]
    said, _ = command("pull", f"file://{here}", tmp_path / "again")
    assert said["pulled"] == 7 and digests(tmp_path / "again") == digests(here)


@pytest.mark.parametrize("time", [(f"{T}.02", f"{T}.03Z"), ("-", f"{T}.02"), (f"{T}.08", "-"), ("-", "-"),
                                  (f"{T}.0163840", f"{T}.0326840"), (f"{T}.016383", f"{T}.0326841"),
                                  ("2026-11-27", "-"), ("2025-01-01", "2026-01-01")])
def test_time_selects_the_same_parts_as_python(tmp_path, time):
    recorded(tmp_path / "rec")
    said, _ = command("pull", tmp_path / "rec", tmp_path / "here", "--time", *time)
    chosen = ios.archive.open(tmp_path / "rec").select(
        time=tuple(None if one == "-" else one for one in time))
    wanted = sorted(part.name for one in chosen for part in one.parts)
    here = tmp_path / "here"
    assert sorted(path.name for path in here.glob("*-data")) == wanted and said["parts"] == len(wanted)


def test_name_selects_recordings_by_a_pattern(tmp_path):
    (tmp_path / "rec" / "deep").mkdir(parents=True)
    for name in ("roof", "road", "deep/roof"):
        ios.record("sim:", tmp_path / "rec" / f"{name}.sigmf-meta", rate=0, samples=10)
    for pattern, found in (("ro*", 2), ("*roof", 2), ("roof", 1), ("r??d", 1), ("Roof", 0), ("*", 3)):
        assert command("pull", tmp_path / "rec", tmp_path / pattern, "--name", pattern)[0]["parts"] == found
    assert (tmp_path / "*" / "deep" / "roof.sigmf-meta").exists()
    said, _ = command("pull", tmp_path / "rec", tmp_path / "x", "--time", "-", "2030-01-01")
    assert said["parts"] == 0 or all(ios.archive.open(tmp_path / "rec").recordings[0].dated)


def test_samples_are_pulled_before_their_metadata(server, tmp_path, url):
    """While the samples of a part are downloaded, only the partial file exists."""
    here, seen = tmp_path / "here", []

    def fault(environ, body):
        if environ["RAW_URI"].endswith("a.0003.sigmf-data"):
            time.sleep(0.2)
            seen.extend(path.name for path in here.glob("a.0003*"))

    server.faults.append(fault)
    command("pull", url, here)
    assert seen == ["a.0003.sigmf-data.part"]


def test_a_killed_pull_is_resumed(server, tmp_path):
    folder = tmp_path / "rec"
    folder.mkdir()
    ios.record("sim:", folder / "a.sigmf-meta", rate=0, pattern="noise", bytes="8Mi",
               file_options={"hash": "end"})
    url, here = f"s3://{server.bucket}", tmp_path / "here"
    push(folder, url)
    whole = (folder / "a.sigmf-data").read_bytes()

    def half():
        yield whole[:5 << 20]
        time.sleep(DEADLINE)

    server.faults.append(lambda environ, body: ("200 OK", {"Content-Length": str(len(whole))}, half())
                         if environ["RAW_URI"].endswith("-data") else None)
    words = [BUILD / "iio-stream", "archive", "pull", url, here]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as slow:
        deadline, part = time.monotonic() + DEADLINE, here / "a.sigmf-data.part"
        while not part.exists() or part.stat().st_size < 4 << 20:
            assert time.monotonic() < deadline and slow.poll() is None
            time.sleep(0.02)
        slow.send_signal(signal.SIGKILL)
    have = part.stat().st_size
    server.faults.clear()
    server.asked.clear()
    said, _ = command("pull", url, here)
    assert said["resumed"] == have and said["bytes"] == len(whole) - have and digests(here) == digests(folder)
    assert [range for _, path, range, _ in server.asked if path.endswith("-data")] == [f"bytes={have}-"]


@pytest.mark.parametrize("left", [b"of something else" * 1000, bytes(100_000), b""],
                         ids=["shorter", "longer", "empty"])
def test_a_partial_download_of_other_data_is_replaced(server, tmp_path, url, left):
    here = tmp_path / "here"
    here.mkdir()
    (here / "a.0002.sigmf-data.part").write_bytes(left)
    said, _ = command("pull", url, here)
    assert said["pulled"] == 7 and digests(here) == digests(tmp_path / "rec")


@pytest.mark.parametrize("hashed", [True, False])
def test_a_pull_that_was_killed_before_it_got_the_metadata_is_completed(tmp_path, hashed):
    recorded(tmp_path / "rec", hashed)
    here = tmp_path / "here"
    command("pull", tmp_path / "rec", here)
    (here / "a.0001.sigmf-meta").unlink()
    said, _ = command("pull", tmp_path / "rec", here)
    assert (said["pulled"], said["already"], said["bytes"]) == (1, 6, 0)
    assert digests(here) == digests(tmp_path / "rec")


@pytest.mark.parametrize("hashed", [True, False])
@pytest.mark.parametrize("what", ["other samples", "other metadata", "a link"])
def test_existing_files_with_other_contents_are_kept(tmp_path, hashed, what):
    recorded(tmp_path / "rec", hashed)
    here = tmp_path / "here"
    here.mkdir()
    wrong = here / ("a.0001.sigmf-meta" if what == "other metadata" else "a.0001.sigmf-data")
    if what == "a link":
        (tmp_path / "else").write_bytes(bytes(65536))
        wrong.symlink_to(tmp_path / "else")
    else:
        wrong.write_bytes(bytes(65536))
    said, err = command("pull", tmp_path / "rec", here, status=5)
    assert said["pulled"] == 6 and [one["name"] for one in said["problems"]] == ["a.0001"]
    assert "with other contents" in err and wrong.read_bytes() == bytes(65536)
    assert len(list(here.iterdir())) == 13


def test_wrong_samples_from_the_store_are_discarded(server, tmp_path, url):
    app = server._app

    def wrong(environ, start):
        answer = list(app(environ, start))
        if environ["PATH_INFO"].endswith("a.0004.sigmf-data") and environ["REQUEST_METHOD"] == "GET":
            return [b"x" * len(b"".join(answer))]
        return answer

    server._app = wrong
    try:
        said, err = command("pull", url, tmp_path / "here", status=5)
    finally:
        server._app = app
    assert said["pulled"] == 6 and "a.0004" in err and "SHA-512" in err
    assert not list((tmp_path / "here").glob("a.0004*"))
    said, _ = command("pull", url, tmp_path / "here")
    assert said["pulled"] == 1 and digests(tmp_path / "here") == digests(tmp_path / "rec")


def test_pull_survives_broken_connections_and_a_busy_store(server, tmp_path, url):
    answers = [("503 Busy", {}, []), OSError("cut"), ("500 Internal Server Error", {}, [b"oops"])] * 3
    server.faults.append(lambda environ, body: answers.pop()
                         if answers and environ["RAW_URI"].endswith("-data") else None)
    said, _ = command("pull", url, tmp_path / "here")
    assert said["pulled"] == 7 and digests(tmp_path / "here") == digests(tmp_path / "rec")


def test_damaged_parts_are_not_pulled(tmp_path):
    parts = recorded(tmp_path / "rec")
    parts[1].write_text("{")
    os.truncate(parts[2].with_suffix(".sigmf-data"), 10)
    said, err = command("pull", tmp_path / "rec", tmp_path / "here", status=5)
    assert said["pulled"] == 5 and len(said["damaged"]) == 2 and "2 damaged parts left out" in err
    for name in ("a.0001.sigmf-meta", "a.0002.sigmf-meta"):
        assert f"archive: {name}: " in err


def test_names_cannot_point_outside_of_the_folder(server, tmp_path):
    ios.record("sim:", tmp_path / "a.sigmf-meta", rate=0, samples=10)
    import boto3
    for name in ("x/../../up", "x//etc/up", "x/./up"):
        for kind in ("meta", "data"):
            boto3.client("s3").put_object(Bucket=server.bucket, Key=f"{name}.sigmf-{kind}",
                                          Body=(tmp_path / f"a.sigmf-{kind}").read_bytes())
    said, _ = command("pull", f"s3://{server.bucket}/x", tmp_path / "in" / "here", status=5)
    assert said["parts"] == 0 and len(said["damaged"]) == 6 and not list((tmp_path / "in").rglob("*up*"))
    assert s3fs.S3FileSystem(skip_instance_cache=True).exists(server.bucket)


def test_the_errors_of_pull_have_hints(tmp_path):
    recorded(tmp_path / "rec")
    for options, words in (([], "a folder"), ([tmp_path / "x", "--time", "now", "-"], "2026-11-26T23:00"),
                           ([tmp_path / "x", "--time", "2027-01-01", "2026-01-01"], "ends before it begins"),
                           ([tmp_path / "x", "--time", "2027-01-01"], "--time"),
                           ([tmp_path / "x", "--keep", "all"], "takes no --keep")):
        assert words in command("pull", tmp_path / "rec", *options, status=2)[1]
    (tmp_path / "file").write_text("")
    assert "file" in command("pull", tmp_path / "rec", tmp_path / "file", status=5)[1]


@pytest.mark.parametrize("hashed", [True, False])
def test_two_simultaneous_pulls_do_not_disturb_each_other(server, tmp_path, hashed):
    """The second pull waits for a part that the first one downloads, and then finds it."""
    recorded(tmp_path / "rec", hashed)
    url, here, asked = f"s3://{server.bucket}/both", tmp_path / "here", []
    push(tmp_path / "rec", url)

    def fault(environ, body):
        if not environ["RAW_URI"].endswith("-data"):
            return None
        asked.append(1)
        if len(asked) > 7:
            return "404 Not Found", {}, [b"gone"]
        time.sleep(0.3)
        return None

    server.faults.append(fault)
    words = [BUILD / "iio-stream", "archive", "pull", url, here]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as first:
        time.sleep(0.15)
        second = subprocess.run(words, capture_output=True, timeout=DEADLINE, check=False, text=True)
        assert first.wait(DEADLINE) in (0, 5)
    server.faults.clear()
    for part in here.glob("*.sigmf-meta"):
        assert part.with_suffix(".sigmf-data").stat().st_size > 0, second.stderr
    command("pull", url, here)
    assert digests(here) == digests(tmp_path / "rec") and len(list(here.iterdir())) == 14


def test_a_partial_file_with_another_hard_link_is_not_written_to(tmp_path):
    recorded(tmp_path / "rec")
    here, mine = tmp_path / "here", tmp_path / "mine"
    here.mkdir()
    mine.write_text("precious")
    os.link(mine, here / "a.0003.sigmf-data.part")
    said, err = command("pull", tmp_path / "rec", here, status=5)
    assert said["pulled"] == 6 and "it has another hard link" in err and mine.read_text() == "precious"


def answering(server, monkeypatch, ending, change):
    """Changes the answers to GET requests of some objects. ``change`` gets status, headers, body and
    environ."""
    app = server._app

    def changed(environ, start):
        if environ["REQUEST_METHOD"] != "GET" or not environ["PATH_INFO"].endswith(ending):
            return app(environ, start)
        said = []
        body = b"".join(app(environ, lambda status, headers, *rest: said.extend((status, dict(headers)))))
        headers = {name.title(): value for name, value in said[1].items()}
        status, headers, body = change(said[0], headers, body, environ)
        headers["Content-Length"] = str(len(body))
        start(status, list(headers.items()))
        return [body]

    monkeypatch.setattr(server, "_app", changed)


@pytest.mark.parametrize("what", ["its last byte is missing", "a byte is another"])
def test_wrong_metadata_from_the_store_are_discarded(server, tmp_path, monkeypatch, url, what):
    def change(status, headers, body, environ):
        return status, headers, body[:-1] if "missing" in what else body.replace(b"complete", b"cOmplete")

    with monkeypatch.context() as patch:
        answering(server, patch, "a.0004.sigmf-meta", change)
        said, err = command("pull", url, tmp_path / "here", status=5)
    assert said["pulled"] == 6 and "a.0004.sigmf-meta: its MD5 is " in err and "but the store reports" in err
    assert not list((tmp_path / "here").glob("a.0004.sigmf-*"))
    said, _ = command("pull", url, tmp_path / "here")
    assert said["pulled"] == 1 and digests(tmp_path / "here") == digests(tmp_path / "rec")


def cut_once(server, folder, name):
    """Cuts the first answer that contains the named object after half of its bytes."""
    whole, cut = (folder / name).read_bytes(), []

    def half():
        yield whole[:len(whole) // 2]
        raise OSError("cut")

    def fault(environ, body):
        if not environ["RAW_URI"].endswith(name) or environ["REQUEST_METHOD"] != "GET" or cut:
            return None
        cut.append(name)
        etag = hashlib.md5(whole).hexdigest()
        return "200 OK", {"Content-Length": str(len(whole)), "ETag": f'"{etag}"'}, half()

    server.faults.append(fault)


NO_RANGE = "without a valid Content-Range"
PARTS_OF = {  # answers to the request for a.0002.sigmf-data from byte 32768 on
    "another part": ({"Content-Range": "bytes 0-32767/65536"}, "begins at byte 0 by its Content-Range"),
    "no range": ({"Content-Range": None}, NO_RANGE),
    "several": ({"Content-Range": None, "Content-Type": "multipart/byteranges; boundary=x"}, NO_RANGE),
    "another unit": ({"Content-Range": "samples 32768-65535/65536"}, NO_RANGE),
    "backwards": ({"Content-Range": "bytes 32768-32767/65536"}, NO_RANGE),
    "beyond its end": ({"Content-Range": "bytes 32768-65536/65536"}, NO_RANGE),
    "fewer bytes": ({"Content-Range": "bytes 32768-65539/65540"}, "ended at byte 65536, not at 65540"),
}


@pytest.mark.parametrize("case", PARTS_OF)
def test_the_rest_of_an_object_is_used_only_with_the_requested_range(server, tmp_path, monkeypatch, case):
    """RFC 9110, section 15.3.7. The metadata have no hash, so that no other check would find the error."""
    recorded(tmp_path / "rec", hashed=False)
    url, (wrong, words) = f"s3://{server.bucket}", PARTS_OF[case]
    push(tmp_path / "rec", url)
    cut_once(server, tmp_path / "rec", "a.0002.sigmf-data")

    def change(status, headers, body, environ):
        if status.startswith("206"):
            headers |= wrong
        return status, {name: value for name, value in headers.items() if value is not None}, body

    answering(server, monkeypatch, "a.0002.sigmf-data", change)
    said, err = command("pull", url, tmp_path / "here", status=5)
    assert said["pulled"] == 6 and [one["name"] for one in said["problems"]] == ["a.0002"]
    assert words in err and not (tmp_path / "here" / "a.0002.sigmf-data").exists()


def test_the_rest_is_requested_if_a_store_sends_less_than_the_range(server, tmp_path, monkeypatch, url):
    """RFC 9110, section 14.2 allows a server to send less than the requested range."""
    def change(status, headers, body, environ):
        first = int(environ.get("HTTP_RANGE", "bytes=0-")[6:-1])
        whole = (tmp_path / "rec" / environ["PATH_INFO"].rsplit("/", 1)[1]).read_bytes()
        part = whole[first:first + 30_000]
        return "206 Partial Content", headers | {
            "Content-Range": f"bytes {first}-{first + len(part) - 1}/{len(whole)}"}, part

    answering(server, monkeypatch, ".sigmf-data", change)
    said, _ = command("pull", url, tmp_path / "here")
    assert said["pulled"] == 7 and digests(tmp_path / "here") == digests(tmp_path / "rec")


def test_samples_without_a_hash_are_compared_with_the_md5_of_the_store(server, tmp_path, monkeypatch):
    recorded(tmp_path / "rec", hashed=False)
    url = f"s3://{server.bucket}"
    push(tmp_path / "rec", url)
    with monkeypatch.context() as patch:
        answering(server, patch, "a.0004.sigmf-data", lambda status, headers, body, environ: (
            status, headers, body[:-1] + bytes([body[-1] ^ 1])))
        said, err = command("pull", url, tmp_path / "here", status=5)
    assert said["pulled"] == 6 and [one["name"] for one in said["problems"]] == ["a.0004"]
    assert hashlib.md5((tmp_path / "rec" / "a.0004.sigmf-data").read_bytes()).hexdigest() in err
    assert not list((tmp_path / "here").glob("a.0004*"))
    said, _ = command("pull", url, tmp_path / "here")
    assert said["pulled"] == 1 and digests(tmp_path / "here") == digests(tmp_path / "rec")


def test_an_etag_that_is_not_an_md5_is_ignored(server, tmp_path, monkeypatch):
    """Stores that encrypt have other ETags, some of which look like an MD5 (docs.aws.amazon.com, Object)."""
    recorded(tmp_path / "rec", hashed=False)
    url = f"s3://{server.bucket}"
    push(tmp_path / "rec", url)
    app = server._app

    def encrypting(environ, start):
        environ.pop("HTTP_IF_MATCH", None)
        return app(environ, lambda status, headers, *rest: start(status, [
            (name, f'"{"ab" * 16}"' if name.lower() == "etag" else value) for name, value in headers] + [
            ("x-amz-server-side-encryption", "aws:kms")], *rest))

    monkeypatch.setattr(server, "_app", encrypting)
    assert command("pull", url, tmp_path / "here")[0]["pulled"] == 7
    assert digests(tmp_path / "here") == digests(tmp_path / "rec")


def test_an_object_uploaded_in_pieces_is_compared_piece_by_piece(server, tmp_path, monkeypatch):
    from pushing import large
    before = large(tmp_path / "rec")
    url = f"s3://{server.bucket}"
    push(tmp_path / "rec", url)
    command("pull", url, tmp_path / "good")
    assert digests(tmp_path / "good") == before
    answering(server, monkeypatch, "a.sigmf-data", lambda status, headers, body, environ: (
        status, headers, body[:20 << 20] + bytes([body[20 << 20] ^ 1]) + body[(20 << 20) + 1:]))
    said, err = command("pull", url, tmp_path / "here", status=5)
    assert said["pulled"] == 0 and "its MD5 is " in err and "-3" in err


BAD = {  # errors of a store for one object: docs.aws.amazon.com, "Error responses"
    "archived": ("403 Forbidden", b"<Error><Code>InvalidObjectState</Code><Message>cold</Message></Error>"),
    "not readable": ("500 Internal Server Error", b"<Error><Code>InternalError</Code></Error>"),
    "teapot": ("418 I'm a teapot", b""),
}


@pytest.mark.parametrize("verb", ["pull", "verify"])
@pytest.mark.parametrize("case", BAD)
def test_an_unreadable_object_does_not_affect_others(server, tmp_path, url, verb, case):
    """Samples of one part and metadata of another are unreadable. The others are processed, and both are
    named."""
    bad = ("a.0002.sigmf-data", "a.0005.sigmf-meta")
    status, body = BAD[case]
    server.faults.append(lambda environ, _: (status, {}, [body]) if environ["PATH_INFO"].endswith(bad)
                         else None)
    words = (url, tmp_path / "here") if verb == "pull" else (url,)
    said, err = command(verb, *words, "--retry", "0.2s", status=5)
    assert said["pulled" if verb == "pull" else "good"] == 5 and said["error"]
    if verb == "pull":
        assert [one["name"] for one in said["problems"]] == ["a.0002"]
        assert [one["name"] for one in said["damaged"]] == ["a.0005.sigmf-meta"]
        assert len(list((tmp_path / "here").glob("*-data"))) == 5
    else:
        assert set(bad) <= {one["name"] for one in said["problems"]}
    for name in bad:
        assert f"\niio-stream: archive: {name[:6]}" in "\n" + err, err


def test_a_folder_that_cannot_be_written_gives_one_error(tmp_path):
    recorded(tmp_path / "rec")
    (tmp_path / "file").write_text("")
    said, err = command("pull", tmp_path / "rec", tmp_path / "file" / "here", status=5)
    assert len(err.splitlines()) == 1 and said["pulled"] == 0 and not said["problems"]
