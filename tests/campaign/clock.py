# SPDX-License-Identifier: MIT
"""A wall clock that steps while a stream records, for one program only: a shim in C before its C library.

`clock` of a scenario is a list of steps: after so many readings of the wall clock it is so many seconds ahead or
back. Readings and not times, so that the machine's load changes nothing."""
import datetime
import os
import shutil
import subprocess

TOLERANCE = 600  # s that a stream may take on a busy machine; steps are longer
STEPS = [3600, 7200, -3600, -7200, 86400, -86400, 30 * 86400, -30 * 86400]
SHIM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_long readings;

static void note(const char *text)
{
    int log = open(getenv("CAMPAIGN_CLOCK_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log >= 0 && write(log, text, strlen(text)) < 0)
        abort();
    close(log);
}

__attribute__((constructor)) static void begin(void)
{
    note("");
}

static long offset_now(void)
{
    const char *text = getenv("CAMPAIGN_CLOCK");
    long count = atomic_fetch_add(&readings, 1) + 1, offset = 0, at, step;
    int used;
    for (; text && sscanf(text, "%ld:%ld,%n", &at, &step, &used) == 2; text += used) {
        if (count >= at)
            offset += step;
        if (count == at)
            note("x");
    }
    return offset;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += offset_now();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec exact;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result)
{
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (result)
        *result = exact.tv_sec;
    return exact.tv_sec;
}
"""


def generate(chance):
    steps, at = [], 0
    for _ in range(chance.choice([1, 1, 2, 3])):
        at += chance.choice([1, 2, 3, 5, 10, 30])
        steps.append([at, chance.choice(STEPS)])
    return steps


def environment(out):
    """The environment in which the command has that clock; the usual one if there is no compiler."""
    compiler = shutil.which("cc")
    if "clock" not in out.made or not compiler:
        return None
    (out.work / "clock.c").write_text(SHIM)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", out.work / "clock.so", out.work / "clock.c"], check=True)
    steps = "".join(f"{at}:{step}," for at, step in out.made["clock"])
    return {**os.environ, "LD_PRELOAD": str(out.work / "clock.so"), "CAMPAIGN_CLOCK": steps,
            "CAMPAIGN_CLOCK_LOG": str(out.work / "clock.log")}


def offsets(out):
    """How far the clock was off, before the first step and after each that was made."""
    log = out.work / "clock.log"
    made, known = len(log.read_text()) if log.exists() else 0, [0]
    for _, step in out.made["clock"][:made]:
        known.append(known[-1] + step)
    return known


def check(out, parts, found):
    """Each capture has the time that the clock showed when it began: once one is by the clock after a step, none that
    follows is by the clock before it."""
    if "trouble" not in out.made and shutil.which("cc") and not (out.work / "clock.log").exists():
        raise RuntimeError("the shim of the clock was not loaded")
    for key in ("seconds", "closing_seconds"):
        if out.summary and not 0 <= out.summary[key] < TOLERANCE:
            found.add("clock", f"{key} of the summary are {out.summary[key]}")
    known, at, rate = offsets(out), 0, out.made.get("rate")
    for part in parts:
        for start, index, _, text in part.captures:
            if text is None:
                continue
            when = datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
            off = when - out.begun_utc - (index / rate if rate else 0)
            later = [n for n in range(at, len(known)) if abs(off - known[n]) < TOLERANCE]
            if not later:
                found.add("clock", f"{part.name}: the capture at {start} is {off:.0f} s off, the clock was {known[at:]}")
                return
            at = later[0]

