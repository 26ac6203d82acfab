"""Random arguments for a program, which can be made smaller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .runs import Array

if TYPE_CHECKING:
    from ..runtime import Signature

__all__ = ["Inputs"]


def least(symbol: Any, wanted: int) -> int:
    """The first value of a symbol from `wanted` on."""
    unit = symbol.divisible_by
    value = -(-max(wanted, symbol.minimum or 0) // unit) * unit
    return value if symbol.maximum is None else min(value, symbol.maximum // unit * unit)


def _random(argument: Any, shape: Sequence[int], rng: np.random.Generator, low: int) -> Array:
    """Small numbers, whose sums are exact in any order."""
    from ..dtypes import as_dtype

    dtype = as_dtype(argument.dtype)
    if argument.dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    least = 0 if argument.dtype.startswith("uint") else low
    return rng.integers(least, 4, shape).astype(dtype)


class Inputs:
    """Arguments that can be made smaller: the values of symbols, and arrays."""

    signature: Signature
    seed: int
    low: int
    given: Sequence[Any] | None
    values: dict[str, int]
    arrays: list[Array]

    def __init__(self, signature: Signature, seed: int, given: Sequence[Any] | None, low: int = -3) -> None:
        from ..runtime.arguments import Symbol

        self.signature, self.seed, self.low, self.given = signature, seed, low, given
        self.symbols: dict[str, Any] = {}
        for argument in signature.arguments:
            for extent in argument.shape:
                if isinstance(extent, Symbol):
                    self.symbols.setdefault(extent.name, extent)
        self.values = {name: least(symbol, 5 + 6 * i) for i, (name, symbol) in enumerate(self.symbols.items())}
        self.arrays = self.make(self.values)

    def make(self, values: Mapping[str, int]) -> list[Array]:
        from ..dtypes import as_dtype

        rng = np.random.default_rng(self.seed)
        made: list[Array] = []
        rest = iter(self.given or ())
        for argument in self.signature.arguments:
            shape = [extent if isinstance(extent, int) else values[extent.name] for extent in argument.shape]
            if argument.output:
                made.append(_poisoned(shape, argument.dtype))
            elif self.given is not None:
                made.append(np.asarray(next(rest), as_dtype(argument.dtype)))
            elif argument.is_number:
                value = values[argument.shape[0].name] if argument.shape else rng.integers(1, 4)  # type: ignore[union-attr]
                made.append(np.asarray(value, as_dtype(argument.dtype)))
            else:
                made.append(_random(argument, shape, rng, self.low))
        if self.given is not None:
            known: dict[str, int] = {}
            for argument, array in zip(self.signature.arguments, made):
                if not argument.output:
                    sizes = [int(array)] if argument.is_number else array.shape
                    known.update((one.name, n) for one, n in zip(argument.shape, sizes) if not isinstance(one, int))
            for at, argument in enumerate(self.signature.arguments):
                if argument.output:
                    shape = [extent if isinstance(extent, int) else known[extent.name] for extent in argument.shape]
                    made[at] = _poisoned(shape, argument.dtype)
        return made

    def named(self) -> dict[str, Any]:
        return {
            argument.name: array.item() if argument.is_number else array
            for argument, array in zip(self.signature.arguments, self.arrays)
            if not argument.output
        }


def _poisoned(shape: Sequence[int], dtype: str) -> Array:
    from ..dtypes import as_dtype
    from .comparison import poisoned

    return poisoned(tuple(shape), as_dtype(dtype))
