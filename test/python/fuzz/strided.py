"""A program's arguments with strides: views of larger arrays, in any order of dimensions and with any gaps."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import tilewright as tw
from fuzz.program import Program
from tilewright import te
from tilewright.te import Schedule

POISON = 85  # of the bytes that are no argument's


class Views:
    """Which strides each argument of a program has."""

    def __init__(self, program: Program, choose: random.Random) -> None:
        self.program, self.choose = program, choose
        values = program.inputs + program.outputs
        self.holders = [self._holder(value) for value in values]
        self.args = [te.strided(value.tensor, self._strides(held)) for value, (held, _) in zip(values, self.holders)]

    def _holder(self, value: Any) -> tuple[np.ndarray, np.ndarray]:
        """An array of that shape, and the larger one that it is a part of."""
        shape = [int(extent) for extent in value.shape]
        order = list(range(len(shape)))
        kind = self.choose.choice(("rows", "rows", "any", "plain"))
        if kind == "any":
            self.choose.shuffle(order)
        steps = [self.choose.choice((1, 1, 2)) if kind == "any" else 1 for _ in shape]
        more = [self.choose.choice((0, 1, 4)) if kind != "plain" else 0 for _ in shape]
        extents = [shape[dim] * steps[dim] + more[dim] for dim in order]
        dtype = tw.runtime.ndarray.as_dtype(value.dtype)
        raw = np.full(int(np.prod(extents)) * dtype.itemsize + 16, POISON, "uint8")
        whole = raw[-raw.ctypes.data % 16 :][: int(np.prod(extents)) * dtype.itemsize].view(dtype).reshape(extents)
        view = whole.transpose(np.argsort(order)) if order else whole
        return view[tuple(slice(0, shape[d] * steps[d], steps[d]) for d in range(len(shape)))], raw

    def _strides(self, held: np.ndarray) -> list[Any]:
        """Numbers, symbols of what divides them, or nothing."""
        found: list[Any] = []
        for dim, step in enumerate(held.strides):
            number = step // held.itemsize
            divisor = next(d for d in (8, 4, 2, 1) if number % d == 0)
            symbol = te.var(f"s{dim}", divisible_by=divisor)
            found.append(self.choose.choice((number, symbol, None)) if held.shape[dim] > 1 else None)
            if number == 1 and self.choose.random() < 0.8:
                found[-1] = 1
        return found

    def check(self, schedule: Schedule, target: str) -> None:
        """Raises AssertionError where a result is wrong or anything beside it was written."""
        function = tw.build(schedule, self.args, target=target, name="fuzzed")
        before = []
        for value, (held, raw) in zip(self.program.inputs + self.program.outputs, self.holders):
            raw[:] = POISON
            if value in self.program.inputs:
                held[...] = value.exact.astype(held.dtype)
            before.append(raw.copy())
        function(*(held for held, _ in self.holders))
        count = len(self.program.inputs)
        for value, (held, raw), was in zip(self.program.outputs, self.holders[count:], before[count:]):
            np.testing.assert_array_equal(held.astype(np.float64), value.exact, err_msg=f"{value.name} on {target}")
            poison = held.view(f"uint{8 * held.itemsize}")  # numbers, of which no byte changes
            poison[...] = was[: held.itemsize].view(poison.dtype)[0]
            assert (raw == was).all(), f"memory beside {value.name} was written to"
        for value, (_, raw), was in zip(self.program.inputs, self.holders, before):
            assert (raw == was).all(), f"{value.name} was written to"
