# SPDX-License-Identifier: MIT
"""Runs the steps of a table. Each step starts when the steps that it depends on have ended, and no more steps
run at once than the table allows."""
from __future__ import annotations

import codecs
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TextIO

SHOWN = "front"    # the lane of the steps whose output is shown while they run; others only have a log
BESIDE = "beside"  # a lane without a limit: each of its steps starts as soon as it can
POLL = 0.1  # seconds
GRACE = 5   # seconds from SIGTERM to SIGKILL


@dataclass(frozen=True)
class Context:
    """The values on which the commands of a step can depend."""

    root: Path
    results: Path
    full: bool
    packages: tuple[str, ...] = ()  # groups of script/install that the chosen steps need


@dataclass(frozen=True)
class Command:
    """One program to run. `environment` is added to the environment of this process."""

    words: Sequence[str | Path]
    environment: dict[str, str] = field(default_factory=dict)


Commands = Callable[[Context], Iterable[Command]]


@dataclass(frozen=True)
class Step:
    """One line of the table.

    The steps in `needs` must have succeeded. The steps in `after` must have ended, if they run at all. Each
    lane runs one step at a time, and starts the first step of the table that can run. `packages` are groups
    of script/install, and `full_packages` are additional ones for --full. Until the lab has ended, an `idle`
    step only gets the processor time that all other steps leave (SCHED_IDLE). An `always_idle` step does so
    until its own end. If `go_on` is set, the remaining commands run after one has failed.
    A step that `asks` can ask for a password at the terminal. `results` are patterns of the names of the
    JUnit files that the step writes.
    """

    name: str
    help: str
    commands: Commands
    lane: str = SHOWN
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    full_packages: tuple[str, ...] = ()
    runs_in: tuple[str, ...] = ("all", "full")
    idle: bool = False
    always_idle: bool = False
    asks: bool = False
    go_on: bool = False
    results: tuple[str, ...] = ()


def with_needs(steps: Sequence[Step], names: Iterable[str]) -> list[Step]:
    """Returns these steps and all steps that they need, in the order of the table."""
    table = {step.name: step for step in steps}
    wanted: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name not in wanted:
            wanted.add(name)
            left += table[name].needs
    return [step for step in steps if step.name in wanted]


def descendants(first: int) -> list[int]:
    """Returns a process, the processes of its group if it leads one, and all their descendants in any
    group."""
    parents: dict[int, int] = {}
    found = {first}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
            process = int(stat.parent.name)
            parents[process] = int(fields[1])
            if int(fields[2]) == first:
                found.add(process)
    while more := {process for process, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found)


def set_idle(process: int, idle: bool) -> None:
    """Sets the policy of all threads of a process to SCHED_IDLE, or back to normal. Does nothing if the
    system refuses."""
    policy = os.SCHED_IDLE if idle else os.SCHED_OTHER
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process or 'self'}/task"):
            os.sched_setscheduler(int(thread), policy, os.sched_param(0))


class Running:
    """A step that has started. Its commands run one after another, each in its own process group. A step that
    can ask at the terminal stays in the caller's group, to which the terminal belongs.
    """

    def __init__(self, step: Step, context: Context, idle: bool) -> None:
        self.step = step
        self.status = 0
        self.began = time.monotonic()
        self.idle = idle
        self.path = context.results / f"{step.name}.log"
        self._log = open(self.path, "wb")  # noqa: SIM115 (poll() closes it)
        self._commands: Iterator[Command] = iter(step.commands(context))
        self._context = context
        self._process: subprocess.Popen[bytes] | None = None

    def poll(self) -> bool:
        """Starts the next command if the last one has ended. Returns False when no command is left."""
        if self._process is not None:
            status = self._process.poll()
            if status is None:
                return True
            self.status = self.status or (status if status >= 0 else 128 - status)
            self._process = None
            if status != 0 and not self.step.go_on:
                self._log.close()
                return False
        try:
            command = next(self._commands, None)
            if command is not None:
                self._process = subprocess.Popen(
                    list(map(str, command.words)), cwd=self._context.root,
                    preexec_fn=partial(set_idle, 0, True) if self.idle else None,
                    process_group=None if self.step.asks else 0,
                    env={**os.environ, **command.environment}, stdin=subprocess.DEVNULL, stdout=self._log,
                    stderr=subprocess.STDOUT)
                return True
        except (OSError, subprocess.CalledProcessError) as error:
            self._log.write(f"{error}\n".encode())
            self.status = 127
        self._log.close()
        return False

    def hurry(self) -> None:
        """Gives the step its normal priority. An unprivileged user is not allowed to do this."""
        if self.idle and self._process is not None:
            for process in descendants(self._process.pid):
                set_idle(process, False)
        self.idle = False

    def processes(self) -> list[int]:
        return [] if self._process is None else descendants(self._process.pid)

    def reap(self) -> None:
        if self._process is not None:
            self._process.wait()


def end(running: Iterable[Running]) -> None:
    """Ends all processes of these steps."""
    steps = list(running)
    # A process that gets SIGTERM can leave its children to init, where descendants() no longer finds them.
    processes = {process for step in steps for process in step.processes()}
    for process in processes:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGTERM)
    deadline = time.monotonic() + GRACE
    while time.monotonic() < deadline and any(is_alive(process) for process in processes):
        for step in steps:
            processes.update(step.processes())
        time.sleep(POLL)
    for process in processes:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
    for step in steps:
        step.reap()


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Schedule:
    """Runs steps until all have ended. `excuse` returns whether a step that failed nevertheless
    counts as passed."""

    def __init__(self, steps: Sequence[Step], context: Context, *, done: Iterable[str] = (), lab: str = "lab",
                 excuse: Callable[[Step, int, Context], bool] = lambda step, status, context: False,
                 out: TextIO | None = None, began: float | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self.passed: set[str] = set(done)
        self.failed: list[str] = []
        self.left_out: dict[str, str] = {}  # {step that did not run: step that is the reason}
        self._waiting = [step for step in steps if step.name not in self.passed]
        self._running: list[Running] = []
        self._context = context
        self._lab = lab
        self._excuse = excuse
        self._out = out or sys.stdout
        self._began = time.monotonic() if began is None else began
        self._shown: tuple[Running, int] | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def run(self) -> bool:
        """Runs all steps, and returns whether none failed."""
        try:
            while self._waiting or self._running:
                self._begin()
                self._follow()
                for running in list(self._running):
                    if not running.poll():
                        self._end(running)
                if self._running:
                    time.sleep(POLL)
        except BaseException:
            end(self._running)
            raise
        return not self.failed

    def _begin(self) -> None:
        for step in list(self._waiting):
            bad = next((name for name in step.needs if name in self.failed or name in self.left_out), None)
            if bad is not None:
                self._waiting.remove(step)
                self.left_out[step.name] = bad
                reason = "failed" if bad in self.failed else "was not run"
                self._say(f"{step.name}: not run, because {bad} {reason}")
            elif self._may_begin(step):
                self._waiting.remove(step)
                running = Running(step, self._context, self._is_idle(step))
                self._running.append(running)
                self._say(f"{step.name}: started")
                if step.lane == SHOWN:
                    self._shown = (running, 0)
                    self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def _may_begin(self, step: Step) -> bool:
        pending = {one.name for one in self._waiting} | {one.step.name for one in self._running}
        if pending & {*step.needs, *step.after}:
            return False
        return step.lane == BESIDE or all(one.step.lane != step.lane for one in self._running)

    def _is_idle(self, step: Step) -> bool:
        unfinished = [*self._waiting, *(one.step for one in self._running)]
        lab_is_ahead = any(one.name == self._lab for one in unfinished)
        return step.always_idle or (step.idle and lab_is_ahead)

    def _end(self, running: Running) -> None:
        step = running.step
        self._follow()
        self._running.remove(running)
        self.seconds[step.name] = time.monotonic() - running.began
        passed = running.status == 0
        excused = not passed and self._excuse(step, running.status, self._context)
        word = "passed" if passed else f"failed, status {running.status}"
        if excused:
            word = "passed, except for flaky tests"
        if not passed and step.lane != SHOWN:
            self._out.write("\n" + last_lines(running.path, 30))
        self._say(f"{step.name}: {word}, in {self.seconds[step.name]:.0f} s")
        if passed or excused:
            self.passed.add(step.name)
        else:
            self.failed.append(step.name)
        if self._shown is not None and self._shown[0] is running:
            self._shown = None
        if step.name == self._lab:
            for other in self._running:
                if not other.step.always_idle:
                    other.hurry()

    def _follow(self) -> None:
        """Prints the new output of the step whose output is shown."""
        if self._shown is None:
            return
        running, position = self._shown
        with open(running.path, "rb") as log:
            log.seek(position)
            text = log.read()
        if text:
            self._out.write(self._decoder.decode(text))
            self._out.flush()
            self._shown = (running, position + len(text))

    def _say(self, text: str) -> None:
        self._out.write(f"\n== {time.monotonic() - self._began:4.0f} s  {text}\n")
        self._out.flush()


def last_lines(path: Path, count: int) -> str:
    with contextlib.suppress(OSError):
        lines = path.read_text(errors="replace").splitlines()[-count:]
        return "".join(f"{line}\n" for line in lines)
    return ""
