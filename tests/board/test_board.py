# SPDX-License-Identifier: MIT
"""Tests a board as its user gets it: the disk image that script/board makes, booted on the emulated ZCU102
with Debian's own kernel.

One boot does what a user does without root. A second boot does what root does: it upgrades the packages while
their services stream. The guest's complete logs are kept in build/board."""
import base64
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import counts  # noqa: E402

pytestmark = [pytest.mark.skipif(not counts.FULL or os.geteuid() != 0, reason="needs --full and root; takes half an hour"),
              pytest.mark.timeout(7200)]

IMAGE = ROOT / "build" / "board-bookworm.ext4"
LOGS = ROOT / "build" / "board"
PACKAGES = ROOT / "build" / "deb-bookworm-arm64"
UNITS = "iio-stream-gadget.service iio-stream@iios-sim-adc.service"

# Each answer begins with its own header line.
AS_USER = f"""
say() {{ printf '\\n== %s\\n' "$1"; }}
say first; python3 -B -c 'import iio_stream as ios
print(next(iter(ios.source("iio:iios-sim-adc2", samples=1000))).array.shape)'
say uptime; cut -d' ' -f1 /proc/uptime
say groups; id -nG
say units; systemctl is-active {UNITS} || true
say capture; python3 -B /usr/share/doc/python3-iio-stream/examples/capture.py iio:iios-sim-adc2
say spectrum; python3 -B /usr/share/doc/python3-iio-stream/examples/spectrum.py iio:iios-sim-adc2
say record; iio-stream record iio:iios-sim-adc2 a.sigmf-meta --bytes 64Mi --json
say verify; iio-stream verify --pattern ramp a.sigmf-meta --json
say doctor; iio-stream doctor --json
say usb; iio-stream record usb: b.sigmf-meta --bytes 8Mi --json
say usb_verify; iio-stream verify --pattern ramp b.sigmf-meta --json
say picture; PYTHONDONTWRITEBYTECODE=1 iio-stream view a.sigmf-meta -o a.png >/dev/null && base64 -w0 a.png
say journal; journalctl -b -p warning -o cat --no-pager
say end
"""

AS_ROOT = f"""
say() {{ printf '\\n== %s\\n' "$1"; }}
say kept; ls /home/analog
say units; systemctl is-active {UNITS} || true
cd /home/analog
runuser -u analog -- iio-stream stream usb: verify:ramp --duration 60s --reconnect 2min --json=c.json &
receiver=$!
sleep 10
say upgrade; dpkg -i /upgrade/*.deb
say units_after; sleep 5; systemctl is-active {UNITS} || true
status=0; wait $receiver || status=$?
say status; echo $status
say received; cat c.json
say versions; dpkg-query -W -f '${{Package}} ${{Version}} ${{db:Status-Status}}\\n' '*iio-stream*'
say journal; journalctl -b -p warning -o cat --no-pager
say end
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def boot(image, user, script):
    """Returns {part of the script: its output}."""
    said = run(ROOT / "script" / "vm", "--arch", "zcu102", "--sim", "adcs=2", "--root", image, "--user", user,
               "--log", LOGS / f"{user}.log", "--timeout", 3000, "--", "sh", "-euc", script)
    (LOGS / f"{user}.txt").write_text(said)
    parts = re.split(r"^== (\w+)\n", said, flags=re.M)
    return {name: text.strip("\n") for name, text in zip(parts[1::2], parts[2::2])}


def upgraded(folder):
    """Yields copies of the packages with a later version."""
    for package in sorted(PACKAGES.glob("*_arm64.deb")) + sorted(PACKAGES.glob("*_all.deb")):
        if "dbgsym" in package.name or package.name.startswith("iio-stream-doc"):
            continue
        tree = folder / package.stem
        run("dpkg-deb", "-R", package, tree)
        control = tree / "DEBIAN" / "control"
        text = control.read_text()
        version = re.search(r"^Version: (.*)$", text, re.M)[1]
        control.write_text(text.replace(version, f"{version}+1"))
        run("dpkg-deb", "--root-owner-group", "-b", tree, folder / package.name)
        yield folder / package.name


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    LOGS.mkdir(parents=True, exist_ok=True)
    run(ROOT / "script" / "board")
    folder = tmp_path_factory.mktemp("board")
    copy = folder / "board.ext4"
    run("cp", "--sparse=always", IMAGE, copy)
    commands = "mkdir /upgrade\ncd /upgrade\n" + "".join(f"write {path} {path.name}\n" for path in upgraded(folder))
    run("debugfs", "-w", "-f", "-", copy, input=commands)
    return copy


@pytest.fixture(scope="module")
def user(image):
    return boot(image, "analog", AS_USER)


@pytest.fixture(scope="module")
def root(image, user):
    return boot(image, "root", AS_ROOT)


def test_python_reads_its_first_block_without_root(user):
    assert user["first"] == "(1000, 4)"
    assert "plugdev" in user["groups"].split() and "root" not in user["groups"].split()


def test_the_examples_run(user):
    blocks = re.findall(r"^sample (\d+): \((\d+), 4\) of int16", user["capture"], re.M)
    assert sum(int(count) for _, count in blocks) == 1_000_000 and "dmabuf" in user["capture"]
    assert "dBFS" in user["spectrum"]


def test_a_recording_is_made_without_copies_and_contains_every_sample_in_order(user):
    record, verify = json.loads(user["record"]), json.loads(user["verify"])
    assert record["copies"] == 0 and record["error"] is None
    assert verify["error"] is None and verify["samples"] == (64 << 20) // 8


def test_the_viewer_saves_a_picture(user):
    picture = base64.b64decode(user["picture"].splitlines()[-1])
    (LOGS / "a.png").write_bytes(picture)
    assert picture.startswith(b"\x89PNG") and len(picture) > 10_000


def test_no_failed_check_of_doctor_can_be_fixed_by_a_package(user):
    lacking = [check for check in json.loads(user["doctor"])["checks"] if not check["ok"]]
    assert not [check for check in lacking if "apt" in (check["fix"] or "")], lacking


def test_the_units_stream_to_usb_after_boot(user):
    assert user["units"].split() == ["active", "active"]
    assert json.loads(user["usb"])["error"] is None
    assert json.loads(user["usb_verify"])["error"] is None


def test_the_journal_contains_no_warnings(user, root):
    for part in (user, root):
        said = [line for line in part["journal"].splitlines() if "iio" in line.lower()]
        # The simulator taints the kernel.
        assert [line for line in said if "taints kernel" not in line] == [], part["journal"]


def test_everything_works_after_a_reboot(root):
    assert {"a.sigmf-data", "a.sigmf-meta", "b.sigmf-data"} <= set(root["kept"].split())
    assert root["units"].split() == ["active", "active"]


def test_an_upgrade_does_not_disturb_a_stream(root):
    assert root["units_after"].split() == ["active", "active"]
    for line in root["versions"].splitlines():
        name, version, state = line.split()
        assert version.endswith("+1") and state == "installed", line
    received = json.loads(root["received"])
    assert received["error"] is None and received["ended"] == "duration", received
    report = received["sinks"][0]["report"]
    assert report["samples"] > 0 and report["mismatches"] == report["gaps"] == report["unreported"] == 0, report
