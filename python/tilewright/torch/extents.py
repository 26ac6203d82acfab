"""Sizes of PyTorch, numbers and expressions of symbols, as te's extents."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from torch.fx import GraphModule
from torch.utils._sympy.symbol import SymT, symbol_is_type

from .. import te
from ..errors import CompileError
from ..graph import GraphBuilder, Value
from ..graph.numbers import number_of
from ..te import Expr, Var

__all__ = ["Extents", "SymbolicFloat", "factors_of", "guards_of", "is_decided_by_data", "is_loose"]


@dataclass(frozen=True, slots=True)
class SymbolicFloat:
    """A float that is computed of symbolic sizes, as sympy's expression; `Call.constant` makes a tensor of it."""

    expr: Any


def factors_of(size: Any) -> list[Any]:
    """The symbols and numbers of sympy whose product a size is; of another expression nothing."""
    if not isinstance(size, torch.SymInt):
        return []
    found: list[Any] = []
    for base, exponent in cast(dict[Any, Any], size.node.expr.as_powers_dict()).items():
        if not (base.is_Symbol or base.is_Integer) or not exponent.is_Integer or exponent < 1:
            return []
        found += [base] * int(exponent)
    return sorted(found, key=lambda one: bool(one.is_number))


def is_decided_by_data(symbol: Any) -> bool:
    """Whether a symbol of sympy is a number that PyTorch's tracing has taken from a tensor's elements."""
    return bool(symbol.is_Symbol) and symbol_is_type(symbol, SymT.UNBACKED_INT)


def is_loose(value: Any, inputs: Sequence[Any]) -> bool:
    """Whether an input is a number that is a symbol, and no tensor among the inputs has the symbol as an extent."""
    if not isinstance(value, torch.SymInt) or not value.node.expr.is_Symbol:
        return False
    sizes = (size for one in inputs if isinstance(one, torch.Tensor) for size in one.shape)
    return all(value.node.expr not in factors_of(size) for size in sizes)


def _shape_env_of(module: GraphModule) -> Any:
    """What TorchDynamo knows of the symbols of a module of FX; None of one without symbols."""
    for node in module.graph.nodes:
        value = node.meta.get("val")
        for size in value.shape if isinstance(value, torch.Tensor) else (value,):
            if isinstance(size, torch.SymInt):
                return cast(Any, size).node.shape_env
    return None


def guards_of(module: GraphModule) -> list[Any]:
    """What TorchDynamo has found of the sizes of a module of FX, expressions of sympy that each call has to fulfil."""
    env = _shape_env_of(module)
    # Where PyTorch has one symbol for two already, no size has the other one.
    return [] if env is None else [env.replace(guard.expr) for guard in env.guards]


def bounds_of(module: GraphModule) -> dict[str, tuple[int, int | None, int]]:
    """By symbol of a module that TorchDynamo has traced, how small it may be, and how large; then what divides it.

    A call where an extent is 0 or 1 is another module's: there it is a number.
    """
    env = _shape_env_of(module)
    ranges: dict[Any, Any] = {} if env is None else env.var_to_range
    is_counted = {one: not is_decided_by_data(one) and bool(ranges[one].lower > 0) for one in ranges}
    return {str(one): (int(is_it), None, 1) for one, is_it in is_counted.items()}


class Extents:
    """The symbols of a graph: by their names there, te's variables."""

    def __init__(
        self, names: Mapping[str, str] | None = None, bounds: Mapping[str, tuple[int, int | None, int]] | None = None,
    ) -> None:  # fmt: skip
        self._names, self._bounds = dict(names or {}), dict(bounds or {})
        self.symbols: dict[str, Var] = {}
        self._known: dict[str, Var] = {}
        self._given: frozenset[str] = frozenset()
        self._builder: GraphBuilder | None = None
        self._same: dict[Any, Any] = {}
        self.floats: dict[str, Value] = {}  # by symbol of a float that is a tensor's element, the tensor

    def end_of_inputs(self) -> None:
        """What is known so far is symbols of inputs."""
        self._given = frozenset(self._known)

    def build_with(self, builder: GraphBuilder) -> None:
        """Has `builder` compute the sizes that are rounded floats, and the floats."""
        self._builder = builder

    def unite(self, guards: Iterable[Any]) -> None:
        """Has one extent for the two sizes of each equation among `guards`, which TorchDynamo checks at each call."""
        for guard in guards:
            if type(guard).__name__ == "Equality":
                sides = map(self._united, guard.args)
                kept, other = sorted(sides, key=lambda side: (not side.is_number, not side.is_Symbol, len(str(side))))
                if kept != other:
                    self._same[other] = kept

    def _united(self, expr: Any) -> Any:
        """The expression that stands for all that are equal to one."""
        while expr in self._same:
            expr = self._same[expr]
        return expr

    def is_united(self, size: Any) -> bool:
        """Whether a guard says that a size is equal to another one, whose extent it has."""
        return isinstance(size, torch.SymInt) and size.node.expr in self._same

    def counted(self, builder: GraphBuilder, size: Any, count: Value) -> int | Expr:
        """The extent that a size is, a number that data decide: it stands for `count`, unless inputs have it, too."""
        extent = self.of(size)
        if not isinstance(extent, Var) or not is_decided_by_data(size.node.expr) or extent.name in builder.counts:
            return extent  # PyTorch knows it, or that it is the number of another result
        return extent if str(size.node.expr) in self._given else builder.count(extent, count)

    def of(self, size: Any) -> int | Expr:
        """The extent that a size is."""
        if isinstance(size, torch.SymInt):
            return self.of_expression(size.node.expr)
        return int(size)

    def shape(self, sizes: Any) -> tuple[int | Expr, ...]:
        """The extents of a shape."""
        return tuple(self.of(size) for size in sizes)

    def parts(self, size: Any, name: str) -> list[int | Expr]:
        """The extents of dimensions that are one of this size together, each a symbol or a number. Of a size that is no
        product it is a symbol of that name."""
        if not isinstance(size, torch.SymInt):
            return [int(size)]
        return [self.of_expression(one) for one in factors_of(size)] or [self._symbol(name)]

    def of_expression(self, expr: Any) -> Any:
        """The extent that an expression of sympy is."""
        expr = self._united(expr)
        kind = type(expr).__name__
        if expr.is_Integer:
            return int(expr)
        if expr.is_Symbol:
            return self._symbol(str(expr))
        if kind in _WHOLE:
            if quotient := self._quotient(expr.args[0]):
                numerator, denominator = quotient
                return (numerator + (denominator - 1 if kind == "CeilToInt" else 0)) // denominator
            if self._builder is not None:
                return self._rounded(self._builder, expr)
        # Symbols stand before numbers, as te writes sums and products.
        args = [self.of_expression(one) for one in sorted(expr.args, key=lambda one: bool(one.is_number))] if kind in (
            "Add", "Mul", "Max", "Min"
        ) else [self.of_expression(one) for one in expr.args]  # fmt: skip
        if kind == "Pow" and isinstance(args[1], int) and args[1] > 0:
            args = [args[0]] * args[1]
            kind = "Mul"
        if kind in _CHAINS:
            result = args[0]
            for one in args[1:]:
                result = _CHAINS[kind](result, one)
            return result
        if kind in _PAIRS and len(args) == 2:
            return _PAIRS[kind](*args)
        raise CompileError(
            f"expected a size of sums, products, quotients, minima and maxima, got {expr}", stage="graph"
        )

    def _quotient(self, expr: Any) -> tuple[Any, Any] | None:
        """The extents whose quotient a float is, where floats of sizes below 2 to the 36 have it exactly."""
        kind = type(expr).__name__
        if kind == "IntTrueDiv":
            return self.of_expression(expr.args[0]), self.of_expression(expr.args[1])
        if kind == "ToFloat" or expr.is_integer:
            return self.of_expression(expr.args[0] if kind == "ToFloat" else expr), 1
        if expr.is_number:
            ratio = float(expr).as_integer_ratio()
            return ratio if 0 < ratio[0] <= _LARGEST_PART and ratio[1] <= _LARGEST_PART else None
        if kind != "Mul":
            return None
        quotients = [self._quotient(one) for one in sorted(expr.args, key=lambda one: bool(one.is_number))]
        top, bottom = 1, 1
        for one in quotients:
            if one is None:
                return None
            top, bottom = (one[0] if isinstance(top, int) and top == 1 else top * one[0]), bottom * one[1]
        return top, bottom

    def _rounded(self, builder: GraphBuilder, expr: Any) -> Var:
        """The extent that is a float rounded to an integer: the model computes it, in float64 as Python does."""
        name = f"rounded {expr}"
        if name not in self._known:
            value = self.float_of(expr.args[0])
            rounded = builder.op("ceil" if type(expr).__name__ == "CeilToInt" else "floor", value)
            number = builder.op("cast", rounded, to="int64", saturate=True)
            self._known[name] = builder.count(te.var(f"rounded{len(builder.counts)}"), number)
        return self._known[name]

    def float_of(self, expr: Any) -> Value:
        """A float that is computed of symbolic sizes, an expression of sympy, as a tensor of one float64."""
        builder = self._builder
        if builder is None:
            raise CompileError(f"expected a size of inputs, got {expr}", stage="graph")
        if expr.is_number:
            return builder.constant(np.asarray(float(expr), np.float64))
        if expr.is_integer:
            return builder.op("cast", number_of(builder, self.of_expression(expr)), to="float64", saturate=True)
        kind = type(expr).__name__
        if str(expr) in self.floats:
            return self.floats[str(expr)]
        if kind not in _ON_FLOATS:
            raise CompileError(
                f"expected a float of sums, products, quotients, powers and square roots, got {expr}", stage="graph"
            )
        first, *others = (self.float_of(one) for one in expr.args)
        if not others:
            return builder.op(_ON_FLOATS[kind], first) if _ON_FLOATS[kind] else first
        for one in others:
            first = builder.op(_ON_FLOATS[kind], first, one)
        return first

    def _symbol(self, name: str) -> Var:
        if name not in self._known:
            own = self._names.get(name, name)
            least, most, divisor = self._bounds.get(name, (0, None, 1))
            made = te.var(own, min=least, max=most, divisible_by=divisor)
            self._known[name] = self.symbols[own] = made
        return self._known[name]


def _smaller(a: Any, b: Any) -> Any:
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else te.min(a, b)


def _larger(a: Any, b: Any) -> Any:
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else te.max(a, b)


def _product(a: Any, b: Any) -> Any:
    return 0 - b if isinstance(a, int) and a == -1 else 0 - a if isinstance(b, int) and b == -1 else a * b


_WHOLE = ("FloorToInt", "TruncToInt", "CeilToInt")
"""What makes an integer of a float; sizes are positive."""

_ON_FLOATS = {
    "Add": "add", "Mul": "mul", "Pow": "pow", "FloatPow": "pow", "PowByNatural": "pow", "Max": "max", "Min": "min",
    "IntTrueDiv": "div", "FloatTrueDiv": "div", "ToFloat": "", "OpaqueUnaryFn_sqrt": "sqrt", "Identity": "",
}  # fmt: skip
"""By function of sympy, whose result is a float, the graph's operator."""

_LARGEST_PART = 2**16
"""The largest numerator and denominator of a number in a quotient of extents."""

_CHAINS: dict[str, Any] = {"Add": operator.add, "Mul": _product, "Max": _larger, "Min": _smaller}
_PAIRS: dict[str, Any] = {
    "FloorDiv": operator.floordiv, "CleanDiv": operator.floordiv, "Mod": operator.mod, "PythonMod": operator.mod,
}  # fmt: skip
