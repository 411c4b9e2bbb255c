# SPDX-License-Identifier: MIT
"""Foreign text (a recording's metadata, a remote context's names) cannot control a terminal."""
import json
import unicodedata

import pytest

# This text sets the title, clears the screen, overwrites a line, changes the color with a one-character
# sequence, and reverses the writing direction.
NASTY = "\x1b]0;owned\x07\x1b[2J\rok\x08\x7f\u009b31m\u202egnp\u2066\u200f\u2028"
XML = "\u009b31m\u202egnp\u2066\u200f\u2028"  # XML does not allow the control characters below U+0020


def shown(result):
    """The output of the command, without newlines and tabs."""
    return (result.out + result.err).replace("\n", "").replace("\t", "")


def check(text):
    dangerous = [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl")]
    assert dangerous == [], ascii(text)


def leaves(node, path=()):
    """Yields the paths of all strings in a JSON document."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in pairs:
        if isinstance(value, str):
            yield (*path, key)
        yield from leaves(value, (*path, key))


def with_leaf(document, path, text):
    copy = json.loads(json.dumps(document))
    node = copy
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = text
    return copy


@pytest.fixture
def recording(iio, tmp_path):
    iio("record sim: channels=2 rate=0 pattern=ramp x.sigmf-meta --bytes 64Ki")
    return tmp_path / "x.sigmf-meta"


@pytest.mark.parametrize("command", ["verify", "verify --pattern ramp", "recover", "stream"])
def test_metadata_of_a_recording_cannot_control_the_terminal(iio, recording, command):
    whole = json.loads(recording.read_text())
    whole["global"]["core:description"] = whole["global"]["core:author"] = "me"
    words = [command, "x.sigmf-meta", *(["null:"] if command == "stream" else [])]
    paths = list(leaves(whole))
    assert len(paths) > 10 and ("global", "iio_stream:channels", 0, "id") in paths
    for path in paths:
        for text in (NASTY, f"{whole_at(whole, path)}{NASTY}"):
            recording.write_text(json.dumps(with_leaf(whole, path, text)))
            check(shown(iio(*words, status=None)))


def whole_at(document, path):
    for key in path:
        document = document[key]
    return document


def test_an_invalid_metadata_file_cannot_control_the_terminal(iio, recording):
    for text in (NASTY, '{"global": ' + NASTY, json.dumps({NASTY: NASTY, "global": {NASTY: 1}})):
        recording.write_text(text)
        for words in ("verify x.sigmf-meta", "recover x.sigmf-meta", "stream x.sigmf-meta null:"):
            check(shown(iio(words, status=None)))


def test_a_journal_cannot_control_the_terminal(iio, recording, tmp_path):
    (tmp_path / "x.sigmf-data.journal").write_text(NASTY + "\n" + json.dumps({"file": NASTY}) + "\n")
    for words in ("verify x.sigmf-meta", "recover x.sigmf-meta"):
        check(shown(iio(words, status=None)))


@pytest.mark.parametrize("place", ["device", "name", "label", "channel", "attribute", "value", "format"])
def test_names_in_a_context_cannot_control_the_terminal(iio, tmp_path, place):
    said = {"device": "iio:device0", "name": "adc", "label": "l", "channel": "voltage0", "attribute": "gain",
            "value": "1", "format": "le:s16/16&gt;&gt;0"}
    said[place] += XML
    if place == "format":
        said[place] = XML
    (tmp_path / "context.xml").write_text(
        '<?xml version="1.0" encoding="utf-8"?><context name="local" description="-">'
        '<device id="{device}" name="{name}" label="{label}"><channel id="{channel}" type="input">'
        '<scan-element index="0" format="{format}" />'
        '<attribute name="{attribute}" filename="in_{channel}_{attribute}" value="{value}" /></channel>'
        '<channel id="altvoltage0" type="output" name="RX_LO{channel}"><attribute name="frequency" '
        'filename="out_altvoltage0_RX_LO_frequency" value="{value}" /></channel>'
        '<attribute name="{attribute}" value="{value}" /></device></context>'.format(**said))
    info = iio("info --all --uri xml:context.xml", status=None)
    check(shown(info))
    if place not in ("format", "value"):  # libiio returns formats as numbers, and reads no values from a file
        assert "\\xc2\\x9b" in shown(info)
    for words in ("attr list adc --uri xml:context.xml", "stream iio:adc uri=xml:context.xml null: --duration 100ms",
                  "attr get adc/nothing --uri xml:context.xml", "stream iio:nothing uri=xml:context.xml null:"):
        check(shown(iio(words, status=None)))


@pytest.mark.parametrize("inside", ['<context name="\x1b[31m\u009b" description="-"><dev',
                                    '<context name="local" description="-"><device id="iio:device0"><channel '
                                    'id="voltage0" type="\u009b31m\u202e"><foo a="\u009b" /></channel></device></context>'])
def test_errors_of_libxml2_are_not_printed(iio, tmp_path, inside):
    """By default libxml2 prints the line with the error to stderr."""
    (tmp_path / "context.xml").write_text('<?xml version="1.0"?><!DOCTYPE context [<!ELEMENT context ANY>]>' + inside)
    for words in ("info --uri xml:context.xml", "stream iio:adc uri=xml:context.xml null:"):
        result = iio(words, status=None)
        check(shown(result))
        assert "parser error" not in result.err and "validity error" not in result.err
