"""Expressions that depend on conditions."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..messages.location import user_source
from .arithmetic import literal, unify
from .expr import Call, Const, Expr, ExprLike, Read, Select, Var
from .walks import parts

if TYPE_CHECKING:
    from .tensor import Tensor


__all__ = ["all", "any", "if_given", "if_then_else", "is_given", "select"]


def _select(what: str, condition: ExprLike, true_value: ExprLike, false_value: ExprLike, lazy: bool) -> Expr:
    source = user_source()
    test = literal(condition, None, source)
    if test.dtype != "bool":
        raise TypeError(f"{source}: te.{what}: expected a bool as condition, got {test.dtype}")
    first, second = unify(what, true_value, false_value, source)
    return Select(test, first, second, lazy, source)


def if_then_else(condition: ExprLike, true_value: ExprLike, false_value: ExprLike) -> Expr:
    """`true_value` where `condition` is true, else `false_value`. Only the one taken is computed.

    So reads beyond a tensor are safe in the other.

    Raises TypeError where `condition` is no bool, or the two values differ in dtype.

    >>> from tilewright import te
    >>> A = te.placeholder((6,), name="A")
    >>> te.compute((8,), lambda i: te.if_then_else(te.all(i >= 1, i < 7), A[i - 1], 0.0), name="padded").shape
    (8,)
    """
    return _select("if_then_else", condition, true_value, false_value, lazy=True)


def is_given(tensor: Tensor) -> Expr:
    """Whether a call gives this tensor, a `te.placeholder` with ``optional=True``, and not None. Raises TypeError for
    another tensor.

    >>> from tilewright import te
    >>> te.is_given(te.placeholder((8,), name="bias", optional=True))
    bias_is_given
    """
    return _given("is_given", tensor)


def if_given(tensor: Tensor, then: ExprLike, otherwise: ExprLike) -> Expr:
    """`then` in calls that give this tensor, `otherwise` in those that give None: decided at each call. Only `then` may
    read the tensor, and it is computed only where that is there.

    Raises TypeError for a tensor without ``optional=True``, and where the two values differ in dtype.

    >>> from tilewright import te
    >>> A, bias = te.placeholder((8,), name="A"), te.placeholder((8,), name="bias", optional=True)
    >>> te.compute((8,), lambda i: te.if_given(bias, A[i] + bias[i], A[i]), name="C").shape
    (8,)
    """
    return _select("if_given", _given("if_given", tensor), then, otherwise, lazy=True)


def _given(what: str, tensor: Tensor) -> Var:
    source = user_source()
    flag = getattr(getattr(tensor, "op", None), "given", None)
    if not isinstance(flag, Var):
        raise TypeError(f"{source}: te.{what}: expected a te.placeholder with optional=True, got {tensor!r}")
    return flag


def select(condition: ExprLike, true_value: ExprLike, false_value: ExprLike) -> Expr:
    """`true_value` where `condition` is true, else `false_value`. Both are computed.

    So reads beyond a tensor are not safe, as they are in `if_then_else`.

    Raises TypeError where `condition` is no bool, or the two values differ in dtype.

    >>> from tilewright import te
    >>> i, x = te.var("i"), te.var("x", "float32")
    >>> te.select(i < 4, x, 0.0)
    select(i < 4, x, 0.0)
    """
    return _select("select", condition, true_value, false_value, lazy=False)


def _fold(what: str, op: str, conditions: tuple[ExprLike, ...]) -> Expr:
    source = user_source()
    if not conditions:
        raise ValueError(f"{source}: te.{what}: expected at least one condition, got none")
    exprs = [literal(condition, None, source) for condition in conditions]
    for expr in exprs:
        if expr.dtype != "bool":
            raise TypeError(f"{source}: te.{what}: expected conditions of bool, got {expr.dtype}")
    result = exprs[0]
    for expr in exprs[1:]:
        if not _must_wait(expr, result):
            result = Call(op, (result, expr), result.element_type, source)
        elif op == "and":
            result = Select(result, expr, Const(False, result.element_type, source), True, source)
        else:
            result = Select(result, Const(True, result.element_type, source), expr, True, source)
    return result


def _must_wait(condition: Expr, before: Expr) -> bool:
    """Whether what `condition` reads may be there only where the one before it left that open.

    Two conditions on elements at indices that both have are evaluated together, which takes no branch.
    """
    guards = isinstance(before, Select) or not _has_element(before)
    reads = [part for part in parts([condition]) if part.is_element]
    if guards:
        return bool(reads)
    return builtins.any(not isinstance(read, Read) or builtins.any(map(_has_element, read.indices)) for read in reads)


def _has_element(expr: Expr) -> bool:
    return builtins.any(part.is_element for part in parts([expr]))


def all(*conditions: ExprLike) -> Expr:
    """True where all conditions are. No element is read for a condition that those before it have decided.

    Raises TypeError for a condition that is no bool, ValueError for no condition.

    >>> from tilewright import te
    >>> i, j = te.var("i"), te.var("j")
    >>> te.all(i < 4, j < 4)
    (i < 4) & (j < 4)
    """
    return _fold("all", "and", conditions)


def any(*conditions: ExprLike) -> Expr:
    """True where one of `conditions` is. No element is read for a condition that those before it have decided.

    Raises TypeError for a condition that is no bool, ValueError for no condition.

    >>> from tilewright import te
    >>> i, j = te.var("i"), te.var("j")
    >>> te.any(i < 4, j < 4)
    (i < 4) | (j < 4)
    """
    return _fold("any", "or", conditions)
