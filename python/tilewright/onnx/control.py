"""If, Loop and Scan: the model is compiled with their loops unrolled, or with a choice between branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph import Value

if TYPE_CHECKING:
    from .node import Node
    from .scope import Scope

__all__ = ["CONVERTERS"]

MOST_ITERATIONS = 1024
"""So many iterations of a Loop or a Scan are unrolled at most."""


def _branch(node: Node, graph: Any) -> Scope:
    scope = node.scope.inner(node.label)
    scope.run_graph(graph)
    return scope


def _if(node: Node) -> Sequence[Value] | None:
    branches = [node.attr("then_branch"), node.attr("else_branch")]
    if node.is_known(0):
        taken = branches[0 if node.host(0).reshape(-1)[0] else 1]
        scope = _branch(node, taken)
        for formal, actual in zip(taken.output, node.proto.output):
            if actual:
                node.scope.link(actual, scope, formal.name)
        return None
    condition = node.reshape(node.tensor(0), [])
    values: list[list[Value]] = []
    for graph in branches:
        scope = _branch(node, graph)
        values.append([scope.tensor(formal.name) for formal in graph.output])
    results: list[Value] = []
    for number, (then, otherwise) in enumerate(zip(*values)):
        if str(then.type) != str(otherwise.type):
            raise node.error(
                f"result {number}: expected branches of one type where the condition is not known when the model is "
                f"compiled, got {then.type} and {otherwise.type}"
            )
        results.append(node.op_("where", condition, then, otherwise))
    return results


def _iterations(node: Node, count: Any, what: str) -> int:
    if not isinstance(count, int) or count > MOST_ITERATIONS:
        raise node.error(f"expected {what} of at most {MOST_ITERATIONS}, got {count}")
    return count


def _bind(scope: Scope, name: str, outer: Scope, from_name: str) -> None:
    scope.link(name, outer, from_name)


def _loop(node: Node) -> Sequence[Value | None] | None:
    body = node.attr("body")
    limit = int(node.host(0).reshape(-1)[0]) if node.has(0) else 2**63 - 1
    keep_going = bool(node.host(1).reshape(-1)[0]) if node.has(1) else True
    formal_in = [one.name for one in body.input]
    formal_out = [one.name for one in body.output]
    carried = len(formal_in) - 2
    # Where each carried value is: a scope, and its name there.
    state: list[tuple[Scope, str]] = [(node.scope, name) for name in node.proto.input[2:]]
    scanned: list[list[Value]] = [[] for _ in formal_out[1 + carried :]]
    step = 0
    while step < limit and keep_going:
        _iterations(node, step + 1, "a number of iterations")
        scope = node.scope.inner(f"{node.label} [{step}]")
        scope.put_host(formal_in[0], np.asarray(step, np.int64))
        scope.put_host(formal_in[1], np.asarray(True))
        for formal, (where, name) in zip(formal_in[2:], state):
            _bind(scope, formal, where, name)
        scope.run_graph(body)
        if not scope.is_known(formal_out[0]):
            raise node.error(
                "expected a condition that is known when the model is compiled, got one that depends on data"
            )
        keep_going = bool(scope.host(formal_out[0]).reshape(-1)[0])
        state = [(scope, name) for name in formal_out[1 : 1 + carried]]
        for values, name in zip(scanned, formal_out[1 + carried :]):
            values.append(scope.tensor(name))
        step += 1
    for actual, (where, name) in zip(node.proto.output, state):
        if actual:
            node.scope.link(actual, where, name)
    results: list[Value | None] = [None] * carried
    for number, values in enumerate(scanned):
        if not values:
            raise node.error(f"result {carried + number}: expected one iteration at least, got none")
        results.append(_stacked(node, values, 0))
    return results


def _stacked(node: Node, values: Sequence[Value], axis: int) -> Value:
    wide = [node.reshape(one, [*one.shape[:axis], 1, *one.shape[axis:]]) for one in values]
    return node.op_("concat", *wide, axis=axis)


def _scan(node: Node) -> Sequence[Value]:
    body = node.attr("body")
    count = node.attr("num_scan_inputs")
    formal_in = [one.name for one in body.input]
    formal_out = [one.name for one in body.output]
    carried = len(formal_in) - count
    first = 1 if node.version < 9 and len(node.proto.input) > len(formal_in) else 0
    if node.version < 9:
        return _old_scan(node, body, carried, count)
    inputs = node.tensors()[first:]
    axes = [node.axis(axis, x.rank) for axis, x in zip(node.attr("scan_input_axes") or [0] * count, inputs[carried:])]
    backwards = node.attr("scan_input_directions") or [0] * count
    outputs = len(formal_out) - carried
    out_axes = node.attr("scan_output_axes") or [0] * outputs
    out_backwards = node.attr("scan_output_directions") or [0] * outputs
    length = _iterations(node, inputs[carried].shape[axes[0]], "a sequence")
    state, scanned = _run_scan(node, body, inputs, carried, axes, backwards, length)
    results = list(state)
    for values, axis, back in zip(scanned, out_axes, out_backwards):
        ordered = values[::-1] if back else values
        results.append(_stacked(node, ordered, node.axis(axis, ordered[0].rank + 1)))
    return results


def _run_scan(
    node: Node, body: Any, inputs: Sequence[Value], carried: int, axes: Sequence[int], backwards: Sequence[int],
    length: int,
) -> tuple[list[Value], list[list[Value]]]:  # fmt: skip
    formal_in = [one.name for one in body.input]
    formal_out = [one.name for one in body.output]
    state = list(inputs[:carried])
    scanned: list[list[Value]] = [[] for _ in formal_out[carried:]]
    for step in range(length):
        scope = node.scope.inner(f"{node.label} [{step}]")
        for formal, value in zip(formal_in, state):
            scope.put(formal, value)
        for formal, x, axis, back in zip(formal_in[carried:], inputs[carried:], axes, backwards):
            scope.put(formal, _element(node, x, axis, length - 1 - step if back else step))
        scope.run_graph(body)
        made = [scope.tensor(name) for name in formal_out]
        state = made[:carried]
        for values, value in zip(scanned, made[carried:]):
            values.append(value)
    return state, scanned


def _element(node: Node, x: Value, axis: int, place: int) -> Value:
    sizes = [1 if d == axis else extent for d, extent in enumerate(x.shape)]
    starts = [place if d == axis else 0 for d in range(x.rank)]
    part = node.op_("slice", x, starts=starts, steps=[1] * x.rank, sizes=sizes)
    return node.reshape(part, [extent for d, extent in enumerate(x.shape) if d != axis])


def _old_scan(node: Node, body: Any, carried: int, count: int) -> Sequence[Value]:
    """Version 8: every input has a batch first, and may have a tensor of lengths before all."""
    if node.has(0):
        raise node.error("expected sequences of one length, got lengths")
    inputs = [node.tensor(position) for position in range(1, node.input_count)]
    batch = inputs[0].shape[0]
    length = _iterations(node, inputs[carried].shape[1], "a sequence")
    backwards = node.attr("directions") or [0] * count
    every: list[list[Value]] = []
    for b in range(_iterations(node, batch, "a batch")):
        parts = [_element(node, x, 0, b) for x in inputs]
        state, scanned = _run_scan(node, body, parts, carried, [0] * count, backwards, length)
        every.append([*state, *(_stacked(node, values, 0) for values in scanned)])
    return [_stacked(node, list(values), 0) for values in zip(*every)]


CONVERTERS: dict[str, Callable[[Any], Any]] = {"If": _if, "Loop": _loop, "Scan": _scan}
"""What makes operators of these nodes."""
