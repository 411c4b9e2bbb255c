# SPDX-License-Identifier: MIT
"""The ways between a program in the guest and this side: its streams, and control with its status."""

import selectors
import socket

NAMES = ("control", "in", "out", "err")
FROM_GUEST = ("control", "out", "err")


class Ports:
    """virtio's serial ports, each a pair of sockets of which QEMU has one."""

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
