"""Intrinsics in a trace's JSON: data, which may hold what computes and nothing else, and has to keep its promise."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import numpy as np
import pytest
from mlir import ir

import tilewright as tw
from tilewright import ir as tw_ir
from tilewright import schedules, te, testing, tir
from tilewright.te.intrinsic_ir import intrinsic_from_file
from tilewright.te.schedule.trace import Trace

MARK = "expected an instruction's intrinsic as tilewright.instructions makes it, got another that is marked so"


def scheduled(size: int = 8) -> tuple[te.Schedule, list[te.Tensor]]:
    """A matmul by an intrinsic with all parts, a scratch buffer and lanes."""
    a, b = te.placeholder((4,), name="a"), te.placeholder((4, 4), name="b")
    k = te.reduce_axis((0, 4), name="k")
    c = te.compute((4,), lambda i: te.sum(a[k] * b[i, k], axis=k), name="c")

    def statements(ins, outs):
        def part(clears: bool, adds: bool):
            ib = tir.ir_builder.create()
            out = ib.buffer_ptr(outs[0])
            own = ib.allocate("float32", (4,), name="own", scope="local")
            with ib.for_range(0, 4, name="r") as r:
                if clears:
                    out[r] = 0.0
                if adds:
                    with ib.for_range(0, 4, name="v", kind="vectorize") as v:
                        own[v] = ins[0][v] * ins[1][r, v]
                    with ib.for_range(0, 4, name="v") as v:
                        out[r] += own[v]
            return ib.get()

        return part(True, True), part(True, False), part(False, True)

    intrinsic = te.decl_tensor_intrin(c.op, statements, name="gemv")
    A, B = (te.placeholder((size, size), name=name) for name in "AB")
    z = te.reduce_axis((0, size), name="z")
    C = te.compute((size, size), lambda i, j: te.sum(A[i, z] * B[j, z], axis=z), name="C")
    s = te.create_schedule(C.op)
    i, j = C.op.axis
    s[C].bind(i, te.thread_axis("blockIdx.x"))
    _, inner = s[C].split(j, factor=4)
    outer, rest = s[C].split(C.op.reduce_axis[0], factor=4)
    s[C].reorder(outer, inner, rest)
    s[C].tensorize(inner, intrinsic)
    return s, [A, B, C]


def loaded(change: Callable[[str], str]) -> tuple[te.Schedule, te.Schedule]:
    """A schedule, and the same from a file in which the intrinsic's IR was changed."""
    s, (*_, C) = scheduled()
    content = json.loads(s.trace().to_json())
    (step,) = (one for one in content["steps"] if one["call"] == "tensorize")
    with tw_ir.context(), ir.Location.unknown():
        functions = ir.Module.parse(step["args"][1]["functions"]).operation.get_asm(enable_debug_info=False)
    step["args"][1]["functions"] = change(functions)
    assert step["args"][1]["functions"] != functions
    again = te.create_schedule(C.op)
    Trace.from_json(json.dumps(content)).apply(again)
    return s, again


def test_one_that_keeps_its_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    # As from another process: not known yet.
    monkeypatch.setattr("tilewright.te.intrinsic._MADE", set())
    s, again = loaded(lambda text: "// from a file\n" + text)
    assert str(again) == str(s)
    s, (A, B, C) = scheduled()
    random = np.random.default_rng(0)
    a, b = (random.standard_normal((8, 8)).astype("float32") for _ in range(2))
    (c,) = testing.run(tw.build(s, [A, B, C], "sim"), [a, b], [((8, 8), "float32")])
    np.testing.assert_allclose(c, a @ b.T, rtol=1e-5, atol=1e-5)


def in_function(role: str, old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        before, of, rest = text.partition(f"func.func @{role}(")
        return before + of + re.sub(old, new, rest, count=1)

    return change


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            in_function("update", "arith.addf", "arith.subf"),
            "intrinsic 'gemv' of a file: expected the reset and the update to compute what is described, got ",
        ),
        (in_function("body", "arith.mulf", "arith.addf"), "expected the body to compute what is described, got "),
        (
            in_function("reset", r"0\.000000e\+00", "1.0"),
            "expected the reset and the update to compute what is described, got ",
        ),
        # What is not there may not be accessed, before anything else is known of it.
        (
            in_function("body", r"memref.store %cst, %arg2\[%arg3\]", "memref.store %cst, %arg2[%c4]"),
            "expected @body to run, got an error: ",
        ),
        (
            in_function("update", r"( +)%c0 = ", r'\1llvm.inline_asm has_side_effects "ud2", "" : () -> ()\n\1%c0 = '),
            "expected ops of arith, math and builtin.module, func.func, func.return, te.compute, te.read, te.yield, "
            "affine.apply, scf.for, scf.if, scf.yield, memref.alloca, memref.load, memref.store, got 'llvm.inline_asm'",
        ),
        (in_function("update", r"( +)%c0 = ", r"\1func.call @body(%arg0, %arg1, %arg2) : (memref<4xf32>, memref<4x4xf32>, "
                     r"memref<4xf32>) -> ()\n\1%c0 = "), "got 'func.call'"),
        (in_function("update", r"( +)%c0 = ", r"\1scf.while : () -> () {\n%t = arith.constant true\nscf.condition(%t)\n} do {\n"
                     r"scf.yield\n}\n\1%c0 = "), "got 'scf.while'"),
        (in_function("update", r"( +)%c0 = ", r"\1gpu.barrier\n\1%c0 = "), "got 'gpu.barrier'"),
        (
            in_function("update", "constant 4 : index", "constant 1099511627776 : index"),
            "expected at most 1048576 iterations of a loop, got 1099511627776",
        ),
        (
            in_function("update", r"(scf\.for %\w+) = %c0", r"\1 = %c4"),
            "expected loops from 0 by 1 to a constant, got others",
        ),
        (
            in_function("update", r"( +)%c0 = ", r"\1%large = memref.alloca() : memref<1000000xf32>\n\1%c0 = "),
            "expected buffers of a thread's own of at most 4096 elements, got memref<1000000xf32>",
        ),
        (
            in_function("update", r"( +)%c0 = ", r"\1%v = arith.constant dense<0.0> : vector<4xf32>\n\1%c0 = "),
            "expected 'arith.constant' on scalars, got vector<4xf32>",
        ),
        (
            in_function("update", 'schedule.axis = #schedule.axis<"r">', 'schedule.axis = #schedule.axis<"r">, schedule.bind = #schedule.thread<threadIdx.x>'),
            "expected no 'schedule.bind' on 'scf.for'",
        ),
        (in_function("update", 'schedule.axis = #schedule.axis<"r">', 'schedule.axis = #schedule.axis<"r">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>'), MARK),
        (lambda text: text.replace("func.func @update(", "func.func private @other("), "@body or @update, got @describe, @body, @reset, @other"),
        (lambda text: text.replace("@describe(", "@described("), "@body or @update, got @described, "),
        (in_function("update", 'te.name = "a"', 'llvm.byval = f32, te.name = "a"'), "expected te.name, te.dtype, te.output of argument 0 of @update"),
        (in_function("describe", 'te.dtype = f32', 'te.dtype = i32'), "expected a tensor of at most 1048576 elements of int32, got tensor<4xf32>"),
        (lambda _: "nothing", "expected IR, got "),
    ],
)  # fmt: skip
def test_one_that_does_not(change: Callable[[str], str], expected: str) -> None:
    with pytest.raises(ValueError) as caught:
        loaded(change)
    assert str(caught.value).startswith("intrinsic 'gemv' of a file: ") and expected in str(caught.value)


def test_what_is_no_intrinsic() -> None:
    with pytest.raises(ValueError, match="expected an intrinsic's name and IR, got 'gemv' and 3"):
        intrinsic_from_file("gemv", 3)
    with pytest.raises(ValueError, match="got none"):
        intrinsic_from_file("gemv", "// nothing")


@pytest.mark.parametrize("promote", [0, 2])
def test_instructions(promote: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix instruction is known by its loops, to the letter; none of it is run."""
    from tilewright.instructions import mma_sync, wgmma

    for made in (
        mma_sync("float16", "float32", transpose_b=True),
        mma_sync("tf32", "float32"),
        wgmma("float8_e4m3fn", "float32", n=128, transpose_b=True, promote=promote),
        wgmma("bfloat16", "float32", n=64, rows=(8, 8), transpose_a=True),
    ):
        monkeypatch.setattr("tilewright.te.intrinsic._MADE", set())
        again = intrinsic_from_file(made.name, "// from a file\n" + made.functions)
        assert again.name == made.name
        with pytest.raises(ValueError) as caught:
            intrinsic_from_file(made.name, made.functions.replace("arith.add", "arith.sub"))
        assert str(caught.value) == f"intrinsic {made.name!r} of a file: {MARK}"


def test_a_whole_schedule_of_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    s, (*_, C) = schedules.matmul_wgmma(512, 512, 128)
    content = json.loads(s.trace().to_json())
    (step,) = (one for one in content["steps"] if one["call"] == "tensorize")
    monkeypatch.setattr("tilewright.te.intrinsic._MADE", set())
    again = te.create_schedule(C.op)
    Trace.from_json(json.dumps(content)).apply(again)
    assert str(again) == str(s)
