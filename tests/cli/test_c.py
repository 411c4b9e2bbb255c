# SPDX-License-Identifier: MIT
"""The C API, used by a program that is compiled as C99 (tests/c/relay.c)."""
import ctypes
import struct
import subprocess

from conftest import BUILD, DEADLINE


def relay(*words):
    return subprocess.run([BUILD / "tests" / "c" / "relay", *map(str, words)], capture_output=True, text=True,
                          timeout=DEADLINE, check=False)


def test_a_c_program_copies_blocks_from_a_source_to_a_file(tmp_path):
    done = relay("sim:?rate=0&pattern=ramp", tmp_path / "a.ci16", 100_000)
    assert (done.returncode, done.stdout, done.stderr) == (0, "100000 0 0\n", "")
    words = struct.unpack("<50000Q", (tmp_path / "a.ci16").read_bytes())
    assert words == tuple(range(50_000))


def test_losses_are_reported():
    done = relay("sim:?rate=0&drop_at=5000&drop=300", "null:", 100_000)
    assert (done.returncode, done.stdout) == (0, "100000 300 1\n")


def test_the_end_of_a_recording_ends_the_stream(tmp_path):
    (tmp_path / "a.ci16").write_bytes(bytes(4 * 3000))
    done = relay(tmp_path / "a.ci16", "null:", 100_000)
    assert (done.returncode, done.stdout) == (0, "3000 0 0\n")


def test_failures_are_reported(tmp_path):
    done = relay("sim:?ratee=0", "null:", 10)
    assert done.returncode == 1 and "ratee" in done.stderr and "rate" in done.stderr
    done = relay(tmp_path / "none.ci16", "null:", 10)
    assert done.returncode == 1 and "No such file" in done.stderr
    done = relay("sim:?rate=0&unplug_at=5000", "null:", 100_000)
    assert done.returncode == 1 and "next: " in done.stderr
    done = relay("sim:?rate=0", "/dev/full", 1_000_000)
    assert done.returncode == 1 and "No space left" in done.stderr


def test_null_pointers_and_invalid_numbers_are_errors():
    library = ctypes.CDLL(str(next(BUILD.glob("libiio-stream.so"))))
    for name in ("reader_open", "reader_format", "writer_open"):
        getattr(library, f"iio_stream_{name}").restype = ctypes.c_void_p
    library.iio_stream_writer_write.restype = ctypes.c_ssize_t
    library.iio_stream_last_error.restype = ctypes.c_char_p
    size, block = ctypes.c_size_t, ctypes.c_void_p()

    def failed(result, words):
        assert result in (None, -1) and words in library.iio_stream_last_error().decode(), library.iio_stream_last_error()

    failed(library.iio_stream_reader_open(None, size(0), size(0)), "source is NULL")
    failed(library.iio_stream_reader_open(b"sim:", size(2**64 - 1), size(0)), "block")
    failed(library.iio_stream_reader_open(b"sim:", size(0), size(2**63)), "blocks=9223372036854775808")
    failed(library.iio_stream_reader_format(None, None, None), "reader is NULL")
    failed(library.iio_stream_reader_next(None, 0, ctypes.byref(block)), "reader is NULL")
    reader = ctypes.c_void_p(library.iio_stream_reader_open(b"sim:", size(0), size(0)))
    failed(library.iio_stream_reader_next(reader, 0, None), "block is NULL")
    assert library.iio_stream_reader_close(reader) == 0 and library.iio_stream_reader_close(None) == 0
    failed(library.iio_stream_writer_open(None, b"ci16_le", ctypes.c_double(0)), "sink is NULL")
    failed(library.iio_stream_writer_open(b"null:", None, ctypes.c_double(0)), "format is NULL")
    for rate in (-1, float("nan"), float("inf")):
        failed(library.iio_stream_writer_open(b"null:", b"ci16_le", ctypes.c_double(rate)), "sample_rate")
    writer = ctypes.c_void_p(library.iio_stream_writer_open(b"null:", b"ci16_le", ctypes.c_double(0)))
    failed(library.iio_stream_writer_write(writer, None, size(4), 0), "samples is NULL")
    failed(library.iio_stream_writer_write(None, b"1234", size(4), 0), "writer is NULL")
    assert library.iio_stream_writer_write(writer, b"1234", size(4), -1) == 4
    assert library.iio_stream_writer_close(writer) == 0
    library.iio_stream_block_get_info(None, None)
    library.iio_stream_block_release(None)
