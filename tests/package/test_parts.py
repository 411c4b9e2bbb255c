# SPDX-License-Identifier: MIT
"""Builds without some parts: an error names the missing part, and the other parts work."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from test_package import BUILD, ROOT, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import counts  # noqa: E402

# The compilation runs at the same time as the lab, which has priority.
pytestmark = pytest.mark.timeout(3000)

PARTS = ["LIBIIO", "USB", "ZMQ", "OPENSSL", "CURL"]
# The libraries that only one part needs.
LIBRARY = {"USB": "libusb-1.0.so.0"}
LANGUAGE = {"libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libc.so.6", "ld-linux-x86-64.so.2"}
VARIANTS = [(), *(tuple(p for p in PARTS if p != without) for without in PARTS)]


def name(parts):
    return "all off" if not parts else "off: " + ", ".join(p for p in PARTS if p not in parts)


@pytest.fixture(scope="module", params=VARIANTS if counts.FULL else VARIANTS[:1], ids=name)
def built(request):
    parts = request.param
    tree = BUILD / "parts" / ("-".join(parts) or "none")
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    run("cmake", "-S", ROOT, "-B", tree, "-G", "Ninja", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0",
        "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DIIO_STREAM_PYTHON_BINDINGS=OFF",
        "-DIIO_STREAM_GNURADIO=OFF", "-DIIO_STREAM_SOAPY=OFF", *launcher, *(f"-DWITH_{p}={'ON' if p in parts else 'OFF'}" for p in PARTS))
    run("cmake", "--build", tree, "--target", "iio-stream-command", "man-page")
    return tree, parts


@pytest.fixture
def command(built, tmp_path):
    def call(words, status=0):
        result = subprocess.run([built[0] / "iio-stream", *words.split()], capture_output=True, text=True, check=False,
                                cwd=tmp_path, timeout=60, env={**os.environ, "LC_ALL": "C"})
        assert result.returncode == status, f"{words}\n{result.stdout}\n{result.stderr}"
        return result

    return call


def test_a_build_needs_only_the_libraries_of_its_parts(built):
    tree, parts = built
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", tree / "libiio-stream.so"))) - LANGUAGE
    hashes = set() if "OPENSSL" in parts else {"libmd.so.0"}
    assert needed == {"liburing.so.2", *hashes, *(LIBRARY[p] for p in parts if p in LIBRARY)}


@pytest.mark.parametrize("part,scheme,endpoint,library", [("USB", "usb", "usb:", "libusb"),
                                                          ("ZMQ", "zmq", "zmq:tcp://127.0.0.1:5555", "ZeroMQ")])
def test_the_error_of_an_endpoint_that_is_left_out_says_so(built, command, part, scheme, endpoint, library):
    checks = {check["name"]: check for check in json.loads(command("doctor --json").stdout)["checks"]}
    if part in built[1]:
        assert f"{scheme}:" not in checks and "built without" not in command(f"help {scheme}").stdout
        return
    for words in (f"stream sim: {endpoint} --samples 9", f"stream {endpoint} null: --samples 9"):
        err = command(words, status=2).stderr
        assert f"built without {library}" in err and f"-DWITH_{part}=ON" in err, err
    check = checks[f"{scheme}:"]
    assert not check["ok"] and check["detail"] == f"built without {library}" and f"WITH_{part}" in check["fix"]
    assert f"built without {library}" in command(f"help {scheme}").stdout
    usage = command("--help").stdout
    assert f"No {scheme}: built without {library}." in usage
    assert f" {scheme}:" not in re.search(r"Sources:.*\nSinks:.*\n", usage)[0]


def test_only_remote_devices_need_libiio(built, command):
    assert "error" not in command("info").stderr
    if "LIBIIO" in built[1]:
        return
    for words in ("info --uri ip:127.0.0.1", "stream iio:adc uri=ip:127.0.0.1 null:"):
        err = command(words, status=3).stderr
        assert "ip:127.0.0.1" in err and "built without libiio" in err and "-DWITH_LIBIIO=ON" in err, err


def test_ffs_is_available_without_libusb(command, tmp_path):
    assert str(tmp_path) in command(f"stream sim: ffs:{tmp_path} --samples 9", status=3).stderr


@pytest.mark.parametrize("samples", [1, 27, 28, 31, 32, 33, 59, 60, 64, 100_000])
def test_the_hash_of_a_recording_equals_that_of_python(command, tmp_path, samples):
    """The sizes are close to the limits of SHA-512's chunks of 128 bytes, and of its padding."""
    command(f"record sim: pattern=noise a.sigmf-meta hash=end overwrite=on --samples {samples} --quiet")
    metadata = json.loads((tmp_path / "a.sigmf-meta").read_text())
    data = (tmp_path / "a.sigmf-data").read_bytes()
    assert len(data) == 4 * samples
    assert metadata["global"]["core:sha512"] == hashlib.sha512(data).hexdigest()
    command("verify a.sigmf-meta")
    (tmp_path / "a.sigmf-data").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    command("verify a.sigmf-meta", status=5)


def test_a_recording_is_made_and_played(command, tmp_path):
    command("record sim: pattern=ramp rate=1M a.sigmf-meta --samples 100k --quiet")
    command("stream a.sigmf-meta verify:ramp --quiet")
    assert (tmp_path / "a.sigmf-data").stat().st_size == 400_000
