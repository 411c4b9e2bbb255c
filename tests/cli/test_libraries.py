# SPDX-License-Identifier: MIT
"""The command loads a library of an optional part only when it needs it."""
import os
import re
import subprocess

from conftest import BUILD, COMMAND


def test_no_library_for_an_optional_part_is_loaded_at_the_start():
    for file in (COMMAND, BUILD / "libiio-stream.so"):
        loaded = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
        assert not re.search("libcrypto|libssl|libcurl|libexpat|libzmq|libiio\\.so", loaded), loaded


def test_without_libcrypto_the_error_says_what_to_install_before_anything_is_recorded(iio, tmp_path):
    (tmp_path / "libcrypto.so.3").write_bytes(b"")  # the loader finds this file first, and it is not a library
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    err = iio("record sim: a.sigmf-meta hash=end --samples 1000", env=environment, status=5).err
    assert "libcrypto.so.3" in err and "sudo apt install libssl3" in err
    assert not list(tmp_path.glob("a.*"))
    iio("record sim: a.sigmf-meta --samples 1000", env=environment)  # without a hash, it is not needed
    iio("verify a.sigmf-meta", env=environment)
