# SPDX-License-Identifier: MIT
"""Wrong arguments of each type in each position of every public function give an error in Python's terms."""
import inspect
import pickle

import numpy as np
import pytest

import iio_stream as ios
from iio_stream import gadget, view

WRONG = [None, -1, 1.5, float("nan"), "x", "\udcff", "a\0b", b"x", [], {}, object(), int, (1, 2), 2**70, 1j,
         ..., np.int8(3), np.float32(1), np.zeros(3), np.zeros((2, 2), complex), lambda: 1, {1, 2}, slice(1)]
#: Words about C++ or internals of the package.
FOREIGN = ("incompatible", "argument types", "Invoked with", "Unable to cast", "pybind", "C++", "_core",
           "std::", "arg0", "is not iterable", "has no attribute")
ANSWERS = (TypeError, ValueError, IndexError, BufferError, OSError)
FUNCTIONS = {  # functions with valid arguments
    ios.source: ("sim:",), ios.sink: ("null:",), ios.uri: ("sim:",), ios.play: ("no.ci16", "null:"),
    ios.stream: ("sim:?rate=0", "null:"), ios.record: ("sim:?rate=0", "a.ci16"), view.look: ("sim:?rate=0",),
    ios.verify: ("no.ci16",), ios.recover: ("no.ci16",), ios.open_recording: ("no.ci16",),
    ios.device: ("iio:no",), ios.devices: (), ios.probe: ("iio:no",), ios.tune: ("iio:no",), ios.check: (),
    ios.schemes: (), ios.options: ("sim",), ios.doctor: (), gadget.down: ("no",), gadget.status: (),
    ios.attr.set: ("a/b",),
    ios.attr.__getitem__: (), ios.Reader: (), ios.Writer: (), ios.Block: (), ios.EmptyBlock: (), ios.Gap: (),
    ios.Time: (), ios.Session: (),
}
OPTIONAL = {"samples", "bytes", "duration", "timeout", "progress", "file_options"}  # None would be valid


def streams():
    """Returns an object of each class with methods, by the name of the class."""
    rx, tx, session = ios.source("sim:", rate=0, samples=50_000), ios.sink("null:"), ios.Session()
    pipeline = session.add("sim:?rate=0", "null:", samples=10)
    other = ios.source("sim:", rate=0, samples=5000, drop_at=100)
    done = ios.stream("sim:", "verify:ramp", rate=0, samples=1000)
    block = next(rx)
    worker = ios.source("sim:", rate=0, samples=10).call(lambda block: None)
    found = [rx, tx, session, pipeline, done, block, tx.take(), other.read(4000), worker, block.time,
             rx.format]
    return {type(one).__name__: one for one in found}


def public(thing):
    return [name for name in dir(type(thing))
            if not name.startswith("_") and callable(getattr(thing, name, None))]


METHODS = [(kind, name) for kind, thing in streams().items() for name in public(thing)]


def answered(function, *words, **options):
    try:
        made = function(*words, **options)
    except ANSWERS as error:
        said = f"{type(error).__name__}: {error}"
        assert not [word for word in FOREIGN if word in said], said
    else:
        if hasattr(made, "close"):
            made.close()


def tried(function, right):
    answered(function)
    names = [p.name for p in inspect.signature(function).parameters.values()
             if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    for wrong in WRONG:
        answered(function, wrong, **few(function))
        answered(function, *right, wrong, **few(function))
        answered(function, *right, nonsense=wrong, **few(function))
        for name in names:
            if name not in OPTIONAL or wrong is not None:
                answered(function, *right, **{**few(function), name: wrong})


def few(function):
    """Returns a limit for functions that would otherwise stream forever."""
    return {"samples": 10} if function in (ios.stream, ios.record, view.look) else {}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__qualname__)
def test_functions_give_readable_errors(function, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tried(function, FUNCTIONS[function])


@pytest.mark.parametrize("kind,name", METHODS, ids=map(".".join, METHODS))
def test_methods_give_readable_errors(kind, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some methods write to a file "x"
    method = getattr(streams()[kind], name)
    if (kind, name) == ("Reader", "call"):  # a callable argument would be valid
        for wrong in WRONG:
            if not callable(wrong):
                answered(method, wrong)
    else:
        tried(method, (10,) if name == "read" else ())


def test_the_list_of_tested_functions_is_complete():
    functions = {name for name in ios.__all__ if inspect.isfunction(getattr(ios, name))}
    slow = {"bench", "bench_io"}  # these measure for seconds
    assert functions - {function.__name__ for function in FUNCTIONS} == slow


@pytest.mark.parametrize("kind", ["Reader", "Writer", "Session", "Pipeline", "Worker", "Block", "EmptyBlock"])
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_process_bound_objects_are_not_pickled(kind, protocol):
    with pytest.raises(TypeError, match=f"{kind}s can be neither copied nor pickled"):
        pickle.dumps(streams()[kind], protocol)


def test_the_error_of_wait_before_start_names_start():
    with ios.Session() as session:
        session.add("sim:?rate=0", "null:", samples=10)
        with pytest.raises(ios.UsageError, match="start"):
            session.wait()
        session.start()  # prepares the session too
        session.start()
        assert session.wait(60)
