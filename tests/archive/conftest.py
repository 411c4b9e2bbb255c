# SPDX-License-Identifier: MIT
"""What the tests of this folder share: the store, and where modules of other folders are."""
import logging
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "python"), str(ROOT / "build" / "python")]

logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line for each request


@pytest.fixture(scope="session")
def store():
    """moto's server with a bucket named board."""
    import s3fs
    from s3_server import serving

    with serving() as made:
        s3fs.S3FileSystem().mkdir("board")
        yield made
