# SPDX-License-Identifier: MIT
"""The JSON output for real devices conforms to docs/schema."""
import pathlib
import sys

import pytest

from conftest import ADC, DAC, run, sim

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
pytest.importorskip("jsonschema")
import schemas  # noqa: E402


@pytest.fixture(autouse=True, scope="module")
def fresh():
    sim()


def test_info_of_all_devices_and_of_one_conforms():
    everything = run("info --json").json
    schemas.check("info", everything)
    assert ADC in [device["name"] for device in everything["devices"]]
    one = run("info", ADC, "--json").json
    schemas.check("info", one)
    assert one["devices"][0]["buffers"][0]["channels"]


def test_doctor_with_and_without_a_probe_conforms():
    schemas.check("doctor", run("doctor --json").json)
    probed = run(f"doctor --probe iio:{ADC} --json", timeout=180).json
    schemas.check("doctor", probed)
    assert probed["probe"]["memories"]


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_the_summary_of_a_capture_conforms(path):
    summary = run(f"stream iio:{ADC} path={path} verify:ramp --bytes 4Mi --json").json
    schemas.check("summary", summary)
    assert summary["route"][0]["mechanism"] == path


@pytest.mark.parametrize("path", ["dmabuf", "fileio"])
def test_the_summary_of_a_playback_conforms(path):
    summary = run(f"stream sim: pattern=ramp channels=4 rate=0 iio:{DAC} path={path} --bytes 4Mi --json").json
    schemas.check("summary", summary)
    assert set(summary["sinks"][0]["playback"]) == {"underflows", "repeats", "unverified_blocks", "sample_rate", "cyclic"}


def test_the_summary_of_a_missing_device_conforms():
    schemas.check("summary", run("stream iio:nothing-here null: --json", status=3).json)
