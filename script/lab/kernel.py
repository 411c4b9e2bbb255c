# SPDX-License-Identifier: MIT
"""Debian's kernels: finds the newest kernel of a series, and unpacks it with its headers and some source
files."""

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

LOOK_AGAIN_AFTER = 24 * 3600  # seconds between searches for a newer kernel
FORMAT = "5"  # format of the cached folder; raise it when _unpack() changes

LOADER = "ld-linux-x86-64.so.2"

# The files that are used from the kernel's source package.
SOURCES = (
    "drivers/dma/dma-axi-dmac.c",
    "drivers/dma/dmaengine.h",
    "drivers/dma/virt-dma.h",
    "drivers/iio/buffer/industrialio-buffer-dma.c",
    "drivers/iio/buffer/industrialio-buffer-dmaengine.c",
)
# Additional files if the kernel has IIO backends. The cores' drivers include headers of some chips' drivers.
BACKEND_SOURCES = (
    "drivers/iio/adc/*.h",
    "drivers/iio/adc/adi-axi-adc.c",
    "drivers/iio/dac/*.h",
    "drivers/iio/dac/ad9739a.c",
    "drivers/iio/dac/adi-axi-dac.c",
)


class LabError(Exception):
    """The lab cannot be set up; the text is the reason."""


def cache_root():
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "iio-stream"
    return Path(os.environ.get("IIO_STREAM_CACHE") or default) / "lab"


@contextlib.contextmanager
def locked(name):
    """Holds a lock, so that only one process builds a product. Other processes wait, and then find the
    finished product."""
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
    """Returns the folder of the newest kernel of a series (7.3, 6.12, 6.1) or of all series (newest). Unpacks
    it if necessary."""
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
        except LabError:  # the lists can be older than the archive
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
    """Removes all but two kernels of a series. A guest may still use the modules of the older one."""
    folders = sorted(cache_root().glob(f"kernel-{_prefix(arch)}{series}.*/"), key=lambda f: f.stat().st_mtime)
    for old in folders[:-2]:
        shutil.rmtree(old, ignore_errors=True)


def release_of(folder):
    return (folder / "release").read_text().strip()


def _prefix(arch):
    """Returns the prefix of another architecture's products in the cache."""
    return "" if arch == "amd64" else f"{arch}-"


def _folder(release, arch):
    return cache_root() / f"kernel-{_prefix(arch)}{release}-{FORMAT}"


def _series(release):
    """Returns the series of a release: 7.3 for 7.3.4+deb13."""
    return ".".join(release.split(".")[:2])


def _age(release):
    """Returns a sort key for releases and series."""
    return [int(number) for number in re.findall(r"\d+", release)]


def _newest(series, apt):
    found = _releases(series, apt)
    if not found:
        apt.update()
        found = _releases(series, apt)
    return max(found, key=_age, default=None)


def _successor(series, apt):
    """Returns the newest kernel if it is later than the series, because backports remove a kernel when a
    newer one appears."""
    there = sorted(_releases("newest", apt), key=_age)
    if apt.moves_on and there and _age(there[-1]) > _age(series):
        note(f"{series} is no longer in Debian's {apt.suites[-1]}: using {there[-1]}")
        return there[-1]
    found = f"it finds {', '.join(there)}" if there else "it finds no kernel headers"
    raise LabError(f"apt finds no linux-headers-{series}.*-{apt.flavor}; {found} (see docs/lab.md)")


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
    """Returns the packages to download: NAME=VERSION for the kernel's packages, all of the same version, and
    the additional packages of the machine."""
    apt = machine.apt
    version, shown = _version(f"linux-headers-{release}-{apt.flavor}", apt)
    needs = re.search(r"^Depends: (.+)$", shown, re.M)[1]
    series = _series(release)
    # linux-kbuild's tools run on this machine, for any target.
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
    # Since Debian 13's backports, the image's package is empty and depends on these.
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
    """Keeps the image, all modules, the headers (made relocatable) and a few source files, `sources` among
    them."""
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
    """Moves the headers with which modules are built, and makes them relocatable."""
    (headers / "src").mkdir(parents=True)
    (headers / "lib").mkdir()
    for part in (tree / "usr" / "src").glob("linux-headers-*"):
        shutil.move(part, headers / "src" / part.name)
    for part in (tree / "usr" / "lib").glob("linux-kbuild-*"):
        shutil.move(part, headers / "lib" / part.name)
    libc = tree / "usr" / "lib" / "x86_64-linux-gnu"
    if (libc / LOADER).exists():
        _bring_libc(libc, headers / "lib")
    # Without vmlinux, the build makes no BTF for modules, which would need pahole.
    (headers / "src" / f"linux-headers-{full}" / "vmlinux").unlink(missing_ok=True)
    makefile = headers / "src" / f"linux-headers-{full}" / "Makefile"
    text = makefile.read_text().replace("/usr/src/", "$(dir $(lastword $(MAKEFILE_LIST)))../")
    makefile.write_text(text)


def _bring_libc(libc, lib):
    """Makes the build's programs run with the C library for which they were made, because it can be newer
    than this machine's. Their argument 0 does not change, because modpost uses it to find the program for the
    architecture."""
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
