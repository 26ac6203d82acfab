"""How two programs differ, pane by pane."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Any

__all__ = ["comparison"]

# What stands before an instruction of SASS: its address, which says nothing.
_ADDRESS = re.compile(r"^\s*/\*[0-9a-f]+\*/\s*")
# Beyond so many lines a comparison takes too long; the texts then differ as a whole where they differ.
_MOST_LINES = 6000


def comparison(left: int, right: int, programs: list[dict[str, Any]]) -> dict[str, Any]:
    """The panes that both programs have, each with the opcodes of difflib: [tag, i1, i2, j1, j2]."""
    theirs = {pane["name"]: pane for pane in programs[right]["panes"]}
    return {
        "programs": [left, right],
        "panes": {
            pane["name"]: _changes(pane["lines"], theirs[pane["name"]]["lines"])
            for pane in programs[left]["panes"]
            if pane["name"] in theirs
        },
    }


def _changes(left: list[str], right: list[str]) -> list[list[Any]]:
    """
    >>> _changes(["a", "b"], ["a", "c", "d"])
    [['equal', 0, 1, 0, 1], ['replace', 1, 2, 1, 3]]
    """
    a, b = ([_ADDRESS.sub("", line) for line in lines] for lines in (left, right))
    if a != b and max(len(a), len(b)) > _MOST_LINES:
        return [["replace", 0, len(a), 0, len(b)]]
    return [list(change) for change in SequenceMatcher(None, a, b, autojunk=False).get_opcodes()]
