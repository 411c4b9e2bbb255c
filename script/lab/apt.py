# SPDX-License-Identifier: MIT
"""Asks Debian's archive: by this machine's own lists, or by lists of another architecture in the cache."""

import os
import subprocess
import sys

import kernel


class Apt:
    """The packages of this machine's architecture, by the lists that it has."""

    def __init__(self, arch):
        self.arch = arch

    def options(self):
        return []

    def update(self):
        sudo = [] if os.geteuid() == 0 else ["sudo"]
        subprocess.run([*sudo, "apt-get", "update", "-qq"], check=False, stdout=sys.stderr)

    def refresh(self):
        """Before a newer version is looked for; here that is left to the machine's owner."""

    def names(self, prefix):
        return kernel.run(["apt-cache", *self.options(), "pkgnames", prefix]).split()

    def show(self, package):
        return kernel.run(["apt-cache", *self.options(), "show", "--no-all-versions", package])

    def download(self, packages, folder):
        user = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []
        kernel.run(["apt-get", *self.options(), *user, "download", "-q", *packages], cwd=folder)


class ForeignApt(Apt):
    """Those of another architecture, as if this were a fresh machine of it; what of this machine's they
    need is named NAME:amd64. The machine's lists, packages and architectures stay as they are."""

    def _state(self):
        return kernel.cache_root() / f"apt-{self.arch}"

    def options(self):
        state = self._state()
        words = [f"APT::Architecture={self.arch}", f"APT::Architectures={self.arch},amd64",
                 f"Dir::State={state}", f"Dir::State::status={state}/status", f"Dir::Cache={state}",
                 "Debug::NoLocking=1"]
        return [word for value in words for word in ("-o", value)]

    def refresh(self):
        self.update()

    def update(self):
        with kernel.locked(f"apt-{self.arch}"):
            for part in ("lists/partial", "archives/partial"):
                (self._state() / part).mkdir(parents=True, exist_ok=True)
            (self._state() / "status").touch()
            user = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []
            # A mirror that is being renewed has some lists only; what is missing then shows later.
            subprocess.run(["apt-get", *self.options(), *user, "update", "-qq"], check=False,
                           stdout=sys.stderr)
