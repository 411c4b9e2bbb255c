#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the cost of each thread of a recorder on a board of the lab: thread_costs.py BYTES COMMAND...

Prints JSON with the processor time of each thread in nanoseconds, user and kernel (instructions with
--icount): for the whole run, and for a window while samples flow. The window extends from an eighth to seven
eighths of BYTES by the simulator's own count. The upload thread is the one with the I/O priority `idle`.
`card` is the time that the kernel's own threads spent on the network card, if it has such threads
(`threaded`).
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
IOPRIO_GET, IDLE = 252, 3  # the number of the system call on x86-64; IOPRIO_CLASS_IDLE
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
            with contextlib.suppress(OSError):  # the thread has ended
                self.spent[number] = spent(task)
                if is_idle(number):
                    self.uploading.add(number)


def watch(process, size):
    """Returns the threads, the time that each spent in the window, and the window's bytes."""
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
