# SPDX-License-Identifier: MIT
"""Extracts the commands and programs in the documentation, so that tests can run them."""
import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PLACES = {"board": r"iio:|cf-ad9361|ad9361-phy", "gnuradio": r"grcc|gnuradio"}


def place(code):
    """Returns where the code can run: on a "board", with "gnuradio", or on any "host"."""
    return next((name for name, pattern in PLACES.items() if re.search(pattern, code)), "host")


def sections(name):
    """Returns {heading: text}."""
    return dict(part.split("\n", 1) for part in re.split(r"^## ", (DOCS / name).read_text(), flags=re.M)[1:])


def recipes(name, where):
    """Returns {heading: [(language, code)]} of the code blocks that run at `where`."""
    found = {heading: [block for block in re.findall(r"^```(sh|python)\n(.*?)^```", text, re.M | re.S)
                       if place(block[1]) == where] for heading, text in sections(name).items()}
    return {heading: blocks for heading, blocks in found.items() if blocks}


def spoken(cell):
    """Returns the code in a table cell that is outside parentheses."""
    parts = re.split(r"`(.*?)`", cell)
    return [code for number, code in enumerate(parts) if number % 2
            and "".join(parts[:number:2]).count("(") == "".join(parts[:number:2]).count(")")]


def right_columns(name):
    """Returns {heading: the code in the last column of its table}."""
    found = {}
    for heading, text in sections(name).items():
        rows = re.findall(r"^\|.*\| (.*) \|$", re.sub(r"\\\|", "\0", text), re.M)
        found[heading] = [code.replace("\0", "|") for row in rows for code in spoken(row)]
    return {heading: codes for heading, codes in found.items() if codes}
