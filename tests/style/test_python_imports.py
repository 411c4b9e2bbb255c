# SPDX-License-Identifier: MIT
"""Python modules that belong together import one another without a cycle."""
import ast
from pathlib import Path

import pytest
from test_style import ROOT

# Of each folder, the name by which its modules import one another; "" if they do so by their own names.
FOLDERS = {"bindings/python/iio_stream": "iio_stream", "gr-blocks/python/iio_stream": "gnuradio.iio_stream",
           "script/lab": "", "tests/runner": "", "tests/support": "", "tests/campaign": ""}


def module_name(path, folder, package):
    parts = [package] if package else []
    parts += path.relative_to(folder).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imported(path, name, modules):
    """The modules that a file imports, anywhere in it: in functions and for types, too."""
    package = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[:len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:  # a module of a package, or a name that the module or package has
                inner = f"{base}.{alias.name}"
                yield inner if inner in modules else base


def imports(folder, package=""):
    """Of each module of a folder those of the folder that it imports. A stub stands for an extension."""
    modules = {module_name(path, folder, package): path
               for suffix in ("pyi", "py") for path in sorted(folder.rglob(f"*.{suffix}"))}
    return {name: sorted(set(imported(path, name, modules)) & (modules.keys() - {name}))
            for name, path in modules.items()}


def cycle(graph):
    """A cycle of a graph as a list that ends with its first name, or nothing."""
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
def test_no_modules_import_one_another_in_a_cycle(folder):
    graph = imports(ROOT / folder, FOLDERS[folder])
    assert graph, f"{folder} has no Python"
    assert " -> ".join(cycle(graph)) == ""


def test_a_cycle_is_found_also_in_a_function_and_for_types(tmp_path):
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
