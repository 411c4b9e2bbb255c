# SPDX-License-Identifier: MIT
"""Imports the packages that `pip install 'iio-stream[archive]'` installs; names that command if one is
missing."""
from __future__ import annotations

import importlib
from typing import Any

try:
    da: Any = importlib.import_module("dask.array")
    fsspec: Any = importlib.import_module("fsspec")
    delayed: Any = importlib.import_module("dask").delayed
    tokenize: Any = importlib.import_module("dask.base").tokenize
except ImportError as error:
    raise ImportError(f"archives need dask, fsspec and s3fs ({error}): pip install 'iio-stream[archive]'"
                      ) from error
