# SPDX-License-Identifier: MIT
"""Checks the command's JSON against docs/schema."""
import json
import pathlib

import jsonschema

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "schema"
SCHEMAS = {path.name[:-len(".schema.json")]: json.loads(path.read_text())
           for path in sorted(FOLDER.glob("*.schema.json"))}


def inlined(node, document):
    """Returns the schema with every $ref resolved. Versions of jsonschema resolve them differently."""
    if isinstance(node, list):
        return [inlined(item, document) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        file, _, path = node["$ref"].partition("#")
        target = document = SCHEMAS[file[:-len(".schema.json")]] if file else document
        for key in path.split("/")[1:]:
            target = target[key]
        return inlined(target, document)
    return {key: inlined(value, document) for key, value in node.items() if key != "$defs"}


def problems(name, document):
    """Returns the problems of the document, one line each."""
    validator = jsonschema.Draft202012Validator(inlined(SCHEMAS[name], SCHEMAS[name]))
    return [f"{list(error.path)}: {error.message}" for error in validator.iter_errors(document)]


def check(name, document):
    found = problems(name, document)
    assert not found, "\n".join(found)
