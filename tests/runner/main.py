# SPDX-License-Identifier: MIT
"""The command line of script/test."""
from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import results
from schedule import Context, Schedule, Step, last_lines, with_needs
from steps import STEPS

ROOT = Path(__file__).resolve().parents[2]
TESTS_FAILED = (1, 8)  # exit statuses of pytest and ctest if tests failed and nothing worse happened
SLOWEST = 10


def parse(words: Sequence[str], steps: Sequence[Step]) -> argparse.Namespace:
    mark = {"all": "", "full": " (with --full)", "host": " (with --host)"}
    lines = [f"  {step.name:14}{step.help}{mark[step.runs_in[0]]}" for step in steps]
    parser = argparse.ArgumentParser(
        prog="script/test", formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
        description="Installs what is missing, builds everything, runs every test and ends with one line of\n"
        "totals. A step that fails does not stop the others. No test is run a second time. Logs and\n"
        "results are in build/results.",
        epilog="\n".join(["steps:", *lines]))
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--full", action="store_true", help="also use the higher counts of tests/counts.py, "
                       "which take hours, and run the steps for boards, Debian 13, clang-tidy and the ABI")
    modes.add_argument("--host", action="store_true", help="run only the steps that need no lab and no "
                       "sanitizer: unit tests, the command, Python, GNU Radio and SoapySDR")
    parser.add_argument("--repeat", type=int, metavar="N",
                        help="run the named steps N times, and fail if any run fails")
    parser.add_argument("step", nargs="*", metavar="STEP",
                        help="run only these steps, and the steps that they need")
    options = parser.parse_args(words)
    unknown = [name for name in options.step if name not in {step.name for step in steps}]
    if unknown:
        parser.error(f"there is no step {unknown[0]}: script/test --help lists them")
    if options.repeat is not None and (options.repeat < 1 or not options.step):
        parser.error("--repeat needs a number of at least 1, and the names of steps")
    return options


def chosen(options: argparse.Namespace, steps: Sequence[Step]) -> list[Step]:
    mode = "full" if options.full else "host" if options.host else "all"
    return with_needs(steps, options.step or [step.name for step in steps if mode in step.runs_in])


def is_excused(flaky: set[str], step: Step, status: int, context: Context) -> bool:
    """Returns whether all failed tests of a step are listed as flaky, and nothing else failed."""
    paths = [[*context.results.glob(pattern)] for pattern in step.results]
    return status in TESTS_FAILED and bool(paths) and all(paths) and results.only_flaky_failed(
        [path for found in paths for path in found], flaky)


def show_failure(name: str, log: Path) -> None:
    print(f"\n-- {name} failed; its log ends:")
    text = log.read_text(errors="replace").splitlines() if log.exists() else []
    for line in [line for line in text if re.search(r"(FAILED|ERROR)|: status [1-9]", line)][-20:]:
        print(line)
    print(last_lines(log, 80), end="")


def show_slowest(runs: Sequence[Schedule]) -> None:
    seconds = [(taken, name) for run in runs for name, taken in run.seconds.items()]
    print("\n-- the slowest steps:")
    for taken, name in sorted(seconds, reverse=True)[:SLOWEST]:
        print(f"{taken:6.0f} s  {name}")


def main(words: Sequence[str], steps: Sequence[Step] = STEPS, root: Path = ROOT) -> int:
    options = parse(words, steps)
    steps = chosen(options, steps)
    flaky = results.flaky_tests()
    os.environ["IIO_STREAM_FULL"] = "1" if options.full else "0"
    folder = root / "build" / "results"
    shutil.rmtree(folder, ignore_errors=True)
    packages = [name for step in steps for name in step.packages]
    packages += [name for step in steps for name in step.full_packages if options.full]
    began = time.monotonic()
    runs: list[Schedule] = []
    folders: list[Path] = []
    done: set[str] = set()  # the steps that the named steps need run only once
    for number in range(options.repeat or 1):
        if options.repeat:
            print(f"\n==== run {number + 1} of {options.repeat}", flush=True)
        folders.append(folder / f"run-{number + 1}" if options.repeat else folder)
        folders[-1].mkdir(parents=True)
        context = Context(root, folders[-1], options.full, tuple(dict.fromkeys(packages)))
        runs.append(Schedule(steps, context, done=done, began=began,
                             excuse=partial(is_excused, flaky)))
        runs[-1].run()
        done = runs[-1].passed - set(options.step)
        if set(runs[-1].failed) - set(options.step):
            break  # a step that the named steps need has failed
    failed = []
    for run, place in zip(runs, folders):
        for name in run.failed:
            failed.append(f"{place.name}/{name}" if options.repeat else name)
            show_failure(failed[-1], place / f"{name}.log")
    show_slowest(runs)
    print(f"\n== {time.monotonic() - began:4.0f} s  done; logs in build/results")
    have_tests = any(step.results or step.name in results.SELFTESTS for step in steps)
    return results.totals(folders, failed, flaky, have_tests)


def terminate(number: int, frame: object) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, terminate)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup sets SIG_IGN
        signal.signal(signal.SIGHUP, terminate)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
