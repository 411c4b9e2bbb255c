# SPDX-License-Identifier: MIT
"""versitygw, a store that keeps objects as plain files. The tests build it from the Go module proxy."""
import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import time

from conftest import BUILD, DEADLINE

GO = shutil.which("go") or "/usr/local/go/bin/go"
HAS_GO = pathlib.Path(GO).exists()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def serving(folder, patch):
    """Runs a server with a bucket named roof and yields the folder of the bucket.

    Sets the environment variables with its address and credentials.
    """
    binary = BUILD / "versitygw"
    if not binary.exists():
        subprocess.run([GO, "install", "github.com/versity/versitygw/cmd/versitygw@latest"], check=True,
                       env={**os.environ, "GOBIN": str(BUILD)})
    port = free_port()
    (folder / "roof").mkdir(parents=True)
    for name, value in {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": "testing",
                        "AWS_SECRET_ACCESS_KEY": "secretsecret", "AWS_DEFAULT_REGION": "us-east-1"}.items():
        patch.setenv(name, value)
    patch.delenv("AWS_PROFILE", raising=False)
    with subprocess.Popen([binary, "--port", f"127.0.0.1:{port}", "posix", folder],
                          env={**os.environ, "ROOT_ACCESS_KEY": "testing", "ROOT_SECRET_KEY": "secretsecret"},
                          stdout=subprocess.DEVNULL) as server:
        try:
            deadline = time.monotonic() + DEADLINE
            while socket.socket().connect_ex(("127.0.0.1", port)) != 0:
                assert time.monotonic() < deadline and server.poll() is None
                time.sleep(0.05)
            yield folder / "roof"
        finally:
            server.terminate()
