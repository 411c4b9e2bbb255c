# SPDX-License-Identifier: MIT
"""A recording of very many parts, for what measures archives."""
import json


def copies(seed, parts, samples):
    """The folder of `seed`, a .sigmf-meta, then holds `parts` copies of its `samples`, one after another."""
    words, data = json.loads(seed.read_text()), seed.with_suffix(".sigmf-data").read_bytes()
    for file in seed.parent.iterdir():
        file.unlink()
    for number in range(parts):
        words["captures"][0]["core:global_index"] = number * samples
        (seed.parent / f"a.{number:06}.sigmf-meta").write_text(json.dumps(words))
        (seed.parent / f"a.{number:06}.sigmf-data").write_bytes(data)
