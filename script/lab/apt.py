# SPDX-License-Identifier: MIT
"""Queries and downloads Debian packages, with this machine's lists or with separate lists in the cache."""

import os
import subprocess
import sys

import kernel


class Apt:
    """Packages of this machine's architecture, with its own lists."""

    moves_on = False  # whether a kernel can be replaced by one of a later series

    def __init__(self, arch):
        self.arch = arch
        self.flavor = arch  # the last part of the names of the kernel packages

    def options(self):
        return []

    def update(self):
        sudo = [] if os.geteuid() == 0 else ["sudo"]
        subprocess.run([*sudo, "apt-get", "update", "-qq"], check=False, stdout=sys.stderr)

    def refresh(self):
        """Called before a search for a newer version. Does nothing here: the owner of the machine updates its
        lists."""

    def names(self, prefix):
        return kernel.run(["apt-cache", *self.options(), "pkgnames", prefix]).split()

    def show(self, package):
        return kernel.run(["apt-cache", *self.options(), "show", "--no-all-versions", package])

    def download(self, packages, folder):
        user = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []
        kernel.run(["apt-get", *self.options(), *user, "download", "-q", *packages], cwd=folder)


class OwnLists(Apt):
    """Packages with lists in the cache, as on a fresh machine. This machine's lists, packages and
    architectures do not change."""

    def _name(self):
        return f"apt-{self.arch}"

    def _state(self):
        return kernel.cache_root() / self._name()

    def options(self):
        state = self._state()
        words = [f"Dir::State={state}", f"Dir::State::status={state}/status", f"Dir::Cache={state}",
                 "Debug::NoLocking=1"]
        return [word for value in words for word in ("-o", value)]

    def refresh(self):
        self.update()

    def update(self):
        with kernel.locked(self._name()):
            for part in ("lists/partial", "archives/partial"):
                (self._state() / part).mkdir(parents=True, exist_ok=True)
            (self._state() / "status").touch()
            self._prepare()
            user = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []
            # A mirror that is being updated may lack some lists. If a needed list is missing, a later step
            # fails.
            subprocess.run(["apt-get", *self.options(), *user, "update", "-qq"], check=False,
                           stdout=sys.stderr)

    def _prepare(self):
        """Called before the lists are fetched."""


class ForeignApt(OwnLists):
    """Packages of another architecture. Packages of this machine's architecture that they need are named
    NAME:amd64."""

    def options(self):
        return [*super().options(), "-o", f"APT::Architecture={self.arch}",
                "-o", f"APT::Architectures={self.arch},amd64"]


class SuitesApt(OwnLists):
    """Packages of other Debian releases, from the archive in this machine's sources."""

    moves_on = True
    kind = "deb"
    KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"

    def __init__(self, arch, *suites):
        super().__init__(arch)
        self.suites = suites
        self.listed = arch  # the architectures in the lists

    def _name(self):
        return f"apt-{self.arch}-{self.suites[-1]}"

    def options(self):
        return [*super().options(), "-o", f"Dir::Etc::SourceList={self._state()}/sources.list",
                "-o", "Dir::Etc::SourceParts=/dev/null"]

    def _prepare(self):
        archive = _archive()
        (self._state() / "sources.list").write_text("".join(
            f"{self.kind} [arch={self.listed} signed-by={self.KEYS}] {archive} {suite} main\n" for suite in self.suites))


class ForeignSuitesApt(SuitesApt):
    """Packages of another architecture in another Debian release. Packages of this machine's architecture
    that they need are named NAME:amd64."""

    def __init__(self, arch, flavor, *suites):
        super().__init__(arch, *suites)
        self.flavor = flavor
        self.listed = f"{arch},amd64"

    def options(self):
        return [*super().options(), "-o", f"APT::Architecture={self.arch}", "-o", f"APT::Architectures={self.listed}"]


class SourcesApt(SuitesApt):
    """Source packages of another release."""

    kind = "deb-src"

    def _name(self):
        return f"apt-sources-{self.suites[-1]}"

    def unpack(self, package, folder):
        """Unpacks the newest source package of that name, with Debian's patches, into a folder below
        `folder`."""
        user = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []
        kernel.run(["apt-get", *self.options(), *user, "source", "-q", package], cwd=folder)


def _archive():
    """Returns the address of Debian's archive (not of its security updates) in this machine's sources."""
    ask = ["apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)", "Created-By: Packages"]
    for attempt in ("as it is", "with lists"):  # only the lists have the label of a source
        for line in kernel.run(ask).splitlines():
            label, _, address = line.rpartition(" ")
            if label == "Debian":
                return address
        if attempt == "as it is":
            Apt("amd64").update()
    raise kernel.LabError("Debian's archive, which has Debian 13's kernels, is not in this machine's sources")
