# SPDX-License-Identifier: MIT
"""The version of the Debian packages increases with the commit and with the suite, by the rules of dpkg."""
import itertools
import os
import pathlib
import shutil
import subprocess

import pytest
from test_package import ROOT, run

STUB = """#!/bin/sh
{ dpkg-parsechangelog --show-field Version; sed -n 's/.*"iio_stream::" //p' debian/*.symbols; } >../../../said
touch ../a.deb ../a.changes
"""


@pytest.fixture
def project(tmp_path):
    for name in ("script/deb-version", "src/include/iio_stream/api.hpp"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    run("git", "init", "--quiet", tmp_path)
    return tmp_path


@pytest.fixture
def commit(project):
    """Commits a changelog. Returns the versions of the sources, of Debian 12 and of Debian 13."""
    def of(changelog, date, version="0.1.0", zone="UTC"):
        (project / "CHANGELOG.md").write_text(f"# Changelog\n\n## {changelog}\n")
        (project / "src/include/iio_stream/api.hpp").write_text(f'constexpr const char* kVersion = "{version}";\n')
        who = {f"GIT_{role}_{key}": "a" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
        environment = {**os.environ, **who, "GIT_COMMITTER_DATE": date, "TZ": zone}
        run("git", "-C", project, "add", ".", env=environment)
        run("git", "-C", project, "commit", "--quiet", "--allow-empty", "--message", "a", env=environment)
        return [run(project / "script" / "deb-version", *suite, env=environment).strip()
                for suite in ([], ["bookworm"], ["trixie"])]

    return of


def test_a_later_commit_and_a_release_are_upgrades(commit):
    in_order = [
        *commit("Unreleased (0.1.0)", "2026-11-28T23:59:59+00:00"),
        *commit("Unreleased (0.1.0)", "2026-11-28T20:30:00-05:00", zone="Asia/Tokyo"),  # 01:30 on the 29th
        *commit("0.1.0 (2026-12-01)", "2026-12-01T00:00:00+00:00"),
        *commit("Unreleased (0.2.0)", "2026-11-30T00:00:00+00:00", version="0.2.0"),
        *commit("0.2.0 (2026-12-02)", "2026-12-02T00:00:00+00:00", version="0.2.0")]
    for earlier, later in itertools.pairwise(in_order):
        run("dpkg", "--validate-version", later)
        run("dpkg", "--compare-versions", earlier, "lt", later)


def test_the_same_commit_has_the_same_version_everywhere(project, commit):
    sources, *_ = commit("Unreleased (0.1.0)", "2026-11-28T11:05:43+09:00")
    assert sources == "0.1.0~git20261128020543"
    for zone in ("Pacific/Kiritimati", "America/Lima"):
        assert run(project / "script" / "deb-version", env={**os.environ, "TZ": zone}).strip() == sources


def test_a_changelog_that_is_larger_than_a_pipe_is_read_completely(commit):
    """With grep -q, grep would exit at the first match, and git would fail to write the rest."""
    assert commit("Unreleased (0.1.0)\n" + "- a change\n" * 100_000, "2026-11-28T11:05:43+00:00") == [
        f"0.1.0~git20261128110543{suite}" for suite in ("", "+deb12", "+deb13")]


def test_packages_have_the_version_and_dependencies_need_no_later_one(tmp_path):
    """Runs script/deb with a dpkg-buildpackage that builds nothing."""
    clone = tmp_path / "clone"
    run("git", "clone", "--quiet", ROOT, clone)
    for path in (tmp_path / "dpkg-buildpackage", tmp_path / "lintian", clone / "script" / "install"):
        path.write_text(STUB if path.name.startswith("dpkg") else "#!/bin/sh\n")
        path.chmod(0o755)
    suite = run("sed", "-n", "s/^VERSION_CODENAME=//p", "/etc/os-release").strip()
    subprocess.run([clone / "script" / "deb"], check=True, capture_output=True,
                   env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    version, wanted = pathlib.Path(clone / "said").read_text().split()
    assert version == run(clone / "script" / "deb-version", suite).strip()
    run("dpkg", "--compare-versions", wanted, "le", version)
    run("dpkg", "--compare-versions", wanted, "lt", "0.1.0+deb12")
