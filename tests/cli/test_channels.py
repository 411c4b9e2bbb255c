# SPDX-License-Identifier: MIT
"""channels= selects channels of any source; channel_names= names the channels of raw samples."""
import json

import numpy
import pytest

from conftest import DEADLINE


def metadata(path):
    return json.loads(path.read_text())


@pytest.mark.parametrize("words, sink", [("", "one.sigmf-meta"), ("convert=cf32_le", "one.sigmf-meta"),
                                         ("direct=off", "one.bin"), ("loop=on", "one.bin")])
def test_channels_selects_from_a_file(iio, tmp_path, words, sink):
    values = numpy.random.default_rng(3).integers(-32768, 32767, (1000, 4), dtype="<i2")
    (tmp_path / "pairs.sigmf-data").write_bytes(values.tobytes())
    (tmp_path / "pairs.sigmf-meta").write_text(json.dumps({
        "global": {"core:datatype": "ci16_le", "core:num_channels": 2, "core:version": "1.0.0",
                   "core:sample_rate": 1e6}, "captures": [{"core:sample_start": 0}], "annotations": []}))
    summary = iio(f"stream pairs.sigmf-meta {words} channels=voltage1_i,voltage1_q {sink} --samples 1000 --json").json
    chosen = values[:, 2:]
    if words == "convert=cf32_le":
        chosen = (chosen / numpy.float32(32768)).astype("<f4")
    assert (tmp_path / sink.replace("-meta", "-data")).read_bytes() == chosen.tobytes()
    hop = summary["route"][1]
    assert hop["copies"] == 1 and hop["reason"].endswith("channels= was given")
    if not words.startswith("convert="):
        assert hop["mechanism"] == "select:voltage1_i,voltage1_q"
    if sink.endswith("meta"):
        top = metadata(tmp_path / sink)["global"]
        assert top["core:datatype"] == (words.removeprefix("convert=") or "ci16_le")
        assert [c["id"] for c in top["iio_stream:channels"]] == ["voltage1_i", "voltage1_q"]
        iio(f"verify {sink}")


def test_12_bit_samples_are_selected_unchanged(iio, tmp_path):
    values = numpy.arange(-1500, 1500, dtype="<i2").reshape(-1, 3)
    (tmp_path / "raw.bin").write_bytes(values.tobytes())
    formats = ",".join(["le:s12/16>>0"] * 3)
    summary = iio(f"stream raw.bin format={formats} channel_names=a,b,c channels=a,c out.sigmf-meta --json").json
    assert summary["route"][1]["mechanism"] == "select:a,c"
    assert (tmp_path / "out.sigmf-data").read_bytes() == values[:, [0, 2]].tobytes()


@pytest.mark.parametrize("source", ["raw.bin format=ri16_le channel_names=a,b,c", "raw.bin format=le:s16/16>>0,"
                                    "le:s16/16>>0,le:s16/16>>0 channel_names=a,b,c"])
def test_nonadjacent_channels_are_selected_in_the_order_of_the_source(iio, tmp_path, source):
    values = numpy.arange(3000, dtype="<i2").reshape(-1, 3)
    (tmp_path / "raw.bin").write_bytes(values.tobytes())
    iio("stream", *source.split(), "channels=c,a out.bin")
    assert (tmp_path / "out.bin").read_bytes() == values[:, [0, 2]].tobytes()


@pytest.mark.parametrize("channels, chosen", [("voltage0_i,voltage1_q", [0, 3]), ("voltage0_i,voltage1_i", [0, 2])])
def test_components_of_two_iq_pairs_do_not_form_a_pair(iio, tmp_path, channels, chosen):
    values = numpy.arange(4000, dtype="<i2").reshape(-1, 4)
    (tmp_path / "raw.bin").write_bytes(values.tobytes())
    iio(f"stream raw.bin format=ci16_le channel_names=4 channels={channels} out.sigmf-meta")
    top = metadata(tmp_path / "out.sigmf-meta")["global"]
    assert (top["core:datatype"], top["core:num_channels"]) == ("ri16_le", 2)
    assert (tmp_path / "out.sigmf-data").read_bytes() == values[:, chosen].tobytes()
    iio(f"stream raw.bin format=ci16_le channel_names=4 channels={channels} out.cf32 convert=cf32_le", status=2)


def test_channels_selects_from_a_tcp_source(iio, tmp_path, start, port):
    values = numpy.arange(4000, dtype="<i2").reshape(-1, 4)
    (tmp_path / "raw.bin").write_bytes(values.tobytes())
    sender = start(f"stream raw.bin format=ci16_le channel_names=4 tcp:127.0.0.1:{port} --quiet")
    iio(f"stream tcp:127.0.0.1:{port} wait=20s channels=voltage1_i,voltage1_q out.bin")
    assert sender.wait(DEADLINE) == 0
    assert (tmp_path / "out.bin").read_bytes() == values[:, 2:].tobytes()
