# SPDX-License-Identifier: MIT
"""What happens to streams: the lines that --events writes, as they come, and passed on to NATS.

    iio-stream record iio:cf-ad9361-lpc day.sigmf-meta rotate_bytes=1Gi --events events.jsonl &
    python -m iio_stream.events events.jsonl nats://watch.example:4222
"""
from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import pathlib
import re
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

POLL = 0.2  #: seconds between looks at a file that has no more
TRIES = 5  #: of --once, of what fails; it is tried forever without
REMEMBERED = 3600  #: seconds for which the server knows a message that it has


class Line(NamedTuple):
    """An event, and where the file goes on after it."""

    event: dict[str, Any]
    file: int    #: inode: a log that was rotated is another file
    offset: int  #: bytes


def follow(path: str | os.PathLike[str], file: int = 0, offset: int = 0, *,
           wait: bool = True) -> Iterator[Line | None]:
    """The events of a file, from where a Line ended, or from its begin.

    At the end of the file it yields None, once per look, and waits for more, in a file that takes its place,
    too. With wait=False it returns there. What is no line of JSON is left out: a program may have died while
    it wrote it.
    A file that is not there yet is waited for; wait=False raises FileNotFoundError.
    """
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
            now = os.fstat(log.fileno())
            log.seek(offset if now.st_ino == file and now.st_size >= offset else 0)
            yield from _lines(log, now.st_ino, path, wait)
            if not wait:
                return
            file = offset = 0


def _lines(log: BinaryIO, file: int, path: str | os.PathLike[str], wait: bool) -> Iterator[Line | None]:
    """Until the file has no more and another one has taken its place."""
    begun = b""
    while True:
        replaced = not _is_at(path, file, log.tell())  # before reading: all that it got by then is read
        for part in iter(log.readline, b""):
            begun += part
            if begun.endswith(b"\n"):
                with contextlib.suppress(ValueError):
                    event = json.loads(begun)
                    if isinstance(event, dict) and "event" in event:
                        yield Line(event, file, log.tell())
                begun = b""
        if replaced or not wait:
            return
        yield None
        time.sleep(POLL)


def _is_at(path: str | os.PathLike[str], file: int, offset: int) -> bool:
    """Whether that file is there, and has not been cut."""
    with contextlib.suppress(FileNotFoundError):
        now = os.stat(path)
        return now.st_ino == file and now.st_size >= offset
    return False


class _Place:
    """Up to where a file is passed on, in a file beside it."""

    def __init__(self, log: str) -> None:
        self.path = pathlib.Path(log + ".sent")
        self.file = self.offset = 0
        with contextlib.suppress(FileNotFoundError, ValueError):
            self.file, self.offset = (int(word) for word in self.path.read_text().split())

    def set(self, line: Line) -> None:
        new = self.path.with_name(self.path.name + ".new")
        new.write_text(f"{line.file} {line.offset}\n")
        new.replace(self.path)


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
    from nats.js.errors import NotFoundError
    place = _Place(told.file)
    link = await nats.connect(told.server or os.environ.get("NATS_URL", "nats://localhost:4222"),
                              user=os.environ.get("NATS_USER"), password=os.environ.get("NATS_PASSWORD"),
                              user_credentials=told.creds, error_cb=_teller(),
                              max_reconnect_attempts=TRIES if told.once else -1)
    try:
        store = link.jetstream()
        try:
            await store.stream_info(told.stream)
        except NotFoundError:
            await store.add_stream(name=told.stream, subjects=[told.subject + ".>"],
                                   duplicate_window=REMEMBERED)
        async for line in _looked(follow(told.file, place.file, place.offset, wait=not told.once)):
            await _publish(store, _subject(told.subject, line.event), line, TRIES if told.once else None)
            place.set(line)
    finally:
        await link.close()


async def _publish(store: Any, subject: str, line: Line, tries: int | None) -> None:
    """Until the server has stored it. Two messages of one id are one to it: trying again is no harm."""
    import nats.errors
    message = json.dumps(line.event, ensure_ascii=False).encode()
    name = f"{line.event.get('host')}:{line.file}:{line.offset}"
    tell = _teller()
    for failures in itertools.count(1):
        try:
            await store.publish(subject, message, headers={"Nats-Msg-Id": name})
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
            print(f"iio_stream.events: {now}", file=sys.stderr, flush=True)

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
        print(f"iio_stream.events: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
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
