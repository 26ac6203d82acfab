"""Schedules for classes of the rows of matmuls, and the one function that chooses between them."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tvm_ffi

import tilewright as tw
from tilewright import ops, te, testing
from tilewright.rules import Context, Decision, Group

BOUNDARIES = (1, 2, 16, 17, 64, 65, 256, 257, 300)


def product(rows: Any, dtype: str = "float16", N: int = 64, K: int = 32) -> list[te.Tensor]:
    """Both operands of a matmul of integers, and the result of its epilogue."""
    k = te.reduce_axis((0, K), "k")
    A, B = te.placeholder((rows, K), dtype, "A"), te.placeholder((K, N), dtype, "B")
    C = te.compute(
        (rows, N), lambda i, j: te.sum(A[i, k].astype("float32") * B[k, j].astype("float32"), axis=k), name="C"
    )
    return [A, B, te.compute((rows, N), lambda i, j: te.max(C[i, j], 0.0), name="D")]


def ranges(s: te.Schedule) -> list[tuple[int, int | None]]:
    return [found for one in s.classes for found in one.ranges.values()]


def check(f: Any, dtype: str, N: int, K: int, rows: tuple[int, ...] = BOUNDARIES) -> None:
    rng = np.random.default_rng(1)
    b = rng.integers(-3, 4, (K, N)).astype(dtype)
    for count in rows:
        a = rng.integers(-3, 4, (count, K)).astype(dtype)
        (got,) = testing.run(f, [a, b], [((count, N), "float32")])
        np.testing.assert_array_equal(got, np.maximum(a.astype("float64") @ b.astype("float64"), 0))


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("device", ["H200", "A100"])
def test_every_class_is_right_at_its_bounds(dtype: str, device: str) -> None:
    *inputs, D = product(te.var("rows", max=300), dtype)
    s = tw.auto_schedule(D, f"cuda -device={device}")
    assert len(s.classes) >= 2
    f = tw.build(s.classes, [*inputs, D], "sim", f"matmul_{device}")
    assert isinstance(f, tw.Dispatch)
    check(f, dtype, 64, 32)


class FewRows:
    """A schedule of its own for at most 16 rows: one row after the other, in vectors of eight."""

    name = "few rows"

    def decide(self, context: Context, group: Group) -> Decision | None:
        (rows, _) = group.root.op.shape
        most = rows.maximum if isinstance(rows, te.Var) else rows
        return None if most is None or most > 16 else Decision(self.name, group.names, f"at most {most} rows")

    def apply(self, context: Context, s: te.Schedule, group: Group, decision: Decision) -> None:
        stage = s[group.root.op.output(0)]
        _, lane = stage.split(stage.op.axis[1], factor=8)
        stage.vectorize(lane)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler to link with")
def test_an_exported_library_chooses_at_the_boundaries(tmp_path: Path) -> None:
    *inputs, D = product(te.var("rows"))
    s = tw.auto_schedule(D, "cpu", rules=[FewRows()])
    assert ranges(s) == [(0, 16), (17, None)]
    f = tw.build(s.classes, [*inputs, D], "cpu", "matmul")
    assert isinstance(f, tw.Dispatch)
    assert [one.name for one in f.functions] == ["matmul_to_16", "matmul_to_more"]
    path = tmp_path / "matmul.so"
    f.export_library(path)
    check(f, "float16", 64, 32, (0, *BOUNDARIES))
    module = tvm_ffi.load_module(str(path))
    metadata = module.get_function_metadata("matmul") or {}
    assert metadata["functions"] == [str(one.signature) for one in f.functions]
    rng = np.random.default_rng(2)
    b = rng.integers(-3, 4, (32, 64)).astype("float16")
    for count in (0, 1, 15, 16, 17, 64, 65, 300):
        a, d = rng.integers(-3, 4, (count, 32)).astype("float16"), np.full((count, 64), -1, "float32")
        module.matmul(a, b, d)
        np.testing.assert_array_equal(d, np.maximum(a.astype("float64") @ b.astype("float64"), 0))


def test_which_schedules_make_one_function() -> None:
    *inputs, D = product(te.var("rows"))
    s = tw.auto_schedule(D, "cpu")
    with pytest.raises(ValueError) as caught:
        tw.build([s, s], [*inputs, D], "cpu", "matmul")
    assert str(caught.value) == (
        "matmul: expected schedules for classes of extents (te.Schedule.classes), got several that are for all: "
        "tw.dispatch makes one function of several"
    )
    with pytest.raises(TypeError) as refused:
        tw.build(s.classes, [*inputs, D], "cpu", start="te")  # type: ignore[call-overload]
    assert str(refused.value) == "expected start only beside a module or IR text: a schedule starts at te"


def test_ranges_are_without_gaps_and_within_those_of_the_symbol() -> None:
    for least, most, unit in ((0, None, 1), (3, 100, 1), (1, 4096, 8), (64, 64, 64), (300, None, 1)):
        s = tw.auto_schedule(product(te.var("rows", min=least, max=most, divisible_by=unit))[-1], "cuda -device=H200")
        found = ranges(s)
        assert (found[0][0], found[-1][1]) == (least, most) if found else len(s.classes) == 1
        assert all(after[0] == (one[1] or 0) + 1 for one, after in zip(found, found[1:]))
        assert all(one[1] is None or one[1] // unit * unit >= one[0] for one in found)


@pytest.mark.sweep
def test_calls_go_to_the_class_of_their_rows() -> None:
    *inputs, D = product(te.var("rows", min=1, max=9999), N=1024, K=1024)
    s = tw.auto_schedule(D, "cuda -device=H200")
    f = tw.build(s.classes, [*inputs, D], "cuda -device=H200", "matmul", cache=False)
    assert ranges(s) == [(1, 1), (2, 16), (17, 64), (65, 256), (257, 9999)]
    assert isinstance(f, tw.Dispatch)
    b = SimpleNamespace(shape=(1024, 1024), dtype="float16")
    given = [SimpleNamespace(shape=(rows, 1024), dtype="float16") for rows in (1, 2, 16, 17, 64, 65, 256, 257, 9999)]
    chosen = [f.select(a, b) for a in given]
    assert [one and one.name.rpartition("_")[2] for one in chosen] == ("1 16 16 64 64 256 256 9999 9999".split())


def test_explain_tells_of_each_class() -> None:
    s = tw.auto_schedule(product(te.var("rows", min=1, max=4096), N=1024, K=1024)[-1], "cuda -device=A100")
    heads = [line.rpartition(", ")[2] for line in s.explain().splitlines() if line.startswith("scheduled")]
    assert heads == [f"rows from {one} to {other}" for one, other in ranges(s)]
    tiles = [one.plan.decisions[0].settings.get("tile") for one in s.classes if one.plan]
    assert len(set(map(str, tiles))) == len(tiles)


def test_values_with_one_schedule_are_one_class() -> None:
    *inputs, D = product(te.var("rows", max=300), "float32")
    s = tw.auto_schedule(D, "cpu")
    assert ranges(s) == [(0, 300)]
    f = tw.build(s.classes, [*inputs, D], "cpu")
    assert isinstance(f, tw.Function)
    check(f, "float32", 64, 32, (0, *BOUNDARIES))


def test_a_program_without_symbols_is_its_own_class() -> None:
    s = tw.auto_schedule(product(64)[-1], "cuda -device=H200")
    assert s.classes == (s,)


@pytest.mark.parametrize("target", ["cpu", "sim", "sim -device=A100"])
def test_an_operation_chooses_by_the_rows_of_a_call(target: str) -> None:
    a = te.placeholder((te.var("rows", max=300), 32), "float16", "a")
    f = ops.matmul.function(a, np.zeros((32, 64), "float16"), out_dtype="float32", activation="relu", target=target)
    check(f, "float16", 64, 32)
