# SPDX-License-Identifier: MIT
"""Debian's SoapySDRUtil, the program that users of SoapySDR try first, with the module of iio-stream."""
import re
import signal
import subprocess

from soapy_radio import util

SIM = "driver=iiostream,uri=sim:"


def test_find_lists_the_given_endpoint():
    said = util(f"--find={SIM}")
    assert "driver = iiostream" in said and "uri = sim:" in said and "Found device 0" in said


def test_find_without_an_endpoint_lists_the_devices_of_the_machine():
    """The machine might have no devices. sim: is not listed."""
    result = subprocess.run(["SoapySDRUtil", "--find=driver=iiostream"], capture_output=True, text=True,
                            timeout=60, check=False)
    assert "uri = sim:" not in result.stdout and "ERROR" not in result.stderr


def test_probe_shows_every_key_with_its_description():
    said = util(f"--probe={SIM}")
    assert "Channels: 1 Rx, 0 Tx" in said and "Timestamps: YES" in said
    assert "Stream formats: CS16, CF32, CS8" in said and "Native format: CS16 [full-scale=32768]" in said
    keys = re.findall(r"\* (.*?) - (.+)\n *\[key=([\w.-]+),", said)
    expected = {"buffers", "bufflen", "time", "on_gap", "pattern", "drop_at", "memory"}
    assert expected <= {key for _, _, key in keys}
    assert all(len(text) > 10 for _, text, _ in keys)


def test_the_error_of_a_mistyped_endpoint_suggests_the_nearest():
    result = subprocess.run(["SoapySDRUtil", "--probe=driver=iiostream,uri=simm:"], capture_output=True,
                            text=True, timeout=60, check=False)
    assert result.returncode != 0 and "did you mean 'sim:'" in result.stdout + result.stderr


def test_rate_measures_the_rate_of_the_simulator():
    """SoapySDRUtil does not end on its own, so the test stops it."""
    process = subprocess.Popen(["SoapySDRUtil", f"--args={SIM}", "--rate=2e6", "--direction=RX"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        said, _ = process.communicate(timeout=6.5)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=30)
    rates = [float(rate) for rate in re.findall(r"([\d.]+) Msps", said.split("Starting stream loop")[1])]
    assert rates and all(1.8 < rate < 2.2 for rate in rates), said
    assert "Overflows" not in said, said
