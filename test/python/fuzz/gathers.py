"""Kinds of stages that read where data say, or where arithmetic of symbolic extents does.

The data are indices of any integer type: large, negative, beyond 32 bits and at the ends of what the type has. All of
them and what is computed of them are integers that a float64 holds, so that NumPy's values are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fuzz.choices import Choices
from fuzz.extents import Extent
from fuzz.program import at_of

if TYPE_CHECKING:
    from fuzz.program import Program, Value

INDEX_DTYPES = ("int64", "uint32", "uint64", "int32", "int16", "uint8", "uint16", "int8")
_LARGE = {"int64": 2**49, "uint64": 2**49, "uint32": 2**32 - 1, "int32": 2**29}


def _range(choices: Choices, dtype: str) -> tuple[int, int]:
    """The least and the largest of data: small ones, or what sums of a few are still right of."""
    bits = int(dtype.lstrip("uint"))
    largest = _LARGE.get(dtype, 2 ** (bits - (dtype[0] == "i")) - 1) if choices.chance(75) else 40
    if dtype in ("int64", "uint64") and choices.chance(30):
        largest = choices.pick([2**31, 2**32, 2**33])
    return (0 if dtype[0] == "u" else -largest), largest


def _numbers(p: Program, shape: Sequence[int], dtype: str, low: int, high: int) -> Value:
    """An input of indices, some at the ends of their range and where 32 bits end; only gathers read it."""
    made = p.placeholder(shape, dtype)
    p.indices.append(made)
    extents = [int(n) for n in shape]
    anywhere = p.rng.integers(low, high, extents, endpoint=True)
    ends = [low, high, low + 1, high - 1, *(n for n in (-1, 0, 2**31 - 1, 2**31, 2**32, 2**32 + 1) if low <= n <= high)]
    at_ends = np.array(ends)[p.rng.integers(0, len(ends), extents)]
    made.exact = np.where(p.rng.integers(0, 3, extents) == 0, at_ends, anywhere).astype(np.float64)
    return made


def _of_type(extent: int, dtype: str, change: int = 0) -> str:
    """The text of an extent, or of one less, of a type."""
    if isinstance(extent, Extent):
        return f'cast({extent + change if change > 0 else extent - -change}, "{dtype}")'
    return str(extent + change)


def _index(p: Program, extent: int, shape: Sequence[int]) -> tuple[str, list[Value]]:
    """The text of an index below an extent, made of data over the axes of `shape`, and what it reads."""
    c, dtype = p.choices, p.choices.pick(INDEX_DTYPES)
    over = c.some(range(len(shape)), 70) or [0]
    low, high = _range(c, dtype)
    kind = c.integer(0, 5)
    if dtype in ("int8", "uint8", "int16", "uint16") and kind in (1, 2):
        kind = 0  # their sums wrap around
    if int(extent) > 100 and dtype in ("int8", "uint8"):
        dtype, low, high = "int64", -(2**40), 2**40  # which holds the extent
    if kind == 4:  # all of the range is above 0, and no modulo follows
        divisor = max(1, min(high, 2**40) // int(extent))
        low, high = 0, int(extent) * divisor - 1
    elif kind == 2 and dtype == "uint32":
        high //= 3
    data = _numbers(p, [shape[d] for d in over], dtype, low, high)
    at = f"{data.name}[{', '.join(f'i{d}' for d in over)}]"
    n, last = _of_type(extent, dtype), _of_type(extent, dtype, -1)
    if kind == 0:
        text = f"{at} % {n}"
    elif kind == 1:
        sign = "-" if dtype[0] == "i" and c.chance(50) else "+"
        text = f'({at} // {c.integer(2, 9)} {sign} cast(i{c.pick(over)} * {c.integer(1, 3)}, "{dtype}")) % {n}'
    elif kind == 2:
        text = f"({at} * 3 // {c.integer(2, 1000)}) % {n}"
    elif kind == 3:
        text = f"minimum(maximum({at}, 0), {last})" if dtype[0] == "i" else f"minimum({at}, {last})"
    elif kind == 4:
        text = f"{at} // {divisor}"
    else:
        text = f"where({at} > {c.integer(0, 99)}, {at} % {n}, {last})"
    return text, [data]


def _arithmetic(p: Program, extent: int, shape: Sequence[int]) -> str:
    """The text of an index below an extent: a floor division of axes with negative terms."""
    c = p.choices
    axes = [f"i{d}" for d in range(len(shape))]
    a, b = c.pick(axes), c.pick(axes)
    first = c.pick([str(c.integer(-9, 9)), *(f"{n}" for n in (extent, *shape) if isinstance(n, Extent))])
    divisor = c.pick([c.integer(1, 9), *(n for n in (extent, *shape) if isinstance(n, Extent))])
    body = c.pick(
        [f"{first} - {a} * {c.integer(1, 4)}", f"{a} * {c.integer(1, 3)} - {b} * {c.integer(1, 5)} + {first}"]
    )
    return f"(({body}) // {divisor}) % {extent}"


def gather(p: Program) -> bool:
    """One or two axes of a tensor are read where data say."""
    x = p.any_value()
    if x is None:
        return False
    c = p.choices
    shape = [c.integer(1, 24) if c.chance(30) else n for n in x.shape]
    at, read = [], [x]
    for d, extent in enumerate(x.shape):
        if c.chance(60):
            text, reads = _index(p, extent, shape)
            read += reads
        elif c.chance(40):
            text = _arithmetic(p, extent, shape)
        else:
            text = f"i{d}" if shape[d] == extent else f"i{d} % {extent}"
        at.append(text)
    return p.compute(shape, at_of(x, at), read)


def folded(p: Program) -> bool:
    """All axes are read where floor divisions of the axes say, with negative terms and symbolic extents."""
    x = p.any_value()
    if x is None:
        return False
    read = at_of(x, [_arithmetic(p, extent, x.shape) for extent in x.shape])
    return p.compute(x.shape, read, [x])
