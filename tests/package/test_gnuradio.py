# SPDX-License-Identifier: MIT
"""The GNU Radio blocks, built separately against an installed library."""
import os

import pytest
from test_package import BUILD, ROOT, only, run

# The compilation runs at the same time as the lab, which has priority.
pytestmark = pytest.mark.timeout(3000)

# Options that only shorten the compilation. The other options are those that a user types.
QUICK = ["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_CXX_FLAGS_RELEASE=-O0"]

PROGRAM = """
from gnuradio import blocks, gr, iio_stream
top, sink = gr.top_block(), blocks.vector_sink_c()
top.connect(iio_stream.source("sim:?rate=0", samples=1000), sink)
top.run()
print(len(sink.data()), iio_stream.__file__)
print(open("/proc/self/maps").read())
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    root = tmp_path_factory.mktemp("gr")
    run("cmake", "--install", BUILD, "--prefix", root / "library")
    run("cmake", "-S", ROOT / "gr-blocks", "-B", root / "build", "-G", "Ninja", *QUICK,
        f"-DCMAKE_PREFIX_PATH={root / 'library'}", f"-DCMAKE_INSTALL_PREFIX={root / 'blocks'}")
    run("cmake", "--build", root / "build")
    run("cmake", "--install", root / "build")
    return root / "blocks"


def test_gnu_radio_finds_blocks_that_were_built_separately(prefix):
    package = only(prefix, "__init__.py").parents[2]
    environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    said = run("/usr/bin/python3", "-B", "-c", PROGRAM, env={**environment, "PYTHONPATH": str(package)})
    assert f"\n1000 {package}/gnuradio/iio_stream/__init__.py\n" in said  # after GNU Radio's own output
    assert f"{prefix}/lib" in said and f"{prefix.parent / 'library'}/lib" in said and f"{BUILD}/" not in said


def test_headers_and_block_descriptions_are_installed(prefix):
    assert {path.name for path in (prefix / "include" / "gnuradio" / "iio_stream").iterdir()} == {
        "api.h", "endpoint.h", "sink.h", "source.h"}
    assert {path.name for path in (prefix / "share" / "gnuradio" / "grc" / "blocks").iterdir()} == {
        "iio_stream_sink.block.yml", "iio_stream_source.block.yml"}
