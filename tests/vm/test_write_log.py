# SPDX-License-Identifier: MIT
"""The power can fail at any flush of a recording's disk. The data on the disk can then be repaired, are a
prefix of the recording, and include everything that was synced before."""
import counts
import pytest
from conftest import ADC, run, sim
from write_log import LoggedDisk

BYTES = 6 << 20
SYNC = 512 << 10
WAYS = {
    "a.sigmf-meta": "engine=io_uring",
    "b.ci16": "engine=libaio",
    "c.sigmf-meta": "engine=buffered hash=end",
}


@pytest.mark.parametrize("name", WAYS)
def test_a_recording_is_valid_whenever_the_power_fails(tmp_path, name):
    sim(rate=400_000)  # 3.2 MB/s
    disk = LoggedDisk(tmp_path / "logged")
    file = disk.folder / name
    try:
        with disk:
            run("record", f"iio:{ADC}", file, f"{WAYS[name]} sync={SYNC} --block-size 64Ki --bytes {BYTES}")
        sizes, seen = [], 0
        for place in disk.points(counts.FLUSHES):
            if not file.exists():
                assert not sizes, f"the file is missing at {place:.2f} of the log"
                continue
            seen += 1
            if not run("verify", file, "--json", status=None).json["ok"]:
                run("recover", file)
            report = run("verify", "--pattern", "ramp", file, "--json").json
            assert report["ok"] and report["bytes"] <= BYTES, report
            sizes.append(report["bytes"])
        assert seen > counts.FLUSHES // 3, "the file was created late"
        assert sizes == sorted(sizes), "data that were synced earlier are lost"
        assert sizes[-1] == BYTES
        assert len(set(sizes)) > 2, "nothing was synced before the end"
    finally:
        disk.remove()
