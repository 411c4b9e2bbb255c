# SPDX-License-Identifier: GPL-3.0-or-later
"""Sources and sinks for IIO devices, USB, recordings and simulators, which tell of every loss.

``source("sim:")`` and ``sink("null:")`` take iio-stream's endpoints; see docs/gnuradio.md.
"""
from .iio_stream_python import endpoint_of, sink, source, with_options

__all__ = ["endpoint_of", "sink", "source", "with_options"]
