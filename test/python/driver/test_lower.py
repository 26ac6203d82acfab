"""The pipeline edge by edge: stages, hooks, diagnostics, IR taken up where it was dumped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mlir import ir

import tilewright as tw
from tilewright import te
from tilewright.compiler.entry_points import take_up

FILE = Path(__file__)


def scale(n: int = 1000):
    """B = 2 A, one thread an element."""
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2.0, name="B")
    s = te.create_schedule(B.op)
    block, thread = s[B].split(B.op.axis[0], factor=128)
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.x"))
    return s, [A, B]


CUDA = tw.Target("cuda", arch="sm_90a")


def test_each_stage_has_its_ops() -> None:
    lowering = take_up(*scale(), CUDA, "scale")
    for stage, op in (
        ("te", "te.compute"),
        ("schedule", "schedule.split"),
        ("linalg", "linalg.generic"),
        ("loops", "scf.for"),
    ):
        assert op in lowering.ir(stage), stage
    assert "te.compute" not in lowering.ir("schedule")
    assert "te.compute" not in lowering.ir("linalg")
    assert "linalg" not in lowering.ir("loops")


def test_locations_name_the_users_line() -> None:
    lowering = take_up(*scale(), CUDA, "scale")
    line = next(number for number, text in enumerate(FILE.read_text().splitlines(), 1) if "A[i] * 2.0" in text)
    for stage in ("te", "linalg", "loops"):
        assert f'"{FILE}":{line}' in lowering.ir(stage, locations=True), stage
        assert FILE.name not in lowering.ir(stage), stage


def test_lower_gives_a_module_of_ones_own() -> None:
    module = tw.lower(*scale(), "scale", stage="linalg")
    assert isinstance(module, ir.Module)
    module.operation.attributes["mine.mark"] = ir.UnitAttr.get(module.context)
    assert "mine" not in str(tw.lower(*scale(), "scale", stage="linalg"))


def test_text_is_taken_up_where_it_was_dumped() -> None:
    loops = str(tw.lower(*scale(), "scale", stage="loops"))
    edited = loops.replace("2.000000e+00", "3.000000e+00")
    assert edited != loops
    again = take_up(edited, start="loops", target=CUDA)
    assert (again.name, again.stages[0]) == ("scale", "loops")
    assert "3.000000e+00" in again.ir("loops")
    linalg = str(tw.lower(*scale(), "scale", stage="linalg"))
    assert str(tw.lower(linalg, start="linalg", stage="loops")) == loops


def test_hook_by_flag_runs_after_its_stage() -> None:
    seen: list[str] = []
    tw.lower(*scale(), "scale", after={"loops": ["strip-debuginfo", "--canonicalize", lambda m: seen.append(str(m))]})
    assert len(seen) == 1
    assert "scf.for" in seen[0]


def test_hook_changes_in_place_or_returns_a_module() -> None:
    def mark(module: ir.Module) -> None:
        module.operation.attributes["mine.mark"] = ir.UnitAttr.get()

    def replace(module: ir.Module) -> ir.Module:
        return ir.Module.parse(str(module).replace("2.000000e+00", "5.000000e+00"))

    lowering = take_up(*scale(), CUDA, "scale", after={"te": mark, "linalg": (replace,)})
    assert "attributes {mine.mark}" in lowering.ir("te")
    assert "2.000000e+00" in lowering.ir("te")
    assert "5.000000e+00" in lowering.ir("loops")
    assert "after linalg" in lowering.timings


def test_timings_name_what_was_made() -> None:
    lowering = take_up(*scale(), CUDA, "scale")
    lowering.reach("loops")
    assert list(lowering.timings) == ["te", "linalg", "loops"]
    assert all(seconds > 0 for seconds in lowering.timings.values())


def test_invalid_ir_after_a_hook_names_the_hook() -> None:
    def break_it(module: ir.Module) -> None:
        function = module.body.operations[0]
        function.regions[0].blocks[0].operations[len(function.regions[0].blocks[0].operations) - 1].erase()

    with pytest.raises(tw.CompileError) as error:
        tw.lower(*scale(), "scale", after={"loops": break_it})
    assert "(verifying what test_invalid_ir_after_a_hook_names_the_hook.<locals>.break_it made after loops)" in str(
        error.value
    )
    assert error.value.stage == "loops"
    assert error.value.diagnostics


def test_unknown_pass_is_refused() -> None:
    with pytest.raises(tw.CompileError, match="'no-such-pass' does not refer to a registered pass"):
        tw.lower(*scale(), "scale", after={"loops": "no-such-pass"})


def test_error_of_a_schedule_names_file_and_line() -> None:
    A = te.placeholder((16, 16), name="A")
    B = te.compute((16, 16), lambda i, j: A[i, j] + 1.0, name="B")
    s = te.create_schedule(B.op)
    i, j = B.op.axis
    s[B].bind(i, te.thread_axis("threadIdx.x"))
    with pytest.raises(tw.ScheduleError, match=rf"^{re.escape(str(FILE))}:\d+: error: "):
        s[B].bind(j, te.thread_axis("threadIdx.x"))
        tw.lower(s, [A, B], "twice", stage="loops")


def test_malformed_text() -> None:
    with pytest.raises(tw.CompileError) as error:
        tw.lower("func.func @f( {", stage="linalg")
    assert "(reading the text as IR of stage te)" in str(error.value)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: tw.lower(*scale(), stage="nvvm", target="cpu"), ValueError,
         "expected a stage of target cpu (te, schedule, linalg, loops, host), got 'nvvm'"),
        (lambda: tw.lower(*scale(), stage="assembly"), ValueError,
         "expected a stage of target cuda (te, schedule, linalg, loops, gpu, nvvm, host), got 'assembly'"),
        (lambda: tw.lower(scale()[0]), TypeError,
         "expected args beside a schedule: the tensors that the function takes, outputs too"),
        (lambda: tw.lower(*scale(), 5), TypeError, "expected a string as name, got 5"),
        (lambda: tw.lower(*scale(), "2 be"), ValueError, "expected a name that is an identifier, got '2 be'"),
        (lambda: tw.lower(*scale(), "expf"), ValueError,
         "expected a name that is no function of the C library, which compiled code calls, got 'expf': "
         "say name='expf_kernel'"),
        (lambda: tw.lower("func.func @fmod() {return}"), ValueError,
         "expected a name that is no function of the C library, which compiled code calls, got 'fmod': "
         "say name='fmod_kernel'"),
        (lambda: tw.lower(*scale(), start="te"), TypeError,
         "expected start only beside a module or IR text: a schedule starts at te"),
        (lambda: tw.lower("module {}", []), TypeError,
         "expected no args beside a module or IR text: its function has them"),
        (lambda: tw.lower("module {}"), ValueError, "expected one public function in the module, got none"),
        (lambda: tw.lower("func.func @f() { return }", name="g"), ValueError,
         "expected a public function 'g' in the module, got f"),
        (lambda: tw.lower("module {}", start="ptx", target=CUDA), ValueError,
         "expected a stage to start at (te, linalg, loops, gpu, nvvm for target cuda), got 'ptx'"),
        (lambda: tw.lower(*scale(), after={"ptx": "cse"}), ValueError,
         "expected a stage of target cuda (te, schedule, linalg, loops, gpu, nvvm, host) in after, got 'ptx'"),
        (lambda: tw.lower(*scale(), after={"te": 3}), TypeError,
         "expected a pass's flag or a function in after['te'], got int"),
        (lambda: tw.lower(*scale(), after={"te": lambda module: 3}), TypeError,
         "expected <lambda>.<locals>.<lambda>, called after te, to return a module or None, got int"),
    ],
)  # fmt: skip
def test_wrong_arguments(call, kind, message) -> None:
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == message
