# SPDX-License-Identifier: MIT
"""Debian's gqrx, without a screen, receives the tone of sim: through the module and gr-osmosdr."""
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys

import pytest
import soapy_radio  # noqa: F401  # for SOAPY_SDR_PLUGIN_PATH

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from counts import FULL  # noqa: E402
from waiting import until  # noqa: E402

pytestmark = [
    pytest.mark.skipif(not FULL, reason="runs with --full"),
    pytest.mark.skipif(not all(map(shutil.which, ("gqrx", "Xvfb", "pulseaudio"))),
                       reason="gqrx, Xvfb or pulseaudio is not installed (script/install gqrx)")]

CONFIG = """[General]
configversion=3
crashed=false

[input]
device="soapy=0,driver=iiostream,uri=sim:,pattern=tone"
frequency=100000000
sample_rate=1000000

[remote_control]
enabled=true
allowed_hosts=127.0.0.1
port={port}
"""


@contextlib.contextmanager
def running(*words, **options):
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, **options)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def screen(log):
    """Starts an X server and yields the number of its display."""
    ours, servers = os.pipe()
    with running("Xvfb", "-displayfd", str(servers), "-screen", "0", "1200x800x24", pass_fds=[servers],
                 stdout=log, stderr=log):
        os.close(servers)
        with os.fdopen(ours) as numbers:
            yield numbers.readline().strip()


def connected(port):
    try:
        return socket.create_connection(("127.0.0.1", port), 5)
    except OSError:
        return None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Remote:
    """gqrx's remote control."""

    def __init__(self, port):
        self.lines = until(lambda: connected(port), "gqrx's remote control").makefile("rw")

    def __call__(self, command):
        self.lines.write(f"{command}\n")
        self.lines.flush()
        return self.lines.readline().strip()

    def strength(self, frequency):
        """Tunes to the frequency and returns the strength of the signal in dBFS."""
        assert self(f"F {frequency}") == "RPRT 0"
        assert self("f") == str(frequency)
        return float(self("l STRENGTH"))


def test_gqrx_receives_the_tone_at_its_frequency(tmp_path):
    port = free_port()
    (tmp_path / "gqrx").mkdir()
    (tmp_path / "gqrx" / "tone.conf").write_text(CONFIG.format(port=port))
    tmp_path.chmod(0o700)
    with (tmp_path / "log").open("w") as log, screen(log) as display:
        words = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path),
                 "XDG_RUNTIME_DIR": str(tmp_path), "DISPLAY": f":{display}", "QT_X11_NO_MITSHM": "1"}
        output = {"env": words, "stdout": log, "stderr": log}
        with running("pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "-L", "module-null-sink",
                     "-L", "module-native-protocol-unix", **output):
            until(lambda: (tmp_path / "pulse" / "native").exists(), "the sound server")
            with running("gqrx", "-c", "tone.conf", **output):
                gqrx = Remote(port)
                assert gqrx("U DSP 1") == "RPRT 0"
                # The tone is a tenth of the rate above the frequency of the hardware.
                until(lambda: gqrx.strength(100_100_000) > -30, "the tone")
                until(lambda: gqrx.strength(100_300_000) < -50, "no tone elsewhere")
