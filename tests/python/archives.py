# SPDX-License-Identifier: MIT
"""Recordings in parts, and what the simulator says of their samples."""
import json

import numpy as np
from conftest import ramp

import iio_stream as ios

COUNT = 100_000


def record(path, **options):
    """The ramp as ci16_le, in parts of 64 KiB, 16384 samples each."""
    words = {"rate": 0, "samples": COUNT, "block_size": 4096, **options}
    ios.record("sim:", path, file_options={"rotate_bytes": "64Ki"}, **words)


def truth(first, count):
    """These samples of the ramp, (samples, 2)."""
    return np.frombuffer(ramp(first * 4, count * 4), "<i2").reshape(-1, 2)


def iq(values):
    """Of full scale 1.0."""
    return (values.astype(np.float32) / 32768).view(np.complex64)


def edit(meta, change):
    words = json.loads(meta.read_text())
    change(words)
    meta.write_text(json.dumps(words))


def seven_parts(folder):
    """The metadata of a recording with one loss of 300 samples."""
    record(folder / "a.sigmf-meta", drop_at=25_000, drop=300)
    return sorted(folder.glob("*.sigmf-meta"))
