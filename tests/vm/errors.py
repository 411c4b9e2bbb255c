# SPDX-License-Identifier: MIT
"""Checks that a failure has the right exit status, within a deadline, and a complete description."""
import errno
import subprocess

import pytest
from conftest import finish, start

KEYS = ["operation", "object", "errno", "name", "message", "hint"]


def account(result, status, name, *words):
    """Checks that the JSON's error is complete, has this errno and contains these words, and that stderr
    contains its message."""
    assert result.status == status, f"status {result.status}\n{result.out}\n{result.err}"
    summary = result.json.get("runs", [result.json])[0]
    error = summary["error"]
    assert list(error) == KEYS
    assert error["name"] == name and error["errno"] == getattr(errno, name), error
    for word in words:
        assert str(word) in error["message"], f"'{word}' is not in: {error['message']}"
    assert error["message"] in result.err
    assert summary["ended"] == "error"
    return error


def failing(*arguments, status, name, words=(), timeout=60, **options):
    """Runs a stream that must fail in this way."""
    result = finish(start("stream", *arguments, "--json", **options), timeout)
    account(result, status, name, *words)
    return result


def usage(*arguments, words, timeout=60):
    """Runs a command that must end with a usage error: status 2, and the words on stderr."""
    result = finish(start(*arguments), timeout)
    assert result.status == 2, f"{arguments}: {result.status}\n{result.out}\n{result.err}"
    for word in words:
        assert word in result.err, f"'{word}' is not in: {result.err}"
    return result


def as_nobody(*arguments, timeout=60):
    """Runs the command as an unprivileged user."""
    words = " ".join(arguments).split()
    done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "iio-stream", *words],
                          capture_output=True, text=True, timeout=timeout)
    done.status, done.out, done.err = done.returncode, done.stdout, done.stderr
    return done


class Hidden:
    """A context in which a path is hidden by a mount: the file is missing or not permitted."""

    def __init__(self, *words):
        self.words = [str(word) for word in words]

    def __enter__(self):
        subprocess.run(["mount", *self.words], check=True)

    def __exit__(self, *_):
        subprocess.run(["umount", self.words[-1]], check=True)


def needs(program):
    if subprocess.run(["which", program], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"{program} is not installed")
