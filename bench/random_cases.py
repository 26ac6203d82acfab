"""Operations of shapes that are drawn anew by a seed: no table and no model was fitted to them.

A case is an operation of `tilewright.ops`, its operands and its options. `draw(seed)` is the same on each machine.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tilewright import ops

__all__ = ["GROUPS", "Array", "Case", "draw", "function_of", "in_turns"]


@dataclass(frozen=True, slots=True)
class Array:
    """An operand. `below` is the number that integers are less than, 0 for those of int8, which take all values."""

    shape: tuple[int, ...]
    dtype: str
    below: int = 0


@dataclass(frozen=True, slots=True)
class Case:
    """An operation by its name in `tilewright.ops`, what it is given, and the group that its ratio counts in."""

    group: str
    op: str
    arrays: tuple[Array, ...]
    options: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        arrays = ", ".join("x".join(map(str, one.shape)) or "1" for one in self.arrays)
        options = "".join(f" {name}={value}" for name, value in self.options)
        return f"{self.op} {self.arrays[0].dtype} {arrays}{options}"

    @property
    def bytes(self) -> int:
        """What the operands take."""
        sizes = {"float32": 4, "int64": 8, "float16": 2, "bfloat16": 2}
        return sum(math.prod(one.shape) * sizes.get(one.dtype, 1) for one in self.arrays)


def function_of(case: Case, target: str) -> Any:
    """The compiled function of a case."""
    operands = [ops.Operand(one.shape, one.dtype) for one in case.arrays]
    return getattr(ops, case.op).function(*operands, target=target, **dict(case.options))


def _log_uniform(rng: random.Random, least: int, most: int, multiple: int = 1) -> int:
    value = math.exp(rng.uniform(math.log(least), math.log(most)))
    return max(multiple, min(most, round(value / multiple) * multiple))


def _matmul(rng: random.Random, group: str, dtypes: tuple[str, ...], largest: int, **how: Any) -> Case:
    """A product with rows from 1, or from `rows`, to 8192, N and K to twice that. `multiple` is what N, K and the rows
    of a transposed A are multiples of; `layouts` are those of A and B."""
    multiple, rows = how.get("multiple", 1), how.get("rows", 1)
    while True:
        layout = rng.choice(how.get("layouts", ("NN", "NT", "TN", "TT")))
        M = _log_uniform(rng, rows, largest // 2, multiple if layout[0] == "T" or rows > 1 else 1)
        N, K = (_log_uniform(rng, max(16, largest // 64), largest, multiple) for _ in "NK")
        is_odd = N % 8 != 0 or K % 8 != 0
        if M * N * K <= largest**3 // 4 and is_odd == how.get("odd", False):
            break
    dtype = rng.choice(dtypes)
    options: dict[str, Any] = {"transpose_a": layout[0] == "T", "transpose_b": layout[1] == "T"}
    if "precision" in how:
        options["precision"] = how["precision"]
    if dtype.startswith("float8"):
        options["out_dtype"] = "bfloat16"
    a, b = (K, M) if layout[0] == "T" else (M, K), (N, K) if layout[1] == "T" else (K, N)
    return Case(group, "matmul", (Array(a, dtype), Array(b, dtype)), tuple(options.items()))


def _aligned(rng: random.Random, largest: int) -> Case:
    return _matmul(rng, "aligned matmul", ("bfloat16", "float16"), largest, multiple=8)


def _odd(rng: random.Random, largest: int) -> Case:
    return _matmul(rng, "odd matmul", ("bfloat16", "float16"), largest, odd=True)


# cuBLAS has products of 8 bits of A as it is and B transposed alone, and torch that of int8 from 17 rows on.
def _f8(rng: random.Random, largest: int) -> Case:
    return _matmul(rng, "f8 matmul", ("float8_e4m3fn",), largest, multiple=16, rows=16, layouts=("NT",))


def _int8(rng: random.Random, largest: int) -> Case:
    return _matmul(rng, "int8 matmul", ("int8",), largest, multiple=16, rows=24, layouts=("NT",))


def _tf32(rng: random.Random, largest: int) -> Case:
    return _matmul(rng, "tf32 matmul", ("float32",), largest, multiple=8, precision="tf32")


def _f32(rng: random.Random, largest: int) -> Case:
    return _matmul(rng, "f32 matmul", ("float32",), largest // 2, multiple=8)


_ROWS = (
    "softmax", "log_softmax", "cross_entropy", "layer_norm", "rms_norm", "sum", "sum of columns", "argmax", "cumsum",
)  # fmt: skip


def _rows(rng: random.Random, largest: int) -> Case:
    op = rng.choice(_ROWS)
    most = largest * largest
    while True:
        rows, columns = (_log_uniform(rng, 1, min(1_000_000, most)) for _ in "ij")
        if most // 4096 <= rows * columns <= most:
            break
    dtype = rng.choice(("float32", "float16", "bfloat16"))
    x, of_columns = Array((rows, columns), dtype), Array((columns,), dtype)
    more = {
        "cross_entropy": (Array((rows,), "int64", columns),), "layer_norm": (of_columns, of_columns),
        "rms_norm": (of_columns,),
    }  # fmt: skip
    options = {"sum": (("axis", 1),), "sum of columns": (("axis", 0),)}
    return Case("rows", op.split()[0], (x, *more.get(op, ())), options.get(op, ()))


def _convolution(rng: random.Random, largest: int) -> Case:
    """Images as those of networks: channels last in 16 bits, the first in float32; some by channel, some in 1-D."""
    most = max(8, largest // 16)
    while True:
        batch, kernel, stride = rng.choice((1, 2, 8, 32)), rng.choice((1, 3, 3, 3, 5, 7)), rng.choice((1, 1, 1, 2))
        size = _log_uniform(rng, min(7, most), min(224, most))
        channels, filters = (_log_uniform(rng, 8, most, 8) for _ in "cf")
        if 1 << 10 <= batch * size**2 * channels * filters * kernel**2 <= min(1 << 35, largest**3 // 64):
            break
    kind = rng.choice(("16 bits", "16 bits", "16 bits", "float32", "by channel", "1-D"))
    half = rng.choice(("float16", "bfloat16"))
    if kind == "16 bits":
        x, w = (batch, size, size, channels), (filters, kernel, kernel, channels)
        return Case("convolutions", "conv2d", (Array(x, half), Array(w, half)), (("stride", stride),))
    options = (("stride", stride), ("padding", kernel // 2))
    if kind == "by channel":
        x, w, dtype = (batch, channels, size, size), (channels, 1, kernel, kernel), rng.choice((half, "float32"))
        options = (*options, ("groups", channels))
    elif kind == "1-D":
        x, w, dtype = (batch, channels, size * 8), (filters, channels, kernel), rng.choice((half, "float32"))
    else:
        x, w, dtype = (batch, channels, size, size), (filters, channels, kernel, kernel), "float32"
    return Case("convolutions", "conv", (Array(x, dtype), Array(w, dtype)), options)


# How many cases of each group a seed draws, and how.
GROUPS: dict[str, tuple[int, Callable[[random.Random, int], Case]]] = {
    "aligned matmul": (100, _aligned),
    "odd matmul": (50, _odd),
    "f8 matmul": (30, _f8),
    "int8 matmul": (30, _int8),
    "tf32 matmul": (30, _tf32),
    "f32 matmul": (30, _f32),
    "rows": (60, _rows),
    "convolutions": (40, _convolution),
}


def draw(seed: int, group: str, count: int | None = None, largest: int = 16384) -> list[Case]:
    """The first cases of a group. They do not depend on those of others. `largest` is the longest side of a matrix.

    >>> len(draw(1, "aligned matmul")), draw(1, "rows", 3) == draw(1, "rows")[:3], draw(1, "rows") == draw(2, "rows")
    (100, True, False)
    """
    rng = random.Random(f"{seed} {group}")
    usual, make = GROUPS[group]
    return [make(rng, largest) for _ in range(usual if count is None else count)]


def in_turns(lists: list[list[Case]]) -> Iterator[Case]:
    """One case of each group after the other, so that a run that ends early has some of all.

    >>> [str(case) for case in in_turns([draw(1, "rows", 2), draw(1, "rows", 1)])] == [
    ...     str(draw(1, "rows", 2)[place]) for place in (0, 0, 1)
    ... ]
    True
    """
    # A list of 100 has twice as many turns as one of 50.
    places = sorted(
        ((at + 0.5) / len(cases), number, at) for number, cases in enumerate(lists) for at in range(len(cases))
    )
    for _, number, at in places:
        yield lists[number][at]
