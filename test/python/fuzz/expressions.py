"""Random expressions with every operator, on elements of every type and in indices.

The text is Python over te. What it computes is what the kernel on the simulator computes: a printed program must do the
same, bit for bit. Floats take part in what rounds the same everywhere alone, and no division is by zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from fuzz.choices import Choices
from tilewright import te
from tilewright.te import Schedule, Tensor

SIGNED, UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64", "float16", "bfloat16")
DTYPES = (*SIGNED, *UNSIGNED, *FLOATS, "bool")
INTEGERS = SIGNED + UNSIGNED
# Thread blocks of the schedule.
THREADS = (1, 8, 32)


@dataclass
class Expressions:
    """A program of some stages. `lines` is the Python that makes it."""

    choices: Choices
    rng: np.random.Generator
    lines: list[str] = field(default_factory=list)
    inputs: list[Tensor] = field(default_factory=list)
    data: list[NDArray[Any]] = field(default_factory=list)
    shape: tuple[int, ...] = ()
    names: dict[str, Any] = field(default_factory=lambda: {"te": te})
    extents: tuple[str, ...] = ()
    """As the text has them: a number, or the name of a symbol."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def define(self, line: str) -> Any:
        self.lines.append(line)
        exec(line, self.names)
        return self.names[line.split(" = ")[0]]

    # Inputs.

    def placeholder(self, dtype: str) -> str:
        """An input of a type: one for each, with elements at the ends of what the type has."""
        name = f"A_{dtype}"
        if name in self.names:
            return name
        extents = "".join(f"{extent}, " for extent in self.extents)
        self.inputs.append(self.define(f'{name} = te.placeholder(({extents}), name="{name}", dtype="{dtype}")'))
        if dtype == "bool":
            made = self.rng.integers(0, 2, self.shape).astype(bool)
        elif dtype in FLOATS:
            made = (self.rng.integers(-16, 16, self.shape, endpoint=True) / 4).astype(numpy_type(dtype))
        else:
            bound = np.iinfo(dtype)
            made = self.rng.integers(bound.min, bound.max, self.shape, dtype=dtype, endpoint=True)
            small = self.rng.integers(0 if dtype in UNSIGNED else -9, 9, self.shape, endpoint=True).astype(dtype)
            ends = np.array([bound.min, bound.max, 0, 1], dtype)[self.rng.integers(0, 4, self.shape)]
            kind = self.rng.integers(0, 4, self.shape)
            made = np.where(kind == 0, ends, np.where(kind == 1, made, small))
        self.data.append(made)
        return name

    # Indices.

    def index(self, extent: int, depth: int, *, is_part: bool = True) -> str:
        """Text of an index within 0 and `extent`, exclusive; a part of another has the axes' type."""
        c = self.choices
        axes = [f"i{d}" for d, own in enumerate(self.shape) if own <= extent]
        kind = c.integer(0, 9) if depth > 0 else 0
        if kind == 0 or extent == 1:
            return c.pick([*axes, "0", str(extent - 1)]) if axes else c.pick(["0", str(extent - 1)])
        part = c.integer(1, extent)
        bits = extent.bit_length() - 1
        dtype = c.pick(INTEGERS)
        number = self.expression(dtype, depth - 1)
        convert = '.astype("int32")' if is_part and dtype != "int32" else ""
        if kind == 1:
            return f"({self.index(part, depth - 1)} + {self.index(extent - part + 1, depth - 1)})"
        if kind == 2:
            return (
                f"te.select({self.test(depth - 1)}, {self.index(extent, depth - 1)}, {self.index(extent, depth - 1)})"
            )
        if kind == 3:
            return f"({number} & {(1 << c.integer(0, bits)) - 1}){convert}"
        if kind == 4:
            operator = c.pick(["^", "|", "&"])
            return f"({self.index(1 << bits, depth - 1)} {operator} {self.index(1 << bits, depth - 1)})"
        if kind == 5:
            shift = c.integer(0, 3)
            return f"({self.index(extent << shift, depth - 1)} >> {shift})"
        if kind == 6:
            return f"te.min(te.max({self.axes_sum()}, 0), {extent - 1})"
        if kind == 7:
            return f"te.floormod({self.axes_sum()}, {extent})"
        if kind == 8:
            return f"({extent - 1} - {self.index(extent, depth - 1)})"
        return f"te.floormod({number}, {extent}){convert}"

    def axes_sum(self) -> str:
        """A sum of axes and constants, that may be negative."""
        c = self.choices
        terms = [f"i{d} * {c.integer(1, 9)}" for d in range(len(self.shape)) if c.chance(70)] + [str(c.integer(0, 20))]
        text = f" {c.pick(['+', '-'])} ".join(terms)
        if c.chance(40):
            text = f"te.{c.pick(['floordiv', 'floormod'])}({text}, {c.integer(2, 7)}) * {c.integer(1, 3)} - {c.integer(0, 5)}"
        return text

    # Expressions.

    def test(self, depth: int) -> str:
        return self.expression("bool", depth)

    def leaf(self, dtype: str) -> str:
        c = self.choices
        kind = c.integer(0, 5)
        if kind <= 2:
            at = [f"i{d}" for d in range(len(self.shape))]
        elif kind == 3:
            at = [self.index(extent, 2, is_part=False) for extent in self.shape]
        elif dtype == "bool":
            return f"(i{c.integer(0, len(self.shape) - 1)} < {c.integer(0, 9)})"
        elif kind == 4:
            return f'i{c.integer(0, len(self.shape) - 1)}.astype("{dtype}")'
        else:
            low = 0 if dtype in UNSIGNED else -5
            return f'te.const({c.integer(low, 9)}, "{dtype}")'
        return f"{self.placeholder(dtype)}[{', '.join(at)}]"

    def expression(self, dtype: str, depth: int) -> str:
        c = self.choices
        if depth <= 0 or c.chance(10):
            return self.leaf(dtype)
        kind = c.integer(0, 9)
        if kind == 0:
            choose = c.pick(["select", "if_then_else"])
            return f"te.{choose}({self.test(depth - 1)}, {self.expression(dtype, depth - 1)}, {self.expression(dtype, depth - 1)})"
        if kind == 1:
            return self.cast(dtype, depth - 1)
        if dtype == "bool":
            return self.bool_expression(depth)
        a, b = self.expression(dtype, depth - 1), self.expression(dtype, depth - 1)
        if dtype in FLOATS:
            constant = c.pick(["2.0", "0.5", "4.0"])
            return c.pick([
                f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"te.max({a}, {b})", f"te.min({a}, {b})", f"(-{a})",
                f"te.abs({a})", f"te.floor({a})", f"({a} / {constant})",
            ])  # fmt: skip
        bits = int(dtype.lstrip("uint"))
        divisor = c.pick([f"(({b} & 3) + 1)", str(c.pick([1, 2, 3, 5, 8, 16, 100]))])
        if dtype in SIGNED and c.chance(20):
            divisor = str(c.pick([-2, -3, -8]))
        return c.pick([
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"te.floordiv({a}, {divisor})", f"te.floormod({a}, {divisor})",
            f"te.truncdiv({a}, {divisor})", f"te.truncmod({a}, {divisor})", f"({a} & {b})", f"({a} | {b})", f"({a} ^ {b})",
            f"({a} << ({b} & {bits - 1}))", f"({a} >> ({b} & {bits - 1}))", f"(~{a})", f"(-{a})", f"te.abs({a})",
            f"te.min({a}, {b})", f"te.max({a}, {b})", f"te.popcount({a})",
        ])  # fmt: skip

    def bool_expression(self, depth: int) -> str:
        c = self.choices
        dtype = c.pick(DTYPES[:-1])
        a, b = self.expression(dtype, depth - 1), self.expression(dtype, depth - 1)
        p, q = self.test(depth - 1), self.test(depth - 1)
        return c.pick([
            *(f"({a} {operator} {b})" for operator in ("<", "<=", ">", ">=", "==", "!=")),
            f"({p} == {q})", f"({p} != {q})", f"te.all({p}, {q})", f"te.any({p}, {q})", f"({p} ^ {q})", f"(~{p})", f"({p} & {q})", f"({p} | {q})",
        ])  # fmt: skip

    def cast(self, dtype: str, depth: int) -> str:
        """From any type; from a float what the integers have."""
        given = self.choices.pick(DTYPES)
        if given in FLOATS and dtype in INTEGERS:
            return f'te.min(te.max({self.leaf(given)}, {0 if dtype in UNSIGNED else -4}), 4).astype("{dtype}")'
        if given in FLOATS and dtype == "bool":
            return f"({self.leaf(given)} > 0)"
        return f'{self.expression(given, depth)}.astype("{dtype}")'


def numpy_type(dtype: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def random_expressions(choices: Choices, seed: int) -> tuple[Expressions, Tensor | tuple[Tensor, ...]]:
    """A program of one stage, or of a stage that is reduced by another."""
    shape = tuple(choices.pick([5, 8, 16, 3, 33]) for _ in range(choices.integer(1, 2)))
    p = Expressions(choices, np.random.default_rng(seed), shape=shape)
    names = []
    for d, extent in enumerate(shape):
        is_symbol = choices.chance(15)
        names.append(f"n{d}" if is_symbol else str(extent))
        if is_symbol:
            p.define(f'n{d} = te.var("n{d}")')
    p.extents = tuple(names)
    dtype, axes = choices.pick(DTYPES), ", ".join(f"i{d}" for d in range(len(shape)))
    body = p.expression(dtype, choices.integer(1, 4))
    if not p.inputs:  # which say what a symbol is
        p.extents = tuple(str(own) for own in shape)
    extents = "".join(f"{extent}, " for extent in p.extents)
    made = p.define(f'T = te.compute(({extents}), lambda {axes}: {body}, name="T")')
    if choices.chance(25) and dtype not in ("bool", *FLOATS):
        p.define(f'k = te.reduce_axis((0, {p.extents[-1]}), "k")')
        outer = ", ".join(f"i{d}" for d in range(len(shape) - 1)) or "z"
        at = ", ".join([*(f"i{d}" for d in range(len(shape) - 1)), "k"])
        function = choices.pick(["sum", "max", "min"])
        extents = "".join(f"{extent}, " for extent in p.extents[:-1]) or "1,"
        made = p.define(f'U = te.compute(({extents}), lambda {outer}: te.{function}(T[{at}], axis=k), name="U")')
    return p, made


def random_schedule(choices: Choices, made: Tensor) -> Schedule:
    """Threads for each stage; sometimes vectors, and copies of the inputs in shared memory."""
    s = te.create_schedule(made.op)
    stages = [made] if made.name == "T" else [made.op.input_tensors[0], made]
    if len(stages) == 2 and choices.chance(50):
        s[stages.pop(0)].compute_inline()
    for tensor in stages:
        axes = list(tensor.op.axis)
        axis = s[tensor].fuse(*axes) if len(axes) > 1 else axes[0]
        if choices.chance(20) and not tensor.op.reduce_axis:
            axis, lanes = s[tensor].split(axis, factor=choices.pick([2, 4, 8]))
            s[tensor].vectorize(lanes) if choices.chance(50) else s[tensor].unroll(lanes)
        outer, inner = s[tensor].split(axis, factor=choices.pick(THREADS))
        s[tensor].bind(outer, te.thread_axis("blockIdx.x"))
        s[tensor].bind(inner, te.thread_axis("threadIdx.x"))
    return s


def arguments(program: Expressions, made: Tensor) -> tuple[list[Tensor], list[NDArray[Any]]]:
    """All tensors of the program, and its data with a poisoned output."""
    shape = program.shape if made.name == "T" else program.shape[:-1] or (1,)
    out = np.full(int(np.prod(shape)) * numpy_type(made.dtype).itemsize, 1, np.uint8)
    return [*program.inputs, made], [*program.data, out.view(numpy_type(made.dtype)).reshape(shape)]


def is_same(got: NDArray[Any], expected: NDArray[Any]) -> bool:
    """Equal numbers, or both not a number."""
    if got.dtype.kind in "biu":
        return bool((got == expected).all())
    a, b = got.astype(np.float64), expected.astype(np.float64)
    return bool(((a == b) | (np.isnan(a) & np.isnan(b))).all())


Programs = Sequence[tuple[str, Expressions, Tensor, Schedule]]
