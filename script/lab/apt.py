# SPDX-License-Identifier: MIT
"""Asks Debian's archive by this machine's own lists."""

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
