# SPDX-License-Identifier: MIT
# guest: --sim board=pluto
"""Real boards in the lab behave as ADI's drivers do: one clock, gains, registers, subsets of the channels."""
import errno
import pathlib
import struct
import subprocess

import pytest

SYSFS = pathlib.Path("/sys/bus/iio/devices")
DEBUGFS = pathlib.Path("/sys/kernel/debug/iio")


def load(board, *parameters):
    subprocess.run(["sim-load", f"board={board}", *parameters], check=True)


def device(name):
    return next(path.parent for path in SYSFS.glob("iio:device*/name") if path.read_text().strip() == name)


def attribute(name, file):
    return (device(name) / file).read_text().strip()


def write(name, file, value):
    (device(name) / file).write_text(str(value))


def refusal(name, file, value):
    with pytest.raises(OSError) as refused:
        write(name, file, value)
    return refused.value.errno


def register(name, address):
    file = DEBUGFS / device(name).name / "direct_reg_access"
    file.write_text(hex(address))
    return int(file.read_text(), 16)


def read(name, samples, *channels):
    return subprocess.run(["iio_readdev", "-u", "local:", "-b", "256", "-s", str(samples), name, *channels],
                          capture_output=True)


def test_an_ad9361_has_one_clock_and_the_core_divides_it():
    load("pluto")
    write("ad9361-phy", "in_voltage_sampling_frequency", 40_000_000)
    assert attribute("ad9361-phy", "out_voltage_sampling_frequency") == "40000000"
    for converter, direction in (("cf-ad9361-lpc", "in"), ("cf-ad9361-dds-core-lpc", "out")):
        rate = f"{direction}_voltage_sampling_frequency"
        assert attribute(converter, rate) == "40000000"
        assert attribute(converter, f"{rate}_available") == "40000000 5000000"
        write(converter, rate, 5_000_000)
        assert attribute(converter, rate) == "5000000"
        assert refusal(converter, rate, 20_000_000) == errno.EINVAL
    assert attribute("ad9361-phy", "in_voltage_sampling_frequency") == "40000000"
    write("ad9361-phy", "in_voltage_sampling_frequency", 32_000_000)
    assert attribute("cf-ad9361-lpc", "in_voltage_sampling_frequency") == "4000000"
    assert refusal("ad9361-phy", "in_voltage_sampling_frequency", 2_000_000) == errno.EINVAL


def test_the_sample_rate_follows_the_clock():
    load("fmcomms2-3", "rate=1000000")
    assert attribute("cf-ad9361-lpc", "in_voltage_sampling_frequency") == "1000000"
    write("ad9361-phy", "in_voltage_sampling_frequency", 4_000_000)
    assert attribute("cf-ad9361-lpc", "in_voltage_sampling_frequency") == "4000000"
    assert pathlib.Path("/sys/kernel/debug/iios-sim/cf-ad9361-lpc/rate").read_text() == "4000000\n"
    assert refusal("cf-ad9361-lpc", "in_voltage_sampling_frequency", 70_000_000) == errno.EINVAL


def test_the_profile_of_an_adrv9002_sets_its_rate():
    load("adrv9002")
    assert refusal("axi-adrv9002-rx-lpc", "in_voltage_sampling_frequency", 15_360_000) == errno.ENODEV
    assert refusal("adrv9002-phy", "in_voltage0_sampling_frequency", 15_360_000) == errno.EINVAL


def test_gain_can_only_be_set_in_manual_mode():
    load("pluto")
    gain, mode = "in_voltage0_hardwaregain", "in_voltage0_gain_control_mode"
    assert attribute("ad9361-phy", mode) == "slow_attack"
    assert refusal("ad9361-phy", gain, 20) == errno.EOPNOTSUPP
    assert refusal("ad9361-phy", mode, "automatic") == errno.EINVAL
    write("ad9361-phy", mode, "manual")
    write("ad9361-phy", gain, "20")
    assert attribute("ad9361-phy", gain) == "20.000000 dB"
    write("ad9361-phy", gain, "21.000000 dB")
    assert attribute("ad9361-phy", gain) == "21.000000 dB"
    assert refusal("ad9361-phy", gain, 72) == errno.EINVAL
    write("ad9361-phy", "out_voltage0_hardwaregain", "-10.2")
    assert attribute("ad9361-phy", "out_voltage0_hardwaregain") == "-10.250000 dB"
    assert refusal("ad9361-phy", "out_altvoltage0_RX_LO_frequency", 3_800_000_001) == errno.EINVAL
    assert refusal("ad9361-phy", "in_voltage0_rf_port_select", "A") == errno.EINVAL


def test_only_devices_with_a_core_show_core_registers():
    load("fmcomms5")
    assert register("cf-ad9361-A", 0x80000000) >> 16 == 10
    assert register("cf-ad9361-A", 0x80000088) == 0
    assert register("cf-ad9361-dds-core-lpc", 0) == register("cf-ad9361-dds-core-lpc", 0x80000000) == 0x90162
    assert register("ad9361-phy", 0x80000088) == register("ad9361-phy", 0x88) != 0
    assert register("ad9361-phy", 0x80000000) == register("ad9361-phy", 0) == 0


def test_an_ad9361_only_samples_pairs_together():
    load("fmcomms2-3")
    assert len(read("cf-ad9361-lpc", 1024, "voltage2", "voltage3").stdout) == 4096
    assert not read("cf-ad9361-lpc", 1024, "voltage0", "voltage2").stdout


def test_a_simulated_loss_works_on_a_board():
    load("ad9081", "pattern=lanes", "drop_at=1000", "drop=8")
    data = read("axi-ad9081-rx-hpc", 4096).stdout
    scans = [int.from_bytes(data[at:at + 2], "little") & 0xFFF for at in range(0, len(data), 16)]
    assert len(scans) == 4096
    jumps = [(at, after - before) for at, (before, after) in enumerate(zip(scans, scans[1:])) if after - before not in (1, -4095)]
    assert jumps == [(999, 9)]


def test_parameters_that_a_board_does_not_support_are_refused():
    assert subprocess.run(["sim-load", "board=pluto", "counter=32"]).returncode != 0


def test_slow_converters_have_a_software_fifo():
    load("adxl355")
    data = read("adxl355", 256).stdout
    scans = list(struct.iter_unpack("=3I4xq", data))
    assert len(scans) == 256
    for number, (*axes, _) in enumerate(scans):
        swapped = [int.from_bytes(axis.to_bytes(4, "little"), "big") for axis in axes]
        assert swapped == [(lane << 16 | number) << 4 for lane in range(3)]
    times = [scan[3] for scan in scans]
    assert times == sorted(times) and times[0] > 0


def test_a_slow_dac_accepts_all_samples():
    load("cn0511")
    command = ["iio_writedev", "-u", "local:", "-b", "256", "-s", "2048", "ad5693r"]
    subprocess.run(command, input=bytes(8192), check=True, timeout=60)
