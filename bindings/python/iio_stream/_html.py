# SPDX-License-Identifier: MIT
"""HTML for notebooks."""
from __future__ import annotations

import html
from collections.abc import Iterable

from ._printable import printable

_LONGEST = 300  # characters of a value, which can be text from another program


def table(title: str, rows: Iterable[tuple[str, str]], picture: str = "") -> str:
    """Returns a table of names and values, which are escaped. ``picture``, if given, is the address of a
    picture above it."""
    text = f"<table><caption>{_escaped(title)}</caption>"
    for name, value in rows:
        text += f'<tr><th scope="row">{_escaped(name)}</th><td>{_escaped(value)}</td></tr>'
    image = f'<img src="{html.escape(picture)}" alt="{_escaped(title)}" style="max-width: 100%">'
    return f"<div>{image if picture else ''}{text}</table></div>"


def _escaped(text: str) -> str:
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + "…"
    return html.escape(printable(text))
