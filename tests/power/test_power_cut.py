# SPDX-License-Identifier: MIT
"""Power cuts: QEMU is killed in the midst of recordings, its disk kept, and booted again.

One boot records until it is killed; the next mends and checks what it left.
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
# The simulator's own count goes to stderr, to be compared with what was found on the disk.
RECORD = """
sync
while sleep 0.3; do cat /sys/kernel/debug/iios-sim/iios-sim-adc/bytes; done >&2 &
exec iio-stream record iio:iios-sim-adc /mnt/disk/{name} {options} --quiet >&2
"""
WAYS = [  # of writing; each cut takes the next one
    ("a.sigmf-meta", "a.sigmf-*", "sync=1Mi"),
    ("b.ci16", "b.ci16*", "sync=1Mi engine=libaio"),
    ("c.sigmf-meta", "c.sigmf-*", "sync=1Mi engine=buffered"),
]


def boot(disk, script, *options):
    return subprocess.run([ROOT / "script/vm", "--sim", "rate=200000", "--disk", f"{disk}:512Mi", "--timeout",
                           "120", *options, "--", "sh", "-c", script],
                          capture_output=True, text=True, timeout=300, check=False)


def moved(done):
    """Bytes that the ADC had made when it was last seen alive."""
    return max((int(line) for line in done.stderr.splitlines() if line.isdecimal()), default=0)


def check(done, made):
    report = json.loads(done.stdout)
    assert report["ok"], report
    # Of what had been made then, what was not synced yet is lost: a MiB, what waited for that, and
    # the blocks that were being filled.
    assert report["bytes"] >= made - (3 << 20), (report, made)


def test_a_recording_survives_power_cuts(tmp_path):
    disk = tmp_path / "disk.img"
    chance = random.Random(counts.POWER_CUTS)
    made = []
    for cut in range(counts.POWER_CUTS):
        name, files, options = WAYS[cut % len(WAYS)]
        seconds = round(chance.uniform(6, 10), 2)
        done = boot(disk, RECORD.format(name=name, options=options), "--kill-after", str(seconds))
        assert done.returncode == 97, f"cut {cut}: {done.stdout}\n{done.stderr}"
        made.append(moved(done))
        done = boot(disk, MEND.format(last=name, last_files=files))
        assert done.returncode == 0, f"cut {cut}: {done.stdout}\n{done.stderr}"
        check(done, made[-1])
    assert max(made) > 3 << 20  # else nothing of this has told anything
