"""Affine maps that are put together of expressions."""

from __future__ import annotations

from mlir import ir

from .expr import Call, Cast, Const, Expr

__all__ = ["MapOperands", "combine", "is_number"]


def combine(op: str, lhs: ir.AffineExpr, rhs: ir.AffineExpr) -> ir.AffineExpr:
    """`lhs` and `rhs` by the operator add, sub or mul."""
    return lhs + rhs if op == "add" else lhs - rhs if op == "sub" else lhs * rhs


def is_number(expr: Expr) -> bool:
    """True for constants and what affine expressions fold of them."""
    todo = [expr]
    while todo:
        one = todo.pop()
        if isinstance(one, Call) and one.op in ("add", "sub", "mul"):
            todo += one.args
        elif isinstance(one, Cast) and one.value.is_index:
            todo.append(one.value)
        elif not isinstance(one, Const):
            return False
    return True


class MapOperands:
    """The dimensions and symbols of an affine map, numbered as they are met."""

    def __init__(self) -> None:
        self._dims: list[ir.Value] = []
        self._symbols: list[ir.Value] = []

    @staticmethod
    def _number(values: list[ir.Value], value: ir.Value) -> int:
        for number, known in enumerate(values):
            if known == value:
                return number
        values.append(value)
        return len(values) - 1

    def dim(self, value: ir.Value) -> ir.AffineExpr:
        return ir.AffineExpr.get_dim(self._number(self._dims, value))

    def symbol(self, value: ir.Value) -> ir.AffineExpr:
        return ir.AffineExpr.get_symbol(self._number(self._symbols, value))

    @property
    def values(self) -> list[ir.Value]:
        return self._dims + self._symbols

    def map(self, results: list[ir.AffineExpr]) -> ir.AffineMap:
        return ir.AffineMap.get(len(self._dims), len(self._symbols), results)
