# SPDX-License-Identifier: MIT
"""The Debian packages: builds are reproducible, lintian passes, and apt and an unprivileged user can use
them."""
import hashlib
import os
import pathlib
import re
import sys

import pytest
from test_package import BUILD, ROOT, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import counts  # noqa: E402

pytestmark = pytest.mark.skipif(not counts.FULL, reason="takes half an hour: runs with --full")


def suite():
    return re.search(r"^VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text(), re.M)[1]


def sums():
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (BUILD / "deb").glob("*.deb")}


def test_the_same_commit_builds_the_same_bytes_and_lintian_passes():
    run(ROOT / "script" / "deb")  # runs lintian too
    first = sums()
    assert {name.split("_")[0] for name in first if "dbgsym" not in name} == {
        "libiio-stream0", "libiio-stream-dev", "iio-stream", "python3-iio-stream", "gr-iio-stream",
        "soapysdr-module-iio-stream", "iio-stream-doc"}
    run(ROOT / "script" / "deb")
    assert sums() == first


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a chroot")
def test_packages_are_installed_used_and_purged_in_a_fresh_debian():
    said = run(ROOT / "script" / "deb-check", suite(), BUILD / "deb")
    assert "(1000, 2)" in said and "installed, used and purged:" in said
