# SPDX-License-Identifier: MIT
"""A scenario, which is a plain dictionary made from a seed. A missing setting has its default.

    source      sim, file, stdin or recording. The keys format, channels, pattern and rate belong to it, and
                so do the faults of a sim:
    samples     the number of samples to request from sim:, or the number in another source, plus `torn` bytes
    open        stdin is a pipe that stays open (pipes.py)
    original    a recording's metadata, as another program writes them (copies.py)
    clock       steps of the wall clock (clock.py)
    sinks       a list: kind (sigmf, raw, stdout, null), and the sink's own options
    trouble     the fault or signal that hits the stream, and when
    store       the store to which the parts are uploaded, and its faults (archives.py)
"""
import pathlib
import random

import archives
import clock
import copies
import lab
import pipes
import samples

# Formats whose samples can have any value. `edges` are values at and near the midpoint of two integers.
FORMATS = ["ci16_le", "ci16_le", "ci16_le", "ci8", "ri8", "cu8", "ri16_le", "ci16_be", "cu16_le", "cf32_le",
           "ri32_le", "rf32_le", "cf64_le"]
SUFFIX = {"ci16_le": ".ci16", "ci8": ".ci8", "ri8": ".ri8", "cu8": ".cu8", "cf32_le": ".cf32", "ri16_le": ".ri16"}
COMPLEX = ["cf32_le", "ci16_le", "ci8", "cu8", "ci32_le", "cf64_le", "ci16_be"]
ENGINES = ["io_uring", "libaio", "buffered"]
ERRORS = {"fsync": ["EIO"], "fdatasync": ["EIO", "ENOSPC"], "write": ["ENOSPC", "EINTR", "EIO"],
          "pwrite64": ["ENOSPC", "EIO", "EINTR"], "ftruncate": ["EIO", "ENOSPC"], "fallocate": ["ENOSPC", "EOPNOTSUPP"],
          "rename": ["EIO", "ENOSPC"], "io_uring_enter": ["EINTR", "EAGAIN"], "io_submit": ["EAGAIN", "ENOSPC"],
          "io_uring_setup": ["ENOSYS", "ENOMEM"], "openat": ["EMFILE", "ENOSPC", "EIO"], "poll": ["EINTR", "ENOMEM"],
          "mmap": ["ENOMEM"], "flock": ["EINTR", "ENOLCK"], "io_setup": ["EAGAIN"], "io_getevents": ["EINTR"],
          "unlink": ["EIO"], "lseek": ["EINVAL"], "clone3": ["EAGAIN"], "eventfd2": ["EMFILE"], "ppoll": ["EINTR"]}


def maybe(chance, share):
    return chance.random() < share


def log_range(chance, least, most):
    return round(least * (most / least) ** chance.random())


def source_of(chance):
    kind = chance.choices(["sim", "file", "stdin", "recording"], [8, 1, 4, 3])[0]
    if kind == "recording":
        return copies.generate(chance, maybe, log_range)
    made = {"source": kind, "format": chance.choice(FORMATS), "samples": log_range(chance, 1, 4_000_000)}
    if kind != "sim":
        if "f" in made["format"] and maybe(chance, 0.7):
            made["pattern"] = "edges"
        if maybe(chance, 0.4):
            made["torn"] = chance.randrange(1, 8)
        if kind == "stdin" and maybe(chance, 0.5):
            made["chunk"] = log_range(chance, 1000, 1_000_000)
        if kind == "stdin" and maybe(chance, 0.5):
            pipes.generate(chance, maybe, made)
        return made
    made["samples"] += 200  # only a complete word identifies a position in the ramp
    if made["format"][1] == "i" and maybe(chance, 0.2):
        made["channels"] = chance.choice([2, 4, 6] if made["format"][0] == "c" else [1, 2, 3, 5])
    if maybe(chance, 0.4):
        made["rate"] = chance.choice([500_000, 2_000_000, 8_000_000])
        made["samples"] = min(made["samples"], made["rate"] // 2)
    if maybe(chance, 0.5):
        at = chance.randrange(made["samples"] - 100)
        # Fewer samples before the loss would not contain a complete word of the ramp, so their position
        # would be unknown.
        made["drop_at"] = at if at == 0 else max(at, 16)
        # A device that exceeds the deadline for a block has failed.
        made["drop"] = log_range(chance, 1, min(1_000_000, made.get("rate", 4_000_000) // 4))
        if maybe(chance, 0.1):
            made["silent"] = "on"
    if "rate" in made and maybe(chance, 0.3):
        made["stall_at"] = chance.randrange(made["samples"] - 100)
        made["stall_for"] = chance.choice(["10ms", "50ms", "300ms"])
    if maybe(chance, 0.07):
        made["unplug_at"] = chance.randrange(made["samples"] + 1)
    return made


def sink_of(chance, number, source):
    kind = chance.choices(["sigmf", "raw", "stdout" if number == 0 else "null", "null"], [10, 6, 1, 1])[0]
    made = {"kind": kind}
    complex_ = source["format"][0] == "c"
    if maybe(chance, 0.3 if source.get("pattern") != "edges" else 0.8):
        made["convert"] = chance.choice(COMPLEX if complex_ else ["rf32_le", "ri16_le", "ri8", "ri32_le"])
    if maybe(chance, 0.2):
        made["on-full"] = chance.choice(["drop", "block"])
    if kind not in ("sigmf", "raw"):
        if kind == "null" and number and maybe(chance, 0.3):
            made["stall_at"], made["stall_for"] = chance.randrange(100_000), "200ms"
        return made
    if kind == "raw" and maybe(chance, 0.5):
        made["suffix"] = SUFFIX.get(made.get("convert", source["format"]), ".bin")
    if maybe(chance, 0.6):
        made["engine"] = chance.choice(ENGINES)
        if maybe(chance, 0.3):
            made["direct"] = "off" if made["engine"] == "buffered" else "on"
    for key, share, values in [("depth", 0.2, [1, 2, 7]), ("sync", 0.2, ["end", "256Ki"]),
                               ("preallocate", 0.2, ["off", "1Mi", "64Mi"]), ("hash", 0.1, ["end"])]:
        if maybe(chance, share) and (key != "hash" or kind == "sigmf"):
            made[key] = chance.choice(values)
    if maybe(chance, 0.35):
        made["rotate_bytes"] = log_range(chance, 30_000, 4_000_000)
    elif maybe(chance, 0.2):
        made["rotate_time"] = chance.choice(["20ms", "50ms", "200ms"])
    return made


def trouble_of(chance, made):
    kinds = ["sigint", "sigterm", "kill", "kill", "kill", "fsize", "full", "slow", "inject", "inject", "second"]
    if "open" in made or made["source"] == "recording":
        kinds = ["slow"]  # any other kind would end the stream by itself
    kind = chance.choice(kinds)
    trouble = {"kind": kind}
    if kind in ("sigint", "sigterm", "kill", "second"):
        trouble["after_ms"] = chance.randrange(0, 1200 if maybe(chance, 0.3) else 200)
        if made["source"] == "sim":  # there must be something to interrupt
            made["rate"] = chance.choice([4_000_000, 16_000_000])
            made["samples"] = made["rate"] * 4
        if kind == "second":
            for key in ("on_gap", "unplug_at", "stall_at", "stall_for"):
                made.pop(key, None)
        if kind == "kill" and maybe(chance, 0.4):
            rotate(chance, made, trouble)
        if kind == "kill" and maybe(chance, 0.3):
            trouble["moved"] = chance.choice(["copied", "without its journal"])
        if kind == "kill" and maybe(chance, 0.3):
            trouble["slow_ms"] = chance.choice([20, 300])
        if kind == "kill" and made["source"] == "sim" and maybe(chance, 0.3):
            # Late writes reveal the order of writing.
            trouble.update(slow_ms=chance.choice([20, 100]), slow_write=True, after_ms=chance.randrange(300, 4000))
            made.pop("rate")
            made["samples"] = 64_000_000
            if any(sink["kind"] == "sigmf" and "rotate_bytes" in sink for sink in made["sinks"]):
                trouble.update(at_part=chance.choice([1, 2]), after_ms=chance.choice([0, 0, 50]))
        elif kind == "kill" and made["source"] == "sim" and maybe(chance, 0.5):
            unstored(chance, made, trouble)
    elif kind in ("fsize", "full"):
        trouble["bytes"] = log_range(chance, 20_000, 6_000_000)  # the summary must fit
        if kind == "full":
            trouble["bytes"] = max(trouble["bytes"], 400_000)
            trouble["system"] = chance.choice(["tmpfs", "ext4"])
    elif kind == "slow":
        trouble["slow_ms"] = chance.choice([20, 200, 700])
        for sink in made["sinks"]:
            # The hash of a part and the fsync() of the next part then happen at the same time.
            if sink["kind"] == "sigmf" and maybe(chance, 0.5):
                sink.pop("rotate_time", None)
                sink.setdefault("rotate_bytes", log_range(chance, 30_000, 4_000_000))
                sink["hash"] = "end"
    else:
        # The overflow register is read by pwrite64(). If that fails, losses cannot be detected.
        calls = set(ERRORS) - ({"pwrite64"} if made["source"] == "iio" else set())
        trouble["call"] = chance.choice(sorted(calls))
        trouble["error"] = chance.choice(ERRORS[trouble["call"]])
        trouble["when"] = log_range(chance, 1, 40)
    return trouble


def rotate(chance, made, trouble):
    """Splits a recording that is killed into parts. It can be killed as soon as one of them has samples."""
    sink = chance.choice(made["sinks"])
    if sink["kind"] in ("sigmf", "raw") and "rotate_time" not in sink:
        sink.setdefault("rotate_bytes", log_range(chance, 30_000, 4_000_000))
        made["block_size"] = block_size(chance, made)
        if maybe(chance, 0.5):
            trouble.update(at_part=chance.choice([1, 2, 3]), after_ms=chance.choice([0, 0, 3, 50]))


def unstored(chance, made, trouble):
    """Kills the program while it closes a part. The disk has not stored the last bytes of that part, but has
    stored later ones."""
    trouble.pop("moved", None)
    trouble.update(slow_ms=1000, slow_calls="ftruncate", at_part=1, after_ms=0, unstored=log_range(chance, 1, 500_000))
    made["samples"] = 64_000_000
    for key in ("rate", "drop_at", "drop", "stall_at", "stall_for", "unplug_at", "on_gap", "silent"):
        made.pop(key, None)  # the samples show what is missing only if there are no other losses
    sink = chance.choice(made["sinks"])
    if sink["kind"] not in ("sigmf", "raw"):
        sink.update(kind="sigmf")
    for key in ("rotate_time", "convert", "on-full", "suffix"):
        sink.pop(key, None)
    sink["rotate_bytes"] = log_range(chance, 200_000, 4_000_000)
    made["block_size"] = block_size(chance, made)


def block_size(chance, made):
    """Returns a block size of whole samples that is at most a quarter of a recording's part."""
    form = samples.Format(made["format"], made.get("channels"))
    most = min([1 << 20, *(sink.get("rotate_bytes", 1 << 20) for sink in made["sinks"])])
    size = min(chance.choice([4096, 16384, 65536, 40_000, 262_144, 1 << 20]), most // 4)
    return max(size // form.sample_bytes, 1) * form.sample_bytes


def fewer_parts(made):
    """Limits the number of parts, because checking each part takes disk time."""
    for sink in made["sinks"]:
        if "rotate_bytes" in sink:
            form = samples.Format(sink.get("convert", made["format"]), made.get("channels"))
            most = min(made["samples"], made.get("rate", 1 << 40) * 2) * form.sample_bytes
            sink["rotate_bytes"] = max(sink["rotate_bytes"], most // 30)


def generate(seed, in_lab=False):
    chance = random.Random(seed)
    if not in_lab and maybe(chance, 0.2):
        return archives.generate(chance, maybe, log_range)
    made = lab.generate(chance, maybe) if in_lab else source_of(chance)
    made["sinks"] = [sink_of(chance, number, made) for number in range(chance.choices([1, 2, 3], [7, 2, 1])[0])]
    if maybe(chance, 0.7) or any("rotate_bytes" in sink for sink in made["sinks"]):
        made["block_size"] = block_size(chance, made)
    if maybe(chance, 0.5):
        made["blocks"] = chance.choice([2, 3, 4, 8, 32])
    if maybe(chance, 0.1):
        made["memory"] = chance.choice(["pages", "auto", *["udmabuf"] * pathlib.Path("/dev/udmabuf").exists()])
    if made["source"] in ("sim", "iio") and maybe(chance, 0.5):
        made["on_gap"] = chance.choice(["zero-fill", "zero-fill", "stop", "mark"])
        if made["source"] == "iio" and made["on_gap"] == "zero-fill":
            del made["on_gap"]  # a loss of unknown size is filled with the smallest number of zeros
    if made["source"] == "recording":
        of_copy(chance, made)
    if maybe(chance, 0.5 if made["source"] != "recording" else 0.1):
        made["trouble"] = trouble_of(chance, made)
    if made["source"] == "sim" and maybe(chance, 0.3):
        step_clock(chance, made)
    fewer_parts(made)
    return made


def of_copy(chance, made):
    """Makes the sinks of a copy take all of its samples."""
    for sink in made["sinks"]:
        sink.pop("on-full", None)
        if sink["kind"] in ("sigmf", "raw") and maybe(chance, 0.4):
            form = samples.Format(sink.get("convert", made["format"]), len(copies.values_taken(made)))
            count = made.get("stop_at", made["samples"])
            sink.pop("rotate_time", None)
            sink["rotate_bytes"] = max(count // chance.choice([2, 3, 7, 20]), 1) * form.sample_bytes
            most = min(made.get("block_size", 1 << 20), max(sink["rotate_bytes"] // 2, 1))
            size = samples.Format(made["format"], made.get("channels")).sample_bytes
            made["block_size"] = max(most // size, 1) * size
    if maybe(chance, 0.2) and "stop_at" not in made and not any("rotate_bytes" in sink or "rotate_time" in sink
                                                               for sink in made["sinks"]):
        made["on_gap"] = "zero-fill"


def step_clock(chance, made):
    """Makes a recording in several parts while the clock steps. Captures have times only if there is a rate,
    and only a folder whose parts have all samples is listed as one recording."""
    made["clock"] = clock.generate(chance)
    made.setdefault("rate", 4_000_000)
    if "trouble" not in made:
        made["samples"] = max(made["samples"], made["rate"] // 8)
    sink = made["sinks"][0]
    if sink["kind"] != "sigmf":
        made["sinks"][0] = sink = {"kind": "sigmf"}
    sink.pop("on-full", None)
    if "rotate_time" not in sink:
        size = samples.Format(sink.get("convert", made["format"]), made.get("channels")).sample_bytes
        most = min(made["samples"], made["rate"] // 2) * size
        sink["rotate_bytes"] = max(most // chance.choice([4, 8, 16]), 30_000)
    made["block_size"] = block_size(chance, made)


# Returns the parts of a scenario's outcome that depend on the host, not on the seed.
def hosts(made):
    parts = []
    trouble = made.get("trouble", {})
    if "rate" in made or "knobs" in made:
        parts.append("how late blocks are requested from the source")
    if made.get("open", {}).get("end") == "duration":
        parts.append("how much of a pipe is read in that duration")
    if "clock" in made:
        parts.append("which sample is recorded when the clock steps")
    if "after_ms" in trouble:
        parts.append(f"the moment of {trouble['kind']}")
    if "call" in trouble:
        parts.append("which thread makes the call that fails")
    if any(sink.get("on-full") == "drop" for sink in made["sinks"]):
        parts.append("which blocks are dropped")
    return parts
