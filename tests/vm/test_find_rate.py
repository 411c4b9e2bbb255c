# SPDX-License-Identifier: MIT
# guest: --sim board=pluto
"""bench --find-rate sets the rate of a real driver's front end, whose limits are not known beforehand."""
from conftest import run

RADIO, RATE = "cf-ad9361-lpc", "ad9361-phy/in_voltage0/sampling_frequency"


def test_a_search_ends_at_the_highest_rate_of_the_front_end():
    answer = run(f"bench iio:{RADIO} --find-rate --duration 1s --json").json
    best, above = answer["find_rate"]["best"], answer["find_rate"]["above"]
    assert best["rate"] == 61_440_000 and best["lost_max"] == 0 and best["samples"] == 61_440_000
    assert "out of range" in above["error"] and 61_440_000 < above["rate"] <= 1.05 * 61_440_000
    assert run(f"attr get {RATE}").out.strip() == "61440000"


def test_a_search_within_a_range_ends_at_its_upper_limit():
    answer = run(f"bench iio:{RADIO} --find-rate=4M..10M --duration 1s --json").json
    assert answer["find_rate"]["best"]["rate"] == 10_000_000 and answer["find_rate"]["above"] is None
    assert run(f"attr get {RATE}").out.strip() == "10000000"
