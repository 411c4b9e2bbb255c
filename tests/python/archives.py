# SPDX-License-Identifier: MIT
"""Helpers that make recordings in parts, and return the samples that the parts must contain."""
import json
import subprocess

import numpy as np
from conftest import BUILD, DEADLINE, ramp

import iio_stream as ios

COUNT = 100_000
INDEX = "iio-stream-index.jsonl"


def record(path, **options):
    """Records the ramp as ci16_le, in parts of 64 KiB, which are 16384 samples."""
    words = {"pattern": "ramp", "rate": 0, "samples": COUNT, "block_size": 4096, **options}
    ios.record("sim:", path, file_options={"rotate_bytes": "64Ki"}, **words)


def truth(first, count):
    """Returns samples of the ramp, with shape (count, 2)."""
    return np.frombuffer(ramp(first * 4, count * 4), "<i2").reshape(-1, 2)


def iq(values):
    """Converts values to complex samples with a full scale of 1.0."""
    return (values.astype(np.float32) / 32768).view(np.complex64)


def edit(meta, change):
    words = json.loads(meta.read_text())
    change(words)
    meta.write_text(json.dumps(words) + "\n")  # in the form that the recorder writes


def seven_parts(folder):
    """Makes a recording with one loss of 300 samples. Returns the paths of its metadata."""
    record(folder / "a.sigmf-meta", drop_at=25_000, drop=300)
    return sorted(folder.glob("*.sigmf-meta"))


def command(verb, place, *options, status=0):
    """Runs `iio-stream archive`. Returns its JSON output, or None without any, and its stderr."""
    done = subprocess.run([BUILD / "iio-stream", "archive", verb, place, "--json", *options],
                          capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert done.returncode == status, f"{done.returncode}: {done.stdout}{done.stderr}"
    return json.loads(done.stdout) if done.stdout else None, done.stderr


def index(place, **expected):
    """Writes the index, and checks the expected values in the JSON output."""
    said, err = command("index", place)
    assert not err and {key: said[key] for key in expected} == expected
    return said


def told(found):
    """Returns the output that `iio-stream archive list` must print for an archive that Python has opened."""
    def utc(one):
        at = one.utc_ns(one.start)
        return None if at is None else f"{np.datetime64(at, 'ns')}".rstrip("0").rstrip(".") + "Z"

    return [{"name": one.name, "begin": utc(one), "device": one.device or None, "frequency": one.frequency,
             "sample_rate": one.sample_rate, "sample_format": one.format.name, "first_index": one.start,
             "samples": sum(part.samples for part in one.parts), "parts": len(one.parts),
             "bytes": sum(part.samples for part in one.parts) * one.format.sample_bytes,
             "gaps": {"certain": sum(gap.lost_min > 0 for gap in one.gaps),
                      "possible": sum(gap.lost_min == 0 for gap in one.gaps),
                      "lost_min": sum(gap.lost_min for gap in one.gaps),
                      "lost_max": None if any(gap.lost_max is None for gap in one.gaps)
                      else sum(gap.lost_max for gap in one.gaps)}} for one in found]
