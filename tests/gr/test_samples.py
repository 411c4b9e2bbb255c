# SPDX-License-Identifier: MIT
"""Samples are passed on bit for bit, with each type of port, scan type, number of channels and vector
length."""
import re

import numpy as np
import pytest
from conftest import Received, ramp

COUNT = 30_000
SCANS = ["le:s16/16>>0", "be:s16/16>>0", "le:s12/16>>0", "le:s12/16>>4", "be:s14/16>>2", "le:u12/16>>4",
         "le:s24/32>>0", "be:u24/32>>8", "le:s32/32>>0", "le:u8/8>>0"]


def lane(bits, channel, count, signed):
    """Returns the lanes pattern as numbers: the channel in the top four bits and a counter below."""
    below = bits - 4
    raw = np.int64(channel) << below | np.arange(count, dtype=np.int64) & ((1 << below) - 1)
    half = 1 << bits - 1
    return (raw ^ half) - half if signed else raw - half


def as_float(values, bits):
    return (values / 2.0 ** (bits - 1)).astype(np.float32)


def as_s16(values, bits):
    if bits <= 16:
        return (values << 16 - bits).astype(np.int16)
    drop = bits - 16
    return np.minimum((values + (1 << drop - 1)) >> drop, 32767).astype(np.int16)


@pytest.mark.parametrize("type", ["fc32", "sc16", "f32", "s16"])
@pytest.mark.parametrize("scan", SCANS)
def test_every_scan_type_is_converted_correctly(scan, type):
    number, bits = re.match(r"..:(.)(\d+)", scan).groups()
    made = Received(f"sim:?rate=0&pattern=lanes&format={','.join([scan] * 4)}", type, samples=COUNT,
                    ports=2 if type in ("fc32", "sc16") else 4)
    lanes = [lane(int(bits), channel, COUNT, number == "s") for channel in range(4)]
    expected = [(as_float if type in ("fc32", "f32") else as_s16)(values, int(bits)) for values in lanes]
    if type in ("f32", "s16"):
        assert all((got == want).all() for got, want in zip(made.ports, expected, strict=True))
        return
    for port, got in enumerate(made.ports):
        i, q = (got.real, got.imag) if type == "fc32" else (got[:, 0], got[:, 1])
        assert len(got) == COUNT
        assert (i == expected[2 * port]).all() and (q == expected[2 * port + 1]).all()


@pytest.mark.parametrize("pairs", [1, 2, 3, 8])
@pytest.mark.parametrize("type", ["fc32", "sc16"])
def test_the_ramp_arrives_on_any_number_of_ports(pairs, type):
    made = Received(f"sim:?rate=0&channels={2 * pairs}", type, samples=COUNT, ports=pairs)
    values = ramp(2 * pairs * COUNT).reshape(COUNT, pairs, 2)
    for port, got in enumerate(made.ports):
        if type == "fc32":
            wanted = values[:, port].astype(np.float32) / np.float32(32768)
            assert (got == wanted[:, 0] + np.complex64(1j) * wanted[:, 1]).all()
        else:
            assert (got == values[:, port]).all()


@pytest.mark.parametrize("vlen", [2, 7, 1024, 10_000])
def test_vectors_have_consecutive_samples_across_blocks(vlen):
    made = Received("sim:?rate=0", "sc16", vlen, samples=COUNT)
    whole = COUNT // vlen * vlen
    assert (made.ports[0].reshape(-1) == ramp(2 * whole)).all() and len(made.ports[0]) == whole
    assert made.said("ended")[0]["left_over"] == COUNT - whole


def test_a_raw_file_is_received_to_its_end(tmp_path):
    path = tmp_path / "counted.bin"
    words = np.zeros(1000, dtype=[("i", "<i2"), ("q", "<i2")])
    words["i"], words["q"] = np.arange(1000), -np.arange(1000)
    path.write_bytes(words.tobytes())
    made = Received(f"file:{path}?format=ci16_le&rate=1000", "sc16")
    assert (made.ports[0] == np.stack([words["i"], words["q"]], axis=1)).all()
    assert made.said("ended")[0]["ended"] == "eof"


def test_floats_are_unchanged(tmp_path):
    path = tmp_path / "noise.cf32"
    noise = np.random.default_rng(1).normal(size=(5000, 2)).astype("<f4")
    path.write_bytes(noise.tobytes())
    made = Received(f"file:{path}?rate=1000", "fc32")
    assert made.ports[0].tobytes() == noise.tobytes()


def test_blocks_can_be_small_and_few():
    made = Received("sim:?rate=0", "sc16", samples=COUNT, buffer_size=2048, buffers=2)
    assert (made.ports[0].reshape(-1) == ramp(2 * COUNT)).all()


@pytest.mark.parametrize("type", ["fc32", "sc16"])
def test_complex_ports_refuse_real_channels(type):
    with pytest.raises(ValueError, match="not I/Q pairs.*iq=on"):
        Received("sim:?rate=0&format=ri16_le&channels=2", type, samples=COUNT)
