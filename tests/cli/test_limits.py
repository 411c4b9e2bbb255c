# SPDX-License-Identifier: MIT
"""Too few file descriptors or too little memory cause an error message, never a crash or an incomplete
report."""
import json
import os
import subprocess

import pytest
from conftest import COMMAND, DEADLINE

STREAM = ["stream", "sim:", "rate=0", "a.ci16", "overwrite=on", "--bytes", "1Mi", "--block-size", "64Ki", "--json"]


def limited(folder, limit):
    done = subprocess.run(["prlimit", limit, COMMAND, *STREAM], cwd=folder, capture_output=True, text=True,
                          timeout=DEADLINE, check=False)
    assert done.returncode in (0, 1, 2, 3, 5, 127), f"{limit}: {done.returncode}\n{done.stderr}"
    return done


def test_too_few_file_descriptors_are_an_error_that_names_the_limit(tmp_path):
    refused = 0
    for files in range(3, 40):
        done = limited(tmp_path, f"--nofile={files}")
        if done.returncode not in (0, 127):  # 127: too few to load the libraries
            assert "Too many open files" in done.stderr, f"{files}: {done.stderr}"
            refused += 1
    assert refused > 3
    assert limited(tmp_path, "--nofile=64").returncode == 0


@pytest.mark.parametrize("mebibytes", range(20, 400, 20))
def test_too_little_memory_is_an_error(tmp_path, mebibytes):
    done = limited(tmp_path, f"--as={mebibytes << 20}")
    if done.returncode not in (0, 127):
        assert done.stderr.strip(), "the command ended without a message"


WITHOUT_RIGHT = ["setpriv", "--bounding-set", "-ipc_lock", "--inh-caps", "-ipc_lock"]
WHO = {"root": [], "without CAP_IPC_LOCK": WITHOUT_RIGHT} if os.geteuid() == 0 else {"user": []}


@pytest.mark.parametrize("who", WHO.values(), ids=WHO.keys())
def test_doctor_and_a_stream_agree_on_whether_locked_memory_is_limited(tmp_path, who):
    def answer(*words):
        done = subprocess.run(["prlimit", "--memlock=65536", *who, COMMAND, *words], cwd=tmp_path,
                              capture_output=True, text=True, timeout=DEADLINE, check=True)
        return json.loads(done.stdout)

    check, = (c for c in answer("doctor", "--json")["checks"] if c["name"] == "locked memory")
    assert check["ok"] == (not check["fix"]) and "64Ki" in check["detail"], check
    written = answer(*STREAM)["route"][-1]
    if written["mechanism"] == "io_uring-direct":
        assert check["ok"] == ("RLIMIT_MEMLOCK" not in (written["reason"] or "")), (check, written)
