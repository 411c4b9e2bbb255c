# SPDX-License-Identifier: MIT
# guest: ordinary
"""The package's udev rules give users in plugdev access, applied by udev itself.

    script/vm -- /usr/bin/python3 -m pytest -q tests/vm/test_udev.py
"""
import grp
import json
import pathlib
import shutil
import subprocess

import pytest
from conftest import ADC, DAC, sim

PHY = "iios-sim-phy"
RULES = pathlib.Path(__file__).resolve().parents[2] / "packaging/70-iio-stream.rules"
RUNTIME = pathlib.Path("/run/udev/rules.d")


@pytest.fixture
def rules():
    """Runs udevd with the rules, and waits until it has handled all devices. Its changes disappear with the
    simulator's devices."""
    sim()
    RUNTIME.mkdir(parents=True, exist_ok=True)
    shutil.copy(RULES, RUNTIME)
    subprocess.run(["/lib/systemd/systemd-udevd", "--daemon"], check=True, timeout=60)
    for words in (["trigger", "--action=add", *(f"--subsystem-match={name}" for name in ("iio", "misc", "dma_heap"))],
                  ["settle", "--timeout=60"]):
        subprocess.run(["udevadm", *words], check=True, timeout=90)
    yield
    subprocess.run(["udevadm", "control", "--exit"], check=True, timeout=60)
    (RUNTIME / RULES.name).unlink()


def as_member(*groups, words):
    groups = ["--groups=" + ",".join(str(grp.getgrnam(name).gr_gid) for name in groups)] if groups else ["--clear-groups"]
    return subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", *groups, "iio-stream", *words.split()],
                          capture_output=True, text=True, timeout=60, check=False)


def test_only_users_in_plugdev_can_capture_play_and_tune(rules):
    words = f"stream iio:{ADC} channels=voltage0_i,voltage0_q verify:ramp --samples 100000 --json"
    done = as_member("plugdev", words=words)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["route"][0]["mechanism"] == "dmabuf"
    played = as_member("plugdev", words=f"stream sim:?channels=4 iio:{DAC} --samples 100000 --json")
    assert played.returncode == 0, played.stderr
    tuned = as_member("plugdev", words=f"attr set {PHY}/in_voltage0/hardwaregain 10")
    assert tuned.returncode == 0, tuned.stderr
    refused = as_member(words=words)
    assert refused.returncode == 3 and "Permission denied" in refused.stderr and "iio-stream doctor" in refused.stderr
