# SPDX-License-Identifier: GPL-3.0-or-later
"""Sources and sinks for IIO devices, USB, recordings and simulators, which tell of every loss.

``source("sim:")`` and ``sink("null:")`` take iio-stream's endpoints; see docs/gnuradio.md.
"""
import functools
import operator

from .iio_stream_python import endpoint_of, sink, source, with_options

__all__ = ["endpoint_of", "sink", "source", "with_options"]


def _text(value):
    if not isinstance(value, str):
        raise TypeError
    return value


def _count(value):
    if (number := operator.index(value)) < 0:
        raise TypeError
    return number


_KINDS = {_text: "text", _count: "a whole number from 0 on", float: "a number"}
_SOURCE = {"endpoint": _text, "type": _text, "vlen": _count, "on_gap": _text, "packet_len": _text,
           "buffer_size": _count, "buffers": _count, "samples": _count, "stats_interval": float}
_SINK = {"endpoint": _text, "type": _text, "ports": _count, "vlen": _count, "format": _text,
         "sample_rate": float, "length_tag": _text, "buffer_size": _count, "buffers": _count,
         "stats_interval": float}


def _checked(name, block, kinds):
    """A wrong argument is answered in words of ours, not in C++."""
    make = block.__init__

    @functools.wraps(make)
    def initialize(self, *values, **named):
        if len(values) > len(kinds):
            raise TypeError(f"{name}() takes {len(kinds)} arguments: {', '.join(kinds)}")
        given = dict(zip(kinds, values))
        for key in named:
            if key not in kinds:
                raise TypeError(f"{name}() has no argument {key!r}: {', '.join(kinds)}")
            if key in given:
                raise TypeError(f"{name}(): {key} is given twice")
        given.update(named)
        for key, value in given.items():
            try:
                given[key] = kinds[key](value)
            except (TypeError, ValueError, OverflowError):
                raise TypeError(f"{name}(): {key}={value!r} is not {_KINDS[kinds[key]]}") from None
        make(self, **given)

    block.__init__ = initialize


_checked("source", source, _SOURCE)
_checked("sink", sink, _SINK)
