# SPDX-License-Identifier: MIT
"""src/uapi against the headers of the kernel package that the lab runs."""
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "script" / "lab"))
import kernel  # noqa: E402

OURS = ROOT / "src" / "uapi" / "iio_buffer.hpp"


@pytest.fixture(scope="module")
def header():
    """The kernel's linux/iio/buffer.h, of Debian's newest 6.12."""
    found = list(kernel.kernel("6.12").glob("headers/src/*-common/include/uapi/linux/iio/buffer.h"))
    assert len(found) == 1
    return found[0]


def compare(header):
    return subprocess.run(
        ["g++", "-std=c++20", "-fsyntax-only", f"-I{ROOT / 'src'}", f'-DKERNEL_HEADER="{header}"',
         ROOT / "tests" / "uapi" / "compare.cpp"], capture_output=True, text=True, check=False)


def test_our_definitions_are_the_kernels(header):
    result = compare(header)
    assert result.returncode == 0, result.stderr


def test_everything_that_we_define_is_compared():
    names = set(re.findall(r"\b(kIio\w+) =", OURS.read_text()))
    names |= set(re.findall(r"^    __\w+ (\w+);", OURS.read_text(), re.M))
    compared = (ROOT / "tests" / "uapi" / "compare.cpp").read_text()
    assert len(names) >= 7
    assert [name for name in names if not re.search(rf"\b{name}\b", compared)] == []


@pytest.mark.parametrize("old,new", [
    ("'i', 0x91", "'i', 0x90"), ("'i', 0x92", "'i', 0x95"), ("'i', 0x93", "'i', 0x95"),
    ("'i', 0x94", "'i', 0x95"), ("__u64 bytes_used", "__u32 bytes_used"),
    ("__u32 fd;\n\t__u32 flags;", "__u32 flags;\n\t__u32 fd;")])
def test_a_difference_is_found(header, tmp_path, old, new):
    text = header.read_text()
    assert old in text
    other = tmp_path / "buffer.h"
    other.write_text(text.replace(old, new))
    assert compare(other).returncode != 0
