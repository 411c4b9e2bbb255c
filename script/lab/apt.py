# SPDX-License-Identifier: MIT
"""Asks Debian's archive: by this machine's own lists, or by lists of another architecture in the cache."""

import os
import subprocess
import sys

import kernel


class Apt:
    """The packages of this machine's architecture, by the lists that it has."""

    moves_on = False  # a kernel is replaced by one of a later series

    def __init__(self, arch):
        self.arch = arch
        self.flavor = arch  # the last part of the names of its kernels' packages

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


class OwnLists(Apt):
    """By lists in the cache, as if this were a fresh machine of theirs. This machine's lists, packages and
    architectures stay as they are."""

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
            # A mirror that is being renewed has some lists only; what is missing then shows later.
            subprocess.run(["apt-get", *self.options(), *user, "update", "-qq"], check=False,
                           stdout=sys.stderr)

    def _prepare(self):
        """Before the lists are fetched."""


class ForeignApt(OwnLists):
    """Those of another architecture; what of this machine's they need is named NAME:amd64."""

    def options(self):
        return [*super().options(), "-o", f"APT::Architecture={self.arch}",
                "-o", f"APT::Architectures={self.arch},amd64"]


class SuitesApt(OwnLists):
    """Those of other releases of Debian, from the archive that this machine's own sources name."""

    moves_on = True
    kind = "deb"
    KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"

    def __init__(self, arch, *suites):
        super().__init__(arch)
        self.suites = suites
        self.listed = arch  # the architectures whose packages the lists have

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
    """Those of another architecture in another release of Debian; what of this machine's they need is named
    NAME:amd64."""

    def __init__(self, arch, flavor, *suites):
        super().__init__(arch, *suites)
        self.flavor = flavor
        self.listed = f"{arch},amd64"

    def options(self):
        return [*super().options(), "-o", f"APT::Architecture={self.arch}", "-o", f"APT::Architectures={self.listed}"]


class SourcesApt(SuitesApt):
    """Sources of another release."""

    kind = "deb-src"

    def _name(self):
        return f"apt-sources-{self.suites[-1]}"

    def unpack(self, package, folder):
        """The newest source package of that name, with Debian's patches, in a folder below that one."""
        user = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []
        kernel.run(["apt-get", *self.options(), *user, "source", "-q", package], cwd=folder)


def _archive():
    """The address of Debian's archive (not that of its security updates) in this machine's sources."""
    ask = ["apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)", "Created-By: Packages"]
    for attempt in ("as it is", "with lists"):  # which tell whose a source is
        for line in kernel.run(ask).splitlines():
            label, _, address = line.rpartition(" ")
            if label == "Debian":
                return address
        if attempt == "as it is":
            Apt("amd64").update()
    raise kernel.LabError("no source of this machine's apt is Debian's archive: Debian 13's kernels come from it")
