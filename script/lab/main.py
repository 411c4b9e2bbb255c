# SPDX-License-Identifier: MIT
"""The command line of script/vm; docs/lab.md describes it."""

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import amd64
import armhf
import board
import buffers
import build
import disk
import guest
import kernel
import log
import zcu102
from cpio import Archive

CHECKOUT = Path(__file__).resolve().parent.parent.parent
MACHINES = {"amd64": amd64.Machine, "zcu102": zcu102.Machine, "armhf": armhf.Machine}
KILLED, DIED, DIRTY, LATE, USAGE, NO_LAB = 97, 98, 99, 124, 2, 125
BOOTS = 3  # attempts, if a bug of QEMU stops the guest before the program has started
PASSED_ON = re.compile(r"(IIO_STREAM_|ASAN_|UBSAN_|TSAN_|LSAN_|GTEST_|LC_|PYTHON)\w*|LANG|CI|TERM")


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="script/vm", allow_abbrev=False,
        description="Runs a program of this machine as root in the kernel lab. Without -- CMD, "
        "it starts a shell there.",
        epilog="Status: the program's own; 99: the guest's kernel log has errors, 98: the guest died, "
        "97: killed by --kill-after, 124: --timeout or --silence expired, 125: the lab cannot be set up. "
        "See docs/lab.md.")
    parser.add_argument("--arch", default="amd64", choices=list(MACHINES),
                        help="zcu102: programs of script/cross arm64 on an emulated board; armhf: programs "
                        "of script/cross armhf on a 32-bit ARM machine")
    parser.add_argument("--kernel", default="6.12", choices=[*amd64.NEWER, *amd64.STOCK])
    parser.add_argument("--kernel-args", default="", metavar="ARGS")
    parser.add_argument("--sim", default="", metavar="KEY=VALUE,…",
                        help="parameters of the simulator, or none")
    parser.add_argument("--buffers", default="", metavar="legacy[:MODE][,cma=SIZE]", help="DMA buffers as in ADI's kernels; "
                        "MODE is the behaviour of read(): fixed (default), broken (any read panics), "
                        "single (one block)")
    parser.add_argument("--disk", metavar="[PATH:]SIZE", help="ext4 at /mnt/disk")
    parser.add_argument("--net", choices=["pair", "host"], help="with --arch amd64: two network cards on one wire "
                        "(modprobe e1000e), or one connected to this machine, which is 10.0.2.2 "
                        "(modprobe virtio_net)")
    parser.add_argument("--forward", type=int, metavar="PORT", help="with --arch zcu102: forward this machine's PORT to "
                        "the guest's port 30431, which iio-stream serve uses")
    parser.add_argument("--root", metavar="IMAGE", help="with --arch zcu102: boot a disk of script/board, "
                        "which is also written to, and run CMD as its user")
    parser.add_argument("--user", default="analog", metavar="NAME",
                        help="with --root: the user that runs CMD (analog, root)")
    parser.add_argument("--cpus", type=int, metavar="N", help="2, or 1 with --icount")
    parser.add_argument("--icount", action="store_true", help="time counts instructions; one CPU")
    parser.add_argument("--memory", type=int, metavar="MB", help="2048, or 512 with --arch armhf")
    parser.add_argument("--hugepages", type=int, metavar="N", help="2 MiB pages to reserve "
                        "(default: 128, or none below 2048 MB of memory)")
    parser.add_argument("--timeout", type=float, default=1800, metavar="S",
                        help="end the run after S seconds (1800); 0: no limit")
    parser.add_argument("--silence", type=float, metavar="S",
                        help="end a program that prints nothing for S seconds")
    parser.add_argument("--kill-after", type=float, metavar="S", help="simulate a power cut S seconds "
                        "after the program started")
    parser.add_argument("--log", metavar="FILE", help="write the guest's kernel log to FILE")
    parser.add_argument("--verbose", action="store_true", help="show the kernel log at the end")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD…")
    options = parser.parse_args(arguments)
    if options.command[:1] == ["--"]:
        options.command = options.command[1:]
    elif options.command:
        parser.error(f"put -- before the command: {options.command[0]}")
    if options.cpus is None:
        options.cpus = 1 if options.icount else 2
    if not 1 <= options.cpus <= (1 if options.icount else os.cpu_count() * 4):
        parser.error(f"--cpus {options.cpus}: " + ("--icount supports one" if options.icount else
                     f"1 to {os.cpu_count() * 4}, four for each of this machine's CPUs"))
    options.machine = MACHINES[options.arch](options.kernel)
    if options.memory is None:
        options.memory = options.machine.memory
    refusal = options.machine.refusal(options) or buffers.refusal(options)
    if refusal:
        parser.error(refusal)
    return options


def settings(options, folder, run, channels, sim):
    """Returns the settings for the guest's scripts."""
    values = {
        **options.machine.settings(folder),
        **channels.settings(),
        "MARK": run.mark,
        "RELEASE": kernel.release_of(folder),
        "SIM": sim.replace(",", " "),
        "BUFFERS": buffers.parameters(options),
        "DISK": "yes" if options.disk else "",
        "ROOT": "yes" if options.root else "",
        "USER": options.user,
        "LAB": Path(__file__).resolve().parent,
        "INTERACTIVE": "" if options.command else guest.interactive_size(),
    }
    return "".join(f"{key}={shlex.quote(str(value))}\n" for key, value in values.items()).encode()


def command(options):
    """Returns the script that sets the environment and the folder, and then executes the program."""
    if options.root:
        return shlex.join(["exec", *(options.command or ["/bin/bash", "-i"])]).encode() + b"\n"
    build_folder = CHECKOUT / options.machine.build
    path = f"{build_folder}:/run/lab/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    environment = {key: value for key, value in os.environ.items() if PASSED_ON.fullmatch(key)}
    environment.update(IIO_STREAM_BOARDS=str(kernel.cache_root() / "boards"), PATH=path, HOME="/root", USER="root", IIO_STREAM_LAB="1",
                       LD_LIBRARY_PATH=str(build_folder),
                       PYTHONPATH=f"{build_folder}/python:{build_folder}/gr")
    lines = [f"export {key}={shlex.quote(value)}" for key, value in environment.items()]
    lines.append(f"cd {shlex.quote(os.getcwd())} || exit 127")
    lines.append("exec " + shlex.join(options.command or [options.machine.shell, "-i"]))
    return "\n".join(lines).encode() + b"\n"


def kernel_arguments(options):
    pages = options.hugepages
    if pages is None:
        pages = 128 if options.memory >= 2048 else 0
    return " ".join([
        options.machine.kernel_arguments(options),
        "panic=-1 oops=panic kfence.sample_interval=1 watchdog_thresh=60",
        "init_on_alloc=0 mitigations=off norandmaps cryptomgr.notests",
        f"hugepages={pages}", options.kernel_args])


def judge(options, run, lines):
    """Returns the exit status. If it is not the program's own, prints the reason to stderr."""
    dirty = log.offences(lines)
    if options.verbose:
        print("\n".join(lines), file=sys.stderr)
    if dirty:
        kernel.note("the guest's kernel log:\n" + "\n".join(dirty[:200]))
        if log.emulator_tripped(lines):
            kernel.note("QEMU, not the kernel, caused this: docs/lab.md, Traps, int3")
        return DIRTY
    if run.killed == "kill_after":
        kernel.note(f"killed {options.kill_after:g} s after the program started, as requested")
        return KILLED
    if run.status is not None and not run.killed:
        return run.status
    reason = run.failure or "the guest died"
    if run.killed == "boot":
        reason = f"the guest was not ready within {guest.BOOT_TIME} s"
    elif run.killed == "silence":
        reason = f"the program printed nothing for {options.silence:g} s"
    elif run.killed:
        reason = f"the program did not end within {options.timeout:g} s"
    kernel.note(reason + "; its log ends:\n" + "\n".join(lines[-40:]))
    return LATE if run.killed in ("timeout", "silence") else DIED


def boot(options, folder, product):
    """Runs one guest from power-on to its end. Returns the run and the lines of the kernel log."""
    channels = options.machine.channels()
    run = guest.Run(channels, options.timeout, options.silence, options.kill_after, not options.command)
    with tempfile.TemporaryDirectory(prefix="iios-lab-", dir=disk.folder(options)) as name:
        work = Path(name)
        job = Archive()
        sim = board.fill(job, options.sim)
        job.file("job/settings", settings(options, folder, run, channels, sim))
        job.file("job/command", command(options))
        options.machine.fill(job, options)
        with guest.initrd(product / "initramfs", job) as image:
            args = options.machine.qemu(options, folder, product, work)
            args[1:1] = channels.options()  # first, because the console of a shell needs their bus
            args += ["-m", str(options.memory), "-initrd", image, "-append", kernel_arguments(options)]
            process = guest.start(args, channels.descriptors(), work / "said", not options.command)
            run.follow(process)
        lines = log.read(work / "log")
        if not run.started:
            lines += [f"QEMU: {line}" for line in log.read(work / "said")]
    return run, lines


def lab(options):
    if options.machine.install:
        kernel.run([CHECKOUT / "script" / "install", options.machine.install])
    folder = kernel.kernel(options.kernel, options.machine)
    product = build.product(folder, options.machine, buffers.kind(options))
    for _ in range(BOOTS):
        run, lines = boot(options, folder, product)
        if run.started or not (run.killed == "boot" or log.emulator_tripped(lines)):
            break
    if options.log:
        Path(options.log).write_text("\n".join(lines) + "\n")
    return judge(options, run, lines)


def main():
    options = parse(sys.argv[1:])
    os.environ["PATH"] += ":/usr/sbin:/sbin"  # ordinary users need it for depmod, modprobe and mke2fs
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return lab(options)
    except kernel.LabError as error:
        kernel.note(error)
        return NO_LAB
    except subprocess.CalledProcessError as error:
        kernel.note(error)
        return NO_LAB
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 141


if __name__ == "__main__":
    sys.exit(main())
