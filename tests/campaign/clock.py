# SPDX-License-Identifier: MIT
"""Simulates a wall clock that steps while a stream records, for one program only, with a preloaded library.

The `clock` of a scenario is a list of steps: [number of readings of the wall clock, seconds by which the
clock then jumps]. Steps count readings and not time, so that the machine's load has no effect."""
import datetime
import os
import shutil
import subprocess

TOLERANCE = 600  # longest duration of a stream on a busy machine, in s; steps are longer
STEPS = [3600, 86400, -3600, -7200, -7200, -86400, -30 * 86400, 30 * 86400]
SHIM = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_long readings;
static int is_active; /* inactive in strace, which passes on its environment */

/* Makes a folder for each step. No scenario makes mkdir() fail or counts its calls. */
static void note(int step)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", getenv("CAMPAIGN_CLOCK_LOG"), step);
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        abort();
}

__attribute__((constructor)) static void begin(void)
{
    is_active = strcmp(program_invocation_short_name, "iio-stream") == 0;
    if (is_active)
        note(0);
}

static long offset_now(void)
{
    const char *text = getenv("CAMPAIGN_CLOCK");
    long count, offset = 0, at, step;
    int used, number = 0;
    if (!is_active)
        return 0;
    count = atomic_fetch_add(&readings, 1) + 1;
    for (; text && sscanf(text, "%ld:%ld,%n", &at, &step, &used) == 2; text += used) {
        ++number;
        if (count >= at)
            offset += step;
        if (count == at)
            note(number);
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
    """Returns random steps. The program reads the clock a few times before the second part begins, and then
    for each part."""
    steps, at = [], 0
    for _ in range(chance.choice([1, 1, 2, 3])):
        at += chance.choice([1, 3, 5, 8, 12, 16])
        steps.append([at, chance.choice(STEPS)])
    return steps


def environment(out):
    """Returns the environment in which the command sees that clock, or None without clock steps or without a
    compiler."""
    compiler = shutil.which("cc")
    if "clock" not in out.made or not compiler:
        return None
    (out.work / "clock.c").write_text(SHIM)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", out.work / "clock.so", out.work / "clock.c"], check=True)
    (out.work / "clock").mkdir()
    steps = "".join(f"{at}:{step}," for at, step in out.made["clock"])
    return {**os.environ, "LD_PRELOAD": str(out.work / "clock.so"), "CAMPAIGN_CLOCK": steps,
            "CAMPAIGN_CLOCK_LOG": str(out.work / "clock")}


def offsets(out):
    """Returns the clock's offsets: before the first step, and after each step that happened."""
    known = [0]
    for number, (_, step) in enumerate(out.made["clock"], 1):
        if (out.work / "clock" / str(number)).exists():
            known.append(known[-1] + step)
    return known


def check(out, parts, found):
    """Checks that each capture has the time that the clock showed when it began. Once a capture
    has a time after a step, no later capture may have a time from before that step."""
    if "trouble" not in out.made and shutil.which("cc") and not (out.work / "clock" / "0").exists():
        raise RuntimeError("the clock's shim was not loaded")
    for key in ("seconds", "closing_seconds"):
        if out.summary and not 0 <= out.summary[key] < TOLERANCE:
            found.add("clock", f"{key} in the summary is {out.summary[key]}")
    known, at, rate = offsets(out), 0, out.made.get("rate")
    for part in parts:
        for start, index, _, text in part.captures:
            if text is None:
                continue
            when = datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
            off = when - out.begun_utc - (index / rate if rate else 0)
            later = [n for n in range(at, len(known)) if abs(off - known[n]) < TOLERANCE]
            if not later:
                found.add("clock", f"{part.name}: the capture at {start} is {off:.0f} s off, but the"
                                   f" clock was {known[at:]}")
                return
            at = later[0]

