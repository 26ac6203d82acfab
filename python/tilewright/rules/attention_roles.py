"""What each axis and each tensor of an attention is that a user writes as stages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..te.derivative import same
from ..te.expr import Call, Cast, Const, Expr, IterVar, Read, Select
from ..te.tensor import ComputeOp, Extent, Operation, PlaceholderOp
from ..te.walks import parts
from .attention_masks import is_number, reads_of, stripped
from .facts import length_of
from .inlining import inlined, substituted

__all__ = ["OtherError", "Roles", "expect", "extent_of", "roles_of", "scaled"]

_TYPES = ("float16", "bfloat16", "float32")


class OtherError(Exception):
    """The program is something else."""


def expect(holds: object) -> None:
    if not holds:
        raise OtherError


@dataclass(frozen=True, slots=True)
class Roles:
    """An attention. The axes are those of the sum of weighted values, in whatever order tensors have them."""

    heads: list[IterVar]
    query: IterVar
    key: IterVar
    depth: IterVar  # of queries and keys
    column: IterVar  # of values
    q: Read
    k: Read
    v: Read
    score: Expr
    raw: Read  # the dot product in it
    order: tuple[int, ...]  # of each axis of the result the number among heads, query and column


def roles_of(output: Operation) -> Roles:
    """What is what in the program of a result; `OtherError` where that is no attention."""
    op, total, none, order_of = _weighted(output)
    j, body = _reduced(op, "sum")
    weight, v = _weight_and_values(body)
    at = [axis for axis in op.axis if any(index is axis for index in v.indices) and not _depends(weight, axis)]
    expect(len(at) == 1)
    c = at[0]
    expect(any(index is j for index in v.indices))
    # Matmuls of halves have weights that are rounded to them.
    expect(v.tensor.dtype == "float32" or any(_is_cast(one, v.tensor.dtype) for one in _casts(weight)))
    weight = stripped(inlined(weight))
    if total is None:
        weight, by = _quotient(weight)
        weight, total = stripped(weight), _read(by)
    (exponent,) = _call(weight, "exp")
    score, largest = (stripped(one) for one in _call(exponent, "sub"))
    if isinstance(largest, Call) and largest.op == "max":  # a finite number for rows that are masked away
        args = [stripped(one) for one in largest.args]
        largest = args[0] if isinstance(args[1], Const) else args[1]
    largest = _read(largest)
    expect(none is None or _is_none(none, total, 0.0) or _is_none(none, largest, -math.inf))
    _check(total, "sum", j, weight)
    _check(largest, "max", j, score)
    raws = [one for one in reads_of(score) if not isinstance(one.tensor.op, PlaceholderOp)]
    expect(raws and all(same(one, raws[0]) for one in raws))
    raw = raws[0]
    d, q, k = _dot_of(raw, j)
    rows = [
        axis
        for axis in op.axis
        if axis is not c and any(index is axis for index in q.indices) and not (_depends(k, axis) or _depends(v, axis))
    ]
    expect(rows)
    # Of heads that read the same keys the longest axis is that of queries.
    i = max(reversed(rows), key=length_of)
    heads = [axis for axis in op.axis if axis is not i and axis is not c]
    # What has a number of all axes is what its rows are reduced of.
    places = {id(axis) for axis in (*heads, i)}
    for read, of in ((total, places), (largest, places), (raw, places | {id(j)})):
        axes = [id(index) for index in read.indices if not isinstance(index, Const)]
        expect(set(axes) == of and len(axes) == len(of))
    for read, axes in ((q, (i, d)), (k, (j, d)), (v, (j, c))):
        expect(all(_is_whole(read, axis) for axis in axes))
        expect(not any(_depends(read, axis) for axis in (i, j, c) if axis not in axes))
    numbers = {id(axis): number for number, axis in enumerate((*heads, i, c))}
    return Roles(heads, i, j, d, c, q, k, v, score, raw, tuple(numbers[id(axis)] for axis in order_of))


def extent_of(axis: IterVar) -> Extent:
    """The extent of an axis that begins at 0."""
    if axis.dom is None or axis.dom.min != 0:
        raise OtherError
    return axis.dom.extent


def _are_equal(a: Extent, b: Extent) -> bool:
    if isinstance(a, int) or isinstance(b, int):
        return isinstance(a, int) and isinstance(b, int) and a == b
    return same(a, b)


def _is_whole(read: Read, axis: IterVar) -> bool:
    """Whether one index is just the axis, which counts all elements of its dimension; no other depends on it."""
    at = [number for number, index in enumerate(read.indices) if _depends(index, axis)]
    if len(at) != 1 or read.indices[at[0]] is not axis:
        return False
    return _are_equal(read.tensor.shape[at[0]], extent_of(axis))


def _depends(expr: Expr, axis: IterVar) -> bool:
    return any(part is axis for part in parts([expr]))


def _reduced(op: Operation, name: str) -> tuple[IterVar, Expr]:
    """The axis and the element of a reduction over one axis."""
    if not isinstance(op, ComputeOp) or op.num_outputs != 1 or op.reduction is None:
        raise OtherError
    expect(op.reduction.name == name and len(op.reduction.axis) == 1)
    return op.reduction.axis[0], op.reduction.exprs[0]


def _read(expr: Expr) -> Read:
    expr = stripped(expr)
    if not isinstance(expr, Read):
        raise OtherError
    return expr


def _is_cast(expr: Expr, dtype: str) -> bool:
    return isinstance(expr, Cast) and expr.dtype == dtype


def _call(expr: Expr, op: str) -> tuple[Expr, ...]:
    expr = stripped(expr)
    if not isinstance(expr, Call) or expr.op != op:
        raise OtherError
    return expr.args


def _weighted(output: Operation) -> tuple[ComputeOp, Read | None, Expr | None, Sequence[IterVar]]:
    """The sum of weighted values, what it is divided by if it is, where a row counts as 0, and its axes in the result's
    order."""
    if not isinstance(output, ComputeOp) or output.num_outputs != 1:
        raise OtherError
    if output.reduction is not None:
        return output, None, None, output.axis
    body, none, total = stripped(inlined(output.body[0])), None, None
    if isinstance(body, Select) and is_number(body.true_value, 0.0):  # rows without keys
        none, body = body.condition, stripped(body.false_value)
    if isinstance(body, Call):
        value, by = _quotient(body)
        body, total = _read(value), _read(by)
    if not isinstance(body, Read) or not isinstance(body.tensor.op, ComputeOp):
        raise OtherError
    made = body.tensor.op
    expect([id(axis) for axis in sorted(output.axis, key=id)] == sorted(map(id, body.indices)))
    own = dict(zip(map(id, body.indices), made.axis, strict=True))
    places = {axis: own[id(axis)] for axis in output.axis}
    if total is not None:
        total = _read(substituted(total, places))
    return made, total, None if none is None else substituted(none, places), [*places.values()]


def _is_none(condition: Expr, reduced: Read, value: float) -> bool:
    """Whether a condition says that a row sees no key: that what it is reduced to has this value."""
    if not isinstance(condition, Call) or condition.op != "eq":
        return False
    a, b = (stripped(one) for one in condition.args)
    return (is_number(b, value) and same(a, reduced)) or (is_number(a, value) and same(b, reduced))


def _quotient(expr: Expr) -> tuple[Expr, Expr]:
    """What is divided by what; a value times one over another is such a quotient too."""
    if isinstance(expr, Call) and expr.op == "mul":
        for value, inverse in (expr.args, expr.args[::-1]):
            inverse = stripped(inverse)
            if isinstance(inverse, Call) and inverse.op == "div" and is_number(stripped(inverse.args[0]), 1.0):
                return value, inverse.args[1]
    value, by = _call(expr, "div")
    return value, by


def _weight_and_values(body: Expr) -> tuple[Expr, Read]:
    """The weight of a value, and the value, which is an input."""
    factors = _call(body, "mul")
    for weight, value in (factors, factors[::-1]):
        value = stripped(inlined(value))
        if isinstance(value, Read) and isinstance(value.tensor.op, PlaceholderOp) and value.tensor.dtype in _TYPES:
            return weight, value
    raise OtherError


def _casts(expr: Expr) -> Iterable[Expr]:
    """What an operand is cast from and to, also in the stage that it reads."""
    while True:
        yield expr
        if isinstance(expr, Cast):
            expr = expr.value
        elif isinstance(expr, Read) and isinstance(expr.tensor.op, ComputeOp) and not expr.tensor.op.reduction:
            expr = expr.tensor.op.body[0]
        else:
            return


def _check(read: Read, name: str, j: IterVar, element: Expr) -> None:
    """That a row is reduced of the same elements."""
    op = read.tensor.op
    axis, body = _reduced(op, name)
    expect(_are_equal(extent_of(axis), extent_of(j)))
    own = inlined(substituted(body, {**dict(zip(op.axis, read.indices, strict=True)), axis: j}))
    expect(same(stripped(own), element))


def _dot_of(raw: Read, j: IterVar) -> tuple[IterVar, Read, Read]:
    """What queries and keys are multiplied along, and both, the query first."""
    op = raw.tensor.op
    d, body = _reduced(op, "sum")
    expect(op.output(0).dtype == "float32")
    own = substituted(body, dict(zip(op.axis, raw.indices, strict=True)))
    found = [_read(inlined(one)) for one in _call(own, "mul")]
    expect(all(isinstance(one.tensor.op, PlaceholderOp) for one in found))
    q, k = found[::-1] if _depends(found[0], j) else found
    return d, q, k


def scaled(score: Expr, raw: Read) -> tuple[Expr, float] | None:
    """The score without its factor, where it is a positive multiple of `raw` or minus infinity."""
    if score is raw:
        return score, 1.0
    if isinstance(score, Call) and score.op in ("mul", "div"):
        a, b = score.args
        if score.op == "mul" and isinstance(a, Const):
            a, b = b, a
        if a is raw and isinstance(b, Const) and float(b.value) > 0:
            return raw, float(b.value) if score.op == "mul" else 1.0 / float(b.value)
        return None
    if not isinstance(score, Select) or any(read.tensor is raw.tensor for read in reads_of(score.condition)):
        return None
    for chosen, other, is_first in (
        (score.true_value, score.false_value, True),
        (score.false_value, score.true_value, False),
    ):
        made = scaled(chosen, raw) if is_number(other, -math.inf) else None
        if made is not None:
            values = (made[0], other) if is_first else (other, made[0])
            return Select(score.condition, values[0], values[1], score.lazy, score.source), made[1]
    return None
