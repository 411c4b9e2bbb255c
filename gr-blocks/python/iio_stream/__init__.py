# SPDX-License-Identifier: GPL-3.0-or-later
"""Sources and sinks for IIO devices, USB, recordings and simulators that report every loss.

``source("sim:")`` and ``sink("null:")`` accept the endpoints of iio-stream; see docs/gnuradio.md.
"""
import functools
import operator

from .iio_stream_python import endpoint_of, sink, source, with_options

__all__ = ["endpoint_of", "sink", "source", "with_options"]


def _text(value):
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # raises ValueError if it is not valid UTF-8
    return value


def _count(value):
    if not 0 <= (number := operator.index(value)) < 2**64:
        raise TypeError
    return number


def _names(value):
    if isinstance(value, str):
        raise TypeError
    return [_text(name) for name in value]


def _options(value):
    for word in [*dict(value), *value.values()]:
        if isinstance(word, str):
            _text(word)
    return dict(value)


def _number_or_none(value):
    return None if value is None else float(value)


_KINDS = {_text: "text in UTF-8", _count: "a whole number from 0 on, below 2^64", float: "a number",
          _number_or_none: "a number",
          _names: "a list of names", _options: "a dictionary of options"}
_SOURCE = {"endpoint": _text, "type": _text, "vlen": _count, "on_gap": _text, "packet_len": _text,
           "buffer_size": _count, "buffers": _count, "samples": _count, "stats_interval": float}
_SINK = {"endpoint": _text, "type": _text, "ports": _count, "vlen": _count, "format": _text,
         "sample_rate": float, "length_tag": _text, "buffer_size": _count, "buffers": _count,
         "stats_interval": float}
_SETTERS = {"set_frequency": "hertz", "set_sample_rate": "rate", "set_gain": "decibels",
            "set_bandwidth": "hertz"}


def _arguments(name, kinds, needed, values, named):
    """Returns the arguments by their names, checked and converted for the extension. Raises TypeError."""
    if len(values) > len(kinds):
        raise TypeError(f"{name}() takes {len(kinds)} arguments: {', '.join(kinds)}" if kinds else
                        f"{name}() takes no argument")
    given = dict(zip(kinds, values))
    for key in named:
        if key not in kinds:
            raise TypeError(f"{name}() has no argument {key!r}: {', '.join(kinds)}")
        if key in given:
            raise TypeError(f"{name}(): {key} is given twice")
    given.update(named)
    for key in list(kinds)[:needed]:
        if key not in given:
            raise TypeError(f"{name}(): {key} is missing")
    for key, value in given.items():
        try:
            given[key] = kinds[key](value)
        except (AttributeError, TypeError, ValueError, OverflowError):
            raise TypeError(f"{name}(): {key}={value!r} is not {_KINDS[kinds[key]]}") from None
    return given


def _checked(function, name, kinds, needed=0, bound=1):
    """Wraps a function of the extension so that errors for wrong arguments do not describe C++ types. `bound` is
    1 for a method and 0 for a function."""

    @functools.wraps(function)
    def answers(*values, **named):
        return function(*values[:bound], **_arguments(name, kinds, needed, values[bound:], named))

    return answers


endpoint_of = _checked(endpoint_of, "endpoint_of", {"uri": _text, "device": _text, "channels": _names}, 2, 0)
with_options = _checked(with_options, "with_options", {"endpoint": _text, "options": _options}, 2, 0)
source.__init__ = _checked(source.__init__, "source", _SOURCE)
source.sample_rate = _checked(source.sample_rate, "sample_rate", {})
sink.__init__ = _checked(sink.__init__, "sink", _SINK)
for _block in (source, sink):
    _block.tune = _checked(_block.tune, "tune", {"options": _options}, 1)
    _block.set_settings = _checked(_block.set_settings, "set_settings", {"options": _options}, 1)
    for _name, _argument in _SETTERS.items():
        _setter = _checked(getattr(_block, _name), _name, {_argument: _number_or_none}, 1)
        setattr(_block, _name, _setter)
    _block.format = _checked(_block.format, "format", {})
    _block.summary = _checked(_block.summary, "summary", {})
