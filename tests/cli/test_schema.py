# SPDX-License-Identifier: MIT
"""The output of --json conforms to docs/schema."""
import copy
import sys

import pytest

from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
jsonschema = pytest.importorskip("jsonschema")
import schemas  # noqa: E402


@pytest.mark.parametrize("name", sorted(schemas.SCHEMAS))
def test_the_schemas_are_valid_and_closed(name):
    jsonschema.Draft202012Validator.check_schema(schemas.SCHEMAS[name])
    assert schemas.SCHEMAS[name]["additionalProperties"] is False


@pytest.mark.parametrize("command, status", [
    ("stream sim: rate=0 null: --samples 1000", 0),
    ("stream sim: rate=0 verify:ramp null: a.ci16 --samples 1000", 0),
    ("stream sim: rate=0 convert=cf32_le null: --samples 1000", 0),
    ("stream sim: rate=0 format=le:s12/16>>4,le:u32/32>>0 null: --samples 1000", 0),
    ("stream sim: rate=0 drop_at=500 null: --samples 1000 --on-gap stop", 4),
    ("stream sim: rate=0 drop_at=500 silent=on verify:ramp --samples 1000", 1),
    ("stream sim: rate=0 unplug_at=500000 null:", 3),
    ("stream iio:no-such-device null:", 3),
    ("stream sim: rate=0 null: nonsense=1", 2),
    ("record sim: rate=0 a.ci16 --bytes 64Ki", 0),
    ("record sim: rate=0 no/such/folder/a.ci16 --bytes 64Ki", 5),
    ("record sim: rate=0 a.ci16 rotate_bytes=1Mi --bytes 4Mi", 0),
    ("record sim: rate=0 a rotate_bytes=1Mi --bytes 4Mi", 0),
    ("record sim: rate=0 a hash=end --bytes 1Mi", 0),
    ("stream sim: rate=0 zmq:ipc://samples --bytes 1Mi", 0),
    ("bench sim: rate=0 --samples 1000", 0),
])
def test_summaries_conform_to_the_schema(iio, command, status):
    schemas.check("summary", iio(command, "--json", status=status).json)


def test_the_summary_of_play_conforms_to_the_schema(iio):
    iio("record sim: rate=0 a.ci16 --samples 1000")
    schemas.check("summary", iio("play a.ci16 null: --json").json)


@pytest.mark.parametrize("command", [
    "bench sim: rate=0 --sweep blocks=4..8 --samples 1000",
    "stream sim: rate=0 null: --and sim: rate=0 null: --samples 1000",
    "bench sim: null: --find-rate=100k..200k --duration 500ms",
])
def test_several_runs_conform_to_the_schema(iio, command):
    schemas.check("bench", iio(command, "--json").json)


def test_a_run_that_another_one_stops_conforms_to_the_schema(iio):
    runs = iio("stream sim: null: --and sim: rate=0 unplug_at=1000 null: --json", status=3).json
    assert runs["runs"][0]["ended"] == "stopped"
    schemas.check("bench", runs)


def test_the_output_of_verify_and_recover_conforms_to_the_schema(iio, tmp_path):
    iio("record sim: rate=0 a.ci16 --samples 1000")
    good = iio("verify a.ci16 --json").json
    schemas.check("verify", good)
    assert good["pattern"] is None
    schemas.check("verify", iio("verify a.ci16 --pattern ramp --json").json)
    (tmp_path / "a.ci16").write_bytes(bytes(4000))
    schemas.check("verify", iio("verify a.ci16 --pattern ramp --json", status=1).json)
    schemas.check("verify", iio("verify b.ci16 --json", status=5).json)
    iio("record sim: rate=0 drop_at=500 x.sigmf-meta --samples 1000")
    schemas.check("verify", iio("verify x.sigmf-meta --json").json)
    schemas.check("recover", iio("recover x.sigmf-meta --json").json)


def test_the_output_of_info_and_doctor_conforms_to_the_schema(iio):
    schemas.check("info", iio("info --json").json)
    schemas.check("doctor", iio("doctor --json").json)


def test_the_schema_of_the_summary_is_strict(iio):
    good = iio("stream sim: rate=0 null: --samples 1000 --json").json

    def broken(change):
        bad = copy.deepcopy(good)
        change(bad)
        return schemas.problems("summary", bad)

    assert broken(lambda s: None) == []
    assert broken(lambda s: s.update(news=1))
    assert broken(lambda s: s.pop("copies"))
    assert broken(lambda s: s["gaps"].update(lost_min=-1))
    assert broken(lambda s: s["gaps"].update(evidence=["hearsay"]))
    assert broken(lambda s: s.update(ended="somehow"))
    assert broken(lambda s: s.update(sample_format=None))
    assert broken(lambda s: s["route"][0].pop("segments"))
