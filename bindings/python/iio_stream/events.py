# SPDX-License-Identifier: MIT
"""What happens to streams: the lines that --events writes, as they come, and passed on to NATS.

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

POLL = 0.2  #: seconds between looks at a file that has no more
SETTLED = 1.0  #: seconds after which no one writes to a file that has another name now
TRIES = 5  #: of --once, of what fails; it is tried forever without
REMEMBERED = 3600  #: seconds for which the server knows a message that it has
PACKED = (".gz", ".xz", ".zst", ".bz2", ".sent", ".new")

logger = logging.getLogger("iio_stream.events")


class Place(NamedTuple):
    """Where a line ends in a file, which is known again by that: its inode may be another file's by now."""

    offset: int  #: bytes
    length: int  #: of the line
    digest: str  #: of the line

    def is_in(self, log: BinaryIO) -> bool:
        """Whether that line ends there."""
        if not 0 <= self.length <= self.offset:
            return False
        line = os.pread(log.fileno(), self.length, self.offset - self.length)
        return _digest(line) == self.digest


class Line(NamedTuple):
    """An event, and where it ends."""

    event: dict[str, Any]
    place: Place


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()[:32]


def follow(path: str | os.PathLike[str], after: Place | None = None, *,
           wait: bool = True) -> Iterator[Line | None]:
    """The events of a file, from where a Line ended, or from its begin.

    At the end of the file it yields None, once per look, and waits for more, in a file that takes its
    place, too. With wait=False it returns there. If the line at ``after`` is in a file that has been renamed
    since, to PATH.1 or the like, the rest of that comes first, and the files after it. What is no line of
    JSON is left out: a program may have died while it wrote it. A file that is not there yet is waited for;
    wait=False raises FileNotFoundError.
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
    """The files that have been renamed since that line was written, the one that has it first."""
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
    logger.warning("%s: what was read of it last is gone, and with it what came after that", named)
    return []


def _lines(log: BinaryIO, path: str | os.PathLike[str], after: Place | None,
           wait: bool) -> Iterator[Line | None]:
    """Until the file has no more, and another one has had its name for a while."""
    if after is not None:
        log.seek(max(after.offset, 0))  # what a file says is checked below
    begun, settled = b"", 0.0
    while True:
        if after is not None and not after.is_in(log):  # it is another one, or was cut
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
    """Whether another file has that name."""
    with contextlib.suppress(FileNotFoundError):
        return not os.path.samestat(os.stat(path), os.fstat(log.fileno()))
    return False


class _Sent:
    """Up to where a file is passed on, in a file beside it."""

    def __init__(self, log: str) -> None:
        self.path = pathlib.Path(log + ".sent")
        self.place: Place | None = None
        self.tell = _teller()
        with contextlib.suppress(OSError, ValueError):
            offset, length, digest = self.path.read_text().split()
            self.place = Place(int(offset), int(length), digest)

    async def set(self, place: Place) -> None:
        """A disk that is full is no reason to stop: the server knows for a while what it has."""
        new = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        try:
            new.write_text(f"{place.offset} {place.length} {place.digest}\n")
            new.replace(self.path)
        except OSError as error:
            await self.tell(OSError(error.errno, error.strerror, str(self.path)))
            with contextlib.suppress(OSError):
                new.unlink()


async def _looked(lines: Iterator[Line | None]) -> AsyncIterator[Line]:
    """The lines, read on another thread: the connection is kept meanwhile."""
    over = object()
    while (line := await asyncio.to_thread(next, lines, over)) is not over:
        if isinstance(line, Line):
            yield line


def _subject(prefix: str, event: dict[str, Any]) -> str:
    """Of a message: PREFIX.HOST.EVENT."""
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
    """Until the server has stored it. Two messages of one id are one to it: trying again is no harm."""
    import nats.errors
    message = json.dumps(line.event, ensure_ascii=False).encode()
    tell = _teller()
    for failures in itertools.count(1):
        try:
            await store.publish(subject, message, headers={"Nats-Msg-Id": line.place.digest})
            return
        except nats.errors.MaxPayloadError:
            logger.warning("a line of %d bytes is more than the server takes: left out", line.place.length)
            return
        except (nats.errors.Error, OSError) as error:
            if failures == tries:
                raise
            await tell(error)
            await asyncio.sleep(1)


def _teller() -> Callable[[Exception], Awaitable[None]]:
    """Tells what goes wrong, once while it stays the same."""
    last = ""

    async def tell(error: Exception) -> None:
        nonlocal last
        if (now := f"{type(error).__name__}: {error}") != last:
            last = now
            print(f"iio_stream.events: {printable(now)}", file=sys.stderr, flush=True)

    return tell


def main(words: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    told = _arguments(words)
    try:
        asyncio.run(_pass_on(told))
    except KeyboardInterrupt:
        return 130
    except ImportError as error:
        print(f"iio_stream.events: {error} (pip install 'iio-stream[events]')", file=sys.stderr)
        return 1
    except Exception as error:  # whatever the server or the network does
        print(f"iio_stream.events: {type(error).__name__}: {printable(str(error))}", file=sys.stderr)
        return 1
    return 0


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser(
        prog="python -m iio_stream.events",
        description="Passes the events of a file on to NATS JetStream, each until the server has stored it. "
                    "FILE.sent says how far it is: started again, it goes on there.")
    parser.add_argument("file", metavar="FILE", help="that iio-stream … --events FILE appends to")
    parser.add_argument("server", nargs="?", metavar="URL",
                        help="nats://HOST:4222 or tls://HOST:4222; default $NATS_URL, or this machine")
    parser.add_argument("--subject", default="iio-stream",
                        help="messages are for SUBJECT.HOST.EVENT (iio-stream)")
    parser.add_argument("--stream", default="iio-stream",
                        help="of JetStream; made if there is none (iio-stream)")
    parser.add_argument("--creds", metavar="FILE", help="credentials; else $NATS_USER and $NATS_PASSWORD")
    parser.add_argument("--once", action="store_true", help="pass on what is there, and end")
    told = parser.parse_args(words)
    if told.server and "@" in told.server:
        parser.error("a password on the command line is everybody's to read: NATS_USER and NATS_PASSWORD, "
                     "NATS_URL or --creds take it")
    return told


if __name__ == "__main__":
    sys.exit(main())
