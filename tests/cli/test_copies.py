# SPDX-License-Identifier: MIT
"""A copy of a recording keeps the metadata, and they describe the same samples as before."""
import json
import struct

import pytest

TWO = {
    "global": {"core:datatype": "ci16_le", "core:sample_rate": 1e6, "core:version": "1.0.0", "core:author": "A. Person",
               "core:description": "two stations", "core:hw": "receiver 7", "core:recorder": "other 1.2",
               "core:license": "https://creativecommons.org/publicdomain/zero/1.0/", "other:key": {"a": [1, 2]},
               "core:extensions": [{"name": "other", "version": "2.0.0", "optional": True}]},
    "captures": [{"core:sample_start": 0, "core:frequency": 1e6, "core:datetime": "2024-03-01T10:20:30.123Z"},
                 {"core:sample_start": 500, "core:frequency": 2e6, "core:datetime": "2024-03-01T10:20:31.000Z",
                  "other:gain": 3}],
    "annotations": [{"core:sample_start": 100, "core:sample_count": 50, "core:label": "beacon", "other:note": "x"},
                    {"core:sample_start": 450, "core:sample_count": 100, "core:comment": "across"}]}


def write(folder, metadata, name="a", samples=1000):
    (folder / f"{name}.sigmf-meta").write_text(json.dumps(metadata))
    data = b"".join(struct.pack("<hh", n, -n) for n in range(samples))
    (folder / f"{name}.sigmf-data").write_bytes(data)
    return data


def read(folder, name):
    return json.loads((folder / f"{name}.sigmf-meta").read_text())


def changed(metadata, change):
    other = json.loads(json.dumps(metadata))
    change(other)
    return other


def route_of(result):
    return " ".join(hop["reason"] or "" for hop in result.json["route"])


KEPT = ("core:author", "core:description", "core:hw", "core:recorder", "core:license", "other:key", "core:sample_rate")


@pytest.mark.parametrize("convert, datatype", [("", "ci16_le"), ("convert=cf32_le", "cf32_le")])
def test_captures_annotations_and_the_description_are_kept(iio, tmp_path, convert, datatype):
    data = write(tmp_path, TWO)
    copied = iio(f"stream a.sigmf-meta b.sigmf-meta {convert} --json")
    copy = read(tmp_path, "b")
    assert copy["captures"] == TWO["captures"] and copy["annotations"] == TWO["annotations"]
    assert {key: copy["global"][key] for key in KEPT} == {key: TWO["global"][key] for key in KEPT}
    assert copy["global"]["core:datatype"] == datatype and copy["global"]["core:version"] == "1.2.5"
    assert TWO["global"]["core:extensions"][0] in copy["global"]["core:extensions"]
    assert "does not keep" not in route_of(copied)
    iio("verify b.sigmf-meta")
    if not convert:
        assert (tmp_path / "b.sigmf-data").read_bytes() == data
    iio("stream b.sigmf-meta c.sigmf-meta")  # a copy of the copy is the same
    again = read(tmp_path, "c")
    assert again == copy


@pytest.mark.parametrize("samples, captures, annotations", [
    (700, 2, [(100, 50), (450, 100)]),
    (480, 1, [(100, 50), (450, 30)]),
    (120, 1, [(100, 20)]),
])
def test_a_copy_of_the_first_samples_has_only_their_metadata(iio, tmp_path, samples, captures, annotations):
    write(tmp_path, TWO)
    iio(f"stream a.sigmf-meta b.sigmf-meta --samples {samples}")
    copy = read(tmp_path, "b")
    assert copy["captures"] == TWO["captures"][:captures]
    assert [(one["core:sample_start"], one["core:sample_count"]) for one in copy["annotations"]] == annotations
    iio("verify b.sigmf-meta")


def test_each_part_of_a_copy_has_the_metadata_of_its_samples(iio, tmp_path):
    data = write(tmp_path, TWO)
    iio("stream a.sigmf-meta b.sigmf-meta rotate_bytes=1200 --block-size 1200")
    parts = sorted(path.name[:-len(".sigmf-meta")] for path in tmp_path.glob("b.*.sigmf-meta"))
    assert b"".join((tmp_path / f"{part}.sigmf-data").read_bytes() for part in parts) == data
    found = [read(tmp_path, part) for part in parts]
    assert [[(one["core:sample_start"], one.get("core:global_index", 0), one["core:frequency"], one["core:datetime"])
             for one in part["captures"]] for part in found] == [
        [(0, 0, 1e6, "2024-03-01T10:20:30.123Z")],
        [(0, 300, 1e6, "2024-03-01T10:20:30.1233Z"), (200, 500, 2e6, "2024-03-01T10:20:31.000Z")],
        [(0, 600, 2e6, "2024-03-01T10:20:31.0001Z")],
        [(0, 900, 2e6, "2024-03-01T10:20:31.0004Z")]]
    assert [[(one["core:sample_start"], one["core:sample_count"]) for one in part["annotations"]]
            for part in found] == [[(100, 50)], [(150, 100)], [], []]
    assert all(part["global"]["core:author"] == "A. Person" for part in found)
    for part in parts:
        iio(f"verify {part}.sigmf-meta")


JUMP = {"global": {"core:datatype": "ci16_le", "core:sample_rate": 1e6, "core:version": "1.2.0"},
        "captures": [{"core:sample_start": 0, "core:global_index": 70, "core:datetime": "2024-03-01T10:20:30Z"},
                     {"core:sample_start": 500, "core:global_index": 1070, "core:frequency": 5e6}],
        "annotations": [{"core:sample_start": 600, "core:sample_count": 10, "core:label": "late"}]}


def test_a_jump_of_the_sample_index_is_copied_as_a_gap(iio, tmp_path):
    """The recording is SigMF's example of core:global_index, in a stream that began earlier."""
    write(tmp_path, JUMP)
    iio("stream a.sigmf-meta b.sigmf-meta")
    copy = read(tmp_path, "b")
    assert [(one["core:sample_start"], one["core:global_index"]) for one in copy["captures"]] == [(0, 70), (500, 1070)]
    assert copy["captures"][0]["core:datetime"] == "2024-03-01T10:20:30Z"
    # The second capture begins 1000 samples after the first one, and 500 of these samples are lost.
    assert copy["captures"][1] == {**JUMP["captures"][1], "core:datetime": "2024-03-01T10:20:30.001Z"}
    gap, late = copy["annotations"]
    assert (gap["core:sample_start"], gap["iio_stream:lost_min"], gap["iio_stream:lost_max"]) == (500, 500, 500)
    assert late == JUMP["annotations"][0]
    for name in "ab":
        gaps = iio(f"verify {name}.sigmf-meta --json").json["recording"]["gaps"]
        assert gaps == {"certain": 1, "possible": 0, "lost_min": 500, "lost_max": 500}


BACK = {"global": JUMP["global"],
        "captures": [{"core:sample_start": 0, "core:global_index": 70},
                     {"core:sample_start": 500, "core:global_index": 1000},
                     {"core:sample_start": 600, "core:global_index": 0, "core:frequency": 2e6},
                     {"core:sample_start": 700, "core:global_index": 150, "core:datetime": "2024-03-01T10:20:30.000Z"}],
        "annotations": [{"core:sample_start": 650, "core:sample_count": 10, "core:label": "later"}]}


@pytest.mark.parametrize("words", ["", "--on-gap zero-fill", "rotate_bytes=1200 --block-size 1200"])
def test_a_copy_of_a_recording_whose_index_steps_back_is_valid_and_has_the_same_gaps(iio, tmp_path, words):
    """The index steps back if one file contains two recordings. 430 samples are lost before sample 500, and
    50 before sample 700."""
    write(tmp_path, BACK)
    copied = iio(f"stream a.sigmf-meta b.sigmf-meta {words} --json")
    assert copied.json["gaps"]["lost_min"] == copied.json["gaps"]["lost_max"] == 480
    assert "does not keep core:global_index from sample 600 on" in route_of(copied)
    for path in sorted(tmp_path.glob("b*.sigmf-meta")):
        iio(f"verify {path.name}")
    if words:
        return
    copy = read(tmp_path, "b")
    assert [(one["core:sample_start"], one["core:global_index"]) for one in copy["captures"]] == [
        (0, 70), (500, 1000), (600, 1100), (700, 1250)]
    assert copy["captures"][2]["core:frequency"] == 2e6
    assert copy["captures"][3]["core:datetime"] == BACK["captures"][3]["core:datetime"]
    assert [(one["core:sample_start"], one["iio_stream:lost_min"]) for one in copy["annotations"]
            if "iio_stream:lost_min" in one] == [(500, 430), (700, 50)]
    assert BACK["annotations"][0] in copy["annotations"]
    again = iio("stream b.sigmf-meta c.sigmf-meta --json")
    assert "does not keep" not in route_of(again) and read(tmp_path, "c") == copy


@pytest.mark.parametrize("index", [0, 70])
def test_the_index_of_samples_before_the_first_capture_counts_back_from_it(iio, tmp_path, index):
    """A data file can begin before its first capture."""
    captures = [{"core:sample_start": 100, "core:global_index": 100 + index, "core:frequency": 5e6}]
    write(tmp_path, changed(JUMP, lambda m: m.update(captures=captures)))
    iio("stream a.sigmf-meta b.sigmf-meta")
    copy = read(tmp_path, "b")
    assert [(one["core:sample_start"], one.get("core:global_index", 0), one.get("core:frequency"))
            for one in copy["captures"]] == [(0, index, None), (100, 100 + index, 5e6)]
    for name in "ab":
        assert iio(f"verify {name}.sigmf-meta --json").json["recording"]["gaps"]["lost_max"] == 0


def test_zeros_in_place_of_lost_samples_shift_later_captures_and_annotations(iio, tmp_path):
    write(tmp_path, JUMP)
    iio("stream a.sigmf-meta b.sigmf-meta --on-gap zero-fill")
    copy = read(tmp_path, "b")
    assert len((tmp_path / "b.sigmf-data").read_bytes()) == 1500 * 4
    assert [(one["core:sample_start"], one.get("core:frequency")) for one in copy["captures"]] == [(0, None), (1000, 5e6)]
    assert copy["captures"][1]["core:global_index"] == 1070
    zeros, late = copy["annotations"]
    assert (zeros["core:sample_start"], zeros["iio_stream:filled"]) == (500, 500)
    assert (late["core:sample_start"], late["core:sample_count"], late["core:label"]) == (1100, 10, "late")
    # A copy of the copy also marks these samples as zeros.
    iio("stream b.sigmf-meta c.sigmf-meta convert=cf32_le")
    again = read(tmp_path, "c")
    assert again["annotations"] == copy["annotations"] and again["captures"] == copy["captures"]
    assert iio("verify c.sigmf-meta --json").json["recording"]["zeros"] == \
        iio("verify b.sigmf-meta --json").json["recording"]["zeros"]


LONG_LOSS = {
    "global": {"core:datatype": "ci16_le", "core:sample_rate": 1e6, "core:version": "1.2.0"},
    "captures": [{"core:sample_start": 0, "core:global_index": 0, "core:frequency": 1e6,
                  "core:datetime": "2024-03-01T10:20:30Z"},
                 {"core:sample_start": 500, "core:global_index": 1500, "core:frequency": 2e6,
                  "core:datetime": "2024-03-01T10:20:30.0015Z"}],
    "annotations": [{"core:sample_start": 450, "core:sample_count": 100, "core:label": "across"}]}


def test_a_part_that_begins_with_zeros_has_the_time_and_frequency_before_the_loss(iio, tmp_path):
    """Samples 500 to 1499 of the stream are lost. The parts begin at samples 0, 300, 600, 900, 1200 and
    1500."""
    write(tmp_path, LONG_LOSS)
    iio("stream a.sigmf-meta b.sigmf-meta rotate_time=300us --on-gap zero-fill --block-size 400")
    found = {}
    for path in sorted(tmp_path.glob("b.*.sigmf-meta")):
        iio(f"verify {path.name}")
        part = json.loads(path.read_text())
        first = part["captures"][0].get("core:global_index", 0)
        for one in part["captures"]:
            found[first + one["core:sample_start"]] = (one["core:frequency"], one["core:datetime"])
            assert one.get("core:global_index", 0) == first + one["core:sample_start"]
    begin = "2024-03-01T10:20:30"
    wanted = {0: (1e6, f"{begin}Z")}
    wanted |= {index: (1e6, f"{begin}.{index:06}".rstrip("0") + "Z") for index in (300, 600, 900, 1200)}
    wanted |= {index: (2e6, f"{begin}.{index:06}".rstrip("0") + "Z") for index in (1500, 1800)}
    assert found == wanted
    # The annotation covers samples before and after the loss, and the zeros between them.
    across = [(one["core:sample_start"], one["core:sample_count"])
              for path in sorted(tmp_path.glob("b.*.sigmf-meta")) for one in json.loads(path.read_text())["annotations"]
              if one.get("core:label") == "across"]
    assert across == [(150, 150), (0, 300), (0, 300), (0, 300), (0, 50)]


def test_a_copy_that_begins_with_zeros_has_the_time_of_the_first_lost_sample(iio, tmp_path):
    iio("record sim: rate=1M drop_at=0 drop=250 a.sigmf-meta --samples 1k")
    meta = read(tmp_path, "a")
    meta["captures"][0]["core:datetime"] = "2024-03-01T10:20:30.00025Z"
    (tmp_path / "a.sigmf-meta").write_text(json.dumps(meta))
    iio("stream a.sigmf-meta b.sigmf-meta --on-gap zero-fill")
    assert [(one["core:sample_start"], one.get("core:global_index", 0), one["core:datetime"])
            for one in read(tmp_path, "b")["captures"]] == [
        (0, 0, "2024-03-01T10:20:30Z"), (250, 250, "2024-03-01T10:20:30.00025Z")]


@pytest.mark.parametrize("words", ["--samples 700", "rotate_bytes=1200 --block-size 1200"])
def test_a_copy_of_some_of_the_zeros_counts_only_the_copied_ones(iio, tmp_path, words):
    write(tmp_path, JUMP)
    iio("stream a.sigmf-meta b.sigmf-meta --on-gap zero-fill")
    iio(f"stream b.sigmf-meta c.sigmf-meta {words}")
    copies = sorted(tmp_path.glob("c*.sigmf-meta"))
    found = [one for path in copies for one in json.loads(path.read_text())["annotations"] if "iio_stream:filled" in one]
    assert all(one["iio_stream:filled"] == one["core:sample_count"] for one in found)
    assert sum(one["iio_stream:filled"] for one in found) == (200 if "700" in words else 500)
    for path in copies:
        iio(f"verify {path.name}")


def test_positions_are_relative_to_core_offset(iio, tmp_path):
    def shift(metadata):
        metadata["global"]["core:offset"] = 5000
        for one in metadata["captures"] + metadata["annotations"]:
            one["core:sample_start"] += 5000

    write(tmp_path, changed(TWO, shift))
    iio("stream a.sigmf-meta b.sigmf-meta")
    copy = read(tmp_path, "b")
    assert "core:offset" not in copy["global"] and copy["annotations"] == TWO["annotations"]
    assert [(one["core:sample_start"], one["core:global_index"]) for one in copy["captures"]] == [(0, 5000), (500, 5500)]


def test_the_metadata_of_a_recording_by_iio_stream_are_copied_unchanged(iio, tmp_path):
    iio("record sim: rate=1M drop_at=700 drop=10 a.sigmf-meta --samples 5k")
    meta = read(tmp_path, "a")
    meta["annotations"][0]["core:comment"] = "what I think of it"
    (tmp_path / "a.sigmf-meta").write_text(json.dumps(meta))
    iio("stream a.sigmf-meta b.sigmf-meta")
    assert read(tmp_path, "b") == meta


def test_a_copy_of_some_channels_keeps_the_metadata(iio, tmp_path):
    write(tmp_path, changed(TWO, lambda m: m["global"].update({"core:num_channels": 2})), samples=2000)
    iio("stream a.sigmf-meta channels=voltage1_i,voltage1_q b.sigmf-meta")
    copy = read(tmp_path, "b")
    assert copy["captures"] == TWO["captures"] and copy["annotations"] == TWO["annotations"]
    assert {key: copy["global"][key] for key in KEPT} == {key: TWO["global"][key] for key in KEPT}
    assert copy["global"]["core:datatype"] == "ci16_le" and copy["global"].get("core:num_channels", 1) == 1


def test_a_copy_keeps_the_recorded_index_even_if_fewer_samples_are_marked_as_lost(iio, tmp_path):
    iio("record sim: rate=1M drop_at=700 drop=10 a.sigmf-meta --samples 5k")
    meta = read(tmp_path, "a")
    assert meta["captures"][1]["core:global_index"] == 710
    meta["annotations"][0].update({"iio_stream:lost_min": 4})
    (tmp_path / "a.sigmf-meta").write_text(json.dumps(meta))
    iio("stream a.sigmf-meta b.sigmf-meta")
    assert [one.get("core:global_index", 0) for one in read(tmp_path, "b")["captures"]] == [0, 710]


def test_the_route_names_metadata_that_a_copy_does_not_keep(iio, tmp_path):
    write(tmp_path, changed(TWO, lambda m: m["global"].update(
        {"core:sha512": "0" * 128, "core:data_doi": "10.1/a", "core:meta_doi": "10.1/b"})))
    route = route_of(iio("stream a.sigmf-meta b.sigmf-meta --json"))
    assert "does not keep core:sha512, core:data_doi, core:meta_doi" in route
    assert not {"core:sha512", "core:data_doi"} & set(read(tmp_path, "b")["global"])
    route = route_of(iio("stream a.sigmf-meta c.sigmf-meta hash=end --json"))
    assert "does not keep core:data_doi, core:meta_doi" in route


def test_a_looped_copy_keeps_only_the_global_metadata(iio, tmp_path):
    write(tmp_path, TWO)
    route = route_of(iio("stream a.sigmf-meta loop=on b.sigmf-meta --samples 2500 --json"))
    assert "loop=on" in route
    copy = read(tmp_path, "b")
    assert copy["global"]["core:author"] == "A. Person" and copy["annotations"] == []
    assert copy["captures"] == [{"core:sample_start": 0}]


def test_the_route_of_a_raw_copy_says_that_the_metadata_are_left_out(iio, tmp_path):
    data = write(tmp_path, TWO)
    route = route_of(iio("stream a.sigmf-meta b.ci16 --json"))
    assert "captures, annotations and the other metadata of the recording are left out" in route
    assert (tmp_path / "b.ci16").read_bytes() == data


def test_two_simultaneous_copies_have_the_same_captures(iio, tmp_path):
    write(tmp_path, TWO)
    iio("stream a.sigmf-meta b.sigmf-meta c.sigmf-meta convert=cf32_le")
    assert read(tmp_path, "b")["captures"] == read(tmp_path, "c")["captures"] == TWO["captures"]


def test_over_tcp_the_samples_keep_their_time(iio, start, tmp_path, port):
    """tcp: carries the time of each block and a frequency that does not change, but no captures."""
    one = changed(TWO, lambda m: m["captures"].pop())
    write(tmp_path, one)
    receiver = start(f"record tcp:127.0.0.1:{port} wait=20s b.sigmf-meta --json")
    route = route_of(iio(f"stream a.sigmf-meta tcp:127.0.0.1:{port} wait=20s --json"))
    assert receiver.wait(60) == 0
    assert "are left out" in route
    [capture] = read(tmp_path, "b")["captures"]
    assert capture["core:datetime"].startswith("2024-03-01T10:20:30.123000") and capture["core:frequency"] == 1e6
    # If the recording has no time, the copy has none either. The time of reading is not used.
    write(tmp_path, changed(one, lambda m: m["captures"][0].pop("core:datetime")))
    receiver = start(f"record tcp:127.0.0.1:{port} wait=20s c.sigmf-meta --json")
    iio(f"stream a.sigmf-meta tcp:127.0.0.1:{port} wait=20s")
    assert receiver.wait(60) == 0
    assert "core:datetime" not in read(tmp_path, "c")["captures"][0]


def test_a_raw_file_has_no_time(iio, tmp_path):
    write(tmp_path, TWO)
    iio("record a.sigmf-data b.sigmf-meta")  # the name of the data file also selects the recording
    assert read(tmp_path, "b")["captures"] == TWO["captures"]
    (tmp_path / "a.sigmf-data").rename(tmp_path / "a.ci16")
    iio("record a.ci16 rate=1M c.sigmf-meta")
    assert read(tmp_path, "c")["captures"] == [{"core:sample_start": 0}]


def test_over_zmq_the_samples_have_no_time(iio, start, tmp_path):
    """A message does not carry the time of its samples, and the time of reading would be wrong."""
    pytest.importorskip("zmq")
    write(tmp_path, TWO)
    address = f"zmq:ipc://{tmp_path}/s"
    receiver = start(f"record {address} pattern=pull format=ci16_le rate=1M b.sigmf-meta --samples 1k --timeout 50s")
    route = route_of(iio(f"stream a.sigmf-meta {address} pattern=push on-full=block --timeout 50s --json"))
    assert receiver.wait(60) == 0
    assert "are left out" in route and "core:datetime" not in read(tmp_path, "b")["captures"][0]


def test_files_and_tcp_keep_a_time_before_1970(iio, start, tmp_path, port):
    (tmp_path / "a.ci16").write_bytes(bytes(4000))
    iio("stream a.ci16 rate=1M datetime=1965-03-01T10:20:30.123Z a.sigmf-meta")
    iio("stream a.sigmf-meta b.wav")
    iio("stream b.wav b.sigmf-meta")
    receiver = start(f"record tcp:127.0.0.1:{port} wait=20s c.sigmf-meta --json")
    iio(f"stream a.sigmf-meta tcp:127.0.0.1:{port} wait=20s")
    assert receiver.wait(60) == 0
    for name in "abc":
        assert read(tmp_path, name)["captures"][0]["core:datetime"].startswith("1965-03-01T10:20:30.123"), name
        iio(f"verify {name}.sigmf-meta")
