# SPDX-License-Identifier: MIT
"""write() accepts only arrays of the right shape. The error for a wrong shape contains the expected shape."""
import array

import numpy as np
import pytest

import iio_stream as ios

N = 1000


def written(tmp_path, samples, **options):
    file = tmp_path / "a.bin"
    with ios.sink(ios.uri(file, overwrite=True), **options) as tx:
        count = tx.write(samples)
    return count, file.read_bytes()


@pytest.mark.parametrize("shape", [(2, N), (N, 1), (N, 3), (N, 2, 1), (1, N, 2), (N + 1,), ()])
def test_arrays_with_another_shape_than_the_channels_are_refused(shape):
    shape = shape if shape != (N + 1,) else (2 * N + 1,)
    with ios.sink("null:") as tx:
        with pytest.raises(ValueError) as caught:
            tx.write(np.zeros(shape, np.int16))
        assert str(shape) in str(caught.value) and "(samples, 2)" in str(caught.value)
        assert (".T" in str(caught.value)) == (shape == (2, N))
        assert tx.stats.samples == 0


@pytest.mark.parametrize("shape", [(N, 2), (2, N), (N, 1, 1), (N + 1, 4)])
def test_complex_arrays_of_the_wrong_shape_are_refused(shape):
    with ios.sink("null:", format="cf32_le") as tx, pytest.raises(ValueError, match="1 I/Q pair"):
        tx.write(np.zeros(shape, np.complex64))


def test_rows_and_flat_arrays_are_the_same_samples(tmp_path):
    samples = np.arange(2 * N, dtype="<i2").reshape(N, 2)
    for same in (samples, samples.reshape(-1), np.asfortranarray(samples), samples.tobytes(),
                 memoryview(samples), array.array("h", samples.tobytes()), samples[::-1][::-1]):
        assert written(tmp_path, same) == (N, samples.tobytes())


def test_shapes_for_several_pairs_and_for_one_channel(tmp_path):
    pairs = (np.arange(2 * N) + 1j).astype(np.complex64).reshape(N, 2)
    four = ios.Format.parse("cf32_le", 4)
    for same in (pairs, pairs.reshape(-1)):
        assert written(tmp_path, same, format=four) == (N, pairs.tobytes())
    with pytest.raises(ValueError, match=r"2 I/Q pairs .*\.T"):
        written(tmp_path, pairs.T, format=four)
    one = np.arange(N, dtype="<i2")
    for same in (one, one.reshape(N, 1)):
        assert written(tmp_path, same, format="ri16_le") == (N, one.tobytes())
    with pytest.raises(ValueError, match="1 channel"):
        written(tmp_path, one.reshape(1, N), format="ri16_le")


def test_buffers_of_other_types_and_masked_arrays_are_refused():
    with ios.sink("null:") as tx:
        with pytest.raises(TypeError, match="float64"):
            tx.write(array.array("d", [1.0, 2.0]))
        with pytest.raises(ValueError, match=r"\(2, 1000\)"):
            tx.write(memoryview(np.zeros((2, N), np.int16)))
        with pytest.raises(TypeError, match="masked"):
            tx.write(np.ma.masked_array(np.zeros((2, 2), np.int16), [[0, 1], [0, 0]]))


@pytest.mark.parametrize("pairs", [1, 3])
def test_iq_fills_the_array_that_it_is_given(pairs):
    with ios.source("sim:", pattern="lanes", channels=2 * pairs, rate=0, samples=N, format="ci16_le") as rx:
        block = next(rx)
        shape = (N,) if pairs == 1 else (N, pairs)
        raw = block.array.astype(float) / 32768
        expected = (raw[:, ::2] + 1j * raw[:, 1::2]).reshape(shape)
        ring = np.zeros((3, *shape), np.complex64)
        assert block.iq(out=ring[1]).base is ring
        assert np.allclose(ring[1], expected, rtol=0, atol=1e-6) and not ring[::2].any()
        fixed = np.zeros(shape, np.complex64)
        fixed.setflags(write=False)
        swapped = np.zeros(shape, ">c8")
        for wrong in (np.zeros(shape), np.zeros(shape, np.complex128), np.zeros((N + 1, *shape[1:]), "c8"),
                      fixed, swapped, np.zeros((2 * N, *shape[1:]), "c8")[::2], [0j] * N,
                      np.zeros(2 * N, "f4")):
            with pytest.raises((TypeError, ValueError), match=r"iq\(out=\) takes"):
                block.iq(out=wrong)
