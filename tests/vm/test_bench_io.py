# SPDX-License-Identifier: MIT
"""Tests bench-io with all kinds of memory, some of which the host of tests/cli might lack."""
import pytest
from conftest import DISK, run

DIRECT = ["direct", "libaio", "io_uring", "io_uring-registered"]


@pytest.fixture(scope="module")
def cells():
    document = run(f"bench-io {DISK}/matrix --size 8Mi --block-size 1Mi --json", timeout=300).json
    assert document["complete"] and not (DISK / "matrix").exists()
    return {(row["memory"], row["page_bytes"], row["method"], row["direction"]): row
            for row in document["rows"]}


@pytest.mark.parametrize("direction", ["write", "read"])
@pytest.mark.parametrize("memory", ["memfd", "udmabuf+memfd"])
@pytest.mark.parametrize("page", [4096, 2 << 20])
def test_direct_io_works_with_a_memfd_and_with_udmabufs_on_a_memfd(cells, memory, page, direction):
    for method in ["buffered", *DIRECT]:
        row = cells[memory, page, method, direction]
        assert row["error"] is None and row["checked"], row


@pytest.mark.parametrize("direction", ["write", "read"])
@pytest.mark.parametrize("memory", ["udmabuf", "heap:system"])
def test_only_the_cpu_can_use_a_dmabufs_own_mapping(cells, memory, direction):
    assert cells[memory, 4096, "buffered", direction]["checked"]
    for method in DIRECT:
        error = cells[memory, 4096, method, direction]["error"]
        assert error is not None and error["name"] == "EFAULT", (method, error)
    for method in ["sendfile", "splice", "copy_file_range"]:
        assert cells[memory, 4096, method, direction]["error"]["name"] in ("EINVAL", "ESPIPE"), method
