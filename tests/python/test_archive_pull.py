# SPDX-License-Identifier: MIT
"""`iio-stream archive pull` makes of what is in an archive what was in the folder."""
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

pytest.importorskip("s3fs", reason="script/test has it in build/venv")
pytest.importorskip("dask.array", reason="script/test has it in build/venv")
pytest.importorskip("moto.server", reason="script/test has it in build/venv")
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
import s3fs  # noqa: E402
import schemas  # noqa: E402
from pushing import digests, push  # noqa: E402

T = "2026-11-26T23:00:00"


def recorded(folder, hashed=True):
    """Seven parts, dated; the index is the time in microseconds."""
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


def test_what_was_pushed_comes_back_once(server, tmp_path, url):
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
def test_a_time_is_chosen_as_python_chooses_it(tmp_path, time):
    recorded(tmp_path / "rec")
    said, _ = command("pull", tmp_path / "rec", tmp_path / "here", "--time", *time)
    chosen = ios.archive.open(tmp_path / "rec").select(
        time=tuple(None if one == "-" else one for one in time))
    wanted = sorted(part.name for one in chosen for part in one.parts)
    here = tmp_path / "here"
    assert sorted(path.name for path in here.glob("*-data")) == wanted and said["parts"] == len(wanted)


def test_names_are_patterns(tmp_path):
    (tmp_path / "rec" / "deep").mkdir(parents=True)
    for name in ("roof", "road", "deep/roof"):
        ios.record("sim:", tmp_path / "rec" / f"{name}.sigmf-meta", rate=0, samples=10)
    for pattern, found in (("ro*", 2), ("*roof", 2), ("roof", 1), ("r??d", 1), ("Roof", 0), ("*", 3)):
        assert command("pull", tmp_path / "rec", tmp_path / pattern, "--name", pattern)[0]["parts"] == found
    assert (tmp_path / "*" / "deep" / "roof.sigmf-meta").exists()
    said, _ = command("pull", tmp_path / "rec", tmp_path / "x", "--time", "-", "2030-01-01")
    assert said["parts"] == 0 or all(ios.archive.open(tmp_path / "rec").recordings[0].dated)


def test_samples_come_before_their_metadata(server, tmp_path, url):
    """While the samples of a part are on their way, nothing has its name."""
    here, seen = tmp_path / "here", []

    def fault(environ, body):
        if environ["RAW_URI"].endswith("a.0003.sigmf-data"):
            time.sleep(0.2)
            seen.extend(path.name for path in here.glob("a.0003*"))

    server.faults.append(fault)
    command("pull", url, here)
    assert seen == ["a.0003.sigmf-data.part"]


def test_one_that_was_killed_goes_on_where_it_was(server, tmp_path):
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
def test_another_half_done_download_is_replaced(server, tmp_path, url, left):
    here = tmp_path / "here"
    here.mkdir()
    (here / "a.0002.sigmf-data.part").write_bytes(left)
    said, _ = command("pull", url, here)
    assert said["pulled"] == 7 and digests(here) == digests(tmp_path / "rec")


@pytest.mark.parametrize("hashed", [True, False])
def test_one_that_was_killed_before_the_metadata_is_finished(tmp_path, hashed):
    recorded(tmp_path / "rec", hashed)
    here = tmp_path / "here"
    command("pull", tmp_path / "rec", here)
    (here / "a.0001.sigmf-meta").unlink()
    said, _ = command("pull", tmp_path / "rec", here)
    assert (said["pulled"], said["already"], said["bytes"]) == (1, 6, 0)
    assert digests(here) == digests(tmp_path / "rec")


@pytest.mark.parametrize("hashed", [True, False])
@pytest.mark.parametrize("what", ["other samples", "other metadata", "a link"])
def test_other_files_of_the_name_stay(tmp_path, hashed, what):
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
    assert "something else" in err and wrong.read_bytes() == bytes(65536)
    assert len(list(here.iterdir())) == 13


def test_what_the_store_sends_wrongly_gets_no_name(server, tmp_path, url):
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


def test_a_cut_connection_and_a_busy_store_do_no_harm(server, tmp_path, url):
    answers = [("503 Busy", {}, []), OSError("cut"), ("500 Internal Server Error", {}, [b"oops"])] * 3
    server.faults.append(lambda environ, body: answers.pop()
                         if answers and environ["RAW_URI"].endswith("-data") else None)
    said, _ = command("pull", url, tmp_path / "here")
    assert said["pulled"] == 7 and digests(tmp_path / "here") == digests(tmp_path / "rec")


def test_what_is_damaged_there_is_left_there(tmp_path):
    parts = recorded(tmp_path / "rec")
    parts[1].write_text("{")
    os.truncate(parts[2].with_suffix(".sigmf-data"), 10)
    said, err = command("pull", tmp_path / "rec", tmp_path / "here", status=5)
    assert said["pulled"] == 5 and len(said["damaged"]) == 2 and "2 damaged parts left out" in err


def test_names_do_not_lead_out_of_the_folder(server, tmp_path):
    ios.record("sim:", tmp_path / "a.sigmf-meta", rate=0, samples=10)
    import boto3
    for name in ("x/../../up", "x//etc/up", "x/./up"):
        for kind in ("meta", "data"):
            boto3.client("s3").put_object(Bucket=server.bucket, Key=f"{name}.sigmf-{kind}",
                                          Body=(tmp_path / f"a.sigmf-{kind}").read_bytes())
    said, _ = command("pull", f"s3://{server.bucket}/x", tmp_path / "in" / "here", status=5)
    assert said["parts"] == 0 and len(said["damaged"]) == 6 and not list((tmp_path / "in").rglob("*up*"))
    assert s3fs.S3FileSystem(skip_instance_cache=True).exists(server.bucket)


def test_mistakes_say_what_to_do(tmp_path):
    recorded(tmp_path / "rec")
    for options, words in (([], "a folder"), ([tmp_path / "x", "--time", "now", "-"], "2026-11-26T23:00"),
                           ([tmp_path / "x", "--time", "2027-01-01", "2026-01-01"], "ends before it begins"),
                           ([tmp_path / "x", "--time", "2027-01-01"], "--time"),
                           ([tmp_path / "x", "--keep", "all"], "takes no --keep")):
        assert words in command("pull", tmp_path / "rec", *options, status=2)[1]
    (tmp_path / "file").write_text("")
    assert "file" in command("pull", tmp_path / "rec", tmp_path / "file", status=5)[1]


@pytest.mark.parametrize("hashed", [True, False])
def test_two_pulls_take_nothing_from_each_other(server, tmp_path, hashed):
    """The second waits for a part of the first, which then has it."""
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


def test_a_file_with_another_name_is_not_written_to(tmp_path):
    recorded(tmp_path / "rec")
    here, mine = tmp_path / "here", tmp_path / "mine"
    here.mkdir()
    mine.write_text("precious")
    os.link(mine, here / "a.0003.sigmf-data.part")
    said, err = command("pull", tmp_path / "rec", here, status=5)
    assert said["pulled"] == 6 and "it has another name, too" in err and mine.read_text() == "precious"
