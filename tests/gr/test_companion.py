# SPDX-License-Identifier: MIT
"""GNU Radio Companion knows the blocks; its flowgraphs compile, and run without a display."""
import os
import re
import subprocess
import sys

import pytest
import yaml
from conftest import BUILD, DEADLINE, REPOSITORY

GRC = REPOSITORY / "gr-blocks" / "grc"
FLOWGRAPHS = REPOSITORY / "examples" / "gnuradio"
STEMS = sorted(path.stem for path in (REPOSITORY / "examples").glob("*.py"))
ENVIRONMENT = {**os.environ, "GRC_BLOCKS_PATH": str(GRC), "PYTHONPATH": str(BUILD / "gr")}


def run(*command, folder):
    done = subprocess.run([str(word) for word in command], env={**ENVIRONMENT, "HOME": str(folder)},
                          capture_output=True, text=True, timeout=2 * DEADLINE, cwd=folder, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def compiled(flowgraph, folder):
    said = run("grcc", "-o", folder, flowgraph, folder=folder)
    made = folder / f"{flowgraph.stem}.py"
    assert made.exists(), said
    return made


def test_flowgraphs_have_the_stems_of_the_other_examples():
    assert sorted(path.stem for path in FLOWGRAPHS.glob("*.grc")) == STEMS


def test_capture_runs_and_play_fills_what_it_is_asked_to(tmp_path):
    capture = compiled(FLOWGRAPHS / "capture.grc", tmp_path)
    said = run(sys.executable, capture, "--samples", "100000", folder=tmp_path)
    assert re.search(r"samples \. 100000\b", said) and re.search(r"ended \. samples", said)
    play = compiled(FLOWGRAPHS / "play.grc", tmp_path)
    run(sys.executable, play, "--samples", "5000", "--endpoint", "tone.cf32", folder=tmp_path)
    assert (tmp_path / "tone.cf32").stat().st_size == 8 * 5000


def defaults(name):
    """A flowgraph of that block as it comes out of the list."""
    flowgraph = yaml.safe_load((FLOWGRAPHS / "capture.grc").read_text())
    kept = {"source": "iio_stream_source", "tone": "analog_sig_source_x", "sink": "iio_stream_sink"}[name]
    flowgraph["blocks"] = [dict(flowgraph["blocks"][2], name=name, id=kept, parameters={})]
    return flowgraph


def test_the_source_runs_as_it_comes_out_of_the_list(tmp_path):
    flowgraph = defaults("source")
    state = flowgraph["blocks"][0]["states"]
    flowgraph["options"]["parameters"]["id"] = "plain"
    flowgraph["blocks"] += [
        {"name": "some", "id": "blocks_head", "parameters": {"num_items": "10000"}, "states": state},
        {"name": "samp_rate", "id": "variable", "parameters": {"value": "1e6"}, "states": state},
        {"name": "sink", "id": "iio_stream_sink", "parameters": {}, "states": state}]
    flowgraph["connections"] = [["source", "0", "some", "0"], ["some", "0", "sink", "0"]]
    path = tmp_path / "plain.grc"
    path.write_text(yaml.safe_dump(flowgraph))
    run(sys.executable, compiled(path, tmp_path), folder=tmp_path)


@pytest.mark.parametrize("name", ["source", "sink"])
def test_parameters_are_those_of_the_block(name):
    """In the template's order, none forgotten."""
    text = (GRC / f"iio_stream_{name}.block.yml").read_text()
    block = yaml.safe_load(text)
    ids = {parameter["id"] for parameter in block["parameters"]}
    used = set(re.findall(r"\$\{\s*(\w+)\s*\}", block["templates"]["make"]))
    assert used == ids - ({"ports"} if name == "source" else set())


def test_a_device_is_opened_by_gr_iios_parameters(tmp_path):
    """Up to the device that is not there."""
    flowgraph = yaml.safe_load((FLOWGRAPHS / "capture.grc").read_text())
    [source] = [block for block in flowgraph["blocks"] if block["name"] == "source"]
    source["parameters"].update(endpoint="", uri="ip:127.0.0.1", device="cf-ad9361-lpc",
                                channels="['voltage0', 'voltage1']", buffer_size="0x8000")
    path = tmp_path / "capture.grc"
    path.write_text(yaml.safe_dump(flowgraph))
    made = compiled(path, tmp_path)
    done = subprocess.run([sys.executable, made], env=ENVIRONMENT, capture_output=True, text=True,
                          timeout=2 * DEADLINE, check=False)
    assert done.returncode != 0 and "ip:127.0.0.1" in done.stderr


