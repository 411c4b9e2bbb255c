# SPDX-License-Identifier: MIT
"""Uploads the parts of a recording to a store that fails, and downloads them again.

The `store` of a scenario has these keys:

    how           record: the recorder uploads (`archive=`); push: `archive push` uploads the parts afterwards
    keep          the parts that stay in the folder
    etags         md5, other, or encrypted: how the store makes its ETags
    conditions    whether the store supports If-Match and If-None-Match
    checks        whether the store compares an upload with its Content-MD5
    page          the number of objects on a page of a list
    start_after   whether a list begins after the requested key
    upload, pull  the faults of the upload and of the download (s3_store.py)
    rest          damage to a stored object: `what` happens to `which` part
"""
import dataclasses
import json
import os

import run
import s3_store
import samples

URL = f"s3://{s3_store.BUCKET}/here"
PREFIX = "here/"


def generate(chance, maybe, log_range):
    made = {"source": "sim", "pattern": "ramp"}
    made["format"] = chance.choice(["ci16_le", "ci8", "cf32_le", "ri16_le"])
    form = samples.Format(made["format"])
    sample = form.sample_bytes
    size = log_range(chance, 20_000, 2_000_000)
    if maybe(chance, 0.07):
        size = 18_000_000  # more than the 16 MiB that one request uploads
    made["samples"] = size // sample
    sink = {"kind": "sigmf", "rotate_bytes": size // chance.choice([1, 2, 3, 6]) + 4096}
    if maybe(chance, 0.5):
        sink["hash"] = "end"
    made["block_size"] = max(min(sink["rotate_bytes"] // 4, 1 << 20) // sample, 1) * sample
    if maybe(chance, 0.4):
        made["rate"] = made["samples"]
    made["sinks"] = [sink]
    made["store"] = store = {"how": chance.choice(["record", "push"]),
                             "keep": chance.choice(["all", "none", "none", f"last:{max(size // 3, 1)}"])}
    for key, share, values in [("etags", 0.4, ["other", "encrypted"]), ("conditions", 0.3, [False]),
                               ("checks", 0.7, [False]), ("page", 0.4, [1, 3])]:
        if maybe(chance, share):
            store[key] = chance.choice(values)
    for key, kinds, share in [("upload", s3_store.UPLOAD, 0.8), ("pull", s3_store.DOWNLOAD, 0.6)]:
        if maybe(chance, share):
            store[key] = sorted([log_range(chance, 1, 20) - 1, chance.choice(kinds)]
                                for _ in range(chance.choice([1, 2, 4, 8])))
    if maybe(chance, 0.3):
        what = chance.choice(["other bytes", "fewer bytes", "gone"])
        store["rest"] = {"what": what, "which": chance.randrange(6)}
    if maybe(chance, 0.2):
        store["start_after"] = False
    return made


def smaller(made):
    """Yields every scenario that lacks one of the store's settings or one fault."""
    store = made.get("store", {})
    for key in store.keys() - {"how", "keep"}:
        yield {**made, "store": {name: value for name, value in store.items() if name != key}}
        if key in ("upload", "pull") and len(store[key]) > 1:
            for n in range(len(store[key])):
                yield {**made, "store": {**store, key: store[key][:n] + store[key][n + 1:]}}


class Archive:
    """One run of a scenario, from the recording to the last `pull`."""

    def __init__(self, out, store, found):
        self.out, self.store, self.found, self.settings = out, store, found, out.made["store"]
        self.form = samples.Format(out.made["format"])
        self.whole = True  # whether the recording reached its end

    def command(self, words, may_fail=False):
        """Runs the command, and returns its status, its JSON and its stderr. The status can be 5 if a fault
        hit the command."""
        said = self.out.work / "said.json"
        said.unlink(missing_ok=True)
        done = run.command([*words, f"--json={said}"], self.out, self.store.environment(), self.store.watch)
        status, err = done.returncode, done.stderr
        happened = [kind for kind, *_ in self.store.happened]
        allowed = {0, 5} if happened or may_fail else {0}
        if any(kind.startswith("kill") for kind in happened):
            allowed.add(-9)
        if status not in allowed:
            self.found.add("status", f"{words[:2]}: {status} and not one of {sorted(allowed)}: {err[-300:]}")
        told = json.loads(said.read_text() or "{}") if said.exists() and status != -9 else {}
        return status, told, err

    def names(self):
        """Returns the names of the parts that are in the folder or in the store, in order."""
        here = {path.name.rsplit(".", 1)[0] for path in self.out.folder.glob("a.*.sigmf-data")
                if path.stat().st_size or path.name != "a.0000.sigmf-data"}  # a kill can leave an empty first part
        return sorted(here | {key.removeprefix(PREFIX).rsplit(".", 1)[0] for key in self.store.objects})

    def stored(self, name):
        """Returns the samples and the metadata of a part in the store, None for each that is missing."""
        both = [self.store.objects.get(f"{PREFIX}{name}.sigmf-{end}") for end in ("data", "meta")]
        return [one and one.data for one in both]

    # -- The upload --

    def upload(self):
        """Records and uploads while the store fails, and checks that everything that was reported as stored
        is in the store."""
        made, push = self.out.made, ["archive", "push", ".", URL, "--keep", self.settings["keep"]]
        record = dict(made)
        faults = self.settings.get("upload", [])
        if self.settings["how"] == "record":
            wait = "3s" if faults else "10min"
            archive = {"archive": URL, "keep": self.settings["keep"], "archive_wait": wait}
            record["sinks"] = [{**made["sinks"][0], **archive}]
            self.store.set_faults(faults)
        self.out.words = [word for word in run.words_of(record, self.out) if not word.startswith("--json")]
        events = self.out.work / "events"
        status, told, _ = self.command(["stream", *self.out.words, "--events", events], bool(faults))
        if status not in (0, 5):
            self._recover()
        if self.settings["how"] == "push":
            self.store.set_faults(faults)
            status, told, _ = self.command([*push, "--retry", "1s"])
            self._pushed(status, told)
        else:
            self._recorded(status, told, events)
        self._check_samples()
        self.store.set_faults([])
        status, told, _ = self.command([*push, "--retry", "1min"])
        if status == 0:
            if told["problems"] or told["unfinished"]:
                self.found.add("push", f"without a fault there are {told['problems']} and"
                                       f" {told['unfinished']} unfinished parts")
            self._all_stored(self.names())
            self._check_samples()

    def _recover(self):
        self.whole = False
        self.store.set_faults([])
        for path in sorted(self.out.folder.glob("a.*.sigmf-meta")):
            done = run.command(["recover", path.name], self.out)
            if done.returncode not in (0, 4):
                self.found.add("recover", f"{path.name}: status {done.returncode}: {done.stderr[-300:]}")

    def _recorded(self, status, told, events):
        lines = events.read_text().splitlines() if events.exists() else []
        said = [json.loads(line) for line in lines if line.endswith("}")]
        claimed = {os.path.basename(one["file"]) for one in said if one["event"] == "stored"}
        self._all_stored(sorted(name.rsplit(".", 1)[0] for name in claimed))
        if status == 0:
            report = told["sinks"][0]["report"]["archive"]
            names = self.names()
            if not report["stored"] == report["parts"] == len(names) or report["behind"]["parts"]:
                self.found.add("archive", f"status 0 with {report} and {len(names)} parts")
            self._all_stored(names)

    def _pushed(self, status, told):
        names = self.names()
        whole = [name for name in names if self._why_not_whole(name) is None]
        if told and told["stored"] + told["already"] > len(whole):
            self.found.add("push", f"{told['stored']} + {told['already']} parts are reported as stored,"
                                   f" but only {whole} are")
        if status == 0:
            self._all_stored(names)

    def _why_not_whole(self, name):
        """Returns why a part is not complete in the store, or None if it is."""
        data, meta = self.stored(name)
        if data is None or meta is None:
            return "its samples or its metadata are missing"
        here = self.out.folder / f"{name}.sigmf-data"
        if here.exists() and here.read_bytes() != data:
            return "the local file has other samples"
        return self._why_not_right(data, meta)

    def _why_not_right(self, data, meta):
        """Returns why samples differ from the ramp that their metadata describe, or None if they do not."""
        try:
            return self._difference(data, json.loads(meta))
        except (ValueError, KeyError, TypeError) as error:
            return f"its metadata are damaged: {error!r}"

    def _difference(self, data, meta):
        size, count = self.form.sample_bytes, meta["global"]["iio_stream:samples"]
        if count * size != len(data):
            return f"it has {len(data)} bytes, and {count} samples by its metadata"
        captures = meta["captures"]
        ends = [one["core:sample_start"] for one in captures[1:]] + [count]
        for one, end in zip(captures, ends):
            begin, index = one["core:sample_start"], one.get("core:global_index", 0)
            part, is_exact = data[begin * size:end * size], one.get("iio_stream:index_exact", True)
            if is_exact and samples.ramp(index * size, len(part)).tobytes() != part:
                return f"samples {begin} to {end} are not the ramp from {index} on"
        return None

    def _all_stored(self, names):
        for name in names:
            if why := self._why_not_whole(name):
                self.found.add("stored", f"{name} is reported as stored, but {why}")

    def _check_samples(self):
        """Checks that each part is in the folder or in the store, and that its samples match its metadata."""
        count, names = 0, self.names()
        for number, name in enumerate(names):
            here = [self.out.folder / f"{name}.sigmf-{end}" for end in ("data", "meta")]
            place = "here" if here[0].exists() else "in the store"
            data, meta = [path.read_bytes() if path.exists() else None for path in here] if here[0].exists() else self.stored(name)
            if name != f"a.{number:04}" or data is None or meta is None:
                self.found.add("lost", f"{name}, {place}, is part {number} of {names}, or is incomplete")
                return
            if wrong := self._why_not_right(data, meta):
                self.found.add("lost", f"{name}, {place}: {wrong}")
            count += len(data) // self.form.sample_bytes
        if self.whole and count != self.out.made["samples"]:
            self.found.add("lost", f"{count} samples of {self.out.made['samples']} are here or in the store")

    # -- The download --

    def pull(self):
        """Pulls everything that is stored: first while the store fails and contains a damaged object, and
        then without faults."""
        wanted = {key.removeprefix(PREFIX): one.data for key, one in self.store.objects.items()}
        here = self.out.work / "pulled"
        words, verify = ["archive", "pull", URL, here], ["archive", "verify", URL, "--data"]
        damaged, whole = self._damage()
        if damaged:
            self.store.set_faults([])
            status, told, err = self.command([*verify, "--retry", "1min"], may_fail=True)
            self._check_damage("verify", status, told, err, damaged)
        self.store.set_faults(self.settings.get("pull", []))
        status, told, err = self.command([*words, "--retry", "1s"], may_fail=bool(damaged))
        self._check_pulled(status, told, err, wanted, here, damaged)
        if damaged:
            self.store.objects[PREFIX + damaged] = whole
        self.store.set_faults([])
        for again in (words, verify):
            self.command([*again, "--retry", "1min"])
        files = files_in(here)
        if files != wanted:
            names = sorted(files.keys() | wanted.keys())
            differ = [name for name in names if files.get(name) != wanted.get(name)]
            self.found.add("pull", f"without a fault these files are missing, surplus or different: {differ}")

    def _damage(self):
        """Damages a part's samples in the store, if the damage can be detected. Returns the object's name and
        the original object."""
        rest = self.settings.get("rest")
        parts = [key for key, one in sorted(self.store.objects.items()) if key.endswith("-data") and one.data]
        key = parts[rest["which"] % len(parts)] if rest and parts else ""
        if not key or (rest["what"] == "other bytes" and not self.store.can_be_known(key)):
            return "", None
        whole = self.store.objects[key]
        if rest["what"] == "gone":
            del self.store.objects[key]
        else:
            data = s3_store.changed(rest["what"], whole.data)
            self.store.objects[key] = dataclasses.replace(whole, data=data)
        return key.removeprefix(PREFIX), whole

    def _check_damage(self, verb, status, told, err, damaged):
        if status not in (5, -9) or (status == 5 and damaged.rsplit(".", 1)[0] not in err + json.dumps(told)):
            self.found.add(verb, f"status {status} does not name {damaged}, which is damaged: {err[-300:]}")

    def _check_pulled(self, status, told, err, wanted, here, damaged):
        """Checks that every file that was pulled equals the original, and that the command names every other
        file."""
        files = files_in(here)
        others = sorted(name for name, data in files.items()
                        if data != wanted.get(name) and not name.endswith(".part"))
        if others:
            self.found.add("pull", f"status {status}, and these files differ: {others}")
        missing = sorted(name for name in wanted if name not in files)
        if status == 0 and missing:
            self.found.add("pull", f"status 0, and these are missing: {missing}")
        if status == 5 and not told.get("error"):
            unnamed = [name for name in missing if name.rsplit(".", 1)[0] not in err + json.dumps(told)]
            if unnamed:
                self.found.add("pull", f"status 5, and {unnamed} are missing and not named: {err[-300:]}")
        if damaged and (not self.store.happened or status == 0):
            self._check_damage("pull", status, told, err, damaged)
            aside = [name for name in missing if name.rsplit(".", 1)[0] != damaged.rsplit(".", 1)[0]]
            if aside:
                self.found.add("pull", f"only {damaged} is damaged, but these are missing: {aside}")


def files_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def check(out, found):
    """Runs the scenario and checks everything that the commands report."""
    with s3_store.Store(out.made["store"], "hash" in out.made["sinks"][0]) as store:
        archive = Archive(out, store, found)
        archive.upload()
        if not found:
            archive.pull()
        if found:
            found.append(f"faults: {store.happened}")
