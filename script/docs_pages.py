# SPDX-License-Identifier: MIT
"""MkDocs hooks that add the site's pages that are not in docs/ (README, the man page, the references and so
on)."""
import ast
import os
import re
import shutil
import subprocess
from pathlib import Path

import griffe
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
BINDINGS = ROOT / "bindings" / "python"
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
    text = text.replace("[examples/](examples)", "`examples/`")
    return text.replace("](docs/schema)", "](schema/summary.schema.json)").replace("](docs/", "](")


def on_page_markdown(markdown, **_):
    """Adapts a page of docs/. MkDocs takes the title from the first line, which is a comment in the files, and
    otherwise derives it from the file's name. Links to pages of the root folder and to the man page lead to
    their pages on the site."""
    markdown = re.sub(r"\A<!--.*?-->\s*", "", markdown, flags=re.S)
    for path, name in PAGES.items():
        markdown = markdown.replace(f"](../{path}", f"]({name}")
    return markdown.replace("](man/iio-stream.1)", "](command.md)")


TEXT = r'(?:"(?:[^"\\]|\\.)*"\s*)+'  # literals of C++, which the compiler joins


def text_of(literals):
    return "".join(ast.literal_eval(literal) for literal in re.findall(r'"(?:[^"\\]|\\.)*"', literals))


def docstrings_of_the_extension():
    """Returns {(class, member): docstring} of the extension, whose stub has none. A class itself is the member
    "". The texts are in the bindings, or in _block.py if the member has a Python signature."""
    found = {}
    for path in (BINDINGS / "src").glob("*.cpp"):
        for bound in path.read_text().split("py::class_<")[1:]:
            opening = re.match(rf'[^(]*\(\s*module, "(\w+)",(?: with_buffer<\w+>\(\),)?\s*({TEXT})\)', bound)
            if not opening:
                continue
            name = opening[1]
            found[name, ""] = text_of(opening[2])
            for member in bound.split(".def")[1:]:
                text = re.match(rf'\w*\(\s*"(\w+)",.*?({TEXT})\)\s*(?:;|$)', member, re.S)
                if text:
                    found[name, text[1]] = text_of(text[2])
    tree = ast.parse((BINDINGS / "iio_stream" / "_block.py").read_text())
    texts = {node.name: ast.get_docstring(node) for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_give" and node.keywords:
            for given in node.keywords:
                if text := texts.get(getattr(given.value, "id", "")):
                    found[ast.unparse(node.args[0]), given.arg] = text
    return found


class Docstrings(griffe.Extension):
    """Adds the docstrings of the extension. Marks the examples in docstrings as code, because Markdown would
    treat them as quotations and links."""

    def __init__(self):
        super().__init__()
        self.of_extension = docstrings_of_the_extension()

    def on_object(self, *, obj, **_):
        if not obj.docstring and obj.path.startswith("iio_stream._core."):
            of, _, member = obj.path.removeprefix("iio_stream._core.").partition(".")
            text = self.of_extension.get(("Block" if of == "_Viewed" else of, member))
            if text:
                obj.docstring = griffe.Docstring(text, parent=obj)
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
