"""Expressions with parts of them replaced."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import TilewrightTypeError as TypeError
from .expr import Call, Cast, Const, Expr, Read, Select

__all__ = ["rebuild", "rewrite"]


def rewrite(expr: Expr, replace: Callable[[Expr], Expr | None]) -> Expr:
    """`expr` with every part for which `replace` gives another replaced by that, from the outside in; what is not
    touched stays the same object.
    """
    return rebuild(expr, _rebuilt, replace)


def rebuild(
    expr: Expr,
    make: Callable[[Expr, tuple[Expr, ...]], Expr],
    replace: Callable[[Expr], Expr | None] = lambda expr: None,
) -> Expr:
    """`expr` with every node rebuilt, from the inside out.

    `make` gets a node and its rebuilt operands. If `replace` gives another expression for a node, that is used instead.
    """
    done: dict[int, Expr] = {}
    todo = [expr]
    while todo:
        top = todo[-1]
        if id(top) in done:
            todo.pop()
            continue
        made = replace(top)
        if made is None:
            waiting = [one for one in top.operands() if id(one) not in done]
            if waiting:
                todo.extend(reversed(waiting))
                continue
            made = make(top, tuple(done[id(one)] for one in top.operands()))
        done[id(todo.pop())] = made
    return done[id(expr)]


def _as_data(expr: Expr) -> Expr:
    if isinstance(expr, Const):
        return Const(expr.value, expr.element_type, expr.source)
    return expr.astype(expr.dtype) if expr.is_index else expr


def _rebuilt(expr: Expr, operands: tuple[Expr, ...]) -> Expr:
    """The expression over other operands."""
    if all(one is other for one, other in zip(operands, expr.operands())):
        return expr
    # Index arithmetic becomes arithmetic of data where a part of it does.
    if isinstance(expr, (Call, Select)) and any(
        old.is_index and not new.is_index for old, new in zip(expr.operands(), operands, strict=True)
    ):
        operands = tuple(map(_as_data, operands))
    if isinstance(expr, Call):
        is_index = expr.is_index and all(one.is_index for one in operands)
        return Call(expr.op, operands, expr.element_type, expr.source, is_index)
    if isinstance(expr, Cast):
        return Cast(operands[0], expr.element_type, expr.source)
    if isinstance(expr, Select):
        return Select(operands[0], operands[1], operands[2], expr.lazy, expr.source)
    if isinstance(expr, Read):
        return Read(expr.tensor, operands, expr.source)
    raise TypeError(f"expected an expression with operands that can be replaced, got {expr}")
