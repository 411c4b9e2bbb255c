# SPDX-License-Identifier: MIT
"""Builds the simulator and the kernel's own modules, and packs the guest's first file system."""

import hashlib
import lzma
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import kernel
from cpio import Archive

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent.parent / "tests" / "kernel"
LEGACY = TESTS / "legacy"  # ADI's blocks
REPLACED = "industrialio-buffer-dmaengine.ko"  # the module that ADI's blocks replace
TOOLS = ("connect", "devices", "sim-load", "udc-load")
KEEP = 10  # older products that are kept in the cache, for other checkouts


def product(folder, machine, buffers):
    """Returns the folder with the initramfs and the modules for a kernel and these sources, and builds it if
    necessary. `buffers` is the kind of DMA buffers: kernel or legacy."""
    release = kernel.release_of(folder)
    made = kernel.cache_root() / f"guest-{release}-{_hash(folder, machine, buffers)}"
    if not (made / "initramfs").exists():
        with kernel.locked("build"):
            if not (made / "initramfs").exists():
                kernel.note(f"building the simulator for {release}")
                _make(folder, release, made, machine, buffers)
                _forget_old(machine.apt.flavor)
    return made


def _inputs(folder, machine):
    sources = [path for where in (TESTS, LEGACY) for path in sorted(where.glob("*.[ch]"))]
    return [*sources, TESTS / "Kbuild", HERE / machine.modules, HERE / machine.init, HERE / "stage2",
            *(HERE / tool for tool in TOOLS), HERE / "build.py", machine.busybox(folder)]


def _hash(folder, machine, buffers):
    digest = hashlib.sha256((folder / "format").read_bytes() + buffers.encode())
    for path in _inputs(folder, machine):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _forget_old(flavor):
    folders = sorted(kernel.cache_root().glob(f"guest-*-{flavor}-*"), key=lambda f: f.stat().st_mtime)
    for old in folders[:-KEEP]:
        shutil.rmtree(old, ignore_errors=True)


def _make(folder, release, made, machine, buffers):
    with tempfile.TemporaryDirectory(dir=kernel.cache_root(), prefix="build-") as name:
        work, out = Path(name) / "work", Path(name) / "out"
        work.mkdir()
        out.mkdir()
        for path in _inputs(folder, machine):
            if path.parent in (TESTS, LEGACY):
                shutil.copy(path, work)
        for path in (folder / "source").rglob("*.[ch]"):
            shutil.copy(path, work)
        headers = folder / "headers" / "src" / f"linux-headers-{release}"
        kernel.run(["make", "-C", headers, f"M={work}", *machine.make,
                    f"IIOS_BUFFERS={buffers}", "-j2", "modules"])
        for module in work.glob("*.ko"):
            subprocess.run([machine.strip, "--strip-debug", module], check=True)
            shutil.copy(module, out)
        (out / "initramfs").write_bytes(_initramfs(folder, release, out, machine, buffers))
        if made.exists():
            shutil.rmtree(made)
        out.rename(made)


def module_list(machine):
    lines = (HERE / machine.modules).read_text().splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]


def _with_dependencies(folder, release, name):
    optional = name.endswith("?")
    command = ["modprobe", "-d", folder / "modules", "-S", release, "-C", "/dev/null",
               "--show-depends", name.rstrip("?")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode and not optional:
        raise kernel.LabError(f"no module {name} in {release}: {result.stderr.strip()}")
    return re.findall(r"^insmod (\S+)", result.stdout, re.M)


def _built(out, name):
    """Returns a module of this build. If its name ends in a question mark, it may be missing, as it is for
    older kernels."""
    path = out / f"{name.rstrip('?')}.ko"
    return [path] if path.exists() or not name.endswith("?") else []


def _initramfs(folder, release, out, machine, buffers):
    """Returns the initramfs: BusyBox, the two stages of init, and the modules in their load order."""
    archive = Archive()
    archive.file("init", (HERE / machine.init).read_bytes(), 0o755)
    archive.file("bin/busybox", machine.busybox(folder).read_bytes(), 0o755)
    archive.file("lab/stage2", (HERE / "stage2").read_bytes(), 0o755)
    for tool in TOOLS:
        archive.file(f"lab/bin/{tool}", (HERE / tool).read_bytes(), 0o755)
    order = {"boot": [], "disk": [], "lab": [], "sim": []}
    seen = set()
    for stage, name, *parameters in module_list(machine):
        if stage == "skip":
            seen.add(f"{name}.ko")
            continue
        if stage == "sim":
            paths = _built(out, name)
        else:
            paths = [Path(path) for path in _with_dependencies(folder, release, name)]
        for path in paths:
            short = path.name.removesuffix(".xz")
            if short in seen:
                continue
            seen.add(short)
            # The module itself comes last, after the modules that it depends on.
            order[stage].append(" ".join([short, *parameters] if path == paths[-1] else [short]))
            if (short, buffers) == (REPLACED, "legacy"):
                path = out / short  # even if Debian's kernel has its own
            data = path.read_bytes()
            where = "modules" if stage in ("boot", "disk") else "lab/modules"
            archive.file(f"{where}/{short}", lzma.decompress(data) if path.suffix == ".xz" else data)
    for name, modules in (("modules/order", order["boot"]), ("modules/disk", order["disk"]),
                          ("lab/modules/order", order["lab"] + order["sim"][:-1])):
        archive.file(name, "".join(f"{module}\n" for module in modules).encode())
    return archive.bytes()
