# SPDX-License-Identifier: MIT
"""Debian's rtl_433 receives a message from the module, which plays a recording of pulses."""
import json
import shutil
import subprocess

import numpy as np
import pytest
import soapy_radio  # noqa: F401  # for SOAPY_SDR_PLUGIN_PATH

RATE = 250_000
MESSAGE = "a55a3c"  # 24 bits
SHORT, LONG, PERIOD, SILENCE = 500, 1000, 1500, 20_000  # microseconds; a short pulse means 1
DECODER = f"n=ours,m=OOK_PWM,s={SHORT},l={LONG},r=6000,bits=24"


def pulses():
    """Returns the level of a carrier with the on-off keying of rtl_433's OOK_PWM."""
    on = [np.zeros(SILENCE)]
    for bit in f"{int(MESSAGE, 16):024b}":
        length = SHORT if bit == "1" else LONG
        on += [np.ones(length), np.zeros(PERIOD - length)]
    on.append(np.zeros(SILENCE))
    return np.concatenate(on)[::1_000_000 // RATE]


@pytest.mark.skipif(not shutil.which("rtl_433"), reason="rtl_433 is not installed (script/install soapy)")
def test_rtl_433_decodes_the_message_in_a_recording(tmp_path):
    level = np.tile(pulses(), 10)
    carrier = 16_000 * level * np.exp(2j * np.pi * 0.05 * np.arange(len(level)))
    noise = np.random.default_rng(1).normal(0, 60, (len(level), 2))
    values = np.stack([carrier.real, carrier.imag], axis=1) + noise
    values.astype("<i2").tofile(tmp_path / "pulses.ci16")
    device = f"driver=iiostream,uri={tmp_path}/pulses.ci16?loop=on,rate={RATE}"
    words = ["rtl_433", "-c", "/dev/null", "-d", device, "-s", str(RATE), "-n", str(len(level) * 2),
             "-R", "0", "-X", DECODER, "-F", "json"]
    result = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    messages = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    codes = [row["data"] for message in messages for row in message["rows"]]
    assert len(codes) >= 10 and set(codes) == {MESSAGE}, result.stdout + result.stderr
