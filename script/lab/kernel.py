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
FORMAT = "5"  # of the cached folder; raise it when unpack() changes

LOADER = "ld-linux-x86-64.so.2"

# All that is taken from the kernel's source package.
SOURCES = (
    "drivers/dma/dma-axi-dmac.c",
    "drivers/dma/dmaengine.h",
    "drivers/dma/virt-dma.h",
    "drivers/iio/buffer/industrialio-buffer-dma.c",
    "drivers/iio/buffer/industrialio-buffer-dmaengine.c",
)
# The same if the kernel has IIO backends. The cores' drivers include headers of some chips'.
BACKEND_SOURCES = (
    "drivers/iio/adc/*.h",
    "drivers/iio/adc/adi-axi-adc.c",
    "drivers/iio/dac/*.h",
    "drivers/iio/dac/ad9739a.c",
    "drivers/iio/dac/adi-axi-dac.c",
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


def kernel(series, machine):
    """The folder of the newest kernel of a series (7.3, 6.12, 6.1) or of all (newest), unpacked if it was
    not there."""
    root = cache_root()
    arch = machine.apt.arch
    stamp = root / f"newest-{_prefix(arch)}{series}"
    release = stamp.read_text().strip() if stamp.exists() else None
    if release and (_folder(release, arch) / "format").exists():
        if time.time() - stamp.stat().st_mtime < LOOK_AGAIN_AFTER:
            return _folder(release, arch)
    with locked(f"kernel-{_prefix(arch)}{series}"):
        machine.apt.refresh()
        try:
            folder = _fetched(series, release, machine)
        except LabError:  # the lists may be older than the archive
            machine.apt.update()
            folder = _fetched(series, release, machine)
        stamp.write_text(release_of(folder).removesuffix(f"-{machine.apt.flavor}") + "\n")
        return folder


def _fetched(series, known, machine):
    arch = machine.apt.arch
    release = _newest(series, machine.apt) or known or _successor(series, machine.apt)
    folder = _folder(release, arch)
    if not (folder / "format").exists():
        _unpack(release, folder, machine)
        _forget_old(_series(release), arch)
    return folder


def _forget_old(series, arch):
    """Two kernels of a series are kept: a guest may still run with the older one's modules."""
    folders = sorted(cache_root().glob(f"kernel-{_prefix(arch)}{series}.*/"), key=lambda f: f.stat().st_mtime)
    for old in folders[:-2]:
        shutil.rmtree(old, ignore_errors=True)


def release_of(folder):
    return (folder / "release").read_text().strip()


def _prefix(arch):
    """What distinguishes a foreign architecture's products in the cache from this machine's."""
    return "" if arch == "amd64" else f"{arch}-"


def _folder(release, arch):
    return cache_root() / f"kernel-{_prefix(arch)}{release}-{FORMAT}"


def _series(release):
    """7.3 of 7.3.4+deb13."""
    return ".".join(release.split(".")[:2])


def _age(release):
    """Sorts releases, and series."""
    return [int(number) for number in re.findall(r"\d+", release)]


def _newest(series, apt):
    found = _releases(series, apt)
    if not found:
        apt.update()
        found = _releases(series, apt)
    return max(found, key=_age, default=None)


def _successor(series, apt):
    """Backports keep a kernel only until a newer one comes: the newest there is, if it is a later one."""
    there = sorted(_releases("newest", apt), key=_age)
    if apt.moves_on and there and _age(there[-1]) > _age(series):
        note(f"{series} is no longer in Debian's {apt.suites[-1]}: taking {there[-1]}")
        return there[-1]
    raise LabError(f"apt knows no linux-headers-{series}.*-{apt.flavor}, only "
                   f"{', '.join(there) or 'none at all'} (see docs/lab.md)")


def _releases(series, apt):
    prefix = "linux-headers-" if series == "newest" else f"linux-headers-{series}."
    pattern = re.compile(rf"linux-headers-(\d+\.\d+\.\d+(?:[-+][a-z0-9]+)*)-{apt.flavor}")
    matches = (pattern.fullmatch(name) for name in apt.names(prefix))
    releases = [match[1] for match in matches if match]
    return [name for name in releases if not re.search(r"-(cloud|rt|common)", name)]


def _version(package, apt):
    shown = apt.show(package)
    return re.search(r"^Version: (.+)$", shown, re.M)[1], shown


def _packages(release, machine):
    """What to download, NAME=VERSION, all of one version, and what else the machine needs."""
    apt = machine.apt
    version, shown = _version(f"linux-headers-{release}-{apt.flavor}", apt)
    needs = re.search(r"^Depends: (.+)$", shown, re.M)[1]
    series = _series(release)
    # Its tools run on this machine, whatever they build for.
    kbuild = re.search(rf"linux-kbuild-{re.escape(series)}[\w.+]*", needs)[0] + ":amd64"
    image = f"linux-image-{release}-{apt.flavor}"
    if image + "-unsigned" in apt.names(image):
        image += "-unsigned"
    else:
        version_of_image = _version(image, apt)[0]
        image = f"{image}={version_of_image}"
    same = [f"linux-headers-{release}-{apt.flavor}", f"linux-headers-{release}-common", kbuild]
    same += [f"linux-source-{series}"] + ([] if "=" in image else [image])
    more = ([image] if "=" in image else []) + machine.packages
    # Since Debian 13's backports the image's package is empty, and names these.
    parts = [f"linux-{part}-{release}-{apt.flavor}" for part in ("binary", "modules", "base")]
    same += [part for part in parts if part in apt.names(part)]
    return [f"{name}={version}" for name in same] + more


def _unpack(release, folder, machine):
    arch = machine.apt.arch
    note(f"fetching Debian's {arch} kernel {release} (once, about 300 MB)")
    with tempfile.TemporaryDirectory(dir=cache_root(), prefix="unpack-") as name:
        work = Path(name)
        debs, tree = work / "debs", work / "tree"
        debs.mkdir()
        tree.mkdir()
        machine.apt.download(_packages(release, machine), debs)
        for deb in sorted(debs.glob("*.deb")):
            run(["dpkg", "-x", deb, tree])
            deb.unlink()
        product = work / "product"
        product.mkdir()
        full = f"{release}-{machine.apt.flavor}"
        _arrange(full, tree, product, machine.sources)
        for source, name in machine.keep.items():
            shutil.move(tree / source.format(release=full), product / name)
        if folder.exists():
            shutil.rmtree(folder)
        (product / "release").write_text(full + "\n")
        (product / "format").write_text(FORMAT + "\n")
        product.rename(folder)


def _arrange(full, tree, product, sources):
    """Keeps the image, all modules, the headers (made relocatable) and a few source files, `sources` among them."""
    lib = next(path for path in (tree / "lib", tree / "usr" / "lib") if (path / "modules" / full).is_dir())
    for part in ("vmlinuz", "config"):
        places = (tree / "boot" / f"{part}-{full}", lib / "modules" / full / part)
        shutil.move(next(path for path in places if path.is_file()), product / part)
    modules = product / "modules" / "lib" / "modules"
    modules.mkdir(parents=True)
    shutil.move(lib / "modules" / full, modules / full)
    for link in ("build", "source"):
        (modules / full / link).unlink(missing_ok=True)
    run(["depmod", "-b", product / "modules", full])
    _arrange_headers(full, tree, product / "headers")
    series = _series(full)
    archive = tree / "usr" / "src" / f"linux-source-{series}.tar.xz"
    has_backends = _age(series) >= [6, 12]
    members = [f"linux-source-{series}/{path}" for path in SOURCES + BACKEND_SOURCES * has_backends + sources]
    source = product / "source"
    source.mkdir()
    run(["tar", "-C", source, "--strip-components=1", "--wildcards", "-xf", archive, *members])


def _arrange_headers(full, tree, headers):
    """What modules are built with, wherever the cache is."""
    (headers / "src").mkdir(parents=True)
    (headers / "lib").mkdir()
    for part in (tree / "usr" / "src").glob("linux-headers-*"):
        shutil.move(part, headers / "src" / part.name)
    for part in (tree / "usr" / "lib").glob("linux-kbuild-*"):
        shutil.move(part, headers / "lib" / part.name)
    libc = tree / "usr" / "lib" / "x86_64-linux-gnu"
    if (libc / LOADER).exists():
        _bring_libc(libc, headers / "lib")
    # Without it the build makes no BTF for modules, for which pahole would be needed.
    (headers / "src" / f"linux-headers-{full}" / "vmlinux").unlink(missing_ok=True)
    makefile = headers / "src" / f"linux-headers-{full}" / "Makefile"
    text = makefile.read_text().replace("/usr/src/", "$(dir $(lastword $(MAKEFILE_LIST)))../")
    makefile.write_text(text)


def _bring_libc(libc, lib):
    """The build's programs run by the loader of the C library that they were made for, a later one than
    this machine's may be. The argument 0 is kept: by it modpost finds the one for the architecture."""
    own = lib / "libc"
    own.mkdir()
    for name in ("libc.so.6", "libm.so.6", LOADER):
        shutil.move(libc / name, own / name)
    for tool in list(lib.glob("linux-kbuild-*/**/*")):
        if tool.is_symlink() or not tool.is_file() or tool.read_bytes()[:4] != b"\x7fELF":
            continue
        up = "/".join([".."] * len(tool.parent.relative_to(lib).parts))
        tool.rename(tool.with_name(tool.name + ".elf"))
        tool.write_text(
            '#!/bin/sh\nhere=$(dirname "$(readlink -f "$0")")\n'
            f'exec "$here/{up}/libc/{LOADER}" --argv0 "$0" '
            f'--library-path "$here/{up}/libc:/usr/lib/x86_64-linux-gnu" "$here/{tool.name}.elf" "$@"\n')
        tool.chmod(0o755)
