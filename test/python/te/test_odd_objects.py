"""Objects of the wrong kind as arguments of te and of schedules: a result, or an error at the user's line."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from tilewright import TilewrightError, te, tir

ODD = (
    2**63, -1, float("nan"), 1.5, True, np.int64(4), np.float32(4), np.bool_(True), np.array(4), np.array([4]),
    np.array([]), "4", b"4", None, [4], (4,), {}, 4j, object(), int,
)  # fmt: skip


class Program:
    """A program, and a schedule of it for who asks for one."""

    def __init__(self) -> None:
        self.A = te.placeholder((12, 20), name="A")
        self.k = te.reduce_axis((0, 20), "k")
        self.B = te.compute((12, 20), lambda i, j: self.A[i, j] * 2, name="B")
        self.C = te.compute((12,), lambda i: te.sum(self.B[i, self.k], axis=self.k), name="C")
        self.i, self.j = self.B.op.axis

    @cached_property
    def s(self) -> te.Schedule:
        return te.create_schedule(self.C.op)

    @property
    def stage(self) -> te.Stage:
        return self.s[self.B]


def _extern(p: Program, statement: Callable[[Any, Any], object]) -> object:
    def body(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        out = ib.buffer_ptr(outs[0])
        out[0] = 1.0
        statement(ib, out)
        return ib.get()

    return te.extern((8,), [p.A], body)


CALLS: dict[str, Callable[[Program, Any], object]] = {
    "split": lambda p, v: p.stage.split(p.j, factor=v),
    "split nparts": lambda p, v: p.stage.split(p.j, nparts=v),
    "split axis": lambda p, v: p.stage.split(v, factor=2),
    "tile": lambda p, v: p.stage.tile(p.i, p.j, v, v),
    "storage_align": lambda p, v: p.stage.storage_align(p.i, v, 0),
    "pragma": lambda p, v: p.stage.pragma(p.i, "auto_unroll_max_step", v),
    "thread_axis": lambda p, v: te.thread_axis(v, "threadIdx.x"),
    "thread_axis pair": lambda p, v: te.thread_axis((0, v), "threadIdx.x"),
    "thread_axis first": lambda p, v: te.thread_axis((v, 8), "threadIdx.x"),
    "bind": lambda p, v: p.stage.bind(p.i, v),
    "fuse": lambda p, v: p.stage.fuse(p.i, v),
    "reorder": lambda p, v: p.stage.reorder(v, p.i),
    "compute_at": lambda p, v: p.stage.compute_at(p.s[p.C], v),
    "compute_at stage": lambda p, v: p.stage.compute_at(v, p.C.op.axis[0]),
    "cache_read": lambda p, v: p.s.cache_read(v, "shared", [p.B]),
    "cache_read readers": lambda p, v: p.s.cache_read(p.A, "shared", v),
    "cache_read scope": lambda p, v: p.s.cache_read(p.A, v, [p.B]),
    "cache_write": lambda p, v: p.s.cache_write(v, "local"),
    "rfactor": lambda p, v: p.s.rfactor(p.C, p.k, v),
    "rfactor axis": lambda p, v: p.s.rfactor(p.C, v),
    "tensorize": lambda p, v: p.stage.tensorize(p.j, v),
    "prefetch": lambda p, v: p.stage.prefetch(p.A, p.i, v),
    "transform_layout": lambda p, v: p.stage.transform_layout(v),
    "transform_layout of": lambda p, v: p.stage.transform_layout(lambda i, j: [j, v, i]),
    "set_store_predicate": lambda p, v: p.s[p.C].set_store_predicate(v),
    "env_threads": lambda p, v: p.s[p.C].env_threads(v),
    "stage of": lambda p, v: p.s[v],
    "create_schedule": lambda p, v: te.create_schedule(v),
    "create_group": lambda p, v: p.s.create_group(outputs=v, inputs=p.A),
    "placeholder": lambda p, v: te.placeholder((v,), name="P"),
    "placeholder shape": lambda p, v: te.placeholder(v, name="P"),
    "placeholder dtype": lambda p, v: te.placeholder((4,), v, name="P"),
    "placeholder name": lambda p, v: te.placeholder((4,), name=v),
    "placeholder strides": lambda p, v: te.placeholder((4,), name="P", strides=[v]),
    "placeholder align": lambda p, v: te.placeholder((4,), name="P", align=v),
    "compute": lambda p, v: te.compute((v,), lambda i: p.A[i, i]),
    "compute of": lambda p, v: te.compute((4,), v),
    "compute element": lambda p, v: te.compute((4,), lambda i: v),
    "compute index": lambda p, v: te.compute((4,), lambda i: p.A[v, i]),
    "reduce_axis": lambda p, v: te.reduce_axis((0, v), "k"),
    "reduce_axis first": lambda p, v: te.reduce_axis((v, 2**40), "k"),
    "reduce_axis pair": lambda p, v: te.reduce_axis(v, "k"),
    "sum": lambda p, v: te.compute((4,), lambda i: te.sum(p.A[i, p.k], axis=v)),
    "sum init": lambda p, v: te.compute((4,), lambda i: te.sum(p.A[i, p.k], axis=p.k, init=v)),
    "const": lambda p, v: te.const(v, "int32"),
    "astype": lambda p, v: p.A[0, 0].astype(v),
    "add": lambda p, v: p.A[0, 0] + v,
    "floormod": lambda p, v: p.i % v,
    "if_then_else": lambda p, v: te.if_then_else(v, p.A[0, 0], v),
    "var": lambda p, v: te.var(v),
    "var min": lambda p, v: te.var("n", min=v, divisible_by=v),
    "compute attrs": lambda p, v: te.compute((4,), lambda i: p.A[i, i], attrs=v),
    "scan": lambda p, v: te.scan(v, v, v),
    "gradient": lambda p, v: te.gradient(p.C, v),
    "gradient of": lambda p, v: te.gradient(v, p.A),
    "gradient head": lambda p, v: te.gradient(p.C, p.A, head=v),
    "extern": lambda p, v: v is int or te.extern((8,), [p.A], v),
    "intrinsic": lambda p, v: v is int or te.decl_tensor_intrin(p.B.op, v),
    "intrinsic of": lambda p, v: te.decl_tensor_intrin(v, lambda ins, outs: None),
    "comm_reducer": lambda p, v: v is int or te.comm_reducer(v, lambda t: 0),
    "comm_reducer of": lambda p, v: te.comm_reducer(lambda x, y: x + y, v),
    "extern shape": lambda p, v: te.extern(v, [p.A], lambda ins, outs: None),
    "extern inputs": lambda p, v: te.extern((8,), v, lambda ins, outs: None),
    "for_range": lambda p, v: _extern(p, lambda ib, out: ib.for_range(v, 4).__enter__()),
    "for_range end": lambda p, v: _extern(p, lambda ib, out: ib.for_range(0, v).__enter__()),
    "allocate": lambda p, v: _extern(p, lambda ib, out: ib.allocate("float32", v)),
    "thread_extent": lambda p, v: _extern(
        p, lambda ib, out: ib.scope_attr(te.thread_axis("threadIdx.x"), "thread_extent", v)
    ),
    "store": lambda p, v: _extern(p, lambda ib, out: out.__setitem__(v, 1.0)),
    "hybrid": lambda p, v: te.hybrid.script(v),
    "decl_buffer": lambda p, v: tir.decl_buffer((v,)),
}


@pytest.mark.parametrize("name", CALLS)
def test_each_is_told_at_the_users_line(name: str) -> None:
    for odd in ODD:
        try:
            CALLS[name](Program(), odd)
        except TilewrightError as error:
            assert re.match(rf"{re.escape(__file__)}:\d+: ", str(error)), f"{odd!r}: {error}"


@pytest.mark.parametrize(
    "name, odd, told",
    [
        ("split", np.array([4]), "split: expected an integer as factor, got array([4])"),
        ("thread_axis", np.array([4]), "te.thread_axis threadIdx.x: expected an integer extent, got array([4])"),
        ("reduce_axis", np.array([4]), "reduce_axis k: expected an integer or te.var as its end, got array([4])"),
        ("stage of", [4], "schedule: expected a tensor or its .op, got [4]"),
        ("compute of", int, "compute compute: expected a function of the axes, got <class 'int'>"),
        ("compute attrs", 4, "compute compute: expected attrs as a dict, got 4"),
        ("extern", 4, "extern extern: expected a function of buffers as fcompute, got 4"),
        ("intrinsic", 4, "decl_tensor_intrin tensor_intrin: expected a function of buffers as fcompute, got 4"),
        ("comm_reducer", 4, "te.comm_reducer reduce: expected a function as fcombine, got 4"),
        ("comm_reducer of", 4, "te.comm_reducer reduce: expected a function as fidentity, got 4"),
        ("gradient", 4, "te.gradient: expected tensors as inputs, got 4"),
        ("gradient head", 4, "te.gradient: expected a tensor as head, got 4"),
    ],
)
def test_the_texts(name: str, odd: object, told: str) -> None:
    with pytest.raises(TypeError) as caught:
        CALLS[name](Program(), odd)
    assert re.sub(r"^.*test_odd_objects\.py:\d+: ", "", str(caught.value)) == told


@pytest.mark.parametrize("function", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_schedule_is_not_copied(function: Callable[[object], object]) -> None:
    with pytest.raises(TypeError) as caught:
        function(Program().s)
    assert str(caught.value) == (
        "schedule: expected no copy and no pickle of a schedule: make another, and apply the trace() of this one to it"
    )
