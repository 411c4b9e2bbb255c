# SPDX-License-Identifier: MIT
"""`iio-stream check` on a machine where the kernel copies the data that a DMA writes.

    script/vm --kernel-args swiotlb=force -- /usr/bin/python3 -m pytest -q tests/vm/test_check_bounced.py
"""
# guest: --kernel-args swiotlb=force
import json

from conftest import ADC, run, sim


def test_memory_that_the_kernel_bounces_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sim()
    report = json.loads(run(f"check {ADC} --only bounced --only short-blocks --json", status=1).out)
    by_memory = {(one["name"], one["variant"]): one for one in report["checks"]}
    assert by_memory["bounced", "udmabuf"]["outcome"] == "fail"
    assert "swiotlb" in by_memory["bounced", "udmabuf"]["text"]
    assert by_memory["bounced", "heap:system"]["outcome"] == "pass"
    assert by_memory["short-blocks", "udmabuf"]["outcome"] == "skip"
