"""Numbers that options take."""

from __future__ import annotations

import argparse

__all__ = ["natural"]


def natural(text: str) -> int:
    """What an option says that takes a number from 0 on, for `type=` of argparse.

    >>> natural("12")
    12
    """
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, got {text!r}")
    return int(text)
