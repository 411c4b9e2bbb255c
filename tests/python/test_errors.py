# SPDX-License-Identifier: MIT
"""Each error is an OSError of the right class with an errno, an object and a hint."""
import errno
import gc
import os
import pickle
import weakref

import pytest
from catalogue import raised

import iio_stream as ios


def test_a_missing_device_is_a_device_error():
    with pytest.raises(ios.DeviceError) as caught:
        ios.source("iio:nowhere")
    error = caught.value
    assert isinstance(error, OSError) and error.fault == "device"
    assert error.errno in (errno.ENODEV, errno.ENOENT) and str(error)  # ENOENT if the machine has no IIO


def test_a_missing_file_is_a_file_not_found_error(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        ios.source(tmp_path / "nothing.ci16")
    error = caught.value
    assert isinstance(error, ios.StorageError) and error.errno == errno.ENOENT
    assert str(tmp_path / "nothing.ci16") in error.filename
    assert error.operation and error.operation in str(error)


@pytest.mark.parametrize("options,words", [
    ({"patern": "ramp"}, ["patern", "pattern"]),
    ({"pattern": "lane"}, ["lane", "lanes"]),
    ({"rate": "fast"}, ["rate", "fast"]),
    ({"block_size": "4X"}, ["block_size", "4X"]),
    ({"block_size": 0}, ["block_size"]),
    ({"duration": "2 parsecs"}, ["duration", "parsecs"]),
    ({"timeout": 0}, ["timeout"]),
    ({"on_gap": "stopp"}, ["on_gap", "stop"]),
    ({"on_full": "wait"}, ["on_full", "block"]),
])
def test_the_error_of_an_invalid_option_suggests_a_valid_one(options, words):
    with pytest.raises(ios.UsageError) as caught:
        ios.source("sim:", **options)
    error = caught.value
    assert isinstance(error, ValueError) and error.errno == errno.EINVAL and error.fault == "usage"
    assert all(word in str(error) for word in words), str(error)


def test_the_error_that_ends_a_stream_is_raised_after_its_last_block():
    with ios.source("sim:", rate=0, unplug_at=10_000, block_size=4000) as rx:
        seen = 0
        with pytest.raises(ios.DeviceError) as caught:
            for block in rx:
                seen += len(block)
        assert seen == 10_000 and caught.value.errno == errno.ENODEV
        with pytest.raises(ios.DeviceError):
            next(rx)


def test_a_source_that_stops_delivering_is_a_timeout_error():
    with ios.source("sim:", rate="1M", stall_at=1000, stall_for="1h", timeout="100ms") as rx, \
            pytest.raises(TimeoutError) as caught:
        list(rx)
    assert isinstance(caught.value, ios.DeviceError) and caught.value.errno == errno.ETIMEDOUT


def test_a_loss_ends_a_stream_with_on_gap_stop():
    with ios.source("sim:", rate=0, drop_at=10_000, on_gap="stop", block_size=4000) as rx:
        assert sum(len(block) for block in rx) == 10_000


def test_errors_survive_pickling():
    with pytest.raises(ios.Error) as caught:
        ios.source("/nowhere/x.ci16")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) and str(again) == str(caught.value)
    assert again.filename == caught.value.filename and again.hint == caught.value.hint


def failing_session():
    session = ios.Session()
    session.add("sim:?rate=0&unplug_at=5000", "null:")
    return session, session.run


def failing_writer():
    writer = ios.sink("/dev/full")
    writer.write(bytes(4000))
    return writer, writer.close


def failing_worker():
    reader = ios.source("sim:", rate=0, unplug_at=5000)
    return reader, reader.call(lambda block: None).wait


@pytest.mark.parametrize("failing", [failing_session, failing_writer, failing_worker])
def test_a_deleted_exception_does_not_keep_its_stream_alive(failing):
    gc.disable()
    try:
        stream, call = failing()
        gone = weakref.ref(stream)
        error = raised(call)
        stream.close()
        del stream, call
        assert isinstance(error, ios.Error)
        del error
        assert gone() is None
    finally:
        gc.enable()


def test_a_kept_exception_keeps_neither_devices_nor_memory():
    gc.collect()  # frees objects of other tests
    before = len(os.listdir("/proc/self/fd"))
    with ios.Session() as session:
        pipeline = session.add("sim:?rate=0", "file:/dev/full", samples=1 << 20)
        error = raised(session.run)  # the traceback refers to this frame, which is a reference cycle
    assert len(os.listdir("/proc/self/fd")) == before
    assert error.errno == errno.ENOSPC and pipeline.ended
    assert pipeline.summary.error.errno == errno.ENOSPC and pipeline.route.copies is not None
    with pytest.raises(ValueError, match="closed"):
        session.start()
