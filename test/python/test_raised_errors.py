"""Errors that docstrings name, where no test of the function itself has them: each is raised, and is Tilewright's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import schedules, te, tir

A = te.placeholder((8,), name="A")
k = te.reduce_axis((0, 8), name="k")
n, x = te.var("n"), te.var("x", "float32")


def softmax(target: str) -> tw.Function:
    return tw.build(*schedules.softmax(4, 256), target, "softmax")


def scan(step: Callable[..., Any]) -> te.Tensor:
    """The state plus the input; `step` reads the state."""
    X, state = te.placeholder((8, 4), name="X"), te.placeholder((8, 4), name="state")
    init = te.compute((1, 4), lambda _, j: X[0, j], name="init")
    return te.scan(init, te.compute((8, 4), lambda t, j: step(state, t, j) + X[t, j], name="update"), state)


def doubled() -> te.Tensor:
    return te.compute((8,), lambda i: A[i] * 2, name="B")


TYPES: dict[str, Callable[[], object]] = {
    "placeholder, extent": lambda: te.placeholder(("a",)),
    "placeholder, dtype": lambda: te.placeholder((1,), "text"),
    "compute": lambda: te.compute((8,), lambda i: None),
    "extern, input": lambda: te.extern((8,), [3], lambda ins, outs: None),
    "extern, statements": lambda: te.extern((8,), [A], lambda ins, outs: None),
    "scan": lambda: te.scan(3, 4, 5),
    "tag_scope": lambda: te.tag_scope(3),
    "dp4a": lambda: te.dp4a(x, x),
    "decl_tensor_intrin": lambda: te.decl_tensor_intrin(A.op, lambda ins, outs: None),
    "decl_buffer": lambda: tir.decl_buffer((1,), place=1),
    "array": lambda: tw.nd.array(tw.nd.zeros((2,)), dtype="int32"),
    "empty": lambda: tw.nd.empty((1,), "text"),
    "device": lambda: tw.cuda("a"),
    "cache": lambda: tw.Cache("folder", max_bytes="a"),
    "target": lambda: tw.Target(3),
    "compile": lambda: tw.compile(3),
    "knobs": lambda: tw.tuning.Knobs(3, a=(1,)),
    "launch_config": lambda: softmax("sim").launch_config(1, 2, 3, 4),
}
VALUES: dict[str, Callable[[], object]] = {
    "placeholder, extent": lambda: te.placeholder((-1,)),
    "placeholder, size": lambda: te.placeholder((2**40, 2**40)),
    "placeholder, align": lambda: te.placeholder((8,), align=3),
    "placeholder, strides": lambda: te.placeholder((8, 4), strides=(1,)),
    "compute, nothing": lambda: te.compute((8,), lambda i: ()),
    "compute, two kinds": lambda: te.compute((8,), lambda i: (te.sum(A[k], axis=k), A[i])),
    "extern, buffers": lambda: te.extern((8,), [A], lambda ins, outs: None, in_buffers=[]),
    "extern, types": lambda: te.extern((8,), [A], lambda ins, outs: None, dtype=["float32", "float32"]),
    "scan, a later step": lambda: scan(lambda state, t, j: state[t + 1, j]),
    "scan, before the first": lambda: scan(lambda state, t, j: state[t - 2, j]),
    "reduce_axis": lambda: te.reduce_axis((3, 1)),
    "comm_reducer": lambda: te.comm_reducer(lambda a, b: a + b + x, lambda t: te.const(0, t))(A[k], axis=k),
    "gradient": lambda: te.gradient(doubled(), [A], te.placeholder((3,))),
    "decl_buffer": lambda: tir.decl_buffer((-1,)),
    "empty": lambda: tw.nd.empty((-1,)),
    "export_object": lambda: tw.export_object(softmax("cpu"), "softmax.o", mcpu="a b"),
    "export_library": lambda: tw.export_library([softmax("cpu")] * 2, "softmax.so"),
    "source": lambda: softmax("sim").source("text"),
    "launch_config": lambda: softmax("sim").launch_config(np.ones((3, 3)), np.ones((3, 3))),
    "lower": lambda: tw.lower(te.create_schedule(doubled().op), [A], stage="text", target="sim"),
    "device": lambda: tw.device("text"),
    "device, number": lambda: tw.cuda(-1),
    "cache": lambda: tw.Cache("folder", max_bytes=-1),
    "target": lambda: tw.Target("text"),
    "stream": lambda: tw.Stream.from_handle(1, tw.cpu()),
    "journal": lambda: tw.tuning.Journal("/nowhere/tuning.db"),
    "quantize_weights": lambda: tw.graph.quantize_weights(None, group=3),
}
OTHERS: dict[str, Callable[[], object]] = {
    "export_object": lambda: tw.export_object(softmax("sim"), "softmax.o"),
    "export_library": lambda: tw.export_library([softmax("sim")], "softmax.so"),
    "report": lambda: softmax("sim").report(),
    "ptx": lambda: softmax("sim").ptx,
    "source": lambda: softmax("cpu").source("cuda"),
}


@pytest.mark.parametrize(
    "kind, call",
    [
        pytest.param(kind, call, id=f"{kind.__name__}-{name}")
        for kind, calls in ((TypeError, TYPES), (ValueError, VALUES), (tw.TilewrightError, OTHERS))
        for name, call in calls.items()
    ],
)
def test_it_is_raised(kind: type[Exception], call: Callable[[], object]) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, tw.TilewrightError)
    assert kind is not tw.TilewrightError or not isinstance(caught.value, (TypeError, ValueError))


def test_a_primitive_raises_an_error_of_the_schedule() -> None:
    B = doubled()
    with pytest.raises(tw.ScheduleError, match="split: expected an axis of stage 'B'"):
        te.create_schedule(B.op)[B].split(k, factor=2)
