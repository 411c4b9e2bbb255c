# SPDX-License-Identifier: MIT
"""The statements in the documentation are true."""
import os
import re
import shutil
import subprocess

import pytest

import waiting
from conftest import BUILD, DEADLINE, REPOSITORY

README = (REPOSITORY / "README.md").read_text()
MAN = BUILD / "man" / "iio-stream.1"  # with the lists of options
WRITTEN = REPOSITORY / "docs" / "man" / "iio-stream.1"


def test_the_first_example_has_few_lines():
    example = (REPOSITORY / "examples" / "capture.cpp").read_text()
    code = [line for line in example.splitlines() if line and not line.lstrip().startswith("//")]
    assert len(code) <= 15


def test_the_first_output_in_the_readme_is_the_commands_and_script_pictures_runs_that_command(iio):
    """Times and rates are not compared, and "…" replaces some lines."""
    screen = re.search(r"```\n\$ iio-stream (record .*?)\n(.*?)\n\$", README, re.DOTALL)
    command, printed = screen.groups()
    pictures = " ".join((REPOSITORY / "script" / "pictures").read_text().replace("\\\n", " ").split())
    assert command in pictures

    def without_times(line):
        return re.sub(r"in [\d.]+ s, .* MiB/s", "", line)

    # Enough blocks for a busy machine, which would lose more samples than the command drops.
    said = [without_times(line) for line in iio(f"{command} --blocks 512").out.splitlines()]
    shown = [without_times(line) for line in printed.splitlines() if line != "  …"]
    assert len(shown) == 3 and set(shown) <= set(said), said


# A source without a rate cannot lose samples. In real time a busy machine can lose some, and the
# program reports them.
@pytest.mark.parametrize("source", [[], ["sim:?rate=0"]], ids=["as_printed", "without_a_rate"])
def test_the_capture_example_receives_consecutive_samples(tmp_path, source):
    done = subprocess.run([BUILD / "examples" / "capture", *source], capture_output=True, text=True,
                          timeout=DEADLINE, cwd=tmp_path, check=True)
    lines = [[int(number) for number in line] for line in
             re.findall(r"^sample (\d+): (\d+) samples from \(\S+,\S+\), (\d+) gaps$", done.stdout, re.MULTILINE)]
    assert len(lines) == done.stdout.count("\n") > 1
    assert sum(size for _, size, _ in lines) == 1_000_000
    index = before = 0
    for first, size, gaps in lines:
        assert gaps == 0 or not source
        assert first >= index if gaps or before else first == index
        index, before = first + size, gaps


def test_the_capture_example_reports_a_wrong_name(tmp_path):
    done = subprocess.run([BUILD / "examples" / "capture", "/nowhere/a.ci16"], capture_output=True, text=True,
                          timeout=DEADLINE, cwd=tmp_path, check=False)
    assert done.returncode == 1 and done.stdout == ""
    assert "/nowhere/a.ci16" in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_the_readme_lists_the_packages_that_cmake_needs_for_pip():
    line = re.search(r"^sudo apt install (g\+\+ .*)$", README, re.MULTILINE).group(1)
    cmake = "".join((REPOSITORY / "cmake" / name).read_text() for name in ("dependencies.cmake", "parts.cmake"))
    wanted = set(re.findall(r"^\s*need(?:_module)?\(\w+ ([\w.+-]+)[ )]", cmake, re.MULTILINE))
    assert {"g++", "liburing-dev", "pybind11-dev"} <= wanted
    assert set(line.split()) == wanted - {"pybind11-dev", "libmd-dev"} | {"python3-venv"}


def test_the_systemd_unit_records_and_recovers_parts_that_a_kill_interrupted(iio, tmp_path):
    page = (REPOSITORY / "docs" / "on-a-board.md").read_text()
    unit = re.search(r"```ini\n(.*?)```", page, re.DOTALL).group(1)
    assert "RequiresMountsFor=/data\n" in unit

    def line(name):
        command = re.search(rf"^{name}=-?/bin/sh -c '(.*)'$", unit, re.MULTILINE).group(1)
        return command.replace("$$", "$").replace("%%", "%").replace("/data", str(tmp_path)).replace(
            "iio:cf-ad9361-lpc frequency=2.4G rate=2M", "sim: rate=1M").replace("10min", "200ms")

    environment = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}"}
    recorder = subprocess.Popen(["sh", "-c", line("ExecStart")], env=environment)
    try:
        waiting.until(lambda: list(tmp_path.glob("*.0001.sigmf-data.journal")))
    finally:
        recorder.kill()
        recorder.wait()
    subprocess.run(["sh", "-c", line("ExecStartPre")], env=environment, check=True, timeout=DEADLINE)
    parts = sorted(tmp_path.glob("20*Z.000?.sigmf-meta"))
    assert len(parts) >= 2 and not list(tmp_path.glob("*.journal"))
    for part in parts:
        iio("verify", part)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_accepts_the_unit_that_records_at_boot(tmp_path):
    page = (REPOSITORY / "docs" / "on-a-board.md").read_text()
    (tmp_path / "record.service").write_text(re.search(r"```ini\n(.*?)```", page, re.DOTALL).group(1))
    done = subprocess.run(["systemd-analyze", "verify", tmp_path / "record.service"], capture_output=True, text=True,
                          timeout=DEADLINE, check=False)
    assert done.returncode == 0 and "record.service" not in done.stderr, done.stderr


def test_links_in_the_documents_point_to_existing_files():
    for document in [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md")]:
        text = re.sub(r"^```.*?^```", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_every_option_and_command_is_in_the_man_page(iio):
    page = MAN.read_text()
    for name in re.findall(r"^  ([a-z-]+) +\w", iio("--help").out, re.MULTILINE):
        if name == "iio-stream":
            continue
        assert f".Cm {name}" in page, name
        for option in re.findall(r"--([a-z-]+)", re.sub("\nExample:\n.*", "", iio(name, "--help").out)):
            if option not in ("help", "all"):
                assert f"Fl -{option}" in page, (name, option)


@pytest.mark.skipif(not shutil.which("mandoc"), reason="mandoc is not installed")
@pytest.mark.parametrize("page", [MAN, WRITTEN], ids=["installed", "written"])
def test_mandoc_has_no_complaints(page):
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_groff_has_no_complaints():
    done = subprocess.run(["groff", "-mdoc", "-ww", "-Tutf8", MAN], capture_output=True,
                          text=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert "iio-stream" in done.stdout
