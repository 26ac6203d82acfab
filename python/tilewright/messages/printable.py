"""Text that others gave, in a line of ours.

Names of tensors, axes and symbols are the user's. Whatever stands in them, a message stays one line, a terminal gets no
control characters, and a comment of C ends where we end it.
"""

from __future__ import annotations

__all__ = ["in_c_comment", "printable", "printable_lines"]


def printable(text: str) -> str:
    r"""The text with an escape in place of each character that is not printed: line breaks, colours of a terminal,
    marks that turn the direction.

    >>> print(printable("A\n\x1b[31mB"))
    A\n\x1b[31mB
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def printable_lines(text: str) -> str:
    r"""The same of a text of several lines, which stay.

    >>> printable_lines("one\ntwo\x07")
    'one\ntwo\\x07'
    """
    return "\n".join(map(printable, text.split("\n")))


def in_c_comment(text: str) -> str:
    """The text within ``/*`` and ``*/``: it neither ends the comment nor begins another.

    >>> in_c_comment("A*/ int x; /*")
    'A* / int x; / *'
    """
    return printable(text).replace("*/", "* /").replace("/*", "/ *")
