# SPDX-License-Identifier: MIT
"""Scenarios with a pipe that stays open after it has been fed. A signal, a duration or a number of samples
ends the stream.

The `open` of a scenario has these settings: `kind` (stdin or fifo), `end` (sigint, sigterm, duration or
samples), `stop_at` (samples), `rate` (S/s) and `pause` (wait after each chunk until the stream has read it).
The campaign keeps the pipe open for reading too, so that it can count the bytes that the stream has left in
it."""
import array
import contextlib
import fcntl
import os
import select
import signal
import termios
import time

import samples

SIGNALS = {"sigint": signal.SIGINT, "sigterm": signal.SIGTERM}
DURATION = 1  # s; counted in samples if the pipe has a rate, otherwise by the clock


def generate(chance, maybe, made):
    """Makes the pipe of a scenario stay open."""
    made["open"] = pipe = {"kind": chance.choice(["stdin", "fifo"]),
                           "end": chance.choice(["sigint", "sigterm", "duration", "samples"])}
    if pipe["end"] == "samples":
        pipe["stop_at"] = chance.randrange(1, made["samples"] + 1)
    if maybe(chance, 0.3):
        # At a lower rate, the wait for the last samples of a duration, which is twice a block's duration,
        # would be long.
        pipe["rate"] = max(500_000, round(made["samples"] * chance.choice([0.3, 1, 2])))
    if maybe(chance, 0.4):
        pipe["pause"] = True
        made["chunk"] = max(made.get("chunk", 1000), made["samples"] * 16 // 40)


class Pipe:
    """The campaign's end of an open pipe. Thread: one."""

    def __init__(self, made, work):
        self.made, self.settings = made, made["open"]
        self.written = 0
        if self.settings["kind"] == "fifo":
            self.path = work / "in.fifo"
            os.mkfifo(self.path)
            self.write_end = os.open(self.path, os.O_RDWR | os.O_NONBLOCK)
            self.read_end = None
        else:
            self.path = "-"
            self.read_end, self.write_end = os.pipe()
            os.set_blocking(self.write_end, False)

    def unread(self):
        """Returns the number of bytes that the stream has not read yet."""
        count = array.array("i", [0])
        fcntl.ioctl(self.write_end, termios.FIONREAD, count)
        return count[0]

    def drive(self, process, victim, data, patience):
        """Feeds the pipe, waits until it is empty, and ends the stream if it does not end by itself."""
        chunk = self.made.get("chunk", 1 << 20)
        for at in range(0, len(data), chunk):
            if not self._feed(process, data[at:at + chunk], patience):
                return
            if self.settings.get("pause") and not self._wait_until_empty(process, patience):
                return
        if not self._wait_until_empty(process, patience):
            return
        if self.settings["end"] in SIGNALS and victim is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, SIGNALS[self.settings["end"]])

    def _feed(self, process, data, patience):
        while data:
            if process.poll() is not None or patience.is_over():
                return False
            with contextlib.suppress(BlockingIOError):
                count = os.write(self.write_end, data)
                self.written += count
                data = data[count:]
                continue
            select.select([], [self.write_end], [], 0.05)
        return True

    def _wait_until_empty(self, process, patience):
        while self.unread():
            if process.poll() is not None or patience.is_over():
                return False
            time.sleep(0.001)
        return True

    def due(self):
        """Returns how many samples the stream must deliver: all complete samples that it has read, up to its
        limit. It can read more than its limit."""
        taken = (self.written - self.unread()) // samples.Format(self.made["format"]).sample_bytes
        limit = self.settings.get("stop_at", taken)
        if self.settings["end"] == "duration" and "rate" in self.settings:
            limit = self.settings["rate"] * DURATION
        return min(taken, limit)

    def close(self):
        for end in (self.read_end, self.write_end):
            if end is not None:
                os.close(end)


def words(made, path):
    """Returns the source's arguments, and the options that end the stream."""
    pipe = made["open"]
    source = [str(path), "format=" + made["format"], *([f"rate={pipe['rate']}"] if "rate" in pipe else [])]
    options = {"samples": ["--samples", str(pipe.get("stop_at"))],
               "duration": ["--duration", f"{DURATION}s"]}.get(pipe["end"], [])
    return source, options


def check(out, found):
    """Checks that the stream ended as it should, with everything that it read."""
    if out.status != 0 or not out.summary:
        return
    ended = {"sigint": "signal", "sigterm": "signal"}.get(out.made["open"]["end"], out.made["open"]["end"])
    if out.summary["ended"] != ended:
        found.add("ended", f"by {out.summary['ended']}, and not by {ended}")
    if out.summary["samples"] != out.due:
        found.add("missing", f"{out.due} samples were read from the pipe, but the summary has"
                             f" {out.summary['samples']}")
