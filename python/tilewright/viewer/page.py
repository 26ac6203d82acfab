"""Data as one HTML file that needs nothing else: style, scripts and data stand in it, and it asks for no network."""

from __future__ import annotations

import html
import json
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["page_of", "script_json"]

_SCRIPTS = (
    "links.js",
    "colours.js",
    "listing.js",
    "code.js",
    "charts.js",
    "sheets.js",
    "timeline.js",
    "compare.js",
    "frame.js",
    "code-page.js",
    "groups.js",
    "arena.js",
    "profile.js",
    "model-page.js",
    "main.js",
)


@cache
def _part(name: str) -> str:
    return (files(__name__.rpartition(".")[0]) / "page" / name).read_text(encoding="utf-8")


def script_json(data: Any) -> str:
    """JSON that can stand within a script element: no text in it ends the element or begins a comment.

    >>> script_json({"name": "</script><!--"})
    '{"name":"\\\\u003c/script\\\\u003e\\\\u003c!--"}'
    """
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def page_of(data: dict[str, Any]) -> str:
    """The page that shows `data`, as `view_data` and `Model.view_data` make it."""
    each = [data] if data.get("kind") == "model" else data["programs"]
    names = ", ".join(dict.fromkeys(program["name"] for program in each))
    parts = {
        "@TITLE@": html.escape(names) + " · Tilewright",
        "@STYLE@": _part("page.css"),
        "@SCRIPT@": '"use strict";\n(() => {\n' + "\n".join(map(_part, _SCRIPTS)) + "\n})();",
        "@DATA@": script_json(data),
    }
    # In one go: what is put in may hold the other marks.
    pieces = _part("page.html")
    made, rest = "", pieces
    for mark in ("@TITLE@", "@STYLE@", "@DATA@", "@SCRIPT@"):
        before, _, rest = rest.partition(mark)
        made += before + parts[mark]
    return made + rest
