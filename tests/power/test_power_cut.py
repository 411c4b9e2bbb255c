# SPDX-License-Identifier: MIT
"""Power cuts: QEMU is killed in the midst of recordings, its disk kept, and booted again.

Each boot mends and checks what the last one left, then records until it is killed in its turn.
"""
import json
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import counts  # noqa: E402

# Twice: a recovery that is repeated changes nothing.
MEND = """
iio-stream recover /mnt/disk/{last} >&2 && iio-stream recover /mnt/disk/{last} >&2 || exit
iio-stream verify --pattern ramp /mnt/disk/{last} --json || exit
rm /mnt/disk/{last_files}
"""
RECORD = "sync; exec iio-stream record iio:iios-sim-adc /mnt/disk/{name} {options} --quiet >&2"
WAYS = [  # of writing; each cut takes the next one
    ("a.sigmf-meta", "a.sigmf-*", "sync=1Mi"),
    ("b.ci16", "b.ci16*", "sync=1Mi engine=libaio"),
    ("c.sigmf-meta", "c.sigmf-*", "sync=1Mi engine=buffered"),
]


def boot(disk, script, *options):
    return subprocess.run([ROOT / "script/vm", "--sim", "rate=200000", "--disk", f"{disk}:512Mi", "--timeout",
                           "120", *options, "--", "sh", "-c", script],
                          capture_output=True, text=True, timeout=300, check=False)


def check(done, seconds):
    report = json.loads(done.stdout)
    assert report["ok"] and report["samples"] > 0, report
    # All that was synced a second before the cut is there; a busy emulator is slow to begin.
    assert report["samples"] * 8 >= (seconds - 2.5) * 1e6, (report, seconds)


def test_a_recording_survives_power_cuts(tmp_path):
    disk = tmp_path / "disk.img"
    chance = random.Random(counts.POWER_CUTS)
    mend, before = "", 0
    for cut in range(counts.POWER_CUTS):
        name, files, options = WAYS[cut % len(WAYS)]
        seconds = round(chance.uniform(3, 7), 2)
        done = boot(disk, mend + RECORD.format(name=name, options=options), "--kill-after", str(seconds + 2 * (cut > 0)))
        assert done.returncode == 97, f"cut {cut}: {done.stdout}\n{done.stderr}"
        if cut > 0:
            check(done, before)
        mend, before = MEND.format(last=name, last_files=files), seconds
    done = boot(disk, mend)
    assert done.returncode == 0, done.stderr
    check(done, before)
