# SPDX-License-Identifier: MIT
"""Boots a board of the lab with a network card that reaches a store on this machine."""
import pathlib
import shlex
import subprocess

from s3_server import KEY, SECRET

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE, THERE = "127.0.0.1", "10.0.2.2"

NETWORK = """
modprobe virtio_net
card=$(basename "$(dirname "$(grep -lx 52:54:00:12:34:56 /sys/class/net/*/address)")")
ip addr add 10.0.2.15/24 dev "$card"
ip link set "$card" up
export HOME=/tmp AWS_ACCESS_KEY_ID={key} AWS_SECRET_ACCESS_KEY={secret}
export AWS_DEFAULT_REGION=us-east-1 AWS_ENDPOINT_URL={url}
"""


def boot(store, script, *options):
    """Returns the output and the status of the board's programs. The status is 97 after a power cut."""
    network = NETWORK.format(key=KEY, secret=shlex.quote(SECRET), url=store.url.replace(HERE, THERE))
    line = [ROOT / "script/vm", "--net", "host", "--timeout", "3000", *options]
    done = subprocess.run([*line, "--", "sh", "-c", network + script], capture_output=True, text=True,
                          timeout=3600, check=False)
    print(done.stdout, done.stderr)
    assert SECRET not in done.stdout + done.stderr
    return done
