"""RNN, GRU and LSTM, unrolled over the steps of the sequence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...graph import Value
from ..control import MOST_ITERATIONS
from ..node import CONVERTERS, Node, converter
from .contractions import matmul

_Function = Callable[[Node, Value], Value]


def _plain(name: str) -> _Function:
    return lambda node, x: node.op_(name, x)


def _hard_sigmoid(node: Node, x: Value) -> Value:
    line = node.op_("add", node.op_("mul", x, node.constant(0.2, x)), node.constant(0.5, x))
    return node.op_("min", node.op_("max", line, node.constant(0, x)), node.constant(1, x))


def _softsign(node: Node, x: Value) -> Value:
    return node.op_("div", x, node.op_("add", node.constant(1, x), node.op_("abs", x)))


_ACTIVATIONS: dict[str, _Function] = {
    "tanh": _plain("tanh"), "sigmoid": _plain("sigmoid"), "relu": _plain("relu"), "hardsigmoid": _hard_sigmoid,
    "softsign": _softsign,
}  # fmt: skip


class _Cell:
    """One direction of a recurrent operator: its weights, and what one step does."""

    def __init__(self, node: Node, direction: int, gates: int, activations: Sequence[str]) -> None:
        self.node = node
        for one in activations:
            if one.lower() not in _ACTIVATIONS:
                raise node.error(f"expected activations ({', '.join(_ACTIVATIONS)}), got {one}")
        if node.attr("activation_alpha") or node.attr("activation_beta"):
            raise node.error("expected activations without activation_alpha and activation_beta, got some")
        self.functions = [_ACTIVATIONS[one.lower()] for one in activations]
        self.w = self._turned(self.part_of_gates(node.tensor(1), direction))
        self.r = self._turned(self.part_of_gates(node.tensor(2), direction))
        self.hidden = self.r.shape[0]
        self.gates = gates
        self.bias: tuple[Value, Value] | None = None
        if node.has(3):
            both = self.part_of_gates(node.tensor(3), direction)
            self.bias = (self._cut(both, 0, gates), self._cut(both, gates, 2 * gates))
        self.peepholes: list[Value] = []
        if node.op == "LSTM" and node.has(7):
            all_ = self.part_of_gates(node.tensor(7), direction)
            self.peepholes = [self._cut(all_, i, i + 1) for i in range(3)]

    def part_of_gates(self, x: Value, number: int) -> Value:
        sizes = [1, *x.shape[1:]]
        starts = [number, *[0] * (x.rank - 1)]
        part = self.node.op_("slice", x, starts=starts, steps=[1] * x.rank, sizes=sizes)
        return self.node.reshape(part, x.shape[1:])

    def _turned(self, x: Value) -> Value:
        return self.node.op_("transpose", x, permutation=[1, 0])

    def _cut(self, x: Value, first: int, last: int) -> Value:
        """Some gates of what has all of them in its last dimension."""
        starts: list[Any] = [0] * (x.rank - 1) + [first * self.hidden]
        sizes = [*x.shape[:-1], (last - first) * self.hidden]
        return self.node.op_("slice", x, starts=starts, steps=[1] * x.rank, sizes=sizes)

    def clipped(self, x: Value) -> Value:
        limit = self.node.attr("clip")
        if limit is None:
            return x
        x = self.node.op_("min", x, self.node.constant(limit, x))
        return self.node.op_("max", x, self.node.constant(-limit, x))

    def apply(self, number: int, x: Value) -> Value:
        return self.functions[number](self.node, self.clipped(x))

    def step(self, x: Value, h: Value, c: Value | None) -> tuple[Value, Value | None]:
        """The states after a step; `x` is its input times the weights, with their bias."""
        node = self.node
        op = node.op_
        if node.op == "GRU":
            return self._gru(x, h), None
        gates = op("add", x, matmul(node, h, self.r))
        if self.bias is not None:
            gates = op("add", gates, self.bias[1])
        if node.op == "RNN":
            return self.apply(0, gates), None
        assert c is not None
        i, o, f, g = (self._cut(gates, k, k + 1) for k in range(4))
        if self.peepholes:
            i = op("add", i, op("mul", self.peepholes[0], c))
            f = op("add", f, op("mul", self.peepholes[2], c))
        new = op("mul", self.apply(0, i), self.apply(1, g))
        kept = op("sub", node.constant(1, i), self.apply(0, i)) if node.attr("input_forget", 0) else self.apply(0, f)
        after = op("add", op("mul", kept, c), new)
        if self.peepholes:
            o = op("add", o, op("mul", self.peepholes[1], after))
        return op("mul", self.apply(0, o), self.functions[2](node, after)), after

    def _gru(self, x: Value, h: Value) -> Value:
        node, op = self.node, self.node.op_
        recurrent = matmul(node, h, self.r)
        if self.bias is not None:
            recurrent = op("add", recurrent, self.bias[1])
        z = self.apply(0, op("add", self._cut(x, 0, 1), self._cut(recurrent, 0, 1)))
        r = self.apply(0, op("add", self._cut(x, 1, 2), self._cut(recurrent, 1, 2)))
        if node.attr("linear_before_reset", 0):
            inner = op("mul", r, self._cut(recurrent, 2, 3))
        else:
            inner = matmul(node, op("mul", r, h), self._cut(self.r, 2, 3))
            if self.bias is not None:
                inner = op("add", inner, self._cut(self.bias[1], 2, 3))
        new = self.apply(1, op("add", self._cut(x, 2, 3), inner))
        return op("add", op("mul", op("sub", node.constant(1, z), z), new), op("mul", z, h))


def _recurrent(node: Node, gates: int, activations: Sequence[str]) -> list[Value]:
    op = node.op_
    x = node.tensor(0)
    layout = node.attr("layout", 0)
    if layout:
        x = op("transpose", x, permutation=[1, 0, 2])
    steps, batch, _ = x.shape
    if not isinstance(steps, int) or steps > MOST_ITERATIONS:
        raise node.error(f"expected a sequence of at most {MOST_ITERATIONS} steps, got {steps}")
    direction = node.attr("direction", "forward")
    directions = 2 if direction == "bidirectional" else 1
    given = node.attr("activations") or list(activations) * directions
    lengths = node.tensor(4) if node.has(4) else None
    outputs, last_h, last_c = list[Value](), list[Value](), list[Value]()
    for number in range(directions):
        each = len(given) // directions
        cell = _Cell(node, number, gates, given[number * each : (number + 1) * each])
        backwards = direction == "reverse" or number == 1
        own = _reversed(node, x, lengths) if backwards else x
        inputs = matmul(node, own, cell.w)
        if cell.bias is not None:
            inputs = op("add", inputs, cell.bias[0])
        states = [_initial(node, cell, 5, number, batch, layout, x.dtype)]
        if node.op == "LSTM":
            states.append(_initial(node, cell, 6, number, batch, layout, x.dtype))
        h, c = states[0], states[1] if node.op == "LSTM" else None
        made: list[Value] = []
        for step in range(steps):
            sizes = [1, *inputs.shape[1:]]
            part = op("slice", inputs, starts=[step, 0, 0], steps=[1, 1, 1], sizes=sizes)
            new_h, new_c = cell.step(node.reshape(part, inputs.shape[1:]), h, c)
            shown = new_h
            if lengths is not None:
                alive = op("less", node.constant(step, lengths), node.reshape(lengths, [batch, 1]))
                shown = op("where", alive, new_h, node.constant(0, new_h))
                new_h = op("where", alive, new_h, h)
                new_c = op("where", alive, new_c, c) if new_c is not None and c is not None else None
            h, c = new_h, new_c
            made.append(node.reshape(shown, [1, *shown.shape]))
        whole = op("concat", *made, axis=0)
        outputs.append(_reversed(node, whole, lengths) if backwards else whole)
        last_h.append(node.reshape(h, [1, *h.shape]))
        if c is not None:
            last_c.append(node.reshape(c, [1, *c.shape]))
    wide = [node.reshape(one, [steps, 1, batch, one.shape[-1]]) for one in outputs]
    results = [op("concat", *wide, axis=1), op("concat", *last_h, axis=0)]
    if last_c:
        results.append(op("concat", *last_c, axis=0))
    if layout:
        results[0] = op("transpose", results[0], permutation=[2, 0, 1, 3])
        results[1:] = [op("transpose", one, permutation=[1, 0, 2]) for one in results[1:]]
    return results


def _initial(node: Node, cell: _Cell, position: int, number: int, batch: Any, layout: int, dtype: str) -> Value:
    if not node.has(position):
        return node.op_("expand", node.constant(0, dtype), shape=[batch, cell.hidden])
    state = node.tensor(position)
    if layout:
        state = node.op_("transpose", state, permutation=[1, 0, 2])
    return cell.part_of_gates(state, number)


def _reversed(node: Node, x: Value, lengths: Value | None) -> Value:
    if lengths is not None:
        return node.op_("reverse_sequence", x, lengths, time_axis=0, batch_axis=1)
    starts = [x.shape[0] - 1, *[0] * (x.rank - 1)]
    return node.op_("slice", x, starts=starts, steps=[-1, *[1] * (x.rank - 1)], sizes=list(x.shape))


@converter("RNN")
def _rnn(node: Node) -> list[Value]:
    return _recurrent(node, 1, ["Tanh"])


CONVERTERS["GRU"] = lambda node: _recurrent(node, 3, ["Sigmoid", "Tanh"])
CONVERTERS["LSTM"] = lambda node: _recurrent(node, 4, ["Sigmoid", "Tanh", "Tanh"])
