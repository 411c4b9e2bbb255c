# SPDX-License-Identifier: MIT
"""read() returns as many samples as requested, whatever the block size is, with the gaps between them."""
import numpy as np
import pytest
from conftest import ramp

import iio_stream as ios


@pytest.mark.parametrize("count", [1, 1000, 1024, 4097, 100_000])
def test_successive_reads_return_consecutive_samples(count):
    total = 10_000 if count == 1 else 50_000
    with ios.source("sim:", rate=0, samples=total, block_size=4096, blocks=4) as rx:
        parts, index = [], 0
        while len(part := rx.read(count)):
            assert part.sample_index == index and part.index_exact and part.gaps == ()
            assert part.array.flags.writeable and np.asarray(part) is part.array
            index += len(part)
            parts.append(part.array)
        assert [len(part) for part in parts[:-1]] == [count] * (len(parts) - 1)
        assert rx.ended and rx.held == 0
    assert np.concatenate(parts).tobytes() == ramp(0, 4 * total)


def test_read_returns_complex_numbers_with_iq():
    with ios.source("sim:", rate=0, samples=3000, block_size=4096, blocks=4) as rx:
        raw = np.frombuffer(ramp(0, 12_000), "<i2").reshape(-1, 2) / 32768
        read = [rx.read(700, iq=True), rx.read(700), rx.read(2000, iq=True)]
        assert [part.array.dtype.name for part in read] == ["complex64", "int16", "complex64"]
        for part, begin in zip(read, (0, 700, 1400)):
            values = part.array if part.array.ndim == 1 else (part.array / 32768) @ [1, 1j]
            expected = raw[begin:begin + len(part)] @ [1, 1j]
            assert np.allclose(values, expected, rtol=0, atol=1e-6)
        assert rx.read(1, iq=True).array.shape == (0,)


@pytest.mark.parametrize("count", [700, 25_000, 40_000])
def test_a_loss_is_reported_at_its_sample(count):
    with ios.source("sim:", rate=0, drop_at=25_000, drop=300, samples=40_000, block_size=4096) as rx:
        read = []
        while len(part := rx.read(count)):
            read.append(part)
    samples = np.concatenate([part.array for part in read])
    assert samples.tobytes() == ramp(0, 100_000) + ramp(4 * 25_300, 60_000)
    found, before = [], 0
    for part in read:
        found += [(before + gap.offset_min, before + gap.offset_max, gap.lost_min) for gap in part.gaps]
        if before > 25_000:
            assert part.sample_index == before + 300
        before += len(part)
    assert set(found) == {(25_000, 25_000, 300)} and 1 <= len(found) <= 2


def test_zeros_in_place_of_losses_are_reported_at_their_samples():
    """The position of the second loss includes the zeros of the first one."""
    with ios.source("sim:", rate="2M", drop_at=5000, drop=300, stall_at=12_000, stall_for="100ms",
                    samples=20_000, on_gap="zero-fill", block_size=16384, blocks=4) as rx:
        read = rx.read(20_000)
    first, second = read.gaps
    assert (first.offset_min, first.offset_max, first.lost_min) == (5000, 5000, 300)
    assert second.offset_min == second.offset_max == 12_000 and second.lost_min > 8000
    for begin, end in ((5000, 5300), (12_000, 20_000)):
        assert not read.array[begin:end].any() and read.array[begin - 4:begin].any()
    assert read.array[5300:5304].any()


@pytest.mark.parametrize("on_gap, ends", [("zero-fill", [256, 500, 3512, 3768, 3900]), ("stop", [256, 500])])
def test_a_partial_block_has_the_time_of_its_own_last_sample(on_gap, ends):
    """The blocks have 256 samples. The second one has the loss, and the limit is within the last one."""
    loss = {"drop_at": 500, "drop": 3000, "on_gap": on_gap}
    with ios.source("sim:", rate="100k", block_size=1024, samples=3900, **loss) as rx:
        found = [(block.sample_index + len(block), block.time.ns) for block in rx if block.time]
    assert [end for end, _ in found] == ends
    begin = found[0][1] - 256 * 10_000
    for end, ns in found:
        assert abs(ns - begin - end * 10_000) < 100_000


def test_a_read_that_times_out_loses_no_sample():
    with ios.source("sim:", pattern="ramp", rate="100k", block_size=4096, blocks=8, samples=20_000) as rx:
        got = [rx.read(1 << 20, timeout="30ms").array for _ in range(3)]
        got.append(rx.read(1 << 20).array)
    assert np.concatenate(got).tobytes() == ramp(0, 80_000)


def test_next_is_refused_while_a_block_is_partly_read():
    with ios.source("sim:", rate=0, samples=3000, block_size=4096, blocks=4) as rx:
        rx.read(1000)
        for take in (rx.next, rx.__next__):
            with pytest.raises(ValueError, match="24 samples of a block have not been read yet"):
                take()
        rx.read(24)
        assert next(rx).sample_index == 1024


def test_an_error_is_raised_after_the_last_sample():
    with ios.source("sim:", rate=0, unplug_at=10_000, block_size=4000, blocks=4) as rx:
        assert len(rx.read(20_000)) == 10_000
        for _ in range(2):
            with pytest.raises(ios.DeviceError):
                rx.read(20_000)


def test_read_returns_structured_arrays():
    with ios.source("sim:", format="le:s12/16>>4,be:u24/32>>8", pattern="lanes", rate=0, samples=10) as rx:
        read = rx.read(10)
        assert read.array.shape == (10,) and read.array["channel1"].dtype == ">u4"
        assert rx.read(1).array.dtype == read.array.dtype
