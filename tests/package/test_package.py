# SPDX-License-Identifier: MIT
"""`cmake --install`: the installed files, the exported interface, and programs that are built with it."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build"
HEADERS = sorted((ROOT / "src" / "include").rglob("*.hpp"))


def run(*command, **options):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            check=False, **options)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An installation with the prefix /usr in another root folder, like a distribution's package."""
    root = tmp_path_factory.mktemp("root")
    run("cmake", "--install", BUILD, "--prefix", "/usr", env={**os.environ, "DESTDIR": str(root)})
    return root / "usr"


def only(prefix, pattern):
    found = list(prefix.rglob(pattern))
    assert len(found) == 1, f"{pattern}: {found}"
    return found[0]


def version():
    text = (ROOT / "src" / "include" / "iio_stream" / "api.hpp").read_text()
    return re.search(r'kVersion = "(.*)"', text)[1]


def answer(prefix, *command):
    """Runs a program with the installed library and returns its output."""
    library = only(prefix, "libiio-stream.so").parent
    return run(*command, env={**os.environ, "LD_LIBRARY_PATH": str(library)})


def test_a_program_builds_with_find_package(prefix, tmp_path):
    run("cmake", "-S", HERE / "consumer", "-B", tmp_path, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path)
    assert answer(prefix, tmp_path / "consumer") == f"{version()} 1000\n"


def test_a_program_builds_with_pkg_config(prefix, tmp_path):
    folder = only(prefix, "iio-stream.pc").parent
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
    assert run("pkg-config", "--modversion", "iio-stream", env=environment).strip() == version()
    flags = run("pkg-config", "--cflags", "--libs", "iio-stream", env=environment)
    run("g++", HERE / "consumer" / "consumer.cpp", "-o", tmp_path / "consumer", *shlex.split(flags))
    assert answer(prefix, tmp_path / "consumer") == f"{version()} 1000\n"


def test_the_installed_command_finds_its_library(prefix):
    """The installation can be in any folder and needs no environment variables."""
    environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    command = prefix / "bin" / "iio-stream"
    assert run(command, "--version", env=environment) == f"iio-stream {version()}\n"
    library = re.search(r"libiio-stream\S* => (\S+)", run("ldd", command, env=environment))[1]
    assert pathlib.Path(library).resolve().parent == only(prefix, "libiio-stream.so").resolve().parent


def test_all_public_headers_are_installed_and_nothing_else(prefix):
    installed = {path.relative_to(prefix / "include") for path in prefix.rglob("*.hpp")}
    assert installed == {path.relative_to(ROOT / "src" / "include") for path in HEADERS}


def test_the_library_exports_only_its_own_symbols():
    symbols = run("nm", "-D", "--defined-only", "--demangle", BUILD / "libiio-stream.so").splitlines()
    names = [line.split(maxsplit=2)[2] for line in symbols]
    ours = re.compile(r"((typeinfo|typeinfo name|vtable) for )?iio_stream::(?!uapi)|iio_stream_\w+$")
    assert len(names) > 50
    assert [name for name in names if not ours.match(name)] == []


def test_the_library_has_an_soname():
    dynamic = run("readelf", "-d", BUILD / "libiio-stream.so")
    assert re.search(r"SONAME.*\[libiio-stream\.so\.0\]", dynamic)


def test_45_percent_of_the_lines_of_each_public_header_are_comments():
    for path in HEADERS:
        lines = [line.strip() for line in path.read_text().splitlines() if line.strip()]
        said = [line for line in lines if "//" in line]
        assert len(said) >= 0.45 * len(lines), f"{path.name}: {len(said)} of {len(lines)} lines"


def test_the_public_headers_include_no_foreign_headers():
    foreign = re.compile(r"#include <(linux/|iio\.h|libusb|libaio|liburing|nlohmann|CLI)")
    assert [str(path) for path in HEADERS if foreign.search(path.read_text())] == []


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("unit", ["iio-stream-gadget.service", "iio-stream@.service"])
def test_systemd_accepts_the_units(prefix, tmp_path, unit):
    for path in (prefix / "lib" / "systemd" / "system").iterdir():
        command = re.sub(r"=\S*/bin/iio-stream", f"={BUILD}/iio-stream", path.read_text())
        (tmp_path / path.name).write_text(command)
    result = subprocess.run(["systemd-analyze", "verify", "--man=no", tmp_path / unit],
                            capture_output=True, text=True, check=False)
    complaints = [line for line in result.stderr.splitlines() if "iio-stream" in line]
    assert complaints == []


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("folder", ["plain", "a folder of 100%h"])
def test_the_units_start_the_command_that_was_installed_with_them(tmp_path, folder):
    run("cmake", "--install", BUILD, "--prefix", tmp_path / folder)
    units = tmp_path / folder / "lib" / "systemd" / "system"
    command = tmp_path / folder / "bin" / "iio-stream"

    def complaints(unit):
        result = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True,
                                check=False)
        return [line for line in result.stderr.splitlines() if "iio-stream" in line]

    assert [complaints(unit) for unit in sorted(units.iterdir())] == [[], []]
    command.unlink()
    missing, _ = map(complaints, sorted(units.iterdir()))
    assert f"{command} is not executable" in missing[0]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("unit", ["iio-stream-gadget.service", "iio-stream@.service"])
def test_the_units_are_sandboxed_and_restart_forever(prefix, tmp_path, unit):
    text = (prefix / "lib" / "systemd" / "system" / unit).read_text()
    assert re.search(r"^StartLimitIntervalSec=0$", text, re.M)
    path = tmp_path / unit.replace("@", "@board")
    path.write_text(text)
    result = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager",
                             "--threshold=40", path], capture_output=True, text=True, check=False)
    if "unrecognized option" in result.stderr:
        pytest.skip("this systemd-analyze cannot check a unit that is not running")
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"Overall exposure level .*: [0-4]\.\d ", result.stdout), result.stdout


def test_the_commands_of_the_units_have_valid_arguments(prefix, tmp_path):
    """The commands fail only because the device is missing, so this version accepts their options and
    endpoints."""
    for path in (prefix / "lib" / "systemd" / "system").iterdir():
        for command in re.findall(r"^Exec\w+=\S*/iio-stream (.*)$", path.read_text(), re.M):
            command = re.sub(r"\$\w+", "", command).replace("%i", "nowhere")
            command += {"gadget up ": " --udc nowhere", "gadget down": " --name nowhere"}.get(command, "")
            words = command.split()
            result = subprocess.run([BUILD / "iio-stream", *words], capture_output=True, text=True,
                                    check=False, cwd=tmp_path)
            assert result.returncode in (0, 3), f"{words}: {result.stderr}"


def test_the_udev_rules_give_every_device_to_one_group(prefix):
    library = (BUILD / "libiio-stream.so").read_bytes()
    rules = [line for line in only(prefix, "70-iio-stream.rules").read_text().splitlines()
             if line and not line.startswith("#")]
    assert len(rules) == 5
    for rule in rules:
        assert re.fullmatch(r'(\w+(\{\w+\})?[!=]="[\w:]+", )+'
                            r'(GROUP="plugdev", MODE="0660"(, TAG\+="uaccess")?|RUN\+=.*)', rule), rule
        assert rule.encode() in library, f"sys::udev_hint() does not know {rule}"


@pytest.mark.parametrize("umask", [0o077, 0o027])
def test_other_users_can_use_files_installed_with_a_strict_umask(tmp_path, umask):
    own = tmp_path / "prefix" / "share"
    own.mkdir(parents=True, mode=0o700)
    run("cmake", "--install", BUILD, "--prefix", tmp_path / "prefix", umask=umask)
    everything = [path for path in (tmp_path / "prefix").rglob("*") if not path.is_symlink()]
    assert len(everything) > 50 and (BUILD / "install_manifest.txt").read_text().startswith(str(tmp_path))
    for path in everything:
        open_to_others = 0o005 if path.is_dir() else 0o004
        assert path.stat().st_mode & open_to_others == (0 if path == own else open_to_others), path


def test_install_check_finds_a_complete_installation():
    assert "is complete" in run(ROOT / "script" / "install-check")
