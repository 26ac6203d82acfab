"""The operations of a program and their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .expr import Expr, Var
from .tensor import ComputeOp, Operation, PlaceholderOp

__all__ = [
    "axis_names", "is_state", "operations", "symbols_in", "symbols_of", "symbols_of_extents", "unique_name",
    "unique_names",
]  # fmt: skip


def operations(outputs: Iterable[Operation]) -> list[Operation]:
    """What the outputs are made of, each operation after all that it reads."""
    done: dict[Operation, None] = {}
    todo = list(reversed(list(outputs)))
    while todo:
        op = todo[-1]
        waiting = [
            tensor.op
            for one in op.together
            for tensor in one.input_tensors
            if tensor.op not in done and not is_state(tensor.op)
        ]
        if op in done or not waiting:
            done.update(dict.fromkeys(one for one in todo.pop().together if one not in done))
        else:
            todo.extend(reversed(waiting))
    return list(done)


def is_state(op: Operation) -> bool:
    """Whether an operation is no input, but stands for what the steps of a scan hand on."""
    return isinstance(op, PlaceholderOp) and op.scan is not None


def unique_name(name: str, taken: Iterable[str]) -> str:
    """The name, or the first of ``name_1``, ``name_2``, … that is not taken.

    >>> unique_name("C", ["C", "C_1"])
    'C_2'
    """
    known, count, result = set(taken), 0, name
    while result in known:
        count += 1
        result = f"{name}_{count}"
    return result


def unique_names(ops: Sequence[Operation], known: Mapping[Operation, str]) -> dict[Operation, str]:
    """A name of its own for each operation; `known` ones are kept."""
    names = dict(known)
    for op in ops:
        if op not in names:
            names[op] = unique_name(op.name, names.values())
    return names


def axis_names(op: Operation) -> list[str]:
    """The names of an operation's axes, spatial ones first, made different where the user gave one name twice."""
    names: list[str] = []
    for axis in op.axis + op.reduce_axis:
        names.append(unique_name(axis.name, names))
    return names


def symbols_of(op: Operation) -> list[Var]:
    """The symbolic extents and numbers that an operation names, in its shape, its axes or its body."""
    todo = _extents_of(op)
    if isinstance(op, ComputeOp):
        todo += op.reduction.exprs if op.reduction is not None else op.body
    else:
        todo += op.exprs
    return symbols_in(todo)


def symbols_of_extents(op: Operation) -> list[Var]:
    """Those that say how large something is."""
    return symbols_in(_extents_of(op))


def _extents_of(op: Operation) -> list[Expr]:
    extents: list[Expr] = [extent for one in op.results for extent in one.shape if isinstance(extent, Expr)]
    of_axes = [axis.dom.extent for axis in op.reduce_axis if axis.dom is not None]
    extents += [extent for extent in of_axes if isinstance(extent, Expr)]
    return extents


def symbols_in(exprs: Sequence[Expr]) -> list[Var]:
    """The symbolic extents and numbers in expressions."""
    todo = list(exprs)
    found: dict[int, Var] = {}
    seen: set[int] = set()
    while todo:
        expr = todo.pop(0)
        if id(expr) in seen:
            continue
        seen.add(id(expr))
        if isinstance(expr, Var) and expr.is_symbol:
            found.setdefault(id(expr), expr)
        todo.extend(expr.operands())
    return list(found.values())
