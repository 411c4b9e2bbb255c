# SPDX-License-Identifier: MIT
"""Escapes text from outside, such as the name of a file, so that it cannot control a terminal or a log."""
from __future__ import annotations

import argparse
import unicodedata
from typing import NoReturn

_DANGEROUS = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # control, text direction, not UTF-8, line breaks


def printable(text: str) -> str:
    """Escapes dangerous characters as the library does: a byte becomes a backslash, an x and two hexadecimal
    digits."""
    if text.isprintable():
        return text
    return "".join(_escaped(letter) if unicodedata.category(letter) in _DANGEROUS else letter
                   for letter in text)


def _escaped(letter: str) -> str:
    # Python decodes a byte that is not UTF-8 to a surrogate in this range.
    errors = "surrogateescape" if "\udc80" <= letter <= "\udcff" else "surrogatepass"
    return "".join(f"\\x{byte:02x}" for byte in letter.encode(errors=errors))


class Parser(argparse.ArgumentParser):
    """A parser that prints its errors escaped, because arguments can contain the names of files."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))
