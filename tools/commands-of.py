#!/usr/bin/env python3
"""Prints the shell commands of a page, as written: `python tools/commands-of.py README.md [NUMBER...]`.

The commands are the blocks ```` ```bash ````, counted from 1; all of them unless some are named. Tests and .ci/run
run them from here, so that what a page shows is what is tested.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

__all__ = ["blocks_of"]


def blocks_of(page: Path, language: str) -> list[str]:
    """The code blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def main(page: str, *numbers: str) -> None:
    blocks = blocks_of(Path(page), "bash")
    for number in numbers or range(1, len(blocks) + 1):
        print(blocks[int(number) - 1], end="")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
