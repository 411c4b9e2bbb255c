#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What each thread of a recorder costs, on a board of the lab: thread_costs.py BYTES COMMAND...

Prints JSON: what each thread has spent, in nanoseconds of the processor, with --icount instructions, user and
kernel: as a whole, and in a window while samples flow, from an eighth to seven eighths of BYTES by the
simulator's own count. The thread that uploads is the one that reads and writes as `idle`. `card` is what the
kernel's own threads have spent on the network card, if it has some (`threaded`).
"""
import contextlib
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import time

SIMULATOR = pathlib.Path("/sys/kernel/debug/iios-sim/iios-sim-adc")
LIBC = ctypes.CDLL(None, use_errno=True)
IOPRIO_GET, IDLE = 252, 3  # of x86-64; IOPRIO_CLASS_IDLE
PAUSE = 0.01  # seconds


def count(name):
    return int((SIMULATOR / name).read_text())


def is_idle(thread):
    return LIBC.syscall(IOPRIO_GET, 1, thread) >> 13 == IDLE


def spent(folder):
    return int((folder / "schedstat").read_text().split()[0])


def card():
    found = 0
    for name in pathlib.Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            found += spent(name.parent) if name.read_text().startswith("napi/") else 0
    return found


class Threads:
    def __init__(self, process):
        self.tasks = pathlib.Path(f"/proc/{process}/task")
        self.spent, self.uploading = {}, set()

    def look(self):
        for task in self.tasks.iterdir():
            number = int(task.name)
            with contextlib.suppress(OSError):  # it has ended
                self.spent[number] = spent(task)
                if is_idle(number):
                    self.uploading.add(number)


def watch(process, size):
    """The threads, what they had spent at the window's begin and end, and the window's bytes."""
    threads, edges = Threads(process.pid), []
    before = count("bytes")
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        threads.look()
        made = count("bytes") - before
        if len(edges) < 2 and made >= size * (1, 7)[len(edges)] // 8:
            edges.append((made, dict(threads.spent)))
        time.sleep(PAUSE)
    (first, begin), (last, end) = edges
    return threads, {number: end[number] - begin.get(number, 0) for number in end}, last - first


def main():
    size, command = int(sys.argv[1]), sys.argv[2:]
    card_before = card()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        threads, window, bytes = watch(process, size)
        summary = json.loads(process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    print(json.dumps({
        "status": process.returncode,
        "lost": count("lost"),
        "bytes": bytes,
        "whole": round((usage.ru_utime + usage.ru_stime) * 1e9),
        "card": card() - card_before,
        "threads": [{"whole": whole, "window": window.get(number, 0), "uploads": number in threads.uploading}
                    for number, whole in sorted(threads.spent.items())],
        "summary": summary}))


main()
