# SPDX-License-Identifier: MIT
"""The commands of ``iio-stream`` as functions."""
from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from . import _core, _options
from ._errors import Error, fresh
from ._format import Format
from ._options import Endpoint, Rate, Size
from .options import options as known_options
from .session import Progress, Session
from .stats import GapTotals
from .summary import Summary

_LIMITS = ("block_size", "blocks", "samples", "bytes", "duration", "timeout", "on_gap")


def _split(words: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Separates the keywords of the stream from the options of an endpoint."""
    return ({key: value for key, value in words.items() if key in _LIMITS},
            {key: value for key, value in words.items() if key not in _LIMITS})


def stream(source: Endpoint, sinks: Endpoint | Iterable[Endpoint], /, *, progress: Progress | None = None,
           **options: Any) -> Summary:
    """Moves samples until the limit set by ``samples``, ``bytes`` or ``duration``, or until the source ends.

    Keywords of ``Session.add()`` apply to the stream; all other keywords are options of the source.
    ``progress`` is called with the Session about five times a second, on this thread. Raises the Error that
    ended the stream.

    >>> stream("sim:", ["null:", "verify:ramp"], rate=0, samples=1000).reports[1]["mismatches"]
    0
    """
    limits, words = _split(options)
    with Session() as session:
        session.add(_options.uri(source, **words), sinks, **limits)
        return session.run(progress)[0]


def record(source: Endpoint, file: Endpoint, /, *, file_options: Mapping[str, Any] | None = None,
           progress: Progress | None = None, **options: Any) -> Summary:
    """Records a source into a file: a SigMF recording, or raw samples, depending on the suffix.

    Keywords are those of ``stream()``. Options that only a file has (``overwrite=True``,
    ``rotate_bytes="4Gi"``, ``hash="end"``) belong to the file; ``file_options`` are other options of the file
    (``engine="buffered"``). Raises the Error that ended the stream, or an Error if the file exists and
    ``overwrite`` is not set.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = record("sim:", folder + "/a.sigmf-meta", pattern="tone", rate="1M", duration="20ms")
    ...     done.stats.samples, verify(folder + "/a.sigmf-meta").ok
    (20000, True)
    """
    scheme = _options.uri(source).partition(":")[0]
    of_source = {option.key for option in known_options(scheme) if option.source}
    of_file = {option.key for option in known_options("file") if option.sink and not option.source}
    words = {key: options.pop(key) for key in list(options) if key in of_file - of_source}
    return stream(source, _options.uri(file, **words, **(file_options or {})), progress=progress, **options)


def play(file: Endpoint, device: Endpoint, /, *, file_options: Mapping[str, Any] | None = None,
         progress: Progress | None = None, **options: Any) -> Summary:
    """Plays a file on a device, at the rate of the recording unless ``rate`` is given.

    Keywords of ``Session.add()`` apply to the stream; all other keywords are options of the device
    (``frequency=``, ``cyclic=True``). ``file_options`` are options of the file (``loop=True``,
    ``format="ci16_le"``). Raises the Error that ended the stream.
    """
    limits, words = _split(options)
    return stream(_options.uri(file, **(file_options or {})), _core.play_sink(_options.uri(device, **words)),
                  progress=progress, **limits)


def bench(source: Endpoint, sink: Endpoint = "null:", /, *, block_sizes: Iterable[Size | None] = (None,),
          block_counts: Iterable[Size | None] = (None,), **options: Any) -> list[Summary]:
    """Measures how fast samples move: one run per combination of block size and number, of 1 s by default.
    Keywords are those of ``stream()``. Raises the Error that ended a run."""
    if not {"samples", "bytes", "duration"} & set(options):
        options["duration"] = "1s"
    counts = list(block_counts)
    return [stream(source, sink, **{**options, "block_size": size, "blocks": count})
            for size in block_sizes for count in counts]


@dataclass(frozen=True)
class IoRow:
    """One row of bench_io(): the result of moving ``bytes`` between a memory and a file by one method.
    ``direction`` is ``"write"`` to the file or ``"read"`` from it. Values that could not be measured because
    of ``error`` are None. ``checked`` is True if every byte was compared and matched."""

    memory: str
    page_bytes: int
    method: str
    direction: str
    create_seconds: float | None
    io_seconds: float | None
    close_seconds: float | None
    cpu_seconds: float | None
    checked: bool
    error: Error | None
    bytes: int

    @property
    def bytes_per_second(self) -> float | None:
        if self.error is not None or not self.io_seconds:
            return None
        return self.bytes / self.io_seconds


def bench_io(file: str | os.PathLike[str], /, *, size: Size | None = None, block_size: Size | None = None,
             depth: Size | None = None, overwrite: bool = False,
             progress: Callable[[IoRow], object] | None = None) -> list[IoRow]:
    """Measures every kind of memory with every I/O method, by writing a file from it and reading the file
    back. The file is created, and removed at the end. A combination that does not work gets a row with its
    ``error``.

    ``size`` is the size of the file in bytes (default: 1 GiB), ``block_size`` is the size of one request (4
    MiB), and ``depth`` is the number of requests in flight (4), for methods that allow several. ``progress``
    is called with each row as it completes. Raises Error if the file cannot be created, or if the data read
    back differ from the data written.
    """
    rows: list[IoRow] = []

    def seen(words: dict[str, Any], bytes: int) -> None:
        rows.append(IoRow(**words, bytes=bytes))
        if progress is not None:
            progress(rows[-1])

    _core.bench_io(_options.text("the file", os.fsdecode(file)), bool(overwrite), _options.size("size", size),
                   _options.size("block_size", block_size), _options.size("depth", depth), seen)
    for row in rows:
        if row.error is not None and row.error.operation == "compare":
            raise row.error
    return rows


@dataclass(frozen=True)
class Verdict:
    """The result of verify(). ``ok`` is True if there are no ``problems``. ``hash`` is ``"none"``,
    ``"unchecked"``, ``"good"``, ``"bad"`` or ``"added"``. ``metadata`` is None for raw samples. ``zeros`` are
    the samples [begin, end) in place of lost ones, which ``gaps`` does not count. ``state`` is
    ``"complete"``, ``"interrupted"`` (an error ended the stream) or ``"recovered"``; None if iio-stream did
    not write the recording. ``report`` is the result of the comparison with a pattern."""

    metadata: str | None
    data: str
    format: Format | None
    bytes: int
    samples: int
    first_index: int
    first_exact: bool
    gaps: GapTotals
    zeros: tuple[tuple[int, int], ...]
    state: str | None
    hash: str
    needs_recover: bool
    problems: tuple[str, ...]
    report: Mapping[str, Any] | None = None
    error: Error | None = None

    @property
    def ok(self) -> bool:
        return not self.problems


def verify(file: str | os.PathLike[str], /, *, pattern: str | None = None, format: str = "",
           add_hash: bool = False) -> Verdict:
    """Checks a recording: sizes, metadata, gaps, hash and, with ``pattern="ramp"`` or ``"lanes"``, every
    sample. ``add_hash`` writes a missing SHA-512 into the metadata. Raises Error if files cannot be read;
    problems found in them are in the Verdict."""
    path = _options.text("the file", os.fsdecode(file))
    words = _core.check_recording(path, _options.text("format", format), bool(add_hash),
                                  None if pattern is None else _options.text("pattern", pattern))
    sink, problems = words.pop("sink"), tuple(words.pop("problems"))
    shape = words.pop("format")
    known: dict[str, Any] = {**words, "format": Format._from(shape) if shape else None,
                             "gaps": GapTotals(**words["gaps"]), "zeros": tuple(words["zeros"])}
    if sink is None or problems:
        return Verdict(**known, problems=problems)
    source = _options.uri(path, **({"format": format} if format else {}))
    with Session() as session:
        pipeline = session.add(source, sink)
        try:
            session.run()
        except Error as error:
            return Verdict(**known, problems=(str(error),), report=pipeline.summary.reports[0],
                           error=fresh(error))
        return Verdict(**known, problems=(), report=pipeline.summary.reports[0])


@dataclass(frozen=True)
class Recovery:
    """The result of recover(). ``needed`` is True if anything had to be repaired, and ``bytes`` and
    ``samples`` give the new length of the recording. ``tail`` is the file with the bytes that were cut off,
    and ``backup`` the one with the previous metadata; "" if there is none. ``missing`` is the number of
    samples at the end of the file that did not reach the disk, according to its journal and the journal of
    the next part. It is None if a later part follows and the number is unknown. ``next_part`` is the part
    that follows the missing samples, "" if there is none."""

    needed: bool
    bytes_before: int
    bytes: int
    samples: int
    missing: int | None = 0
    next_part: str = ""
    tail: str = ""
    backup: str = ""


def recover(file: str | os.PathLike[str], /, *, format: str = "") -> Recovery:
    """Repairs a recording after an interruption. Raises Error, with EBUSY if a process still has the file
    open."""
    return Recovery(**_core.recover(_options.text("the file", os.fsdecode(file)),
                                    _options.text("format", format)))


def _threshold(name: str, value: Size | None) -> int | None:
    return None if value is None else _core.parse_size(name, _options.word(value, name))


def check(summary: Summary, *, max_gaps: Size | None = None, max_lost: Size | None = None,
          min_rate: Rate | None = None) -> Summary:
    """Returns ``summary``. Raises LostSamplesError if the stream had more than ``max_gaps`` gaps, if more
    than ``max_lost`` samples may be lost or were dropped, or if it was slower than ``min_rate`` samples per
    second."""
    if not isinstance(summary, Summary):
        raise TypeError(f"check() takes a stream's Summary, not {type(summary).__name__}")
    error = _core.check_thresholds(dataclasses.asdict(summary.stats), _threshold("max_gaps", max_gaps),
                                   _threshold("max_lost", max_lost),
                                   None if min_rate is None else _options.rate("min_rate", min_rate))
    if error is not None:
        raise error
    return summary
