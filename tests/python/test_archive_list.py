# SPDX-License-Identifier: MIT
"""`iio-stream archive list` prints the recordings that Python finds in the same archive."""
import os
import subprocess
import sys
import threading
import time

import pytest
from archives import COUNT, command, edit, record, seven_parts, told
from conftest import BUILD, DEADLINE, REPOSITORY

import iio_stream as ios

pytest.importorskip("s3fs", reason="needs s3fs, which script/test installs")
pytest.importorskip("dask.array", reason="needs dask, which script/test installs")
pytest.importorskip("moto.server", reason="needs moto, which script/test installs")
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
import s3fs  # noqa: E402
import schemas  # noqa: E402
from pushing import push  # noqa: E402


def agrees(place, found=None):
    """Runs `archive list` and checks that the JSON output equals what Python finds. Returns the output."""
    said, _ = command("list", place)
    schemas.check("archive-list", said)
    found = ios.archive.open(place, on_damage="leave-out") if found is None else found
    assert [{key: one[key] for key in one if key != "seconds"} for one in said["recordings"]] == told(found)
    for one, theirs in zip(said["recordings"], found):
        rate = theirs.sample_rate
        assert one["seconds"] == (pytest.approx(len(theirs) / rate) if rate else None)
    assert tuple(said["unfinished"]) == found.unfinished
    wrong = sorted(one.filename for one in found.damaged)
    assert sorted(f"{place}/{one['name']}" for one in said["damaged"]) == wrong
    assert said["parts"] == sum(len(one.parts) for one in found)
    return said


def tuned(words, number):
    words["global"].update({"core:hw": "AD9361", "core:sample_rate": 1e6})
    for one in words["captures"]:
        one["core:datetime"] = f"2026-11-26T23:00:{one.get('core:global_index', 0) / 1e6:09.6f}Z"
        one["core:frequency"] = 100e6 if number == 3 else 2.4e9


def several(folder):
    """Makes recordings of many kinds."""
    folder.mkdir()
    seven_parts(folder)
    (folder / "roof top" / "ü+1 %41&").mkdir(parents=True)
    for number, part in enumerate(seven_parts(folder / "roof top" / "ü+1 %41&")):
        edit(part, lambda words, n=number: tuned(words, n))
    ios.record("sim:", folder / "c.sigmf-meta", rate="1M", pattern="tone", samples=10_000, frequency="100k")
    ios.record("sim:", folder / "d.2026.sigmf-meta", rate=0, samples=10)
    record(folder / "gone.sigmf-meta", drop_at=16_384, drop=1000)
    for path in folder.glob("gone.000[02].*"):
        path.unlink()
    record(folder / "zeros.sigmf-meta", drop_at=30_000, drop=4096, on_gap="zero-fill")
    ios.record("sim:", folder / "stalled.sigmf-meta", rate="1M", blocks=8, duration="0.3s", stall_at=100_000,
               stall_for="100ms", file_options={"rotate_bytes": "256Ki"})
    edit(folder / "d.2026.sigmf-meta", lambda words: (
        [words["global"].pop(key) for key in list(words["global"]) if key.startswith("iio_stream")],
        words["captures"].append({"core:sample_start": 4, "core:global_index": 9})))


def listed(place):
    """Returns the text output of `archive list`."""
    return subprocess.run([BUILD / "iio-stream", "archive", "list", place], capture_output=True, text=True,
                          check=True, timeout=DEADLINE).stdout


def test_recordings_whose_names_end_in_a_number_are_separate(tmp_path):
    for year in (2024, 2025, 2026):
        ios.record("sim:", tmp_path / f"day.{year}.sigmf-meta", rate=0, samples=year)
    said = agrees(str(tmp_path))
    assert [one["name"] for one in said["recordings"]] == [f"day.{year}" for year in (2024, 2025, 2026)]
    assert [one["samples"] for one in said["recordings"]] == [2024, 2025, 2026] and not said["damaged"]


def set_back(parts, after):
    for number, part in enumerate(parts):
        edit(part, lambda words, n=number: words["captures"][0].update(
            {"core:datetime": f"2026-11-26T{'23:12:00' if n < 3 else after}Z"}))


@pytest.mark.parametrize("loses", [20_000, 49_152])  # within a part, or where the clock is set back
@pytest.mark.parametrize("after", ["23:11:30", "23:10:30", "01:00:00"])
def test_a_clock_that_was_set_back_does_not_split_a_recording(tmp_path, after, loses):
    record(tmp_path / "a.sigmf-meta", drop_at=loses, drop=300)
    set_back(sorted(tmp_path.glob("*-meta")), after)
    said = agrees(str(tmp_path))
    assert [one["parts"] for one in said["recordings"]] == [7] and not said["damaged"]
    assert command("verify", tmp_path)[0]["ok"]


@pytest.mark.parametrize("after, parts", [("23:11:30", 7), ("23:10:30", 3)])
def test_later_parts_that_are_discontinuous_and_older_belong_to_another_recording(tmp_path, after, parts):
    """An older recording with the same name can leave parts that are more than a minute older."""
    made = seven_parts(tmp_path)
    for part in made[3:]:
        edit(part, lambda words: [one.update({"core:global_index": one["core:global_index"] + 5})
                                  for one in words["captures"]])
    set_back(made, after)
    said = agrees(str(tmp_path))
    assert [one["parts"] for one in said["recordings"]] == [parts] and len(said["damaged"]) == 7 - parts


def test_an_object_that_cannot_be_read_does_not_hide_others(server, tmp_path):
    seven_parts(tmp_path)
    push(tmp_path, f"s3://{server.bucket}")
    refused = f"GET /{server.bucket}/a.0003.sigmf-meta"
    server.faults.append(lambda environ, body: ("403 Forbidden", {}, [b""]) if refused == "{} {}".format(
        environ["REQUEST_METHOD"], environ["PATH_INFO"]) else None)
    said, _ = command("list", f"s3://{server.bucket}")
    [only] = said["recordings"]
    assert only["parts"] == 6 and only["gaps"]["certain"] == 2
    [wrong] = said["damaged"]
    assert wrong["name"] == "a.0003.sigmf-meta" and "403" in wrong["what"]


def test_the_list_equals_what_python_finds(server, tmp_path):
    several(tmp_path / "rec")
    said = agrees(str(tmp_path / "rec"))
    assert [one["name"] for one in said["recordings"]] == [
        "a", "c", "d.2026", "gone", "roof top/ü+1 %41&/a", "stalled", "zeros"]
    by_name = {one["name"]: one for one in said["recordings"]}
    assert by_name["a"]["gaps"] == {"certain": 1, "possible": 0, "lost_min": 300, "lost_max": 300}
    roof = by_name["roof top/ü+1 %41&/a"]
    assert (roof["begin"], roof["device"], roof["frequency"]) == ("2026-11-26T23:00:00Z", "AD9361", None)
    assert roof["seconds"] == pytest.approx((COUNT + 300) / 1e6)
    assert by_name["gone"]["gaps"]["lost_min"] == 16_384 + 1000
    assert by_name["zeros"]["gaps"]["lost_min"] == 4096
    for place in (f"file://{tmp_path}/rec", f"s3://{server.bucket}/on top"):
        if place.startswith("s3"):
            push(tmp_path / "rec", place)
        again = agrees(place)
        assert {**again, "place": said["place"]} == said


def test_unfinished_and_damaged_parts_are_named(server, tmp_path):
    parts = seven_parts(tmp_path)
    edit(parts[6], lambda words: words["global"].update({"iio_stream:state": "recording"}))
    parts[5].with_suffix(".sigmf-data.journal").write_text("")
    parts[4].unlink()
    parts[1].write_text("{")
    os.truncate(parts[2].with_suffix(".sigmf-data"), 100)
    parts[3].with_suffix(".sigmf-data").unlink()
    said = agrees(str(tmp_path))
    assert said["unfinished"] == ["a.0004", "a.0005", "a.0006"] and len(said["damaged"]) == 3
    store = s3fs.S3FileSystem(skip_instance_cache=True)
    for path in tmp_path.iterdir():
        if path.is_file():
            store.pipe(f"{server.bucket}/x/{path.name}", path.read_bytes())
    again, _ = command("list", f"s3://{server.bucket}/x")
    assert again["unfinished"] == said["unfinished"] and again["recordings"] == said["recordings"]
    assert [one["name"] for one in again["damaged"]] == [one["name"] for one in said["damaged"]]


def test_a_running_recording_is_listed_with_its_finished_parts(tmp_path):
    words = [BUILD / "iio-stream", "record", "sim:", "pattern=ramp", "rate=4M", "a", "rotate_bytes=64Ki",
             "--quiet", "--block-size", "4Ki", "--duration", "30s"]
    with subprocess.Popen(words, cwd=tmp_path, stdin=subprocess.DEVNULL) as recorder:
        try:
            deadline, seen = time.monotonic() + DEADLINE, set()
            while len(seen) < 5:
                assert time.monotonic() < deadline
                said, _ = command("list", tmp_path)
                assert not said["damaged"], said["damaged"]
                seen.update(one["parts"] for one in said["recordings"])
        finally:
            recorder.kill()


def test_many_recordings_are_listed_with_few_requests(server, tmp_path):
    """600 recordings are 1200 objects, which are two pages of a store's list. Several metadata files are
    read at the same time."""
    ios.record("sim:", tmp_path / "a.sigmf-meta", rate=0, samples=10)
    texts = [(tmp_path / f"a.sigmf-{kind}").read_bytes() for kind in ("meta", "data")]
    store = s3fs.S3FileSystem(skip_instance_cache=True)
    store.pipe({f"{server.bucket}/n{number:03}.sigmf-{kind}": text for number in range(600)
                for kind, text in zip(("meta", "data"), texts)})
    at_once, most, lock = [0], [0], threading.Lock()

    def fault(environ, body):
        if environ["RAW_URI"].endswith("-meta"):
            with lock:
                at_once[0] += 1
                most[0] = max(most[0], at_once[0])
            time.sleep(0.002)
            with lock:
                at_once[0] -= 1

    server.faults.append(fault)
    server.bodies.clear()
    said, _ = command("list", f"s3://{server.bucket}")
    assert [one["name"] for one in said["recordings"]] == [f"n{number:03}" for number in range(600)]
    assert said["parts"] == 600 and said["bytes"] == 600 * 40 and 2 <= most[0] <= 8
    assert sum("list-type=2" in path for _, path, _ in server.bodies) == 2
    assert len(server.bodies) == 602


def test_requests_to_a_busy_store_are_retried(server, tmp_path):
    (tmp_path / "rec").mkdir()
    seven_parts(tmp_path / "rec")
    url = f"s3://{server.bucket}/x"
    push(tmp_path / "rec", url)
    before = agrees(url)
    answers = [("503 Busy", {}, []), OSError("cut"), ("500 Internal Server Error", {}, [b"oops"])]
    server.faults.append(lambda environ, body: answers.pop() if answers else None)
    assert command("list", url)[0] == before and not answers
    server.faults.append(lambda environ, body: ("503 Busy", {}, []))
    said, err = command("list", url, "--retry", "0.5s", status=5)
    assert said["error"] and "503" in err and not said["recordings"]


PAGE = b"<ListBucketResult><IsTruncated>%s</IsTruncated>%s</ListBucketResult>"


def pages(*tokens, objects=b"", then=None):
    """Returns a fault with the pages of a list for successive requests, and the list of these requests."""
    asked = []

    def fault(environ, body):
        if "list-type" not in environ["RAW_URI"]:
            return None
        asked.append(environ["RAW_URI"])
        token = tokens[(len(asked) - 1) % len(tokens)] if tokens else b"t%d" % len(asked)
        page = PAGE % (b"true", objects % len(asked) if b"%d" in objects else objects)
        goes_on = b"<NextContinuationToken>%s</NextContinuationToken>" % token if token else b""
        return "200 OK", {}, [page.replace(b"</List", goes_on + b"</List")]

    return fault, asked


OBJECT = b"<Contents><Key>a.sigmf-meta</Key><Size>1</Size></Contents>"


@pytest.mark.parametrize("tokens, objects, words, most", [
    ([b"a", b"b"], OBJECT, "repeats a continuation token", 3),
    ([b"a", b"b", b"c", b"d", b"a"], OBJECT.replace(b"a.sig", b"%d.sig"), "repeats a continuation token", 5),
    ([], b"", "list nothing new", 100), ([], OBJECT, "list nothing new", 101),
    ([None], OBJECT, "without a continuation token", 1)],
    ids=["two alternating tokens", "a loop", "empty pages", "the same page", "no token"])
def test_a_list_without_an_end_is_an_error(server, tokens, objects, words, most):
    fault, asked = pages(*tokens, objects=objects)
    server.faults.append(fault)
    said, err = command("list", f"s3://{server.bucket}", status=5)
    assert words in err and not said["recordings"] and len(asked) == most


@pytest.mark.parametrize("answer, words", [
    ([PAGE % (b"true", b"<NextContinuationToken>a</NextContinuationToken>")], "repeats a continuation token"),
    ([b"<a>" * 100], "nested too deep"),
    ([b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'], "document type"),
    ([b"not XML"], "not XML"),
    ([b"<html><body>Welcome</body></html>"], "not a list"),
    (iter(lambda: b"x" * 65536, b""), "longer than 8388608 bytes"),
], ids=["repeated token", "deep", "entities", "not XML", "HTML page", "endless"])
def test_malicious_lists_are_errors(server, answer, words):
    server.faults.append(lambda environ, body: ("200 OK", {}, answer) if "list-type" in environ["RAW_URI"]
                         else None)
    said, err = command("list", f"s3://{server.bucket}", status=5)
    assert words in err and not said["recordings"]


def test_malicious_names_are_reported_as_damaged_and_printed_escaped(server, tmp_path):
    ios.record("sim:", tmp_path / "a.sigmf-meta", rate=0, samples=10)
    edit(tmp_path / "a.sigmf-meta", lambda words: words["global"].update({"core:hw": "x\x1b[2J"}))
    store = s3fs.S3FileSystem(skip_instance_cache=True)
    import boto3
    for name in ("a", "b\x1b[2J", "../c", "d//e", "f/./g"):
        for kind in ("meta", "data"):
            boto3.client("s3").put_object(Bucket=server.bucket, Key=f"x/{name}.sigmf-{kind}",
                                          Body=(tmp_path / f"a.sigmf-{kind}").read_bytes())
    assert store.exists(f"{server.bucket}/x/a.sigmf-meta")
    said, _ = command("list", f"s3://{server.bucket}/x")
    assert [one["name"] for one in said["recordings"]] == ["a"] and len(said["damaged"]) == 8
    text = listed(f"s3://{server.bucket}/x")
    assert "\x1b" not in text and r"b\x1b[2J" in text


def test_the_text_list_has_a_line_for_each_recording(tmp_path):
    for number, part in enumerate(seven_parts(tmp_path)):
        edit(part, lambda words, n=number: tuned(words, 0))
    (tmp_path / "b.sigmf-data").write_bytes(b"")
    lines = [" ".join(line.split()) for line in listed(tmp_path).splitlines()]
    assert lines[:2] == ["NAME BEGIN LENGTH DEVICE FREQUENCY RATE SAMPLES PARTS LOSSES",
                         "a 2026-11-26T23:00:00Z 0.100 s AD9361 2.40 GHz 1.00 MS/s 100000 7 1 certain"]
    assert lines[2:] == ["unfinished: b",
                         f"{tmp_path}: 1 recording in 7 parts, 390.62 KiB; 1 unfinished, 0 damaged"]


def test_the_errors_of_list_have_hints(server, tmp_path, monkeypatch):
    for place, words in (("http://x/y", "s3://BUCKET/PREFIX"), ("file://x", "file:///FOLDER"),
                         ("s3://Bucket_1", "invalid bucket name"), ("s3:/abc", "s3://BUCKET/PREFIX")):
        assert words in command("list", place, status=2)[1]
    assert "nowhere" in command("list", tmp_path / "nowhere", status=5)[1]
    assert "no objects below this prefix" in command("list", f"s3://{server.bucket}/nowhere", status=5)[1]
    assert "NoSuchBucket" in command("list", "s3://nothing-there", status=5)[1]
    assert command("list", f"s3://{server.bucket}")[0]["recordings"] == []
    assert "takes no --keep" in command("list", tmp_path, "--keep", "all", status=2)[1]
    assert "'elsewhere' is unexpected" in command("list", tmp_path, "elsewhere", status=2)[1]
    assert "has no destination" in command("push", tmp_path, status=2)[1]
    assert "use push, list, verify, prune, pull, index or pack" in command("lst", tmp_path, status=2)[1]
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert "AWS_SECRET_ACCESS_KEY" in command("list", f"s3://{server.bucket}", status=2)[1]
