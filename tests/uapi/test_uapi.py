# SPDX-License-Identifier: MIT
"""Compares src/uapi with the headers of the kernel package that the lab uses."""
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "script" / "lab"))
import amd64  # noqa: E402
import kernel  # noqa: E402

# No header of a mainline kernel contains the blocks of Analog Devices: tests/unit/sys/test_uapi.cpp pins
# them.
OURS = sorted(path for path in (ROOT / "src" / "uapi").glob("*.hpp") if path.name != "iio_blocks.hpp")


@pytest.fixture(scope="module")
def headers():
    """The kernel's own headers, from the newest 6.12 package of Debian."""
    include = kernel.kernel("6.12", amd64.Machine()) / "headers" / "src"
    found = {}
    for name, path in ("IIO", "iio/buffer.h"), ("FFS", "usb/functionfs.h"), ("URING", "io_uring.h"):
        [found[name]] = include.glob(f"*-common/include/uapi/linux/{path}")
    return found


def compare(headers):
    defines = [f'-D{name}_HEADER="{path}"' for name, path in headers.items()]
    return subprocess.run(
        ["g++", "-std=c++20", "-fsyntax-only", f"-I{ROOT / 'src'}", *defines,
         ROOT / "tests" / "uapi" / "compare.cpp"], capture_output=True, text=True, check=False)


def test_our_definitions_match_the_kernels_headers(headers):
    result = compare(headers)
    assert result.returncode == 0, result.stderr


def test_each_of_our_definitions_is_compared():
    names = set()
    for path in OURS:
        names |= set(re.findall(r"\b(k(?:Iio|Ffs|Uring)\w+) =", path.read_text()))
        names |= set(re.findall(r"^    (?:__\w+|int) (\w+);", path.read_text(), re.M))
    compared = (ROOT / "tests" / "uapi" / "compare.cpp").read_text()
    assert len(names) >= 13
    assert [name for name in names if not re.search(rf"\b{name}\b", compared)] == []


@pytest.mark.parametrize("which,old,new", [
    ("IIO", "'i', 0x91", "'i', 0x90"), ("IIO", "'i', 0x92", "'i', 0x95"),
    ("IIO", "'i', 0x93", "'i', 0x95"), ("IIO", "'i', 0x94", "'i', 0x95"),
    ("IIO", "__u64 bytes_used", "__u32 bytes_used"),
    ("IIO", "__u32 fd;\n\t__u32 flags;", "__u32 flags;\n\t__u32 fd;"),
    ("FFS", "'g', 131", "'g', 130"), ("FFS", "'g', 132", "'g', 130"),
    ("FFS", "'g', 133", "'g', 130"), ("FFS", "__u64 length", "__u32 length"),
    ("FFS", "int fd;\n\t__u32 flags;", "__u32 flags;\n\tint fd;"),
    ("URING", "REPORT_USAGE\t(1U << 3)", "REPORT_USAGE\t(1U << 2)"), ("URING", "(1U << 31)", "(1U << 30)")])
def test_a_difference_is_detected(headers, tmp_path, which, old, new):
    text = headers[which].read_text()
    assert old in text
    other = tmp_path / headers[which].name
    other.write_text(text.replace(old, new))
    assert compare({**headers, which: other}).returncode != 0
