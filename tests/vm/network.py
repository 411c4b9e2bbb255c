# SPDX-License-Identifier: MIT
"""Two network cards on one wire (`script/vm --net pair`). The second is in a network namespace, which
represents another machine."""
import ctypes
import fcntl
import os
import socket
import struct
import subprocess
from pathlib import Path

from waiting import until

OWN, PEER = "10.9.0.1", "10.9.0.2"
CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def card(last):
    """Returns the network interface whose address ends with that digit."""
    [found] = [path.parent.name for path in Path("/sys/class/net").glob("*/address")
               if path.read_text().strip() == f"52:54:00:00:00:0{last}"]
    return found


def set_scatter_gather(interface, on):
    siocethtool, ethtool_ssg = 0x8946, 0x19  # linux/sockios.h, linux/ethtool.h
    value = ctypes.create_string_buffer(struct.pack("II", ethtool_ssg, on))
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, siocethtool, struct.pack("16sP", interface.encode(), ctypes.addressof(value)))


class Network:
    """Both cards, configured and up. After close(), both belong to this namespace again."""

    def __init__(self):
        subprocess.run(["modprobe", "e1000e"], check=True)
        self.own, other = card(1), card(2)
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "inf"])
        until_apart(self.holder.pid)
        ip("link", "set", other, "netns", str(self.holder.pid))
        ip("addr", "add", f"{OWN}/24", "dev", self.own)
        ip("link", "set", self.own, "up")
        self.run(["ip", "addr", "add", f"{PEER}/24", "dev", other])
        self.run(["ip", "link", "set", other, "up"])
        self.run(["ip", "link", "set", "lo", "up"])

    def words(self, words):
        """Returns a command line that runs the command on the other machine."""
        return ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", "--", *(str(word) for word in words)]

    def run(self, words, **options):
        return subprocess.run(self.words(words), check=True, timeout=300, **options)

    def socket(self):
        """Returns a socket of the other machine."""
        with open("/proc/self/ns/net", "rb") as here, open(f"/proc/{self.holder.pid}/ns/net", "rb") as there:
            enter(there)
            try:
                return socket.socket()
            finally:
                enter(here)

    def close(self):
        self.holder.kill()
        self.holder.wait()
        ip("addr", "flush", "dev", self.own)


def enter(namespace):
    if LIBC.setns(namespace.fileno(), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def until_apart(pid):
    own = os.readlink("/proc/self/ns/net")
    until(lambda: os.readlink(f"/proc/{pid}/ns/net") != own, "the namespace")
