# SPDX-License-Identifier: MIT
"""Tests script/abi with a library of a few lines, because iio-stream takes minutes to build."""
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = """cmake_minimum_required(VERSION 3.20)
project(tiny VERSION 0.1.0 LANGUAGES CXX)
add_library(iio-stream SHARED src/tiny.cpp)
target_include_directories(iio-stream PRIVATE src/include)
set_target_properties(iio-stream PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
"""
HEADER = "struct Config { int blocks; };\nint open(const Config& config);\n"
SOURCE = '#include "tiny.hpp"\nint open(const Config& config) { return config.blocks; }\n'


@pytest.fixture
def project(tmp_path):
    for folder in ("script", "src/include"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "script" / "abi", tmp_path / "script")
    (tmp_path / "script" / "install").write_text("#!/bin/sh\n")
    (tmp_path / "script" / "install").chmod(0o755)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    (tmp_path / "src" / "include" / "tiny.hpp").write_text(HEADER)
    (tmp_path / "src" / "tiny.cpp").write_text(SOURCE)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "all")
    return tmp_path


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main", *words],
                   cwd=folder, check=True)


def abi(folder):
    return subprocess.run([folder / "script" / "abi"], capture_output=True, text=True, check=False, timeout=120)


def test_without_a_release_the_comparison_is_skipped(project):
    result = abi(project)
    assert (result.returncode, result.stdout) == (0, "skipped: no release (git tag) to compare with\n")


@pytest.mark.skipif(not shutil.which("abidiff"), reason="abidiff is not installed (script/install abi)")
@pytest.mark.parametrize("file,old,new,status,word", [
    ("src/tiny.cpp", "return config.blocks", "return -config.blocks", 0, "work with this library"),
    ("src/tiny.cpp", SOURCE, SOURCE + "int more() { return 0; }\n", 0, "work with this library"),
    ("src/include/tiny.hpp", "int blocks;", "int blocks; int bytes;", 1, "raise the major version"),
    ("src/tiny.cpp", "int open", "static int open", 1, "raise the major version"),
    ("CMakeLists.txt", "VERSION 0.1.0", "VERSION 1.0.0", 0, "need not be compatible"),
], ids=["same", "added", "grown", "removed", "major"])
def test_only_a_change_that_can_break_a_program_is_an_error(project, file, old, new, status, word):
    git(project, "tag", "v0.1.0")
    path = project / file
    path.write_text(path.read_text().replace(old, new))
    if new.startswith("static"):
        header = project / "src" / "include" / "tiny.hpp"
        header.write_text(header.read_text().replace("int open", "static int open"))
    result = abi(project)
    assert result.returncode == status, result.stdout + result.stderr
    assert word in result.stdout + result.stderr
