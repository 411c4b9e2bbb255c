# SPDX-License-Identifier: MIT
"""Numbers, text and lists of Python and NumPy are accepted as options. Other values give a readable error."""
import decimal
import fractions
import pathlib
from datetime import timedelta

import numpy as np
import pytest

import iio_stream as ios

RATE = 250_000  # an exact value in each of these types
NUMBERS = [np.int32, np.int64, np.uint64, np.float32, np.float64, np.longdouble, np.array, float, int,
           decimal.Decimal, fractions.Fraction, str]


@pytest.mark.parametrize("kind", NUMBERS, ids=lambda kind: kind.__name__)
def test_numbers_of_each_type_are_accepted(kind):
    with ios.source("sim:", rate=kind(RATE), samples=kind(1000), block_size=kind(4096), blocks=kind(8)) as rx:
        assert rx.format.sample_rate == RATE
        assert sum(len(block) for block in rx) == 1000


def test_numpy_scalars_are_plain_values_in_the_uri():
    assert ios.uri("sim:", rate=np.float64(2.5e6), seed=np.int64(3), drop_at=np.uint8(7)) == \
        ios.uri("sim:", rate=2.5e6, seed=3, drop_at=7)
    assert ios.uri("a.ci16", overwrite=np.bool_(True)) == "file:a.ci16?overwrite=on"
    assert ios.uri("sim:", frequency=np.float32(0.1)) == f"sim:?frequency={float(np.float32(0.1))!r}"
    assert ios.uri("sim:", channels=np.array(["a", "b"])) == ios.uri("sim:", channels=["a", "b"])
    assert ios.uri("sim:", rate=np.array(5)) == "sim:?rate=5"


@pytest.mark.parametrize("short", [0.05, np.float32(0.05), np.float64(0.05), "50ms",
                                   timedelta(milliseconds=50), np.timedelta64(50, "ms")],
                         ids=lambda short: type(short).__name__)
def test_durations_of_each_type_are_accepted(short):
    with ios.source("sim:", rate=1000, block_size=400_000, timeout="1h") as rx:
        assert rx.next(timeout=short) is None
    with ios.source("sim:", rate=100_000, duration=short) as rx:
        assert abs(sum(len(block) for block in rx) - 5000) <= 1


@pytest.mark.parametrize("value", [None, {"a": 1}, {1, 2}, 1j, b"1", object(), np.array([1j]),
                                   np.timedelta64("NaT")], ids=lambda value: type(value).__name__)
def test_other_objects_are_refused_as_options(value):
    with pytest.raises(TypeError, match="rate"):
        ios.uri("sim:", rate=value)


@pytest.mark.parametrize("samples", [np.int64(-1), -1, 2.5, float("nan"), float("inf"), 2**80])
def test_the_error_of_an_invalid_number_names_the_option(samples):
    with pytest.raises(ios.UsageError, match="samples"):
        ios.source("sim:", samples=samples)


def test_thresholds_and_channels_accept_numpy_numbers():
    done = ios.stream("sim:", "null:", rate=0, samples=1000)
    assert ios.check(done, max_gaps=np.int64(0), max_lost=np.uint32(0), min_rate=np.float32(1)) is done
    with pytest.raises(ios.UsageError, match="max_gaps"):
        ios.check(done, max_gaps=-1)
    assert len(ios.Format.parse("ci16_le", np.int64(4)).channels) == 4
    with ios.source("sim:", rate=0, samples=100) as rx:
        block = next(rx)
        assert (block.channel(np.int64(1)) == block.array[:, 1]).all()
        assert (block.channel(-1) == block.array[:, 1]).all()


def mistakes(folder):
    """Returns calls with wrong arguments, each with a word that its error must contain."""
    rx, tx = ios.source("sim:", rate=0), ios.sink("null:")
    block, empty = next(rx), tx.take()
    file = pathlib.Path(folder) / "a.ci16"
    return [
        (lambda: block.channel(1.5), "float"), (lambda: block.channel(None), "NoneType"),
        (lambda: block.channel(2**70), "fit"), (lambda: block.channel(), "which"),
        (lambda: block.convert(3), "format"), (lambda: block.convert("x", 2), "convert"),
        (lambda: block.iq(1, 2), "iq"), (lambda: block.iq(out=3), "complex64"),
        (lambda: block.release(1), "release"), (lambda: block.copy(1), "copy"),
        (lambda: block.__dlpack__(1), "dlpack"), (lambda: empty.release(1), "release"),
        (lambda: ios.Block(), "source"), (lambda: ios.EmptyBlock(1), "take"), (lambda: ios.Gap(), "Block"),
        (lambda: ios.Time(3), "Block"),
        (lambda: tx.write(3), "int"), (lambda: tx.write([1, 2]), "list"), (lambda: tx.write("ab"), "str"),
        (lambda: tx.put(3), "int"), (lambda: tx.put(block), "Block"), (lambda: tx.put(empty, -1), "-1"),
        (lambda: tx.put(empty, 1.5), "float"), (lambda: tx.take([]), "timeout"),
        (lambda: rx.next(timeout={}), "timeout"), (lambda: rx.next(timeout=-1), "timeout"),
        (lambda: rx.call(3), "3"), (lambda: rx.read(1.5), "float"), (lambda: rx.read(0), "0"),
        (lambda: ios.Format.parse(3), "format"), (lambda: ios.Format.parse("ci16_le", {}), "channels"),
        (lambda: ios.source(3), "int"), (lambda: ios.source("sim:", on_gap=3), "on_gap"),
        (lambda: ios.source("a\udcff"), "UTF-8"), (lambda: ios.sink("null:", format=np.int16), "format"),
        (lambda: ios.device(3), "device"), (lambda: ios.devices(3), "uri"),
        (lambda: ios.attr[3], "attribute"),
        (lambda: ios.attr.set("a/b", {}), "attribute"), (lambda: ios.probe(3), "device"),
        (lambda: ios.tune("iio:x", gain={}), "gain"), (lambda: ios.gadget.up(name=3), "name"),
        (lambda: ios.gadget.down(3), "name"), (lambda: ios.verify(3), "int"),
        (lambda: ios.verify(file, format=3), "format"), (lambda: ios.verify(file, pattern=3), "pattern"),
        (lambda: ios.recover(file, format=3), "format"), (lambda: ios.bench_io(3), "int"),
        (lambda: ios.play(3, "null:"), "int"), (lambda: ios.open_recording(3), "int"),
    ]


def test_mistakes_are_reported_in_pythons_terms(tmp_path):
    for number, (call, word) in enumerate(mistakes(tmp_path)):
        with pytest.raises((TypeError, ValueError, IndexError)) as caught:
            call()
        said = str(caught.value)
        assert word in said, (number, said)
        for foreign in ("incompatible", "C++", "argument types", "_core", "constructor", "arg0", "std::"):
            assert foreign not in said, (number, said)
