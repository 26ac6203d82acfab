"""Kinds of stages that are scans: of one state and of two, and with a reduction of the state in each step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzz.language import LARGEST, Exact, holds
from fuzz.program import MAX_ELEMENTS, MAX_WORK, at_of, axes_of

if TYPE_CHECKING:
    from fuzz.program import Program, Value


@dataclass
class State:
    """One state of a scan over the first axis: `update` is text over i0, i1, … and the states, which are `S` and `Q`.

    `update` may read `P`, a stage that is `reduced` in each step, over k0, which is as long as the last axis of `x`; or
    it is such a reduction itself.
    """

    letter: str
    update: str
    rank: int
    reduced: str | None = None
    is_reduction: bool = False


def _scan(p: Program, x: Value, states: list[State], first: int = 1) -> bool:
    """Adds a scan, which `first` elements of `x` begin, or the first of the rows of them."""
    n, shape = len(p.computed), x.shape
    has_work = any(state.reduced or state.is_reduction for state in states)
    if math.prod(shape) > MAX_ELEMENTS or shape[0] < first:
        return False
    if math.prod(shape) * (shape[-1] if has_work else 1) > MAX_WORK:
        return False
    exacts, most = _exact(p.in_numpy(), states, x, first)
    if most * 4 > LARGEST[x.dtype] or not all(holds(exact, x.dtype) for exact in exacts):
        return False

    def own(text: str) -> str:
        for letter in "SQP":
            text = text.replace(f"{letter}[", f"{letter}{n}[")
        return text

    lines, name = [], f"T{n}"
    if has_work:
        lines += [f'k0 = te.reduce_axis((0, {shape[-1]}), "k0")', "axes = [k0]"]
    for state in states:
        lines.append(
            f'{state.letter}{n} = te.placeholder({shape[: state.rank]}, name="{state.letter}{n}", dtype="{x.dtype}")'
        )
    for state in states:
        own_shape, axes, letter = shape[: state.rank], axes_of(state.rank), state.letter
        at = ", ".join(axes)
        begin = at_of(x, [*axes, *["0"] * (len(shape) - state.rank)])
        lines.append(
            f'{name}b{letter} = te.compute({(first, *own_shape[1:])}, lambda {at}: {begin}, name="{name}b{letter}")'
        )
        if state.reduced:
            lines.append(f'P{n} = te.compute({own_shape}, lambda {at}: {own(state.reduced)}, name="{name}p")')
        lines.append(
            f'{name}u{letter} = te.compute({own_shape}, lambda {at}: {own(state.update)}, name="{name}u{letter}")'
        )
    parts = ["b", "u"]
    given = [f"[{', '.join(f'{name}{part}{state.letter}' for state in states)}]" for part in parts]
    given.append(f"[{', '.join(f'{state.letter}{n}' for state in states)}]")
    several = len(states) > 1
    text = ", ".join(given if several else [one[1:-1] for one in given])
    lines.append(f'{name} = te.scan({text}, name="{name}")')
    made = p.run(lines, x)[name]
    tensors = made if several else [made]
    p.made(name, tensors, exacts, [tuple(shape[: state.rank]) for state in states], [x])
    return True


def _exact(names: dict[str, Any], states: list[State], x: Value, first: int) -> tuple[list[np.ndarray], float]:
    """The states of all steps, and the largest magnitude that there is on the way."""
    data, found = x.exact, {state.letter: np.full(x.exact.shape[: state.rank], np.nan) for state in states}
    for state in states:
        found[state.letter][:first] = data[
            (slice(first), *[slice(None)] * (state.rank - 1), *[0] * (data.ndim - state.rank))
        ]
    most = float(np.abs(data).max())

    def grid(state: State, step: int, *rows: int) -> dict[str, Any]:
        """The axes of a state in a step, and those of a reduction over rows of it."""
        made = np.indices((1, *data.shape[1 : state.rank], *rows), dtype=np.float64, sparse=True)
        reduced = {"k0": made[-1], "axes": (state.rank,)} if rows else {}
        return {**dict(zip(axes_of(state.rank), made)), **reduced, "i0": made[0] + step}

    for step in range(first, data.shape[0]):
        values = {**names, **{letter: state.view(Exact) for letter, state in found.items()}, x.name: data.view(Exact)}
        for state in states:
            extents, rows = data.shape[1 : state.rank], data.shape[-1:]
            if state.reduced or state.is_reduction:
                most = max(most, float(np.abs(found["S"][step - 1]).max()) * data.shape[-1])
            if state.reduced:
                stage = np.full(data.shape[: state.rank], np.nan)
                stage[step] = np.broadcast_to(
                    eval(state.reduced, {**values, **grid(state, step, *rows)}), (1, *extents)
                )[0]
                values["P"] = stage.view(Exact)
            at = grid(state, step, *(rows if state.is_reduction else ()))
            found[state.letter][step] = np.broadcast_to(eval(state.update, {**values, **at}), (1, *extents))[0]
            most = max(most, float(np.abs(found[state.letter][step]).max()))
    return list(found.values()), most


def _before(letter: str, axes: list[str], lag: int = 1) -> str:
    return f"{letter}[{', '.join([f'i0 - {lag}', *axes[1:]])}]"


def recurrence(p: Program) -> bool:
    """A scan of the first or second order, with an axis beside its own."""
    x = p.any_value(rank=2) or p.any_value(rank=3)
    if x is None:
        return False
    axes = axes_of(len(x.shape))
    at, before, earlier = at_of(x, axes), _before("S", axes), _before("S", axes, 2)
    first = p.choices.integer(1, 2)
    bodies = [f"{before} + {at}", f"maximum({before}, {at})", f"where({at} > 0, {before} + 1, {at})"]
    update = p.choices.pick([*bodies, f"{at} - {earlier}"] if first == 2 else bodies)
    return _scan(p, x, [State("S", update, len(axes))], first)


def recurrence_of_stages(p: Program) -> bool:
    """A scan whose steps reduce the state before them, in a stage of its own."""
    x = p.any_value(rank=2) or p.any_value(rank=3)
    if x is None or x.bound > 64 or x.is_unsigned:
        return False
    axes, c = axes_of(len(x.shape)), p.choices
    read, own = _before("S", [*axes[:-1], "k0"]), _before("S", axes)
    at, stage = at_of(x, axes), f"P[{', '.join(axes)}]"
    reduced = c.pick([f"total({read}, axes)", f"largest({read}, axes)", f"least({read}, axes)"])
    update = c.pick([
        f"maximum(minimum({stage} + {at}, 4), -4)", f"where({stage} > {own}, {at}, {own})",
        f"maximum(minimum({at} - {stage}, 3), -5)",
    ])  # fmt: skip
    return _scan(p, x, [State("S", update, len(axes), reduced)])


def recurrence_of_states(p: Program) -> bool:
    """A scan of two states, each of which reads both: of one shape, or the second reduces the rows of the first."""
    x = p.any_value(rank=2) or p.any_value(rank=3)
    if x is None or x.bound > 64 or x.is_unsigned:
        return False
    axes, c = axes_of(len(x.shape)), p.choices
    at, own = at_of(x, axes), _before("S", axes)
    clipped = "maximum(minimum({} + {}, 4), -4)"
    if c.chance(50):
        other = _before("Q", axes)
        first = c.pick([clipped.format(own, other), f"where({other} > 0, {at}, {own})", f"maximum({own}, {other})"])
        second = c.pick([clipped.format(at, own), f"minimum({other}, {at})", other])
        return _scan(p, x, [State("S", first, len(axes)), State("Q", second, len(axes))])
    other, read = _before("Q", axes[:-1]), _before("S", [*axes[:-1], "k0"])
    first = c.pick([clipped.format(at, other), f"where({at} > {other}, {own}, {at})"])
    second = f"{c.pick(['largest', 'least'])}({read}, axes)"
    return _scan(p, x, [State("S", first, len(axes)), State("Q", second, len(axes) - 1, is_reduction=True)])
