"""What the update of an intrinsic adds to: reducers that te names, and reducers of one's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, tir
from tilewright.te.schedule import Trace

Step = Callable[[Any, Any], Any]


def own(name: str = "mine") -> Any:
    return te.comm_reducer(lambda x, y: x + y * 1, lambda t: te.const(0, t), name=name)


def furthest() -> Any:
    """The number that is furthest from 0."""
    return te.comm_reducer(lambda x, y: te.select(x * x >= y * y, x, y), lambda t: te.const(0, t), name="furthest")


def intrinsic(reducer: Any, step: Step, has_reset: bool = True, keeps: bool = True, axes: int = 1, name: str = "c"):
    """Sixteen elements a row by `step`; where it does not keep it begins anew."""
    shape = (4, 16) if axes == 1 else (4, 2, 8)
    a = te.placeholder(shape, name="a")
    ks = [te.reduce_axis((0, extent), f"k{i}") for i, extent in enumerate(shape[1:])]
    c = te.compute((4,), lambda i: reducer(a[(i, *ks)], axis=ks), name=name)

    def update(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        out = ib.buffer_ptr(outs[0])
        with ib.for_range(0, 4, name="i") as i:
            total = ib.allocate("float32", (1,), name="total", scope="local")
            total[0] = out[i] if keeps else te.const(0, "float32")
            with ib.for_range(0, 16, name="k") as k:
                at = (k,) if axes == 1 else (te.floordiv(k, 8), te.floormod(k, 8))
                total[0] = step(total[0], ins[0][(i, *at)])
            out[i] = total[0]
        return ib.get()

    def reset(outs: Any) -> Any:
        ib = tir.ir_builder.create()
        with ib.for_range(0, 4, name="i") as i:
            ib.buffer_ptr(outs[0])[i] = te.const(0, "float32")
        return ib.get()

    def statements(ins: Any, outs: Any) -> Any:
        return None, reset(outs) if has_reset else None, update(ins, outs)

    return te.decl_tensor_intrin(c.op, statements, name="mine")


def of_rows(reducer: Any) -> tuple[Any, list[Any]]:
    A = te.placeholder((32, 64), name="A")
    k = te.reduce_axis((0, 64), "k")
    C = te.compute((32,), lambda i: reducer(A[i, k], axis=k), name="C")
    return te.create_schedule(C.op), [A, C]


def tensorized(reducer: Any, intrin: Any) -> tuple[Any, list[Any]]:
    s, (A, C) = of_rows(reducer)
    o, i = s[C].split(C.op.axis[0], factor=4)
    ko, ki = s[C].split(C.op.reduce_axis[0], factor=16)
    s[C].reorder(o, ko, i, ki)
    s[C].tensorize(i, intrin)
    s[C].bind(o, te.thread_axis("blockIdx.x"))
    return s, [A, C]


PLUS: Step = lambda total, x: total + x  # noqa: E731
FURTHER: Step = lambda total, x: te.select(total * total >= x * x, total, x)  # noqa: E731


@pytest.mark.parametrize(("make", "step"), [(own, PLUS), (furthest, FURTHER)])
@pytest.mark.parametrize("axes", [1, 2])
def test_one_that_adds(make: Any, step: Step, axes: int) -> None:
    reducer = make()
    intrin = intrinsic(reducer, step, axes=axes)
    if axes == 2:
        return
    s, args = tensorized(reducer, intrin)
    a = np.random.default_rng(3).integers(-9, 10, (32, 64)).astype("float32")
    a[a == -9] = 8  # one of each size
    want = a.sum(1) if make is own else np.take_along_axis(a, np.abs(a).argmax(1)[:, None], 1)[:, 0]
    again = te.create_schedule(args[1].op)
    Trace.from_json(s.trace().to_json()).apply(again)
    for schedule in (s, again):
        out = np.full(32, np.nan, "float32")
        tw.build(schedule, args, "sim")(a, out)
        np.testing.assert_array_equal(np.abs(out), np.abs(want))


@pytest.mark.parametrize("make", [lambda: te.sum, own, furthest])
def test_one_that_begins_anew(make: Any) -> None:
    """After a reset it computes what is described, but of the second half of a sum it would leave that half alone."""
    with pytest.raises(ValueError, match="expected the update to compute what is described, got "):
        intrinsic(make(), FURTHER if make is furthest else PLUS, keeps=False)


@pytest.mark.parametrize("make", [lambda: te.sum, own])
def test_an_update_alone(make: Any) -> None:
    intrinsic(make(), PLUS, has_reset=False)
    with pytest.raises(ValueError, match="expected the update to compute what is described, got "):
        intrinsic(make(), lambda total, x: total - x, has_reset=False)


def test_one_of_a_file_that_begins_anew() -> None:
    reducer = own()
    s, args = tensorized(reducer, intrinsic(reducer, PLUS))
    content = json.loads(s.trace().to_json())
    (made,) = [one["args"][1] for one in content["steps"] if one["call"] == "tensorize"]
    load = '%8 = "memref.load"(%arg1, '
    assert "memref.load" in made["functions"], load
    lines = made["functions"].split("\n")
    # What it adds to is no longer loaded: the total begins at 0.
    at = next(i for i, line in enumerate(lines) if '"memref.load"' in line and "memref<4xf32>" in line)
    name = lines[at].split("=")[0].strip()
    lines[at] = f'{name} = "arith.constant"() <{{value = 0.0 : f32}}> : () -> f32'
    made["functions"] = "\n".join(lines)
    with pytest.raises(ValueError, match="expected the update to compute what is described, got "):
        Trace.from_json(json.dumps(content)).apply(te.create_schedule(args[1].op))


def test_a_name_like_the_combiner() -> None:
    with pytest.raises(ValueError, match=r"expected names without '} combine \(', got one$"):
        intrinsic(own(), PLUS, name="c} combine (")
    intrinsic(te.sum, PLUS, name="c} combine (")


@pytest.mark.parametrize("is_right", [True, False])
def test_two_results(is_right: bool) -> None:
    """The largest and where it is."""

    def combine(x: Any, y: Any) -> Any:
        takes = x[1] >= y[1]
        return te.select(takes, x[0], y[0]), te.select(takes, x[1], y[1])

    argmax = te.comm_reducer(combine, lambda i, t: (te.const(-1, i), te.min_value(t)), name="argmax")
    at = te.placeholder((4, 8), "int32", name="at")
    a = te.placeholder((4, 8), "int32", name="a")
    k = te.reduce_axis((0, 8), "k")
    place, _ = te.compute((4,), lambda i: argmax((at[i, k], a[i, k]), axis=k), name="c")

    def statements(ins: Any, outs: Any) -> Any:
        def part(adds: bool) -> Any:
            ib = tir.ir_builder.create()
            where, largest = (ib.buffer_ptr(out) for out in outs)
            with ib.for_range(0, 4, name="i") as i:
                if not adds:
                    where[i] = te.const(-1, "int32")
                    largest[i] = te.min_value("int32")
                else:
                    with ib.for_range(0, 8, name="k") as j:
                        with ib.if_scope(ins[1][i, j] > largest[i]):
                            where[i] = ins[0][i, j] if is_right else j
                            largest[i] = ins[1][i, j]
            return ib.get()

        return None, part(False), part(True)

    if is_right:
        te.decl_tensor_intrin(place.op, statements, name="mine")
    else:
        with pytest.raises(ValueError, match="to compute what is described, got "):
            te.decl_tensor_intrin(place.op, statements, name="mine")
