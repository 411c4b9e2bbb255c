# SPDX-License-Identifier: MIT
"""Memory for cores with and without scatter-gather, missing and forbidden memory, and `doctor --probe`.

    script/vm --disk 1Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_memory.py

Linux 6.12; less than 3 GB, because cores without scatter-gather have 32-bit addresses.
"""
import contextlib
import glob
import json
import os
import pathlib
import shutil
import signal

import pytest
from conftest import ADC, DAC, DISK, finish, knob, run, sim, start, stream
from errors import Hidden, as_nobody, failing
from waiting import until

VERDICT = pathlib.Path("/var/lib/iio-stream/probe.json")
MERGED = int(os.uname().release.split(".")[0]) >= 7
HEAPS, UDMABUF = "/dev/dma_heap", "/dev/udmabuf"


@pytest.fixture(autouse=True)
def fresh():
    shutil.rmtree(VERDICT.parent, ignore_errors=True)
    yield
    shutil.rmtree(VERDICT.parent, ignore_errors=True)


def first_hop(*words, **options):
    return stream(*words, **options).json["route"][0]


@pytest.mark.parametrize("memory", ["heap:system", "udmabuf"])
@pytest.mark.parametrize("scan,pattern", [("s16", "ramp"), ("s12", "lanes")])
def test_a_core_without_scatter_gather_captures_the_same_samples(memory, scan, pattern):
    sim(sg=0, scan=scan, pattern=pattern)
    for size in ("4Ki", "256Ki"):
        result = stream(f"iio:{ADC} memory={memory} verify:{pattern} --block-size {size} --bytes 4Mi")
        hop = result.json["route"][0]
        assert hop["memory"] == memory and hop["mechanism"] == "dmabuf"
        assert result.json["sinks"][0]["report"]["gaps"] == 0
    if memory == "udmabuf":  # the core raises an interrupt for each page
        assert int(knob("interrupts")) >= (4 << 20) // 4096


def test_a_core_without_scatter_gather_works_with_fileio_a_dac_and_a_file():
    sim(sg=0)
    stream(f"iio:{ADC} path=fileio verify:ramp --bytes 4Mi")
    stream(f"iio:{ADC} iio:{DAC} --bytes 4Mi")
    assert int(knob("mismatches", device=DAC)) == 0
    file = DISK / "nosg.ci16"
    run(f"record iio:{ADC} {file} overwrite=on --bytes 4Mi")
    assert run(f"verify --pattern ramp {file} --json").json["ok"]


def probe():
    return run("doctor", "--probe", f"iio:{ADC}", "--json", timeout=60).json["probe"]


def by_memory(result):
    return {row["memory"]: row for row in result["memories"]}


def test_with_scatter_gather_the_probe_recommends_udmabuf_and_auto_uses_it():
    sim(sg=1)
    before = first_hop(f"iio:{ADC} null: --samples 100000")
    result = probe()
    rows = by_memory(result)
    assert all(row["error"] is None and row["blocks"] >= 8 for row in rows.values())
    assert all(0.5 < row["interrupts_per_block"] < 2 for row in rows.values())
    assert all(row["data_arrived"] is True for row in rows.values())
    assert result["recommended"] == "udmabuf" and "interrupts per block" in result["reason"]
    after = first_hop(f"iio:{ADC} null: --samples 100000")
    assert before["memory"] == "heap:system" and after["memory"] == "udmabuf"
    assert result["reason"] in after["reason"]


@pytest.mark.skipif(MERGED, reason="this kernel merges adjacent pages into one segment")
def test_without_scatter_gather_the_probe_recommends_the_heap_and_auto_uses_it():
    sim(sg=0)
    result = probe()
    rows = by_memory(result)
    # Each page is a segment and causes an interrupt. The heap's pieces are large.
    assert rows["udmabuf"]["interrupts_per_block"] > 0.9 * result["block_bytes"] / 4096
    assert rows["heap:system"]["interrupts_per_block"] < rows["udmabuf"]["interrupts_per_block"] / 8
    assert result["recommended"] == "heap:system"
    assert "no scatter-gather" in result["reason"] and "interrupts per block" in result["reason"]
    hop = first_hop(f"iio:{ADC} verify:ramp --samples 100000")
    assert hop["memory"] == "heap:system" and result["reason"] in hop["reason"]
    stored = json.loads(pathlib.Path(result["stored_in"]).read_text())[ADC]
    assert stored["memory"] == "heap:system" and stored["kernel"] == os.uname().release
    # A request takes precedence over the probe's result.
    assert first_hop(f"iio:{ADC} memory=udmabuf null: --samples 1000")["memory"] == "udmabuf"


@pytest.mark.parametrize("spoilt", ["", "[]", "{", '{"iios-sim-adc": 7}', '{"iios-sim-adc": {"memory": 5}}',
                                    '{"iios-sim-adc": {"memory": "heap:gone", "kernel": "KERNEL"}}',
                                    '{"iios-sim-adc": {"memory": "udmabuf", "kernel": "5.4"}}'])
def test_a_corrupt_or_outdated_probe_result_is_ignored(spoilt):
    sim()
    VERDICT.parent.mkdir(parents=True, exist_ok=True)
    VERDICT.write_text(spoilt.replace("KERNEL", os.uname().release))
    assert first_hop(f"iio:{ADC} null: --samples 1000")["memory"] == "heap:system"


def test_without_heaps_udmabuf_is_used_and_without_both_plain_pages():
    sim()
    with Hidden("-t", "tmpfs", "tmpfs", HEAPS):
        assert first_hop(f"iio:{ADC} verify:ramp --samples 100000")["memory"] == "udmabuf"
        with Hidden("--bind", "/dev/null", UDMABUF):
            hop = first_hop(f"iio:{ADC} verify:ramp --samples 100000")
            assert (hop["mechanism"], hop["memory"], hop["copies"]) == ("fileio", "pages", 1)
            assert "/dev/dma_heap/system" in hop["reason"] and "udmabuf" in hop["reason"]
            error = failing(f"iio:{ADC} path=dmabuf null: --samples 9", status=3, name="EOPNOTSUPP",
                            words=["/dev/dma_heap/system", "No such file"])
            assert error.json["samples"] == 0


@pytest.mark.parametrize("memory,path", [("heap:system", f"{HEAPS}/system"), ("udmabuf", UDMABUF)])
def test_requested_memory_that_is_missing_is_an_error(memory, path):
    sim()
    hidden = Hidden("-t", "tmpfs", "tmpfs", HEAPS) if memory != "udmabuf" else Hidden("--bind", "/dev/null", UDMABUF)
    with hidden:
        result = run(f"stream iio:{ADC} memory={memory} null: --samples 9 --json", status=3)
        error = result.json["error"]
        assert path in error["message"] and error["name"]


@pytest.fixture
def open_device():
    """Gives unprivileged users access to the converter, as a udev rule would, but neither to the heap nor to
    udmabuf."""
    sim()
    changed = [path for path in pathlib.Path("/dev").glob("iio:device*")]
    changed += [path for folder in pathlib.Path("/sys/bus/iio/devices").glob("iio:device*")
                for part in ("buffer0", "scan_elements") for path in (folder / part).glob("*") if path.is_file()]
    for path in changed:
        path.chmod(0o666)
    modes = {path: os.stat(path).st_mode & 0o777 for path in (f"{HEAPS}/system", UDMABUF)}
    for path in modes:
        os.chmod(path, 0o600)
    yield
    for path, mode in modes.items():
        os.chmod(path, mode)


def test_without_access_to_any_memory_fileio_is_used_and_the_reason_is_reported(open_device):
    result = as_nobody(f"stream iio:{ADC} verify:ramp --samples 100000 --json")
    assert result.status == 0, result.err
    hop = json.loads(result.out)["route"][0]
    assert hop["mechanism"] == "fileio"
    assert "/dev/dma_heap/system: Permission denied" in hop["reason"]
    assert "/dev/udmabuf: Permission denied" in hop["reason"]
    forced = as_nobody(f"stream iio:{ADC} memory=udmabuf null: --samples 9 --json")
    assert forced.status == 3
    error = json.loads(forced.out)["error"]
    assert error["name"] == "EACCES" and UDMABUF in error["message"]


def test_the_only_accessible_memory_is_used(open_device):
    os.chmod(UDMABUF, 0o666)
    result = as_nobody(f"stream iio:{ADC} verify:ramp --samples 100000 --json")
    assert result.status == 0, result.err
    assert json.loads(result.out)["route"][0]["memory"] == "udmabuf"


@pytest.mark.parametrize("opened, named", [("", "/dev/iio:device"), ("/dev/iio:device*", "/in_voltage0_i_en")])
def test_without_access_to_the_device_the_error_names_it(opened, named):
    sim()
    for path in glob.glob(opened):
        os.chmod(path, 0o666)
    result = as_nobody(f"stream iio:{ADC} null: --samples 9 --json")
    assert result.status == 3
    error = json.loads(result.out)["error"]
    assert error["name"] == "EACCES" and named in error["message"] and "iio-stream doctor" in error["hint"]


def test_doctor_tells_a_user_how_to_get_access(open_device):
    checks = {check["name"]: check for check in json.loads(as_nobody("doctor --json").out)["checks"]}
    for name in ("heap:system", "udmabuf"):
        assert not checks[name]["ok"] and "Permission denied" in checks[name]["detail"]
        assert "/etc/udev/rules.d" in checks[name]["fix"]
    # debugfs is mounted as systemd mounts it, so only root can enter the folder.
    assert not checks["debugfs"]["ok"] and "only root" in checks["debugfs"]["detail"]


@pytest.mark.parametrize("error", ["EINTR", "EAGAIN"])
def test_a_sync_that_the_kernel_postpones_is_retried(tmp_path, error):
    """Every second ioctl on a DMABUF fails, so each must be made twice."""
    sim()
    trace, file = tmp_path / "trace", DISK / "put_off.ci16"
    run("-f -qq -P /dmabuf: -e trace=ioctl -e", f"inject=ioctl:error={error}:when=1+2", "-o", trace,
        "iio-stream record", f"iio:{ADC} {file} overwrite=on --bytes 4Mi --json", command="strace")
    tried = [line for line in trace.read_text().splitlines() if "DMA_BUF_IOCTL_SYNC" in line]
    failed = sum("INJECTED" in line for line in tried)
    assert failed > 0 and len(tried) >= 2 * failed
    assert run(f"verify --pattern ramp {file} --json").json["ok"]


def files_of(process):
    """Returns what the open files of a process are, such as "/dmabuf:" or "anon_inode:sync_file"."""
    found = []
    for path in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            found.append(os.readlink(path))
    return found


@pytest.mark.parametrize("memory", ["heap:system", "udmabuf"])
def test_a_block_has_one_open_file_and_another_while_the_device_fills_it(memory):
    blocks = 64
    sim(rate=100_000)  # 41 ms per block
    process = start("stream", f"iio:{ADC} memory={memory} null: --block-size 32Ki --json --blocks", str(blocks))
    until(lambda: "anon_inode:sync_file" in files_of(process), "the first fence")
    files = files_of(process)
    process.send_signal(signal.SIGINT)
    assert finish(process).json["block_count"] == blocks
    dmabufs, fences = (sum(name in file for file in files) for name in ("/dmabuf:", "anon_inode:sync_file"))
    print(f"\n{len(files)} open files: {dmabufs} DMABUFs, {fences} fences")
    assert dmabufs == blocks and fences <= blocks and len(files) - dmabufs - fences <= 32


def test_a_short_recording_has_few_blocks():
    """Otherwise the blocks hold 250 ms. A device with an overflow register fills blocks for 50 ms more."""
    sim()
    summary = run(f"record iio:{ADC} {DISK}/short.ci16 overwrite=on --samples 1000 --json").json
    (DISK / "short.ci16").unlink()
    assert summary["samples"] == 1000 and summary["gaps"]["certain"] == summary["gaps"]["possible"] == 0
    endless = stream(f"iio:{ADC} null: --duration 10ms").json
    assert summary["block_bytes"] == endless["block_bytes"]  # 10 ms
    assert summary["block_count"] == 6 and endless["block_count"] == 25


@pytest.mark.parametrize("blocks", [500, 600, 1000])
def test_many_blocks_need_many_open_files(blocks):
    """Each block needs two files. The soft limit is raised up to the hard limit; beyond that, no DMABUFs
    are used."""
    words = (f"iio:{ADC} memory={{}} null: --block-size 4Ki --samples 1M --json --blocks {blocks}")

    def limited(memory, hard, status=0):
        return run("--nofile=300:" + hard, "iio-stream", "stream", words.format(memory), command="prlimit", status=status)

    for memory in ("udmabuf", "heap:system"):
        assert limited(memory, "4096").mechanism == "dmabuf"
        error = limited(memory, "1000", status=3).json["error"]
        assert error["name"] == "EMFILE" and f"{blocks} blocks" in error["message"], error
        assert "hard limit" in error["hint"], error
    hop = limited("auto", "1000").json["route"][0]
    assert hop["mechanism"] == "fileio" and "open files" in hop["reason"], hop
    words = f"/dev/zero format=ci16_le channel_names=4 iio:{DAC} --block-size 4Ki --samples 100k --json --blocks {blocks}"
    played = run("--nofile=300:4096", "iio-stream", "play", words, command="prlimit").json
    assert played["route"][-1]["mechanism"] == "dmabuf"
