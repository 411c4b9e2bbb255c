# SPDX-License-Identifier: MIT
"""MkDocs hooks that add the site's pages that are not in docs/ (README, the man page, the references and so
on)."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import griffe
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
DOXYGEN = f"""
PROJECT_NAME = iio-stream
INPUT = {ROOT}/src/include/iio_stream
STRIP_FROM_PATH = {ROOT}/src/include
FILE_PATTERNS = *.hpp
OUTPUT_DIRECTORY = {{folder}}
HTML_OUTPUT = cpp
GENERATE_LATEX = NO
EXTRACT_ALL = YES
EXCLUDE_SYMBOLS = iio_stream::detail*
MACRO_EXPANSION = YES
PREDEFINED = IIO_STREAM_API=
HTML_DYNAMIC_SECTIONS = NO
HAVE_DOT = NO
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
WARN_AS_ERROR = YES
"""
COMMAND = "# The command\n\nThe manual page, `man iio-stream`:\n\n```text\n{}```\n"
PYTHON = ("# Python reference\n\n[The tutorial](python.md) comes first.\n\n::: iio_stream\n\n"
          "# Archives\n\n[Their tutorial](archive.md) comes first.\n\n::: iio_stream.archive\n")


def manual():
    """Returns the man page as a terminal shows it."""
    page = subprocess.run(["groff", "-mdoc", "-Tutf8", "-P-cbou", ROOT / "docs" / "man" / "iio-stream.1"], check=True,
                          capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout
    return COMMAND.format(page)


def moved(text):
    """Returns a page of the root folder with its links adapted to docs/."""
    for path, name in PAGES.items():
        text = text.replace(f"]({path}", f"]({name}")
    return text.replace("](docs/schema)", "](schema/summary.schema.json)").replace("](docs/", "](")


class Doctests(griffe.Extension):
    """Marks the examples in docstrings as code, because Markdown would treat them as quotations and links."""

    def on_object(self, *, obj, **_):
        if obj.docstring:
            obj.docstring.value = re.sub(r"^>>> (?:.+\n?)+", lambda example: f"```pycon\n{example[0].rstrip()}\n```\n",
                                         obj.docstring.value, flags=re.M)

    def on_package(self, *, pkg, **_):
        self.on_object(obj=pkg)


def on_files(files, config):
    def add(name, text):
        files.append(File.generated(config, name, content=text))

    for path, name in PAGES.items():
        add(name, moved((ROOT / path).read_text()))
    add("command.md", manual())
    add("python-reference.md", PYTHON)
    for path in [*(ROOT / "examples").glob("*.cpp"), *(ROOT / "examples").glob("*.py")]:
        add(f"examples/{path.name}", path.read_text())
    folder = ROOT / "build" / "docs-doxygen"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run(["doxygen", "-"], input=DOXYGEN.format(folder=folder), text=True, check=True)
    for path in (folder / "cpp").rglob("*"):
        if path.is_file():
            files.append(File(path.relative_to(folder).as_posix(), str(folder), config.site_dir, use_directory_urls=False))
    return files
