# SPDX-License-Identifier: MIT
"""The power fails at any flush of a recording's disk: what is on it then can be repaired, is a prefix of the
recording, and has what was synced before."""
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
def test_a_recording_is_valid_whenever_the_power_goes(tmp_path, name):
    sim(rate=400_000)  # 3.2 MB/s
    disk = LoggedDisk(tmp_path / "logged")
    file = disk.folder / name
    try:
        with disk:
            run("record", f"iio:{ADC}", file, f"{WAYS[name]} sync={SYNC} --block-size 64Ki --bytes {BYTES}")
        sizes, seen = [], 0
        for place in disk.points(counts.FLUSHES):
            if not file.exists():
                assert not sizes, f"at {place:.2f} of the log it is gone"
                continue
            seen += 1
            if not run("verify", file, "--json", status=None).json["ok"]:
                run("recover", file)
            report = run("verify", "--pattern", "ramp", file, "--json").json
            assert report["ok"] and report["bytes"] <= BYTES, report
            sizes.append(report["bytes"])
        assert seen > counts.FLUSHES // 3, "it came into being late"
        assert sizes == sorted(sizes), "what was safe before is lost again"
        assert sizes[-1] == BYTES
        assert len(set(sizes)) > 2, "nothing was safe before the end"
    finally:
        disk.remove()
