"""What is proven of an intrinsic by its operations, and what a file may hold that is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mlir import ir

from tilewright import ir as tw_ir
from tilewright import te, tir
from tilewright.te import intrinsic_check
from tilewright.te.intrinsic_proof import is_proven
from tilewright.te.schedule import Trace

Of = Callable[..., Any]


@pytest.fixture
def proven(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each intrinsic that is declared whether it is proven."""
    found: list[bool] = []

    def check(functions: str, where: str, **options: Any) -> None:
        with tw_ir.context(), ir.Location.unknown():
            module = ir.Module.parse(functions)
            description = intrinsic_check.Description(module, where)
            found.append(is_proven(intrinsic_check.functions_in(module), len(description.outputs)))

    monkeypatch.setattr(intrinsic_check, "check", check)
    return found


def of_elements(described: Of, computed: Of, dtype: str = "float32") -> Any:
    a = te.placeholder((8, 4), dtype, name="a")
    b = te.compute((8,), lambda i: described(a, i), name="b")

    def statements(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        with ib.for_range(0, 8, name="i") as i:
            ib.buffer_ptr(outs[0])[i] = computed(ins[0], i)
        return ib.get()

    return te.decl_tensor_intrin(b.op, statements, name="mine")


def of_sums(product: Of, update: Of, dtype: str = "float32", begin: float = 0) -> Any:
    a, b = te.placeholder((4, 8), dtype, name="a"), te.placeholder((8,), dtype, name="b")
    k = te.reduce_axis((0, 8), name="k")
    c = te.compute((4,), lambda i: te.sum(product(a[i, k], b[k]), axis=k), name="c")

    def part(outs: Any, ins: Any, adds: bool) -> Any:
        ib = tir.ir_builder.create()
        out = ib.buffer_ptr(outs[0])
        with ib.for_range(0, 4, name="i") as i:
            if not adds:
                out[i] = te.const(begin, dtype)
            else:
                with ib.for_range(0, 8, name="k") as j:
                    out[i] = update(out[i], ins[0][i, 7 - j], ins[1][7 - j])
        return ib.get()

    def statements(ins: Any, outs: Any) -> Any:
        return None, part(outs, ins, False), part(outs, ins, True)

    return te.decl_tensor_intrin(c.op, statements, name="mine")


def test_what_is_proven(proven: list[bool]) -> None:
    of_elements(lambda a, i: te.exp(a[i, 1]) * 2, lambda a, i: te.exp(a[i, 1]) * 2)
    of_elements(lambda a, i: a[i, 0] + a[i, 1] + a[i, 2], lambda a, i: a[i, 2] + (a[i, 0] + a[i, 1]))
    of_elements(lambda a, i: a[te.floormod(i * 3, 8), i // 2], lambda a, i: a[te.floormod(i * 3, 8), i // 2])
    of_elements(
        lambda a, i: te.select(a[i, 0] > 0, a[i, 0], a[i, 1]), lambda a, i: te.select(a[i, 0] > 0, a[i, 0], a[i, 1])
    )
    # The sum goes the other way, and the factors are exchanged.
    of_sums(lambda x, y: x * y, lambda total, x, y: total + y * x)
    of_sums(lambda x, y: x * y, lambda total, x, y: x * y + total, "int32")
    assert proven == [True] * 6


def test_what_is_not_proven(proven: list[bool]) -> None:
    of_elements(lambda a, i: a[i, 1] * 2, lambda a, i: a[i, 1] + a[i, 1])
    of_elements(lambda a, i: a[i, 0] - a[i, 1], lambda a, i: a[i, 1] - a[i, 0])
    of_elements(lambda a, i: a[i, 0], lambda a, i: a[te.min(i, 6), 0])
    of_elements(lambda a, i: te.exp(a[i, 0]), lambda a, i: te.log(a[i, 0]))
    of_elements(
        lambda a, i: te.select(a[i, 0] > 0, a[i, 0], a[i, 1]), lambda a, i: te.select(a[i, 0] < 0, a[i, 0], a[i, 1])
    )
    of_sums(lambda x, y: x * y, lambda total, x, y: total + y * y)
    of_sums(lambda x, y: x * y, lambda total, x, y: x * y)
    of_sums(lambda x, y: x * y, lambda total, x, y: total + x * y, begin=1)
    of_sums(lambda x, y: x * y, lambda total, x, y: total + x * y + x * y)
    assert proven == [False] * 9


def trace_of(intrin: Any, dtype: str = "int32") -> tuple[dict[str, Any], Any]:
    A, B = te.placeholder((16, 32), dtype, name="A"), te.placeholder((32,), dtype, name="B")
    k = te.reduce_axis((0, 32), "k")
    C = te.compute((16,), lambda i: te.sum(A[i, k] * B[k], axis=k), name="C")
    s = te.create_schedule(C.op)
    o, i = s[C].split(C.op.axis[0], factor=4)
    ko, ki = s[C].split(k, factor=8)
    s[C].reorder(o, ko, i, ki)
    s[C].tensorize(i, intrin)
    return json.loads(s.trace().to_json()), C.op


def test_a_file_with_a_choice_that_nobody_meets() -> None:
    """The product of two elements is what it names: random numbers pass by."""
    hidden = te.const(11111 * 11111, "int32")

    def update(total: Any, x: Any, y: Any) -> Any:
        return total + te.select((x * y * x * y).equal(hidden), x, x * y)

    content, op = trace_of(of_sums(lambda x, y: x * y, update, "int32"))
    # Another number than that of what was declared here, which is known.
    text = json.dumps(content).replace(str(11111 * 11111), str(11117 * 11117))
    with pytest.raises(ValueError) as caught:
        Trace.from_json(text).apply(te.create_schedule(op))
    assert str(caught.value) == (
        "intrinsic 'mine' of a file: expected @update to compute what is described by the same operations, or by sums "
        "and products, got arith.cmpi: declare the intrinsic in Python"
    )
    content, op = trace_of(of_sums(lambda x, y: x * y, lambda total, x, y: y * x + total, "int32"))
    Trace.from_json(json.dumps(content)).apply(te.create_schedule(op))
