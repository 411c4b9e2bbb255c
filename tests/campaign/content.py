# SPDX-License-Identifier: MIT
"""Checks that every sample is in its place: compares the bytes of recordings with the pattern and with the
metadata."""
import collections
import datetime

import numpy as np

import copies
import samples


def formats(out, sink):
    """Returns the source's format and the sink's."""
    channels = len(copies.values_taken(out.made)) if "taken" in out.made else out.made.get("channels")
    return (samples.Format(out.made["format"], channels),
            samples.Format(sink.get("convert", out.made["format"]), channels))


def is_ramp(out, sink):
    return out.made.get("pattern", "ramp") == "ramp" and sink.get("convert", out.made["format"]) == out.made["format"]


def _restored(out, sink, data):
    source, target = formats(out, sink)
    if out.made.get("pattern", "ramp") != "ramp":
        return None
    whole = data[:len(data) // target.sample_bytes * target.sample_bytes]
    return data if source.name == target.name else samples.restored(whole, target, source)


def safe_bytes(out, sink, part):
    """Returns how many bytes at the beginning of an interrupted file are samples, or 0 if that is unknown."""
    source, target = formats(out, sink)
    data = part.data if is_ramp(out, sink) else None
    if data is None or out.made.get("on_gap") == "zero-fill":
        return 0
    found = samples.Runs(data, source.sample_bytes, [0])
    return (found.strange[0][0] if found.strange else found.count) * target.sample_bytes


def first_index(part, sample_bytes, least):
    """Returns the stream's index of a part's first sample according to its ramp, or None if the part has too
    few samples."""
    runs = samples.Runs(part.data, sample_bytes, [least]).runs if part.data.size >= 64 else []
    return runs[0][2] if runs and runs[0][0] == 0 else None


def check(out, number, sink, parts, found, recovered=False):
    source, target = formats(out, sink)
    torn = [p for p in parts if len(p.data) % target.sample_bytes]
    if torn:
        found.add("size", f"{torn[0].name} ends in the middle of a sample, at {len(torn[0].data)} bytes")
        return
    data = np.concatenate([p.data for p in parts]) if parts else np.zeros(0, np.uint8)
    count = len(data) // target.sample_bytes
    _all_there(out, number, sink, count, found)
    _part_sizes(sink, parts, target, found)
    if _restored(out, sink, data) is None:
        _as_expected(out, sink, data, count, found)
        return
    whole = Whole()
    for place, part in enumerate(parts):
        restored = _restored(out, sink, part.data)
        drop = out.made.get("drop", 0)
        hints = [whole.end, whole.end + drop, drop, *(index - start for start, index, _, _ in part.captures)]
        runs = samples.Runs(restored, source.sample_bytes, hints, source.zeros(1).view(np.uint8).reshape(-1))
        if restored.size == 0:
            continue
        _zeros(out, part, runs, found)
        if part.meta and out.made.get("silent") != "on":
            _indices(out, sink, part, runs, whole.end, found)
        last = place == len(parts) - 1 or (recovered and parts[place].state == "recovered")
        whole.add(part, runs, last, recovered and place > 0, found)
    lost = sum(jump.lost for jump in whole.jumps)
    if parts and parts[0].meta and out.made.get("silent") != "on":
        _claimed(whole, _late(out), found)
    if out.lost is not None and lost > out.lost and sink.get("on-full") != "drop":
        found.add("truth", f"sink {number} lacks {lost} samples, but the simulator lost {out.lost}")
    _in_summary(out, number, sink, lost, count, recovered, found)
    if out.status == 0 and out.summary and not recovered and parts and all(p.meta for p in parts):
        dropped = sum(gap[2] for part in parts for gap in part.gaps if gap[4] == "dropped")
        said = out.summary["sinks"][number]["dropped_samples"]
        if dropped != said:
            found.add("dropped", f"sink {number}: {said} samples by the summary, {dropped} by its metadata")


def _all_there(out, number, sink, count, found):
    """Checks that nothing is missing at the end of a stream that ended normally."""
    made = out.made
    if out.status != 0 and not (out.status == 5 and made["source"] == "stdin" and "trouble" not in made):
        return
    said = out.summary["sinks"][number]
    if said["delivered_samples"] != count:
        found.add("count", f"sink {number}: {said['delivered_samples']} samples are claimed,"
                           f" but it has {count}")
    due = made["samples"] if out.due is None else out.due
    if (out.summary["ended"] != "signal" or out.due is not None) and said["dropped_samples"] == 0 and count != due:
        found.add("missing", f"sink {number} has {count} of {due} samples; ended by {out.summary['ended']}")


def _part_sizes(sink, parts, target, found):
    limit = sink.get("rotate_bytes")
    if limit and len(parts) > 1:
        for part in parts:
            block = 8 << 20
            if len(part.data) > max(limit, block):
                found.add("rotation", f"{part.name} has {len(part.data)} bytes, but the limit is {limit}")


def _as_expected(out, sink, data, count, found):
    """Compares samples that do not show their own position with the expected samples."""
    made, (source, target) = out.made, formats(out, sink)
    if made.get("rate") or made["source"] == "iio" or sink.get("on-full") == "drop" or \
            made.get("on_gap") == "zero-fill":
        return
    if made["source"] == "sim":
        jump = made.get("drop_at", 1 << 62)
        first = samples.ramp(0, min(count, jump) * source.sample_bytes)
        after = samples.ramp((jump + made.get("drop", 0)) * source.sample_bytes,
                             max(0, count - jump) * source.sample_bytes)
        given = np.concatenate([first, after])
    else:
        given = np.frombuffer(out.fed, np.uint8)[:count * source.sample_bytes]
    wanted = samples.convert(given, source, target) if source.name != target.name else given
    if len(wanted) != len(data):
        found.add("content", f"{len(data)} bytes, more than the {len(wanted)} that were given")
    elif not np.array_equal(wanted, data):
        at = int(np.flatnonzero(wanted != data)[0]) // target.dtype.itemsize
        words = np.frombuffer(given, source.dtype)[at], wanted.view(target.dtype)[at], data.view(target.dtype)[at]
        found.add("content", f"value {at}: {words[0]!r} is {words[1]} in {target.name}, but found {words[2]}")


def _joined(stretches):
    """Merges intervals that overlap or adjoin. Samples can be dropped between two runs of zeros, and the last
    zeros of a killed recording can be within its unknown loss."""
    joined = []
    for begin, end in sorted(stretches):
        if joined and begin <= joined[-1][1]:
            first, last = joined.pop()
            begin, end = first, max(last, end)
        joined.append((begin, end))
    return joined


def _zeros(out, part, runs, found):
    """Checks that any data that are not from the source are zeros that were requested and reported."""
    for begin, stop, zeros in runs.strange:
        if not zeros or out.made.get("on_gap") != "zero-fill":
            found.add("content", f"{part.name}: samples {begin} to {stop} are"
                                 f" {'zeros' if zeros else 'not from the source'}")
            break
        told = _joined([*part.filled, *(gap[:2] for gap in part.gaps if out.left and gap[3] == float("inf"))])
        if part.meta and not any(a <= begin + 8 and stop - 8 <= b for a, b in told):
            found.add("filled", f"{part.name}: zeros from {begin} to {stop} are not reported: {part.filled}")
            break


LATEST = 0.08  # s: the latest emulated interrupt that is tolerated, less the usual latency

# A place where the stream's index jumps.
Jump = collections.namedtuple("Jump", "earliest latest lost anything")
# An interval in which a loss is reported.
Said = collections.namedtuple("Said", "first last least most at_end")


class Whole:
    """All parts of a recording as one: a loss at a seam belongs to both parts. Places are sample numbers of
    the whole recording."""

    def __init__(self):
        self.count = 0      # number of samples so far
        self.end = 0        # the stream's index after them
        self.zeros = None   # the first of the zeros at the recording's current end, or None
        self.jumps, self.gaps = [], []

    def add(self, part, runs, last, after_kill, found):
        offset, behind = self.end, 0
        for begin, _, is_offset, earliest, certain in runs.runs:
            if begin == certain:
                continue  # only zeros of the ramp, which can also be filled-in zeros
            if begin != behind and (behind or self.zeros is None):
                self.zeros = self.count + behind
            if is_offset != offset:
                # Zeros do not show which samples they replace: any samples around them can be the missing
                # ones.
                places = [self.count + begin, self.count + earliest, *([self.zeros] if self.zeros is not None else [])]
                self.jumps.append(Jump(min(places), places[0], is_offset - offset, after_kill and earliest <= 0))
            if is_offset < offset:
                found.add("order", f"{part.name}: sample {begin} is {is_offset + begin}, after {offset + begin - 1}")
            offset, behind, self.zeros = is_offset, certain, None
        if behind < runs.count and (behind or self.zeros is None):
            self.zeros = self.count + behind
        for first, to, least, most, _ in part.gaps:
            self.gaps.append(Said(self.count + first, self.count + to, least, most, last and to >= runs.clear))
        self.count += runs.count
        self.end = runs.count + offset


def _late(out):
    """Returns the number of samples that an interval of a loss may end too early, or None if the source is not
    emulated. An interval includes the usual latency of an interrupt (20 ms, src/core/loss/interrupt_latency.hpp);
    on a busy machine an emulated interrupt is handled later."""
    return None if out.lost is None else round(LATEST * out.made["knobs"]["rate"])


def _claimed(whole, late, found):
    """Checks that each loss is in a reported interval and within its bounds, and that each report
    corresponds to a loss."""
    jumps, open_gaps = whole.jumps, list(whole.gaps)
    while jumps or open_gaps:
        group_jumps = [jumps[0]] if jumps else []
        group_gaps = [] if jumps else [open_gaps[0]]
        grown = True
        while grown:
            grown = False
            for gap in open_gaps:
                if gap not in group_gaps and any(
                        gap.first <= j.latest and j.earliest <= gap.last + (late or 0) for j in group_jumps):
                    group_gaps.append(gap)
                    grown = True
            for jump in jumps:
                if jump not in group_jumps and any(g.first <= jump.latest and jump.earliest <= g.last + (late or 0)
                                                   for g in group_gaps):
                    group_jumps.append(jump)
                    grown = True
        jumps = [j for j in jumps if j not in group_jumps]
        lost = sum(j.lost for j in group_jumps)
        # Equal reports are separate losses.
        least = sum(g.least for g in open_gaps if g in group_gaps)
        most = sum(g.most for g in open_gaps if g in group_gaps)
        open_gaps = [g for g in open_gaps if g not in group_gaps]
        # After zeros at the recording's end, no sample shows how much is missing.
        at_end = any(g.at_end or (whole.zeros is not None and g.last >= whole.zeros) for g in group_gaps)
        at_start = any(j.anything for j in group_jumps)  # the samples before the jump are in another file
        # An emulated interrupt can be handled arbitrarily late, so evidence based on time has no bound.
        if not (least <= lost or at_end) or not (lost <= most or at_start or (late is not None and group_gaps)):
            found.add("gaps", f"{lost} samples are missing at {[tuple(j[:3]) for j in group_jumps[:3]]}, but"
                              f" {least} to {most} are reported at {[tuple(g[:2]) for g in group_gaps[:3]]}")
            return


def _index_at(out, runs, at):
    """Returns the stream's possible indices of the sample according to its bytes, or an empty set if
    the sample is in zeros."""
    if out.made.get("on_gap") == "zero-fill" and not any(run[0] <= at < run[4] for run in runs.runs):
        return set()
    # The zeros of a word can belong to the end of one run and to the beginning of the next.
    return {at + offset for _, stop, offset, earliest, _ in runs.runs if earliest <= at < stop}


def _index_among(runs, at, end):
    """Returns the smallest and the largest possible index of a zero. `end` is a lower bound of the index of
    the part's first sample."""
    before = [run[2] for run in runs.runs if run[4] <= at]
    behind = [run[2] for run in runs.runs if run[0] > at]
    return at + (before[-1] if before else end), at + behind[0] if behind else float("inf")


def _indices(out, sink, part, runs, end, found):
    zero = None
    for start, index, exact, when in part.captures:
        if start >= runs.count or start > runs.clear:
            continue
        there = _index_at(out, runs, start)
        if there and ((exact and index not in there) or index > max(there)):
            found.add("index", f"{part.name}: the capture at {start} has index"
                               f" {'' if exact else '>= '}{index}, but it is {sorted(there)}")
        least, most = _index_among(runs, start, end)
        if not there and (index > most or (exact and index < least)):
            found.add("index", f"{part.name}: the capture at {start}, in zeros, has index"
                               f" {'' if exact else '>= '}{index}, but it is {least} to {most}")
        if when and exact and out.made.get("rate") and out.made["source"] == "sim" and "clock" not in out.made:
            seconds = datetime.datetime.fromisoformat(when.replace("Z", "+00:00")).timestamp()
            seconds -= index / out.made["rate"]
            zero = seconds if zero is None else zero
            if abs(seconds - zero) > 0.03:
                found.add("time", f"{part.name}: the capture at {start} is {seconds - zero:+.3f} s off the first")
    _covered(part, runs, found)
    start, index, exact, _ = part.captures[0]
    known = not {"drop_at", "stall_at", "on_gap", "knobs"} & set(out.made) and sink.get("on-full") != "drop" \
        and out.made.get("trouble", {}).get("moved") != "without its journal"
    if part.state == "recovered" and runs.count and known and (start != 0 or not exact):
        found.add("index", f"{part.name} does not have the index of its first sample: {part.captures[0]}")


def _covered(part, runs, found):
    """Checks that samples are contiguous between captures, outside the intervals of gaps."""
    starts = {start for start, *_ in part.captures}
    for begin, _, _, earliest, _ in runs.runs[1:]:
        inside = [g for g in part.gaps if g[0] <= begin and earliest <= g[1]]
        last = max([begin, *(g[1] for g in inside)])
        if not any(earliest <= start <= last for start in starts) and not part.filled and last < runs.count:
            found.add("capture", f"{part.name}: no capture begins at the gap before sample {begin}")
            return


def _in_summary(out, number, sink, lost, count, recovered, found):
    made = out.made
    if recovered or not out.summary or out.status not in (0, 4) or made.get("silent") == "on":
        return
    gaps, said = out.summary["gaps"], out.summary["sinks"][number]
    most = float("inf") if gaps["lost_max"] is None else gaps["lost_max"]
    if lost > most + said["dropped_samples"] and out.lost is None:
        found.add("summary", f"sink {number} lacks {lost} samples, but the summary reports {gaps}")
    filled = made.get("on_gap") == "zero-fill"
    plain = said["dropped_samples"] == 0 and not filled
    if plain and made.get("on_gap") != "stop" and not {"trouble", "stall_at", "knobs"} & set(made) and \
            made.get("drop_at", 0) < count - 16 and lost < gaps["lost_min"]:
        found.add("summary", f"sink {number} lacks {lost} samples, but at least"
                             f" {gaps['lost_min']} are reported")
    clear = not count - 16 <= made.get("drop_at", 0) < count
    if "rate" not in made and made["source"] == "sim" and plain and clear:
        due = made["drop"] if made.get("drop_at", count) < count else 0
        if lost != due:
            found.add("truth", f"sink {number} lacks {lost} samples, but the simulator lost {due}")
    if made["source"] in ("file", "stdin") and lost > said["dropped_samples"]:
        found.add("truth", f"sink {number} lacks {lost} samples of a file, but"
                           f" {said['dropped_samples']} were dropped")
