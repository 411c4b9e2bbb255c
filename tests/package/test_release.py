# SPDX-License-Identifier: MIT
"""script/release makes a folder with all published files. The same commit gives the same bytes."""
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tarfile

import pytest
from test_package import ROOT, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import counts  # noqa: E402

# The other parts take most of an hour, twice.
PARTS = [] if counts.FULL else ["sources"]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A clone of the last commit, because a release contains only committed files."""
    folder = tmp_path_factory.mktemp("release") / "clone"
    run("git", "clone", "--quiet", ROOT, folder)
    return folder


def release(clone):
    """Makes a release, checks SHA256SUMS and returns the hashes of the files by name."""
    run(clone / "script" / "release", *PARTS)
    folder = clone / "build" / "release"
    assert run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=folder) == ""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_the_same_commit_builds_the_same_bytes(clone):
    first = release(clone)
    shutil.rmtree(clone / "build")
    assert release(clone) == first
    listed = {line.split()[1] for line in (clone / "build/release/SHA256SUMS").read_text().splitlines()}
    assert listed == set(first) - {"SHA256SUMS"}


def test_the_tarball_has_all_committed_files_and_the_notes_are_from_the_changelog(clone):
    folder = clone / "build" / "release"
    tarball, = folder.glob("iio-stream-*.tar.gz")
    version = tarball.name.removeprefix("iio-stream-").removesuffix(".tar.gz")
    with tarfile.open(tarball) as archive:
        names = {name.removeprefix(f"iio-stream-{version}/") for name in archive.getnames()}
    assert set(run("git", "-C", clone, "ls-files").split("\n")) - {""} <= names
    notes = (folder / "NOTES.md").read_text()
    assert notes.startswith("## ") and version in notes.split("\n", 1)[0] and len(notes.split("\n## ")) == 1


def test_the_sdist_has_only_committed_files(clone):
    (clone / "my-secret.env").write_text("secret\n")
    (clone / "src" / "iio" / "mine.cpp").write_text("secret\n")
    run(clone / "script" / "wheels", "--sdist")
    (clone / "my-secret.env").unlink()
    (clone / "src" / "iio" / "mine.cpp").unlink()
    with tarfile.open(next((clone / "build" / "wheels").glob("*.tar.gz"))) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    assert "pyproject.toml" in names
    assert names - set(run("git", "-C", clone, "ls-files").splitlines()) == {"PKG-INFO"}


def test_a_release_with_uncommitted_changes_is_refused(clone):
    (clone / "README.md").write_text("changed\n")
    said = subprocess.run([clone / "script" / "release", "sources"], capture_output=True, text=True, check=False)
    run("git", "-C", clone, "checkout", "--quiet", "README.md")
    assert said.returncode == 1 and "README.md" in said.stderr
