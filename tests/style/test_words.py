# SPDX-License-Identifier: MIT
"""Words that the texts avoid, each with what to write instead."""
import re

import pytest
from test_style import ROOT, tracked

TEXTS = [name for name in tracked("docs", "*.md", "src", "bindings", "gr-blocks", "soapy", "examples", "script", "packaging", "cmake",
                                  "*CMakeLists.txt", "*.toml", "tests", ":!tests/kernel", ":!tests/style",
                                  ":!tests/fuzz/corpus")
         if not name.endswith(".png")]

BANNED = {
    r"mend(s|ed|ing)?": "fix",
    r"behind\s+close": "after close",
    r"(tells?|told|telling)\s+of": "report",
    r"nobody(?! cared)": "no one",  # but for the kernel's "irq 9: nobody cared"
    r"somebody": "someone",
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
    r"stands?\s+still|stood\s+still": "stalls",
    r"as\s+(it|they)\s+stands?": "as it is, as printed",
    r"in\s+(the\s+)?midst": "in the middle",
    r"in\s+mid[- ]stream": "mid-stream",
    r"(anything|everything|nothing|no\s+one)\s+(to\s+tell|that\s+would\s+tell)": "to report",
    r"one\s+behind\s+the\s+other": "one after the other, concatenated",
    r"behind\s+(the|its|that|this|their)\s+(end|last|loss|gap|seam|zeros?|block|samples?|header)s?": "after",
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

IN_NAMES = {
    "behind": "after",  # but for what is left behind
    "told": "reported", "tells": "reports", "tell": "report",
    "nobody": "no one", "nobodys": "no one's", "somebody": "someone", "whoever": "the one that",
    "anew": "again", "blamed": "named", "blames": "names", "lies": "is", "stands": "is", "patience": "timeout",
    "for ever": "forever", "goes round": "wraps", "gone round": "wrapped",
    "so many": "this many", "come from": "coming from",
}
NAMES = re.compile(r"^TEST\w*\(\w+, (\w+)\)|^(?:    )?(?:async )?def test_(\w+)", re.MULTILINE)


def banned_in_names(text):
    """The banned words of the names of tests, CamelCase or snake_case."""
    wrong = []
    for match in NAMES.finditer(text):
        name = match[1] or match[2]
        words = re.sub(r"(?<!^)(?=[A-Z])", " ", name).replace("_", " ").lower()
        words = re.sub(r"\b(leave|leaves|left|nothing) behind\b", "", words)
        wrong += [f"{name}: write {better}" for word, better in IN_NAMES.items() if re.search(rf"\b{word}\b", words)]
    return wrong


@pytest.mark.parametrize("name", tracked("tests/*.cpp", "tests/*.py"))
def test_no_banned_word_is_in_the_names_of(name):
    assert banned_in_names((ROOT / name).read_text()) == []


def test_banned_words_are_found_in_names():
    assert banned_in_names("TEST(Gaps, ALossBehindTheEnd)\nTEST(Sink, LeavesNothingBehind)\n"
                           "def test_what_nobody_knows():\n") == ["ALossBehindTheEnd: write after",
                                                                   "what_nobody_knows: write no one"]
