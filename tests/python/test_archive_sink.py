# SPDX-License-Identifier: MIT
"""`archive=` and `keep=`: a recorder uploads its closed parts, and no store can slow it down or cause a
loss."""
import asyncio
import hashlib
import json
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time

import pytest
from conftest import DEADLINE, REPOSITORY, ramp

pytest.importorskip("s3fs", reason="needs s3fs, which script/test installs")
pytest.importorskip("moto.server", reason="needs moto, which script/test installs")
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
import schemas  # noqa: E402
from pushing import COMMAND, digests, push, stored  # noqa: E402
from s3_server import SECRET  # noqa: E402

SAMPLES = 500_000  # 30 parts of 16384 samples and a shorter one
REFUSED = b"<Error><Code>AccessDenied</Code><Message>not for you</Message></Error>"


def words(folder, url, *options):
    return [COMMAND, "record", "sim:", "rate=0", folder / "a.sigmf-meta", "rotate_bytes=64Ki",
            f"archive={url}", *options, "--block-size", "4096", "--samples", str(SAMPLES), "--json"]


def recorded(folder, url, *options, status=0):
    """Makes a recording. Returns the summary, its report about the archive, and stderr."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(words(folder, url, *options), capture_output=True, text=True, timeout=DEADLINE,
                          check=False)
    assert done.returncode == status, f"{done.returncode}: {done.stdout}{done.stderr}"
    assert SECRET not in done.stdout + done.stderr
    summary = json.loads(done.stdout)
    schemas.check("summary", summary)
    return summary, summary["sinks"][0]["report"]["archive"], done.stderr


def told(file):
    """Returns the events in a file by their kind."""
    kinds = {}
    for line in file.read_text().splitlines():
        event = json.loads(line)
        schemas.check("event", event)
        kinds.setdefault(event["event"], []).append(event)
    return kinds


def samples(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.glob("*.sigmf-data")))


def is_whole(folder):
    return samples(folder) == ramp(0, SAMPLES * 4)


def test_each_part_is_stored_as_it_was_recorded(server, tmp_path):
    url = f"s3://{server.bucket}/roof"
    _, archive, _ = recorded(tmp_path / "rec", url, "--events", tmp_path / "events")
    assert archive == {"parts": 31, "stored": 31, "retries": 0, "behind": {"parts": 0, "bytes": 0},
                       "last_error": None}
    assert is_whole(tmp_path / "rec") and stored(url) == digests(tmp_path / "rec")
    events = told(tmp_path / "events")
    for kind in ("part", "stored"):
        assert [(pathlib.Path(e["file"]), e["bytes"]) for e in events[kind]] == [
            (path.with_suffix(".sigmf-meta"), path.stat().st_size)
            for path in sorted((tmp_path / "rec").glob("*.sigmf-data"))]
    assert events.keys() == {"started", "part", "stored", "ended"}


def test_keep_none_leaves_the_samples_only_in_the_store(server, tmp_path):
    import s3fs
    url = f"s3://{server.bucket}/roof"
    recorded(tmp_path / "rec", url, "keep=none", "--events", tmp_path / "events")
    assert not list((tmp_path / "rec").iterdir())
    store = s3fs.S3FileSystem(skip_instance_cache=True)
    data = b"".join(store.cat_file(name) for name in sorted(store.ls(url.removeprefix("s3://")))
                    if name.endswith("-data"))
    assert data == ramp(0, SAMPLES * 4)
    assert sum(event["bytes"] for event in told(tmp_path / "events")["stored"]) == SAMPLES * 4


def test_keep_last_leaves_the_newest_parts(server, tmp_path):
    url = f"s3://{server.bucket}/roof"
    recorded(tmp_path / "rec", url, "keep=last:256Ki")
    left = sorted(path.name for path in (tmp_path / "rec").glob("*-data"))
    assert left == [f"a.{number:04}.sigmf-data" for number in range(27, 31)] and len(stored(url)) == 62


def test_a_refusing_store_causes_no_loss_of_samples(server, tmp_path):
    server.faults.append(lambda environ, body: ("403 Forbidden", {}, [REFUSED]))
    url = f"s3://{server.bucket}/roof"
    summary, archive, err = recorded(tmp_path / "rec", url, "keep=none", "archive_wait=1s",
                                     "--events", tmp_path / "events", status=5)
    assert is_whole(tmp_path / "rec")
    assert archive["stored"] == 0 and archive["behind"] == {"parts": 31, "bytes": SAMPLES * 4}
    assert "HTTP status 403" in archive["last_error"] and "31 parts are recorded completely, but not" in err
    assert f"iio-stream archive push {tmp_path / 'rec'} {url}" in err
    events = told(tmp_path / "events")
    assert len(events["part"]) == 31 and "stored" not in events
    assert events["not-stored"][-1]["error"] == archive["last_error"]  # there can be one attempt or two
    assert events["ended"][0]["error"] in err
    server.faults.clear()
    assert push(tmp_path / "rec", url)[0]["stored"] == 31  # the suggested command works


async def forward(port, url):
    """Forwards connections to the server after five seconds. Before that, the port is closed."""
    async def pump(reader, writer):
        while some := await reader.read(65536):
            writer.write(some)
            await writer.drain()
        writer.close()

    async def accept(reader, writer):
        their_reader, their_writer = await asyncio.open_connection("127.0.0.1", int(url.rsplit(":", 1)[1]))
        await asyncio.gather(pump(reader, their_writer), pump(their_reader, writer))

    await asyncio.sleep(5)
    await (await asyncio.start_server(accept, "127.0.0.1", port)).serve_forever()


@pytest.mark.parametrize("refuses", [False, True])
def test_unstored_parts_are_reported_during_a_recording(server, tmp_path, refuses):
    if refuses:
        server.faults.append(lambda environ, body: ("403 Forbidden", {}, [REFUSED]))
    metrics = tmp_path / "metrics"
    _, archive, err = recorded(tmp_path / "rec", f"s3://{server.bucket}/roof",
                               f"archive_wait={2 if refuses else 20}s", "--progress", "--metrics-file",
                               metrics, status=5 if refuses else 0)
    told = dict(re.findall(r'^iio_stream_archive_(\w+)\{pipeline="0"\} (\d+)$', metrics.read_text(), re.M))
    behind = SAMPLES * 4 if refuses else 0
    assert told == {"parts_total": "31", "stored_total": "0" if refuses else "31",
                    "retries_total": str(archive["retries"]), "behind_bytes": str(behind)}
    assert "# TYPE iio_stream_archive_behind_bytes gauge\n" in metrics.read_text()
    assert re.search(r"  archive \S+ \S+ behind", err)


def test_a_store_that_starts_later_gets_all_parts(server, tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    threading.Thread(target=lambda: asyncio.run(forward(port, server.url)), daemon=True).start()
    _, archive, _ = recorded(tmp_path / "rec", f"s3://{server.bucket}/roof")
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    url = f"s3://{server.bucket}/roof"
    assert archive["stored"] == 31 and archive["last_error"]
    assert is_whole(tmp_path / "rec") and stored(url) == digests(tmp_path / "rec")


def test_the_recorder_gives_up_on_a_silent_store_after_archive_wait(server, tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        began = time.monotonic()
        summary, archive, err = recorded(tmp_path / "rec", "s3://silent", "keep=none", "archive_wait=5s",
                                         status=5)
        assert 5 < time.monotonic() - began < 30 and summary["seconds"] < 20  # a request waits up to 30 s
    assert is_whole(tmp_path / "rec") and archive["behind"]["parts"] == 31
    assert "iio-stream archive push" in err


def test_a_part_is_kept_until_the_store_has_confirmed_it(server, tmp_path):
    """The store fails after ten parts. Each sample is either on the disk or in the store."""
    server.faults.append(lambda environ, body: ConnectionError() if len(server.sent("-meta")) > 10 else None)
    url = f"s3://{server.bucket}/roof"
    _, archive, _ = recorded(tmp_path / "rec", url, "keep=none", "archive_wait=1s", status=5)
    server.faults.clear()
    there, here = stored(url), digests(tmp_path / "rec")
    assert 0 < archive["stored"] < 31 and {**there, **here}.keys() == {
        f"a.{number:04}.sigmf-{kind}" for number in range(31) for kind in ("data", "meta")}
    for number in range(31):
        part = ramp(number * 65536, min(65536, SAMPLES * 4 - number * 65536))
        name = f"a.{number:04}.sigmf-data"
        assert (here.get(name) or there[name]) == hashlib.sha256(part).hexdigest()


@pytest.mark.parametrize("options, say", [
    (["archive=/tmp"], "s3://"), (["archive=s3://bucket", "keep=some"], "keep=some is not a valid rule"),
    (["keep=none"], "keep=none: without archive="),
    (["archive_wait=1s"], "there is no archive=")])
def test_invalid_archive_options_are_refused_before_the_start(server, tmp_path, options, say):
    line = [COMMAND, "record", "sim:", tmp_path / "a.sigmf-meta", "rotate_bytes=1Mi", "--samples", "1k"]
    done = subprocess.run([*line, *options],
                          capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert done.returncode == 2 and say in done.stderr and not list(tmp_path.glob("a.*"))
