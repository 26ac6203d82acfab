"""Reductions: axes and the functions that combine elements along them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, cast, overload

from ..dtypes import MOST, DType
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import integer_of, is_listed, is_sequence, misfit
from ..messages.location import Source, user_source
from .arithmetic import binary, constant, literal, need_arithmetic, whole
from .expr import Const, Expr, ExprLike, IterVar, ReduceItem, Select, Var
from .names import checked_name
from .rewrite import rewrite

__all__ = ["Reduction", "comm_reducer", "max", "min", "prod", "reduce_axis", "sum"]


class Reduction:
    """Elements combined along axes: the whole body of a compute.

    `name` is ``"sum"``, ``"prod"``, ``"min"``, ``"max"``, or ``"reduce"`` where `lhs`, `rhs`, `combined` and `identity`
    give the combiner.
    """

    __slots__ = ("axis", "combined", "exprs", "identity", "lhs", "name", "rhs", "source")

    name: str
    exprs: tuple[Expr, ...]
    axis: tuple[IterVar, ...]
    source: Source

    def __init__(self, name: str, exprs: tuple[Expr, ...], axis: tuple[IterVar, ...], source: Source) -> None:
        self.name, self.exprs, self.axis, self.source = name, exprs, axis, source
        self.lhs: tuple[Var, ...] = ()
        self.rhs: tuple[Var, ...] = ()
        self.combined: tuple[Expr, ...] = ()
        self.identity: tuple[Const, ...] = ()


def reduce_axis(dom: object, name: str = "rv") -> IterVar:
    """An axis to reduce over, from the first number of `dom` up to the second, which is not included.

    Over an axis without elements, the result is the identity. That is 0 for `sum` and 1 for `prod`. For `max` it is the
    least value of the type, or minus infinity, and for `min` the largest. A `comm_reducer` defines its own.

    Raises TypeError where `dom` is no pair of integers, the end of which may be a `te.var`; ValueError for an end below
    the first number.

    >>> reduce_axis((0, 16), name="k")
    k
    """
    source = user_source()
    name = checked_name(name, "reduce_axis", source)
    if not is_sequence(dom) or len(dom) != 2:
        raise TypeError(f"{source}: reduce_axis {name}: expected the pair (first, end), got {dom!r}")
    first, high = map(whole, dom)
    low = integer_of(first)
    if low is None:
        raise TypeError(f"{source}: reduce_axis {name}: expected an integer as its first value, got {first!r}")
    _check_bound(low, "a first value", name, source)
    if isinstance(high, Expr):
        if not high.is_index:
            raise TypeError(f"{source}: reduce_axis {name}: expected an integer or te.var as its end, got {high}")
        return IterVar(name, (low, high - low if low else high), "reduce", source)
    end = integer_of(high)
    if end is None:
        raise TypeError(f"{source}: reduce_axis {name}: expected an integer or te.var as its end, got {high!r}")
    if end < low:
        raise ValueError(f"{source}: reduce_axis {name}: expected an end of at least {low}, got {end}")
    _check_bound(end, "an end", name, source)
    _check_bound(end - low, "a number of values", name, source)
    return IterVar(name, (low, end - low), "reduce", source)


def _check_bound(number: int, which: str, name: str, source: Source) -> None:
    """Indices are numbers of 64 bits."""
    if not -MOST <= number <= MOST:
        bound = "at most 2^63 - 1" if number > 0 else "at least -2^63 + 1"
        raise ValueError(f"{source}: reduce_axis {name}: expected {which} of {bound}, got {number}")


def checked_axes(axis: object, what: str, source: Source) -> tuple[IterVar, ...]:
    axes: tuple[Any, ...] = tuple(axis) if is_listed(axis) else (axis,)
    if not axes:
        raise ValueError(f"{source}: te.{what}: expected at least one axis, got none")
    for one in axes:
        if not isinstance(one, IterVar) or one.kind != "reduce":
            raise TypeError(f"{source}: te.{what}: expected axes of te.reduce_axis, got {one}")
    if len({id(one) for one in axes}) != len(axes):
        raise ValueError(f"{source}: te.{what}: expected different axes, got {', '.join(one.name for one in axes)}")
    return axes


def _is_axis(value: object) -> bool:
    return isinstance(value, IterVar) and value.kind == "reduce" or isinstance(value, (list, tuple))


def _names_axes(value: object) -> bool:
    """Axes, one or several, of whatever kind; a tuple of other values is none."""
    if is_listed(value):
        return all(isinstance(one, IterVar) for one in value)
    return isinstance(value, IterVar)


def _identity(name: str, dtype: DType, source: Source) -> Const:
    """What changes nothing where it is combined."""
    if name in ("sum", "prod"):
        return constant(0 if name == "sum" else 1, dtype, source)
    if dtype.kind == "bool":
        return constant(name == "min", dtype, source)
    return bound(dtype, name == "min", source)


def bound(dtype: DType, largest: bool, source: Source) -> Const:
    """The largest or least value of a type, infinite for floats."""
    if dtype.is_float:
        return Const(float("inf") if largest else float("-inf"), dtype, source)
    if dtype.kind == "bool":
        return Const(largest, dtype, source)
    if dtype.kind == "uint":
        return Const((1 << dtype.bits) - 1 if largest else 0, dtype, source)
    return Const((1 << dtype.bits - 1) - 1 if largest else -(1 << dtype.bits - 1), dtype, source)


def _reduce(name: str, op: str, expr: Any, axis: Any, where: ExprLike | None, init: Any, more: tuple[Any, ...]) -> Expr:
    """A reduction of `expr` over `axis`; without one, the operation on the operands themselves, as in TVM."""
    source = user_source()
    if not _is_axis(axis):
        # A dimension's number, as NumPy takes it: nobody writes `te.sum(x, 1)` for `x + 1`.
        is_number = name in ("sum", "prod") and isinstance(axis, int) and not more
        if isinstance(axis, str) or is_number or not (where is None or more or isinstance(where, (Expr, int, float))):
            raise TypeError(f"{source}: te.{name}: expected axes of te.reduce_axis, got {axis}")
        result = binary(op, expr, axis)
        for operand in (() if where is None else (where,)) + (() if init is None else (init,)) + more:
            result = binary(op, result, operand)
        return result
    axes = checked_axes(axis, name, source)
    value = literal(expr, None, source)
    if isinstance(value, ReduceItem):
        raise ValueError(f"{source}: te.{name}: expected an element, got a reduction: give it a compute of its own")
    need_arithmetic(name, value, source)
    if value.is_index:
        value = value.astype(value.dtype)
    if where is not None:
        value = Select(
            _condition(where, name, source), value, _identity(name, value.element_type, source), True, source
        )
    if init is not None:
        one = literal(init, value, source)
        if one.element_type is not value.element_type:
            raise TypeError(f"{source}: te.{name}: expected an init of {value.dtype}, got {one.dtype}")
        value = Select(_is_first(axes, source), binary(op, one, value), value, True, source)
    return ReduceItem(Reduction(name, (value,), axes, source), 0)


def _is_first(axes: Sequence[IterVar], source: Source) -> Expr:
    """That the element is the first along all axes: an init is combined with it, so that it counts once however the
    reduction is split, factored or bound."""
    conditions = [binary("eq", one, one.dom[0] if one.dom is not None else 0) for one in axes]
    first = conditions[0]
    for condition in conditions[1:]:
        first = binary("and", first, condition)
    first.source = source
    return first


def _condition(where: object, name: str, source: Source) -> Expr:
    condition = literal(where, None, source)
    if condition.dtype != "bool":
        raise TypeError(f"{source}: te.{name}: expected a bool as 'where', got {condition.dtype}")
    return condition


def sum(
    expr: ExprLike, axis: Any, where: ExprLike | None = None, init: ExprLike | None = None, *args: ExprLike
) -> Expr:
    """The sum of `expr` along `axis`, one `te.reduce_axis` or several; of the elements `where` says, if given.

    With `init`, a number or an element of a tensor, the sum begins with that. It counts once, whatever the schedule
    does with the axes. A reduction over no elements, of a symbolic extent that is 0, is 0 all the same.

    ``te.sum(a, b, *args)`` of expressions is ``a + b`` and so on.

    Raises TypeError for an `axis` that is no `te.reduce_axis`, and for a `where` or `init` of another dtype. No axis,
    or the same axis twice, is a ValueError.

    >>> from tilewright import te
    >>> A, k = te.placeholder((8,), name="A"), te.reduce_axis((0, 8), name="k")
    >>> te.compute((), lambda: te.sum(A[k], axis=k), name="total").shape
    ()
    """
    return _reduce("sum", "add", expr, axis, where, init, args)


def prod(
    expr: ExprLike, axis: Any, where: ExprLike | None = None, init: ExprLike | None = None, *args: ExprLike
) -> Expr:
    """The product of `expr` along `axis`; ``te.prod(a, b, *args)`` is that of several.

    `where` and `init` are those of `sum`. Raises what `sum` raises: TypeError and ValueError.

    >>> from tilewright import te
    >>> A, k = te.placeholder((8,), name="A"), te.reduce_axis((0, 8), name="k")
    >>> te.compute((), lambda: te.prod(A[k], axis=k), name="product").dtype
    'float32'
    """
    return _reduce("prod", "mul", expr, axis, where, init, args)


def max(
    expr: ExprLike, axis: Any, where: ExprLike | None = None, init: ExprLike | None = None, *args: ExprLike
) -> Expr:
    """The largest `expr` along `axis`, NaN if there is one; ``te.max(a, b, *args)`` is the largest of several.

    `where` and `init` are those of `sum`. Raises what `sum` raises: TypeError and ValueError.

    >>> from tilewright import te
    >>> A, k = te.placeholder((8,), name="A"), te.reduce_axis((0, 8), name="k")
    >>> te.compute((), lambda: te.max(A[k], axis=k), name="largest").dtype
    'float32'
    >>> te.max(te.var("x", "float32"), 0)
    max(x, 0.0)
    """
    return _reduce("max", "max", expr, axis, where, init, args)


def min(
    expr: ExprLike, axis: Any, where: ExprLike | None = None, init: ExprLike | None = None, *args: ExprLike
) -> Expr:
    """The least `expr` along `axis`, NaN if there is one; ``te.min(a, b, *args)`` is the least of several.

    `where` and `init` are those of `sum`. Raises what `sum` raises: TypeError and ValueError.

    >>> from tilewright import te
    >>> A, k = te.placeholder((8,), name="A"), te.reduce_axis((0, 8), name="k")
    >>> te.compute((), lambda: te.min(A[k], axis=k), name="least").dtype
    'float32'
    >>> te.min(te.var("x", "float32"), 0)
    min(x, 0.0)
    """
    return _reduce("min", "min", expr, axis, where, init, args)


def _eager(expr: Expr) -> Expr:
    """An expression of a combiner, which reads no tensor: both sides of its choices may be computed."""

    def select(part: Expr) -> Expr | None:
        if not isinstance(part, Select) or not part.lazy:
            return None
        condition, yes, no = map(_eager, part.operands())
        return Select(condition, yes, no, False, part.source)

    return rewrite(expr, select)


class Reducer(Protocol):
    """What `comm_reducer` gives: a reduction of one element, or of a tuple of them."""

    @overload
    def __call__(
        self, expr: ExprLike, axis: Any, where: ExprLike | None = ..., init: Any = ..., *more: ExprLike
    ) -> Expr: ...
    @overload
    def __call__(
        self, expr: Sequence[ExprLike], axis: Any, where: ExprLike | None = ..., init: Any = ..., *more: Any
    ) -> tuple[Expr, ...]: ...


# A reducer's identity, from the dtype of each value that it reduces.
_Identity: TypeAlias = (
    Callable[[str], Any]
    | Callable[[str, str], Any]
    | Callable[[str, str, str], Any]
    | Callable[[str, str, str, str], Any]
)


def comm_reducer(fcombine: Callable[[Any, Any], Any], fidentity: _Identity, name: str = "reduce") -> Reducer:
    """Your own reduction, from a commutative and associative `fcombine` and its `fidentity`.

    Parameters
    ----------
    fcombine
        ``(lhs, rhs) -> combined`` on elements, or on tuples of them for a reduction of tuples.
    fidentity
        From the dtypes, one an argument, to the value (or tuple) that changes nothing where it is combined: constants.

    Returns
    -------
    A function ``reducer(expr, axis, where=None, init=None)``; a tuple `expr` gives a tuple, and has one as `init`.
    ``reducer(a, b, ...)`` on values, or tuples of them, combines these.

    Raises
    ------
    TypeError, ValueError
        TypeError for what is no function, and for a function of another number of arguments. By the reducer: TypeError
        for an axis that is no `te.reduce_axis`, and for a combined value, identity or init of another dtype. ValueError
        for another number of them, and for a `te.var` in the combiner.

    >>> from tilewright import te
    >>> A = te.placeholder((4, 8), name="A")
    >>> k = te.reduce_axis((0, 8), name="k")
    >>> def combine(x, y):
    ...     first = x[1] >= y[1]
    ...     return te.select(first, x[0], y[0]), te.select(first, x[1], y[1])
    >>> argmax = te.comm_reducer(combine, lambda t0, t1: (te.const(-1, t0), te.min_value(t1)), name="argmax")
    >>> at, value = te.compute((4,), lambda i: argmax((k, A[i, k]), axis=k), name="B")
    >>> at.dtype, value.dtype
    ('int32', 'float32')
    """

    made_at = user_source()
    name = checked_name(name, "te.comm_reducer", made_at)
    for what, function in (("fcombine", fcombine), ("fidentity", fidentity)):
        if not callable(function):
            raise TypeError(f"{made_at}: te.comm_reducer {name}: expected a function as {what}, got {function!r}")
    if wrong := misfit(fcombine, "lhs", "rhs"):
        raise TypeError(f"{made_at}: te.comm_reducer {name}: fcombine: {wrong}")

    def reducer(expr: Any, axis: Any, where: Any = None, init: Any = None, *more: Any) -> Any:
        source = user_source()
        if not _names_axes(axis):
            for operand in (axis, *(() if where is None else (where,)), *(() if init is None else (init,)), *more):
                expr = fcombine(expr, operand)
            return expr
        axes = checked_axes(axis, name, source)
        several = is_listed(expr)
        values = tuple(literal(value, None, source) for value in (expr if several else (expr,)))
        values = tuple(value.astype(value.dtype) if value.is_index else value for value in values)
        lhs = tuple(Var(f"lhs{i}", value.element_type, source, is_index=False) for i, value in enumerate(values))
        rhs = tuple(Var(f"rhs{i}", value.element_type, source, is_index=False) for i, value in enumerate(values))
        combined = _tuple(fcombine(lhs, rhs) if several else fcombine(lhs[0], rhs[0]), several)
        of_dtypes = cast(Callable[..., Any], fidentity)
        if wrong := misfit(fidentity, *(value.dtype for value in values)):
            raise TypeError(f"{source}: te.{name}: fidentity: {wrong}")
        identity = _tuple(of_dtypes(*(value.dtype for value in values)), several)
        for what, parts in (("combined values", combined), ("identities", identity)):
            if len(parts) != len(values):
                raise ValueError(f"{source}: te.{name}: expected {len(values)} {what}, got {len(parts)}")
        reduction = Reduction("reduce", values, axes, source)
        reduction.lhs, reduction.rhs = lhs, rhs
        reduction.combined = tuple(_eager(literal(part, value, source)) for part, value in zip(combined, values))
        reduction.identity = tuple(_constant(part, value, name, source) for part, value in zip(identity, values))
        for part, value in zip(reduction.combined, values):
            if part.element_type is not value.element_type:
                raise TypeError(f"{source}: te.{name}: expected a combined value of {value.dtype}, got {part.dtype}")
        _check_combined(reduction.combined, name, source)
        if where is not None:
            condition = _condition(where, name, source)
            reduction.exprs = tuple(
                Select(condition, value, identity, True, source) for value, identity in zip(values, reduction.identity)
            )
        if init is not None:
            reduction.exprs = _begun(reduction, fcombine, init, several, name)
        items = tuple(ReduceItem(reduction, i) for i in range(len(values)))
        return items if several else items[0]

    return reducer


def _begun(
    reduction: Reduction, fcombine: Callable[..., Any], init: object, several: bool, name: str
) -> tuple[Expr, ...]:
    """The elements of a reduction, the first combined with `init`."""
    source, values = reduction.source, reduction.exprs
    given = _tuple(init, several)
    if len(given) != len(values):
        raise ValueError(f"{source}: te.{name}: expected {len(values)} values as init, got {len(given)}")
    inits = tuple(literal(one, value, source) for one, value in zip(given, values))
    for one, value in zip(inits, values):
        if one.element_type is not value.element_type:
            raise TypeError(f"{source}: te.{name}: expected an init of {value.dtype}, got {one.dtype}")
    combined = _tuple(fcombine(inits, values) if several else fcombine(inits[0], values[0]), several)
    first = _is_first(reduction.axis, source)
    return tuple(
        Select(first, literal(one, value, source), value, True, source) for one, value in zip(combined, values)
    )


def _check_combined(combined: Sequence[Expr], name: str, source: Source) -> None:
    """A reduction is what its elements make of each other: nothing that a call gives takes part."""
    todo, seen = list(combined), set[int]()
    while todo:
        expr = todo.pop()
        if isinstance(expr, Var) and expr.is_symbol:
            raise ValueError(f"{source}: te.{name}: expected a combiner of its elements alone, got te.var {expr}")
        if id(expr) not in seen:
            seen.add(id(expr))
            todo.extend(expr.operands())


def _tuple(value: Any, several: bool) -> tuple[Any, ...]:
    return tuple(value) if several and is_listed(value) else (value,)


def _constant(value: object, like: Expr, name: str, source: Source) -> Const:
    identity = literal(value, like, source)
    if not isinstance(identity, Const) or identity.element_type is not like.element_type:
        raise TypeError(f"{source}: te.{name}: expected a constant of {like.dtype} as identity, got {identity}")
    return identity
