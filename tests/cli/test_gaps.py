# SPDX-License-Identifier: MIT
"""Losses, and the effect of --on-gap on the samples."""
import datetime
import json

import pytest

from conftest import ramp

LOSSY = "stream sim: rate=0 drop_at=5000 drop=100"


def test_a_marked_gap_is_counted_and_the_other_samples_are_delivered(iio, tmp_path):
    summary = iio(f"{LOSSY} a.ci16 --samples 20k --json").json
    assert summary["gaps"] == {"certain": 1, "possible": 0, "lost_min": 100, "lost_max": 100,
                               "evidence": ["counter"]}
    assert summary["source"]["produced_samples"] == 20_100
    assert (tmp_path / "a.ci16").read_bytes() == ramp(5000) + ramp(15_000, first=5100)


def test_on_gap_stop_ends_before_the_gap_with_status_4(iio, tmp_path):
    summary = iio(f"{LOSSY} a.ci16 --samples 20k --on-gap stop --json", status=4).json
    assert summary["ended"] == "gap"
    assert (tmp_path / "a.ci16").read_bytes() == ramp(5000)


@pytest.mark.parametrize("block", ["64Ki", "4000"])
def test_on_gap_stop_counts_no_later_loss_for_any_block_size(iio, tmp_path, block):
    (tmp_path / "d.sigmf-data").write_bytes(bytes(40_000))
    (tmp_path / "d.sigmf-meta").write_text(json.dumps({
        "global": {"core:datatype": "ci16_le", "core:sample_rate": 1e6, "core:version": "1.2.5"}, "annotations": [],
        "captures": [{"core:sample_start": 0}, {"core:sample_start": 3000, "core:global_index": 3500},
                     {"core:sample_start": 6000, "core:global_index": 16_500}]}))
    summary = iio(f"stream d.sigmf-meta null: --on-gap stop --block-size {block} --json", status=4).json
    gaps = summary["gaps"]
    assert (summary["ended"], summary["samples"], summary["source"]["produced_samples"]) == ("gap", 3000, 3500)
    assert (gaps["certain"], gaps["lost_min"], gaps["lost_max"]) == (1, 500, 500)


@pytest.mark.parametrize("date", ["1969-12-31T23:59:59Z", "1950-01-01T00:00:00Z", "1970-01-01T00:00:01Z",
                                  "2024-01-01T00:00:00Z"])
def test_the_samples_of_a_recording_have_no_latency(iio, tmp_path, date):
    (tmp_path / "d.sigmf-data").write_bytes(bytes(40_000))
    (tmp_path / "d.sigmf-meta").write_text(json.dumps({
        "global": {"core:datatype": "ci16_le", "core:sample_rate": 1e6, "core:version": "1.2.5"}, "annotations": [],
        "captures": [{"core:sample_start": 0, "core:datetime": date}]}))
    summary = iio("stream d.sigmf-meta null: --json").json
    assert set(summary["latency_us"].values()) == {0}


def test_zero_fill_keeps_every_sample_in_place(iio, tmp_path):
    summary = iio(f"{LOSSY} a.ci16 --samples 20k --on-gap zero-fill --json").json
    assert summary["gaps"]["lost_min"] == 100
    assert summary["latency_us"]["max"] <= summary["seconds"] * 1e6  # zeros have no time, and so no latency
    data = (tmp_path / "a.ci16").read_bytes()
    assert data == ramp(5000) + bytes(400) + ramp(14_900, first=5100)


@pytest.mark.parametrize("engine", ["auto", "libaio", "buffered"])
def test_zero_fill_exactly_fills_a_gap_that_is_longer_than_the_pool(iio, tmp_path, engine):
    # The gap has 500 blocks of zeros. At one block per half second the command would exceed its deadline.
    before, lost, samples = 262_144, 2_048_000, 4_000_000
    summary = iio(f"stream sim: rate=0 drop_at={before} drop={lost} a.ci16 engine={engine} --block-size 16Ki"
                  f" --blocks 8 --samples {samples} --on-gap zero-fill --json").json
    assert summary["gaps"]["lost_min"] == summary["gaps"]["lost_max"] == lost
    assert (tmp_path / "a.ci16").read_bytes() == \
        ramp(before) + bytes(4 * lost) + ramp(samples - before - lost, first=before + lost)


@pytest.mark.parametrize("name, zero", [("cu8", b"\x80\x80"), ("cu16_le", b"\0\x80\0\x80"), ("cu16_be", b"\x80\0\x80\0"),
                                        ("ci8", b"\0\0"), ("ru8", b"\0"), ("cf32_le", bytes(8))])
def test_zero_fill_of_unsigned_pairs_is_half_scale(iio, tmp_path, name, zero):
    """Unsigned pairs are offset binary, so 0 is negative full scale. Zero is 128 in 8-bit pairs, although the
    exact zero of rtl_sdr is 127.5."""
    iio(f"stream sim: rate=0 format={name} drop_at=5000 drop=3000 a.bin --samples 20k --on-gap zero-fill")
    data, size = (tmp_path / "a.bin").read_bytes(), len(zero)
    assert data[:5000 * size] == ramp(5000, sample_bytes=size)
    assert data[5000 * size:8000 * size] == zero * 3000
    assert data[8000 * size:] == ramp(12_000, 8000, size)


@pytest.mark.parametrize("name", ["cu8", "cu16_le", "ci16_le", "ru8"])
def test_verify_accepts_zeros_only_in_place_of_lost_samples(iio, tmp_path, name):
    iio(f"stream sim: pattern=ramp rate=1M format={name} drop_at=5000 drop=3000 a.sigmf-meta --samples 20k --on-gap zero-fill")
    assert "3000 zeros in place of lost samples" in iio("verify --pattern ramp a.sigmf-meta").out
    data = bytearray((tmp_path / "a.sigmf-data").read_bytes())
    data[len(data) * 6 // 20] ^= 1
    (tmp_path / "a.sigmf-data").write_bytes(data)
    assert "data where zeros should" in iio("verify --pattern ramp a.sigmf-meta", status=1).err


def test_zero_fill_of_unsigned_pairs_becomes_zero_by_conversion(iio, tmp_path):
    iio("stream sim: rate=0 format=cu8 drop_at=5000 drop=3000 a.cf32 convert=cf32_le --samples 20k --on-gap zero-fill")
    assert (tmp_path / "a.cf32").read_bytes()[5000 * 8:8000 * 8] == bytes(3000 * 8)


@pytest.mark.parametrize("evidence", [["counter"], ["starvation"], ["overflow-bit", "dma-error"]])
def test_playing_a_recording_reports_the_evidence_of_its_gaps(iio, tmp_path, evidence):
    iio("record sim: pattern=ramp rate=1M a.sigmf-meta --samples 5k")
    path = tmp_path / "a.sigmf-meta"
    metadata = json.loads(path.read_text())
    metadata["annotations"] = [
        {"core:sample_start": 1000 + i, "core:sample_count": 0, "iio_stream:lost_min": 10, "iio_stream:lost_max": 10,
         "iio_stream:evidence": one} for i, one in enumerate(evidence)]
    path.write_text(json.dumps(metadata))
    gaps = iio("stream a.sigmf-meta null: --json").json["gaps"]
    assert gaps == {"certain": len(evidence), "possible": 0, "lost_min": 10 * len(evidence),
                    "lost_max": 10 * len(evidence), "evidence": evidence}


def test_a_stalled_source_loses_the_samples_of_the_stall(iio):
    summary = iio("stream sim: pattern=ramp rate=1M stall_at=100k stall_for=50ms null: --samples 300k"
                  " --blocks 64 --json").json
    gaps = summary["gaps"]
    assert gaps["certain"] == 1
    assert gaps["lost_min"] == gaps["lost_max"] == 50_000


def test_a_stalled_sink_causes_no_loss_while_blocks_are_free(iio):
    summary = iio("stream sim: pattern=ramp rate=1M null: stall_at=10k stall_for=100ms --blocks 64"
                  " --block-size 40000 --samples 500k --json").json
    assert summary["gaps"]["certain"] == 0
    assert summary["sinks"][0]["lag_high_water"] > 5


def test_a_sink_that_stalls_too_long_causes_a_loss_that_is_counted(iio):
    summary = iio("stream sim: pattern=ramp rate=1M verify:ramp null: stall_at=10k stall_for=500ms --blocks 4"
                  " --block-size 40000 --samples 900k --json", status=None).json
    assert summary["gaps"]["certain"] >= 1
    assert summary["gaps"]["lost_min"] == summary["gaps"]["lost_max"] > 300_000
    for sink in summary["sinks"]:
        lost = summary["gaps"]["lost_min"]
        assert sink["delivered_samples"] + sink["dropped_samples"] + lost == \
            summary["source"]["produced_samples"]


def test_a_dropping_sink_counts_its_drops_and_the_source_loses_nothing(iio):
    summary = iio("stream sim: pattern=ramp rate=1M null: stall_at=10k stall_for=500ms on-full=drop --blocks 64"
                  " --block-size 40000 --samples 900k --json").json
    assert summary["gaps"]["certain"] == 0
    sink = summary["sinks"][0]
    assert sink["dropped_samples"] > 50_000
    assert sink["delivered_samples"] + sink["dropped_samples"] == 900_000


def test_verify_finds_losses_that_the_source_hides(iio):
    result = iio("stream sim: rate=0 drop_at=5000 drop=128 silent=on verify:ramp --samples 20k --json",
                 status=1)
    report = result.json["sinks"][0]["report"]
    assert (report["gaps"], report["lost"], report["unreported"]) == (1, 128, 1), report


@pytest.mark.parametrize("least, status", [(64, 0), (63, 1)])
def test_verify_adds_the_losses_before_and_after_zeros(iio, tmp_path, least, status):
    # on-full=drop with zero-fill can write this file. It has 10 of the 30 zeros of a loss. 64 samples were
    # dropped before these zeros, and the other 20 zeros after them.
    iio("record sim: rate=0 x --samples 2k")
    samples = [ramp(500), bytes(10 * 4), ramp(1000, 500 + 64 + 30)]
    (tmp_path / "x.sigmf-data").write_bytes(b"".join(samples))
    meta = json.loads((tmp_path / "x.sigmf-meta").read_text())

    def loss(at, lost):
        return {"core:sample_start": at, "core:sample_count": 0, "iio_stream:lost_min": lost,
                "iio_stream:lost_max": lost, "iio_stream:evidence": "dropped"}
    meta["global"]["iio_stream:samples"] = 1510
    meta["annotations"] = [loss(500, least),
                           {"core:sample_start": 500, "core:sample_count": 10, "iio_stream:filled": 10}, loss(510, 20)]
    (tmp_path / "x.sigmf-meta").write_text(json.dumps(meta))
    assert ("at most 83" in iio("verify x --pattern ramp", status=status).err) == (status != 0)


@pytest.mark.parametrize("words, on_gap", [("stall_at=200k stall_for=300ms", "mark"),
                                           ("drop_at=200k drop=300k", "mark"),
                                           ("stall_at=200k stall_for=300ms", "zero-fill")])
def test_times_of_captures_and_parts_follow_the_sample_index(iio, tmp_path, words, on_gap):
    iio(f"record sim: pattern=ramp rate=1M {words} x --samples 800k --on-gap {on_gap}")
    iio(f"record sim: pattern=ramp rate=1M {words} p rotate_time=100ms --block-size 64Ki --samples 800k --on-gap {on_gap}")
    for name, least in (("x", 1 if on_gap == "zero-fill" else 2), ("p", 5)):
        captures = [one for path in sorted(tmp_path.glob(f"{name}*.sigmf-meta"))
                    for one in json.loads(path.read_text())["captures"] if "core:datetime" in one]
        assert len(captures) >= least
        dates = [datetime.datetime.fromisoformat(one["core:datetime"].replace("Z", "+00:00")) for one in captures]
        places = [one.get("core:global_index", one["core:sample_start"]) for one in captures]
        for date, place in zip(dates, places):  # sim: uses the clock of this machine, so its rate is exact
            assert abs((date - dates[0]).total_seconds() - (place - places[0]) * 1e-6) < 0.02, captures


@pytest.mark.parametrize("said, status", [(300, 0), (301, 1), (100_000, 1), (299, 1)])
def test_verify_detects_a_gap_of_the_wrong_length(iio, tmp_path, said, status):
    iio("record sim: rate=0 drop_at=5000 drop=300 x.sigmf-meta --samples 10k")
    meta = json.loads((tmp_path / "x.sigmf-meta").read_text())
    note, = [one for one in meta["annotations"] if "iio_stream:lost_min" in one]
    note["iio_stream:lost_min"] = note["iio_stream:lost_max"] = said
    meta["captures"][1]["core:global_index"] += said - 300
    (tmp_path / "x.sigmf-meta").write_text(json.dumps(meta))
    result = iio("verify --pattern ramp x.sigmf-meta", status=status)
    assert status == 0 or "300" in result.err, result.err


@pytest.mark.parametrize("lost, said, status", [
    (20, 20, 0), (48, 48, 0), (5, 5, 0),  # 8-bit values have a 4-bit counter, which repeats after 16 samples
    (20, 19, 1), (20, 21, 1), (48, 40, 1), (48, 32, 0)])  # 32 and 48 lost samples cannot be distinguished
def test_verify_compares_a_loss_with_lanes_modulo_their_period(iio, tmp_path, lost, said, status):
    iio(f"record sim: rate=0 pattern=lanes format=ci8 drop_at=5000 drop={lost} x --samples 20k")
    meta = json.loads((tmp_path / "x.sigmf-meta").read_text())
    loss, = [one for one in meta["annotations"] if "iio_stream:lost_min" in one]
    assert loss["iio_stream:lost_min"] == lost
    loss["iio_stream:lost_min"] = loss["iio_stream:lost_max"] = said
    meta["captures"][1]["core:global_index"] += said - lost
    (tmp_path / "x.sigmf-meta").write_text(json.dumps(meta))
    done = iio("verify --pattern lanes x", status=status)
    assert status == 0 or "or more by a multiple of 16" in done.err


def test_a_reported_loss_of_more_than_half_the_period_of_lanes_is_not_a_repetition(iio):
    # 24-bit values have 20 bits of the counter, so 600,000 samples forward look like 448,576 samples back.
    iio("record sim: rate=0 pattern=lanes format=le:s24/32>>0 drop_at=500k drop=600k x --samples 600k")
    report = iio("verify --pattern lanes x --json").json["pattern"]
    assert (report["gaps"], report["lost"], report["repeats"]) == (1, 600_000, 0)


def test_two_losses_before_one_sample_are_one_gap_in_the_summary_and_in_the_metadata(iio, tmp_path):
    """The slow sink makes the source lose most samples. One of these losses is before the same sample as
    the loss of drop_at=."""
    summary = iio("stream sim: pattern=ramp rate=1M drop_at=100k drop=300 x.sigmf-meta null: rate=10k --samples 20k"
                  " --blocks 2 --block-size 16Ki --json").json
    notes = json.loads((tmp_path / "x.sigmf-meta").read_text())["annotations"]
    places = [note["core:sample_start"] for note in notes]
    assert len(places) == len(set(places)) == summary["gaps"]["certain"] > 0
    assert sum(note["iio_stream:lost_min"] for note in notes) == summary["gaps"]["lost_min"]
    found = iio("verify --pattern ramp x --json").json["recording"]["gaps"]
    assert found["certain"] == summary["gaps"]["certain"]
