"""What the body of a compute may be: its own axes, reductions at the top, optional tensors where they are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import TilewrightValueError as ValueError
from .expr import Call, Expr, IterVar, Read, ReduceItem, Select
from .shapes import check_size
from .tensor import PlaceholderOp, is_optional

if TYPE_CHECKING:
    from .tensor import ComputeOp, Tensor

__all__ = ["inputs_of"]


def inputs_of(op: ComputeOp) -> tuple[Tensor, ...]:
    """The tensors that a body reads. Its reductions stand at the top and its axes are the compute's own."""
    what = f"compute {op.name}"
    for kind in op.element_types:
        check_size(op.shape, kind, what, op.source)
    check_size([axis.dom[1] for axis in op.axis + op.reduce_axis if axis.dom is not None], None, what, op.source)
    _check_reduce_extents(op, what)
    reduction = op.reduction
    if reduction is not None or any(isinstance(expr, ReduceItem) for expr in op.body):
        items = [(expr.reduction, expr.index) if isinstance(expr, ReduceItem) else None for expr in op.body]
        if reduction is None or items != [(reduction, i) for i in range(len(reduction.exprs))]:
            raise ValueError(
                f"{op.source}: {what}: expected the results of one reduction in their order, "
                f"got {', '.join(map(str, op.body))}"
            )
    own = {id(axis) for axis in op.axis + op.reduce_axis}
    inputs: dict[int, Tensor] = {}
    seen: set[int] = set()
    todo = list(reversed(reduction.exprs if reduction is not None else op.body))
    while todo:
        expr = todo.pop()
        if id(expr) in seen:
            continue
        seen.add(id(expr))
        if isinstance(expr, ReduceItem):
            raise ValueError(
                f"{expr.source}: {what}: expected a reduction as the whole value of a compute, got one inside an "
                "expression: give it a compute of its own"
            )
        if isinstance(expr, IterVar) and id(expr) not in own:
            hint = "name it in the reduction's axis=" if expr.kind == "reduce" else "it belongs to another compute"
            mine = ", ".join(axis.name for axis in op.axis + op.reduce_axis) or "none"
            raise ValueError(f"{op.source}: {what}: expected its own axes ({mine}), got '{expr.name}': {hint}")
        if isinstance(expr, Read):
            inputs.setdefault(id(expr.tensor), expr.tensor)
        todo.extend(reversed(expr.operands()))
    if any(is_optional(tensor) for tensor in inputs.values()):
        _check_optional_reads(what, reduction.exprs if reduction is not None else op.body)
    return tuple(inputs.values())


def _check_reduce_extents(op: ComputeOp, what: str) -> None:
    """How far a reduction goes is the same for all elements: it depends on no axis."""
    for axis in op.reduce_axis:
        end = None if axis.dom is None else axis.dom[1]
        todo: list[Expr] = [end] if isinstance(end, Expr) else []
        while todo:
            part = todo.pop()
            if isinstance(part, IterVar):
                raise ValueError(
                    f"{axis.source}: {what}: expected reduce_axis {axis.name} to end at a number, a te.var or an "
                    f"expression of these, got one of the axis '{part.name}': end at the largest, and give the "
                    "reduction where="
                )
            todo += part.operands()


def _check_optional_reads(what: str, exprs: Sequence[Expr]) -> None:
    """What a call may be without is read only where it is known to be there."""
    nothing: frozenset[int] = frozenset()
    todo = [(expr, nothing) for expr in exprs]
    seen: set[tuple[int, frozenset[int]]] = set()
    while todo:
        expr, given = todo.pop()
        if (id(expr), given) in seen:
            continue
        seen.add((id(expr), given))
        if isinstance(expr, Read) and isinstance(expr.tensor.op, PlaceholderOp):
            flag = expr.tensor.op.given
            if flag is not None and id(flag) not in given:
                raise ValueError(
                    f"{expr.source}: {what}: expected {expr}, of an optional tensor, as the first of te.if_given's "
                    "values, got it where the tensor may not be there"
                )
        if isinstance(expr, Select) and expr.lazy:
            todo += [(expr.condition, given), (expr.true_value, given | _implied(expr.condition))]
            todo.append((expr.false_value, given))
        else:
            todo += [(operand, given) for operand in expr.operands()]


def _implied(condition: Expr) -> frozenset[int]:
    """The conditions that hold where this one does."""
    todo, found = [condition], set[int]()
    while todo:
        one = todo.pop()
        if isinstance(one, Call) and one.op == "and":
            todo += one.args
        else:
            found.add(id(one))
    return frozenset(found)
