# SPDX-License-Identifier: MIT
"""Connects a program in the guest with the host, by its standard streams and by the channel `control`, which
reports the program's exit status."""

import contextlib
import os
import secrets
import selectors
import socket

NAMES = ("control", "in", "out", "err")
FROM_GUEST = ("control", "out", "err")
GREETING = 80  # bytes of a greeting, at most


class Ports:
    """Serial ports of virtio. Each is a pair of sockets; QEMU has one of them."""

    def __init__(self):
        self._pairs = {name: socket.socketpair() for name in NAMES}
        self.input = self._pairs["in"][0]

    def settings(self):
        return {}

    def options(self):
        options = ["-device", "virtio-serial-pci"]
        for name in NAMES:
            descriptor = self._pairs[name][1].fileno()
            options += ["-chardev", f"socket,id={name},fd={descriptor}",
                        "-device", f"virtserialport,chardev={name},name={name}"]
        return options

    def descriptors(self):
        return [self._pairs[name][1].fileno() for name in NAMES]

    def watch(self, selector, process):
        for name in NAMES:
            self._pairs[name][1].close()
            self._pairs[name][0].setblocking(False)
        for name in FROM_GUEST:
            selector.register(self._pairs[name][0], selectors.EVENT_READ, name)


class Connections:
    """TCP connections from the guest through QEMU's user network, for a board without virtio. Each begins
    with a line that contains this run's secret and the channel's name, because every user of this machine can
    connect to the port."""

    ADDRESS = "10.0.2.2"  # this machine, as the guest sees it

    def __init__(self):
        self.input = None
        self._secret = secrets.token_hex(16)
        self._door = socket.create_server(("127.0.0.1", 0))
        self._door.setblocking(False)
        self._awaited = set(NAMES)
        self._greetings = {}
        self._process = None

    def settings(self):
        return {"HOST": self.ADDRESS, "PORT": self._door.getsockname()[1], "SECRET": self._secret}

    def options(self):
        return []

    def descriptors(self):
        return []

    def watch(self, selector, process):
        """Also watches the process, because without a connection nothing else shows that QEMU has ended."""
        self._process = os.pidfd_open(process.pid)
        selector.register(self._door, selectors.EVENT_READ, "door")
        selector.register(self._process, selectors.EVENT_READ, "process")

    def serve(self, selector, key):
        if key.data == "door":
            with contextlib.suppress(BlockingIOError, ConnectionError):  # the peer may have disconnected
                caller = self._door.accept()[0]
                caller.setblocking(False)
                self._greetings[caller] = b""
                selector.register(caller, selectors.EVENT_READ, "caller")
        elif key.data == "caller":
            self._listen(selector, key.fileobj)
        else:
            selector.unregister(self._process)
            os.close(self._process)
            self._shut(selector)

    def _listen(self, selector, caller):
        """Reads only the greeting, byte by byte, because the program's data follow it."""
        try:
            byte = caller.recv(1)
        except BlockingIOError:
            return
        except ConnectionError:
            byte = b""
        self._greetings[caller] += byte
        if byte and byte != b"\n" and len(self._greetings[caller]) < GREETING:
            return
        selector.unregister(caller)
        secret, _, name = self._greetings.pop(caller).decode(errors="replace").strip().partition(" ")
        if name not in self._awaited or not secrets.compare_digest(secret.encode(), self._secret.encode()):
            caller.close()
            return
        self._awaited.remove(name)
        if name == "in":
            self.input = caller
        else:
            selector.register(caller, selectors.EVENT_READ, name)
        if not self._awaited:
            self._shut(selector)

    def _shut(self, selector):
        if self._door.fileno() >= 0:
            selector.unregister(self._door)
            self._door.close()
