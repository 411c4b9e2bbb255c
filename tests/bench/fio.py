#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPU seconds per GiB written, beside fio's: the same engine, block size, depth and file system.

    tests/bench/fio.py FOLDER [--size MiB] [--pairs N] [--block MiB] [--depth N]

Pairs are interleaved (A B, B A, …) and each figure is a median: a shared machine is noisy. Both make a
new file, reserve its room first and write it past the page cache. What is counted is what each says of
its own writing, without its start. fio is Debian's (apt-get install fio).
"""
import argparse
import json
import pathlib
import platform
import statistics
import subprocess

COMMAND = pathlib.Path(__file__).resolve().parents[2] / "build/iio-stream"
MIB = 1 << 20


def output_of(words):
    return json.loads(subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, check=True).stdout)


def ours(file, engine, options):
    summary = output_of([COMMAND, "record", "sim:", "pattern=stamp", "rate=0", file, f"engine={engine}",
                         "direct=on", f"depth={options.depth}", f"preallocate={options.size}Mi",
                         "--block-size", f"{options.block}Mi", "--blocks", 2 * options.depth,
                         "--bytes", f"{options.size}Mi", "--json"])
    assert summary["bytes"] == options.size * MIB and summary["copies"] == 0, summary["route"]
    return summary["cpu"]["user_seconds"] + summary["cpu"]["system_seconds"]


def source_alone(options):
    """Of ours, what making the samples costs (a word in each 4 KiB), which fio does not."""
    summary = output_of([COMMAND, "bench", "sim:", "pattern=stamp", "rate=0", "null:", "--block-size",
                         f"{options.block}Mi", "--blocks", 2 * options.depth, "--bytes", f"{options.size}Mi",
                         "--json"])
    return summary["cpu"]["user_seconds"] + summary["cpu"]["system_seconds"]


def fios(file, engine, options):
    job = output_of(["fio", "--name=write", f"--filename={file}", "--rw=write", "--direct=1", "--thread",
                     f"--ioengine={engine}", f"--iodepth={options.depth}", f"--bs={options.block}m",
                     f"--size={options.size}m", "--fallocate=native", "--scramble_buffers=0",
                     "--output-format=json",
                     *(["--fixedbufs", "--registerfiles"] if engine == "io_uring" else [])])["jobs"][0]
    return (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1000


def compare(engine, options):
    file = pathlib.Path(options.folder) / "iio-stream.bench.ci16"
    found = {ours: [], fios: []}
    source = statistics.median(source_alone(options) for _ in range(options.pairs)) / options.size * 1024
    for pair in range(options.pairs):
        for one in (ours, fios) if pair % 2 == 0 else (fios, ours):
            file.unlink(missing_ok=True)
            found[one].append(one(file, engine, options) / options.size * 1024)
    file.unlink()
    mine, theirs = (statistics.median(found[one]) for one in (ours, fios))
    ratio = statistics.median(a / b for a, b in zip(found[ours], found[fios]))
    print(f"| {engine} | {mine:.4f} | {source:.4f} | {theirs:.4f} | {ratio:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--size", type=int, default=2048, help="MiB")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--block", type=int, default=1, help="MiB")
    parser.add_argument("--depth", type=int, default=8)
    options = parser.parse_args()
    version = subprocess.run(["fio", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{version}, Linux {platform.release()}, {options.size} MiB in blocks of {options.block} MiB, "
          f"{options.depth} in flight, {options.pairs} pairs; CPU seconds per GiB\n")
    print("| engine | iio-stream | of it the source | fio | ratio |\n|---|---|---|---|---|")
    for engine in ("io_uring", "libaio"):
        compare(engine, options)


if __name__ == "__main__":
    main()
