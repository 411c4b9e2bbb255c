# SPDX-License-Identifier: MIT
"""An endpoint's options are stated once, and found everywhere: tests/cli/added_option.cpp
adds an option to sim: while the command runs, and nothing else knows of it."""
import os
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, COMMAND, DEADLINE, REPOSITORY

ADDED = {**os.environ, "LD_PRELOAD": str(BUILD / "tests" / "libadded-option.so")}
MAN = REPOSITORY / "docs" / "man" / "iio-stream.1"
COMPLETIONS = REPOSITORY / "packaging" / "completions"
STREAMING = ("stream", "record", "play", "bench")


def after(text, heading):
    """The indented lines that follow a heading."""
    return re.search(rf"^ *{re.escape(heading)}.*\n((?: +\S.*\n)+)", text, re.MULTILINE).group(1)


def completed(*words, **options):
    """The possible continuations, with explanations; an empty last word counts too."""
    done = subprocess.run([COMMAND, "help", "--complete", *words], capture_output=True, text=True,
                          timeout=DEADLINE, check=True, **options)
    assert done.stderr == ""
    return dict(line.split("\t", 1) for line in done.stdout.splitlines())


def test_help_of_an_endpoint_has_an_option_that_was_added(iio):
    text = iio("help sim", env=ADDED).out
    assert re.search(r"colour=red\|green\|infrared\n +Colour of the simulated samples\n +\(nm; default: red\)",
                     text), text
    assert iio("help sim:", env=ADDED).out == text
    assert "colour" not in iio("help sim").out


@pytest.mark.parametrize("command", STREAMING)
def test_so_has_the_help_of_commands_that_take_endpoints(iio, command):
    text = iio(command, "--help", env=ADDED).out
    assert re.search(r"colour=red\|green\|infrared +nm; default: red", after(text, "sim:"))
    assert iio("help", command, env=ADDED).out == text


def test_so_has_the_man_page(iio):
    page = iio("help", "--man", MAN, env=ADDED).out
    assert re.search(r"^\.It Cm colour= Ns Ar red\|green\|infrared\nColour of the simulated samples\.\n"
                     r"Unit: nm\.\nDefault: red\.\n", page, re.MULTILINE)


def test_every_endpoint_has_its_place_in_the_man_page(iio):
    listed = re.findall(r"^(?:Sources|Sinks): *(.*)", iio("--help").out, re.MULTILINE)
    names = {word.split(":")[0] for line in listed for word in line.split()}
    assert {"sim", "iio", "verify"} <= names
    assert names | {"every endpoint"} == set(re.findall(r'^\.\\" options: (.*)', MAN.read_text(), re.MULTILINE))


def test_so_have_completions():
    found = completed("record", "sim:", "col", env=ADDED)
    assert found == {"colour=": "Colour of the simulated samples (nm; default: red)"}
    assert list(completed("record", "sim:", "colour=", env=ADDED)) == [
        "colour=red", "colour=green", "colour=infrared"]
    assert "colour=" not in completed("record", "sim:", "colour=red", "c", env=ADDED)


def test_it_is_parsed(iio):
    iio("stream sim: colour=green rate=0 null: --samples 10", env=ADDED)
    assert "seed=infrared" in iio("stream sim: colour=infrared null: --samples 1", env=ADDED, status=2).err
    err = iio("stream sim: colour=blue null:", env=ADDED, status=2).err
    assert "colour=blue" in err and "not red, green or infrared" in err
    assert "did you mean 'colour'?" in iio("stream sim: color=red null:", env=ADDED, status=2).err
    assert "has no option 'colour'" in iio("stream sim: colour=red null:", status=2).err


def test_help_lists_every_option_with_unit_and_default(iio):
    """Counted in the man page's lists, which are made differently."""
    listed = re.findall(r"^\.It Cm ([a-z_.-]+?)=? Ns", iio("help", "--man", MAN).out, re.MULTILINE)
    assert len(listed) > 60
    long = "".join(iio("help", name).out for name in "sim iio file tcp zmq ffs usb null verify:".split())
    short = iio("record --help").out
    for key in set(listed):
        assert re.search(rf"^  {re.escape(key)}[A-Z]*=.*\n +[A-Zl].*\n +\((.+; )?default: .+\)$", long,
                         re.MULTILINE), key
        assert re.search(rf"^    {re.escape(key)}[A-Z]*=\S+ +.*default: \S", short, re.MULTILINE), key
    assert "rate=RATE" in after(long, "Options:") and "S/s; default: 1M" in long


def test_help_of_an_unknown_word_names_the_nearest(iio):
    assert "did you mean 'iio'?" in iio("help iioo", status=2).err
    assert "did you mean 'record'?" in iio("help recrod", status=2).err


def test_completions_know_a_words_position():
    assert {"record", "play", "help"} <= set(completed(""))
    assert {"sim:", "iio:", "file:"} <= set(completed("stream", ""))
    assert "null:" not in completed("stream", "")
    sinks = completed("stream", "sim:", "")
    assert {"null:", "verify:ramp", "verify:lanes", "rate=", "memory="} <= set(sinks)
    assert "cyclic=" not in sinks
    assert "counter=" not in completed("stream", "sim:", "iio:x", "")
    assert list(completed("stream", "sim:", "iio:x", "cyc")) == ["cyclic="]
    assert "--block-size" in completed("stream", "sim:", "null:", "--b")
    assert list(completed("stream", "--on-gap", "")) == ["mark", "stop", "zero-fill"]
    assert list(completed("stream", "--on-gap=z")) == ["--on-gap=zero-fill"]
    assert completed("stream", "sim:", "null:", "--duration", "") == {}
    assert "sim:" in completed("stream", "sim:", "null:", "--and", "")
    assert {"iio", "record"} <= set(completed("help", ""))


def bash(line, **options):
    """What bash would offer for the last word of a line."""
    script = (f'source {COMPLETIONS}/iio-stream.bash; COMP_LINE="$1" COMP_POINT=${{#1}}; '
              f'_iio_stream "{COMMAND}"; printf "%s\\n" "${{COMPREPLY[@]}}"; complete -p iio-stream')
    done = subprocess.run(["bash", "-c", script, "bash", line], capture_output=True, text=True,
                          timeout=DEADLINE, check=True, **options)
    assert done.stderr == ""
    *offers, how = done.stdout.splitlines()
    assert how == "complete -o default -F _iio_stream iio-stream"
    return [offer for offer in offers if offer]


def test_bash_completes():
    assert bash("iio-stream rec") == ["record", "recover"]
    assert bash("iio-stream record si") == ["sim:"]
    assert bash("iio-stream record sim: pat") == ["pattern="]
    # Bash does not replace what precedes the last : or =.
    assert bash("iio-stream record sim: pattern=t") == ["tone"]
    assert bash("iio-stream stream sim: verify:") == ["ramp", "lanes"]
    assert bash("iio-stream record sim: colour=g", env=ADDED) == ["green"]
    assert bash("iio-stream record sim: cap") == []


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_zsh_can_read_its_completions():
    done = subprocess.run(["zsh", "-n", COMPLETIONS / "_iio-stream"], capture_output=True, text=True,
                          timeout=DEADLINE, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish_completes():
    line = f"source {COMPLETIONS}/iio-stream.fish; complete -C 'iio-stream record sim: pat'"
    done = subprocess.run(["fish", "-c", line], capture_output=True, text=True, timeout=DEADLINE,
                          check=True, env={**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}"})
    assert done.stdout.startswith("pattern=\t")
