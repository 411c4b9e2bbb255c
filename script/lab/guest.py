# SPDX-License-Identifier: MIT
"""One run of the guest: QEMU, the channels to its program, the deadlines, and the result."""

import contextlib
import ctypes
import os
import secrets
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time

import channels

BASE = ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
BOOT_TIME = 180  # seconds until the program starts; usually about ten
DRAIN_TIME = 5  # seconds for the rest of the output once the program has ended


class Died(Exception):
    """The guest ended before the program did."""


@contextlib.contextmanager
def initrd(base, archive):
    """Makes a file with the common initramfs and another archive appended."""
    with tempfile.NamedTemporaryFile(prefix="iios-lab-") as image:
        image.write(base.read_bytes() + archive.bytes())
        image.flush()
        yield image.name


def _child_setup():
    """Puts QEMU into a process group of its own, so that Ctrl-C does not reach it, and ends it with this process.

    QEMU stays in this session, because autogroups divide the processors between sessions first."""
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def start(command, descriptors, said, interactive=False):
    """Starts QEMU. Its messages, for example about deprecated options, go to the file `said`."""
    quiet = None if interactive else subprocess.DEVNULL
    with open(said, "wb") as file:
        return subprocess.Popen(command, pass_fds=descriptors, stdin=quiet, stdout=quiet, stderr=file,
                                preexec_fn=None if interactive else _child_setup)


class Output:
    """One of the program's outputs. It ends at the mark that the guest writes after it."""

    def __init__(self, descriptor, mark):
        self._descriptor = descriptor
        self._mark = mark
        self._held = b""
        self.ended = False

    def take(self, data):
        data = self._held + data
        at = data.find(self._mark)
        if at >= 0:
            self._write(data[:at])
            self.ended = True
            return
        keep = next((n for n in range(min(len(data), len(self._mark) - 1), 0, -1)
                     if data.endswith(self._mark[:n])), 0)
        self._write(data[:len(data) - keep])
        self._held = data[len(data) - keep:]

    def _write(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view):]


class Run:
    """The channels and the deadlines of one run. The result is the program's status."""

    def __init__(self, channels, timeout, silence, kill_after, interactive=False):
        self.mark = secrets.token_hex(16)
        self.limits = {"timeout": timeout, "silence": silence, "kill_after": kill_after,
                       "boot": BOOT_TIME}
        self._interactive = interactive  # if true, QEMU has the terminal
        self.killed = None  # the limit that ended the run
        self.started = False  # whether the program, not just the guest, has started
        self.status = None
        self.failure = None
        self._reading = False
        self._channels = channels
        self._deadlines = {}
        self._control = b""
        self._out = {"out": Output(1, self.mark.encode()), "err": Output(2, self.mark.encode())}
        self._pending = b""  # input that the guest has not accepted yet

    def follow(self, process):
        """Transfers data until the program's status and all of its output have arrived."""
        self._set_deadline("timeout")
        self._set_deadline("boot")
        selector = selectors.DefaultSelector()
        self._channels.watch(selector, process)
        try:
            while not self._finished() and not self._late():
                for key, _ in selector.select(self._patience()):
                    self._serve(selector, key)
                if not self._open(selector) and self.status is None:
                    break
        finally:
            process.kill()
            process.wait()

    def _open(self, selector):
        return any(key.data in ("door", *channels.FROM_GUEST) for key in selector.get_map().values())

    def _finished(self):
        if self.failure:
            return True
        if self.status is None:
            return False
        return self._interactive or all(out.ended for out in self._out.values())

    def _set_deadline(self, name):
        if self.limits.get(name):
            self._deadlines[name] = time.monotonic() + self.limits[name]

    def _late(self):
        late = [name for name, when in self._deadlines.items() if time.monotonic() >= when]
        if not late:
            return False
        self.killed = next((name for name in late if name != "drain"), None)
        return True

    def _patience(self):
        if not self._deadlines:
            return None
        return max(0, min(self._deadlines.values()) - time.monotonic())

    def _serve(self, selector, key):
        if key.data == "stdin":
            self._read_input(selector)
        elif key.data == "in":
            self._feed(selector)
        elif key.data in channels.FROM_GUEST:
            self._receive(selector, key)
        else:
            self._channels.serve(selector, key)
        if self.started and not self._reading and not self._interactive and self._channels.input:
            self._reading = True
            self._watch_input(selector)

    def _receive(self, selector, key):
        try:
            data = key.fileobj.recv(1 << 18)
        except ConnectionError:
            data = b""
        if not data:
            selector.unregister(key.fileobj)
        elif key.data == "control":
            self._take_control(data)
        else:
            self._out[key.data].take(data)
            self._set_deadline("silence")

    def _take_control(self, data):
        *lines, self._control = (self._control + data).split(b"\n")
        for line in lines:
            word, _, rest = line.decode(errors="replace").partition(" ")
            if word == "run":
                self.started = True
                self._deadlines.pop("boot", None)
                self._set_deadline("kill_after")
                self._set_deadline("silence")
            elif word == "exit":
                self.status = int(rest)
                self.limits["drain"] = DRAIN_TIME
                self._set_deadline("drain")
            elif word == "fail":
                self.failure = rest

    def _watch_input(self, selector):
        try:
            selector.register(0, selectors.EVENT_READ, "stdin")
        except PermissionError:  # a regular file, which is always ready
            self._read_input(selector)
        except (OSError, ValueError):  # closed
            self._end_input()

    def _read_input(self, selector):
        """Reads a piece of the input. The next piece is read after the guest has accepted this one."""
        try:
            selector.unregister(0)
        except KeyError:
            pass
        try:
            self._pending = os.read(0, 1 << 16)
        except OSError:
            self._pending = b""
        if self._pending:
            selector.register(self._channels.input, selectors.EVENT_WRITE, "in")
        else:
            self._end_input()

    def _feed(self, selector):
        side = self._channels.input
        try:
            self._pending = self._pending[side.send(self._pending):]
        except BlockingIOError:
            return
        except ConnectionError:  # the guest no longer reads it
            selector.unregister(side)
            return
        if not self._pending:
            selector.unregister(side)
            self._watch_input(selector)

    def _end_input(self):
        with contextlib.suppress(OSError):
            self._channels.input.shutdown(socket.SHUT_WR)


def interactive_size():
    """Returns the terminal's size as arguments for stty in the guest."""
    try:
        size = os.get_terminal_size(sys.stdin.fileno())
    except OSError:
        size = None
    if not size or not size.lines:
        return "rows 24 cols 80"
    return f"rows {size.lines} cols {size.columns}"
