"""Kinds of stages that are scans: of one stage, and with a reduction of the state in each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fuzz.language import Exact

if TYPE_CHECKING:
    from fuzz.programs import Program


def _axes(rank: int) -> list[str]:
    return [f"i{d}" for d in range(rank)]


def recurrence(p: Program) -> bool:
    """A scan of the first or second order, with an axis beside its own."""
    x = p.any_value(rank=2) or p.any_value(rank=3)
    if x is None:
        return False
    axes = _axes(len(x.shape))
    at, before, earlier = (
        f"{x.name}[{', '.join(axes)}]",
        *(f"S[{', '.join([f'i0 - {lag}', *axes[1:]])}]" for lag in (1, 2)),
    )
    first = p.choices.integer(1, 2)
    bodies = [f"{before} + {at}", f"maximum({before}, {at})", f"where({at} > 0, {before} + 1, {at})"]
    return p.scan(p.choices.pick([*bodies, f"{at} - {earlier}"] if first == 2 else bodies), x, first)


def recurrence_of_stages(p: Program) -> bool:
    """A scan whose steps reduce the state before them, in a stage of its own."""
    x = p.any_value(rank=2) or p.any_value(rank=3)
    if x is None or x.bound > 64:
        return False
    axes, c = _axes(len(x.shape)), p.choices
    read = f"S[{', '.join(['i0 - 1', *axes[1:-1], 'k0'])}]"
    own = f"S[{', '.join(['i0 - 1', *axes[1:]])}]"
    at, stage = f"{x.name}[{', '.join(axes)}]", f"P[{', '.join(axes)}]"
    reduced = c.pick([f"total({read}, axes)", f"largest({read}, axes)", f"least({read}, axes)"])
    update = c.pick([
        f"maximum(minimum({stage} + {at}, 4), -4)", f"where({stage} > {own}, {at}, {own})",
        f"maximum(minimum({at} - {stage}, 3), -5)",
    ])  # fmt: skip
    return p.scan(update, x, 1, reduced)


def exact_scan(
    names: dict[str, Any], update: str, x: np.ndarray, name: str, first: int, reduced: str | None
) -> tuple[np.ndarray, float]:
    """All states of a scan over the first axis of `x`, and the largest magnitude that there is on the way."""
    state = np.full(x.shape, np.nan)
    state[:first] = x[:first]
    axes, most = _axes(x.ndim), float(np.abs(x).max())

    def grid(extents: tuple[int, ...], step: int) -> dict[str, Any]:
        made = np.indices((1, *extents), dtype=np.float64, sparse=True)
        return {"i0": np.full((1,) * (len(extents) + 1), float(step)), **dict(zip([*axes[1:], "k0"], made[1:]))}

    for step in range(first, x.shape[0]):
        values = {**names, "S": state.view(Exact), name: x.view(Exact)}
        if reduced is not None:
            inner = grid((*x.shape[1:], x.shape[-1]), step)
            stage = np.full(x.shape, np.nan)
            stage[step] = np.broadcast_to(eval(reduced, {**values, **inner, "axes": (x.ndim,)}), (1, *x.shape[1:]))[0]
            most = max(most, float(np.abs(state[step - 1]).max()) * x.shape[-1])
            values["P"] = stage.view(Exact)
        state[step] = eval(update, {**values, **grid(x.shape[1:], step)})[0]
        most = max(most, float(np.abs(state[step]).max()))
    return state, most
