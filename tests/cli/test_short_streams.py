# SPDX-License-Identifier: MIT
"""A stream with --samples or --bytes gets no more memory than it needs."""
import pytest
from conftest import ramp

RATES = [0, 100_000, 30_720_000]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("samples", [1, 1000, 1024, 1025, 70_000])
def test_the_blocks_of_a_short_stream_hold_little_more_than_its_samples(iio, rate, samples):
    summary = iio(f"stream sim: pattern=ramp rate={rate} verify:ramp --samples {samples} --json").json
    report = summary["sinks"][0]["report"]
    assert summary["samples"] == report["samples"] == samples and report["mismatches"] == report["gaps"] == 0
    size, count = summary["block_bytes"], summary["block_count"]
    wanted = -(-4 * samples // size)
    assert size <= max(4096, 4 * samples + 4095) and count <= max(4, 2 * wanted), (size, count)


def test_bytes_limit_the_blocks_like_samples(iio):
    shapes = [(s["block_bytes"], s["block_count"]) for words in ("--samples 2500", "--bytes 10000", "--samples 1M --bytes 10000")
              for s in [iio(f"stream sim: rate=0 null: {words} --json").json]]
    assert shapes == [(12288, 4)] * 3


@pytest.mark.parametrize("limit", ["--duration 10ms", "--samples 100M --duration 10ms"])
def test_a_long_stream_has_the_default_blocks(iio, limit):
    summary = iio(f"stream sim: rate=30720000 null: {limit} --json").json
    assert (summary["block_bytes"], summary["block_count"]) == (300 * 4096, 25)


def test_chosen_blocks_are_used_for_a_short_stream_too(iio):
    words = "stream sim: rate=0 null: --samples 1000 --json"
    for chosen, shape in (("--block-size 64Ki", (64 << 10, 4)), ("--blocks 9", (4096, 9)),
                          ("--block-size 64Ki --blocks 9", (64 << 10, 9))):
        summary = iio(f"{words} {chosen}").json
        assert (summary["block_bytes"], summary["block_count"]) == shape, chosen


def test_a_short_stream_with_losses_is_filled_with_zeros(iio, tmp_path):
    iio("stream sim: pattern=ramp rate=0 drop_at=200 drop=2000 a.ci16 --samples 3000 --on-gap zero-fill")
    assert (tmp_path / "a.ci16").read_bytes() == ramp(200) + bytes(4 * 2000) + ramp(800, 2200)


def test_a_slow_sink_that_drops_blocks_drops_none_of_a_short_stream(iio):
    sink = iio("stream sim: rate=0 null: rate=1M on-full=drop --samples 300000 --json").json["sinks"][0]
    assert (sink["delivered_samples"], sink["dropped_samples"]) == (300_000, 0)
