# SPDX-License-Identifier: MIT
"""Tests power cuts: QEMU is killed in the middle of a recording, and its disk is booted again.

One boot records until QEMU is killed. The next boot repairs and checks the files that it left behind.
"""
import json
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import counts  # noqa: E402

# Recovers twice: a repeated recovery changes nothing.
REPAIR = """
iio-stream recover /mnt/disk/{last} >&2 || [ $? = 4 ] || exit  # 4: its end is missing
iio-stream recover /mnt/disk/{last} >&2 || exit
iio-stream verify --pattern ramp /mnt/disk/{last} --json || exit
rm /mnt/disk/{last_files}
"""
# The simulator's own counts go to stderr, so that they can be compared with the data on the disk.
RECORD = """
rm -f /mnt/disk/{files}
sync
cd /sys/kernel/debug/iios-sim/iios-sim-adc
while sleep 0.3; do echo counts $(cat bytes lost lost_pending); done >&2 &
exec iio-stream record iio:iios-sim-adc /mnt/disk/{name} {options} --quiet >&2
"""
# Prints, for each part, where its data begin according to the ramp, and according to its metadata.
REPAIR_PARTS = """
for part in /mnt/disk/{last}.*.sigmf-meta; do
    iio-stream recover $part >&2 || [ $? = 4 ] || exit  # 4: its end is missing, and later parts follow
    iio-stream recover $part >&2 || exit
    iio-stream verify --pattern ramp $part >&2 || exit
done
/usr/bin/python3 -c '
import json, pathlib
parts = []
for meta in sorted(pathlib.Path("/mnt/disk").glob("{last}.*.sigmf-meta")):
    said, data = json.loads(meta.read_text()), meta.with_suffix(".sigmf-data").read_bytes()
    first = said["captures"][0]
    parts.append({{"name": meta.name, "index": first.get("core:global_index", 0), "bytes": len(data),
                  "exact": first.get("iio_stream:index_exact", True),
                  "place": int.from_bytes(data[:8], "little") if data else None}})
print(json.dumps({{"ok": True, "bytes": sum(part["bytes"] for part in parts), "parts": parts,
                  "left": [path.name for path in pathlib.Path("/mnt/disk").glob("{last}.*")
                           if path.suffix in (".journal", ".new")]}}))' || exit
rm /mnt/disk/{last_files}
"""
WAYS = [  # ways of writing; each cut takes the next one
    ("a.sigmf-meta", "a.sigmf-*", "sync=1Mi"),
    ("d", "d.*", "sync=1Mi rotate_bytes=512Ki --block-size 64Ki"),
    ("b.ci16", "b.ci16*", "sync=1Mi engine=libaio"),
    ("c.sigmf-meta", "c.sigmf-*", "sync=1Mi engine=buffered"),
]


def boot(disk, script, *options):
    return subprocess.run([ROOT / "script/vm", "--sim", "rate=200000", "--disk", f"{disk}:512Mi", "--timeout",
                           "120", *options, "--", "sh", "-c", script],
                          capture_output=True, text=True, timeout=300, check=False)


def counts_of(done):
    """Returns the bytes that the ADC produced and the samples that it lost, by the last printed counts."""
    seen = [[int(word) for word in line.split()[1:]] for line in done.stderr.splitlines()
            if re.fullmatch(r"counts \d+ \d+ \d+", line)]
    return (seen[-1][0], sum(seen[-1][1:])) if seen else (0, 0)


def check(done, made):
    report = json.loads(done.stdout)
    assert report["ok"], report
    # Only these data can be lost: 1 MiB that is not synced yet, the data that wait for its sync, and the
    # blocks that are being filled.
    assert report["bytes"] >= made - (3 << 20), (report, made)
    if "parts" in report:
        check_parts(report["parts"])
        assert not report["left"], report


def check_parts(parts):
    """Checks that each part gives the correct start of its samples, and that no samples are missing between
    parts."""
    place = 0
    for number, part in enumerate(parts):
        assert part["name"] == f"d.{number:04}.sigmf-meta", parts
        if part["bytes"] == 0:
            assert number == len(parts) - 1, parts
            continue
        assert part["exact"] and part["index"] == part["place"] == place, parts
        place += part["bytes"] // 8  # bytes of a sample of four channels


def test_a_recording_survives_power_cuts(tmp_path):
    disk = tmp_path / "disk.img"
    chance = random.Random(counts.POWER_CUTS)
    made = []
    for cut in range(counts.POWER_CUTS):
        name, files, options = WAYS[cut % len(WAYS)]
        seconds = round(chance.uniform(6, 10), 2)
        # Tries again with more time if the recording had not begun, because a busy machine boots slowly. Also
        # tries again if the ADC lost samples for a file of plain samples, because such a file cannot show
        # that.
        for more in range(0, 60, 10):
            done = boot(disk, RECORD.format(name=name, files=files, options=options), "--kill-after",
                        str(seconds + more))
            assert done.returncode == 97, f"cut {cut}: {done.stdout}\n{done.stderr}"
            whole, lost = counts_of(done)
            if whole >= 1 << 20 and (lost == 0 or "sigmf" in name):
                break
        made.append(whole)
        repair = REPAIR_PARTS if "rotate" in options else REPAIR
        done = boot(disk, repair.format(last=name, last_files=files))
        assert done.returncode == 0, f"cut {cut}: {done.stdout}\n{done.stderr}"
        check(done, made[-1])
    assert max(made) > 3 << 20  # otherwise the test proves nothing
