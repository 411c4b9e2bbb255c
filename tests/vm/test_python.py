# SPDX-License-Identifier: MIT
"""The Python package with the kernel's own converters: views of real DMABUFs, and their lifetimes."""
import gc
import pathlib
import time

import numpy as np
import pytest
from conftest import ADC, sim, truth

import iio_stream as ios
from iio_stream import view

ROOT = pathlib.Path(__file__).resolve().parents[2]
RATE = 250_000              # slow enough for an emulator on a busy machine
SMALL = {"block_size": "16Ki", "blocks": 4}
SCANS = ["s16", "s12", "s14l", "be16", "s32", "s24"]


@pytest.fixture(autouse=True)
def fresh():
    sim()


def words(array):
    """Returns the 64-bit words of a block of the ramp."""
    return array.reshape(-1).view("<u8")


def mapped_from(address):
    """Returns the name of the file that is mapped at an address."""
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        begin, end = (int(part, 16) for part in line.split()[0].split("-"))
        if begin <= address < end:
            return line.split(maxsplit=5)[-1]
    return None


def test_the_package_is_imported_from_the_build_tree():
    assert pathlib.Path(ios.__file__).is_relative_to(ROOT / "build" / "python")


def test_a_device_can_be_found_by_each_of_its_names():
    device = ios.device(ADC)
    for name in (ADC, f"iio:{ADC}", "rx", device.id, device.id.removeprefix("iio:")):
        assert ios.device(name) == device
    assert device.id in [found.id for found in ios.devices()]


@pytest.mark.parametrize("memory", ["heap:system", "udmabuf"])
def test_arrays_contain_the_ramp_without_a_copy(memory):
    with ios.source(f"iio:{ADC}", memory=memory, path="dmabuf", bytes="16Mi", block_size="256Ki",
                    blocks=8) as rx:
        assert rx.route[0].mechanism == "dmabuf" and rx.route.copies == 0
        place, seen = 0, {}
        for block in rx:
            ramp = words(block.array)
            assert (ramp == np.arange(place, place + len(ramp), dtype=np.uint64)).all()
            place += len(ramp)
            assert block.dmabuf is not None and not any(gap.certain for gap in block.gaps)
            seen.setdefault(block.index, set()).add(block.array.__array_interface__["data"][0])
    assert place == 2 << 20
    assert len(seen) > 1 and all(len(addresses) == 1 for addresses in seen.values())


@pytest.mark.parametrize("memory,file", [("heap:system", "/dmabuf:"), ("udmabuf", "/memfd:iio-stream")])
def test_a_view_outlives_the_stream_on_its_dmabuf(memory, file):
    rx = ios.source(f"iio:{ADC}", memory=memory, path="dmabuf", block_size="64Ki", blocks=4)
    view = next(rx).array
    for _ in range(50):
        next(rx)
    rx.close()
    del rx
    gc.collect()
    assert file in mapped_from(view.__array_interface__["data"][0])
    assert (words(view) == np.arange(8192, dtype=np.uint64)).all()


@pytest.mark.parametrize("scan", SCANS)
def test_raw_single_channel_and_complex_arrays_are_correct(scan):
    sim(scan=scan, pattern="lanes")
    with ios.source(f"iio:{ADC}", samples="8Ki", block_size="16Ki") as rx:
        first = 0
        for block in rx:
            check_lanes(rx.format, block, first)
            first += len(block)
        assert first == 8192


def check_lanes(format, block, first):
    counter = np.arange(first, first + len(block), dtype=np.uint64)
    complete = block.iq().reshape(len(block), -1)
    for number, channel in enumerate(format.channels):
        raw = block.channel(channel.id)
        assert raw.dtype == channel.dtype and (raw == block.array[:, number]).all()
        native = raw.astype(raw.dtype.newbyteorder("=")).view(f"u{raw.dtype.itemsize}").astype(np.uint64)
        bits = native >> np.uint64(channel.shift) & np.uint64((1 << channel.bits) - 1)
        below = channel.bits - 4
        lane = counter & np.uint64((1 << below) - 1) | np.uint64(channel.scan_index << below)
        assert (bits == lane).all()
        half = 1 << channel.bits - 1
        values = (bits.astype(np.int64) ^ half) - half  # two's complement
        part = complete[:, number // 2].imag if number % 2 else complete[:, number // 2].real
        assert np.allclose(part, values / half, rtol=1e-6, atol=1e-7)


def test_gaps_cover_the_samples_that_the_simulator_lost():
    sim(rate=RATE)
    with ios.source(f"iio:{ADC}", samples=8 * RATE // 10, **SMALL) as rx:
        kept = [next(rx) for _ in range(4)]  # the device has no blocks left
        time.sleep(1)
        kept.clear()
        gaps = [gap for block in rx for gap in block.gaps]
        stats = rx.stats
    jumps = [jump for jump in truth()[0] if jump[0] < stats.samples]  # the device continued for a while
    lost = sum(samples for _, samples in jumps)
    assert jumps and stats.gaps.lost_min <= lost
    assert stats.gaps.lost_max is None or lost <= stats.gaps.lost_max
    for place, _ in jumps:
        assert any(gap.offset_min <= place <= gap.offset_max for gap in gaps), (place, gaps)


def test_a_radio_can_be_tuned_and_reports_its_tuning():
    address = ios.uri(f"iio:{ADC}", rate=RATE)
    assert ios.tune(address, frequency="1G", gain=20).frequency == 1e9
    with ios.source(address, samples=50_000) as rx:
        assert (rx.tuning.frequency, rx.tuning.gain, rx.tuning.rate) == (1e9, 20, RATE)
        assert ios.tune(address, frequency=2.4e9).frequency == 2.4e9  # while it streams
        assert sum(len(block) for block in rx) == 50_000
    with pytest.raises(ios.DeviceError, match="hardwaregain"):
        ios.tune(address, gain=999)
    assert view.look(address, samples=4096).centre == 2.4e9
