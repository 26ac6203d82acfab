"""A random program. Each compute is one line of text that is read twice: by te, and by NumPy in float64.

The data are integers, small ones most of the time, and each value's magnitude is kept where its type holds all
integers, whatever the order of summation. A right result is therefore equal to the exact one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.choices import Choices
from fuzz.extents import Extent
from fuzz.language import DTYPES, IN_NUMPY, IN_TE, Exact, Inexact, holds, two_totals
from tilewright.te import Tensor

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
        return int(np.abs(self.exact).max(initial=0))

    @property
    def is_unsigned(self) -> bool:
        return self.dtype.startswith("uint")

    @property
    def is_empty(self) -> bool:
        return 0 in self.shape


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
    on_threads: bool = True
    """Scripts say themselves where they run: on threads of a GPU, else on a processor."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def args(self) -> list[Tensor]:
        return [value.tensor for value in self.inputs + self.outputs]

    def arrays(self) -> list[NDArray[Any]]:
        return [np.asarray(value.exact.astype(value.dtype)) for value in self.inputs]

    # Building blocks.

    def symbol(self, value: int) -> Extent:
        """An extent that is known when the program is called, and no earlier; what divides it and its least may be."""
        c, name = self.choices, f"n{len(self.symbols)}"
        divisors = [d for d in (1, 2, 3, 4, 8) if value % d == 0]
        divisor, least = c.pick(divisors), c.pick([0, 1, value] if value else [0])
        options = f", divisible_by={divisor}" * (divisor > 1) + f", min={least}" * (least > 0)
        extent = Extent(value, name, divisor)
        self.symbols[name] = extent, self._define(name, f'te.var("{name}"{options})', {})
        return extent

    def placeholder(self, shape: Sequence[int], dtype: str, largest: int = 3) -> Value:
        name = f"A{len(self.inputs)}"
        tensor = self._define(name, f'te.placeholder({tuple(shape)}, name="{name}", dtype="{dtype}")', {})
        least = 0 if dtype.startswith("uint") or dtype == "bool" else -largest
        exact = self.rng.integers(least, largest, [int(n) for n in shape], endpoint=True)
        value = Value(name, tensor, np.asarray(exact, np.float64), tuple(shape))
        self.inputs.append(value)
        return value

    def _define(self, name: str, text: str, names: dict[str, Any]) -> Any:
        """Adds a line, and runs it."""
        self.lines.append(f"{name} = {text}")
        return eval(text, {**self.in_te(), **names})

    def in_te(self) -> dict[str, Any]:
        return {**IN_TE, **{name: variable for name, (_, variable) in self.symbols.items()}}

    def in_numpy(self) -> dict[str, Any]:
        return {**IN_NUMPY, **{name: int(value) for name, (value, _) in self.symbols.items()}}

    def compute(self, shape: Sequence[int], body: str, reads: Sequence[Value], reduce: Sequence[int] = ()) -> bool:
        """Adds a stage where all that it computes is exact; `body` is text over i0, i1, …, and k0, k1, … as `axes`."""
        name, extents = self.fresh_name(), (*shape, *reduce)
        least = 0 if any(value.is_empty for value in reads) else 1
        if math.prod(shape) > MAX_ELEMENTS or math.prod(extents) > MAX_WORK or min(extents, default=1) < least:
            return False
        grid = np.indices([int(n) for n in extents], dtype=np.float64, sparse=True)
        axes = [f"i{d}" for d in range(len(shape))] + [f"k{d}" for d in range(len(reduce))]
        scope: dict[str, Any] = {
            **self.in_numpy(),
            **dict(zip(axes, grid)),
            "axes": tuple(range(len(shape), len(extents))),
        }
        scope.update({value.name: value.exact.view(Exact) for value in reads})
        # Of a reduction, the parts in any order: what the sum of magnitudes is within, they are.
        magnitudes = {**scope, "total": lambda value, axes: np.abs(value).sum(axis=axes)}
        magnitudes["two_totals"] = lambda pair, axes: two_totals([np.abs(one) for one in pair], axes)
        magnitudes["product"] = lambda value, axes: np.maximum(np.abs(value), 1).prod(axis=axes)
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # of what is too large then
                exact, most = eval(body, scope), eval(body, magnitudes)
        except Inexact:
            return False
        several = isinstance(exact, tuple)
        exacts = [
            np.broadcast_to(np.asarray(one, np.float64), shape).copy() for one in (exact if several else (exact,))
        ]
        makes = [f'{k} = te.reduce_axis((0, {extent}), "{k}")' for k, extent in zip(axes[len(shape) :], reduce)]
        line = f'{name} = te.compute({tuple(shape)}, lambda {", ".join(axes[: len(shape)])}: {body}, name="{name}")'
        names = {**self.in_te(), **{value.name: value.tensor for value in reads}}
        for make in makes:
            exec(make, names)
        names["axes"] = [names[k] for k in axes[len(shape) :]]
        exec(line, names)
        made = names[name] if several else (names[name],)
        for tensor, one, largest in zip(made, exacts, most if several else (most,)):
            if not (holds(one, tensor.dtype) and holds(largest, tensor.dtype)):
                return False
        self.lines += makes + ([f"axes = [{', '.join(axes[len(shape) :])}]"] if makes else []) + [line]
        self.made(name, made, exacts, [tuple(shape)] * len(made), reads)
        return True

    def fresh_name(self) -> str:
        """Of the next stage: one that no stage has."""
        return f"T{len(self.computed)}"

    def made(
        self, name: str, tensors: Sequence[Tensor], exacts: Sequence[NDArray[np.float64]],
        shapes: Sequence[tuple[int, ...]], reads: Sequence[Value],
    ) -> None:  # fmt: skip
        """What a stage made, whose lines are there: a tensor of its name, or several."""
        names = [f"{name}_{n}" for n in range(len(tensors))] if len(tensors) > 1 else [name]
        if len(tensors) > 1:
            self.lines.append(f"{', '.join(names)} = {name}")
        for value in reads:
            value.is_read = True
        for one, tensor, exact, shape in zip(names, tensors, exacts, shapes):
            self.computed.append(Value(one, tensor, exact, shape))

    def run(self, lines: Sequence[str], x: Value) -> dict[str, Any]:
        """Adds lines that read a value, and gives the names that they made."""
        names = {**self.in_te(), x.name: x.tensor}
        for line in lines:
            exec(line, names)
        self.lines += lines
        return names

    def any_value(self, *, rank: int | None = None, may_be_empty: bool = False) -> Value | None:
        """One of the tensors of numbers so far, more often a late one; one without elements only where it may be."""
        found = [
            value
            for value in self.computed[::-1] + self.inputs[::-1]
            if value not in self.indices and value.dtype in DTYPES and (rank is None or len(value.shape) == rank)
            if may_be_empty or not value.is_empty
        ]
        return self.choices.pick(found) if found else None


def at_of(value: Value, indices: Sequence[str], dtype: str | None = None) -> str:
    """The text of an element, converted to a type."""
    read = f"{value.name}[{', '.join(indices) or '()'}]"
    return read if dtype in (None, value.dtype) else f'cast({read}, "{dtype}")'


def axes_of(rank: int) -> list[str]:
    """The names of a stage's own axes."""
    return [f"i{d}" for d in range(rank)]


def bounded(program: Program, value: Value) -> Value:
    """A value small enough to be multiplied and summed: clipped by a stage of its own where it is not."""
    if value.bound <= 8:
        return value
    at = at_of(value, axes_of(len(value.shape)))
    body = f"minimum({at}, 4)" if value.is_unsigned else f"maximum(minimum({at}, 4), -4)"
    return program.computed[-1] if program.compute(value.shape, body, [value]) else value
