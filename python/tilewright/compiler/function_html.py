"""A compiled function as notebooks show it."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from ..errors import TilewrightError, TilewrightTypeError, TilewrightValueError
from ..te.schedule.nest import nest_text
from ..te.schedule.nest_html import CODE, FRAME, nest_html

if TYPE_CHECKING:
    from .function import Function

__all__ = ["function_html"]


def function_html(function: Function) -> str:
    """A function's signature, its launches, and its loop nest."""
    parts = [f"<b><code>{html.escape(str(function.signature))}</code></b> for {html.escape(str(function.target))}"]
    try:
        launches = function.launch_config() if function.target.kind != "cpu" else ()
    except (TilewrightTypeError, TilewrightValueError):
        launches = ()  # of symbolic extents
    parts += [f'<pre style="{CODE};margin-top:8px">{html.escape(str(launch))}</pre>' for launch in launches]
    if "loops" in function.stages:
        try:
            nest = nest_text(function.module("loops"), {})
        except TilewrightError:
            nest = ""
        parts.append(f"<details><summary>loop nest</summary>{nest_html(nest)}</details>" if nest else "")
    return f'<div style="{FRAME}">{"".join(parts)}</div>'
