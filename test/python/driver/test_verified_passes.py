"""IR is verified after each pass, or after the last one of an edge that meets no error of a user."""

from __future__ import annotations

import pytest
from mlir import ir

import tilewright as tw
from tilewright import te
from tilewright.errors import CompileError
from tilewright.ir import context, running
from tilewright.ir.passes import run_passes

TEXT = "func.func private @unused() -> i32 {\n%0 = arith.constant 1 : i32\nreturn %0 : i32\n}"
SAID = "type of return operand 0 ('i32') doesn't match function result type ('i64') in function @unused"
REPAIR = "canonicalize,symbol-dce"  # the second erases the function


def wrong() -> ir.Module:
    """A function whose type is not that of what it returns."""
    with context():
        module = ir.Module.parse(TEXT)
        module.body.operations[0].attributes["function_type"] = ir.TypeAttr.parse("() -> i64")
    return module


def run(passes: str, verifies_each: bool) -> None:
    run_passes(wrong(), f"builtin.module({passes})", "testing", "te", verifies_each=verifies_each)


@pytest.fixture
def as_told(verified: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "always_verifies_each", False)


@pytest.mark.usefixtures("as_told")
@pytest.mark.parametrize("verifies_each", [True, False])
def test_what_the_last_pass_leaves_is_verified(verifies_each: bool) -> None:
    with pytest.raises(CompileError) as caught:
        run("canonicalize", verifies_each)
    assert SAID in str(caught.value)


@pytest.mark.usefixtures("as_told")
def test_what_a_later_pass_repairs(monkeypatch: pytest.MonkeyPatch) -> None:
    run(REPAIR, verifies_each=False)
    with pytest.raises(CompileError):
        run(REPAIR, verifies_each=True)
    monkeypatch.setattr(running, "always_verifies_each", True)
    with pytest.raises(CompileError):
        run(REPAIR, verifies_each=False)


@pytest.mark.usefixtures("as_told")
def test_where_a_schedule_may_be_wrong_each_pass_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    told = dict[str, bool]()

    def record(module: ir.Module, pipeline: str, doing: str, stage: str, **options: bool) -> None:
        told[stage] = options["verifies_each"]
        run_passes(module, pipeline, doing, stage, **options)

    monkeypatch.setattr("tilewright.compiler.pipeline.run_passes", record)
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    tw.build(s, [A, B], "cuda -arch=sm_90a", "f").ir("host")
    assert told == {"linalg": True, "loops": True, "gpu": True, "nvvm": False, "host": False}
