# SPDX-License-Identifier: MIT
"""Words that the texts avoid, each with what to write instead."""
import re

import pytest
from test_style import ROOT, tracked

TEXTS = [name for name in tracked("docs", "*.md", "src", "bindings", "gr-blocks", "examples", "script", "packaging", "cmake",
                                  "*CMakeLists.txt", "*.toml", "tests", ":!tests/kernel", ":!tests/style",
                                  ":!tests/fuzz/corpus")
         if not name.endswith(".png")]

BANNED = {
    r"mend(s|ed|ing)?": "fix",
    r"behind\s+close": "after close",
    r"(tells?|told|telling)\s+of": "report",
    r"nobody(?! cared)": "no one",  # but for the kernel's "irq 9: nobody cared"
    r"somebody": "someone",
    r"whoever": "anyone who, the one that",
    r"anew": "again",
    r"lest": "so that … not",
    r"for\s+ever": "forever",
    r"amiss": "wrong",
    r"(all|everything)\s+that\s+is\s+known": "everything known",
    r"known\s+of": "known about",
    r"in\s+silence": "silently",
    r"without\s+a\s+word": "without notice",
    r"all\s+the\s+same": "anyway",
    r"so\s+(many|much)\s+(samples|bytes|blocks|of)": "this many",
    r"stands?\s+(there|in|before|beside)": "is",
    r"for\s+want\s+of": "for lack of",
}
PATTERN = re.compile("|".join(rf"\b{word}\b" for word in BANNED), re.IGNORECASE)


def instead(word):
    return next(better for banned, better in BANNED.items() if re.fullmatch(banned, word, re.IGNORECASE))


def found(text):
    """The banned words of a text, with their lines."""
    return [f"{text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}: write {instead(match[0])}"
            for match in PATTERN.finditer(text)]


@pytest.mark.parametrize("name", TEXTS)
def test_no_banned_word_is_in(name):
    assert found((ROOT / name).read_text()) == []


def test_banned_words_are_found_in_any_case_and_across_lines():
    assert found("It works.\nNobody mends it, nor tells\nof it.") == [
        "2: 'Nobody': write no one", "2: 'mends': write fix", "2: 'tells\\nof': write report"]
