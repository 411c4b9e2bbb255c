# SPDX-License-Identifier: MIT
"""Reads recordings with SigMF's own package (`sigmf` on PyPI) and compares the samples.

    python3 tests/cli/sigmf_reader.py RECORDING.sigmf-meta…

Prints one line of JSON for each recording: the counts of the package's reader, and whether the samples that it
returns are equal to those of the data file. Any complaint from the package or its validator, even a warning,
is an error. This script runs in a Python that has the package. This Python can differ from the one that runs
the tests.
"""
import json
import pathlib
import sys
import warnings

import numpy
import sigmf
from sigmf import sigmffile, validate


def values_of(path, metadata):
    """Returns the values of the data file, one row per sample. Only the text of the datatype determines how
    they are decoded."""
    name = metadata["global"]["core:datatype"]
    kind, size, order = name[1], name[2:].split("_")[0], name[-3:]
    dtype = numpy.dtype({"_le": "<", "_be": ">"}.get(order, "|") + kind + str(int(size) // 8))
    values = numpy.fromfile(path, dtype).astype(numpy.float32)
    width = metadata["global"].get("core:num_channels", 1)
    return values.reshape(-1, width * (2 if name[0] == "c" else 1))


def look_at(path):
    metadata = json.loads(path.read_text())
    validate.validate(metadata)
    signal = sigmffile.fromfile(path, autoscale=False)
    signal.validate()
    wanted = values_of(path.with_suffix(".sigmf-data"), metadata)
    same = signal.sample_count == len(wanted)
    segments = []
    if len(wanted):
        # The reader may return another shape, but the number of values per sample is the same.
        found = numpy.ascontiguousarray(signal.read_samples()).view(numpy.float32)
        same = same and numpy.array_equal(found.reshape(wanted.shape), wanted)
        segments = [signal.read_samples_in_capture(i).shape[0]
                    for i in range(len(signal.get_captures()))]
    return {"samples": signal.sample_count, "same": bool(same), "captures": segments,
            "annotations": len(signal.get_annotations())}


if __name__ == "__main__":
    warnings.simplefilter("error")
    print(json.dumps({"sigmf": sigmf.__version__}))
    for argument in sys.argv[1:]:
        print(json.dumps(look_at(pathlib.Path(argument))))
