# SPDX-License-Identifier: MIT
"""A failing stream as the command's words, and the same in Python: one error, the same in every part."""
import errno
import json

import iio_stream as ios

CLASSES = {1: ios.Error, 2: ios.UsageError, 3: ios.DeviceError, 4: ios.LostSamplesError, 5: ios.StorageError}


def stream(words):
    """ios.stream() of SOURCE [KEY=VALUE…] SINK [KEY=VALUE…]… [--LIMIT VALUE]…"""
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
    """The library's error that a call ends in."""
    try:
        call()
    except ios.Error as error:
        return error
    raise AssertionError("nothing was raised")


def agree(error, name, status, out, err):
    """The exception is of the class and errno that the command's exit status and name imply, and says what
    the command says: on stderr, and in its JSON if it prints one."""
    number = getattr(errno, name)
    assert error.errno == number, repr(error)
    assert isinstance(error, CLASSES[status]) and type(error).__name__ == CLASSES[status].__name__
    assert isinstance(error, type(OSError(number, ""))), type(error).__mro__  # TimeoutError, say
    assert error.filename == (error.object or None)
    assert f": {error}\n" in err, f"'{error}' is not what the command says: {err}"
    if out:
        assert json.loads(out)["error"] == {
            "operation": error.operation, "object": error.object, "errno": number, "name": name,
            "message": str(error), "hint": error.hint or None}
