# SPDX-License-Identifier: MIT
"""Runs the words of a failing `iio-stream stream` command in Python, and compares the two errors."""
import errno
import json

import iio_stream as ios

CLASSES = {1: ios.Error, 2: ios.UsageError, 3: ios.DeviceError, 4: ios.LostSamplesError, 5: ios.StorageError}


def stream(words):
    """Calls ios.stream() with SOURCE [KEY=VALUE…] SINK [KEY=VALUE…]… [--LIMIT VALUE]…"""
    endpoints, limits = [], {}
    rest = iter(words.split())
    for word in rest:
        if word.startswith("--"):
            limits[word[2:].replace("-", "_")] = next(rest)
        elif "=" in word:
            key, value = word.split("=", 1)
            endpoints[-1][1][key] = value
        else:
            endpoints.append((word, {}))
    source, *sinks = [ios.uri(endpoint, **options) for endpoint, options in endpoints]
    return ios.stream(source, sinks, **limits)


def raised(call):
    """Returns the library's error that `call` raises."""
    try:
        call()
    except ios.Error as error:
        return error
    raise AssertionError("nothing was raised")


def agree(error, name, status, out, err):
    """Asserts that the exception has the class and errno that the command's exit status and name imply, and
    the command's text: on stderr, and in the command's JSON if it prints any."""
    number = getattr(errno, name)
    assert error.errno == number, repr(error)
    assert isinstance(error, CLASSES[status]) and type(error).__name__ == CLASSES[status].__name__
    assert isinstance(error, type(OSError(number, ""))), type(error).__mro__  # for example TimeoutError
    assert error.filename == (error.object or None)
    assert f": {error}\n" in err, f"'{error}' is not in the command's stderr: {err}"
    if out:
        assert json.loads(out)["error"] == {
            "operation": error.operation, "object": error.object, "errno": number, "name": name,
            "message": str(error), "hint": error.hint or None}
