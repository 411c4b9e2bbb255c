# SPDX-License-Identifier: MIT
"""Makes a recording of very many parts, for the measurements of archives."""
import datetime
import json

RATE = 1e6


def copies(seed, parts, samples):
    """Replaces the files in the folder of `seed`, a .sigmf-meta file, with copies of its `samples` samples.

    There are `parts` copies, which follow each other in time, at RATE.
    """
    words, data = json.loads(seed.read_text()), seed.with_suffix(".sigmf-data").read_bytes()
    for file in seed.parent.iterdir():
        file.unlink()
    begin = datetime.datetime.fromisoformat(words["captures"][0]["core:datetime"].rstrip("Z"))
    for number in range(parts):
        at = begin + datetime.timedelta(seconds=number * samples / RATE)
        words["captures"][0]["core:datetime"] = at.isoformat(timespec="microseconds") + "Z"
        words["captures"][0]["core:global_index"] = number * samples
        (seed.parent / f"a.{number:06}.sigmf-meta").write_text(json.dumps(words))
        (seed.parent / f"a.{number:06}.sigmf-data").write_bytes(data)
