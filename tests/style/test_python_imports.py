# SPDX-License-Identifier: MIT
"""Checks that Python modules that belong together do not import each other in a cycle."""
import ast
from pathlib import Path

import pytest
from test_style import ROOT

# {folder: the package name by which its modules import each other, or "" if they use their plain names}
FOLDERS = {"bindings/python/iio_stream": "iio_stream", "gr-blocks/python/iio_stream": "gnuradio.iio_stream",
           "script/lab": "", "tests/runner": "", "tests/support": "", "tests/campaign": ""}


def module_name(path, folder, package):
    parts = [package] if package else []
    parts += path.relative_to(folder).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imported(path, name, modules):
    """Yields the modules that a file imports anywhere, including in functions and for type checking."""
    package = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[:len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:  # a module of a package, or a name that the module or package defines
                inner = f"{base}.{alias.name}"
                yield inner if inner in modules else base


def imports(folder, package=""):
    """Returns {module: the modules of the same folder that it imports}. A stub represents an extension."""
    modules = {module_name(path, folder, package): path
               for suffix in ("pyi", "py") for path in sorted(folder.rglob(f"*.{suffix}"))}
    return {name: sorted(set(imported(path, name, modules)) & (modules.keys() - {name}))
            for name, path in modules.items()}


def cycle(graph):
    """Returns a cycle of a graph as a list that ends with its first name, or an empty list."""
    done = set()

    def visit(name, path):
        if name in path:
            return [*path[path.index(name):], name]
        if name in done:
            return []
        found = next((found for other in graph[name] if (found := visit(other, [*path, name]))), [])
        done.add(name)
        return found

    return next((found for name in graph if (found := visit(name, []))), [])


@pytest.mark.parametrize("folder", FOLDERS)
def test_modules_do_not_import_each_other_in_a_cycle(folder):
    graph = imports(ROOT / folder, FOLDERS[folder])
    assert graph, f"{folder} contains no Python files"
    assert " -> ".join(cycle(graph)) == ""


def test_cycles_through_functions_and_type_checking_are_found(tmp_path):
    package: Path = tmp_path / "package"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("from .first import one\n")
    (package / "first.py").write_text("import os\nfrom .inner import third\n")
    (package / "second.py").write_text("def two():\n    from . import first\n")
    (package / "inner" / "__init__.py").write_text("")
    (package / "inner" / "third.py").write_text("if TYPE_CHECKING:\n    from ..second import two\n")
    assert cycle(imports(package, "package")) == ["package.first", "package.inner.third", "package.second",
                                                  "package.first"]
    (package / "second.py").write_text("from . import one\n")
    assert cycle(imports(package, "package")) == ["package", "package.first", "package.inner.third",
                                                  "package.second", "package"]
    (package / "second.py").write_text("from os import path\n")
    assert cycle(imports(package, "package")) == []
