"""A loop nest as notebooks show it."""

from __future__ import annotations

import html
import re

__all__ = ["CODE", "FRAME", "nest_html"]

_COMMENT = re.compile(r"#.*")
FRAME = "border:1px solid #8884;border-radius:8px;padding:10px 14px;margin:4px 0;max-width:100%;overflow:auto"
CODE = "margin:0;padding:0;background:none;line-height:1.45;font-size:12.5px"


def nest_html(text: str) -> str:
    """A loop nest with its comments set back.

    >>> nest_html("for i in range(8):  # C, <b>").partition(">")[2]
    'for i in range(8):  <span style="opacity:.6"># C, &lt;b&gt;</span></pre>'
    """
    lines: list[str] = []
    for line in text.split("\n"):
        comment = _COMMENT.search(line)
        begin = comment.start() if comment else len(line)
        rest = f'<span style="opacity:.6">{html.escape(line[begin:])}</span>' if comment else ""
        lines.append(html.escape(line[:begin]) + rest)
    return f'<pre style="{CODE}">' + "\n".join(lines) + "</pre>"
