# SPDX-License-Identifier: MIT
"""Arrays of every scan type have the right dtype, byte order and values: raw, per channel and converted."""
import numpy as np
import pytest

import iio_stream as ios
from iio_stream import Format

SCANS = ["le:s12/16>>4", "le:s12/16>>0", "be:s16/16>>0", "le:u14/16>>2", "be:u12/16>>4", "le:s24/32>>8",
         "be:s24/32>>0", "le:u24/32>>4", "le:s32/32>>0", "le:s48/64>>8", "be:u64/64>>0",
         "le:s8/8>>0", "le:u8/8>>0"]
MIXED = "le:s12/16>>4,be:u24/32>>8,le:s8/8>>0,le:s64/64>>0"
UNSIGNED = {1: "u1", 2: "u2", 4: "u4", 8: "u8"}


def lanes(channel, count):
    """Returns the lanes pattern of a channel: its number in the top four bits and a counter below."""
    below = channel.bits - 4
    counter = np.arange(count, dtype=np.uint64) & np.uint64((1 << below) - 1)
    return counter | np.uint64((channel.scan_index & 15) << below)


def significant(channel, raw):
    """Returns the significant bits of words in memory as unsigned numbers."""
    native = raw.astype(raw.dtype.newbyteorder("=")).view(UNSIGNED[raw.dtype.itemsize]).astype(np.uint64)
    return native >> np.uint64(channel.shift) & np.uint64((1 << channel.bits) - 1)


def real(channel, bits):
    """Returns the values as floats with a full scale of 1.0."""
    half = 1 << channel.bits - 1
    values = [int(value) for value in bits]
    if channel.number == "signed":
        values = [value - 2 * half if value >= half else value for value in values]
    else:
        values = [value - half for value in values]
    return np.array([value / half for value in values])


@pytest.mark.parametrize("scan", SCANS)
def test_lanes_have_the_right_values_in_every_scan_type(scan):
    formats = ",".join([scan] * 3)
    with ios.source("sim:", format=formats, pattern="lanes", rate=0, samples=5000, block_size=14_400) as rx:
        word = rx.format.channels[0].dtype
        assert word.itemsize * 8 == int(scan.split("/")[1].split(">")[0])
        assert word.kind == ("i" if ":s" in scan else "u")
        assert word.byteorder == (">" if scan.startswith("be") and word.itemsize > 1 else
                                  "=" if word.itemsize > 1 else "|")
        first = 0
        for block in rx:
            assert block.array.dtype == word and block.array.shape == (len(block), 3)
            converted = block.convert("rf64_le")
            assert converted.dtype == np.float64 and converted.shape == (len(block), 3)
            for number, channel in enumerate(rx.format.channels):
                expected = lanes(channel, first + len(block))[first:]
                assert (significant(channel, block.array[:, number]) == expected).all()
                assert (significant(channel, block.channel(channel.id)) == expected).all()
                assert np.allclose(converted[:, number], real(channel, expected), rtol=0, atol=1e-15)
            first += len(block)
        assert first == 5000


def test_samples_of_mixed_scan_types_are_structured_arrays():
    with ios.source("sim:", format=MIXED, pattern="lanes", rate=0, samples=1000) as rx:
        block = next(rx)
        array = block.array
        assert array.shape == (1000,) and array.dtype == rx.format.dtype
        assert array.dtype.itemsize == rx.format.sample_bytes == 24
        assert [array.dtype.fields[channel.id][1] for channel in rx.format.channels] == [0, 4, 8, 16]
        assert [array.dtype[number].str for number in range(4)] == ["<i2", ">u4", "|i1", "<i8"]
        for channel in rx.format.channels:
            expected = lanes(channel, 1000)
            assert (significant(channel, array[channel.id]) == expected).all()
            view = block.channel(channel.id)
            assert view.strides == (24,) and (significant(channel, view) == expected).all()
        assert np.asarray(block).dtype == array.dtype  # uses the format of the buffer protocol
        assert memoryview(block).itemsize == 24


def test_repeated_values_are_subarrays():
    with ios.source("sim:", format="le:s16/16X3>>0,le:s32/32>>0", pattern="ramp", rate=0, samples=10) as rx:
        array = next(rx).array
        assert array.dtype["channel0"].shape == (3,) and array["channel0"].shape == (10, 3)
        assert np.asarray(next(iter([array])))["channel1"].dtype == np.int32


@pytest.mark.parametrize("name", ["ci8", "cu8", "ci16_le", "ci16_be", "cu16_le", "ci32_le", "ci32_be"])
@pytest.mark.parametrize("channels", [2, 6])
def test_iq_has_a_full_scale_of_one(name, channels):
    with ios.source("sim:", format=name, channels=channels, pattern="lanes", rate=0, samples=3000) as rx:
        block = next(rx)
        iq = block.iq()
        pairs = channels // 2
        assert iq.dtype == np.complex64 and iq.shape == ((len(block),) if pairs == 1 else (len(block), pairs))
        held = iq.reshape(len(block), pairs)
        for pair in range(pairs):
            i, q = (real(c, lanes(c, len(block))) for c in rx.format.channels[2 * pair:2 * pair + 2])
            assert np.allclose(held[:, pair].real, i, rtol=1e-6, atol=1e-7)
            assert np.allclose(held[:, pair].imag, q, rtol=1e-6, atol=1e-7)
        assert iq.flags.writeable and iq.flags.owndata
        del block
        assert rx.held == 0


def test_a_tone_has_the_right_frequency_and_level():
    with ios.source("sim:", pattern="tone", rate="1M", frequency=125_000, samples=4096,
                    block_size=16384) as rx:
        spectrum = np.fft.fft(next(rx).iq()) / 4096
    peak = int(np.argmax(abs(spectrum)))
    assert peak == 4096 // 8
    assert 20 * np.log10(abs(spectrum[peak])) == pytest.approx(-6, abs=0.01)


@pytest.mark.parametrize("name", ["cf32_le", "cf32_be"])
def test_floats_become_complex_unchanged(name):
    with ios.source("sim:", format=name, pattern="tone", rate="1M", samples=100) as rx:
        block = next(rx)
        raw = block.array
        assert raw.dtype == np.dtype(("<" if name.endswith("le") else ">") + "f4")
        assert (block.iq() == raw[:, 0] + 1j * raw[:, 1]).all()


def test_iq_refuses_real_channels():
    with ios.source("sim:", format="ri16_le", rate=0, samples=10) as rx, \
            pytest.raises(ios.UsageError, match="not I/Q pairs"):
        next(rx).iq()


def test_formats_are_parsed_by_name():
    format = Format.parse("ci16_be", 4)
    assert [c.component for c in format.channels] == ["in_phase", "quadrature"] * 2
    assert format.dtype == np.dtype(">i2") and format.is_uniform and format.sample_bytes == 8
    assert format.sample_rate is None
    assert Format.parse("le:s12/16>>4", "a").channels[0].shift == 4
    with pytest.raises(ios.UsageError, match="is not a sample format"):
        Format.parse("ci17_le")
