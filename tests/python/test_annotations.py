# SPDX-License-Identifier: MIT
"""Annotations of recordings: how they are written, what they leave unchanged, and when they are refused."""
import errno
import fcntl
import json
import os
import re
import stat
import subprocess
import sys
import tarfile
import uuid

import numpy as np
import pytest
from conftest import BUILD, DEADLINE, PACKAGE

import iio_stream as ios

SAMPLES = 4000


@pytest.fixture
def meta(tmp_path):
    """The metadata of a recording of 4000 samples with a loss before sample 2500."""
    path = tmp_path / "a.sigmf-meta"
    ios.record("sim:", path, samples=SAMPLES, rate=0, drop_at=2500, drop=30)
    return path


def written(meta):
    return json.loads(meta.read_text())["annotations"]


def edited(meta, change):
    words = json.loads(meta.read_text())
    change(words)
    meta.write_text(json.dumps(words))


def foreign(folder, text, samples=1000):
    """Writes a recording of another program whose metadata have the given text."""
    (folder / "f.sigmf-data").write_bytes(bytes(4 * samples))
    (folder / "f.sigmf-meta").write_bytes(text.encode())
    return folder / "f.sigmf-meta"


def verify(meta):
    """Runs `iio-stream verify`, which succeeds only for metadata without a deviation."""
    done = subprocess.run([BUILD / "iio-stream", "verify", meta], capture_output=True, text=True,
                          timeout=DEADLINE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_annotation_is_in_the_file_and_in_the_recording(meta):
    opened = ios.open_recording(meta)
    id = uuid.uuid4()
    made = opened.annotate(3000, 10, label="burst", comment='Gruß,\n"twice"', frequency=(-1e3, 2.5e3),
                           generator="the test", uuid=id)
    assert made == ios.Annotation(3000, 10, "burst", 'Gruß,\n"twice"', (-1e3, 2.5e3))
    assert written(meta)[-1] == {
        "core:sample_start": 3000, "core:sample_count": 10, "core:freq_lower_edge": -1000,
        "core:freq_upper_edge": 2500, "core:label": "burst", "core:comment": 'Gruß,\n"twice"',
        "core:generator": "the test", "core:uuid": str(id)}
    assert opened.annotations[-1] == made and opened.metadata["annotations"] == written(meta)
    assert ios.open_recording(meta).annotations == opened.annotations
    verify(meta)


def test_the_sigmf_package_reads_annotations(meta):
    sigmf = pytest.importorskip("sigmf")
    opened = ios.open_recording(meta)
    opened.annotate(np.int64(100), np.uint16(50), label="fm", frequency=(np.float32(99.5e6), 100_500_000))
    opened.annotate(200)
    theirs = sigmf.sigmffile.fromfile(str(meta))
    theirs.validate()
    mine = [one for one in theirs.get_annotations() if one["core:sample_start"] < 2500]
    assert mine == [{"core:sample_start": 100, "core:sample_count": 50, "core:label": "fm",
                     "core:freq_lower_edge": 99.5e6, "core:freq_upper_edge": 100.5e6},
                    {"core:sample_start": 200}]
    verify(meta)


def test_annotations_are_sorted_by_their_start(meta):
    opened = ios.open_recording(meta)
    for start, label in ((3999, "last"), (0, "first"), (2500, "after"), (2499, "before"), (0, "second")):
        opened.annotate(start, 1, label=label)
    order = [(0, "first"), (0, "second"), (2499, "before"), (2500, "gap"), (2500, "after"), (3999, "last")]
    assert [(one["core:sample_start"], one["core:label"]) for one in written(meta)] == order
    assert [(one.start, one.label) for one in opened.annotations] == order
    assert opened.gaps == ios.open_recording(meta).gaps and len(opened.gaps) == 1
    verify(meta)


LAYOUTS = {
    "in one line": '{"global": {GLOBAL}, "captures": [{"core:sample_start": 0}], "annotations": [THERE]}',
    "without spaces": '{"global":{GLOBAL},"captures":[{"core:sample_start":0}],"annotations":[THERE]}',
    "in lines": '{\n    "annotations": [THERE\n    ],\n    "captures": [{"core:sample_start": 0}],\n'
                '    "global": {GLOBAL}\n}\n',
    "with tabs and CRLF": '{\r\n\t"annotations" :\t[ THERE ],\r\n\t"captures":[{"core:sample_start": 0}],'
                          '\r\n\t"global": {GLOBAL}}'}
# Neither a double nor a 64-bit integer can hold these digits, and json.dumps() would write the rest
# differently.
GLOBAL = (r'"core:datatype": "ci16_le", "core:version": "1.2.0", "core:sample_rate": 1.000e6, '
          r'"core:description": "caf\u00e9 \/ ]}[{", "big": 18446744073709551615, "core:author": "ü", '
          r'"digits": [2.4500000001234567890123, 1E-7, -0.0, 9007199254740993, []]')


@pytest.mark.parametrize("there", ["", '{"core:sample_start": 5, "note": "]"}'], ids=["none", "one"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_other_text_of_the_metadata_is_unchanged(tmp_path, layout, there):
    before = layout.replace("GLOBAL", GLOBAL).replace("THERE", there)
    meta = foreign(tmp_path, before)
    opened = ios.open_recording(meta)
    for start in (3, 7):
        opened.annotate(start, 2, label="x")
    after = meta.read_bytes().decode()
    assert GLOBAL in after and there in after
    assert [one["core:sample_start"] for one in json.loads(after)["annotations"]] == \
        ([3, 5, 7] if there else [3, 7])
    # Without the two new objects and their separators, the text is as before.
    without = re.sub(r'\{\s*"core:sample_start": [37],[^}]*\}', "", after)
    assert re.sub(r"[\s,]", "", without) == re.sub(r"[\s,]", "", before)


def test_metadata_without_the_key_annotations_get_it(tmp_path):
    meta = foreign(tmp_path, '{"global": {' + GLOBAL + '}, "captures": [{"core:sample_start": 0}]}')
    with pytest.warns(RuntimeWarning, match="annotations"):
        opened = ios.open_recording(meta)
    assert opened.annotations == ()
    opened.annotate(1, 2)
    assert written(meta) == [{"core:sample_start": 1, "core:sample_count": 2}]
    assert len(opened.annotations) == 1


def test_a_byte_order_mark_stays(tmp_path):
    text = "\ufeff" + LAYOUTS["in one line"].replace("GLOBAL", GLOBAL).replace("THERE", "")
    meta = foreign(tmp_path, text)
    with pytest.warns(RuntimeWarning, match="byte order mark"):
        opened = ios.open_recording(meta)
    opened.annotate(1)
    assert meta.read_bytes() == \
        text.replace('ns": []', 'ns": [{"core:sample_start": 1}]').encode()


def test_starts_are_relative_to_the_first_sample_of_the_file(tmp_path):
    """In metadata, annotations are relative to core:offset if the captures are."""
    text = ('{"global": {"core:datatype": "ci16_le", "core:version": "1.2.0", "core:offset": 700}, '
            '"captures": [{"core:sample_start": CAPTURE}], "annotations": []}')
    meta = foreign(tmp_path, text.replace("CAPTURE", "700"))
    opened = ios.open_recording(meta)
    assert opened.annotate(5, 995).start == 5 and opened.annotations[0].start == 5
    assert written(meta) == [{"core:sample_start": 705, "core:sample_count": 995}]
    verify(meta)
    meta = foreign(tmp_path, text.replace("CAPTURE", "0"))
    with pytest.warns(RuntimeWarning, match="core:offset"):
        opened = ios.open_recording(meta)
    assert opened.annotate(5).start == 5 and opened.annotations[0].start == 5
    assert written(meta) == [{"core:sample_start": 5}]


def test_invalid_annotations_are_left_out(tmp_path):
    there = '3, {}, {"core:sample_start": 9, "core:label": 1, "core:sample_count": -1, ' \
            '"core:freq_lower_edge": 1}, {"core:sample_start": 4, "core:comment": "c"}'
    meta = foreign(tmp_path, LAYOUTS["in one line"].replace("GLOBAL", GLOBAL).replace("THERE", there))
    with pytest.warns(RuntimeWarning):
        opened = ios.open_recording(meta)
    assert opened.annotations == (ios.Annotation(4, None, None, "c", None),
                                  ios.Annotation(9, None, None, None, None))


def test_keys_of_an_extension_are_written_only_if_it_is_declared(meta):
    opened = ios.open_recording(meta)
    with pytest.raises(ios.UsageError, match=r"declare no extension 'lab'.*add .*\"lab\".*core:extensions"):
        opened.annotate(0, **{"lab:run": 2**64 - 1})
    edited(meta, lambda words: words["global"]["core:extensions"].append(
        {"name": "lab", "version": "1.0.0", "optional": True}))
    opened.annotate(0, **{"lab:run": 2**64 - 1, "lab:levels": np.array([1.5, 2])})
    assert written(meta)[0] == {"core:sample_start": 0, "lab:run": 2**64 - 1, "lab:levels": [1.5, 2]}
    verify(meta)


@pytest.mark.parametrize("words,error,said", [
    ({"start": SAMPLES}, ios.UsageError, r"start=4000 is outside of the 4000 samples of .*0 to 3999"),
    ({"start": -1}, ios.UsageError, "start=-1 is outside"),
    ({"start": 3990, "count": 11}, ios.UsageError, "count=11 from start=3990 on is outside.*count=0 to 10"),
    ({"count": -1}, ios.UsageError, "count=-1 from start=0"),
    ({"start": 1.5}, TypeError, "start=1.5 is of type float: it must be a whole number of samples"),
    ({"start": "5"}, TypeError, "start='5' is of type str"),
    ({"count": True}, TypeError, "count=True is of type bool"),
    ({"label": 7}, TypeError, "label=7 is of type int: it must be text, such as label='7'"),
    ({"comment": b"x"}, TypeError, "comment=b'x' is of type bytes"),
    ({"label": "\udc80"}, ios.UsageError, "label=.*not UTF-8"),
    ({"frequency": (2e9, 1e9)}, ios.UsageError, "lowest is above the highest.*1000000000.0, 2000000000.0"),
    ({"frequency": (0, float("nan"))}, ios.UsageError, "nan Hz.*-1e12 to 1e12"),
    ({"frequency": (0, 2e12)}, ios.UsageError, "2000000000000.0 Hz.*-1e12 to 1e12"),
    ({"frequency": 1e9}, TypeError, r"frequency=1000000000.0 is not a pair.*\(lowest, highest\) in Hz"),
    ({"frequency": "12"}, TypeError, "is not a pair of numbers"),
    ({"frequency": ("1", "2")}, TypeError, "is not a pair of numbers"),
    ({"frequency": (1, 2, 3)}, TypeError, "is not a pair of numbers"),
    ({"uuid": "mine"}, ios.UsageError, r"uuid='mine' is not a valid UUID.*uuid.uuid4\(\)"),
    ({"generator": 3}, TypeError, "generator=3 is of type int"),
    ({"generator": "iio-stream 0.1.0"}, ios.UsageError, "marks annotations that iio-stream made"),
    ({"colour": "red"}, ios.UsageError, "no argument colour.*generator and uuid.*NAMESPACE:KEY"),
    ({"core:label": "x"}, ios.UsageError, "sets core:label itself.*label="),
    ({"iio_stream:lost_min": 3}, ios.UsageError, "cannot set iio_stream:lost_min.*namespace of your own"),
])
def test_invalid_arguments_are_refused_and_change_nothing(meta, words, error, said):
    opened, before = ios.open_recording(meta), meta.read_bytes()
    with pytest.raises(error, match=said):
        opened.annotate(**{"start": 0, **words})
    assert meta.read_bytes() == before and sorted(os.listdir(meta.parent)) == ["a.sigmf-data", "a.sigmf-meta"]
    assert len(opened.annotations) == 1


@pytest.mark.parametrize("value", [float("inf"), {1, 2}, "\udc80"])
def test_values_that_json_cannot_represent_are_refused(meta, value):
    edited(meta, lambda words: words["global"]["core:extensions"].append(
        {"name": "lab", "version": "1.0.0", "optional": True}))
    opened, before = ios.open_recording(meta), meta.read_bytes()
    with pytest.raises(ios.Error, match="a.sigmf-meta"):
        opened.annotate(0, **{"lab:value": value})
    assert meta.read_bytes() == before


def test_annotations_of_raw_samples_archives_and_stores_are_refused(tmp_path, meta):
    ios.record("sim:", tmp_path / "r.ci16", rate=0, samples=100)
    raw = ios.open_recording(tmp_path / "r.ci16")
    assert raw.annotations == () and raw.metadata_path == ""
    with pytest.raises(ios.UsageError, match="r.ci16: raw samples have no metadata.*iio-stream stream"):
        raw.annotate(0)
    with tarfile.open(tmp_path / "x.sigmf", "w") as archive:
        for kind in ("meta", "data"):
            archive.add(tmp_path / f"a.sigmf-{kind}", f"a/a.sigmf-{kind}")
    with pytest.raises(FileNotFoundError, match="it is an archive: tar -xf .*x.sigmf unpacks it"):
        ios.open_recording(tmp_path / "x.sigmf")
    for name in ("s3://bucket/x", "s3://bucket/x.sigmf-meta"):
        with pytest.raises(FileNotFoundError, match=r"iio_stream.archive.open\(\) reads.*archive pull"):
            ios.open_recording(name)


def test_annotating_a_running_recording_is_refused(meta):
    opened, before = ios.open_recording(meta), meta.read_bytes()
    with open(meta.with_suffix(".sigmf-data"), "rb") as data:
        fcntl.flock(data, fcntl.LOCK_EX)  # a recorder holds such a lock
        with pytest.raises(ios.StorageError, match="a.sigmf-data is being recorded.*wait") as caught:
            opened.annotate(0)
        assert caught.value.errno == errno.EBUSY and meta.read_bytes() == before
    edited(meta, lambda words: words["global"].update({"iio_stream:state": "recording"}))
    with pytest.raises(ios.StorageError, match="still being recorded.*iio-stream recover") as caught:
        opened.annotate(0)
    assert caught.value.errno == errno.EBUSY


def test_a_running_recorder_is_not_disturbed(tmp_path, meta):
    """The recorder replaces the recording after it was opened."""
    opened = ios.open_recording(meta)
    with ios.Session() as session:
        session.add("sim:?rate=1M", ios.uri(meta, overwrite=True))
        session.start()
        with pytest.raises(ios.StorageError, match="is being recorded") as caught:
            opened.annotate(0)
        assert caught.value.errno == errno.EBUSY
        session.stop()
        session.wait()
    verify(meta)


def test_a_reader_does_not_prevent_annotations(meta):
    with ios.source(meta) as rx:
        next(rx)
        ios.open_recording(meta).annotate(1, label="x")
    assert written(meta)[0]["core:label"] == "x"


def test_annotating_a_recording_that_has_changed_is_refused(meta):
    opened = ios.open_recording(meta)
    ios.record("sim:", meta, samples=500, rate=0, file_options={"overwrite": True})
    with pytest.raises(ios.StorageError, match="has 500 samples, but had 4000.*open it again") as caught:
        opened.annotate(0)
    assert caught.value.errno == errno.ESTALE
    other = ios.open_recording(meta, format="ri16_le")
    with pytest.raises(ios.StorageError, match="ci16_le.*ri16_le.*without format="):
        other.annotate(0)


def test_mode_and_symlink_of_the_metadata_are_kept(tmp_path, meta):
    os.chmod(meta, 0o640)
    (tmp_path / "l").mkdir()
    for kind in ("meta", "data"):
        (tmp_path / "l" / f"l.sigmf-{kind}").symlink_to(tmp_path / f"a.sigmf-{kind}")
    ios.open_recording(tmp_path / "l" / "l.sigmf-meta").annotate(1, label="x")
    assert (tmp_path / "l" / "l.sigmf-meta").is_symlink() and written(meta)[0]["core:label"] == "x"
    assert stat.S_IMODE(meta.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["a.sigmf-data", "a.sigmf-meta", "l"]


def test_annotating_works_after_a_change_of_the_working_folder(meta, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    opened = ios.open_recording("a.sigmf-meta")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    opened.annotate(1, label="x")
    assert written(meta)[0]["core:label"] == "x"


# Root can write everywhere with these capabilities, so they are removed.
AS_USER = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search",
           "--inh-caps", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


@pytest.mark.parametrize("mode,file_mode,said", [
    (0o555, 0o666, "no new file can be made in .*: Permission denied .*make it writable.*iio-stream stream"),
    (0o777, 0o444, "the file cannot be written: Permission denied .*make it writable")],
    ids=["folder", "file"])
def test_the_error_of_a_write_protected_folder_or_file_has_a_hint(tmp_path, mode, file_mode, said):
    folder = tmp_path / "closed"
    folder.mkdir()
    meta = folder / "a.sigmf-meta"
    ios.record("sim:", meta, samples=100, rate=0)
    before = meta.read_bytes()
    meta.chmod(file_mode)
    folder.chmod(mode)
    program = f"""
import iio_stream as ios
try:
    ios.open_recording({str(meta)!r}).annotate(0)
except PermissionError as error:
    print(error)
"""
    done = subprocess.run([*AS_USER, sys.executable, "-B", "-c", program], capture_output=True, text=True,
                          timeout=DEADLINE, check=False, env={**os.environ, "PYTHONPATH": str(PACKAGE)})
    folder.chmod(0o755)
    assert re.match(f"annotate .*a.sigmf-meta: {said}", done.stdout), done.stdout + done.stderr
    assert meta.read_bytes() == before and len(os.listdir(folder)) == 2


def test_a_full_disk_leaves_the_old_file(meta, monkeypatch):
    opened, before = ios.open_recording(meta), meta.read_bytes()

    def full(fd):
        raise OSError(errno.ENOSPC, "")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ios.StorageError, match="No space left") as caught:
        opened.annotate(0)
    assert caught.value.errno == errno.ENOSPC and meta.read_bytes() == before
    assert sorted(os.listdir(meta.parent)) == ["a.sigmf-data", "a.sigmf-meta"]


def test_a_temporary_file_that_a_kill_has_left_is_replaced(meta):
    (meta.parent / "a.sigmf-meta.annotate").write_text("x" * 10_000)
    ios.open_recording(meta).annotate(1, label="x")
    assert written(meta)[0]["core:label"] == "x"
    assert sorted(os.listdir(meta.parent)) == ["a.sigmf-data", "a.sigmf-meta"]


def test_two_processes_at_once_lose_no_annotation(meta):
    program = f"""
import sys
import iio_stream as ios
opened = ios.open_recording({str(meta)!r})
print("ready", flush=True)
sys.stdin.readline()
for start in range(60):
    opened.annotate(start, 1, label=sys.argv[1])
"""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    both = [subprocess.Popen([sys.executable, "-c", program, name], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True, env=environment) for name in "ab"]
    for one in both:
        assert one.stdout.readline() == "ready\n"
    for one in both:
        one.stdin.write("go\n")
        one.stdin.flush()
    for one in both:
        one.communicate(timeout=DEADLINE)
        assert one.returncode == 0
    found = [(one["core:sample_start"], one["core:label"]) for one in written(meta)[:-1]]
    assert sorted(found) == [(start, name) for start in range(60) for name in "ab"]
    assert [start for start, _ in found] == sorted(start for start, _ in found)
    verify(meta)


def test_recover_keeps_annotations(meta):
    """The state marks the recording as interrupted, so that recover rewrites the metadata."""
    ios.open_recording(meta).annotate(100, 20, label="mine")
    edited(meta, lambda words: words["global"].update({"iio_stream:state": "recording"}))
    assert ios.recover(meta).needed
    assert ("mine", 100, 20) in [(one.label, one.start, one.count)
                                 for one in ios.open_recording(meta).annotations]
    verify(meta)
