# SPDX-License-Identifier: MIT
"""Locks a file of SigMF metadata, and replaces it as a whole."""
from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from typing import BinaryIO

from ._errors import Error, make

_DATA_TIMEOUT = 0.5  # seconds; the library also waits this long for locks that are held briefly
_TIMEOUT = 10.0      # seconds, to wait for programs that change the same metadata


@contextlib.contextmanager
def locked(path: str, data: str) -> Iterator[BinaryIO]:
    """Opens the metadata file ``path`` and locks it against other callers of this function. Also holds a
    shared lock on the data file, so that no program records into it or recovers it meanwhile. Raises
    Error."""
    with contextlib.ExitStack() as stack:
        recorded = _opened(data, os.O_RDONLY)
        stack.callback(os.close, recorded)
        if not _lock(recorded, fcntl.LOCK_SH, _DATA_TIMEOUT):
            raise failed(errno.EBUSY, path, f"{data} is being recorded", "wait until that ends")
        yield stack.enter_context(_current(path))


def _current(path: str) -> BinaryIO:
    """Opens and locks the file. Tries again if another program replaces the file before it is locked."""
    until = time.monotonic() + _TIMEOUT
    while True:
        file = os.fdopen(_opened(path, os.O_RDWR), "rb")
        try:
            if not _lock(file.fileno(), fcntl.LOCK_EX, until - time.monotonic()):
                raise failed(errno.EBUSY, path, "another program is changing it", "try again")
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file
        except OSError as error:
            file.close()
            raise error if isinstance(error, Error) else _refused(error, path, "") from None
        except BaseException:
            file.close()
            raise
        file.close()


def _opened(path: str, flags: int) -> int:
    try:
        return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise _refused(error, path, "the file cannot be written" if flags & os.O_RDWR else "") from None


def _lock(fd: int, kind: int, seconds: float) -> bool:
    """Returns False if a conflicting lock is held during all that time. Returns True even if the file system
    does not support locks."""
    until = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > until:
                return False
            time.sleep(0.002)
        except OSError:
            return True


def replace(path: str, file: BinaryIO, text: bytes) -> None:
    """Replaces the file atomically and durably: readers see the old text or the new one. It keeps its mode
    and its owner."""
    fresh = path + ".annotate"
    folder = os.path.dirname(path)
    try:
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _refused(error, path, f"no new file can be made in {folder}") from None
    try:
        with os.fdopen(fd, "wb") as new:
            known = os.fstat(file.fileno())
            with contextlib.suppress(OSError):  # another user's file, or a file system without owners
                os.fchown(fd, known.st_uid, known.st_gid)
            with contextlib.suppress(OSError):  # a file system without modes
                os.fchmod(fd, known.st_mode & 0o7777)
            new.write(text)
            new.flush()
            os.fsync(fd)
        os.rename(fresh, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(fresh)
        if isinstance(error, OSError):
            raise _refused(error, path, "") from None
        raise
    with contextlib.suppress(OSError):  # some file systems cannot sync a folder
        _sync_folder(folder)


def _sync_folder(folder: str) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _refused(error: OSError, path: str, what: str) -> Error:
    number = error.errno or errno.EIO
    hint = ""
    if number in (errno.EACCES, errno.EPERM, errno.EROFS) and what:
        hint = f"make it writable, or annotate a copy: iio-stream stream {path} OTHER.sigmf-meta"
    return failed(number, path, f"{what}: {os.strerror(number)}" if what else os.strerror(number), hint)


def failed(number: int, path: str, detail: str, hint: str) -> Error:
    return make("storage", number, "annotate", path, detail, hint,
                f"annotate {path}: {detail}" + (f" ({hint})" if hint else ""), None)
