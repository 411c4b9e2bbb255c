# SPDX-License-Identifier: MIT
"""Mistakes on the command line are reported with the nearest valid word."""
import json

import pytest


@pytest.mark.parametrize("command, texts", [
    ("strem sim: null:", ["'strem'", "did you mean 'stream'"]),
    ("stream simm: null:", ["'simm:'", "did you mean 'sim:'"]),
    ("stream sim: nul:", ["'nul:'", "did you mean 'null:'"]),
    ("stream sim:rate=1M null:", ["sim:rate=1M", "did you mean 'sim: rate=1M'?"]),
    ("stream sim: rate null:", ["'rate'", "rate=VALUE", "file:rate"]),
    ("stream sim: freq=1M null:", ["'freq'", "did you mean 'frequency'?"]),
    ("record", ["no source", "iio-stream record sim: rate=1M capture.sigmf-meta"]),
    ("record sim:", ["sim: has no sink", "iio-stream record sim: rate=1M capture.sigmf-meta"]),
    ("play a.ci16", ["a.ci16 has no sink", "such as: iio-stream play capture.sigmf-meta null:"]),
    ("stream sim: null: --memory huge", ["--memory", "sim: memory="]),
    ("stream sim: null: -n 5", ["there is no option -n", "--samples N"]),
    ("stream sim: null: -u ip:192.168.2.1", ["there is no option -u", "uri=URI after iio:DEVICE"]),
    ("stream sim: null: -b 65536", ["there is no option -b", "--block-size BYTES"]),
    ("record sim: --freq 1M a.ci16", ["there is no option --freq", "frequency=FREQUENCY"]),
    ("record sim: --attr 1 a.ci16", ["there is no option --attr", "attr.NAME=VALUE"]),
    ("record sim: -f 1M a.ci16", ["there is no option -f", "frequency=FREQUENCY"]),
    ("record sim: -o a.ci16", ["there is no option -o", "after the source"]),
    ("record sim: samples=10 a.ci16", ["'samples'", "--samples"]),
    ("record sim: block_size=64Ki a.ci16", ["'block_size'", "--block-size"]),
    ("stream sim: rate=30.72 MS/s null:", ["'MS/s' is not an option or an endpoint", "30M"]),
    ("stream sim: null: --duration 100 msec", ["'msec' is not an option or an endpoint", "without a space"]),
    ("stream sim: null: loop=on", ["null: has no option 'loop'", "write it after the source"]),
    ("record sim: a.ci16 rate=1M", ["no option 'rate' as a sink", "follows the endpoint that it belongs to"]),
    ("record sim: null: gain=40", ["no option 'gain'", "write it after the source"]),
    ("stream sim: null: --sweep blocks=4..8", ["--sweep", "it is an option of iio-stream bench"]),
    ("stream sim: null: --duration 106752d", ["106752d", "less than 290 years"]),
    ("stream sim: samp_rate=1M null:", ["'samp_rate'", "did you mean 'rate'?"]),
    ("record ip:192.168.2.1 a.sigmf-meta", ["ip:192.168.2.1", "iio:DEVICE uri=ip:192.168.2.1"]),
    ("record usb:1.2.3 a.sigmf-meta", ["usb:1.2.3", "iio:DEVICE uri=usb:"]),
    ("verify", ["file is required", "iio-stream verify --pattern ramp capture.sigmf-meta"]),
    ("doctor --json x", ["unexpected argument 'x'"]),
    ("doctor -u ip:192.168.2.1", ["there is no option -u", "see --help"]),
    ("rec sim: a.ci16", ["'rec'", "did you mean 'record'"]),
    ("record cf-ad9361-lpc voltage0 voltage1 a.ci16", ["one source and one file", "channels=voltage0,voltage1"]),
    ("attr set ad9361-phy", ["the value is missing"]),
    ("run iio_readdev -s 10", ["'iio_readdev' comes before --", "run [OPTIONS] -- iio_readdev"]),
    ("run --paht dmabuf -- true", ["--paht", "did you mean '--path'?"]),
    ("serve --clients 0", ["--clients 0 ", "1 to 65536"]),
    ("serve --clients -1", ["--clients", "-1"]),
    ("serve --memory 1", ["--memory 1 is less than 64Ki"]),
    ("serve --duration soon", ["--duration", "soon"]),
    ("stream sim: null: --blocks 0", ["--blocks 0", "leave it out: default 250 ms"]),
    ("record sim: a.ci16 --samples", ["--samples needs a value: N"]),
    ("record sim: overwrite=on a.ci16", ["sim: has no option 'overwrite'", "write it after the file"]),
    ("record sim: a.cf32 convert=fc32", ["'fc32'", "did you mean cf32_le?"]),
    ("stream sim: rate=-1M null:", ["rate=-1M is not a rate"]),
    ("record sim: a.ci16 --max-lost=", ["--max-lost= has no value"]),
    ("record sim: sampels=10 a.ci16", ["'sampels'", "--samples"]),
    ("record sim: buffer_size=64Ki a.ci16", ["'buffer_size'", "--block-size"]),
    ("stream sim: null: --bytes 64K", ["64K", "did you mean 64k or 64Ki?"]),
    ("stream sim: null: --duration 10m", ["10m", "did you mean 10ms or 10min?"]),
    ("stream sim: null: --duration 1.5hours", ["1.5hours", "did you mean 1.5h?"]),
    ("stream sim: rate=1m null:", ["rate=1m", "did you mean 1M or 1MHz?"]),
    ("stream sim: null: --durration 2s", ["--durration", "did you mean '--duration'"]),
    ("record sim: a.ci16 --byte 2", ["--byte", "did you mean '--bytes'"]),
    ("stream sim: patern=ramp null:", ["'patern'", "did you mean 'pattern'"]),
    ("stream sim: pattern=rmap null:", ["rmap", "did you mean 'ramp'"]),
    ("record sim: a.ci16 overwrit=on", ["'overwrit'", "did you mean 'overwrite'"]),
    ("stream sim: verify:rmap", ["rmap", "did you mean 'ramp'"]),
    ("stream sim: null: --reconnect 1s", ["--reconnect 1s", "usb:"]),
    ("stream sim: null: --and sim: null: --reconnect 1s", ["--reconnect 1s", "usb:"]),
    ("stream sim: usb: reconnect=1s --reconnect 1s", ["reconnect is given twice"]),
    ("stream usb: null: --reconnect soon", ["reconnect=soon", "ms s min h"]),
    ("stream usb: reconnect=1s null: --reconnect 1s", ["reconnect is given twice"]),
    ("stream sim: null: --on-gap zerofill", ["zerofill", "did you mean 'zero-fill'"]),
    ("stream sim: null: on-full=drp", ["on-full=drp", "block or drop"]),
    ("stream sim: null: --bytes 4X", ["--bytes=4X", "k M G"]),
    ("stream sim: null: --block-size 4kib", ["4kib", "Ki"]),
    ("stream sim: null: --duration 2sek", ["2sek", "ms s min h"]),
    ("stream sim: null", ["'null'", "did you mean 'null:'", "file:null"]),
    ("stream sim null:", ["'sim'", "did you mean 'sim:'"]),
    ("record sim: test.csv", ["test.csv", ".csv files are not supported", "NAME.ci16"]),
    ("play test.csv null:", ["test.csv", ".csv files are not supported"]),
    ("record sim: channels=3 format=ri16_le test.wav", ["test.wav", "one or two channels, not 3", "channels="]),
    ("record sim: rate=0 test.wav", ["test.wav", "has a sample rate", "rate="]),
    ("stream /dev/zero format=ci16_le channels=voltage1_i null:",
     ["no channel 'voltage1_i'", "did you mean 'voltage0_i'", "there are voltage0_i, voltage0_q"]),
    ("stream /dev/zero format=ci16_le channels=4 null:", ["no channel '4'", "channel_names=4"]),
    ("stream /dev/zero format=ci16_le channels=voltage0_i,voltage0_i null:", ["voltage0_i", "named twice"]),
    ("stream /dev/zero format=ci16_le channel_names=a,b,c null:", ["ci16_le needs pairs", "not 3"]),
    ("stream sim: null: -- --bytes 1Mi", ["--bytes", "after --", "./--bytes"]),
    ("stream sim: null: --samples -5", ["-5"]),
    ("stream sim: null: --samples 1.5", ["1.5"]),
    ("stream sim: convert=cf33_le null:", ["cf33_le", "cf32_le"]),
    ("stream rate=1M sim: null:", ["rate=1M", "follow the endpoint"]),
    ("stream sim: rate=1M rate=2M null:", ["rate"]),
    ("stream sim: memory=udmabfu null:", ["memory", "udmabuf"]),
    ("bench sim: --sweep blocksize=1..2", ["blocksize", "block-size"]),
    ("bench sim: --sweep blocks=8..4", ["8..4", "range"]),
    ("bench sim: --find-rate=8M..4M", ["8M..4M", "range"]),
    ("bench sim: --find-rate=8M", ["8M", "range"]),
    ("bench sim: rate=1M --find-rate", ["rate=", "--find-rate=FROM..TO"]),
    ("bench sim: --find-rate --samples 1000", ["--samples", "--duration"]),
    ("verify a.ci16 b.ci16", ["one recording"]),
    ("verify a.ci16 --pattern ram", ["ram", "ramp"]),
    ("attr read iios-sim-adc/x", ["attr has no verb 'read'", "use get, set or list"]),
    ("-V", ["there is no option -V", "did you mean '--version'"]),
    ("gadget start", ["gadget has no verb 'start'", "use up, down or status"]),
])
def test_a_mistake_is_reported_with_a_suggestion(iio, command, texts):
    err = iio(command, status=2).err
    assert err.startswith("iio-stream: ")
    assert err.count("\n") == 1
    for text in texts:
        assert text in err, err


def test_common_alternative_spellings_are_understood(iio, tmp_path):
    assert iio("version").out == iio("--version").out
    summary = iio("stream sim: rate=1Msps convert=cf32 null: --duration 0.1sec --json").json
    assert summary["sample_rate"] == 1_000_000 and summary["samples"] == 100_000
    assert iio("stream sim: rate=1MHz null: --samples 1 --json").json["sample_rate"] == 1_000_000
    assert summary["sinks"][0]["bytes"] == 800_000
    assert iio("stream sim: rate=0 null: --bytes 1Mi --json out.json").out == ""
    assert json.loads((tmp_path / "out.json").read_text())["bytes"] == 1 << 20
    assert [file.name for file in tmp_path.iterdir()] == ["out.json"]


def test_after_two_dashes_a_word_is_a_file(iio, tmp_path):
    iio("stream sim: rate=0 --bytes 1Ki -- --x.ci16")
    assert (tmp_path / "--x.ci16").stat().st_size == 1024


def test_the_error_of_a_block_size_suggests_a_multiple_of_the_sample_size(iio):
    err = iio("stream sim: channels=a,b,c format=ri16_le null: --block-size 4M", status=2).err
    assert "4000000 is not a multiple of 6" in err and "3999996 or 4000002" in err


def test_the_error_of_an_unplugged_device_has_its_name_and_errno(iio):
    result = iio("stream sim: rate=0 unplug_at=1M null: --json", status=3)
    error = result.json["error"]
    assert (error["operation"], error["object"], error["name"]) == ("read", "sim:", "ENODEV")
    assert result.json["samples"] > 0


def test_the_error_of_invalid_json_has_the_file_and_position(iio, tmp_path):
    (tmp_path / "a.sigmf-meta").write_text("{x")
    (tmp_path / "a.sigmf-data").touch()
    assert iio("verify a.sigmf-meta", status=5).err == "iio-stream: verify: read a.sigmf-meta: not valid JSON at byte 2\n"


class Nothing:
    """An empty argument, to which a quoted unset shell variable expands."""

    def __str__(self):
        return ""


@pytest.mark.parametrize("option", ["--max-lost", "--duration", "--json"])
def test_an_empty_value_is_refused(iio, option):
    result = iio(f"record sim: a.ci16 --samples 1k {option}", Nothing(), status=2)
    assert f"{option} is followed by an empty value" in result.err


@pytest.mark.parametrize("words", [
    "a.sigmf-meta overwrite=on --metrics-file a.sigmf-data", "a.sigmf-meta overwrite=on --json=a.sigmf-meta",
    "a.ci16 --json=./a.ci16", "a.ci16 --metrics-file a.ci16"])
def test_an_output_does_not_overwrite_a_recording(iio, tmp_path, words):
    iio("record sim: rate=0 a.sigmf-meta --samples 1k")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert "or belongs to a recording" in iio(f"record sim: {words} --samples 10", status=2).err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert "or belongs to a recording" in iio("verify a.sigmf-meta --json=a.sigmf-data", status=2).err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
