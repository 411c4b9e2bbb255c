# SPDX-License-Identifier: MIT
"""Raw files of other programs: headers to skip, facts in file names, and facts that the user states."""
import json
import subprocess

import numpy
import pytest

from conftest import COMMAND, DEADLINE

DATA = bytes(range(256)) * 8


def metadata(path):
    return json.loads(path.read_text())


@pytest.mark.parametrize("skip", [1, 44, 512, 4096, 5000])
def test_skip_omits_a_header(iio, tmp_path, skip):
    (tmp_path / "a.bin").write_bytes(b"H" * skip + DATA * 10)
    for words in ("", "direct=off", "loop=on"):
        iio(f"stream a.bin format=ci16_le skip={skip} {words} out.bin overwrite=on --samples 5120 --block-size 4Ki")
        assert (tmp_path / "out.bin").read_bytes() == DATA * 10
    iio(f"stream a.bin format=ci16_le skip={skip} loop=on out.bin overwrite=on --samples 12k --block-size 4Ki")
    assert (tmp_path / "out.bin").read_bytes() == (DATA * 24)[:48000]


def test_skip_omits_the_header_of_a_pipe(iio, tmp_path):
    done = subprocess.run([COMMAND, "stream", "-", "format=ci16_le", "skip=10000", "out.bin", "--quiet"],
                          input=b"H" * 10000 + DATA, cwd=tmp_path, timeout=DEADLINE, check=True)
    assert done.returncode == 0 and (tmp_path / "out.bin").read_bytes() == DATA
    done = subprocess.run([COMMAND, "stream", "-", "format=ci16_le", "skip=10000", "null:"], check=False,
                          input=b"H" * 9000, cwd=tmp_path, timeout=DEADLINE, capture_output=True)
    assert done.returncode == 5 and b"1000 bytes before its samples begin" in done.stderr


def test_skip_beyond_the_end_of_a_file_is_an_error(iio, tmp_path):
    (tmp_path / "a.bin").write_bytes(DATA)
    assert "too few" in iio("stream a.bin format=ci16_le skip=1Mi null:", status=5).err


NAMES = [  # file, format, rate, frequency, time; None: not in the name
    ("gqrx_20240301_102030_433920000_1800000_fc.raw", "cf32_le", 1_800_000, 433_920_000, "2024-03-01T10:20:30Z"),
    ("x_433.92M_250k.cu8", "cu8", 250_000, 433_920_000, None),
    ("g001_868M_1024k.cs16", "ci16_le", 1_024_000, 868_000_000, None),
    ("noaa_137.1MHz_2048ksps.cf32", "cf32_le", 2_048_000, 137_100_000, None),
    ("SDRSharp_20170125_095238Z_96500000Hz_IQ.ci16", "ci16_le", None, 96_500_000, "2017-01-25T09:52:38Z"),
    ("take_2M.ci8", "ci8", None, None, None),
    ("x_20241399_996199Z.ci8", "ci8", None, None, None),
]


@pytest.mark.parametrize("name, form, rate, frequency, time", NAMES)
def test_format_rate_frequency_and_time_come_from_the_file_name(iio, tmp_path, name, form, rate, frequency, time):
    (tmp_path / name).write_bytes(DATA)
    summary = iio("stream", name, "out.sigmf-meta --json").json
    meta = metadata(tmp_path / "out.sigmf-meta")
    assert meta["global"]["core:datatype"] == summary["sample_format"] == form
    assert meta["global"].get("core:sample_rate") == rate
    assert meta["captures"][0].get("core:frequency") == pytest.approx(frequency) if frequency else \
        "core:frequency" not in meta["captures"][0]
    assert meta["captures"][0].get("core:datetime") == time
    reason = summary["route"][0]["reason"] or ""
    assert ("the sample rate is from the file's name" in reason) == (rate is not None)
    assert ("the frequency is from the file's name" in reason) == (frequency is not None)
    assert ("the time is from the file's name" in reason) == (time is not None)


def test_options_take_precedence_over_the_file_name(iio, tmp_path):
    name = "gqrx_20240301_102030_433920000_1800000_fc.raw"
    (tmp_path / name).write_bytes(DATA)
    words = "format=ci16_le rate=250k frequency=100M datetime=2025-01-02T03:04:05.5Z"
    summary = iio("stream", name, words, "out.sigmf-meta --json").json
    meta = metadata(tmp_path / "out.sigmf-meta")
    assert (meta["global"]["core:datatype"], meta["global"]["core:sample_rate"]) == ("ci16_le", 250_000)
    assert meta["captures"][0]["core:frequency"] == 100e6
    assert meta["captures"][0]["core:datetime"] == "2025-01-02T03:04:05.5Z"
    assert "file's name" not in (summary["route"][0]["reason"] or "")


def test_options_add_metadata_to_the_copy_of_a_raw_file(iio, tmp_path):
    (tmp_path / "x_433.92M_250k.cu8").write_bytes(DATA)
    iio("stream", "x_433.92M_250k.cu8 rate=250k frequency=433.92M", *["out.sigmf-meta"],
        "author=A.Person license=https://creativecommons.org/publicdomain/zero/1.0/ description=beacon")
    top = metadata(tmp_path / "out.sigmf-meta")["global"]
    assert (top["core:author"], top["core:description"]) == ("A.Person", "beacon")
    assert top["core:license"] == "https://creativecommons.org/publicdomain/zero/1.0/"
    assert metadata(tmp_path / "out.sigmf-meta")["captures"][0]["core:frequency"] == 433_920_000
    iio("verify out.sigmf-meta")


def test_the_frequency_of_a_wav_file_comes_from_its_name(iio, tmp_path):
    """hackrf_transfer -w writes files with names like this one and without an "auxi" chunk."""
    import soundfile  # noqa: PLC0415
    name = "HDSDR_20170125_095238Z_7100kHz_RF.wav"
    soundfile.write(tmp_path / name, numpy.zeros((100, 2)), 192000, subtype="PCM_U8")
    iio("stream", name, "out.sigmf-meta")
    capture = metadata(tmp_path / "out.sigmf-meta")["captures"][0]
    assert (capture["core:frequency"], capture["core:datetime"]) == (7_100_000, "2017-01-25T09:52:38Z")
