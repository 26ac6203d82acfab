"""Random programs, and the kinds of stages that they are made of.

Each kind adds one stage or more to the program, or nothing where it does not fit.
"""

from __future__ import annotations

import math

import numpy as np

from fuzz.choices import Choices
from fuzz.extents import ceildiv
from fuzz.gathers import folded, gather
from fuzz.language import DTYPES, LARGEST
from fuzz.program import Program, Value, at_of, axes_of, bounded
from fuzz.recurrences import recurrence, recurrence_of_stages, recurrence_of_states
from fuzz.scripts import script
from fuzz.typed import integers, narrow, tests


def elementwise(p: Program) -> bool:
    x = p.any_value(may_be_empty=True)
    assert x is not None
    c = p.choices
    at, least = at_of(x, axes_of(len(x.shape))), 0 if x.is_unsigned else -1
    body = c.pick([
        f"{at} + {c.integer(1, 3)}", f"{at} * {c.integer(2, 3)} - 1", f"maximum({at}, {c.integer(least, 2)})",
        f"where({at} > 0, {at}, {at} * 2)", f"absolute({at})", f'cast({at}, "{c.pick(DTYPES)}")',
    ])  # fmt: skip
    return p.compute(x.shape, body, [x])


def binary(p: Program) -> bool:
    """Another tensor is read along some of the axes: a broadcast, a diagonal or a part of it."""
    x, y = p.any_value(), p.any_value()
    if x is None or y is None:
        return False
    indices = []
    for extent in y.shape:
        fits = [f"i{d}" for d, own in enumerate(x.shape) if own <= extent]
        indices.append(p.choices.pick([*fits, str(p.choices.integer(0, extent - 1))]))
    a, b = at_of(x, axes_of(len(x.shape))), at_of(y, indices, x.dtype)
    body = p.choices.pick(
        [f"{a} + {b}", f"{a} - {b}", f"maximum({a}, {b})", f"{a} * {b}", f"where({a} < {b}, {b}, {a})"]
    )
    return p.compute(x.shape, body, [x, y])


def stencil(p: Program) -> bool:
    x = p.any_value(may_be_empty=True)
    assert x is not None
    radius = [p.choices.integer(0, 2) for _ in x.shape]
    offsets = [[p.choices.integer(0, r) for r in radius] for _ in range(p.choices.integer(1, 3))]
    reads = [at_of(x, [f"i{d} + {o}" if o else f"i{d}" for d, o in enumerate(offset)]) for offset in offsets]
    return p.compute([n - r for n, r in zip(x.shape, radius)], " + ".join(reads), [x])


def moved(p: Program) -> bool:
    """A transposition, a reversal, every other element, a reshape, or padding."""
    x = p.any_value()
    if x is None or not x.shape:
        return False
    c, rank = p.choices, len(x.shape)
    kind = c.integer(0, 4)
    if kind == 0:
        order = c.shuffled(range(rank))
        at = [f"i{order.index(d)}" for d in range(rank)]
        return p.compute([x.shape[d] for d in order], at_of(x, at), [x])
    d = c.integer(0, rank - 1)
    at, shape = axes_of(rank), list(x.shape)
    if kind == 1:
        at[d] = f"{shape[d] - 1} - i{d}"
        return p.compute(shape, at_of(x, at), [x])
    if kind == 2:
        step = c.integer(2, 3)
        at[d], shape[d] = f"i{d} * {step}", ceildiv(shape[d], step)
        return p.compute(shape, at_of(x, at), [x])
    if kind == 3 and rank == 2:
        return p.compute([math.prod(shape)], at_of(x, [f"i0 // {shape[1]}", f"i0 % {shape[1]}"]), [x])
    before, after = c.integer(0, 2), c.integer(0, 2)
    n, at[d] = shape[d], f"i{d} - {before}" if before else f"i{d}"
    shape[d] += before + after
    test = f"both(i{d} >= {before}, i{d} < {n + before})"
    return p.compute(
        shape, f'if_then_else({test}, {at_of(x, at)}, cast({c.integer(0, 1)} + 0 * {_zero(x)}, "{x.dtype}"))', [x]
    )


def _zero(x: Value) -> str:
    return at_of(x, ["0"] * len(x.shape))


def reduction(p: Program) -> bool:
    """Of some axes, or of all of them to an array without dimensions, or to a few elements that are the same."""
    x = p.any_value(may_be_empty=True)
    if x is None or not x.shape:
        return False
    c, rank = p.choices, len(x.shape)
    over = c.some(range(rank)) or [rank - 1]
    kept = [d for d in range(rank) if d not in over]
    shape = [x.shape[d] for d in kept] or ([] if c.chance(40) else [c.integer(1, 3)])
    kinds = ["total", "product"] if x.is_empty else ["total", "largest", "least", "product"]
    order = c.shuffled(range(len(over)))  # of the reduction's axes
    at = [f"k{order.index(over.index(d))}" if d in over else f"i{kept.index(d)}" for d in range(rank)]
    body = f"{c.pick(kinds)}({at_of(x, at)}, axes)"
    return p.compute(shape, body, [x], [x.shape[over[o]] for o in order])


def first_largest(p: Program) -> bool:
    x = p.any_value()
    if x is None or len(x.shape) < 2:
        return False
    d = p.choices.integer(0, len(x.shape) - 1)
    at = axes_of(len(x.shape) - 1)
    at.insert(d, "k0")
    shape = [n for e, n in enumerate(x.shape) if e != d]
    return p.compute(shape, f"first_largest((k0, {at_of(x, at)}), axes)", [x], [x.shape[d]])


def moments(p: Program) -> bool:
    """Two sums at once."""
    x = p.any_value()
    if x is None or len(x.shape) < 2:
        return False
    x = bounded(p, x)
    at = at_of(x, [*axes_of(len(x.shape) - 1), "k0"])
    wide = f'cast({at}, "{p.choices.pick(["float32", "int32", "int64"])}")'
    return p.compute(x.shape[:-1], f"two_totals(({at}, {wide} * {wide}), axes)", [x], [x.shape[-1]])


def matmul(p: Program) -> bool:
    x, y = p.any_value(rank=2, may_be_empty=True), p.any_value(rank=2, may_be_empty=True)
    if x is None or y is None:
        return False
    x, y = bounded(p, x), bounded(p, y)
    if p.choices.chance(50):
        y = p.placeholder((x.shape[1], p.choices.integer(1, 20)), x.dtype)
    transposed = p.choices.chance(30)
    length = min(x.shape[1], y.shape[1 if transposed else 0])
    wide = p.choices.pick(["float32", "float64", "int32"])
    b = at_of(y, ["i1", "k0"] if transposed else ["k0", "i1"], wide)
    body = f"total({at_of(x, ['i0', 'k0'], wide)} * {b}, axes)"
    return p.compute([x.shape[0], y.shape[0 if transposed else 1]], body, [x, y], [length])


def batch_matmul(p: Program) -> bool:
    x = p.any_value(rank=3)
    if x is None:
        return False
    x = bounded(p, x)
    y = p.placeholder((x.shape[0], x.shape[2], p.choices.integer(1, 9)), x.dtype)
    wide = p.choices.pick(["float32", "float64", "int32"])
    body = f"total({at_of(x, ['i0', 'i1', 'k0'], wide)} * {at_of(y, ['i0', 'k0', 'i2'], wide)}, axes)"
    return p.compute([*x.shape[:2], y.shape[2]], body, [x, y], [x.shape[2]])


def convolution(p: Program) -> bool:
    """2-D, padded, with a stride, of a tensor with channels."""
    c = p.choices
    x = p.any_value(rank=3) or p.placeholder(
        [c.integer(1, 4), c.integer(3, 9), c.integer(3, 9)], c.pick(["float32", "int32"])
    )
    x = bounded(p, x)
    if x.dtype not in ("float32", "int32", "float64"):
        return False
    pad, stride, window, filters = c.integer(0, 2), c.integer(1, 2), c.integer(1, 3), c.integer(1, 6)
    channels, height, width = x.shape
    if pad:
        test = f"both(i1 >= {pad}, i1 < {height + pad}, i2 >= {pad}, i2 < {width + pad})"
        body = (
            f'if_then_else({test}, {at_of(x, ["i0", f"i1 - {pad}", f"i2 - {pad}"])}, cast(0 * {_zero(x)}, "{x.dtype}"))'
        )
        if not p.compute((channels, height + 2 * pad, width + 2 * pad), body, [x]):
            return False
        x = p.computed[-1]
    w = p.placeholder((filters, channels, window, window), x.dtype)
    at = at_of(
        x,
        ["k0", f"i1 * {stride} + k1" if stride > 1 else "i1 + k1", f"i2 * {stride} + k2" if stride > 1 else "i2 + k2"],
    )
    shape = [filters, *((n - window) // stride + 1 for n in x.shape[1:])]
    return p.compute(
        shape, f"total({at} * {at_of(w, ['i0', 'k0', 'k1', 'k2'])}, axes)", [x, w], [channels, window, window]
    )


def normalized(p: Program) -> bool:
    """Rows without their largest element, divided into their sum: the stages of a softmax, in integers."""
    x = p.any_value(rank=2)
    if x is None or not p.compute([x.shape[0]], f"largest({at_of(x, ['i0', 'k0'])}, axes)", [x], [x.shape[1]]):
        return False
    m = p.computed[-1]
    if not p.compute(x.shape, f"{at_of(x, ['i0', 'i1'])} - {at_of(m, ['i0'])}", [x, m]):
        return False
    e = p.computed[-1]
    if not p.compute([x.shape[0]], f"total({at_of(e, ['i0', 'k0'])}, axes)", [e], [x.shape[1]]):
        return False
    t = p.computed[-1]
    return p.compute(x.shape, f"{at_of(e, ['i0', 'i1'])} * 2 - {at_of(t, ['i0'])}", [e, t])


def pair(p: Program) -> bool:
    x = p.any_value(may_be_empty=True)
    assert x is not None
    at = at_of(x, axes_of(len(x.shape)))
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
    tests,
    narrow,
    integers,
    recurrence_of_states,
    script,
)


def random_program(choices: Choices, *, on_threads: bool = True) -> Program:
    """One to four stages more or less, from one or two inputs, odd extents and all; scripts on threads or without."""
    program = Program(choices, np.random.default_rng(choices.integer(0, 9)), on_threads=on_threads)
    for _ in range(choices.integer(1, 2)):
        rank = choices.integer(1, 3) if not choices.chance(4) else 0
        most = (200, 200, 24, 9)[rank]
        shape: list[int] = [choices.integer(1, most) for _ in range(rank)]
        # Some that numbers divide, some that are 0, and some that are not known before the program is called.
        shape = [choices.pick([n for n in (4, 8, 16, 32) if n <= most]) if choices.chance(20) else n for n in shape]
        shape = [0 if choices.chance(2) else n for n in shape]
        shape = [program.symbol(n) if choices.chance(8) else n for n in shape]
        dtype = choices.pick(DTYPES)
        program.placeholder(shape, dtype, LARGEST[dtype] // choices.integer(1, 9) if choices.chance(8) else 3)
    wanted = choices.integer(1, 4)
    for _ in range(12):
        if len(program.computed) >= wanted:
            break
        kind = choices.pick(KINDS)
        if kind(program):
            program.kinds.append(kind.__name__)
    if not program.computed:
        x = program.inputs[0]
        program.compute(x.shape, f"minimum({at_of(x, axes_of(len(x.shape)))}, 1) + 1", [x])
    outputs = {value.tensor.op for value in program.computed if not value.is_read}
    outputs |= {op for value in program.computed if (op := value.tensor.op) in outputs or choices.chance(8)}
    program.outputs = [value for value in program.computed if value.tensor.op in outputs]
    program.inputs = [value for value in program.inputs if value.is_read]
    return program
