#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares iio-stream with fio by the CPU seconds per GiB that each writes or reads.

    tests/bench/fio.py FOLDER [--read] [--size MiB] [--pairs N] [--block MiB] [--depth N] [--mem TYPE]

Both programs use the same engine, block size, depth and file. Pairs are interleaved (A B, B A, …) and each
number is a median, because a shared machine is noisy. All runs use direct I/O. The file to be written is
empty, but its space is reserved. For fio, this script reserves the space in advance. A recording never
overwrites an older one in place, so iio-stream reserves the space itself, and that time is included. Both
programs read the same existing file. The CPU times are those that each program reports for its own work,
excluding its startup. fio is the Debian package (apt-get install fio).
"""
import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess

COMMAND = pathlib.Path(__file__).resolve().parents[2] / "build/iio-stream"
MIB = 1 << 20


def output_of(words):
    return json.loads(subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, check=True).stdout)


def seconds_of(summary):
    return summary["cpu"]["user_seconds"] + summary["cpu"]["system_seconds"]


def ours(file, engine, options):
    way = [f"engine={engine}", "direct=on", f"depth={options.depth}"]
    if options.read:
        words = ["stream", file, *way, "null:"]
    else:
        os.truncate(file, 0)
        words = ["record", "sim:", "pattern=stamp", "rate=0", file, *way, "sync=none", "overwrite=on",
                 f"preallocate={options.size}Mi", "--bytes", f"{options.size}Mi"]
    summary = output_of([COMMAND, *words, "--block-size", f"{options.block}Mi", "--blocks", 2 * options.depth,
                         "--json"])
    assert summary["bytes"] == options.size * MIB and summary["copies"] == 0, summary["route"]
    return seconds_of(summary)


def source_alone(options):
    """Returns the CPU seconds for generating the samples (one word per 4 KiB), which fio does not do."""
    summary = output_of([COMMAND, "bench", "sim:", "pattern=stamp", "rate=0", "null:", "--block-size",
                         f"{options.block}Mi", "--blocks", 2 * options.depth, "--bytes", f"{options.size}Mi",
                         "--json"])
    return seconds_of(summary)


def fios(file, engine, options):
    if not options.read:
        os.truncate(file, 0)
        with open(file, "r+b") as reserved:
            os.posix_fallocate(reserved.fileno(), 0, options.size * MIB)
    direction = "read" if options.read else "write"
    job = output_of(["fio", "--name=beside", f"--filename={file}", f"--rw={direction}",
                     "--direct=1", "--thread", f"--ioengine={engine}", f"--iodepth={options.depth}",
                     f"--bs={options.block}m", f"--size={options.size}m", "--fallocate=none",
                     "--scramble_buffers=0", f"--mem={options.mem}", "--output-format=json",
                     *(["--fixedbufs", "--registerfiles"] if engine == "io_uring" else [])])["jobs"][0]
    done = job[direction]["io_bytes"]
    assert done == options.size * MIB and job["error"] == 0, job
    return (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1000


def compare(file, engine, options):
    found = {ours: [], fios: []}
    source = "–"
    if not options.read:
        source = statistics.median(source_alone(options) for _ in range(options.pairs)) / options.size * 1024
        source = f"{source:.4f}"
    for pair in range(options.pairs):
        for one in (ours, fios) if pair % 2 == 0 else (fios, ours):
            found[one].append(one(file, engine, options) / options.size * 1024)
    mine, theirs = (statistics.median(found[one]) for one in (ours, fios))
    ratio = statistics.median(a / b for a, b in zip(found[ours], found[fios]))
    print(f"| {engine} | {mine:.4f} | {source} | {theirs:.4f} | {ratio:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--read", action="store_true")
    parser.add_argument("--size", type=int, default=2048, help="MiB")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--block", type=int, default=1, help="MiB")
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--mem", default="malloc", help="fio's memory; shmhuge if iio-stream has huge pages")
    options = parser.parse_args()
    version = subprocess.run(["fio", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{version}, Linux {platform.release()}, {options.size} MiB in blocks of {options.block} MiB, "
          f"{options.depth} in flight, {options.pairs} pairs; CPU seconds per GiB "
          f"{'read' if options.read else 'written'}\n")
    print("| engine | iio-stream | source alone | fio | ratio |\n|---|---|---|---|---|")
    file = pathlib.Path(options.folder) / "iio-stream.bench.ci16"
    output_of([COMMAND, "record", "sim:", "pattern=stamp", "rate=0", file, "--bytes", f"{options.size}Mi",
               "--json"])
    try:
        for engine in ("io_uring", "libaio"):
            compare(file, engine, options)
    finally:
        file.unlink()


if __name__ == "__main__":
    main()
