"""Python's notation for the operations that values of the loops stage are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...dtypes import name_of_mlir

__all__ = [
    "ADD", "ATOM", "CALLS", "CASTS", "CHOICE", "COMPARE", "FLOAT_ORDER", "INFIX", "INTEGER_ORDER", "LOGIC", "MULTIPLY",
    "OR", "SIGN", "Text", "dtype_name", "infix",
]  # fmt: skip

# How tightly Python's operators bind.
CHOICE, OR, AND, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, ADD, MULTIPLY, SIGN, ATOM = range(12)

INFIX = {
    "arith.addf": ("+", ADD), "arith.addi": ("+", ADD), "arith.subf": ("-", ADD), "arith.subi": ("-", ADD),
    "arith.mulf": ("*", MULTIPLY), "arith.muli": ("*", MULTIPLY), "arith.divf": ("/", MULTIPLY),
    "arith.divsi": ("//", MULTIPLY), "arith.divui": ("//", MULTIPLY), "arith.floordivsi": ("//", MULTIPLY),
    "arith.remf": ("%", MULTIPLY), "arith.remsi": ("%", MULTIPLY), "arith.remui": ("%", MULTIPLY),
    "arith.shli": ("<<", SHIFT), "arith.shrsi": (">>", SHIFT), "arith.shrui": (">>", SHIFT),
}  # fmt: skip
# On bools and on integers.
LOGIC = {
    "arith.andi": (("and", AND), ("&", BIT_AND)),
    "arith.ori": (("or", OR), ("|", BIT_OR)),
    "arith.xori": (("!=", COMPARE), ("^", BIT_XOR)),
}
CALLS = {
    "arith.maximumf": "max", "arith.maxnumf": "max", "arith.maxsi": "max", "arith.maxui": "max",
    "arith.minimumf": "min", "arith.minnumf": "min", "arith.minsi": "min", "arith.minui": "min",
    "arith.ceildivsi": "ceildiv", "arith.ceildivui": "ceildiv",
}  # fmt: skip
CASTS = ("arith.ext", "arith.trunc", "arith.sitofp", "arith.uitofp", "arith.fpto", "arith.bitcast")
# By the number of the predicate.
INTEGER_ORDER = dict(enumerate(("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")))
FLOAT_ORDER = {
    1: "==",
    2: ">",
    3: ">=",
    4: "<",
    5: "<=",
    6: "!=",
    8: "==",
    9: ">",
    10: ">=",
    11: "<",
    12: "<=",
    13: "!=",
}


class Text(NamedTuple):
    """An expression, how tightly its outermost operator binds, and a key that is the same for equal expressions."""

    text: str
    binds: int
    key: str

    def within(self, binds: int) -> str:
        """The text as an operand of something that binds so tightly."""
        return self.text if self.binds >= binds else f"({self.text})"


def infix(sign: str, binds: int, operands: Sequence[Text], space: str = " ") -> Text:
    """Two operands and a sign between them.

    >>> a, b = Text("a", ATOM, "a"), Text("b + c", ADD, "b + c")
    >>> infix("-", ADD, (a, b)).text, infix("*", MULTIPLY, (a, b), "").text
    ('a - (b + c)', 'a*(b + c)')
    """
    left, right = operands
    associative = sign in ("+", "*", "and", "or", "&", "|", "^")
    # Comparisons do not chain, and what is not associative needs parentheses on its right.
    first, second = left.within(binds + (binds == COMPARE)), right.within(binds + (not associative))
    return Text(f"{first}{space}{sign}{space}{second}", binds, f"({left.key} {sign} {right.key})")


def dtype_name(kind: str) -> str:
    """NumPy's name of an element type of MLIR's.

    >>> dtype_name("bf16"), dtype_name("i8")
    ('bfloat16', 'int8')
    """
    return name_of_mlir(kind)
