# SPDX-License-Identifier: MIT
"""Checks the metadata and the samples of a copied recording against the original's JSON and samples alone."""
import calendar
import collections
import fractions
import json
import re
import time

import numpy as np

import copies
import samples

# Keys of `global` that describe the original's files.
OF_ORIGINAL = {"core:datatype", "core:version", "core:num_channels", "core:offset", "core:extensions", "core:sha512",
               "core:data_doi", "core:meta_doi", "iio_stream:state", "iio_stream:samples", "iio_stream:channels"}
OF_COPY = OF_ORIGINAL - {"core:offset", "core:data_doi", "core:meta_doi"} | {"core:recorder"}
OF_PLACE = {"core:sample_start", "core:global_index", "core:datetime", "core:header_bytes", "iio_stream:index_exact"}
LEAST_NS = 2000  # tolerance of a computed time, because the program can compute with doubles


def utc_ns(text):
    whole, fraction = re.fullmatch(r"([\d-]+T[\d:]+)(?:\.(\d+))?Z", text).groups()
    seconds = calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S"))
    return seconds * 10**9 + int((fraction or "").ljust(9, "0")[:9])


class Capture:
    def __init__(self, one, offset, before):
        self.at = one["core:sample_start"] - offset
        self.index = before.index + self.at - before.at if before else self.at
        if offset:
            self.index = one["core:sample_start"]
        self.index = one.get("core:global_index", self.index)
        self.lost = self.index - (before.index + self.at - before.at) if before else 0
        self.utc_ns = utc_ns(one["core:datetime"]) if "core:datetime" in one else None
        self.values = {key: value for key, value in one.items() if key not in OF_PLACE}


class Original:
    """An original's captures and annotations. Places are numbers of its samples, from 0."""

    def __init__(self, metadata, filling):
        said = metadata["global"]
        self.said, self.filling, offset = said, filling, said.get("core:offset", 0)
        self.rate = said.get("core:sample_rate")
        self.captures = []
        for one in sorted(metadata["captures"], key=lambda one: one["core:sample_start"]):
            self.captures.append(Capture(one, offset, self.captures[-1] if self.captures else None))
        self.annotations = [{**one, "core:sample_start": one["core:sample_start"] - offset}
                            for one in sorted(metadata["annotations"], key=lambda one: one["core:sample_start"])]

    def capture_of(self, at):
        return [one for one in self.captures if one.at <= at][-1]

    def index(self, at):
        one = self.capture_of(at)
        return one.index + at - one.at

    def time(self, at):
        """Returns the time of a sample in nanoseconds, or None if it is unknown."""
        dated = [one for one in self.captures if one.at <= at and one.utc_ns is not None]
        if not dated:
            return None
        later = self.index(at) - dated[-1].index
        if later and not self.rate:
            return None
        return dated[-1].utc_ns + (fractions.Fraction(later * 10**9) / fractions.Fraction(self.rate) if later else 0)

    def losses(self, end):
        return [one for one in self.captures if one.lost and one.at < end]

    def place(self, at):
        """Returns a sample's place in the copied stream, which can contain zeros in place of lost samples."""
        return at + (sum(one.lost for one in self.captures if one.at <= at) if self.filling else 0)


def _expected_samples(out, original, end):
    made = out.made
    form = samples.Format(made["format"], made.get("channels"))
    rows = np.frombuffer(out.fed, form.dtype)[:end * form.values].reshape(end, form.values)
    rows = rows[:, copies.values_taken(made)]
    if not original.filling:
        return np.ascontiguousarray(rows)
    whole = form.zeros(original.place(end - 1) + 1)[:, :rows.shape[1]].copy()
    whole[[original.place(at) for at in range(end)] if original.losses(end) else slice(None)] = rows
    return whole


def check(out, number, sink, parts, found):
    """Compares the copy in one sink with the expected copy."""
    if out.status != 0 or not out.summary:
        return
    made = out.made
    end = made.get("stop_at", made["samples"])
    original = Original(out.original, made.get("on_gap") == "zero-fill")
    values = len(copies.values_taken(made))
    source = samples.Format(made["format"], values)
    target = samples.Format(sink.get("convert", made["format"]), values)
    wanted = _expected_samples(out, original, end)
    # SigMF does not define silence. Unsigned I/Q pairs have a zero, but the zero of real unsigned values is
    # unknown.
    is_pair = samples.Format(made["format"]).zero != 0
    is_unknown = len(wanted) > end and not is_pair and "u" in source.letter + target.letter
    wanted = samples.convert(wanted.tobytes(), source, target) if source.name != target.name else \
        wanted.view(np.uint8).reshape(-1)
    data = np.concatenate([part.data for part in parts]) if parts else np.zeros(0, np.uint8)
    if len(wanted) != len(data) or not (is_unknown or np.array_equal(wanted, data)):
        found.add("content", f"sink {number} has {len(data)} bytes, which are not the {len(wanted)} expected")
        return
    _summary(out, original, end, found)
    begin = 0
    for part in parts:
        count = len(part.data) // target.sample_bytes
        if part.meta and count:
            _Part(original, begin, begin + count, end).check(part, target, values, sink, found)
        begin += count


def _summary(out, original, end, found):
    losses, gaps = original.losses(end), out.summary["gaps"]
    lost = sum(one.lost for one in losses)
    if (gaps["certain"], gaps["possible"], gaps["lost_min"], gaps["lost_max"]) != (len(losses), 0, lost, lost):
        found.add("gaps", f"the index jumps {len(losses)} times, by {lost} samples; the summary has {gaps}")
    if (out.summary["sample_rate"] or None) != original.rate:
        found.add("rate", f"{out.summary['sample_rate']} in the summary, {original.rate} in the original")


class _Part:
    """One file of the copy, with the places `begin` to `end` of the copied stream."""

    def __init__(self, original, begin, end, samples_end):
        self.original, self.begin, self.end, self.samples_end = original, begin, end, samples_end

    def check(self, part, target, values, sink, found):
        self.found, self.name = found, part.name
        self._global(part.meta["global"], target, values, sink)
        self._captures(part.meta["captures"])
        self._annotations(part.meta["annotations"])

    def _wrong(self, kind, text):
        self.found.add(kind, f"{self.name}: {text}")

    def _global(self, said, target, values, sink):
        original = self.original.said
        wanted = {key: value for key, value in original.items() if key not in OF_ORIGINAL}
        wanted.update({"core:datatype": target.name, "core:version": "1.2.5"})
        if values // (2 if target.name[0] == "c" else 1) != said.get("core:num_channels", 1):
            self._wrong("global", f"{said.get('core:num_channels')} channels of {values} values")
        for key, value in wanted.items():
            if key not in said or said[key] != value:
                self._wrong("global", f"{key} is {said.get(key)!r}, but must be {value!r}")
        extra = set(said) - set(wanted) - OF_COPY
        if extra or ("core:sha512" in said and "hash" not in sink):
            self._wrong("global", f"{sorted(extra)} or a hash do not belong in the copy")
        lacking = [one for one in original.get("core:extensions", []) if one not in said["core:extensions"]
                   and one["name"] != "iio_stream"]
        if lacking:
            self._wrong("global", f"{lacking} are not declared")

    def _captures(self, said):
        original, first = self.original, self.begin  # a copy with zeros is a single file
        wanted = [(0, first), *((original.place(one.at) - first, one.at) for one in original.captures
                                if first < one.at < self.samples_end and original.place(one.at) < self.end)]
        if [one["core:sample_start"] for one in said] != [place for place, _ in wanted]:
            self._wrong("capture", f"captures begin at {[one['core:sample_start'] for one in said]}, but must"
                                   f" begin at {[place for place, _ in wanted]}")
            return
        before = None
        for one, (place, at) in zip(said, wanted):
            capture = original.capture_of(at)
            values = {key: value for key, value in one.items() if key not in OF_PLACE}
            if values != capture.values:
                self._wrong("capture", f"the capture at {place} has {values}, but must have {capture.values}")
            index = one.get("core:global_index", before[1] + place - before[0] if before else 0)
            if index != original.index(at) or one.get("iio_stream:index_exact") is False:
                self._wrong("index", f"the index at {place} is {index}, but must be {original.index(at)}")
            before = (place, index)
            self._time(one, place, at, required=capture.utc_ns is not None if capture.at == at else True)

    def _time(self, one, place, at, required):
        wanted = self.original.time(at)
        if "core:datetime" not in one:
            if wanted is not None and required:
                self._wrong("time", f"the capture at {place} has no time")
            return
        ns = utc_ns(one["core:datetime"])
        if wanted is None or abs(ns - wanted) > LEAST_NS:
            self._wrong("time", f"the capture at {place} has {one['core:datetime']}, which is not {wanted} ns")

    def _annotations(self, said):
        starts = [one["core:sample_start"] for one in said]
        if starts != sorted(starts):
            self._wrong("annotation", f"annotations are not sorted: {starts}")
        losses = [one for one in said if "iio_stream:lost_min" in one]
        kept = [one for one in said if "iio_stream:lost_min" not in one]
        wanted = collections.Counter(map(_text, self._kept()))
        there = collections.Counter(map(_text, kept))
        for place, count in self._filled():
            same = [one for one in kept if one["core:sample_start"] == place and one.get("iio_stream:filled") == count]
            if not same:
                self._wrong("annotation", f"{count} zeros at {place} are not reported")
            else:
                there[_text(same[0])] -= 1
        there += collections.Counter()
        if wanted != there:
            self._wrong("annotation", f"{list((there - wanted).elements())[:3]} instead of"
                                      f" {list((wanted - there).elements())[:3]}")
        due = [(one.at - self.begin, one.lost) for one in self.original.losses(self.samples_end)
               if self.begin <= one.at < self.end and not self.original.filling]
        reported = [(one["core:sample_start"] + one.get("core:sample_count", 0), one["iio_stream:lost_min"])
                    for one in losses]
        exact = all(one["iio_stream:lost_min"] == one["iio_stream:lost_max"] for one in losses)
        if sorted(reported) != sorted(due) or not exact:
            self._wrong("gaps", f"{reported} are reported, but the index jumps at {due}")

    def _filled(self):
        return [(self.original.place(one.at) - one.lost - self.begin, one.lost)
                for one in self.original.losses(self.samples_end) if self.original.filling]

    def _kept(self):
        """Yields the original's annotations of these samples, trimmed to them."""
        original = self.original
        for one in original.annotations:
            if "iio_stream:lost_min" in one:
                continue
            at, count = one["core:sample_start"], one.get("core:sample_count")
            after = [capture.at for capture in original.captures if capture.at > at]
            end = at + count if count is not None else after[0] if after else float("inf")
            first = max(original.place(at), self.begin)
            end = min(original.place(min(end, self.samples_end) - 1) + 1, self.end) if at < self.samples_end else 0
            if first >= end:
                continue
            cut = {**one, "core:sample_start": first - self.begin}
            if count is not None:
                cut["core:sample_count"] = end - first
            if "iio_stream:filled" in one:
                cut["iio_stream:filled"] = end - first
            yield cut


def _text(one):
    return json.dumps(one, sort_keys=True)
