# SPDX-License-Identifier: MIT
"""Recordings in parts, and what the simulator says of their samples."""
import json
import subprocess

import numpy as np
from conftest import BUILD, DEADLINE, ramp

import iio_stream as ios

COUNT = 100_000
INDEX = "iio-stream-index.jsonl"


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
    meta.write_text(json.dumps(words) + "\n")  # as the recorder writes it


def seven_parts(folder):
    """The metadata of a recording with one loss of 300 samples."""
    record(folder / "a.sigmf-meta", drop_at=25_000, drop=300)
    return sorted(folder.glob("*.sigmf-meta"))


def command(verb, place, *options, status=0):
    """What `iio-stream archive` says of itself in JSON (None if that is nothing), and on stderr."""
    done = subprocess.run([BUILD / "iio-stream", "archive", verb, place, "--json", *options],
                          capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert done.returncode == status, f"{done.returncode}: {done.stdout}{done.stderr}"
    return json.loads(done.stdout) if done.stdout else None, done.stderr


def index(place, **expected):
    """Has it written; what is expected of what it says."""
    said, err = command("index", place)
    assert not err and {key: said[key] for key in expected} == expected
    return said


def told(found):
    """What `iio-stream archive list` should say of an archive that Python has opened."""
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
