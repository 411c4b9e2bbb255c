# SPDX-License-Identifier: MIT
"""Reads a recording's files and its metadata's claims, and validates the metadata with PyPI's `sigmf`."""
import json
import warnings

import numpy as np
import sigmf
from sigmf import sigmffile

import run


class Part:
    """One data file and its metadata. Gaps are tuples (from, to, lost_min, lost_max, evidence)."""

    def __init__(self, name, path, meta):
        self.name, self.path, self.meta_path = name, path, meta
        self.data = np.fromfile(path, np.uint8) if path.exists() else np.zeros(0, np.uint8)
        self.meta = json.loads(meta.read_text()) if meta else None
        self.gaps, self.filled, self.captures = [], [], []
        if not self.meta:
            return
        for a in self.meta["annotations"]:
            begin = a["core:sample_start"]
            if "iio_stream:filled" in a:
                self.filled.append((begin, begin + a["iio_stream:filled"]))
            elif "iio_stream:lost_min" in a:
                most = a["iio_stream:lost_max"]
                self.gaps.append((begin, begin + a.get("core:sample_count", 0), a["iio_stream:lost_min"],
                                  float("inf") if most is None else most, a["iio_stream:evidence"]))
        for c in self.meta["captures"]:
            exact = c.get("iio_stream:index_exact", True)
            self.captures.append((c["core:sample_start"], c.get("core:global_index", 0), exact,
                                  c.get("core:datetime")))

    @property
    def state(self):
        return self.meta["global"].get("iio_stream:state") if self.meta else None


def parts_of(out, number, sink):
    """Returns the parts of the recording that a sink left behind, in order."""
    name = run.name_of(sink, number)
    rotated = "rotate_bytes" in sink or "rotate_time" in sink
    if sink["kind"] == "sigmf":
        metas = out.folder.glob(name + (".[0-9]*" if rotated else "") + ".sigmf-meta")
        return [Part(m.name, m.with_suffix(".sigmf-data"), m) for m in sorted(metas)]
    stem, _, suffix = name.partition(".")
    paths = sorted(out.folder.glob(f"{stem}.[0-9]*.{suffix}")) if rotated else [out.folder / name]
    return [Part(p.name, p, None) for p in paths if p.exists()]


def accepted(part):
    """Returns the problem that PyPI's package finds in a recording, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            signal = sigmffile.fromfile(part.meta_path, autoscale=False)
            signal.validate()
        count = signal.sample_count
    except Exception as error:  # any failure of another program is a finding
        return f"sigmf {sigmf.__version__}: {type(error).__name__}: {error}"
    said = part.meta["global"].get("iio_stream:samples")
    return None if said is None or said == count else f"{said} samples by iio_stream:samples, {count} by the package"
