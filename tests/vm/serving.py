# SPDX-License-Identifier: MIT
"""`iio-stream serve` in the guest, with Debian's programs as its clients."""
import json
import re
import signal
import socket
import subprocess

import pytest
from conftest import ADC, finish, start
from waiting import until

HOST = "127.0.0.1"
URI = f"ip:{HOST}"
PORT = 30431


def answers(host=HOST):
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as client:
        return client.connect_ex((host, PORT)) == 0


class Serving:
    """Runs the server, from its first answer until it ends. `by` is the command that runs it."""

    def __init__(self, *words, by=("env",)):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        self.process = start(*by[1:], "iio-stream", "serve", "--json", *words, command=by[0])
        self.result = None
        until(lambda: answers() or self.process.poll() is not None, "the server's first answer")

    def end(self):
        if self.result is None:
            self.process.send_signal(signal.SIGINT)
            self.result = finish(self.process, 30)
        assert self.result.status == 0, self.result.err
        return json.loads(self.result.out)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def said(words, **options):
    """Runs a client program, and returns what it wrote to stdout."""
    done = subprocess.run([str(word) for word in words], capture_output=True, timeout=120, check=False, **options)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def readdev(samples, *words, uri=URI, device=ADC, buffer=8192):
    return ["iio_readdev", "-u", uri, "-T", "10000", "-b", buffer, "-s", samples, device, *words]


class Line:
    """A raw connection to the server, which can send anything."""

    def __init__(self, host=HOST):
        self.socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self.socket.settimeout(20)
        self.socket.connect((host, PORT))
        self.file = self.socket.makefile("rb")

    def say(self, text):
        self.socket.sendall(text if isinstance(text, bytes) else text.encode() + b"\r\n")

    def ask(self, text):
        self.say(text)
        return self.number()

    def number(self):
        return int(self.file.readline())

    def over(self):
        """Returns whether the server has closed the connection."""
        try:
            return self.file.read(1) == b""
        except ConnectionResetError:
            return True

    def close(self):
        self.file.close()
        self.socket.close()


def device_id(name):
    return re.search(rf"(iio:device\d+): {name}\b", said(["iio_info", "-u", "local:"]).decode())[1]


def need_clients():
    return pytest.mark.skipif(subprocess.run(["which", "iio_readdev"], capture_output=True, check=False).returncode != 0,
                              reason="libiio-utils is not installed")
