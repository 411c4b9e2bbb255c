# SPDX-License-Identifier: MIT
"""Tests script/test: the order of its steps, its handling of failures, and the list of flaky tests."""
import datetime
import io
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from test_style import ROOT

sys.path.insert(0, str(ROOT / "tests" / "runner"))
import main  # noqa: E402
import results  # noqa: E402
from schedule import BESIDE, Command, Context, Schedule, Step, is_alive, with_needs  # noqa: E402
from steps import STEPS  # noqa: E402

MOST_FLAKY = 10
TOTALS = re.compile(r"(\d+) passed(?: \(\d+ flaky failed\))?, (\d+) failed, (\d+) skipped"
                    r"(?: \(steps that failed: ([\w/, -]+)\))?")


def shell(script):
    return lambda context: [Command(["sh", "-c", script], {"RESULTS": str(context.results)})]


def note(name, then="true"):
    """Returns a step's command that appends to a file when it begins and when it ends."""
    return shell(f"echo +{name} >>$RESULTS/order; {then}; status=$?; echo -{name} >>$RESULTS/order; "
                 "exit $status")


def run(steps, folder, **options):
    """Runs the steps, and returns the schedule and what it printed."""
    out = io.StringIO()
    schedule = Schedule(steps, Context(ROOT, folder, False), out=out, **options)
    schedule.run()
    return schedule, out.getvalue()


def order(folder):
    return (folder / "order").read_text().split()


def test_steps_of_a_lane_run_one_at_a_time_and_wait_for_others(tmp_path):
    steps = [Step("two", "", note("two"), needs=("one",)),
             Step("one", "", note("one", "sleep 0.2"), lane="other"),
             Step("three", "", note("three"), after=("two", "not chosen"))]
    schedule, out = run(steps, tmp_path)
    assert order(tmp_path) == ["+one", "-one", "+two", "-two", "+three", "-three"]
    assert schedule.passed == {"one", "two", "three"} and not schedule.failed
    assert re.search(r"== +\d+ s  two: passed, in 0 s\n", out)


def test_the_first_runnable_step_starts_first_and_lanes_run_in_parallel(tmp_path):
    until_early_ends = "for i in $(seq 600); do grep -q -- -early $RESULTS/order && break; sleep 0.05; done"
    steps = [Step("long", "", note("long", until_early_ends), lane="other"),
             Step("late", "", note("late"), needs=("long",)),
             Step("early", "", note("early"))]
    run(steps, tmp_path)
    assert order(tmp_path)[-3:] == ["-long", "+late", "-late"]
    assert order(tmp_path).index("-early") < order(tmp_path).index("-long")


def test_a_failure_stops_only_the_steps_that_need_it(tmp_path):
    steps = [Step("bad", "", shell("echo the reason; exit 3")),
             Step("needs it", "", note("needs"), needs=("bad",)),
             Step("needs that", "", note("that"), needs=("needs it",)),
             Step("after it", "", note("after"), after=("bad", "needs that")),
             Step("independent", "", note("independent"), lane=BESIDE)]
    schedule, out = run(steps, tmp_path)
    assert schedule.failed == ["bad"] and schedule.passed == {"after it", "independent"}
    assert sorted(order(tmp_path)) == ["+after", "+independent", "-after", "-independent"]
    assert "bad: failed, status 3, in 0 s" in out and "the reason" in out
    assert "needs that: not run, because needs it was not run" in out


def test_a_step_ends_at_its_first_failed_command_unless_go_on_is_set(tmp_path):
    def commands(context):
        for number in (1, 2, 3):
            yield from note(f"{number}", f"test {number} != 2")(context)

    for go_on, ran in ((False, "+1 -1 +2 -2"), (True, "+1 -1 +2 -2 +3 -3")):
        schedule, _ = run([Step("three", "", commands, go_on=go_on)], tmp_path)
        assert schedule.failed == ["three"] and " ".join(order(tmp_path)) == ran
        (tmp_path / "order").unlink()


def test_a_missing_program_fails_the_step(tmp_path):
    schedule, _ = run([Step("none", "", lambda context: [Command(["/no/such/program"])])], tmp_path)
    assert schedule.failed == ["none"]


def test_background_steps_are_idle_until_the_lab_has_ended(tmp_path):
    begun = 'for i in $(seq 100); do test -e $RESULTS/first && break; sleep 0.1; done; touch $RESULTS/lab'
    ask = "chrt -p $$ | sed 's/.*: //;q' >>$RESULTS/policies; "
    until_the_lab_ends = 'until test -e $RESULTS/lab; do sleep 0.1; done; '
    until_it_is_told = "until chrt -p $$ | grep -q SCHED_OTHER; do sleep 0.1; done; "
    steps = [Step("lab", "", shell(begun)),
             Step("first", "", shell(ask + "touch $RESULTS/first; " + until_the_lab_ends + until_it_is_told),
                  lane="compiler", idle=True),
             Step("second", "", shell(ask), lane="compiler", idle=True, after=("lab",)),
             Step("third", "", shell(ask), lane="compiler", always_idle=True, after=("second",))]
    run(steps, tmp_path)
    assert (tmp_path / "policies").read_text().split() == ["SCHED_IDLE", "SCHED_OTHER", "SCHED_IDLE"]


# ---- the command ----

def script(steps, tmp_path, *words):
    """Runs main() with its own table of steps, and returns its exit status."""
    return main.main(words, steps, tmp_path)


def last_line(capsys):
    out = capsys.readouterr().out
    found = TOTALS.fullmatch(out.splitlines()[-1])
    assert found, out
    return [int(found[count]) for count in (1, 2, 3)], (found[4] or "").split(", ") if found[4] else [], out


def junit(**cases):
    """Returns a shell command that writes the step's JUnit file with these outcomes."""
    marks = {"passed": "", "failed": "<failure/>", "skipped": "<skipped/>"}
    body = "".join(f'<testcase classname="{name}" name="{name}">{marks[outcome]}</testcase>'
                   for name, outcome in cases.items())
    return f"echo '<testsuite>{body}</testsuite>' >$RESULTS/tests.xml; "


def table(script, **options):
    return [Step("base", "", shell("echo >>$RESULTS/../base")),
            Step("tests", "", shell(script), needs=("base",), results=("tests.xml",), **options),
            Step("other", "", shell("exit 1"), runs_in=("full",))]


def test_the_totals_are_correct_and_the_output_names_what_failed(tmp_path, capsys):
    steps = table(junit(a="passed", b="failed", c="skipped") + "echo the end of the log; exit 1")
    assert script(steps, tmp_path) == 1
    counts, failed, out = last_line(capsys)
    assert counts == [1, 1, 1] and failed == ["tests"]
    assert "-- tests failed; its log ends:\nthe end of the log\n" in out and "failed: b\n" in out
    assert re.search(r"-- the slowest steps:\n +\d+ s  \w+\n", out)
    assert script(table(junit(a="passed")), tmp_path) == 0
    assert last_line(capsys)[:2] == ([1, 0, 0], [])


def test_a_step_that_fails_without_a_failed_test_counts_as_failed(tmp_path, capsys):
    for what in (junit(a="passed") + "exit 1", "touch $RESULTS/tests.xml; exit 1", "kill -9 $$"):
        assert script(table(what), tmp_path) == 1
        counts, failed, _ = last_line(capsys)
        assert counts[1] >= 1 and failed == ["tests"]


def test_a_run_without_results_fails(tmp_path, capsys):
    assert script(table("true"), tmp_path) == 1
    assert last_line(capsys)[0] == [0, 1, 0]


def test_steps_without_tests_need_no_results(tmp_path, capsys):
    assert script(table(""), tmp_path, "base") == 0
    assert last_line(capsys)[0] == [0, 0, 0]
    assert script(table(""), tmp_path, "other") == 1
    assert last_line(capsys)[0] == [0, 1, 0]


def test_named_steps_run_with_the_steps_that_they_need(tmp_path, capsys):
    assert script(table(junit(a="passed")), tmp_path, "tests") == 0
    assert (tmp_path / "build" / "base").exists()
    assert script(table(""), tmp_path, "other") == 1
    assert last_line(capsys)[1] == ["other"]


def test_repeat_runs_the_named_steps_repeatedly_and_their_needs_once(tmp_path, capsys):
    (tmp_path / "count").touch()
    script_of_tests = f"echo >>{tmp_path}/count; " + junit(a="passed")
    assert script(table(script_of_tests), tmp_path, "--repeat", "3", "tests") == 0
    counts, _, out = last_line(capsys)
    assert counts == [3, 0, 0] and (tmp_path / "count").read_text() == "\n" * 3
    assert (tmp_path / "build" / "results" / "base").read_text() == "\n" and "==== run 3 of 3" in out
    script_of_tests += f"test $(wc -l <{tmp_path}/count) != 5"  # the second of these runs fails
    assert script(table(script_of_tests), tmp_path, "--repeat", "3", "tests") == 1
    counts, failed, _ = last_line(capsys)
    assert counts == [3, 1, 0] and failed == ["run-2/tests"] and (tmp_path / "count").read_text() == "\n" * 6


def test_repeat_stops_if_a_needed_step_fails(tmp_path, capsys):
    steps = [Step("base", "", shell("exit 1")), Step("tests", "", shell("exit 1"), needs=("base",))]
    assert script(steps, tmp_path, "--repeat", "3", "tests") == 1
    _, failed, out = last_line(capsys)
    assert failed == ["run-1/base"] and "run 2 of 3" not in out


def test_ctrl_c_ends_all_processes(tmp_path):
    program = f"""import sys; sys.path[:0] = ["{ROOT}/tests/runner"]
import main, schedule, signal
from pathlib import Path
from schedule import BESIDE, Command, Step
schedule.GRACE = 0.5
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell ignores it
loop = "trap '' INT; (trap '' TERM; exec sleep 99) & echo $! >>pids; setsid sleep 99 & echo $! >>pids; wait"
step = lambda name: Step(name, "", lambda context: [Command(["sh", "-c", loop])], lane=BESIDE)
try:
    main.main([], [step("one"), step("two")], Path("{tmp_path}"))
except KeyboardInterrupt:
    sys.exit(130)
"""
    process = subprocess.Popen([sys.executable, "-B", "-c", program], stdout=subprocess.DEVNULL)
    pids = tmp_path / "pids"
    deadline = time.monotonic() + 20
    while not (pids.exists() and len(pids.read_text().split()) == 4):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    for pid in pids.read_text().split():
        assert not is_alive(int(pid))


def test_help_explains_each_step_in_one_line():
    done = subprocess.run([ROOT / "script" / "test", "--help"], capture_output=True, text=True, check=True)
    for step in STEPS:
        assert re.search(rf"^  {step.name} +{re.escape(step.help)}", done.stdout, re.MULTILINE), step.name
        assert step.help and len(step.help) < 100
    done = subprocess.run([ROOT / "script" / "test", "nothing"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "no step nothing" in done.stderr


# ---- the table ----

@pytest.mark.parametrize("words", [[], ["--host"], ["--full"], *([step.name] for step in STEPS)],
                         ids=" ".join)
def test_every_selection_of_steps_terminates(words, tmp_path):
    """Checks, without running the commands, that no step waits for itself through its needs or its lane."""
    steps = main.chosen(main.parse(words, STEPS), STEPS)
    ended = []
    while len(ended) < len(steps):
        step = next(step for step in steps if step.name not in ended and not
                    {*step.needs, *step.after} & {one.name for one in steps} - set(ended))
        ended.append(step.name)
    names = {step.name for step in STEPS}
    assert all({*step.needs, *step.after} <= names for step in STEPS) and len(names) == len(STEPS)


def test_a_named_step_runs_with_its_builds():
    assert [step.name for step in with_needs(STEPS, ["asan"])] == ["install", "build-asan", "asan"]
    assert {step.name for step in with_needs(STEPS, ["lab"])} == {
        "install", "build", "environment", "libiio", "lab"}


@pytest.mark.parametrize("full", [False, True])
def test_the_programs_and_files_in_the_table_exist(full, tmp_path):
    """Checks only commands that are known before the step runs."""
    for step in STEPS:
        if step.name in ("environment", "numpy2", "extensions", "build-pythons", "pythons", "python-asan"):
            continue
        for command in step.commands(Context(ROOT, tmp_path, full, ("build",))):
            program = str(command.words[0])
            if "/" in program and not program.startswith(("/", "build/")):
                assert os.access(ROOT / program, os.X_OK), f"{step.name}: {program}"
            for word in map(str, command.words[1:]):
                name = word.removeprefix("--ignore=")
                assert not name.startswith("tests/") or (ROOT / name).exists(), f"{step.name}: {name}"


# ---- flaky tests ----

@pytest.fixture
def flaky(tmp_path, monkeypatch):
    path = tmp_path / "flaky.txt"
    path.write_text("# a comment\n\nb | 2026-11-29 | fails once in 50 runs under ThreadSanitizer\n")
    monkeypatch.setattr(main.results, "flaky_tests", lambda real=results.flaky_tests: real(path))


def test_a_flaky_test_that_fails_is_reported_and_does_not_fail_the_run(flaky, tmp_path, capsys):
    for status in main.TESTS_FAILED:
        assert script(table(junit(a="passed", b="failed") + f"exit {status}"), tmp_path) == 0
        counts, failed, out = last_line(capsys)
        assert counts == [1, 0, 0] and failed == []
        assert "failed, but listed as flaky: b\n" in out and "1 passed (1 flaky failed), 0 failed" in out
        assert "tests: passed, except for flaky tests" in out


def test_only_listed_flaky_failures_are_excused(flaky, tmp_path, capsys):
    for what in (junit(b="failed", c="failed") + "exit 1",       # another test
                 junit(a="passed", b="failed") + "exit 139",     # something worse than failed tests
                 junit(a="passed") + "exit 1",                   # no failed test
                 "touch $RESULTS/tests.xml; exit 1"):            # the runner was cut off
        assert script(table(what), tmp_path) == 1
        counts, failed, _ = last_line(capsys)
        assert counts[1] >= 1 and failed == ["tests"]


def test_each_test_has_the_name_that_its_runner_accepts(tmp_path):
    path = tmp_path / "lab-0.xml"
    place = "tests.style.test_runner"
    path.write_text(f'<testsuite><testcase classname="{place}" name="test_a[1|2]"><failure/></testcase>'
                    f'<testcase classname="{place}" name="test_a[1|2]"/>'
                    f'<testcase classname="{place}.TestC" name="test_b"><skipped/></testcase>'
                    '<testcase classname="unit.Reader.Ends" name="unit.Reader.Ends"/></testsuite>')
    assert results.outcomes(path) == {
        "tests/style/test_runner.py::test_a[1|2]": "failed",
        "tests/style/test_runner.py::TestC::test_b": "failed",  # skipped, which is a failure in the lab
        "unit.Reader.Ends": "passed"}


def test_a_malformed_list_of_flaky_tests_is_refused(tmp_path):
    path = tmp_path / "flaky.txt"
    for line in ("unit.Reader.Ends", "unit.Reader.Ends | yesterday | seen",
                 "unit.Reader.Ends | 2026-11-29 | "):
        path.write_text(line)
        with pytest.raises(ValueError, match="flaky.txt:1"):
            results.flaky_tests(path)
    path.write_text("t.py::test[a | b] | 2026-11-29 | seen")
    assert results.flaky_tests(path) == {"t.py::test[a | b]"}


def test_at_most_ten_tests_are_listed_as_flaky():
    assert len(results.flaky_tests()) <= MOST_FLAKY
    lines = [line for line in results.FLAKY.read_text().splitlines() if line and not line.startswith("#")]
    dates = [datetime.date.fromisoformat(line.rsplit("|", 2)[1].strip()) for line in lines]
    assert all(date <= datetime.date.today() + datetime.timedelta(1) for date in dates)
