# SPDX-License-Identifier: MIT
"""Compares the reports of a run with the files that it left behind. Each finding begins with a word for its
kind."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import archives
import claims
import clock
import content
import copies
import copy_oracle
import pipes
import run


class Findings(list):
    def add(self, kind, text):
        self.append(f"{kind}: {text}")


def judge(made, keep=None):
    """Runs a scenario, and returns the findings and the outcome."""
    work = pathlib.Path(tempfile.mkdtemp(prefix="campaign-"))
    out, found = run.Outcome(made, work), Findings()
    try:
        with run.storage(made.get("trouble", {}), out):
            if "store" in made:
                archives.check(out, found)
            else:
                run.stream(made, out)
                _check(out, found)
            if found and keep:
                shutil.copytree(work, keep, dirs_exist_ok=True, ignore=shutil.ignore_patterns("image"))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return found, out


def _check(out, found):
    # A sink that is stuck in the kernel beyond the deadline is abandoned, as if the program were killed.
    error = (out.summary or {}).get("error") or {}
    stuck = error.get("name") == "ETIMEDOUT" and "slow_ms" in out.made.get("trouble", {})
    # Likewise, a file cannot be completed if the disk does not accept its metadata or its length. The exit
    # status then reports that, and the file stays marked as unfinished, for `recover`.
    stuck = stuck or (out.status == 5 and out.made.get("trouble", {}).get("kind") in ("inject", "full", "fsize") and
                      (any('"recording"' in path.read_text() for path in out.folder.glob("*.sigmf-meta")) or
                       any(out.folder.glob("*.journal"))))
    killed = out.left = out.status == -9 or stuck
    if out.hung:
        found.add("hang", f"not ended after {run.deadline(out.made):.0f} s; {out.err[-300:]}")
        return
    if out.survivors:
        found.add("leak", f"processes left: {out.survivors}")
    if out.made.get("trouble", {}).get("kind") == "inject" and (
            out.status == 127 or (out.summary is None and "shared libraries" in out.err)
            or (out.made["trouble"]["call"] == "mmap" and out.status == -11)):
        out.refused = True  # not even the program's libraries were loaded
        return
    allowed = statuses(out)
    early = out.status in (-2, -15) and out.deaf
    if out.status not in allowed and not killed and not (early and not any(out.folder.iterdir())):
        found.add("status", f"{out.status}, expected one of {sorted(allowed)}; {out.err[-300:]}")
    if early:
        return  # the program had not installed its signal handler yet
    if out.replaced:
        return  # a second program is allowed to replace a recording that has ended
    out.refused = out.status == 2
    if out.refused:
        left = sorted(p.name for p in out.folder.iterdir() if p.name != "lost+found")
        if left:
            found.add("refused", f"the command was refused, but left {left}: {out.err[-200:]}")
        return
    if not killed and not out.summary and out.status != 1 and "summary.json" not in out.err:
        found.add("summary", f"none, at status {out.status}: {out.err[-200:]}")
    if out.status not in (0, 4, -9) and not out.err.strip() and not (out.summary or {}).get("error"):
        found.add("silent", f"status {out.status} without a message")
    for words, status, err, ran in out.others:
        # A raw file without a journal needs no recovery, and `recover` leaves it alone.
        if status != 5 and ran and not (words[0] == "recover" and "." in words[1] and status == 0):
            found.add("second", f"{words} gave {status} beside a recording: {err[-200:]}")
    if "open" in out.made:
        pipes.check(out, found)
    for number, sink in enumerate(out.made["sinks"]):
        if sink["kind"] in ("sigmf", "raw"):
            _recording(out, number, sink, killed, found)
        elif out.summary and not killed:
            _uncounted(out, number, sink, found)
    left = [p.name for p in out.folder.iterdir() if p.suffix in (".new", ".journal") or ".tmp" in p.name]
    if killed:  # killed while a part's first file was being created
        left = [name for name in left if (out.folder / name.removesuffix(".new")).exists() or name.endswith("journal")]
    if left and not _cannot_unlink(out):
        found.add("leftover", f"{sorted(left)} at status {out.status}")


def _cannot_unlink(out):
    return out.made.get("trouble", {}).get("call") in ("unlink", "rename") and out.status != 0


def statuses(out):
    """Returns the exit statuses with which a scenario can end."""
    made, trouble = out.made, out.made.get("trouble", {})
    allowed = {0, 2}
    if "unplug_at" in made:
        allowed = allowed | {3} if made["unplug_at"] >= made["samples"] or trouble or made.get("rate") or \
            made.get("on_gap") or "drop_at" in made else {2, 3}
    if made.get("on_gap") == "stop":
        allowed.add(4)
    if "torn" in made and run.samples.Format(made["format"]).sample_bytes > 1:
        allowed = {0, 2} if "open" in made else {0, 2, 5} if "after_ms" in trouble else {2, 5}
    if trouble.get("kind") in ("fsize", "full"):
        allowed.add(5)
    if trouble.get("kind") == "fsize" and made.get("memory") == "udmabuf":
        allowed.add(3)  # the limit on a file's size also applies to a memfd
    if "refuse_at" in made.get("knobs", {}) or (made.get("path"), made.get("memory")) == ("dmabuf", "pages"):
        allowed.add(3)
    if trouble.get("kind") == "inject":
        allowed |= {0, 1, 3, 5}
    if trouble.get("kind") == "slow":
        allowed.add(5)  # a disk slower than the deadline
    return allowed


def _uncounted(out, number, sink, found):
    said = out.summary["sinks"][number] if out.summary["sinks"] else None
    if said is None:
        return
    if sink["kind"] == "stdout":
        _content(out, number, sink, [claims.Part("-", out.work / "stdout", None)], False, found)
    _accounted(out, number, said, found)


def _content(out, number, sink, parts, recovered, found):
    if out.made["source"] == "recording":
        copy_oracle.check(out, number, sink, parts, found)
    else:
        content.check(out, number, sink, parts, found, recovered=recovered)


def _recording(out, number, sink, killed, found):
    name = run.name_of(sink, number)
    before = claims.parts_of(out, number, sink)
    if killed:
        if "unstored" in out.made.get("trouble", {}):
            _lose_ends(out, before)
            before = claims.parts_of(out, number, sink)
        journals = {part.name for part in before if _journal(part).exists()}
        missing = {part.name: _recover(out, part, sink, found) for part in before}
        if sink["kind"] == "sigmf":
            nameless = [p.name for p in out.folder.glob(name + ".*sigmf-data") if p.stat().st_size
                        and not p.with_suffix(".sigmf-meta").exists()]
            if nameless:
                found.add("metadata", f"none beside {nameless}")
    parts = claims.parts_of(out, number, sink) if killed else before
    if killed:
        _missing(out, sink, parts, missing, journals, found)
    if _unwritten(out, parts):
        return
    if out.summary and not killed and out.summary["sinks"]:
        _files(out, number, parts, found)
    _content(out, number, sink, parts, killed, found)
    if "clock" in out.made:
        clock.check(out, parts, found)
    if sink["kind"] == "sigmf" and out.status == 0 and len(parts) > 1 and not copies.is_undeclared(out.made):
        _together(out, name, parts, found)
    for place, part in enumerate(parts):
        if sink["kind"] == "sigmf":
            _metadata(out, part, sink, killed, found)
            if out.status == 3 and place == len(parts) - 1 and part.state != "interrupted":
                found.add("state", f"{part.name} is '{part.state}' although its source failed")
        if place < 3 or place > len(parts) - 4:
            _play(out, part, sink, found)


def _together(out, name, parts, found):
    """Checks that the parts are listed as one recording whose length is that of its samples, including lost
    ones."""
    done = run.command(["archive", "list", ".", f"--json={out.work}/list.json"], out)
    if done.returncode != 0:
        found.add("archive", f"list: status {done.returncode}: {done.stderr[-300:]}")
        return
    listed = json.loads((out.work / "list.json").read_text())
    ours = [one for one in listed["recordings"] if one["name"] == name]
    others = [one for key in ("unfinished", "damaged") for one in listed[key] if one["name"].startswith(name + ".")]
    count = sum(part.meta["global"]["iio_stream:samples"] for part in parts)
    if len(ours) != 1 or others or (ours[0]["parts"], ours[0]["samples"]) != (len(parts), count):
        found.add("archive", f"{name} is listed as {ours}, with {others}; it has {count} samples in {len(parts)} parts")
        return
    _oldest_first(out, name, parts, found)
    rate, full = parts[0].meta["global"].get("core:sample_rate"), [part for part in parts if part.data.size]
    if not rate or not full:
        return
    last = full[-1].captures[-1]
    seconds = (last[1] - parts[0].captures[0][1] + full[-1].meta["global"]["iio_stream:samples"] - last[0]) / rate
    if ours[0]["seconds"] is None or abs(ours[0]["seconds"] - seconds) > 1e-6 * seconds + 1e-6:
        found.add("archive", f"{name} is listed as {ours[0]['seconds']} s long, but its"
                             f" samples last {seconds} s")


def _oldest_first(out, name, parts, found):
    """Checks that `archive prune` would remove the first parts of a recording, regardless of the clock."""
    half = sum(len(part.data) for part in parts) // 2
    words = ["archive", "prune", ".", "--keep-size", half, "--dry-run", f"--json={out.work}/prune.json"]
    done = run.command(words, out)
    if done.returncode != 0:
        found.add("archive", f"prune: status {done.returncode}: {done.stderr[-300:]}")
        return
    removed = json.loads((out.work / "prune.json").read_text())["removed"]
    going = sorted(one["name"] for one in removed if one["name"].startswith(name + "."))
    if going != [part.name.removesuffix(".sigmf-meta") for part in parts][:len(going)]:
        found.add("archive", f"prune would remove {going} of {len(parts)} parts")


def _unwritten(out, parts):
    """Returns whether a block that the device never wrote was delivered and reported. Its content is
    undefined."""
    if "refuse_at" not in out.made.get("knobs", {}):
        return False
    if out.summary:
        return out.summary["blocks_bad"]["unverified"] > 0 and out.summary["blocks_bad"]["error"] > 0
    return any(gap[4] == "dma-error" for part in parts for gap in part.gaps)


def _journal(part):
    return pathlib.Path(str(part.path) + ".journal")


def _lose_ends(out, parts):
    """Punches a hole into the last bytes of each part that has a following part, as if the disk had not
    stored them."""
    for part, after in zip(parts, parts[1:]):
        if not _journal(part).exists() or not after.data.any():
            continue
        begin = max(0, len(part.data.tobytes().rstrip(b"\0")) - out.made["trouble"]["unstored"])
        begin, end = begin // 4096 * 4096, -(-len(part.data) // 4096) * 4096
        if begin < end:  # a file system without holes keeps the bytes
            subprocess.run(["fallocate", "-p", "-o", str(begin), "-l", str(end - begin), part.path], check=False,
                           capture_output=True)


def _move(out, part, sink):
    """Changes the part as a user might before recovering it: a copy has zeros instead of holes, or lacks the
    journal."""
    moved = out.made["trouble"].get("moved")
    journal = _journal(part)
    if moved == "copied" and part.path.exists():
        content_of = part.path.read_bytes()
        part.path.unlink()
        part.path.write_bytes(content_of)
    elif moved == "without its journal" and sink["kind"] == "sigmf" and out.made.get("on_gap") != "zero-fill":
        journal.unlink(missing_ok=True)


def _recover(out, part, sink, found):
    kept = content.safe_bytes(out, sink, part)
    _move(out, part, sink)
    form = ["--format", content.formats(out, sink)[1].name] if sink["kind"] == "raw" else []
    if form and "channels" in out.made:
        form = []  # recover has no option for several channels; the journal records them
    done = run.command(["recover", part.name, *form, f"--json={out.work}/recover.json"], out)
    if done.returncode not in (0, 4):  # 4: the end of a part is missing, and later parts follow
        found.add("recover", f"{part.name}: status {done.returncode}: {done.stderr[-300:]}")
        return None
    said = json.loads((out.work / "recover.json").read_text())
    if (done.returncode == 4) != (said["missing_samples"] != 0):
        found.add("recover", f"{part.name}: status {done.returncode}, {said['missing_samples']} samples are missing")
    size = part.path.stat().st_size
    # A sample whose last bytes are zeros looks complete although a hole begins within it.
    if size < kept - max(8, content.formats(out, sink)[1].sample_bytes):
        found.add("recover", f"{part.name}: kept {size} bytes, but {kept} were on the disk")
    rest = part.data[size:]
    tail = pathlib.Path(str(part.path) + ".tail")
    if rest.any() and not (tail.exists() and tail.read_bytes().rstrip(b"\0") == rest.tobytes().rstrip(b"\0")):
        found.add("recover", f"{part.name}: the data after {size} bytes are not in {tail.name}")
    # Without a format, `recover` does not know where samples end, and direct I/O writes whole pages.
    if sink["kind"] == "raw" and not form:
        sample = content.formats(out, sink)[1].sample_bytes
        os.truncate(part.path, part.path.stat().st_size // sample * sample)
    return said


def _missing(out, sink, parts, said, journals, found):
    """Checks that the number of samples that `recover` reports as missing at a part's end matches the next
    part's first sample."""
    if not content.is_ramp(out, sink) or sink.get("on-full") == "drop" or \
            {"rate", "drop_at", "stall_at", "on_gap", "knobs", "moved"} & (set(out.made) | set(out.made.get("trouble", {}))):
        return
    sample, end = content.formats(out, sink)[0].sample_bytes, 0
    for part, after in zip(parts, parts[1:]):
        index = content.first_index(after, sample, end)
        if index is None:
            return
        missing = index - end - len(part.data) // sample
        claim = said.get(part.name) or {"missing_samples": 0, "next_part": None}
        is_unknown = claim["missing_samples"] is None and after.name not in journals
        if claim["missing_samples"] != missing and not is_unknown:
            found.add("recover", f"{part.name}: {claim['missing_samples']} samples are reported as missing at its end,"
                                 f" but {missing} are")
        if claim["missing_samples"] and claim["next_part"] != after.path.name:
            found.add("recover", f"{part.name}: {claim['next_part']} is reported as next, but it is"
                                 f" {after.name}")
        end = index


def _files(out, number, parts, found):
    said = out.summary["sinks"][number]
    listed = (said.get("report") or {}).get("files")
    if listed is not None and listed != [p.name for p in parts]:
        found.add("files", f"{listed} are listed, but {[p.name for p in parts]} are there")
    size = sum(len(p.data) for p in parts)
    if said["bytes"] != size:
        found.add("count", f"sink {number}: {said['bytes']} bytes are claimed, but the files have {size}")
    _accounted(out, number, said, found)


def _accounted(out, number, said, found):
    """Checks that each sample, including filled-in zeros, was either delivered to a sink or dropped before
    it."""
    zeros = out.summary["gaps"]["lost_min"] if out.made.get("on_gap") == "zero-fill" else 0
    total = said["delivered_samples"] + said["dropped_samples"]
    if not out.summary["samples"] <= total <= out.summary["samples"] + zeros:
        found.add("count", f"sink {number}: {said['delivered_samples']} delivered and"
                           f" {said['dropped_samples']} dropped of {out.summary['samples']} samples and"
                           f" {zeros} zeros")


def _metadata(out, part, sink, killed, found):
    if part.data.size and not copies.is_undeclared(out.made) and (wrong := claims.accepted(part)):
        found.add("sigmf", f"{part.name}: {wrong}")
    said = part.meta["global"].get("core:sha512")
    if said != hashlib.sha512(part.data.tobytes()).hexdigest() and (said or ("hash" in sink and out.status == 0)):
        found.add("hash", f"{part.name}: core:sha512 is {said}, which is not the hash of its samples")
    wanted = {0: {"complete"}, 4: {"complete", "interrupted"}, -9: {"recovered", "complete", "interrupted"}}
    if out.status in wanted and part.state not in wanted[out.status]:
        found.add("state", f"{part.name} is '{part.state}' at status {out.status}")


def _play(out, part, sink, found):
    """Verifies the part, and plays it into another file."""
    if not part.data.size:
        return
    _, form = content.formats(out, sink)
    copy = out.work / "copy.bin"
    ways = [f"format={form.name}", f"channel_names={form.values}"] if part.meta is None else []
    done = run.command(["stream", part.name, *ways, copy, "overwrite=on", "--quiet"], out)
    if done.returncode != 0 or copy.read_bytes() != part.data.tobytes():
        found.add("play", f"{part.name}: status {done.returncode}, {copy.stat().st_size if copy.exists() else 0} of"
                          f" {part.data.size} bytes: {done.stderr[-200:]}")
    if part.meta is None:
        return
    if copies.is_undeclared(out.made):
        return  # the undeclared keys stay in the copy, and are equally wrong there
    late = out.left and out.made.get("on_gap") == "zero-fill"  # the zeros might not be in the journal yet
    ramp = ["--pattern", "ramp"] if not late and content.is_ramp(out, sink) and out.made.get("silent") != "on" else []
    done = run.command(["verify", part.name, *ramp, f"--json={out.work}/verify.json"], out)
    if done.returncode != 0:
        found.add("verify", f"{part.name}: status {done.returncode}: {done.stderr[-300:]}")
