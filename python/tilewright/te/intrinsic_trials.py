"""The numbers that an intrinsic is tried with, and how far what is computed of them may be from what is described."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .intrinsic_check import Argument, Description

__all__ = ["Trials"]

# Of functions of mathematics and of sums in another order.
_TOLERANCES = {
    "float8_e5m2": 0.3,
    "float8_e4m3fn": 0.15,
    "bfloat16": 3e-2,
    "float16": 1e-2,
    "float32": 1e-4,
    "float64": 1e-9,
}
# Of sums and products of positive numbers alone, which cancel nothing.
_CLOSE = {"float32": 1e-5, "float64": 1e-13}
# Small numbers times two to this are large ones whose products are in the type's range, and as exact as they.
_LARGE = {"float64": 30, "float32": 20, "bfloat16": 20, "float16": 4, "float8_e5m2": 4, "float8_e4m3fn": 2}
# Of functions of mathematics: beyond, processors differ in the last digits of what is computed of so large a number.
_LARGE_OF_MATH = 6


class Trials:
    """Numbers that tell apart what computes something else: in its range, in how it rounds, at infinities."""

    def __init__(self, description: Description) -> None:
        import numpy

        self.description = description
        self.random: numpy.random.Generator = numpy.random.default_rng(0)

    def kinds(self) -> list[str]:
        dtypes = {one.dtype for one in self.description.inputs}
        kinds = ["small", "small", "large", "large"]
        if self.description.literals and self.description.combine != "multiply":
            kinds += ["literal", "literal"]
        if any("float" in dtype for dtype in dtypes):
            kinds += ["precise", "short"]
            # What an infinity is as an integer nothing says; the narrowest types have none.
            if not self.description.makes_integers and not any(dtype.startswith("float8") for dtype in dtypes):
                kinds.append("special")
        return kinds

    def elements(self, tensor: Argument, trial: str) -> Any:
        import numpy

        return numpy.asarray(self._values(tensor, trial))  # for NumPy makes scalars of arrays without dimensions

    def _values(self, tensor: Argument, trial: str) -> Any:
        import numpy

        from ..dtypes import as_dtype

        dtype, shape = tensor.dtype, tensor.shape
        if dtype == "bool":
            return self.random.integers(0, 2, shape).astype(bool)
        if trial == "literal":
            return self._with_literals(self.elements(tensor, "small"), dtype)
        small = self.random.integers(0 if dtype.startswith("uint") else -3, 4, shape)
        if "float" not in dtype:
            kind = as_dtype(dtype)
            if trial != "large":
                return small.astype(kind)
            least, most = numpy.iinfo(kind).min, numpy.iinfo(kind).max
            values = self.random.integers(least, most, shape, dtype=kind, endpoint=True)
            edges = numpy.array([least, least + 1, 0, 1, 100, 101, most - 1, most], kind)
            return numpy.where(self.random.integers(0, 4, shape) == 0, self.random.choice(edges, shape), values)
        # Sums of such numbers are exact in any order.
        values = small * 0.5
        if self.description.combine == "multiply":
            # A product of many would be 0, or an infinity in one order and, with a 0, no number in another: most are
            # 1 or -1.
            units = numpy.where(small < 0, -1.0, 1.0)
            values = numpy.where(self.random.integers(0, self.description.terms, shape) == 0, values, units)
        elif trial == "large" and not self.description.makes_integers:
            most = _LARGE_OF_MATH if self.description.has_math else 99
            values = values * 2.0 ** min(most, _LARGE[dtype])
        elif trial == "precise":
            values = self.random.uniform(1, 2, shape)
        elif trial == "short":
            # What types of 11 bits or less round to 1, all in one direction.
            values = numpy.full(shape, 1 + 2.0**-11 - 2.0**-20)
        elif trial == "special":
            specials = self.random.choice([numpy.inf, -numpy.inf, numpy.nan], shape)
            values = numpy.where(self.random.integers(0, 8, shape) == 0, specials, values)
        return values.astype(as_dtype(dtype))

    def _with_literals(self, values: Any, dtype: str) -> Any:
        """Every other element one of the numbers that the functions have, or one beside it: a choice may hang on it."""
        import numpy

        is_float = "float" in dtype
        # Sums stay as exact as those of large numbers, and integers of floats what the type holds.
        most = 2.0 ** _LARGE[dtype] if is_float and self.description.terms > 1 else math.inf
        most = min(most, 100) if self.description.makes_integers else most
        near: list[Any] = []
        for number in self.description.literals:
            if is_float:
                exact = numpy.asarray(number).astype(values.dtype)
                near += [n for n in (exact, exact * 2, exact / 2) if numpy.isfinite(n)]
            else:
                bounds = numpy.iinfo(values.dtype)
                # MLIR's numbers have no signs: what is negative may stand for a large one.
                around = [n + more for n in range(int(number) - 1, int(number) + 2) for more in (0, 1 << bounds.bits)]
                near += [n for n in around if bounds.min <= n <= bounds.max]
        chosen = [n for n in near if abs(float(n)) <= most]
        if not chosen:
            return values
        picked = self.random.choice(numpy.array(chosen, values.dtype), values.shape)
        return numpy.where(self.random.integers(0, 2, values.shape) == 0, picked, values).astype(values.dtype)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]

    def difference(self, mine: Any, theirs: Any, dtype: str, trial: str) -> tuple[int, ...] | None:
        """Where two arrays differ by more than rounding, or nothing."""
        import numpy

        if "float" not in dtype:
            same = mine == theirs
        else:
            tolerance = _TOLERANCES[dtype]
            if trial in ("precise", "short") and not self.description.has_math:
                tolerance = _CLOSE.get(dtype, tolerance) * max(1, self.description.terms / 64)
            a, b = mine.astype("float64"), theirs.astype("float64")
            finite = numpy.abs(b[numpy.isfinite(b)])
            scale = max(1.0, float(finite.max())) if finite.size else 1.0
            same = numpy.isclose(a, b, tolerance, tolerance * scale, equal_nan=True)
        if same.all():
            return None
        return tuple(int(index) for index in numpy.argwhere(~same)[0])
