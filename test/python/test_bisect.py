"""`tilewright bisect` and `tw.testing.bisect` name the stage, the pass and the smallest inputs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mlir import ir

import tilewright as tw
from command import tilewright
from fuzz.check import check
from fuzz.choices import Choices, Seeded
from fuzz.expressions import arguments, is_same, random_expressions
from fuzz.programs import random_program
from fuzz.schedules import Scheduler
from tilewright import te, testing, tir
from tilewright.bisection.passes import Step
from tilewright.bisection.program import BisectedProgram
from tilewright.te.interpret import ReadOutside, interpret


def rows(n: Any = 6, m: int = 8) -> tuple[Any, list[Any]]:
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), name="k")
    T = te.compute((n, m), lambda i, j: A[i, j] * 2.0, name="T")
    B = te.compute((n,), lambda i: te.sum(T[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], factor=4)
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    s[B].bind(inner, te.thread_axis("threadIdx.x"))
    s[T].set_scope("local")
    s[T].compute_at(s[B], inner)
    return s, [A, B]


def triple(module: ir.Module) -> ir.Module:
    """A pass that is wrong: it multiplies by 3 in the place of 2."""
    with module.context:
        return ir.Module.parse(str(module).replace("2.000000e+00", "3.000000e+00"))


WRONG = {
    "te": ("linalg", "te", "wrong", "wrong", "wrong"),
    "linalg": ("linalg", "te", "wrong", "wrong", "wrong"),
    "loops": ("loops", "linalg", "right", "wrong", "wrong"),
    "gpu": ("gpu", "loops", "right", "right", "wrong"),
}


@pytest.mark.sweep
@pytest.mark.parametrize("after", WRONG)
def test_a_wrong_pass(after: str) -> None:
    stage, before, linalg, loops, gpu = WRONG[after]
    found = testing.bisect(*rows(), name="rows", after={after: ["canonicalize", triple]})
    assert bool(found) and found.stage == stage and found.passes == (f"triple (after {after})",)
    assert str(found) == (
        f"rows: stage {stage} differs from {before}\n"
        "  te      right: by NumPy\n"
        f"  linalg  {linalg}: on the processor\n"
        f"  loops   {loops}: on the processor\n"
        f"  gpu     {gpu}: on the simulator\n"
        "  cubin   not run: target sim has no cubin\n"
        f"pass: triple (after {after})\n"
        "B[5]: expected 2.0, got 3.0; 1 of 6 elements differ\n"
        "A = zeros([6, 8], float32) with [5, 7]: 1.0"
    )


def test_a_right_program() -> None:
    found = testing.bisect(*rows(), "cuda -arch=sm_80")
    assert not found and found.passes == () and not found.inputs
    if not tw.cuda(0).exist:
        assert [(one.stage, one.outcome, one.detail) for one in found.stages][-1] == ("cubin", "not run", "no GPU")
    assert str(found).startswith("main: each stage computes the same\n  te      right: by NumPy\n")


@pytest.mark.sweep
@pytest.mark.parametrize("behind", ["canonicalize", "outline-kernels", "plan-workspace"])
def test_a_wrong_pass_among_others(behind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One between two stages that cannot be left out is named, too: those that must follow run behind it."""
    steps = BisectedProgram.steps

    def with_a_wrong_one(self: BisectedProgram, before: str, stage: str) -> list[Step]:
        made = steps(self, before, stage)
        at = [step.label for step in made].index(behind) + 1
        return [*made[:at], Step("triple", triple, False), *made[at:]]

    monkeypatch.setattr(BisectedProgram, "steps", with_a_wrong_one)
    module = BisectedProgram.module

    def wrong_module(self: BisectedProgram, stage: str) -> ir.Module:
        return triple(module(self, stage)) if stage == "gpu" else module(self, stage)

    monkeypatch.setattr(BisectedProgram, "module", wrong_module)
    found = testing.bisect(*rows())
    assert (found.stage, found.passes) == ("gpu", ("triple",))


@pytest.mark.sweep
def test_a_stage_that_crashes_or_reports() -> None:
    def far(module: ir.Module) -> ir.Module:
        return ir.Module.parse(re.sub(r"([ds]\d) \* 4", r"\1 * 4 + 99999999999", str(module)))

    found = testing.bisect(*rows(8), after={"loops": far})
    assert found.stage == "loops" and found.found == "ended by SIGSEGV"
    found = testing.bisect(*rows(8), after={"gpu": far})
    assert found.stage == "gpu" and found.found.startswith("SimulationError: ")


@pytest.mark.sweep
def test_symbols_and_sizes_become_small() -> None:
    n = te.var("n", divisible_by=2)
    found = testing.bisect(*rows(n), after={"linalg": triple})
    assert found.inputs["A"].shape == (2, 8) and np.count_nonzero(found.inputs["A"]) == 1
    found = testing.bisect(rows, sizes=(40, 16), after={"linalg": triple})
    assert found.sizes == (1, 1)
    assert str(found).endswith("sizes: 1, 1\nA = zeros([1, 1], float32) with [0, 0]: 1.0")


@pytest.mark.sweep
def test_numbers_and_given_inputs() -> None:
    alpha, n = te.var("alpha", "float32"), te.var("n")
    A = te.placeholder((n,), name="A", dtype="int32")
    B = te.compute((n,), lambda i: A[i].astype("float32") * alpha + 2.0, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    assert not testing.bisect(s, [alpha, A, B])
    given = [3.0, np.array([7, 0, 9], "int32")]
    found = testing.bisect(s, [alpha, A, B], inputs=given, after={"gpu": triple})
    assert found.inputs["alpha"] == 3.0 and found.inputs["A"].tolist() == [0, 0, 0]
    assert found.found == "B[0]: expected 2.0, got 3.0; 3 of 3 elements differ"


def test_scans_tuples_and_intrinsics_of_the_program() -> None:
    X = te.placeholder((6, 3), name="X")
    state = te.placeholder((6, 3), name="state")
    init = te.compute((1, 3), lambda _, i: X[0, i], name="init")
    update = te.compute((6, 3), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    S = te.scan(init, update, state, name="S")
    s = te.create_schedule(S.op)
    s[S].bind(S.op.axis[1], te.thread_axis("threadIdx.x"))
    s[init].bind(init.op.axis[1], te.thread_axis("threadIdx.x"))
    assert not testing.bisect(s, [X, S])
    x = np.arange(18, dtype="float32").reshape(6, 3)
    np.testing.assert_array_equal(interpret([S], {X: x}, {})[0], x.cumsum(axis=0))


def test_elements_without_dimensions() -> None:
    A = te.placeholder((), "float16", name="A")
    B = te.compute((), lambda: A[()] * 2, name="B")
    C = te.compute((), lambda: B[()] + A[()], name="C")
    (got,) = interpret([C], {A: np.array(3, "float16")}, {})
    assert got.shape == () and got == 9


def test_statements_have_no_meaning_in_numpy() -> None:
    A = te.placeholder((4,), name="A")

    def copy(ins: list[Any], outs: list[Any]) -> Any:
        ib = tir.ir_builder.create()
        with ib.for_range(0, 4, name="i") as i:
            ib.buffer_ptr(outs[0])[i] = ins[0][i]
        return ib.get()

    E = te.extern((4,), [A], copy, name="E")
    found = testing.bisect(te.create_schedule(E.op), [A, E], "cpu")
    assert str(found) == (
        "main: each stage computes the same\n"
        "  te      not run: te.extern has statements, no expressions\n"
        "  linalg  right: on the processor\n"
        "  loops   not run: the statements of te.extern run on threads alone\n"
        "  host    right: on the processor"
    )


def test_reads_outside() -> None:
    A = te.placeholder((4,), name="A")
    I = te.placeholder((4,), "int32", name="I")  # noqa: E741
    B = te.compute((4,), lambda i: A[I[i]], name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    assert not testing.bisect(s, [A, I, B])  # with indices that are there
    C = te.compute((4,), lambda i: A[I[i] + 40], name="C")
    s = te.create_schedule(C.op)
    with pytest.raises(
        ValueError,
        match=r"test_bisect\.py:\d+: C reads A at \d+ in dimension 0, expected 0 to 3: give inputs=$",
    ):
        testing.bisect(s, [A, I, C])
    with pytest.raises(ReadOutside, match=r"test_bisect\.py:\d+: C reads A at 41 in dimension 0, expected 0 to 3$"):
        interpret([C], {A: np.zeros(4, "float32"), I: np.ones(4, "int32")}, {})
    D = te.compute((4,), lambda i: te.if_then_else(i > 0, A[i - 1], 7.0), name="D")
    np.testing.assert_array_equal(interpret([D], {A: np.arange(4, dtype="float32")}, {})[0], [7, 0, 1, 2])


def test_wrong_arguments() -> None:
    with pytest.raises(
        TypeError, match="^expected sizes with a function that makes a schedule and its args, and not without$"
    ):
        testing.bisect(rows)
    with pytest.raises(ValueError, match="^expected seed to be 0 or more, got -1$"):
        testing.bisect(rows, sizes=(4,), seed=-1)
    A = te.placeholder((4, 4), strides=(8, 1), name="A")
    B = te.compute((4, 4), lambda i, j: A[i, j], name="B")
    with pytest.raises(
        ValueError, match=r"^main\(.*\): expected row-major arrays and numbers that every call gives, got"
    ):
        testing.bisect(te.create_schedule(B.op), [A, B])


@pytest.mark.sample(1)
@pytest.mark.parametrize("first", range(0, 24, 8))
def test_te_by_numpy_is_what_kernels_compute(first: int) -> None:
    """Of random expressions with every operator, bit for bit."""
    for seed in range(first, first + 8):
        program, made = random_expressions(Choices(Seeded(seed)), seed)
        tensors, given = arguments(program, made)
        tw.build(te.create_schedule(made.op), tensors, "cpu")(*given)
        numbers = {program.names[name]: n for name, n in zip(program.extents, program.shape) if not name.isdigit()}
        (expected,) = interpret([made], dict(zip(program.inputs, program.data)), numbers)
        assert is_same(given[-1], expected), f"seed {seed}\n{program.text}"


KERNEL = """
from mlir import ir
from tilewright import te

def double(n, m):
    A = te.placeholder((n, m), name="A")
    B = te.compute((n, m), lambda i, j: A[i, j] * 2.0, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(B.op.axis[1], te.thread_axis("threadIdx.x"))
    return s, [A, B]

def triple(module):
    return ir.Module.parse(str(module).replace("2.000000e+00", "3.000000e+00"))

schedule, args = double(2, 3)
name = "double"
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return tilewright("bisect", *arguments)


@pytest.mark.sweep
def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(KERNEL)
    result = run(str(tmp_path / "right.py"))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("double: each stage computes the same\n")
    (tmp_path / "wrong.py").write_text(KERNEL + 'after = {"loops": triple}\n')
    result = run(str(tmp_path / "wrong.py"), "--program", "double(16, 32)")
    assert (result.returncode, result.stderr) == (1, "")
    assert result.stdout == (
        "main: stage loops differs from linalg\n"
        "  te      right: by NumPy\n"
        "  linalg  right: on the processor\n"
        "  loops   wrong: on the processor\n"
        "  gpu     wrong: on the simulator\n"
        "  cubin   not run: target sim has no cubin\n"
        "pass: triple (after loops)\n"
        "B[0, 0]: expected 2.0, got 3.0; 1 of 1 elements differ\n"
        "sizes: 1, 1\n"
        "A = zeros([1, 1], float32) with [0, 0]: 1.0\n"
    )


@pytest.mark.sweep
def test_the_page(tmp_path: Path) -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "wrong-results.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (shown,) = re.findall(r"```\n(double: .*?)```", page, re.DOTALL)
    (tmp_path / "wrong.py").write_text(program)
    result = run(str(tmp_path / "wrong.py"))
    assert (result.returncode, result.stdout, result.stderr) == (1, shown, "")


@pytest.mark.sweep
def test_the_command_refuses(tmp_path: Path) -> None:
    for arguments_, told in (
        (["no.py"], "tilewright bisect: no.py: no such file\n"),
        ([str(tmp_path)], f"tilewright bisect: {tmp_path}: expected a file, got a folder\n"),
    ):
        result = run(*arguments_)
        assert (result.returncode, result.stderr) == (1, told)
    (tmp_path / "a.txt").write_text("")
    assert (
        run(str(tmp_path / "a.txt")).stderr == f"tilewright bisect: {tmp_path}/a.txt: expected a .py or an .mlir file\n"
    )
    (tmp_path / "a.mlir").write_text(tw.lower(*rows(), "rows", stage="te", target="sim").operation.get_asm())
    assert "rows: each stage computes the same" in run(str(tmp_path / "a.mlir")).stdout
    result = run(str(tmp_path / "a.mlir"), "--program", "x")
    assert result.stderr == "tilewright bisect: --program is for Python files\n"


def test_fuzzers_report_through_it(monkeypatch: pytest.MonkeyPatch) -> None:
    choices = Choices(Seeded(3))
    program = random_program(choices)
    schedule = Scheduler(choices, program).run()
    build = tw.build

    def wrong_build(*args: Any, **options: Any) -> Any:
        value = program.outputs[0].exact
        value.flat[0] += 1  # what is expected
        return build(*args, **options)

    monkeypatch.setattr(tw, "build", wrong_build)
    with pytest.raises(
        AssertionError, match=r"(?s)Arrays are not equal.*\nfuzzed: each stage computes the same\n  te "
    ):
        check(program, schedule, "sim")


@pytest.mark.sweep
def test_target_cpu() -> None:
    A = te.placeholder((8, 8), name="A")
    B = te.compute((8, 8), lambda i, j: A[i, j] * 2.0, name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], factor=4)
    s[B].parallel(outer)
    s[B].vectorize(B.op.axis[1])
    found = testing.bisect(s, [A, B], "cpu", after={"loops": triple})
    assert (found.stage, found.passes) == ("loops", ("triple (after loops)",))
    assert str(testing.bisect(s, [A, B], "cpu")) == (
        "main: each stage computes the same\n"
        "  te      right: by NumPy\n"
        "  linalg  right: on the processor\n"
        "  loops   right: on the processor\n"
        "  host    right: on the processor"
    )
