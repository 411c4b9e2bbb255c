# SPDX-License-Identifier: MIT
"""Debian's kernels: finds the newest of a series and unpacks it, its headers and a little source."""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LOOK_AGAIN_AFTER = 24 * 3600  # seconds for which the answer "this is the newest" is believed
FORMAT = "3"  # of the cached folder; raise it when unpack() changes

# All that is taken from the kernel's source package.
SOURCES = (
    "drivers/dma/dma-axi-dmac.c",
    "drivers/dma/dmaengine.h",
    "drivers/dma/virt-dma.h",
    "drivers/iio/buffer/industrialio-buffer-dma.c",
    "drivers/iio/buffer/industrialio-buffer-dmaengine.c",
)


class LabError(Exception):
    """The lab cannot be made; the text says why."""


def cache_root():
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "iio-stream"
    return Path(os.environ.get("IIO_STREAM_CACHE") or default) / "lab"


@contextlib.contextmanager
def locked(name):
    """One builder at a time; the others wait and then find the product."""
    root = cache_root()
    root.mkdir(parents=True, exist_ok=True)
    with open(root / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(command, **more):
    result = subprocess.run(command, capture_output=True, text=True, **more)
    if result.returncode:
        tail = "\n".join((result.stdout + result.stderr).splitlines()[-30:])
        raise LabError(f"{' '.join(map(str, command))}: status {result.returncode}\n{tail}")
    return result.stdout


def note(text):
    print(f"script/vm: {text}", file=sys.stderr, flush=True)


def kernel(series):
    """The folder of the newest kernel of a series (6.12, 6.1), unpacked if it was not there."""
    root = cache_root()
    stamp = root / f"newest-{series}"
    release = stamp.read_text().strip() if stamp.exists() else None
    if release and (_folder(release) / "format").exists():
        if time.time() - stamp.stat().st_mtime < LOOK_AGAIN_AFTER:
            return _folder(release)
    with locked(f"kernel-{series}"):
        try:
            folder = _fetched(series, release)
        except LabError:  # the lists may be older than the archive
            _update_lists()
            folder = _fetched(series, release)
        stamp.write_text(release_of(folder).removesuffix("-amd64") + "\n")
        return folder


def _fetched(series, known):
    release = _newest(series) or known
    if not release:
        raise LabError(f"apt knows no linux-headers-{series}.*-amd64 (see docs/lab.md)")
    folder = _folder(release)
    if not (folder / "format").exists():
        _unpack(series, release, folder)
        _forget_old(series)
    return folder


def _forget_old(series):
    """Two kernels of a series are kept: a guest may still run with the older one's modules."""
    folders = sorted(cache_root().glob(f"kernel-{series}.*/"), key=lambda f: f.stat().st_mtime)
    for old in folders[:-2]:
        shutil.rmtree(old, ignore_errors=True)


def release_of(folder):
    return (folder / "release").read_text().strip()


def _folder(release):
    return cache_root() / f"kernel-{release}-{FORMAT}"


def _newest(series):
    pattern = re.compile(rf"linux-headers-({re.escape(series)}\.\d+(?:[-+][a-z0-9]+)*)-amd64")
    found = _releases(pattern, series)
    if not found:
        _update_lists()
        found = _releases(pattern, series)
    return max(found, key=lambda name: [int(n) for n in re.findall(r"\d+", name)], default=None)


def _releases(pattern, series):
    names = run(["apt-cache", "pkgnames", f"linux-headers-{series}."]).split()
    matches = (pattern.fullmatch(name) for name in names)
    releases = [match[1] for match in matches if match]
    return [name for name in releases if not re.search(r"-(cloud|rt|common)", name)]


def _update_lists():
    sudo = [] if os.geteuid() == 0 else ["sudo"]
    subprocess.run([*sudo, "apt-get", "update", "-qq"], check=False, stdout=sys.stderr)


def _version(package):
    shown = run(["apt-cache", "show", "--no-all-versions", package])
    return re.search(r"^Version: (.+)$", shown, re.M)[1], shown


def _packages(series, release):
    """What to download, NAME=VERSION, all of one version."""
    version, shown = _version(f"linux-headers-{release}-amd64")
    needs = re.search(r"^Depends: (.+)$", shown, re.M)[1]
    kbuild = re.search(rf"linux-kbuild-{re.escape(series)}[\w.+]*", needs)[0]
    image = f"linux-image-{release}-amd64"
    names = run(["apt-cache", "pkgnames", image]).split()
    if image + "-unsigned" in names:
        image += "-unsigned"
    else:
        version_of_image = _version(image)[0]
        image = f"{image}={version_of_image}"
    same = [f"linux-headers-{release}-amd64", f"linux-headers-{release}-common", kbuild]
    same += [f"linux-source-{series}"] + ([] if "=" in image else [image])
    return [f"{name}={version}" for name in same] + ([image] if "=" in image else [])


def _unpack(series, release, folder):
    note(f"fetching Debian's kernel {release} (once, about 300 MB)")
    with tempfile.TemporaryDirectory(dir=cache_root(), prefix="unpack-") as name:
        work = Path(name)
        debs, tree = work / "debs", work / "tree"
        debs.mkdir()
        tree.mkdir()
        user = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []
        run(["apt-get", *user, "download", "-q", *_packages(series, release)], cwd=debs)
        for deb in sorted(debs.glob("*.deb")):
            run(["dpkg", "-x", deb, tree])
            deb.unlink()
        product = work / "product"
        product.mkdir()
        _arrange(series, release, tree, product)
        if folder.exists():
            shutil.rmtree(folder)
        (product / "release").write_text(f"{release}-amd64\n")
        (product / "format").write_text(FORMAT + "\n")
        product.rename(folder)


def _arrange(series, release, tree, product):
    """Keeps the image, all modules, the headers (made relocatable) and a few source files."""
    full = f"{release}-amd64"
    shutil.move(tree / "boot" / f"vmlinuz-{full}", product / "vmlinuz")
    shutil.move(tree / "boot" / f"config-{full}", product / "config")
    modules = product / "modules" / "lib" / "modules"
    modules.mkdir(parents=True)
    shutil.move(tree / "lib" / "modules" / full, modules / full)
    for link in ("build", "source"):
        (modules / full / link).unlink(missing_ok=True)
    run(["depmod", "-b", product / "modules", full])
    headers = product / "headers"
    (headers / "src").mkdir(parents=True)
    (headers / "lib").mkdir()
    for part in (tree / "usr" / "src").glob("linux-headers-*"):
        shutil.move(part, headers / "src" / part.name)
    for part in (tree / "usr" / "lib").glob("linux-kbuild-*"):
        shutil.move(part, headers / "lib" / part.name)
    # Without it the build makes no BTF for modules, for which pahole would be needed.
    (headers / "src" / f"linux-headers-{full}" / "vmlinux").unlink(missing_ok=True)
    makefile = headers / "src" / f"linux-headers-{full}" / "Makefile"
    text = makefile.read_text().replace("/usr/src/", "$(dir $(lastword $(MAKEFILE_LIST)))../")
    makefile.write_text(text)
    archive = tree / "usr" / "src" / f"linux-source-{series}.tar.xz"
    members = [f"linux-source-{series}/{path}" for path in SOURCES]
    source = product / "source"
    source.mkdir()
    run(["tar", "-C", source, "--strip-components=1", "-xf", archive, *members])
