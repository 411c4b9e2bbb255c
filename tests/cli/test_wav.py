# SPDX-License-Identifier: MIT
"""WAV files of sox, libsndfile (soundfile), Python's wave module, and SDR programs."""
import json
import os
import shutil
import struct
import subprocess
import time
import wave

import numpy
import pytest
import soundfile

from conftest import DEADLINE

RATE = 1_000_000
PAIRS = numpy.array([(i, -i) for i in range(1000)], dtype="<i2")


def chunk(name, content):
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def fmt(tag=1, channels=2, rate=RATE, bits=16, frame=None):
    frame = channels * bits // 8 if frame is None else frame
    return chunk(b"fmt ", struct.pack("<HHIIHH", tag, channels, rate, rate * frame & 0xffffffff, frame, bits))


def riff(*chunks, name=b"RIFF", size=None):
    content = b"WAVE" + b"".join(chunks)
    return name + struct.pack("<I", len(content) if size is None else size) + content


def auxi(start=(2024, 3, 5, 1, 10, 20, 30, 123), hertz=433_920_000):
    """SpectraVue's chunk: two SYSTEMTIMEs (year, month, weekday, day, hour, minute, second, ms), then
    frequencies."""
    return chunk(b"auxi", struct.pack("<8H8H9I96x", *start, *([0] * 8), hertz, RATE, *([0] * 7)))


@pytest.fixture
def played(iio, tmp_path):
    """Streams a file. Returns the summary and the samples."""

    def play(source, *words):
        (tmp_path / "out.bin").unlink(missing_ok=True)
        summary = iio("stream", *source.split(), "out.bin", *words, "--json").json
        return summary, (tmp_path / "out.bin").read_bytes()

    return play


@pytest.fixture
def iq(tmp_path):
    with wave.open(str(tmp_path / "iq.wav"), "wb") as file:
        file.setparams((2, 2, RATE, 0, "NONE", ""))
        file.writeframes(PAIRS.tobytes())
    return tmp_path / "iq.wav"


@pytest.mark.parametrize("words", ["", " format=ci16_le", " format=ci16_le rate=1M"])
def test_format_and_rate_come_from_the_header(iq, played, words):
    summary, samples = played("iq.wav" + words)
    assert (summary["sample_format"], summary["sample_rate"], summary["samples"]) == ("ci16_le", RATE, 1000)
    assert samples == PAIRS.tobytes()


def test_the_header_is_not_played_whatever_the_name_of_the_file_is(iq, played, tmp_path):
    shutil.copy(iq, tmp_path / "iq.ci16")
    shutil.copy(iq, tmp_path / "iq")
    for source in ("iq.ci16", "iq.ci16 rate=1M", "iq", "iq format=ci16_le"):
        summary, samples = played(source)
        assert samples == PAIRS.tobytes() and summary["sample_rate"] == RATE


def test_a_wav_file_on_standard_input_is_refused(iq, iio):
    with open(iq, "rb") as file:
        refused = iio("stream - format=ci16_le null:", stdin=file, status=5).err
    assert "header of a WAV file" in refused and "by its name" in refused


def test_a_format_that_the_header_contradicts_is_refused(iq, iio):
    refused = iio("stream iq.wav format=cf32_le null:", status=2).err
    assert "the header says ci16_le, but format= says cf32_le" in refused


def test_two_channels_are_two_real_signals_with_a_real_format(iq, played):
    summary, samples = played("iq.wav format=ri16_le rate=48k")
    assert (summary["sample_format"], summary["channels"]) == ("ri16_le", ["voltage0", "voltage1"])
    assert summary["sample_rate"] == 48000 and samples == PAIRS.tobytes()


SOX = {"8": ("-e unsigned -b 8", "u8", "-e unsigned -b 8"), "16": ("-e signed -b 16", "i16_le", "-e signed -b 16"),
       "24": ("-e signed -b 24", "i32_le", "-e signed -b 32"), "32": ("-e signed -b 32", "i32_le", "-e signed -b 32"),
       "float": ("-e float -b 32", "f32_le", "-e float -b 32"), "double": ("-e float -b 64", "f64_le", "-e float -b 64")}


@pytest.mark.parametrize("channels", [1, 2, 3])
@pytest.mark.parametrize("kind", SOX)
def test_sox_files_have_the_samples_that_sox_reads(played, tmp_path, kind, channels):
    """Like iio-stream, sox converts 24-bit values to the upper bits of 32-bit words."""
    written, name, raw = SOX[kind]
    subprocess.run(f"sox -D -n -r 48000 -c {channels} {written} a.wav synth 1 sine 440 vol 0.9".split(),
                   cwd=tmp_path, check=True, timeout=DEADLINE)
    expected = subprocess.run(f"sox -D a.wav -t raw {raw} -".split(), cwd=tmp_path, check=True,
                              capture_output=True, timeout=DEADLINE).stdout
    summary, samples = played("a.wav")
    assert summary["sample_format"] == ("c" if channels == 2 else "r") + name
    assert (summary["sample_rate"], summary["samples"]) == (48000, 48000)
    assert samples == expected


@pytest.mark.parametrize("container", ["WAV", "WAVEX", "RF64"])
@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT"])
def test_soundfiles_files_have_the_samples_that_soundfile_reads(played, tmp_path, container, subtype):
    values = numpy.random.default_rng(7).uniform(-0.9, 0.9, (5000, 2))
    soundfile.write(tmp_path / "a.wav", values, 96000, subtype=subtype, format=container)
    summary, samples = played("a.wav convert=cf64_le")
    expected, rate = soundfile.read(tmp_path / "a.wav", dtype="float64")
    assert summary["sample_rate"] == rate == 96000
    assert numpy.array_equal(numpy.frombuffer(samples, dtype="<f8").reshape(-1, 2), expected)


def test_24_bit_files_can_loop_and_end_at_any_sample(played, tmp_path):
    values = numpy.arange(-500, 500, dtype="<i4") * 8000 * 256
    soundfile.write(tmp_path / "a.wav", values, 8000, subtype="PCM_24")
    _, samples = played("a.wav loop=on", "--samples", "2700", "--block-size", "4Ki")
    assert samples == (values.tobytes() * 3)[:2700 * 4]
    assert "24 bits become 32" in json.dumps(played("a.wav")[0]["route"])


def test_samples_after_a_header_are_read_directly_or_the_route_gives_a_reason(iq, played, iio):
    summary, samples = played("iq.wav loop=on", "--samples", "300000", "--block-size", "64Ki")
    assert samples == (PAIRS.tobytes() * 300)
    hop = summary["route"][0]
    if "direct" in hop["mechanism"]:
        assert hop["copies"] == 1 and "the samples begin at byte 44 of the file" in hop["reason"]
    summary, samples = played("iq.wav direct=off")
    assert samples == PAIRS.tobytes() and summary["route"][0]["mechanism"] == "buffered"


def test_chunks_after_the_samples_are_not_played(played, tmp_path):
    (tmp_path / "a.wav").write_bytes(riff(fmt(), chunk(b"data", PAIRS.tobytes()), chunk(b"LIST", b"INFOIART" * 9)))
    assert played("a.wav")[1] == PAIRS.tobytes()


def test_the_frequency_of_an_sdr_program_is_kept(iio, tmp_path):
    (tmp_path / "a.wav").write_bytes(riff(fmt(), auxi(), chunk(b"data", PAIRS.tobytes())))
    iio("stream a.wav a.sigmf-meta")
    meta = json.loads((tmp_path / "a.sigmf-meta").read_text())
    assert meta["captures"][0]["core:frequency"] == 433_920_000
    assert meta["global"]["core:sample_rate"] == RATE


def test_an_auxi_chunk_with_the_xml_of_sdr_console_is_ignored(played, tmp_path):
    xml = "<?xml version=\"1.0\"?><SDR-XML-Root><Definition/></SDR-XML-Root>".encode("utf-16-le")
    (tmp_path / "a.wav").write_bytes(riff(fmt(), chunk(b"auxi", xml), chunk(b"data", PAIRS.tobytes())))
    assert played("a.wav")[1] == PAIRS.tobytes()


@pytest.mark.parametrize("data", [0, 0xffffffff])
@pytest.mark.parametrize("whole", [0, 4])
def test_a_file_of_a_killed_recorder_is_read_to_its_end(played, tmp_path, data, whole):
    written = riff(fmt(), b"data" + struct.pack("<I", data), size=data) + PAIRS.tobytes() + b"\7" * whole
    (tmp_path / "a.wav").write_bytes(written[:len(written) - 1])
    summary, samples = played("a.wav")
    assert samples == (PAIRS.tobytes() + b"\7" * whole)[:(999 + whole // 4) * 4]
    assert "read to the end of the file, except for the last 3 bytes" in summary["route"][0]["reason"]


def test_an_rf64_file_of_a_killed_recorder_is_read_to_its_end(played, tmp_path):
    ds64 = chunk(b"ds64", struct.pack("<QQQI", 0, 0, 0, 0))
    (tmp_path / "a.wav").write_bytes(riff(ds64, fmt(), b"data\xff\xff\xff\xff", name=b"RF64", size=0xffffffff)
                                     + PAIRS.tobytes())
    assert played("a.wav")[1] == PAIRS.tobytes()


def test_a_file_that_sox_wrote_through_a_pipe_is_read_to_its_end(played, tmp_path):
    with open(tmp_path / "a.wav", "wb") as out:
        sox = subprocess.Popen("sox -D -n -r 48000 -c 2 -b 16 -t wav - synth 1 sine 440 vol 0.9".split(),
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        shutil.copyfileobj(sox.stdout, out)
        assert sox.wait(DEADLINE) == 0
    summary, samples = played("a.wav")
    assert summary["samples"] == 48000 and samples == (tmp_path / "a.wav").read_bytes()[44:]


def test_a_finished_file_without_samples_is_empty(iio, tmp_path):
    (tmp_path / "a.wav").write_bytes(riff(fmt(), chunk(b"data", b""), chunk(b"LIST", b"INFO")))
    summary = iio("stream a.wav null: --json").json
    assert (summary["samples"], summary["ended"]) == (0, "eof")


@pytest.mark.parametrize("first", [b"\0" * 8, b"\7" * 8, b"LIST\xff\xff\xff\x7f", b"LIST\1\0\0\0"])
def test_a_data_size_of_0_is_ignored_if_the_riff_size_includes_more_bytes(played, tmp_path, first):
    content = first + PAIRS.tobytes()
    (tmp_path / "a.wav").write_bytes(riff(fmt(), b"data\0\0\0\0", content))
    summary, samples = played("a.wav")
    assert samples == content
    assert "read to the end of the file" in summary["route"][0]["reason"]


def test_a_truncated_32_bit_size_beyond_4_gib_is_corrected_by_the_file_size(iio, tmp_path):
    """Programs without RF64 write the lower 32 bits of the size. The file in this test is sparse."""
    size = (1 << 32) + 4000
    with open(tmp_path / "a.wav", "wb") as file:
        file.write(riff(fmt(), b"data" + struct.pack("<I", size & 0xffffffff)))
        file.truncate(44 + size)
    assert iio("verify a.wav --json").json["samples"] == size // 4


DATA = chunk(b"data", PAIRS.tobytes())
BAD = {
    "empty": (b"", "does not begin with RIFF or RF64"),
    "text": (b"# not a sound\n" * 10, "does not begin with RIFF or RF64"),
    "cut in the RIFF header": (b"RIFF\0\0", "truncated"),
    "cut in a chunk": (riff(fmt())[:20], "truncated"),
    "no samples": (riff(fmt()), "truncated"),
    "samples cut": (riff(fmt(), DATA)[:-100], "4000 bytes of samples, but the file has 3900"),
    "no format": (riff(DATA), "before their format"),
    "short format": (riff(chunk(b"fmt ", b"\1\0\2\0"), DATA), "instead of 16"),
    "another RIFF type": (b"RIFF" + struct.pack("<I", 4) + b"AVI ", "not WAVE"),
    "big-endian": (riff(fmt(), DATA, name=b"RIFX"), "big-endian"),
    "a-law": (riff(fmt(tag=6, bits=8), DATA), "0x0006"),
    "mp3": (riff(fmt(tag=0x55, bits=0), DATA), "0x0055"),
    "12 bits": (riff(fmt(bits=12), DATA), "12 bits"),
    "half floats": (riff(fmt(tag=3, bits=16), DATA), "16 bits"),
    "no channels": (riff(fmt(channels=0), DATA), "0 channels"),
    "too many channels": (riff(fmt(channels=65, rate=8000), DATA), "65 channels"),
    "odd frame": (riff(fmt(frame=5), DATA), "cannot have 5 bytes"),
    "no rate": (riff(fmt(rate=0), DATA), "sample rate is 0"),
    "half a sample": (riff(fmt(), chunk(b"data", b"123456")), "not a whole number of samples"),
    "huge chunk": (riff(fmt(), b"LIST\xf0\xff\xff\xff", DATA), "beyond the file's end"),
    "no ds64": (riff(fmt(), b"data\xff\xff\xff\xff" + b"12345678", name=b"RF64"), "no chunk 'ds64'"),
    "many chunks": (riff(*[chunk(b"JUNK", b"")] * 5000, fmt(), DATA), "among its first 4096 chunks"),
}


@pytest.mark.parametrize("case", BAD)
def test_truncated_and_invalid_headers_are_errors(iio, tmp_path, case):
    content, why = BAD[case]
    (tmp_path / "a.wav").write_bytes(content)
    for command in ("stream a.wav null:", "verify a.wav"):
        refused = iio(command, status=5 if command.startswith("stream") else None)
        assert refused.status != 0 and why in refused.err, refused.err
        assert "a.wav" in refused.err


def test_the_error_of_a_truncated_file_says_how_to_play_it(iio, played, tmp_path):
    (tmp_path / "a.wav").write_bytes(riff(fmt(), DATA)[:-100])
    refused = iio("stream a.wav null:", status=5).err
    assert "skip=44 format=ci16_le rate=1000000" in refused


def test_a_wav_file_verifies(iq, iio):
    checked = iio("verify iq.wav --json").json
    assert (checked["ok"], checked["samples"], checked["sample_format"]) == (True, 1000, "ci16_le")


def chunks(content):
    """Returns the name and content of each chunk of a RIFF file, as the specification defines them."""
    found, at = [], 12
    while at + 8 <= len(content):
        name, size = struct.unpack_from("<4sI", content, at)
        found.append((name, content[at + 8:at + 8 + size]))
        at += 8 + size + size % 2
    return found


WRITTEN = [("ci16_le", "int16", "PCM_16", 2), ("ri16_le", "int16", "PCM_16", 1), ("ci32_le", "int32", "PCM_32", 2),
           ("cf32_le", "float32", "FLOAT", 2), ("rf64_le", "float64", "DOUBLE", 1)]


@pytest.mark.parametrize("engine", ["auto", "buffered"])
@pytest.mark.parametrize("form, kind, subtype, channels", WRITTEN)
def test_soundfile_and_sox_read_recorded_wav_files(iio, tmp_path, form, kind, subtype, channels, engine):
    iio(f"stream sim: rate=48k format={form} pattern=tone a.wav engine={engine} a.bin --samples 12345")
    raw = (tmp_path / "a.bin").read_bytes()
    assert any(raw)
    info = soundfile.info(tmp_path / "a.wav")
    assert (info.samplerate, info.channels, info.frames, info.subtype) == (48000, channels, 12345, subtype)
    assert soundfile.read(tmp_path / "a.wav", dtype=kind)[0].tobytes() == raw
    encoding = "float" if "f" in form else "signed"
    bits = {"16": 16, "32": 32, "64": 64}[form[2:4]]
    sox = subprocess.run(f"sox -D a.wav -t raw -e {encoding} -b {bits} -".split(), cwd=tmp_path, check=True,
                         capture_output=True, timeout=DEADLINE)
    assert b"WARN" not in sox.stderr
    read, wanted = (numpy.frombuffer(content, dtype=kind) for content in (sox.stdout, raw))
    tolerance = 2 ** -23 if "f" in form else 0  # sox converts to integers
    assert len(read) == len(wanted) and numpy.allclose(read, wanted, rtol=0, atol=tolerance)


def test_8_bit_samples_are_written_unsigned_and_padded(iio, tmp_path):
    """8-bit samples of WAV files are unsigned, and a chunk has an even number of bytes."""
    iio("stream sim: rate=8k format=ri8 pattern=noise a.wav a.bin --samples 1001")
    signed = numpy.frombuffer((tmp_path / "a.bin").read_bytes(), dtype="i1")
    with wave.open(str(tmp_path / "a.wav")) as file:
        assert (file.getsampwidth(), file.getnchannels(), file.getnframes()) == (1, 1, 1001)
        written = numpy.frombuffer(file.readframes(1001), dtype="u1")
    assert numpy.array_equal(written.astype(int) - 128, signed.astype(int))
    content = (tmp_path / "a.wav").read_bytes()
    assert len(content) % 2 == 0 and struct.unpack_from("<I", content, 4)[0] == len(content) - 8


@pytest.mark.parametrize("form", ["le:s12/16>>4,le:s12/16>>4", "ri16_be", "ru16_le"])
def test_formats_that_wav_files_cannot_hold_are_converted_as_the_route_shows(iio, tmp_path, form):
    summary = iio(f"record sim: rate=48k format={form} pattern=noise a.wav --samples 1000 --json").json
    assert soundfile.info(tmp_path / "a.wav").subtype == "PCM_16"
    assert "WAV files hold" in summary["route"][1]["reason"]


def test_frequency_and_time_are_where_sdr_programs_expect_them(iio, tmp_path):
    """SDRangel expects the format right after WAVE, and looks for other chunks at multiples of 8 bytes."""
    (tmp_path / "a.ci16").write_bytes(PAIRS.tobytes())
    iio("stream a.ci16 rate=1M frequency=433.92M datetime=2024-03-01T10:20:30.123Z a.wav")
    content = (tmp_path / "a.wav").read_bytes()
    found = chunks(content)
    assert [name for name, _ in found] == [b"fmt ", b"auxi", b"JUNK", b"data"]
    assert found[1][1] == auxi()[8:]
    assert (content.index(b"data") - content.index(b"auxi") - len(auxi())) % 8 == 0
    assert found[3][1] == PAIRS.tobytes() and content.index(PAIRS.tobytes()) % 4096 == 0
    iio("stream a.wav a.sigmf-meta")
    capture = json.loads((tmp_path / "a.sigmf-meta").read_text())["captures"][0]
    assert capture["core:frequency"] == 433_920_000
    assert capture["core:datetime"] == "2024-03-01T10:20:30.123Z"


def test_a_frequency_that_does_not_fit_into_the_header_is_left_out(iio, tmp_path):
    (tmp_path / "a.ci16").write_bytes(PAIRS.tobytes())
    iio("stream a.ci16 rate=1M frequency=5.8G a.wav")
    assert chunks((tmp_path / "a.wav").read_bytes())[1] == (b"auxi", auxi((0,) * 8, 0)[8:])


def test_each_part_is_a_wav_file(iio, tmp_path):
    iio("record sim: rate=1M pattern=ramp a.wav rotate_bytes=64Ki --samples 40k --block-size 16Ki")
    parts = sorted(tmp_path.glob("a.*.wav"))
    assert len(parts) >= 2
    whole = b"".join(soundfile.read(part, dtype="int16")[0].tobytes() for part in parts)
    iio("record sim: rate=1M pattern=ramp a.bin --samples 40k")
    assert whole == (tmp_path / "a.bin").read_bytes()


@pytest.mark.parametrize("engine", ["auto", "buffered"])
def test_a_killed_recording_can_be_recovered_and_read(iio, start, tmp_path, engine):
    recorder = start(f"record sim: rate=1M pattern=ramp a.wav engine={engine} --quiet")
    path, journal = tmp_path / "a.wav", tmp_path / "a.wav.journal"
    deadline = time.monotonic() + DEADLINE
    while not (path.exists() and path.stat().st_size > 4096 and
               (not journal.exists() or b"bytes" in journal.read_bytes().split(b"\n", 1)[1])):
        assert time.monotonic() < deadline and recorder.poll() is None
        time.sleep(0.05)
    recorder.kill()
    recorder.wait()
    if journal.exists():
        assert "recover" in iio("stream a.wav null:", status=5).err
        iio("recover a.wav")
        assert not journal.exists()
        assert struct.unpack_from("<I", path.read_bytes(), 4)[0] == path.stat().st_size - 8
    iio("verify --pattern ramp a.wav")
    samples = iio("verify a.wav --json").json["samples"]
    assert samples > 0 and soundfile.info(path).frames == samples


@pytest.mark.parametrize("part", [0, 3], ids=["whole samples", "part of a sample"])
def test_recover_writes_the_sizes_of_a_file_without_a_journal(iio, start, tmp_path, part):
    recorder = start("record sim: rate=1M pattern=ramp a.wav engine=buffered --quiet")
    path, deadline = tmp_path / "a.wav", time.monotonic() + DEADLINE
    while not (path.exists() and path.stat().st_size > 4096):
        assert time.monotonic() < deadline and recorder.poll() is None
        time.sleep(0.05)
    recorder.kill()
    recorder.wait()
    assert not (tmp_path / "a.wav.journal").exists()
    whole = (path.stat().st_size - 4096) // 4 * 4 + 4096
    os.truncate(path, whole)
    with open(path, "ab") as file:
        file.write(b"\7" * part)
    recovered = iio("recover a.wav --json").json
    assert recovered["needed"] and recovered["samples"] == (whole - 4096) // 4
    assert path.stat().st_size == whole
    assert struct.unpack_from("<I", path.read_bytes(), 4)[0] == whole - 8
    assert struct.unpack_from("<I", path.read_bytes(), 4092)[0] == whole - 4096
    iio("verify --pattern ramp a.wav")
    assert not iio("recover a.wav --json").json["needed"]


def test_recover_does_not_change_the_file_of_another_program(iio, tmp_path):
    written = riff(fmt(), b"data" + struct.pack("<I", 0xffffffff), size=0xffffffff) + PAIRS.tobytes()
    (tmp_path / "a.wav").write_bytes(written)
    iio("recover a.wav")
    assert (tmp_path / "a.wav").read_bytes() == written


@pytest.mark.parametrize("words, says", [
    ("rate=1.5", "whole samples per second: 1.5 become 2"),
    ("rate=48000.5", "whole samples per second: 48000.5 become 48001"),
    ("rate=1M frequency=5.8G", "frequencies up to 4.29 GHz: 5800000000 Hz is left out"),
    ("rate=1M frequency=100.25", "a frequency of 100.25 Hz becomes 100"),
])
@pytest.mark.parametrize("options", ["", " engine=buffered", " rotate_bytes=64Ki"])
def test_the_route_names_values_that_the_header_cannot_hold(iio, tmp_path, words, says, options):
    (tmp_path / "a.ci16").write_bytes(PAIRS.tobytes())
    summary = iio(f"stream a.ci16 {words} a.wav{options} --json").json
    assert says in summary["route"][-1]["reason"]


def test_the_route_names_no_value_that_the_header_can_hold(iio, tmp_path):
    (tmp_path / "a.ci16").write_bytes(PAIRS.tobytes())
    summary = iio("stream a.ci16 rate=48k frequency=433.92M a.wav --json").json
    assert "header of a WAV" not in json.dumps(summary["route"])


def test_a_rate_that_would_become_0_is_refused_with_its_value(iio, tmp_path):
    (tmp_path / "a.ci16").write_bytes(PAIRS.tobytes())
    refused = iio("stream a.ci16 rate=0.4 a.wav", status=2).err
    assert "0.4 would become 0" in refused and "has none" not in refused
    assert not (tmp_path / "a.wav").exists()


def test_an_existing_file_and_a_pipe_are_refused(iio, iq, tmp_path):
    before = iq.read_bytes()
    assert "overwrite=on" in iio("record sim: rate=1M iq.wav --samples 10", status=5).err
    assert iq.read_bytes() == before
    iio("record sim: rate=1M iq.wav overwrite=on --samples 10")
    assert soundfile.info(iq).frames == 10
    os.mkfifo(tmp_path / "pipe.wav")
    assert "regular file" in iio("record sim: rate=1M pipe.wav --samples 10", status=2).err
