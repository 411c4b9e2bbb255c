# SPDX-License-Identifier: MIT
"""Writer: samples from the program to sinks, copied by write() or written in place into blocks of the
device's memory."""
import struct
import threading
import time
import wave
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from conftest import ramp

import iio_stream as ios


def test_written_samples_are_in_the_file(tmp_path):
    file = tmp_path / "a.ci16"
    samples = np.frombuffer(ramp(0, 400_000), "<i2").reshape(-1, 2)
    with ios.sink(file, block_size="64Ki", blocks=4) as tx:
        assert tx.write(samples[:30_000]) == 30_000
        assert tx.write(samples[30_000:].reshape(-1)) == 70_000
    assert file.read_bytes() == samples.tobytes()
    assert tx.closed and tx.summary.stats.samples == 100_000 and tx.summary.error is None
    assert tx.summary.ended == "eof" and tx.summary.words["sinks"][0]["delivered_samples"] == 100_000


def test_blocks_are_filled_in_place(tmp_path):
    file = tmp_path / "a.ci16"
    with ios.sink(file, block_size=4096, blocks=4) as tx:
        places = set()
        for number in range(10):
            block = tx.take()
            assert len(block) == 1024 and block.array.flags.writeable
            places.add(block.array.__array_interface__["data"][0])
            block.array.reshape(-1).view("<u8")[:] = np.arange(512 * number, 512 * (number + 1))
            tx.put(block)
            assert block.released
        assert len(places) <= 4 and tx.held == 0
        last = tx.take()
        last.array[:10] = np.frombuffer(ramp(40_960, 40), "<i2").reshape(-1, 2)
        tx.put(last, 10)
    assert file.read_bytes() == ramp(0, 41_000)


def test_a_block_with_views_cannot_be_put():
    with ios.sink("null:", block_size=4096, blocks=4) as tx:
        block = tx.take()
        view = block.array[5:]
        for refused in (lambda: tx.put(block), block.release):
            with pytest.raises(BufferError, match="1 views"):
                refused()
        del view
        with pytest.raises(ValueError, match="2000 samples in a block of 1024"):
            tx.put(block, 2000)
        tx.put(block, 1)
        with pytest.raises(ValueError, match="the block was released"):
            tx.put(block)
        tx.take().release()
    assert tx.summary.stats.samples == 1


def test_complex_samples_are_pairs(tmp_path):
    file = tmp_path / "a.cf32"
    tone = np.exp(2j * np.pi * np.arange(1000) / 8) / 2
    with ios.sink(file, format="cf32_le") as tx:
        assert tx.write(tone) == 1000  # complex128 is accepted too
    assert np.allclose(np.fromfile(file, np.complex64), tone, atol=1e-6)


def test_the_library_converts_written_samples(tmp_path):
    file = tmp_path / "a.ci16"
    with ios.sink(file, format="cf32_le", convert="ci16_le") as tx:
        tx.write(np.array([0.5 - 0.25j, 1 + 0j, -1 - 2j], np.complex64))
    assert np.fromfile(file, "<i2").tolist() == [16384, -8192, 32767, 0, -32768, -32768]


def test_a_suffix_that_contradicts_the_format_is_refused(tmp_path):
    file = tmp_path / "a.cf32"
    with pytest.raises(ios.UsageError, match="convert=cf32_le"):
        ios.record("sim:", file, samples=10)
    with pytest.raises(ios.UsageError, match="cf32_le"):
        ios.sink(file, format="ci16_le")
    assert not file.exists()


@pytest.mark.parametrize("name, dtype", [("x.cf32", np.complex64), ("x.cfile", np.complex64),
                                         ("x.rf32", np.float32), ("x.ri16", np.int16), ("x.cu8", np.uint8)])
def test_the_suffix_of_a_file_declares_the_format(tmp_path, name, dtype):
    samples = np.arange(100).astype(dtype)
    with ios.sink(tmp_path / name) as tx:
        tx.write(samples)
    assert (np.fromfile(tmp_path / name, dtype) == samples).all()


@pytest.mark.parametrize("name, options", [
    ("x.raw", {}), ("x.sigmf-meta", {}), ("x.wav", {"sample_rate": "1M"}),
    ("x.cf32", {"convert": "cf32_le"})])
def test_the_format_is_ci16_if_the_suffix_does_not_declare_what_is_written(tmp_path, name, options):
    with ios.sink(tmp_path / name, **options) as tx:
        assert tx.format.name == "ci16_le"


def test_a_stated_format_takes_precedence_over_the_suffix(tmp_path):
    with ios.sink(tmp_path / "x.ci16", format="cf32_le", convert="ci16_le") as tx:
        assert tx.format.name == "cf32_le"


def test_files_of_different_suffixes_need_a_stated_format(tmp_path):
    files = [str(tmp_path / "x.cf32"), str(tmp_path / "y.cu8")]
    with pytest.raises(ios.UsageError, match="x.cf32: the name says cf32_le"):
        ios.sink(files)
    with ios.sink([files[0], ios.uri(files[1], convert="cu8"), "null:"]) as tx:
        assert tx.format.name == "cf32_le"


def test_a_wav_file_has_the_written_samples_and_the_stated_facts(tmp_path):
    """The chunk auxi begins with two SYSTEMTIMEs of 16 bytes, and the frequency follows them."""
    samples = np.arange(2000, dtype=np.int16)
    with ios.sink(tmp_path / "x.wav", sample_rate=48_000, frequency="433.92M",
                  datetime="2024-03-01T10:20:30.5Z") as tx:
        tx.write(samples)
    with wave.open(str(tmp_path / "x.wav")) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (48_000, 2, 2)
        assert file.readframes(1000) == samples.tobytes()
    header = (tmp_path / "x.wav").read_bytes()[:4096]
    auxi = header[header.index(b"auxi") + 8:]
    assert struct.unpack("<8H", auxi[:16]) == (2024, 3, 5, 1, 10, 20, 30, 500)
    assert struct.unpack("<I", auxi[32:36]) == (433_920_000,)


def test_a_recording_states_the_frequency_and_the_time_of_written_samples(tmp_path):
    sigmf = pytest.importorskip("sigmf")
    with ios.sink(tmp_path / "x.sigmf-meta", sample_rate="1M", frequency="2.4G", author="N. N.",
                  datetime="2024-03-01T10:20:30.5Z") as tx:
        tx.write(np.zeros(2000, np.int16))
    read = sigmf.sigmffile.fromfile(str(tmp_path / "x.sigmf-meta"))
    read.validate()
    [capture] = read.get_captures()
    assert capture["core:frequency"] == 2.4e9 and capture["core:datetime"].startswith("2024-03-01T10:20:30.5")
    assert read.get_global_info()["core:author"] == "N. N." and read.sample_count == 1000
    opened = ios.open_recording(tmp_path / "x.sigmf-meta").captures[0]
    assert opened.frequency == 2.4e9 and opened.datetime == capture["core:datetime"]
    assert ios.verify(tmp_path / "x.sigmf-meta").ok


def test_a_recording_with_a_stated_frequency_has_the_time_of_recording(tmp_path):
    before = datetime.now(timezone.utc)
    with ios.sink(tmp_path / "x.sigmf-meta", frequency=100e6) as tx:
        tx.write(np.zeros(2000, np.int16))
    capture = ios.open_recording(tmp_path / "x.sigmf-meta").captures[0]
    assert capture.frequency == 100e6
    told = datetime.fromisoformat(capture.datetime.replace("Z", "+00:00"))
    assert before - timedelta(seconds=1) <= told <= datetime.now(timezone.utc)


def test_a_time_with_a_time_zone_is_written_in_utc(tmp_path):
    east = timezone(timedelta(hours=2))
    with ios.sink(tmp_path / "x.sigmf-meta", datetime=datetime(2024, 3, 1, 1, 20, 30, 500, east)) as tx:
        tx.write(np.zeros(2000, np.int16))
    told = ios.open_recording(tmp_path / "x.sigmf-meta").captures[0].datetime
    assert told.startswith("2024-02-29T23:20:30.0005")
    with pytest.raises(TypeError, match="has no time zone"):
        ios.sink(tmp_path / "y.sigmf-meta", datetime=datetime(2024, 3, 1))


def test_each_part_of_a_recording_has_the_stated_frequency_and_its_own_time(tmp_path):
    with ios.sink(tmp_path / "x.sigmf-meta", sample_rate="1M", frequency="2.4G", block_size="4Ki",
                  datetime="2024-03-01T10:20:30Z", rotate_bytes="64Ki") as tx:
        tx.write(np.zeros(2 * 40_000, np.int16))
    parts = [ios.open_recording(name) for name in tx.summary.reports[0]["files"]]
    starts = [part.captures[0] for part in parts]
    assert len(parts) > 2 and {start.frequency for start in starts} == {2.4e9}
    for part, following in zip(starts, starts[1:]):
        assert following.datetime.startswith(f"2024-03-01T10:20:30.{following.index:06}"), part


@pytest.mark.parametrize("options, said", [({"frequency": "1G"}, "a recording with metadata"),
                                           ({"datetime": "2024-03-01"}, "a recording with metadata")])
def test_a_copy_of_a_recording_keeps_its_facts(tmp_path, options, said):
    ios.record("sim:", tmp_path / "a.sigmf-meta", rate="1M", samples=1000)
    with pytest.raises(ios.UsageError, match=said):
        ios.stream(tmp_path / "a.sigmf-meta", ios.uri(tmp_path / "b.sigmf-meta", **options))
    assert not (tmp_path / "b.sigmf-meta").exists() and not (tmp_path / "b.sigmf-data").exists()


def test_facts_that_contradict_the_source_are_refused(tmp_path):
    (tmp_path / "a.ci16").write_bytes(bytes(400))
    with pytest.raises(ios.UsageError, match="the source states a frequency"):
        ios.stream(ios.uri(tmp_path / "a.ci16", frequency="1G"),
                   ios.uri(tmp_path / "b.sigmf-meta", frequency="2G"))
    with pytest.raises(ios.UsageError, match="dated when they arrive"):
        ios.stream("sim:?rate=1M", ios.uri(tmp_path / "b.sigmf-meta", datetime="2024-03-01"), samples=10)
    with pytest.raises(ios.UsageError, match="frequency.*without metadata"):
        ios.sink(tmp_path / "b.ci16", frequency="2G")
    assert [file.name for file in tmp_path.iterdir()] == ["a.ci16"]


@pytest.mark.parametrize("samples, format, way", [
    (np.zeros(4), "ci16_le", r"an array of float64, but the stream is ci16_le: int16; "
     r"sink\(…, format='cf32_le', convert='ci16_le'\) takes floats with full scale 1\.0, as float32; "
     r"\.round\(\)\.astype\('int16'\) keeps the numbers"),
    (np.zeros((2, 2), np.float32), "ci16_le", r"format='cf32_le', convert='ci16_le'.* scale 1\.0; \.round"),
    (np.zeros(4, complex), "cu8", r"complex128, .* cu8: uint8; .*format='cf32_le', convert='cu8'.*1\.0$"),
    (np.zeros(4), "ri16_le", r"format='rf32_le', convert='ri16_le'"),
    (np.zeros(4, complex), "ri16_le", r"its channels are real"),
    (np.zeros(8), ios.Format.parse("ci16_le", 4), r"format=Format\.parse\('cf32_le', 4\), convert='ci16_le'"),
])
def test_the_error_for_floats_names_their_type_the_format_and_the_way_out(samples, format, way):
    with ios.sink("null:", format=format) as tx, pytest.raises(TypeError, match=way):
        tx.write(samples)


@pytest.mark.parametrize("format, way", [("ci16_le", "cf32_le"), ("ri16_le", "rf32_le")])
def test_the_way_out_for_floats_works(tmp_path, format, way):
    with ios.sink(tmp_path / "x.bin", format=way, convert=format) as tx:
        tx.write(np.array([0.5, -0.25, 1, -1]).astype(np.float32))
    assert np.fromfile(tmp_path / "x.bin", np.int16).tolist() == [16384, -8192, 32767, -32768]


def test_other_dtypes_are_refused():
    with ios.sink("null:") as tx:
        for wrong in (np.zeros(4), np.zeros(4, np.complex64), np.zeros(4, ">i2"), np.zeros(4, np.uint16)):
            with pytest.raises(TypeError, match="but the stream is ci16_le"):
                tx.write(wrong)
        with pytest.raises(ios.UsageError, match="6 bytes are not a whole number of samples"):
            tx.write(b"123456")
        with pytest.raises(TypeError):
            tx.write(3)
        assert tx.write(bytes(8)) == 2


def test_received_blocks_can_be_sent_on(tmp_path):
    file = tmp_path / "a.ci16"
    with ios.source("sim:", rate=0, samples=50_000) as rx, ios.sink(file) as tx:
        for block in rx:
            assert tx.write(block) == len(block)
    assert file.read_bytes() == ramp(0, 200_000)


def test_samples_of_mixed_types_are_structured_arrays(tmp_path):
    file = tmp_path / "a.bin"
    format = ios.Format.parse("le:s16/16>>0,le:s32/32>>0")
    samples = np.zeros(10, format.dtype)
    samples["channel1"] = np.arange(10)
    with ios.sink(ios.uri(file), format=format) as tx:
        assert tx.format.channels[1].id == "channel1"
        assert tx.write(samples) == 10
    assert file.read_bytes() == samples.tobytes()


def test_write_returns_the_written_samples_at_its_timeout():
    with ios.sink("null:", rate=1000, block_size=4096, blocks=4) as tx:  # one block takes 1 s
        done = tx.write(np.zeros((1_000_000, 2), np.int16), timeout=0.3)
        assert 0 < done < 1_000_000 and done % 1024 == 0
        assert tx.take(timeout=0.01) is None
        tx.stop()
        tx.close()


def test_keeping_all_blocks_is_an_error():
    with ios.sink("null:", block_size=4096, blocks=4) as tx:
        kept = [tx.take() for _ in range(4)]
        with pytest.raises(ios.PoolExhausted, match="all 4 blocks") as caught:
            tx.take()
        assert caught.value.held == tx.held == 4
        kept.clear()
        assert tx.take() is not None


def test_a_write_that_waits_for_a_block_returns_the_right_count(tmp_path):
    file = tmp_path / "a.ci16"
    samples = np.frombuffer(ramp(0, 4096 * 3), "<i2").reshape(-1, 2)
    with ios.sink(file, block_size=4096, blocks=4) as tx:
        kept = [tx.take() for _ in range(3)]
        done = 0
        letting_go = threading.Timer(0.3, kept.clear)
        letting_go.start()
        while done < len(samples):
            done += tx.write(samples[done:])
        letting_go.join()
    assert file.read_bytes() == samples.tobytes()


def test_the_error_that_ends_the_stream_is_raised():
    with pytest.raises(OSError, match="No space left") as caught, ios.sink("/dev/full") as tx:
        for _ in range(1000):
            tx.write(np.zeros((100_000, 2), np.int16))
    assert isinstance(caught.value, ios.StorageError)


def test_an_existing_file_is_kept(tmp_path):
    file = tmp_path / "a.ci16"
    file.write_bytes(b"dear")
    with pytest.raises(FileExistsError), ios.sink(file) as tx:
        tx.write(bytes(4))
    assert file.read_bytes() == b"dear"
    with ios.sink(file, overwrite=True) as tx:
        tx.write(bytes(8))
    assert file.read_bytes() == bytes(8)


def test_stop_from_another_thread_ends_a_write():
    tx = ios.sink("null:", rate=1000, block_size=4096, blocks=4)
    threading.Timer(0.2, tx.stop).start()
    before = time.monotonic()
    try:
        tx.write(np.zeros((1_000_000, 2), np.int16))
    except ios.Error as error:
        assert "ended" in str(error)
    assert time.monotonic() - before < 30
    tx.close()
    with pytest.raises(ValueError, match="the stream is closed"):
        tx.write(bytes(4))


def test_several_sinks_get_the_same_samples(tmp_path):
    with ios.sink([ios.uri(tmp_path / "a.ci16", sync="end"), "verify:ramp"]) as tx:
        tx.write(ramp(0, 100_000))
    assert (tmp_path / "a.ci16").read_bytes() == ramp(0, 100_000)
    assert tx.summary.reports[1]["mismatches"] == 0 and tx.summary.sinks[1].delivered_samples == 25_000
    with pytest.raises(ios.UsageError, match="several sinks"):
        ios.sink(["null:", "null:"], rate=3)


def test_writing_after_the_end_is_refused(tmp_path):
    file = tmp_path / "a.ci16"
    with ios.sink(file) as tx:
        tx.write(ramp(0, 400))
        tx.end()
        for more in (lambda: tx.write(bytes(4)), tx.take):
            with pytest.raises(ios.Error):
                more()
    assert file.read_bytes() == ramp(0, 400)


@pytest.mark.parametrize("name", ["x.ci16", "x.sigmf-meta"])
def test_an_exception_of_the_program_loses_no_written_samples(name, tmp_path):
    name = str(tmp_path / name)
    with pytest.raises(RuntimeError, match="of the program"), ios.sink(name) as tx:
        tx.write(np.ones((1000, 2), np.int16))
        raise RuntimeError("of the program")
    with ios.source(name) as rx:
        assert len(rx.read(2000)) == 1000


def test_an_open_writer_is_closed_with_a_warning_when_the_interpreter_ends(python, tmp_path):
    said = python("""
import sys, warnings
import numpy as np
import iio_stream as ios
warnings.simplefilter("always")
sys.stderr = sys.stdout
tx = ios.sink("x.sigmf-meta")
tx.write(np.ones((1000, 2), np.int16))
""")
    assert "ResourceWarning: <iio_stream.Writer of ci16_le, open> was not closed" in said
    assert ios.verify(tmp_path / "x.sigmf-meta").samples == 1000
