"""Constants in the LLVM dialect as text."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["numbers_constant", "text_constant"]


def text_constant(text: str | bytes) -> str:
    """A text as MLIR writes one, ended by a zero.

    >>> text_constant('f("A")')
    '"f(\\\\22A\\\\22)\\\\00"'
    """
    data = text.encode() if isinstance(text, str) else text
    escaped = re.sub(rb"[^A-Za-z0-9 .,:_()\[\]-]", lambda found: b"\\%02X" % found[0][0], data).decode()
    return f'"{escaped}\\00"'


def numbers_constant(name: str, numbers: Sequence[int]) -> str:
    """A constant of the module alone: 64-bit integers, one behind the other, and a zero.

    >>> numbers_constant("f_ends", [3, 5])
    'llvm.mlir.global internal constant @f_ends(dense<[3, 5, 0]> : tensor<3xi64>) : !llvm.array<3 x i64>'
    """
    all_of = [*numbers, 0]
    count = len(all_of)
    return (
        f"llvm.mlir.global internal constant @{name}(dense<{all_of}> : tensor<{count}xi64>) : "
        f"!llvm.array<{count} x i64>"
    )
