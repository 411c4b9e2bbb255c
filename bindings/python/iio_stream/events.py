# SPDX-License-Identifier: MIT
"""Reads the events of streams from the file that --events writes, as they are appended, and passes them on to
NATS.

    iio-stream record iio:cf-ad9361-lpc day.sigmf-meta rotate_bytes=1Gi --events events.jsonl &
    python -m iio_stream.events events.jsonl nats://watch.example:4222
"""
from __future__ import annotations

import argparse
import asyncio
import contextlib
import errno
import glob
import hashlib
import itertools
import json
import logging
import os
import pathlib
import re
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from ._printable import Parser, printable

POLL = 0.2  #: seconds between attempts to read more of a file
SETTLED = 1.0  #: seconds after which no program is expected to write to a renamed file
TRIES = 5  #: attempts to publish an event with --once; without --once, attempts are unlimited
REMEMBERED = 3600  #: seconds for which the server detects duplicates of a message
PACKED = (".gz", ".xz", ".zst", ".bz2", ".sent", ".new")

logger = logging.getLogger("iio_stream.events")


class Place(NamedTuple):
    """The place in a file at which a line ends. It also identifies the file, because an inode can be reused
    for another file."""

    offset: int  #: end of the line, in bytes from the start of the file
    length: int  #: bytes of the line
    digest: str  #: hash of the line

    def is_in(self, log: BinaryIO) -> bool:
        """Returns whether the file has that line at that place."""
        if not 0 <= self.length <= self.offset:
            return False
        line = os.pread(log.fileno(), self.length, self.offset - self.length)
        return _digest(line) == self.digest


class Line(NamedTuple):
    """An event, and the place at which its line ends."""

    event: dict[str, Any]
    place: Place


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()[:32]


def follow(path: str | os.PathLike[str], after: Place | None = None, *,
           wait: bool = True) -> Iterator[Line | None]:
    """Yields the events of a file, from the place ``after`` at which a Line ended, or from the beginning.

    At the end of the file, the function yields None about every ``POLL`` seconds and waits for more events,
    even in a file that replaces this one. With wait=False it returns at the end of the file. If the line at
    ``after`` is in a file that has been renamed since, for example to PATH.1, the rest of that file and the
    files after it come first. Lines that are not valid JSON are left out: the writing program may have been
    killed. The function waits for a file that does not exist yet; with wait=False it raises
    FileNotFoundError.
    """
    for old in _older(path, after):
        with open(old, "rb") as log:
            yield from _lines(log, path, after, False)
    while True:
        try:
            log = open(path, "rb")  # noqa: SIM115 # closed by the with below
        except FileNotFoundError:
            if not wait:
                raise
            yield None
            time.sleep(POLL)
            continue
        with log:
            yield from _lines(log, path, after, wait)
        if not wait:
            return
        after = None


def _older(path: str | os.PathLike[str], after: Place | None) -> list[pathlib.Path]:
    """Returns the files that have been renamed since the line at ``after`` was written. The first of them
    contains that line."""
    if after is None:
        return []
    named = pathlib.Path(path)
    files = [file for file in named.parent.glob(glob.escape(named.name) + "[.-]*")
             if file.suffix not in PACKED and file.is_file()]
    files.sort(key=lambda file: file.stat().st_mtime_ns)
    for place, file in enumerate([*files, named]):
        with contextlib.suppress(OSError), open(file, "rb") as log:
            if after.is_in(log):
                return files[place:]
    logger.warning("%s: the file with the last event read is gone, and the events after it with it", named)
    return []


def _lines(log: BinaryIO, path: str | os.PathLike[str], after: Place | None,
           wait: bool) -> Iterator[Line | None]:
    """Yields the events of an open file. Returns when the file has no more events and another file has had
    its name for ``SETTLED`` seconds. With wait=False, returns at the end of the file."""
    if after is not None:
        log.seek(max(after.offset, 0))  # the place is checked below
    begun, settled = b"", 0.0
    while True:
        if after is not None and not after.is_in(log):  # another file, or it was truncated
            log.seek(0)
            begun, after = b"", None
        for part in iter(log.readline, b""):
            settled = 0.0
            begun += part
            if begun.endswith(b"\n"):
                after = Place(log.tell(), len(begun), _digest(begun))
                with contextlib.suppress(ValueError):
                    event = json.loads(begun)
                    if isinstance(event, dict) and "event" in event:
                        yield Line(event, after)
                begun = b""
        if not wait or settled > SETTLED:
            return
        settled = settled + POLL if _is_another(path, log) else 0.0
        yield None
        time.sleep(POLL)


def _is_another(path: str | os.PathLike[str], log: BinaryIO) -> bool:
    """Returns whether another file has that name now."""
    with contextlib.suppress(FileNotFoundError):
        return not os.path.samestat(os.stat(path), os.fstat(log.fileno()))
    return False


class _Sent:
    """Stores the place up to which the events of a file have been passed on, in a file next to it."""

    def __init__(self, log: str) -> None:
        self.path = pathlib.Path(log + ".sent")
        self.place: Place | None = None
        self.tell = _teller()
        with contextlib.suppress(OSError, ValueError):
            offset, length, digest = self.path.read_text().split()
            self.place = Place(int(offset), int(length), digest)

    async def set(self, place: Place) -> None:
        """Stores a place. A full disk is reported but is not an error: for a while, the server detects
        duplicates of events that it has already stored."""
        new = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        try:
            new.write_text(f"{place.offset} {place.length} {place.digest}\n")
            new.replace(self.path)
        except OSError as error:
            await self.tell(OSError(error.errno, error.strerror, str(self.path)))
            with contextlib.suppress(OSError):
                new.unlink()


async def _looked(lines: Iterator[Line | None]) -> AsyncIterator[Line]:
    """Yields the lines. They are read on another thread, so that the connection stays alive."""
    over = object()
    while (line := await asyncio.to_thread(next, lines, over)) is not over:
        if isinstance(line, Line):
            yield line


def _subject(prefix: str, event: dict[str, Any]) -> str:
    """Returns the subject of a message: PREFIX.HOST.EVENT."""
    host, kind = (re.sub(r"[^A-Za-z0-9_-]", "_", str(event.get(key) or "unknown"))
                  for key in ("host", "event"))
    return f"{prefix}.{host}.{kind}"


async def _pass_on(told: argparse.Namespace) -> None:
    import nats
    from nats.js.errors import NotFoundError, ServiceUnavailableError
    sent = _Sent(told.file)
    link = await nats.connect(told.server or os.environ.get("NATS_URL", "nats://localhost:4222"),
                              user=os.environ.get("NATS_USER"), password=os.environ.get("NATS_PASSWORD"),
                              user_credentials=told.creds, error_cb=_teller(),
                              max_reconnect_attempts=TRIES if told.once else -1)
    try:
        store = link.jetstream()
        try:
            await store.stream_info(told.stream)
        except ServiceUnavailableError:
            raise OSError(errno.ENOTSUP, "this server has no JetStream (nats-server -js)") from None
        except NotFoundError:
            await store.add_stream(name=told.stream, subjects=[told.subject + ".>"],
                                   duplicate_window=REMEMBERED)
        async for line in _looked(follow(told.file, sent.place, wait=not told.once)):
            await _publish(store, _subject(told.subject, line.event), line, TRIES if told.once else None)
            await sent.set(line.place)
    finally:
        await link.close()


async def _publish(store: Any, subject: str, line: Line, tries: int | None) -> None:
    """Publishes an event until the server has stored it. The server removes duplicates by their id, so a
    repeated attempt does no harm."""
    import nats.errors
    message = json.dumps(line.event, ensure_ascii=False).encode()
    tell = _teller()
    for failures in itertools.count(1):
        try:
            await store.publish(subject, message, headers={"Nats-Msg-Id": line.place.digest})
            return
        except nats.errors.MaxPayloadError:
            logger.warning("a line of %d bytes is larger than the server accepts: left out",
                           line.place.length)
            return
        except (nats.errors.Error, OSError) as error:
            if failures == tries:
                raise
            await tell(error)
            await asyncio.sleep(1)


def _teller() -> Callable[[Exception], Awaitable[None]]:
    """Returns a function that prints an error, unless it is the same as the previous one."""
    last = ""

    async def tell(error: Exception) -> None:
        nonlocal last
        if (now := f"{type(error).__name__}: {error}") != last:
            last = now
            print(f"iio_stream.events: {printable(now)}", file=sys.stderr, flush=True)

    return tell


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    told = _arguments(words)
    try:
        asyncio.run(_pass_on(told))
    except KeyboardInterrupt:
        return 130
    except ImportError as error:
        print(f"iio_stream.events: {error} (pip install 'iio-stream[events]')", file=sys.stderr)
        return 1
    except Exception as error:  # any error of the server or the network
        print(f"iio_stream.events: {type(error).__name__}: {printable(str(error))}", file=sys.stderr)
        return 1
    return 0


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser(
        prog="python -m iio_stream.events",
        description="Passes the events of a file on to NATS JetStream, and waits for the server to store "
                    "each of them. FILE.sent stores the position; the next start continues there.")
    parser.add_argument("file", metavar="FILE", help="file that iio-stream … --events FILE appends to")
    parser.add_argument("server", nargs="?", metavar="URL",
                        help="nats://HOST:4222 or tls://HOST:4222; default $NATS_URL, or this machine")
    parser.add_argument("--subject", default="iio-stream",
                        help="first part of the subjects SUBJECT.HOST.EVENT (iio-stream)")
    parser.add_argument("--stream", default="iio-stream",
                        help="JetStream stream; created if it does not exist (iio-stream)")
    parser.add_argument("--creds", metavar="FILE",
                        help="file with credentials; default $NATS_USER and $NATS_PASSWORD")
    parser.add_argument("--once", action="store_true", help="pass on the events in the file, and exit")
    told = parser.parse_args(words)
    if told.server and "@" in told.server:
        parser.error("every user can read a password on the command line: pass it in NATS_USER and "
                     "NATS_PASSWORD, NATS_URL or --creds")
    return told


if __name__ == "__main__":
    sys.exit(main())
