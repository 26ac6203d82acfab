"""Kinds of stages of types that have little arithmetic, bool and the floats of 8 bits, and of integers' own operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.language import LARGEST, holds
from fuzz.program import at_of, axes_of, bounded

if TYPE_CHECKING:
    from fuzz.program import Program, Value

NARROW = ("float8_e4m3fn", "float8_e5m2")


def _test(p: Program, x: Value) -> str:
    """The text of a condition on an element of `x`."""
    c = p.choices
    at, number = at_of(x, axes_of(len(x.shape))), c.integer(0, 3)
    return c.pick([f"{at} {operator} {number}" for operator in (">", "<", ">=", "<=", "==", "!=")])


def tests(p: Program) -> bool:
    """A stage of bool, what is true of any or all along an axis, and a stage that reads it."""
    x = p.any_value()
    if x is None:
        return False
    c, axes = p.choices, axes_of(len(x.shape))
    test = _test(p, x)
    if c.chance(50):
        test = f"{c.pick(['both', 'either'])}({test}, {c.pick([_test(p, x), *(f'{i} < {c.integer(0, 9)}' for i in axes)])})"
    if c.chance(30):
        test = f"negated({test})"
    read = [x]
    if c.chance(25):
        mask = p.placeholder(x.shape, "bool", 1)
        p.indices.append(mask)
        test = f"{c.pick(['both', 'either'])}({test}, {at_of(mask, axes)})"
        read.append(mask)
    if not p.compute(x.shape, test, read):
        return False
    mask = p.computed[-1]
    if len(x.shape) > 1 and c.chance(40):  # of rows
        body = f"{c.pick(['largest', 'least'])}({at_of(mask, [*axes[:-1], 'k0'])}, axes)"
        if p.compute(x.shape[:-1], body, [mask], [x.shape[-1]]):
            mask, axes = p.computed[-1], axes[:-1]
    if c.chance(15):
        return True  # for its own sake
    own, at = at_of(x, axes_of(len(x.shape))), at_of(mask, axes)
    body = c.pick([f"where({at}, {own}, {own} - {own})", f'{own} + cast({at}, "{x.dtype}")',
                   f"if_then_else(negated({at}), {own} + 1, {own})"])  # fmt: skip
    return p.compute(x.shape, body, [x, mask])


def narrow(p: Program) -> bool:
    """A stage of floats of 8 bits, and one that computes with them in a wider type; a product of matrices, too."""
    c, dtype = p.choices, p.choices.pick(NARROW)
    x = p.any_value()
    if x is None:
        return False
    if len(x.shape) == 2 and c.chance(40):
        x = bounded(p, x)
        y = p.placeholder((x.shape[1], c.integer(1, 20)), dtype)
        p.indices.append(y)
        body = f"total({at_of(x, ['i0', 'k0'], 'float32')} * {at_of(y, ['k0', 'i1'], 'float32')}, axes)"
        return p.compute((x.shape[0], y.shape[1]), body, [x, y], [x.shape[1]])
    axes = axes_of(len(x.shape))
    clipped = f"minimum({at_of(x, axes)}, {LARGEST[dtype]})"
    if not x.is_unsigned:
        clipped = f"maximum({clipped}, {-LARGEST[dtype]})"
    if not p.compute(x.shape, f'cast({clipped}, "{dtype}")', [x]):
        return False
    y, wide = p.computed[-1], c.pick(["float32", "float16", "int32", "float64", "bfloat16"])
    return c.chance(15) or p.compute(x.shape, f"{at_of(y, axes, wide)} * {c.integer(1, 3)} + 1", [y])


def integers(p: Program) -> bool:
    """Divisions, bits and shifts of integers, of negative ones too."""
    x = p.any_value()
    if x is None or "float" in x.dtype:
        return False
    c, at, is_signed = p.choices, at_of(x, axes_of(len(x.shape))), not x.is_unsigned
    divisor = c.pick([2, 3, 5, 7, 8, 16, 100, *([-2, -3, -8] if is_signed else [])])
    mask, shift = c.pick([1, 3, 6, 15, 127]), c.integer(0, 6)
    body = c.pick([
        *(f"{name}({at}, {divisor})" for name in ("floordiv", "floormod", "truncdiv", "truncmod")),
        f"floordiv({at} * 2 + 1, {abs(divisor)})", f"floormod({at} + 1, {abs(divisor)}) * {c.integer(1, 3)}",
        *(f"{name}({at}, {mask})" for name in ("bits_and", "bits_or", "bits_xor")),
        f"shifted_right({at}, {shift})", f"shifted_left({at}, {min(shift, 2)})", f"bits_and(shifted_right({at}, {shift}), 1)",
        *([f"bits_not({at})", f"absolute(truncmod({at}, {divisor}))"] if is_signed else []),
    ])  # fmt: skip
    # What a division makes small again is to be exact before.
    before = 2 * x.exact + 1 if "* 2 + 1" in body else x.exact + 1 if f"{at} + 1" in body else x.exact
    return holds(before, x.dtype) and p.compute(x.shape, body, [x])
