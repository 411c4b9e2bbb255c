# SPDX-License-Identifier: MIT
"""Scenarios that copy a finished recording.

The `original` of a scenario has the recording's metadata, as another program would write them. `recorded` has
the options with which our command makes the recording, and `added` has annotations that a user adds to it."""
import json

import samples

DATATYPES = ["ci16_le", "ci16_le", "cu8", "cu8_le", "ci8", "ci16_be", "cu16_le", "ri16_le", "ri8", "rf32_le", "cf32_le",
             "cf64_le", "ri32_le", "ci16"]
LICENSE = "https://creativecommons.org/publicdomain/zero/1.0/"
BASE = "2024-02-29T23:59:"


def format_of(datatype):
    """Returns the format's name in SigMF 1.2.5."""
    name = datatype.removesuffix("_le") if datatype[2:].startswith("8") else datatype
    return name if "_" in name or name.endswith("8") else name + "_le"


def _global(chance, maybe, datatype, channels):
    made = {"core:datatype": datatype, "core:version": chance.choice(["1.0.0", "1.2.0", "1.2.5"])}
    if channels > 1 or maybe(chance, 0.5):
        made["core:num_channels"] = channels
    if maybe(chance, 0.8):
        made["core:sample_rate"] = chance.choice([1e6, 250000, 48000, 2.4e6, 30.72e6])
    for key, value in [("core:author", "A. Person <a@example.org>"), ("core:description", "two \"stations\"\nü"),
                       ("core:license", LICENSE), ("core:hw", "receiver 7"), ("core:recorder", "other 1.2"),
                       ("core:sha512", "0" * 128), ("core:data_doi", "10.1/a"), ("core:geolocation", {
                           "type": "Point", "coordinates": [-107.6, 34.0]})]:
        if maybe(chance, 0.3):
            made[key] = value
    if maybe(chance, 0.5):
        made["other:key"] = {"a": [1, 2.5, None], "b": "x"}
    return made


def _captures(chance, maybe, count):
    places = [0, *sorted(chance.sample(range(1, count), min(count - 1, chance.randrange(5))))]
    made, index, indexed, millis = [], chance.choice([0, 0, 70, 1 << 40]), maybe(chance, 0.6), 0
    for number, at in enumerate(places):
        one = {"core:sample_start": at}
        index += at - places[number - 1] if number else 0
        if indexed and (index != at or maybe(chance, 0.7)):
            if number and maybe(chance, 0.5):
                index += chance.choice([1, 7, 500, 20_000])
            one["core:global_index"] = index
        if maybe(chance, 0.6):
            one["core:frequency"] = chance.choice([1e6, 433920000, 2.4e9])
        if maybe(chance, 0.5):
            millis += chance.randrange(1, 9000)
            fraction = chance.choice(["", ".%03d" % (millis % 1000), ".%03d123" % (millis % 1000)])
            one["core:datetime"] = f"{BASE}{millis // 1000:02}{fraction}Z"
        if maybe(chance, 0.3):
            one["other:gain"] = chance.randrange(60)
        made.append(one)
    return made


def _annotations(chance, maybe, count):
    made = []
    for number in range(chance.choice([0, 1, 2, 5])):
        at = chance.randrange(count)
        one = {"core:sample_start": at}
        if maybe(chance, 0.85):
            one["core:sample_count"] = min(count - at, chance.choice([1, 10, 1000, count]))
        for key, value in [("core:label", f"label {number}"), ("core:comment", "across"), ("other:note", {"n": number}),
                           ("core:freq_lower_edge", 1e6)]:
            if maybe(chance, 0.4):
                one[key] = value
        if "core:freq_lower_edge" in one:
            one["core:freq_upper_edge"] = 2e6
        made.append(one)
    return made


def _foreign(chance, maybe, made):
    datatype, channels = chance.choice(DATATYPES), chance.choice([1, 1, 1, 2, 3])
    made["format"] = format_of(datatype)
    pair = 2 if datatype[0] == "c" else 1
    if channels > 1:
        made["channels"] = channels * pair
    said = _global(chance, maybe, datatype, channels)
    captures = _captures(chance, maybe, made["samples"])
    annotations = _annotations(chance, maybe, made["samples"])
    if maybe(chance, 0.15) and not any("core:global_index" in one for one in captures):
        said["core:offset"] = 5000
        for one in captures + annotations:
            one["core:sample_start"] += 5000
    if maybe(chance, 0.85):
        said["core:extensions"] = [{"name": "other", "version": "2.0.0", "optional": True}]
    if maybe(chance, 0.3):
        chance.shuffle(annotations)
        chance.shuffle(captures)
    else:
        annotations.sort(key=lambda one: one["core:sample_start"])
    made["original"] = {"global": said, "captures": captures, "annotations": annotations}


def _own(chance, maybe, made):
    made["format"] = chance.choice(["ci16_le", "ci8", "ri16_le", "cu8"])
    made["recorded"] = {"rate": chance.choice([0, 2_000_000, 8_000_000])}
    made["samples"] = max(made["samples"], 2000)
    if maybe(chance, 0.6):
        made["recorded"].update(drop_at=chance.randrange(16, made["samples"] - 100), drop=chance.choice([1, 77, 5000]))
        if maybe(chance, 0.3):
            made["recorded"]["zero_fill"] = True
    if maybe(chance, 0.5):
        made["added"] = [{key: value for key, value in one.items() if not key.startswith("other:")}
                         for one in _annotations(chance, maybe, made["samples"])]


def generate(chance, maybe, log_range):
    made = {"source": "recording", "format": "", "samples": log_range(chance, 2, 200_000), "pattern": "data"}
    (_own if maybe(chance, 0.25) else _foreign)(chance, maybe, made)
    pair = 2 if made["format"][0] == "c" else 1
    if "channels" in made and maybe(chance, 0.5):
        taken = chance.sample(range(made["channels"] // pair), chance.randrange(1, made["channels"] // pair))
        made["taken"] = sorted(taken)
    if maybe(chance, 0.3):
        made["stop_at"] = chance.randrange(1, made["samples"] + 1)
    return made


def values_taken(made):
    """Returns the indices, within each sample, of the values that the copy contains."""
    form = samples.Format(made["format"], made.get("channels"))
    pair = 2 if made["format"][0] == "c" else 1
    return [channel * pair + n for channel in made.get("taken", range(form.values // pair)) for n in range(pair)]


def is_undeclared(made):
    """Returns whether the original has keys of an extension that it does not declare."""
    return "original" in made and "core:extensions" not in made["original"]["global"] and \
        "other:" in json.dumps(made["original"])


def words(made, out):
    source = [str(out.work / "original" / "in.sigmf-meta")]
    if "taken" in made:
        names = [f"voltage{n}{end}" for n in made["taken"] for end in (["_i", "_q"] if made["format"][0] == "c" else [""])]
        source.append("channels=" + ",".join(names))
    return source, ["--samples", str(made["stop_at"])] if "stop_at" in made else []


def prepare(made, out, command):
    """Writes or records the original, and stores its metadata and samples in `out`."""
    folder = out.work / "original"
    folder.mkdir()
    meta, data = folder / "in.sigmf-meta", folder / "in.sigmf-data"
    if "original" in made:
        form = samples.Format(made["format"], made.get("channels"))
        content = samples.edges(form, made["samples"]) if form.letter == "f" else \
            samples.ramp(0, made["samples"] * form.sample_bytes)
        data.write_bytes(content.tobytes())
        meta.write_text(json.dumps(made["original"]))
    else:
        recorded = made["recorded"]
        done = command(["record", "sim:", "pattern=ramp", "format=" + made["format"],
                        *(f"{key}={recorded[key]}" for key in ("rate", "drop_at", "drop") if key in recorded), meta,
                        *(["--on-gap", "zero-fill"] if "zero_fill" in recorded else []), "--samples", made["samples"],
                        "--quiet"], out)
        if done.returncode != 0:
            raise RuntimeError(f"the original could not be recorded: {done.returncode}: {done.stderr}")
        written = json.loads(meta.read_text())
        for one in made.get("added", []):
            written["annotations"].append(one)
        written["annotations"].sort(key=lambda one: one["core:sample_start"])
        meta.write_text(json.dumps(written))
    out.original = json.loads(meta.read_text())
    out.fed = data.read_bytes()
