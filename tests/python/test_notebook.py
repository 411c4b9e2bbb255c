# SPDX-License-Identifier: MIT
"""The HTML and the pictures of recordings and views for a notebook."""
import base64
import io
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import iio_stream as ios
from iio_stream import view

HOSTILE = "<script>alert('&')</script>\x1b[31m\u202e"


class Page(HTMLParser):
    """The rows, pictures and tags of HTML. Fails if a tag is not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.pictures, self.rows = [], set(), [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag == "img":
            self.pictures.append(dict(attributes)["src"])
            return
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "tr" in self.open:
            self.rows[-1].append(data)


def page_of(shown):
    page = Page(shown._repr_html_())
    return page, dict(page.rows)


def test_the_html_of_a_recording_lists_its_properties(tmp_path):
    with ios.sink(tmp_path / "a.sigmf-meta", sample_rate="2M", frequency="2.4G", description="an antenna",
                  datetime="2024-03-01T10:20:30Z") as tx:
        tx.write(np.zeros(2 * 5000, np.int16))
    recording = ios.open_recording(tmp_path / "a.sigmf-meta")
    recording.annotate(10, 20, label="burst")
    page, rows = page_of(recording)
    assert rows["file"] == str(tmp_path / "a.sigmf-meta") and rows["format"] == "ci16_le, 2 channels"
    assert rows["samples"] == "5,000 in 0.0025 s" and rows["sample rate"] == "2,000,000 S/s"
    assert rows["frequency"] == "2,400,000,000 Hz" and rows["start"].startswith("2024-03-01T10:20:30")
    assert rows["description"] == "an antenna" and rows["losses"] == "0" and rows["annotations"] == "1"
    assert page.tags == {"div", "table", "caption", "tr", "th", "td"}


def test_the_html_of_a_recording_counts_its_losses(tmp_path):
    ios.record("sim:", tmp_path / "a.sigmf-meta", rate=0, drop_at=500, drop=300, samples=2000)
    assert page_of(ios.open_recording(tmp_path / "a.sigmf-meta"))[1]["losses"] == "1, 300 samples"
    ios.record("sim:", tmp_path / "z.sigmf-meta", rate=0, drop_at=500, drop=300, samples=2000,
               on_gap="zero-fill")
    assert page_of(ios.open_recording(tmp_path / "z.sigmf-meta"))[1]["losses"] == "1, at least 300 samples"


def test_raw_samples_have_html_too(tmp_path):
    (tmp_path / "a.ci16").write_bytes(bytes(400))
    _, rows = page_of(ios.open_recording(tmp_path / "a.ci16"))
    assert rows == {"file": str(tmp_path / "a.ci16"), "format": "ci16_le, 2 channels", "samples": "100",
                    "losses": "0"}


def test_text_of_other_programs_is_escaped_and_cut(tmp_path):
    ios.record("sim:", tmp_path / "a.sigmf-meta", rate=0, samples=100)
    words = json.loads((tmp_path / "a.sigmf-meta").read_text())
    words["global"] |= {"core:hw": HOSTILE, "core:description": "long " * 1000}
    (tmp_path / "a.sigmf-meta").write_text(json.dumps(words))
    page, rows = page_of(ios.open_recording(tmp_path / "a.sigmf-meta"))
    assert "script" not in page.tags
    assert rows["hardware"] == "<script>alert('&')</script>\\x1b[31m\\xe2\\x80\\xae"
    assert len(rows["description"]) < 400 and rows["description"].endswith("…")


@pytest.fixture
def seen():
    return view.look("sim:", pattern="tone", rate="1M", frequency=125_000, samples=90_000, drop_at=40_000,
                     drop=9000, centre="2.4G")


def test_a_view_is_a_png(seen):
    from matplotlib.image import imread
    picture = imread(io.BytesIO(seen._repr_png_()), format="png")
    assert picture.shape[:2] == (900, 1200) and picture.std() > 0.1


def test_the_html_of_a_view_has_its_picture_and_its_results(seen):
    page, rows = page_of(seen)
    [picture] = page.pictures
    kind, _, data = picture.partition(",")
    assert kind == "data:image/png;base64" and base64.b64decode(data) == seen._repr_png_()
    assert re.fullmatch(r"-(6\.0|5\.9)\d dBFS at 2,400,125,000 Hz", rows["highest"])
    assert rows["losses"] == "1, 9,000 samples" and rows["centre"] == "2,400,000,000 Hz"


def test_a_view_of_a_hostile_name_is_escaped(tmp_path):
    name = tmp_path / "<b>&\"'.ci16"
    name.write_bytes(bytes(8000))
    page = Page(view.look(name)._repr_html_())
    assert "b" not in page.tags and len(page.pictures) == 1


def test_without_matplotlib_a_view_has_html_without_a_picture(python):
    out = python("""
import sys
sys.modules["matplotlib"] = None
from iio_stream import view
seen = view.look("sim:", pattern="tone", rate="1M", samples=4096)
assert seen._repr_png_() is None
print(seen._repr_html_())
""")
    page = Page(out)
    assert page.pictures == [] and dict(page.rows[:1])["samples"].startswith("4,096")
