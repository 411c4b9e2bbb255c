# SPDX-License-Identifier: MIT
"""Tests a 32-bit ARM guest (script/vm --arch armhf), which resembles the Pluto, the ZedBoard and the Red
Pitaya. It runs Debian's kernel with DMABUFs, and the same kernel with the blocks of Analog Devices' kernels.

`script/cross armhf` builds the programs, including the one-file program, which needs no other library of ours
on a board."""
import hashlib
import json
import pathlib
import re
import struct
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "script" / "lab")]
import armhf  # noqa: E402
import counts  # noqa: E402
import kernel  # noqa: E402

pytestmark = [pytest.mark.skipif(not counts.FULL, reason="needs --full, emulation and cross-built programs"),
              pytest.mark.timeout(3600)]

RECORDED = 16 << 20  # bytes
# The first is more than all blocks of the device hold, the second less than they must hold before the device
# is enabled.
PLAYED = (80 << 20, 8 << 20)
SAMPLE = 8  # bytes: four channels of 16 bits
MEMORY = 700  # MB
OPTION = "CONFIG_IIO_DMA_BUF_MMAP_LEGACY"
COUNTERS = "delivered check_gaps check_repeats mismatches underflows"

# Each answer begins with its own header line. The program is found in the guest's PATH or comes through
# stdin.
SCRIPT = f"""
part() {{ printf '\\n== %s\\n' "$1"; }}
counters() {{ for name in {COUNTERS}; do echo $name $(cat /sys/kernel/debug/iios-sim/iios-sim-dac/$name); done; }}
if [ $PROGRAM = stdin ]; then cat >/tmp/program; chmod +x /tmp/program; PROGRAM=/tmp/program; fi
part machine; uname -m
part info; $PROGRAM info --json
part doctor; $PROGRAM doctor --json
part record; $PROGRAM record iio:iios-sim-adc /tmp/a.ci16 --bytes {RECORDED} --json
part verify; $PROGRAM verify --pattern ramp /tmp/a.ci16 --json
part samples; md5sum </tmp/a.ci16
rm /tmp/a.ci16
""" + "".join(f"""
$PROGRAM record sim: pattern=ramp channels=4 rate=0 /tmp/b.ci16 overwrite=on --bytes {size} >/dev/null
part play_{size}; $PROGRAM play /tmp/b.ci16 format=ci16_le channel_names=4 iio:iios-sim-dac --json
part played_{size}; counters
""" for size in PLAYED) + """
part end
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout.decode()


def boot(program, *options, **more):
    """Returns {part of the script: its output}."""
    out = run(ROOT / "script" / "vm", "--arch", "armhf", "--memory", MEMORY, *options, "--",
              "sh", "-euc", f"PROGRAM={program}\n{SCRIPT}", **more)
    parts = re.split(r"^== (\w+)\n", out, flags=re.M)
    return {name: text.strip("\n") for name, text in zip(parts[1::2], parts[2::2])}


@pytest.fixture(scope="module")
def dmabufs():
    return boot("iio-stream", stdin=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def one_file():
    run(ROOT / "script" / "cross", "--one-file", "armhf")
    return ROOT / "build-armhf-one-file" / "iio-stream"


@pytest.fixture(scope="module")
def blocks(one_file):
    with open(one_file, "rb") as program:
        return boot("stdin", "--buffers", "legacy", stdin=program)


@pytest.fixture(params=["dmabufs", "blocks"])
def guest(request):
    """Returns the guest's answers, and the mechanism that its streams must use."""
    return request.getfixturevalue(request.param), {"dmabufs": "dmabuf", "blocks": "mmap"}[request.param]


def test_a_recording_contains_every_sample_in_order(guest):
    answers, path = guest
    assert answers["machine"] == "armv7l"
    summary, verified = json.loads(answers["record"]), json.loads(answers["verify"])
    assert summary["route"][0]["mechanism"] == path
    assert (summary["bytes"], summary["error"], summary["gaps"]["certain"]) == (RECORDED, None, 0)
    assert verified["error"] is None and verified["pattern"]["mismatches"] == 0
    ramp = struct.pack(f"<{RECORDED // SAMPLE}Q", *range(RECORDED // SAMPLE))
    assert answers["samples"].split()[0] == hashlib.md5(ramp).hexdigest()


@pytest.mark.parametrize("size", PLAYED)
def test_the_device_plays_every_sample(guest, size):
    answers, path = guest
    summary = json.loads(answers[f"play_{size}"])
    assert summary["route"][-1]["mechanism"] == path and summary["error"] is None
    counters = dict(line.split() for line in answers[f"played_{size}"].splitlines())
    assert int(counters.pop("delivered")) * SAMPLE == size
    assert set(counters.values()) == {"0"}, counters


def test_info_reports_the_path_of_each_device(guest):
    answers, path = guest
    buffers = {device["name"]: device["buffers"] for device in json.loads(answers["info"])["devices"]}
    assert [buffers[name][0]["path"] for name in ("iios-sim-adc", "iios-sim-dac")] == [path, path]


def checks(answers):
    return {check["name"]: check for check in json.loads(answers["doctor"])["checks"]}


def test_doctor_suggests_no_fix_that_does_not_work_on_this_machine(guest):
    found = checks(guest[0])
    fixes = " ".join(check["fix"] or "" for check in found.values())
    assert "amd64" not in fixes and "modprobe" not in fixes
    assert "built without" in found["huge pages"]["detail"] and not found["huge pages"]["fix"]


def test_doctor_accepts_a_kernel_with_dmabufs(dmabufs):
    assert checks(dmabufs)["kernel"]["ok"]


def test_doctor_names_the_kernel_option_that_removes_dmabufs(blocks):
    kernel_check = checks(blocks)["kernel"]
    assert kernel_check["ok"] and OPTION in kernel_check["detail"] and "docs/kernels.md" in kernel_check["detail"]


def test_a_lack_of_memory_for_descriptors_is_reported_with_a_remedy():
    script = """iio-stream stream iio:iios-sim-adc null: --bytes 128Mi --json >/tmp/capture
iio-stream stream sim: pattern=ramp channels=4 rate=0 iio:iios-sim-dac --bytes 80Mi --json >/tmp/playback || true
cat /tmp/capture /tmp/playback"""
    out = run(ROOT / "script" / "vm", "--arch", "armhf", "--kernel-args", "coherent_pool=256K", "--", "sh", "-euc", script)
    capture, playback = map(json.loads, out.splitlines())
    assert capture["blocks_bad"]["error"] > 0 and "coherent_pool=" in capture["route"][0]["reason"]
    assert playback["error"]["name"] == "ENOMEM" and "coherent_pool=" in playback["error"]["hint"]


def test_structures_of_32_bit_programs_match_the_kernel_headers():
    headers = kernel.kernel("6.12", armhf.Machine()) / "headers" / "src"
    defines = []
    for name, path in ("IIO", "iio/buffer.h"), ("FFS", "usb/functionfs.h"), ("URING", "io_uring.h"):
        [header] = headers.glob(f"*-common/include/uapi/linux/{path}")
        defines.append(f'-D{name}_HEADER="{header}"')
    compiler = [f"{armhf.TOOLS}g++", "-std=c++20", "-fsyntax-only", f"-I{ROOT / 'src'}"]
    run(*compiler, *defines, ROOT / "tests" / "uapi" / "compare.cpp")
    # Debian's headers do not define these requests. The number of a request includes the size of its
    # structure.
    requests = {"Alloc": 0xC01069A0, "Free": 0x69A1, "Query": 0xC02069A2, "Enqueue": 0xC02069A3, "Dequeue": 0xC02069A4}
    source = '#include "uapi/iio_blocks.hpp"\n' + "".join(
        f"static_assert(iio_stream::uapi::kIioBlock{name} == {number:#x});\n" for name, number in requests.items())
    run(*compiler, "-x", "c++", "-", input=source.encode())
