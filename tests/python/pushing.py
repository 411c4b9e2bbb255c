# SPDX-License-Identifier: MIT
"""Shared functions of the tests of `iio-stream archive push`."""
import hashlib
import json
import subprocess

import s3fs
from conftest import BUILD, DEADLINE
from s3_server import SECRET

import iio_stream as ios

COMMAND = BUILD / "iio-stream"
PIECE = 16 << 20


def push(folder, url, *options, status=0):
    """Runs `iio-stream archive push`. Returns its JSON output and its stderr."""
    done = subprocess.run([COMMAND, "archive", "push", folder, url, "--json", *options], capture_output=True,
                          text=True, timeout=DEADLINE, check=False)
    assert done.returncode == status, f"{done.returncode}: {done.stdout}{done.stderr}"
    assert SECRET not in done.stdout + done.stderr
    return json.loads(done.stdout) if done.stdout else {}, done.stderr


def digests(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in folder.iterdir() if ".sigmf-" in path.name}


def stored(url):
    store = s3fs.S3FileSystem(skip_instance_cache=True)
    place = url.removeprefix("s3://")
    if not store.exists(place):
        return {}
    return {name.rsplit("/", 1)[1]: hashlib.sha256(store.cat_file(name)).hexdigest()
            for name in store.ls(place)}


def large(folder):
    """Makes a recording that is uploaded in three pieces, the last of which is short. Returns the digests."""
    folder.mkdir()
    ios.record("sim:", folder / "a.sigmf-meta", rate=0, pattern="noise", bytes="40Mi")
    return digests(folder)
