# SPDX-License-Identifier: MIT
"""script/vm chooses a Debian kernel by the names of the available packages."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "script" / "lab"))
import apt  # noqa: E402
import kernel  # noqa: E402

BACKPORTS = ["7.2.9+deb13", "7.2.12+deb13", "7.3.4+deb13", "6.12.117+deb13"]


class Archive(apt.SuitesApt):
    """An archive with the headers of the given releases and packages with similar names."""

    def __init__(self, releases):
        super().__init__("amd64", "trixie", "trixie-backports")
        self.packages = [f"linux-headers-{release}-{flavour}" for release in releases
                         for flavour in ("amd64", "cloud-amd64", "rt-amd64", "common", "common-rt")]
        self.packages.append("linux-headers-amd64")

    def names(self, prefix):
        return [name for name in self.packages if name.startswith(prefix)]

    def update(self):
        """The package lists are used as they are."""


@pytest.mark.parametrize("series,release", [("7.3", "7.3.4+deb13"), ("7.2", "7.2.12+deb13"),
                                            ("newest", "7.3.4+deb13"), ("7.1", None)])
def test_the_newest_release_of_a_series_is_used(series, release):
    assert kernel._newest(series, Archive(BACKPORTS)) == release


def test_the_next_series_is_used_if_a_series_is_gone(capsys):
    assert kernel._successor("7.3", Archive([*BACKPORTS[:2], "7.10.1+deb13", "7.4.2+deb13"])) == "7.10.1+deb13"
    assert "7.3 is no longer in Debian's trixie-backports: using 7.10.1+deb13" in capsys.readouterr().err


def test_an_older_series_is_not_used():
    with pytest.raises(kernel.LabError, match="it finds 7.2.9"):
        kernel._successor("7.3", Archive(["7.2.9+deb13"]))
