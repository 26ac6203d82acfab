"""Random programs. Each compute is one line of text that is read twice: by te, and by NumPy in float64.

The data are small integers, and each value's magnitude is kept where its type holds all integers, whatever the order of
summation. A right result is therefore equal to the exact one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.choices import Choices
from fuzz.extents import Extent, ceildiv
from fuzz.gathers import folded, gather
from fuzz.language import IN_NUMPY, IN_TE, Exact, two_totals
from fuzz.recurrences import exact_scan, recurrence, recurrence_of_stages
from tilewright.te import Tensor

# All integers up to here, and no further, are numbers of the type.
LARGEST = {
    "float32": 2**24, "float64": 2**53, "float16": 2**11, "int32": 2**31 - 1, "int8": 127, "int64": 2**53,
    "bfloat16": 2**8, "int16": 2**15 - 1,
}  # fmt: skip
DTYPES = tuple(LARGEST)
MAX_ELEMENTS, MAX_WORK = 800, 12000


@dataclass
class Value:
    """A tensor of a program: its exact values, and whether another reads it."""

    name: str
    tensor: Tensor
    exact: NDArray[np.float64]
    shape: tuple[int, ...]
    is_read: bool = False

    @property
    def dtype(self) -> str:
        return self.tensor.dtype

    @property
    def bound(self) -> int:
        return int(np.abs(self.exact).max())


@dataclass
class Program:
    """Tensors, one made of the others. `text` is the Python that makes them."""

    choices: Choices
    rng: np.random.Generator
    lines: list[str] = field(default_factory=list)
    inputs: list[Value] = field(default_factory=list)
    computed: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    indices: list[Value] = field(default_factory=list)  # inputs that only indices are made of
    kinds: list[str] = field(default_factory=list)  # of the stages
    symbols: dict[str, tuple[Extent, Any]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def args(self) -> list[Tensor]:
        return [value.tensor for value in self.inputs + self.outputs]

    def arrays(self) -> list[NDArray[Any]]:
        return [value.exact.astype(value.dtype) for value in self.inputs]

    # Building blocks.

    def symbol(self, value: int) -> Extent:
        """An extent that is known when the program is called, and no earlier; what divides it and its least may be."""
        c, name = self.choices, f"n{len(self.symbols)}"
        divisors = [d for d in (1, 2, 3, 4, 8) if value % d == 0]
        divisor, least = c.pick(divisors), c.pick([0, 1, value])
        options = f", divisible_by={divisor}" * (divisor > 1) + f", min={least}" * (least > 0)
        extent = Extent(value, name, divisor)
        self.symbols[name] = extent, self._define(name, f'te.var("{name}"{options})', {})
        return extent

    def placeholder(self, shape: Sequence[int], dtype: str, largest: int = 3) -> Value:
        name = f"A{len(self.inputs)}"
        tensor = self._define(name, f'te.placeholder({tuple(shape)}, name="{name}", dtype="{dtype}")', {})
        exact = self.rng.integers(-largest, largest, [int(n) for n in shape], endpoint=True).astype(np.float64)
        value = Value(name, tensor, exact, tuple(shape))
        self.inputs.append(value)
        return value

    def _define(self, name: str, text: str, names: dict[str, Any]) -> Any:
        """Adds a line, and runs it."""
        self.lines.append(f"{name} = {text}")
        return eval(text, {**self._in_te(), **names})

    def _in_te(self) -> dict[str, Any]:
        return {**IN_TE, **{name: variable for name, (_, variable) in self.symbols.items()}}

    def _in_numpy(self) -> dict[str, Any]:
        return {**IN_NUMPY, **{name: int(value) for name, (value, _) in self.symbols.items()}}

    def compute(self, shape: Sequence[int], body: str, reads: Sequence[Value], reduce: Sequence[int] = ()) -> bool:
        """Adds a stage where all that it computes is exact; `body` is text over i0, i1, …, and k0, k1, … as `axes`."""
        name, extents = f"T{len(self.computed)}", (*shape, *reduce)
        if math.prod(shape) > MAX_ELEMENTS or math.prod(extents) > MAX_WORK or min(extents, default=1) < 1:
            return False
        grid = np.indices([int(n) for n in extents], dtype=np.float64, sparse=True)
        axes = [f"i{d}" for d in range(len(shape))] + [f"k{d}" for d in range(len(reduce))]
        scope: dict[str, Any] = {
            **self._in_numpy(),
            **dict(zip(axes, grid)),
            "axes": tuple(range(len(shape), len(extents))),
        }
        scope.update({value.name: value.exact.view(Exact) for value in reads})
        # Of a reduction, the parts in any order: what the sum of magnitudes is within, they are.
        magnitudes = {**scope, "total": lambda value, axes: np.abs(value).sum(axis=axes)}
        magnitudes["two_totals"] = lambda pair, axes: two_totals([np.abs(one) for one in pair], axes)
        magnitudes["product"] = lambda value, axes: np.maximum(np.abs(value), 1).prod(axis=axes)
        exact, most = eval(body, scope), eval(body, magnitudes)
        several = isinstance(exact, tuple)
        exacts = [
            np.broadcast_to(np.asarray(one, np.float64), shape).copy() for one in (exact if several else (exact,))
        ]
        makes = [f'{k} = te.reduce_axis((0, {extent}), "{k}")' for k, extent in zip(axes[len(shape) :], reduce)]
        line = f'{name} = te.compute({tuple(shape)}, lambda {", ".join(axes[: len(shape)])}: {body}, name="{name}")'
        names = {**self._in_te(), **{value.name: value.tensor for value in reads}}
        for make in makes:
            exec(make, names)
        names["axes"] = [names[k] for k in axes[len(shape) :]]
        exec(line, names)
        made = names[name] if several else (names[name],)
        for tensor, one in zip(made, most if several else (most,)):
            if np.abs(one).max() > LARGEST[tensor.dtype]:
                return False
        self.lines += makes + ([f"axes = [{', '.join(axes[len(shape) :])}]"] if makes else []) + [line]
        for value in reads:
            value.is_read = True
        for n, (tensor, one) in enumerate(zip(made, exacts)):
            self.computed.append(Value(f"{name}[{n}]" if several else name, tensor, one, tuple(shape)))
        return True

    def scan(self, body: str, x: Value, first: int, reduced: str | None = None) -> bool:
        """Adds a scan over the first axis; `body` is text over i0, i1, … and the state `S`, `first` elements begin it.
        It may read `P`, a stage that is `reduced` in each step, over k0, which is as long as the last axis."""
        shape, n = x.shape, len(self.computed)
        begin, update, name, state, stage = f"T{n}b", f"T{n}u", f"T{n}", f"S{n}", f"T{n}p"
        work = math.prod(shape) * (shape[-1] if reduced else 1)
        if math.prod(shape) > MAX_ELEMENTS or work > MAX_WORK or shape[0] < first:
            return False
        exact, most = exact_scan(self._in_numpy(), body, x.exact, x.name, first, reduced)
        if most * 4 > LARGEST[x.dtype]:
            return False
        at = ", ".join(_axes(len(shape)))
        own, inner = (text and text.replace("S[", f"{state}[") for text in (body, reduced))
        stages = [
            f'k0 = te.reduce_axis((0, {shape[-1]}), "k0")', "axes = [k0]",
            f'{stage} = te.compute({shape}, lambda {at}: {inner}, name="{stage}")',
        ] if reduced else []  # fmt: skip
        lines = [
            f'{state} = te.placeholder({shape}, name="{state}", dtype="{x.dtype}")',
            f'{begin} = te.compute({(first, *shape[1:])}, lambda {at}: {_at(x, _axes(len(shape)))}, name="{begin}")',
            *stages,
            f'{update} = te.compute({shape}, lambda {at}: {own.replace("P[", f"{stage}[")}, name="{update}")',
            f'{name} = te.scan({begin}, {update}, {state}, name="{name}")',
        ]
        names = {**self._in_te(), x.name: x.tensor}
        for line in lines:
            exec(line, names)
        self.lines += lines
        x.is_read = True
        self.computed.append(Value(name, names[name], exact, tuple(shape)))
        return True

    def any_value(self, *, rank: int | None = None) -> Value | None:
        """One of the tensors so far, more often a late one."""
        found = [
            value
            for value in self.computed[::-1] + self.inputs[::-1]
            if "[" not in value.name and value not in self.indices and (rank is None or len(value.shape) == rank)
        ]
        return self.choices.pick(found) if found else None


def _at(value: Value, indices: Sequence[str], dtype: str | None = None) -> str:
    read = f"{value.name}[{', '.join(indices)}]"
    return read if dtype in (None, value.dtype) else f'cast({read}, "{dtype}")'


def _axes(rank: int, letter: str = "i") -> list[str]:
    return [f"{letter}{d}" for d in range(rank)]


def _bounded(program: Program, value: Value) -> Value:
    """A value small enough to be multiplied and summed: clipped by a stage of its own where it is not."""
    if value.bound <= 8:
        return value
    body = f"maximum(minimum({_at(value, _axes(len(value.shape)))}, 4), -4)"
    return program.computed[-1] if program.compute(value.shape, body, [value]) else value


# Kinds of stages. Each adds one or more to the program, or nothing where it does not fit.


def elementwise(p: Program) -> bool:
    x = p.any_value()
    assert x is not None
    c = p.choices
    at = _at(x, _axes(len(x.shape)))
    body = c.pick([
        f"{at} + {c.integer(1, 3)}", f"{at} * {c.integer(2, 3)} - 1", f"maximum({at}, {c.integer(-1, 2)})",
        f"where({at} > 0, {at}, {at} * 2)", f"absolute({at})", f'cast({at}, "{c.pick(DTYPES)}")',
    ])  # fmt: skip
    return p.compute(x.shape, body, [x])


def binary(p: Program) -> bool:
    """Another tensor is read along some of the axes: a broadcast, a diagonal or a part of it."""
    x, y = p.any_value(), p.any_value()
    assert x is not None and y is not None
    indices = []
    for extent in y.shape:
        fits = [f"i{d}" for d, own in enumerate(x.shape) if own <= extent]
        indices.append(p.choices.pick([*fits, str(p.choices.integer(0, extent - 1))]))
    a, b = _at(x, _axes(len(x.shape))), _at(y, indices, x.dtype)
    body = p.choices.pick(
        [f"{a} + {b}", f"{a} - {b}", f"maximum({a}, {b})", f"{a} * {b}", f"where({a} < {b}, {b}, {a})"]
    )
    return p.compute(x.shape, body, [x, y])


def stencil(p: Program) -> bool:
    x = p.any_value()
    assert x is not None
    radius = [p.choices.integer(0, 2) for _ in x.shape]
    offsets = [[p.choices.integer(0, r) for r in radius] for _ in range(p.choices.integer(1, 3))]
    reads = [_at(x, [f"i{d} + {o}" if o else f"i{d}" for d, o in enumerate(offset)]) for offset in offsets]
    return p.compute([n - r for n, r in zip(x.shape, radius)], " + ".join(reads), [x])


def moved(p: Program) -> bool:
    """A transposition, a reversal, every other element, a reshape, or padding."""
    x = p.any_value()
    assert x is not None
    c, rank = p.choices, len(x.shape)
    kind = c.integer(0, 4)
    if kind == 0:
        order = c.shuffled(range(rank))
        at = [f"i{order.index(d)}" for d in range(rank)]
        return p.compute([x.shape[d] for d in order], _at(x, at), [x])
    d = c.integer(0, rank - 1)
    at, shape = _axes(rank), list(x.shape)
    if kind == 1:
        at[d] = f"{shape[d] - 1} - i{d}"
        return p.compute(shape, _at(x, at), [x])
    if kind == 2:
        step = c.integer(2, 3)
        at[d], shape[d] = f"i{d} * {step}", ceildiv(shape[d], step)
        return p.compute(shape, _at(x, at), [x])
    if kind == 3 and rank == 2:
        return p.compute([math.prod(shape)], _at(x, [f"i0 // {shape[1]}", f"i0 % {shape[1]}"]), [x])
    before, after = c.integer(0, 2), c.integer(0, 2)
    n, at[d] = shape[d], f"i{d} - {before}" if before else f"i{d}"
    shape[d] += before + after
    test = f"both(i{d} >= {before}, i{d} < {n + before})"
    return p.compute(
        shape, f'if_then_else({test}, {_at(x, at)}, cast({c.integer(0, 1)} + 0 * {_zero(x)}, "{x.dtype}"))', [x]
    )


def _zero(x: Value) -> str:
    return _at(x, ["0"] * len(x.shape))


def reduction(p: Program) -> bool:
    x = p.any_value()
    assert x is not None
    c, rank = p.choices, len(x.shape)
    over = c.some(range(rank)) or [rank - 1]
    kept = [d for d in range(rank) if d not in over]
    shape = [x.shape[d] for d in kept] or [c.integer(1, 3)]
    order = c.shuffled(range(len(over)))  # of the reduction's axes
    at = [f"k{order.index(over.index(d))}" if d in over else f"i{kept.index(d)}" for d in range(rank)]
    body = f"{c.pick(['total', 'largest', 'least', 'product'])}({_at(x, at)}, axes)"
    return p.compute(shape, body, [x], [x.shape[over[o]] for o in order])


def first_largest(p: Program) -> bool:
    x = p.any_value()
    if x is None or len(x.shape) < 2:
        return False
    d = p.choices.integer(0, len(x.shape) - 1)
    at = _axes(len(x.shape) - 1)
    at.insert(d, "k0")
    shape = [n for e, n in enumerate(x.shape) if e != d]
    return p.compute(shape, f"first_largest((k0, {_at(x, at)}), axes)", [x], [x.shape[d]])


def moments(p: Program) -> bool:
    """Two sums at once."""
    x = p.any_value()
    if x is None or len(x.shape) < 2:
        return False
    x = _bounded(p, x)
    at = _at(x, [*_axes(len(x.shape) - 1), "k0"])
    wide = f'cast({at}, "{p.choices.pick(["float32", "int32", "int64"])}")'
    return p.compute(x.shape[:-1], f"two_totals(({at}, {wide} * {wide}), axes)", [x], [x.shape[-1]])


def matmul(p: Program) -> bool:
    x, y = p.any_value(rank=2), p.any_value(rank=2)
    if x is None or y is None:
        return False
    x, y = _bounded(p, x), _bounded(p, y)
    if p.choices.chance(50):
        y = p.placeholder((x.shape[1], p.choices.integer(1, 20)), x.dtype)
    transposed = p.choices.chance(30)
    length = min(x.shape[1], y.shape[1 if transposed else 0])
    wide = p.choices.pick(["float32", "float64", "int32"])
    b = _at(y, ["i1", "k0"] if transposed else ["k0", "i1"], wide)
    body = f"total({_at(x, ['i0', 'k0'], wide)} * {b}, axes)"
    return p.compute([x.shape[0], y.shape[0 if transposed else 1]], body, [x, y], [length])


def batch_matmul(p: Program) -> bool:
    x = p.any_value(rank=3)
    if x is None:
        return False
    x = _bounded(p, x)
    y = p.placeholder((x.shape[0], x.shape[2], p.choices.integer(1, 9)), x.dtype)
    wide = p.choices.pick(["float32", "float64", "int32"])
    body = f"total({_at(x, ['i0', 'i1', 'k0'], wide)} * {_at(y, ['i0', 'k0', 'i2'], wide)}, axes)"
    return p.compute([*x.shape[:2], y.shape[2]], body, [x, y], [x.shape[2]])


def convolution(p: Program) -> bool:
    """2-D, padded, with a stride, of a tensor with channels."""
    c = p.choices
    x = p.any_value(rank=3) or p.placeholder(
        [c.integer(1, 4), c.integer(3, 9), c.integer(3, 9)], c.pick(["float32", "int32"])
    )
    x = _bounded(p, x)
    if x.dtype not in ("float32", "int32", "float64"):
        return False
    pad, stride, window, filters = c.integer(0, 2), c.integer(1, 2), c.integer(1, 3), c.integer(1, 6)
    channels, height, width = x.shape
    if pad:
        test = f"both(i1 >= {pad}, i1 < {height + pad}, i2 >= {pad}, i2 < {width + pad})"
        body = (
            f'if_then_else({test}, {_at(x, ["i0", f"i1 - {pad}", f"i2 - {pad}"])}, cast(0 * {_zero(x)}, "{x.dtype}"))'
        )
        if not p.compute((channels, height + 2 * pad, width + 2 * pad), body, [x]):
            return False
        x = p.computed[-1]
    w = p.placeholder((filters, channels, window, window), x.dtype)
    at = _at(
        x,
        ["k0", f"i1 * {stride} + k1" if stride > 1 else "i1 + k1", f"i2 * {stride} + k2" if stride > 1 else "i2 + k2"],
    )
    shape = [filters, *((n - window) // stride + 1 for n in x.shape[1:])]
    return p.compute(
        shape, f"total({at} * {_at(w, ['i0', 'k0', 'k1', 'k2'])}, axes)", [x, w], [channels, window, window]
    )


def normalized(p: Program) -> bool:
    """Rows without their largest element, divided into their sum: the stages of a softmax, in integers."""
    x = p.any_value(rank=2)
    if x is None or not p.compute([x.shape[0]], f"largest({_at(x, ['i0', 'k0'])}, axes)", [x], [x.shape[1]]):
        return False
    m = p.computed[-1]
    if not p.compute(x.shape, f"{_at(x, ['i0', 'i1'])} - {_at(m, ['i0'])}", [x, m]):
        return False
    e = p.computed[-1]
    if not p.compute([x.shape[0]], f"total({_at(e, ['i0', 'k0'])}, axes)", [e], [x.shape[1]]):
        return False
    t = p.computed[-1]
    return p.compute(x.shape, f"{_at(e, ['i0', 'i1'])} * 2 - {_at(t, ['i0'])}", [e, t])


def pair(p: Program) -> bool:
    x = p.any_value()
    assert x is not None
    at = _at(x, _axes(len(x.shape)))
    return p.compute(x.shape, f'({at} + 1, cast({at}, "{p.choices.pick(DTYPES)}"))', [x])


KINDS = (
    elementwise,
    reduction,
    matmul,
    stencil,
    binary,
    convolution,
    moved,
    normalized,
    first_largest,
    moments,
    batch_matmul,
    recurrence,
    pair,
    gather,
    folded,
    recurrence_of_stages,
)


def random_program(choices: Choices) -> Program:
    """One to four stages more or less, from one or two inputs, odd extents and all."""
    program = Program(choices, np.random.default_rng(choices.integer(0, 9)))
    for _ in range(choices.integer(1, 2)):
        rank = choices.integer(1, 3)
        most = (200, 24, 9)[rank - 1]
        shape: list[int] = [choices.integer(1, most) for _ in range(rank)]
        # Some that numbers divide, and some that are not known before the program is called.
        shape = [choices.pick([n for n in (4, 8, 16, 32) if n <= most]) if choices.chance(20) else n for n in shape]
        shape = [program.symbol(n) if choices.chance(8) else n for n in shape]
        program.placeholder(shape, choices.pick(DTYPES))
    wanted = choices.integer(1, 4)
    for _ in range(12):
        if len(program.computed) >= wanted:
            break
        kind = choices.pick(KINDS)
        if kind(program):
            program.kinds.append(kind.__name__)
    if not program.computed:
        at = _axes(len(program.inputs[0].shape))
        program.compute(program.inputs[0].shape, f"{_at(program.inputs[0], at)} + 1", [program.inputs[0]])
    outputs = {value.tensor.op for value in program.computed if not value.is_read}
    outputs |= {op for value in program.computed if (op := value.tensor.op) in outputs or choices.chance(8)}
    program.outputs = [value for value in program.computed if value.tensor.op in outputs]
    program.inputs = [value for value in program.inputs if value.is_read]
    return program
