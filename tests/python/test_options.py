# SPDX-License-Identifier: MIT
"""options() and the docstrings come from the option tables of the library."""
import os
import re
import subprocess
import sys

import pytest
from conftest import BUILD

import iio_stream as ios


def test_options_returns_the_tables_of_the_library():
    table = {option.key: option for option in ios.options("iio")}
    assert {"channels", "rate", "frequency", "cyclic", "counter", "attr.", "memory", "hold"} <= set(table)
    assert table["rate"].type == "rate" and table["rate"].unit == "S/s"
    assert (table["cyclic"].source, table["cyclic"].sink) == (False, True)
    assert (table["counter"].source, table["counter"].sink) == (True, False)
    assert table["path"].values == "auto|dmabuf|mmap|fileio" and table["path"].default == "auto"
    assert ios.options("iio:") == ios.options("iio")


def test_an_unknown_scheme_names_the_nearest():
    with pytest.raises(ios.UsageError, match="did you mean 'iio'"):
        ios.options("iioo")


@pytest.mark.parametrize("opens, side", [(ios.source, "source"), (ios.sink, "sink")])
def test_the_docstring_lists_every_option_of_its_side(opens, side):
    for name, sides in ios.schemes().items():
        if side not in sides:
            continue
        section = re.search(rf"^    {name}:\n((?:        \S.*\n)+)", opens.__doc__, re.MULTILINE)[1]
        for option in ios.options(name):
            line = f"        {option.key} ({option.values}): {option.help}"
            assert (line in section) == getattr(option, side), line
    assert "rate (RATE): Sample rate in samples per second; 0 = as fast as possible (S/s; default: 1M)" \
        in ios.source.__doc__
    assert "cyclic" in ios.sink.__doc__ and "cyclic" not in ios.source.__doc__


def test_an_added_option_is_in_options_and_in_the_docstring():
    code = """if True:
        import iio_stream as ios
        added = next(option for option in ios.options("sim") if option.key == "colour")
        print(added.values, added.unit, added.default, added.source, added.sink)
        print("colour (red|green|infrared): Colour of the simulated samples (nm; default: red)"
              in ios.source.__doc__)
        with ios.source("sim:", rate=0, samples=4, colour="green") as rx:
            print(sum(len(block) for block in rx))"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          check=False,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path),
                               "LD_PRELOAD": str(BUILD / "tests" / "libadded-option.so")})
    assert done.stdout.split("\n") == ["red|green|infrared nm red True False", "True", "4", ""], done.stderr


def test_a_keyword_can_be_an_alias():
    with ios.source("sim:", sample_rate="2M", samples=4) as rx:
        assert rx.format.sample_rate == 2e6
