# SPDX-License-Identifier: MIT
"""Provides an S3 store for the tests of this folder, and makes modules of other folders importable."""
import logging
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "python"), str(ROOT / "build" / "python")]

logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it logs a line for each request


@pytest.fixture(scope="session")
def store():
    """Runs moto's server with a bucket named board."""
    import s3fs
    from s3_server import serving

    with serving() as made:
        s3fs.S3FileSystem().mkdir("board")
        yield made
