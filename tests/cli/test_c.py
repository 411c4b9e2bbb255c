# SPDX-License-Identifier: MIT
"""The C header, by a program that was compiled as C99 (tests/c/relay.c)."""
import struct
import subprocess

from conftest import BUILD, DEADLINE


def relay(*words):
    return subprocess.run([BUILD / "tests" / "c" / "relay", *map(str, words)], capture_output=True, text=True,
                          timeout=DEADLINE, check=False)


def test_blocks_get_from_a_source_to_a_file(tmp_path):
    done = relay("sim:?rate=0&pattern=ramp", tmp_path / "a.ci16", 100_000)
    assert (done.returncode, done.stdout, done.stderr) == (0, "100000 0 0\n", "")
    words = struct.unpack("<50000Q", (tmp_path / "a.ci16").read_bytes())
    assert words == tuple(range(50_000))


def test_losses_are_reported():
    done = relay("sim:?rate=0&drop_at=5000&drop=300", "null:", 100_000)
    assert (done.returncode, done.stdout) == (0, "100000 300 1\n")


def test_the_end_of_a_recording_is_the_end(tmp_path):
    (tmp_path / "a.ci16").write_bytes(bytes(4 * 3000))
    done = relay(tmp_path / "a.ci16", "null:", 100_000)
    assert (done.returncode, done.stdout) == (0, "3000 0 0\n")


def test_failures_are_reported(tmp_path):
    done = relay("sim:?ratee=0", "null:", 10)
    assert done.returncode == 1 and "ratee" in done.stderr and "rate" in done.stderr
    done = relay(tmp_path / "none.ci16", "null:", 10)
    assert done.returncode == 1 and "No such file" in done.stderr
    done = relay("sim:?rate=0&unplug_at=5000", "null:", 100_000)
    assert done.returncode == 1 and "next: " in done.stderr
    done = relay("sim:?rate=0", "/dev/full", 1_000_000)
    assert done.returncode == 1 and "No space left" in done.stderr
