# SPDX-License-Identifier: MIT
"""Foreign recordings that deviate from SigMF can be played with a warning, but `verify` fails."""
import json

import pytest


def write(folder, name, captures=({"core:sample_start": 0},), annotations=(), data=bytes(range(200)) * 20, dataset="",
          **top):
    """Writes a recording. The default is 1000 samples of ci16 at 1 MS/s."""
    base = {"core:datatype": "ci16_le", "core:sample_rate": 1e6, "core:version": "1.0.0"}
    base |= {key.replace("__", ":"): value for key, value in top.items()}
    (folder / f"{name}.sigmf-meta").write_text(json.dumps(
        {"global": base, "captures": list(captures), "annotations": list(annotations)}))
    (folder / (dataset or f"{name}.sigmf-data")).write_bytes(data)
    return data


def warnings_of(result):
    return [line.partition("warning: ")[2] for line in result.err.splitlines() if "warning: " in line]


def edited(folder, change):
    path = folder / "a.sigmf-meta"
    metadata = json.loads(path.read_text())
    change(metadata)
    path.write_text(json.dumps(metadata))


DEVIATIONS = {
    "unknown version": (lambda m: m["global"].update({"core:version": "0.0.2"}), "core:version"),
    "no version": (lambda m: m["global"].pop("core:version"), "core:version"),
    "undeclared extension": (lambda m: m["global"].update({"other:key": 1}), "'other'"),
    "time without a zone": (lambda m: m["captures"][0].update({"core:datetime": "2024-03-01T10:20:30"}), "datetime"),
    "null": (lambda m: m["global"].update({"core:author": None}), "core:author"),
    "null number of channels": (lambda m: m["global"].update({"core:num_channels": None}), "core:num_channels"),
    "rate as text": (lambda m: m["global"].update({"core:sample_rate": "1M"}), "core:sample_rate"),
    "unsorted annotations": (lambda m: m["annotations"].extend(
        [{"core:sample_start": start, "core:sample_count": 1} for start in (9, 5)]), "annotations[1]"),
    "unsorted captures": (lambda m: m["captures"].insert(0, {"core:sample_start": 9}), "captures[1]"),
    "index that steps back": (lambda m: m.update(captures=[{"core:sample_start": 0, "core:global_index": 500},
                                                           {"core:sample_start": 100, "core:global_index": 599}]),
                              "captures[1]: core:global_index = 599 does not continue the previous capture"),
    "index below the sample's place": (lambda m: m["captures"][0].update({"core:sample_start": 100,
                                                                          "core:global_index": 50}),
                                       "captures[0]: core:global_index = 50 is less than core:sample_start"),
    "no annotations": (lambda m: m.pop("annotations"), "annotations is missing"),
    "foreign object": (lambda m: m.update(more={}), "more"),
    "start before the offset": (lambda m: m["global"].update({"core:offset": 5000}), "core:offset"),
    "descriptive extension that is required": (lambda m: m["global"].update({"core:extensions": [
        {"name": "antenna", "version": "1.0.0", "optional": False}]}), "antenna"),
    "datatype without a byte order": (lambda m: m["global"].update({"core:datatype": "ci16"}), '"ci16"'),
    "our own channels, damaged": (lambda m: m["global"].update({
        "iio_stream:channels": [{"id": "x"}],
        "core:extensions": [{"name": "iio_stream", "version": "1.0.0", "optional": True}]}), "iio_stream:channels"),
}


def test_rate_takes_precedence_over_the_metadata_with_a_warning(iio, tmp_path):
    write(tmp_path, "a")
    result = iio("stream a.sigmf-meta rate=2M null: --json")
    assert result.json["sample_rate"] == 2e6
    warning, = [line for line in warnings_of(result) if "rate=" in line]
    assert "rate=2M takes precedence over core:sample_rate = 1000000.0" in warning
    for rate in "1M", "1000000":
        assert not [line for line in warnings_of(iio(f"stream a.sigmf-meta rate={rate} null:")) if "rate=" in line]


@pytest.mark.parametrize("start, named", [(999, ""), (1000, "1, at 1000"), (5000, "1, at 5000")])
def test_the_route_names_a_capture_after_the_last_sample(iio, tmp_path, start, named):
    write(tmp_path, "a", captures=[{"core:sample_start": 0}, {"core:sample_start": start, "core:frequency": 1e8}])
    route = json.dumps(iio("stream a.sigmf-meta b.sigmf-meta --json").json["route"])
    copied = json.loads((tmp_path / "b.sigmf-meta").read_text())["captures"]
    assert (len(copied) == 2) == (named == "")
    assert ("does not keep captures" in route) == (named != "") and named in route


@pytest.mark.parametrize("change, words", DEVIATIONS.values(), ids=DEVIATIONS)
def test_a_recording_with_a_harmless_deviation_plays_with_one_warning(iio, tmp_path, change, words):
    data = write(tmp_path, "a")
    edited(tmp_path, change)
    played = iio("stream a.sigmf-meta out.ci16")
    assert (tmp_path / "out.ci16").read_bytes() == data
    [warning] = warnings_of(played)
    assert words in warning and warning.startswith("a.sigmf-meta: ")
    assert words in iio("verify a.sigmf-meta", status=5).err


def test_many_deviations_of_one_kind_are_one_warning(iio, tmp_path):
    write(tmp_path, "a", annotations=[{"core:sample_start": 900 - n, "core:sample_count": 1} for n in range(500)])
    [warning] = warnings_of(iio("stream a.sigmf-meta null:"))
    assert "annotations[1]" in warning and "(and 498 more)" in warning


def test_valid_metadata_give_no_warning(iio, tmp_path):
    write(tmp_path, "a")
    assert iio("stream a.sigmf-meta null: --quiet").err == ""
    iio("verify a.sigmf-meta")


def test_header_bytes_of_0_mean_no_header(iio, tmp_path):
    data = write(tmp_path, "a", captures=[{"core:sample_start": 0, "core:header_bytes": 0}])
    assert warnings_of(iio("stream a.sigmf-meta out.ci16")) == []
    assert (tmp_path / "out.ci16").read_bytes() == data
    iio("verify a.sigmf-meta")


def test_a_byte_order_of_single_bytes_is_ignored(iio, tmp_path):
    data = write(tmp_path, "a", core__datatype="cu8_le")
    played = iio("stream a.sigmf-meta out.cu8 --json")
    assert (tmp_path / "out.cu8").read_bytes() == data
    assert played.json["sample_format"] == "cu8" and played.json["samples"] == len(data) // 2
    [warning] = warnings_of(played)
    assert "cu8_le" in warning and '"cu8"' in warning
    assert "cu8_le" in iio("verify a.sigmf-meta", status=5).err


@pytest.mark.parametrize("time, utc", [
    ("2024-03-01T10:20:30", "2024-03-01T10:20:30Z"), ("2024-03-01 10:20:30.5z", "2024-03-01T10:20:30.5Z"),
    ("2024-03-01T00:20:30+01:00", "2024-02-29T23:20:30Z"), ("2024-03-01T10:20:30-0930", "2024-03-01T19:50:30Z")])
def test_a_nonstandard_time_is_converted_to_utc(iio, tmp_path, time, utc):
    write(tmp_path, "a", captures=[{"core:sample_start": 0, "core:datetime": time}])
    iio("stream a.sigmf-meta b.sigmf-meta")
    assert json.loads((tmp_path / "b.sigmf-meta").read_text())["captures"][0]["core:datetime"] == utc


def test_unsorted_captures_and_annotations_are_sorted(iio, tmp_path):
    starts = [(0, 1e6), (300, 3e6), (700, 2e6)]
    captures = [{"core:sample_start": at, "core:frequency": hertz} for at, hertz in starts]
    annotations = [{"core:sample_start": at, "core:sample_count": 5} for at in (10, 350, 900)]
    data = write(tmp_path, "a", captures=[captures[n] for n in (2, 0, 1)],
                 annotations=[annotations[n] for n in (1, 2, 0)])
    iio("stream a.sigmf-meta b.sigmf-meta")
    copied = json.loads((tmp_path / "b.sigmf-meta").read_text())
    assert copied["captures"] == captures and copied["annotations"] == annotations
    assert (tmp_path / "b.sigmf-data").read_bytes() == data
    iio("verify b.sigmf-meta")


@pytest.mark.parametrize("key, place", [("core:header_bytes", "captures[0]"), ("core:trailing_bytes", "global")])
def test_header_and_trailing_bytes_without_a_dataset_are_a_deviation(iio, tmp_path, key, place):
    """The bytes are skipped nevertheless."""
    data = write(tmp_path, "a")
    edited(tmp_path, lambda m: (m["captures"][0] if "header" in key else m["global"]).update({key: 40}))
    played = iio("stream a.sigmf-meta out.ci16")
    assert (tmp_path / "out.ci16").read_bytes() == (data[40:] if "header" in key else data[:-40])
    [warning] = warnings_of(played)
    for said in (warning, iio("verify a.sigmf-meta", status=5).err):
        assert f"{place}: {key} = 40 is used only with core:dataset" in said


TEXTS = {
    "a byte order mark": (lambda text: "\ufeff" + text, "byte order mark", 1e6),
    "a key of global twice": (lambda text: text.replace(
        '"core:sample_rate": 1000000.0', '"core:sample_rate": 5, "core:sample_rate": 2e6'), "global: core:sample_rate", 2e6),
    "a key of a capture twice": (lambda text: text.replace(
        '"core:sample_start": 0', '"core:sample_start": 0, "core:sample_start": 0'), "captures[0]: core:sample_start", 1e6),
    "a key of the metadata twice": (lambda text: text.replace(
        '"annotations"', '"annotations": [], "annotations"'), "metadata: annotations", 1e6),
    "a key of an extension's object twice": (lambda text: text.replace(
        '"core:version"', '"core:geolocation": {"type": "Point", "coordinates": [1, 2], "type": "Point"}, "core:version"'),
        "global: type", 1e6),
}


@pytest.mark.parametrize("name", TEXTS)
def test_deviations_from_rfc_8259_play_with_one_warning_and_fail_verify(iio, tmp_path, name):
    """Section 8.1 forbids a byte order mark. Section 4 says that the names within an object should be
    unique."""
    change, words, rate = TEXTS[name]
    data = write(tmp_path, "a")
    path = tmp_path / "a.sigmf-meta"
    iio("verify a.sigmf-meta")
    path.write_text(change(path.read_text()))
    played = iio("stream a.sigmf-meta out.ci16 --json")
    assert (tmp_path / "out.ci16").read_bytes() == data and played.json["sample_rate"] == rate
    [warning] = warnings_of(played)
    assert words in warning
    assert words in iio("verify a.sigmf-meta", status=5).err


def test_the_same_key_in_two_objects_is_not_a_deviation(iio, tmp_path):
    write(tmp_path, "a", captures=[{"core:sample_start": 0, "core:frequency": 1e6},
                                   {"core:sample_start": 10, "core:frequency": 2e6}])
    iio("verify a.sigmf-meta")
    assert warnings_of(iio("stream a.sigmf-meta null:")) == []


@pytest.mark.parametrize("direct", ["auto", "off"])
@pytest.mark.parametrize("rounds", [1, 3])
def test_headers_between_samples_and_trailing_bytes_are_skipped(iio, tmp_path, direct, rounds):
    """The recording is SigMF's example of core:header_bytes: 4 bytes, 500 samples of cu8, 4 bytes, and
    further samples. It has 1500 further samples and 6 bytes at the end, and its size is not aligned for
    direct I/O."""
    first, second = bytes(range(250)) * 4, bytes(range(7, 257 - 6)) * 12
    data = b"HEAD" + first + b"head" + second + b"footer"
    write(tmp_path, "a", core__datatype="cu8", core__dataset="a.dat", dataset="a.dat", data=data,
          core__trailing_bytes=6, captures=[{"core:sample_start": 0, "core:header_bytes": 4},
                                            {"core:sample_start": 500, "core:header_bytes": 4}])
    samples = (len(first) + len(second)) // 2
    loop = "loop=on" if rounds > 1 else ""
    played = iio(f"stream a.sigmf-meta direct={direct} {loop} out.cu8 --block-size 4Ki --samples {rounds * samples}")
    assert (tmp_path / "out.cu8").read_bytes() == (first + second) * rounds
    assert warnings_of(played) == []
    assert iio("verify a.sigmf-meta --json").json["samples"] == samples


def test_a_header_that_is_longer_than_the_file_is_refused(iio, tmp_path):
    write(tmp_path, "a", captures=[{"core:sample_start": 0, "core:header_bytes": 5000}])
    err = iio("stream a.sigmf-meta null:", status=5).err
    assert "4000 bytes are too few" in err and "header of 5000 bytes before sample 0" in err


def test_the_error_of_missing_samples_names_core_metadata_only(iio, tmp_path):
    data = write(tmp_path, "a", core__metadata_only=True)
    assert (tmp_path / "a.sigmf-data").read_bytes() == data
    iio("stream a.sigmf-meta null:")  # succeeds because the samples exist
    (tmp_path / "a.sigmf-data").unlink()
    for command in ("stream a.sigmf-meta null:", "verify a.sigmf-meta"):
        err = iio(command, status=5).err
        assert "core:metadata_only" in err and "without its samples" in err


@pytest.mark.parametrize("change, words", [
    (lambda m: m["global"].update({"core:datatype": "cf16_le"}), 'core:datatype = "cf16_le"'),
    (lambda m: m["global"].pop("core:datatype"), "core:datatype is missing"),
    (lambda m: m["global"].update({"core:num_channels": "two"}), 'core:num_channels = "two"'),
    (lambda m: m["captures"][0].update({"core:header_bytes": "few"}), 'core:header_bytes = "few"'),
    (lambda m: m["global"].update({"core:dataset": "../x"}), 'core:dataset = "../x"'),
    (lambda m: m["global"].update({"core:extensions": [
        {"name": "packed", "version": "1.0.0", "optional": False}]}), "'packed' is required for reading"),
])
def test_metadata_without_a_usable_format_are_refused(iio, tmp_path, change, words):
    data = write(tmp_path, "a")
    edited(tmp_path, change)
    err = iio("stream a.sigmf-meta null:", status=5).err
    assert words in err and "format=" in err
    iio("stream a.sigmf-meta format=ci16_le out.ci16")
    assert (tmp_path / "out.ci16").read_bytes() == data


def test_format_takes_precedence_over_the_metadata_with_a_warning(iio, tmp_path):
    data = write(tmp_path, "a", core__num_channels=2)
    played = iio("stream a.sigmf-meta format=cf32_le rate=5M out.bin --json")
    assert (tmp_path / "out.bin").read_bytes() == data
    assert (played.json["sample_format"], played.json["sample_rate"]) == ("cf32_le", 5e6)
    assert played.json["samples"] == len(data) // 16  # two I/Q pairs, as in the recording
    warning, other = warnings_of(played)
    assert "format=cf32_le" in warning and "ci16_le" in warning
    assert "rate=5M" in other
    assert warnings_of(iio("stream a.sigmf-meta format=ci16_le null:")) == []
