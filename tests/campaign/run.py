# SPDX-License-Identifier: MIT
"""Runs a scenario in its own folder, and collects the outcome."""
import contextlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import threading
import time

import clock
import copies
import lab
import pipes
import samples

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("IIO_STREAM_BUILD", ROOT / "build")).resolve()
COMMAND = str(BUILD / "iio-stream")
DEADLINE = 60   # s that a command may wait or compute (see Patience); it should take about a second
STRACE = ["strace", "-f", "-qq", "-e", "signal=none", "-o", "/dev/null"]

# A background job of a shell ignores SIGINT. Without this, the command would ignore it as well.
signal.signal(signal.SIGINT, signal.default_int_handler)


def deadline(made):
    """Returns the deadline plus the time that a slow disk takes: about six calls of fsync() for each of up to
    about thirty parts."""
    return DEADLINE + 0.3 * made.get("trouble", {}).get("slow_ms", 0)


class Patience:
    """A timeout that ends after a number of seconds in which a program could have continued. Waiting for a
    processor or a disk depends on the machine's other work; during such waits only the program's processor
    time counts."""

    # Both are in seconds. Each check counts at most LONGEST, because this process may have waited as well.
    OFTEN, LONGEST = 0.05, 0.5

    def __init__(self, process, seconds):
        self.process, self.left = process, seconds
        self.then, (_, self.spent) = time.monotonic(), self._look()

    def _look(self):
        """Returns whether a thread is runnable or waits for a disk, and the processor time of all threads."""
        held_up, ticks, processes = False, 0, [self.process.pid]
        for number in processes:
            tasks = []
            with contextlib.suppress(OSError):  # the process may have ended
                tasks = list(pathlib.Path(f"/proc/{number}/task").iterdir())
            for task in tasks:
                with contextlib.suppress(OSError, ValueError):
                    fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
                    held_up = held_up or fields[0] in "RD"
                    ticks += int(fields[11]) + int(fields[12])
                    processes += map(int, (task / "children").read_text().split())
        return held_up, ticks / os.sysconf("SC_CLK_TCK")

    def is_over(self):
        now = time.monotonic()
        if now - self.then < self.OFTEN:
            return self.left <= 0
        held_up, spent = self._look()
        self.left -= max(spent - self.spent, 0) if held_up else min(now - self.then, self.LONGEST)
        self.then, self.spent = now, spent
        return self.left <= 0

    def wait(self):
        """Returns the exit status of the program. Raises TimeoutExpired."""
        return self.call(self.process.wait)

    def call(self, wait):
        while True:
            try:
                return wait(timeout=0.1)
            except subprocess.TimeoutExpired:
                if self.is_over():
                    raise


class Outcome:
    """Everything known about one run. `folder` has the data, `work` the campaign's own files."""

    def __init__(self, made, work):
        self.made, self.work, self.folder = made, work, work / "data"
        self.status, self.err, self.seconds, self.hung = None, "", 0.0, False
        self.summary, self.stdout, self.fed = None, b"", None
        self.due = None        # samples that were read from an open pipe
        self.original = None   # metadata of the recording to copy
        self.begun_utc = 0.0
        self.words, self.others, self.survivors = [], [], []
        self.refused = self.left = False
        self.deaf = False      # the signal came before the program had a handler for it
        self.replaced = False  # a second program started when the first had closed its files


def name_of(sink, number):
    return {"sigmf": "abc"[number], "raw": "abc"[number] + sink.get("suffix", ".bin"), "stdout": "-",
            "null": "null:"}[sink["kind"]]


def data_of_source(made):
    form = samples.Format(made["format"], made.get("channels"))
    if made.get("pattern") == "edges":
        data = samples.edges(form, made["samples"])
    else:
        data = samples.ramp(0, made["samples"] * form.sample_bytes)
    return data.tobytes() + bytes(range(1, 1 + min(made.get("torn", 0), form.sample_bytes - 1)))


def words_of(made, out, pipe=None):
    options = []
    if pipe:
        words, options = pipes.words(made, pipe.path)
    elif made["source"] == "recording":
        words, options = copies.words(made, out)
    elif made["source"] == "sim":
        words = ["sim:", "pattern=" + made.get("pattern", "ramp"), "rate=%d" % made.get("rate", 0)]
        words += [f"{key}={made[key]}" for key in ("format", "channels", "drop_at", "drop", "silent", "stall_at",
                                                   "stall_for", "unplug_at") if key in made]
    elif made["source"] == "iio":
        words = ["iio:" + lab.DEVICE, *([f"path={made['path']}"] if "path" in made else [])]
    elif made["source"] == "file":
        words = [str(out.work / "in.bin"), "format=" + made["format"]]
    else:
        words = ["-", "format=" + made["format"]]
    for number, sink in enumerate(made["sinks"]):
        words.append(name_of(sink, number))
        words += [f"{key}={value}" for key, value in sink.items() if key not in ("kind", "suffix")]
    if "memory" in made:
        words.insert(1, "memory=" + made["memory"])
    for option, key in [("--block-size", "block_size"), ("--blocks", "blocks"), ("--on-gap", "on_gap")]:
        if key in made:
            words += [option, str(made[key])]
    if made["source"] in ("sim", "iio"):
        words += ["--samples", str(made["samples"])]
    return [*words, *options, "--quiet", f"--json={out.work}/summary.json"]


def tracing(trouble):
    if "slow_ms" in trouble:
        calls = trouble.get("slow_calls", "fsync,fdatasync" + (",write" if "slow_write" in trouble else ""))
        return [*STRACE, "-e", "trace=" + calls, "-e", f"inject={calls}:delay_enter={trouble['slow_ms'] * 1000}"]
    if trouble.get("kind") == "inject":
        return [*STRACE, "-e", "trace=" + trouble["call"], "-e",
                f"inject={trouble['call']}:error={trouble['error']}:when={trouble['when']}"]
    return []


@contextlib.contextmanager
def storage(trouble, out):
    """Creates the folder for the data, on its own small file system if the scenario needs a full disk."""
    out.folder.mkdir()
    if trouble.get("kind") != "full" or os.geteuid() != 0:
        yield
        return
    size = trouble["bytes"]
    if trouble["system"] == "tmpfs":
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", out.folder]
    else:
        image = out.work / "image"
        with open(image, "wb") as file:
            file.truncate(size + (1 << 20))
        subprocess.run(["mkfs.ext4", "-q", "-O", "^has_journal", "-m", "0", image], check=True, capture_output=True)
        command = ["mount", "-o", "loop", image, out.folder]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        yield  # a container may lack permission; the fault is then left out
        return
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", out.folder], check=True)


def feed(process, data, chunk):
    with contextlib.suppress(BrokenPipeError, OSError):
        for at in range(0, len(data), chunk):
            process.stdin.write(data[at:at + chunk])
            process.stdin.flush()
    with contextlib.suppress(BrokenPipeError, OSError):
        process.stdin.close()


def target(process, traced):
    """Returns the PID of the command itself, which can be a child of strace."""
    if not traced:
        return process.pid
    patience = Patience(process, DEADLINE)
    while process.poll() is None and not patience.is_over():
        with contextlib.suppress(OSError, ValueError, IndexError):
            child = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
            if os.readlink(f"/proc/{child}/exe").endswith("iio-stream"):
                return child
        time.sleep(0.002)
    return None


def upset(process, out, traced):
    """Makes the scenario's trouble happen while the command runs."""
    trouble = out.made.get("trouble", {})
    if "after_ms" not in trouble:
        return
    victim = target(process, traced)
    if "at_part" in trouble:
        await_part(process, out, trouble["at_part"])
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(trouble["after_ms"] / 1000)
    if process.poll() is not None or victim is None:
        return
    kind = trouble["kind"]
    if kind != "second":
        out.deaf = not catches(victim)
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, {"sigint": signal.SIGINT, "sigterm": signal.SIGTERM, "kill": signal.SIGKILL}[kind])
        return
    for sink, name in [(s, name_of(s, n)) for n, s in enumerate(out.made["sinks"])]:
        if sink["kind"] not in ("sigmf", "raw") or "rotate_bytes" in sink or "rotate_time" in sink:
            continue
        file = out.folder / (name if sink["kind"] == "raw" else name + ".sigmf-data")
        if not has_open(file, victim):
            continue
        form = "format=" + sink.get("convert", out.made["format"])
        for words in (["record", "sim:", "rate=0", form, name, "overwrite=on", "--samples", "10"], ["recover", name]):
            if process.poll() is None:
                done = command(words, out)
                ran = process.poll() is None and has_open(file, victim)
                out.others.append((words, done.returncode, done.stderr, ran))
                out.replaced = out.replaced or (done.returncode == 0 and not ran)
    out.deaf = not catches(victim)
    with contextlib.suppress(ProcessLookupError):
        os.kill(victim, signal.SIGINT)


def await_part(process, out, number):
    """Waits until the part with that number of any recording contains samples."""
    patience = Patience(process, DEADLINE / 2)
    while process.poll() is None and not patience.is_over():
        for path in out.folder.glob(f"?.{number:04}.*"):
            if path.suffix in (".sigmf-meta", ".journal", ".new"):
                continue
            # The file that was prepared for the next part can disappear.
            with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
                if file.read(4096).strip(b"\0"):
                    return
        time.sleep(0.001)


def catches(pid):
    """Returns whether a process has a handler for SIGINT yet, and therefore for SIGTERM. On a busy machine
    that takes a while."""
    with contextlib.suppress(OSError, IndexError):
        caught = pathlib.Path(f"/proc/{pid}/status").read_text().split("SigCgt:")[1].split()[0]
        return bool(int(caught, 16) >> (signal.SIGINT - 1) & 1)
    return False


def has_open(file, pid):
    """Returns whether the process has that file open. Only while it is open can
    other programs detect the recording."""
    with contextlib.suppress(OSError):
        return any(os.readlink(link) == str(file) for link in pathlib.Path(f"/proc/{pid}/fd").iterdir())
    return False


def command(words, out, environment=None, started=lambda process: None):
    process = subprocess.Popen([COMMAND, *map(str, words)], cwd=out.folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    started(process)
    try:
        said, err = Patience(process, DEADLINE).call(process.communicate)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return subprocess.CompletedProcess(words, "hung", "", "")
    return subprocess.CompletedProcess(words, process.returncode, said, err)


def stream(made, out):
    """Runs the stream of a scenario until it ends."""
    trouble = made.get("trouble", {})
    traced = tracing(trouble)
    if made["source"] == "iio":
        lab.prepare(made)
    elif made["source"] == "recording":
        copies.prepare(made, out, command)
    elif made["source"] != "sim":
        out.fed = data_of_source(made)
        if made["source"] == "file":
            (out.work / "in.bin").write_bytes(out.fed)

    def limits():
        if trouble.get("kind") == "fsize":
            resource.setrlimit(resource.RLIMIT_FSIZE, (trouble["bytes"], trouble["bytes"]))

    pipe = pipes.Pipe(made, out.work) if "open" in made else None
    out.words = words_of(made, out, pipe)
    environment = clock.environment(out)
    begun, out.begun_utc = time.monotonic(), time.time()
    with open(out.work / "stdout", "wb") as stdout, open(out.work / "stderr", "wb") as stderr:
        process = subprocess.Popen([*traced, COMMAND, "stream", *out.words], cwd=out.folder, stdout=stdout,
                                   stderr=stderr, preexec_fn=limits, start_new_session=True, env=environment,
                                   stdin=stdin_of(made, pipe))
        feeder = None
        if pipe:
            pipe.drive(process, target(process, bool(traced)), out.fed, Patience(process, deadline(made)))
        elif made["source"] == "stdin":
            feeder = threading.Thread(target=feed, args=(process, out.fed, made.get("chunk", 1 << 20)))
            feeder.start()
        upset(process, out, bool(traced))
        try:
            out.status = Patience(process, deadline(made)).wait()
        except subprocess.TimeoutExpired:
            out.hung = True
        out.survivors = end_session(process)
        if feeder:
            feeder.join()
        if pipe:
            out.due = pipe.due()
            pipe.close()
    out.lost = lab.truth() if made["source"] == "iio" else None
    out.seconds = time.monotonic() - begun
    out.err = (out.work / "stderr").read_text(errors="replace")
    if (out.work / "summary.json").exists():
        with contextlib.suppress(json.JSONDecodeError):
            out.summary = json.loads((out.work / "summary.json").read_text())


def stdin_of(made, pipe):
    if pipe:
        return pipe.read_end if pipe.read_end is not None else subprocess.DEVNULL
    return subprocess.PIPE if made["source"] == "stdin" else subprocess.DEVNULL


def end_session(process):
    """Ends the process and the rest of its session, and returns the names of the other programs that were
    left."""
    left = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != process.pid:
            with contextlib.suppress(OSError, IndexError):
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                if int(fields[3]) == process.pid and fields[0] != "Z":  # it is in the command's session
                    left.append((entry / "comm").read_text().strip())
                    os.kill(int(entry.name), signal.SIGKILL)
    if process.poll() is None:
        process.kill()
        process.wait()
    return left
