# SPDX-License-Identifier: MIT
# guest: --icount --sim board=pluto
"""The cost of opening and closing a device 40 times in one process, and of a command that reads or writes an
attribute: instructions, counted by the guest's clock, and system calls, compared with libiio in the same
guest."""
import re
import subprocess
import time

import iio
import pytest
from conftest import run

import iio_stream as ios

RADIO, PHY = "cf-ad9361-lpc", "ad9361-phy"
OPENINGS = 40
GAIN, FREQUENCY = f"{PHY}/in_voltage0/hardwaregain", f"{PHY}/RX_LO/frequency"
# The same openings as programs, whose argument is the number of openings.
OURS = f"""
import sys
import iio_stream as ios
for _ in range(int(sys.argv[1])):
    ios.source("iio:{RADIO}").close()
"""
LIBIIO = f"""
import sys
import iio
for _ in range(int(sys.argv[1])):
    context = iio.LocalContext()
    adc = context.find_device("{RADIO}")
    for name in ("voltage0", "voltage1"):
        adc.find_channel(name).enabled = True
    buffer = iio.Buffer(adc, 1 << 18)
    del buffer, adc, context
"""


def opened_by_us(**sizes):
    ios.source(f"iio:{RADIO}", **sizes).close()


def opened_by_libiio(samples):
    context = iio.LocalContext()
    adc = context.find_device(RADIO)
    for name in ("voltage0", "voltage1"):
        adc.find_channel(name).enabled = True
    buffer = iio.Buffer(adc, samples)
    del buffer, adc, context


def instructions_of(open_and_close, *words, **options):
    """Returns the number of instructions of one opening, without the first one in this process."""
    open_and_close(*words, **options)
    begin = time.perf_counter_ns()
    for _ in range(OPENINGS):
        open_and_close(*words, **options)
    return (time.perf_counter_ns() - begin) / OPENINGS


def system_calls_of(folder, *words):
    table = folder / "calls"
    subprocess.run(["strace", "-c", "-f", "-o", table, *words], check=True, timeout=200, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return int(re.search(r"(\d+)(?: +\d+)? total$", table.read_text(), re.MULTILINE)[1])


def files_opened_by(folder, *words):
    trace = folder / "files"
    subprocess.run(["strace", "-f", "-e", "trace=openat", "-o", trace, "iio-stream", *words], check=True, timeout=100,
                   stdout=subprocess.DEVNULL)
    return re.findall(r'openat\(AT_FDCWD, "([^"]+)"', trace.read_text())


@pytest.mark.parametrize("sizes, samples, most", [
    ({"block_size": 4096, "blocks": 4}, 1024, 0.5),
    ({"block_size": "1Mi", "blocks": 4}, 1 << 18, 0.5),
    # By default we allocate a quarter of a second, which is 30 MiB that the kernel must clear and map; libiio
    # allocates 4 MiB. The two costs are equal, and each differs by a few percent between boots.
    ({}, 1 << 18, 1.1),
], ids=["small", "4 MiB", "default"])
def test_opening_and_closing_a_device_costs_no_more_than_with_libiio(sizes, samples, most):
    """libiio uses four blocks by default."""
    ours = instructions_of(opened_by_us, **sizes)
    theirs = instructions_of(opened_by_libiio, samples)
    print(f"\n{sizes}: {ours:.0f} instructions, by libiio {theirs:.0f}")
    assert ours <= most * theirs


def test_a_handle_costs_less_than_a_context_of_libiio():
    ours = instructions_of(ios.Device, RADIO)
    theirs = instructions_of(iio.LocalContext)
    print(f"\n{ours:.0f} instructions, a context of libiio {theirs:.0f}")
    assert ours <= 0.1 * theirs


def test_opening_and_closing_a_device_takes_no_more_system_calls_than_with_libiio(tmp_path):
    taken = []
    for program in (OURS, LIBIIO):
        many, one = (system_calls_of(tmp_path, "/usr/bin/python3", "-B", "-c", program, str(openings))
                     for openings in (1 + OPENINGS, 1))
        taken.append((many - one) / OPENINGS)
    ours, theirs = taken
    print(f"\n{ours:.0f} system calls, by libiio {theirs:.0f}")
    assert ours <= theirs


@pytest.mark.parametrize("ours, theirs", [
    (["info"], ["iio_info"]),
    (["attr", "get", GAIN], ["iio_attr", "-c", "-i", PHY, "voltage0", "hardwaregain"]),
    (["attr", "set", FREQUENCY, "2.4G"], ["iio_attr", "-c", "-o", PHY, "altvoltage0", "frequency", "2400000000"]),
], ids=["info", "get", "set"])
def test_a_command_takes_no_more_system_calls_than_that_of_libiio(tmp_path, ours, theirs):
    calls = system_calls_of(tmp_path, "iio-stream", *ours)
    of_libiio = system_calls_of(tmp_path, *theirs)
    print(f"\n{' '.join(ours)}: {calls} system calls, {theirs[0]} {of_libiio}")
    assert calls <= of_libiio


def test_info_and_attr_open_one_context_and_list_only_the_devices_that_they_need(tmp_path):
    folder = "/sys/bus/iio/devices"
    names = {f"{folder}/{info.id}": info.name for info in ios.devices()}
    for words, needed in ((["info", RADIO], {RADIO, PHY}), (["attr", "get", GAIN], {PHY}),
                          (["attr", "set", FREQUENCY, "2.4G"], {PHY})):
        opened = files_opened_by(tmp_path, *words)
        assert opened.count(folder) == 1, words
        assert {names[path] for path in opened if path in names} == needed, words


def test_info_reads_each_setting_of_the_front_end_once(tmp_path):
    shown = run("info", RADIO).out
    opened = files_opened_by(tmp_path, "info", RADIO)
    for attribute, file in ((FREQUENCY.replace("RX_LO", "out_altvoltage0"), "out_altvoltage0_RX_LO_frequency"),
                            (GAIN, "in_voltage0_hardwaregain")):
        assert attribute in shown
        assert sum(path.endswith(f"/{file}") for path in opened) == 1, file
