"""Matmuls by tensor cores, by rule: each tile that the plan allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from rules.test_classes import matmul
from tilewright import te, testing


@pytest.mark.sample(2)
@pytest.mark.parametrize("place", range(12))
def test_each_tile(place: int) -> None:
    case = matmul(70, 90, 150, dtype="float16", acc="float32", b=place % 2 == 0, epilogue=lambda v: v + 1)
    (out,) = case.outputs
    plan = tw.auto_schedule(out, "sim -device=H200").plan
    assert plan is not None
    assert plan.decisions[0].rule == "tensor cores"
    tiles = next(choice for choice in plan.decisions[0].choices if choice.name == "tile").alternatives
    tile = tiles[place * len(tiles) // 12]
    settings = {"rule": "tensor cores", "tile": tile, "group": (1, 4, 8)[place % 3]}
    s = tw.auto_schedule(out, "sim -device=H200", settings={out.op.name: settings})
    function = tw.build(s, [*case.inputs, out], "sim", "matmul")
    (got,) = testing.run(function, case.arrays, [((70, 90), "float32")])
    np.testing.assert_array_equal(got, case.exact[0])


@pytest.mark.sample(2)
@pytest.mark.parametrize("is_last", [True, False])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_blocks_share_the_loop_along_k(dtype: str, is_last: bool) -> None:
    """Few rows of a long K are no work for all SMs, unless blocks share it. The epilogue is of whole sums."""
    M, N, K = 20, 91, 2051
    case = matmul(M, N, K, dtype=dtype, acc="float32", b=is_last, epilogue=None if is_last else lambda v: v * v)
    (out,) = case.outputs
    s = tw.auto_schedule(out, "sim -device=H200")
    assert s.plan is not None and s.plan.decisions[0].rule == "tensor cores"
    assert s.plan.decisions[0]["tile"][-1] > 1
    function = tw.build(s, [*case.inputs, out], "sim", "matmul")
    (got,) = testing.run(function, case.arrays, [((M, N), "float32")])
    np.testing.assert_array_equal(got, case.exact[0])


WARPGROUPS = [
    ((128, 256, 128), {"b": True}, "bfloat16"),
    ((200, 256, 136), {}, "float16"),
    ((136, 192, 100), {"a": True, "epilogue": lambda v: v * 2}, "float16"),
    ((128, 128, 64), {"b": True, "batch": (2, 2)}, "float16"),
    ((128, 256, 128), {"b": True, "acc": "int32"}, "int8"),
]


@pytest.mark.sample(3)
@pytest.mark.parametrize(("extents", "options", "dtype"), WARPGROUPS)
def test_warpgroups(extents: tuple[int, int, int], options: dict[str, Any], dtype: str) -> None:
    """Small ones are the other rule's, by the model: here they are asked for."""
    case = matmul(*extents, dtype=dtype, **{"acc": "float32", **options})
    (out,) = case.outputs
    for target in ("sim -device=H200", "cuda -device=H200"):
        s = tw.auto_schedule(out, target, settings={out.op.name: {"rule": "warpgroups"}})
        function = tw.build(s, [*case.inputs, out], target, "matmul")
        if function.target.kind == "cuda":
            assert "wgmma.mma_async" in function.ptx
        else:
            (got,) = testing.run(function, case.arrays, [(tuple(map(int, out.shape)), out.dtype)])
            np.testing.assert_array_equal(got, case.exact[0])


@pytest.mark.parametrize(("layout", "rule"), [("NT", "warpgroups"), ("NN", "tensor cores"), ("TT", "tensor cores")])
def test_bytes_lie_along_k_for_warpgroups(layout: str, rule: str) -> None:
    """Only 16-bit operands may lie across k: others of a model once had no schedule."""
    M, N, K = 4096, 4096, 1024
    A = te.placeholder((M, K) if layout[0] == "N" else (K, M), "int8", name="A")
    B = te.placeholder((K, N) if layout[1] == "N" else (N, K), "int8", name="B")
    k = te.reduce_axis((0, K), name="k")

    def product(i: te.Expr, j: te.Expr) -> te.Expr:
        a, b = A[i, k] if layout[0] == "N" else A[k, i], B[k, j] if layout[1] == "N" else B[j, k]
        return te.sum(a.astype("int32") * b.astype("int32"), axis=k)

    C = te.compute((M, N), product, name="C")
    s = tw.auto_schedule(C, "cuda -device=H200")
    assert [one.rule for one in s.plan or ()] == [rule]


@pytest.mark.sweep
def test_each_configuration_of_warpgroups_lowers() -> None:
    case = matmul(2048, 3072, 512, dtype="bfloat16", acc="float32", b=True)
    (out,) = case.outputs
    plan = tw.auto_schedule(out, "cuda -device=H200").plan
    assert plan is not None and plan.decisions[0].rule == "warpgroups"
    (choice,) = plan.decisions[0].choices
    assert len(choice.alternatives) > 5
    for one in choice.alternatives:
        s = tw.auto_schedule(out, "cuda -device=H200", settings={"C": {"configuration": one}})
        tw.lower(s, [*case.inputs, out], stage="gpu", target="cuda -device=H200")


def weighted(rows: int, columns: int, K: int) -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    """Values of one head, times weights of 16 bits that are made of numbers in float32."""
    A = te.placeholder((1, rows, K), "float32", name="A")
    B = te.placeholder((1, K, columns), "float16", name="B")
    W = te.compute(A.shape, lambda h, i, k: (A[h, i, k] + 1.0).astype("float16"), name="W")
    k = te.reduce_axis((0, K), name="k")

    def total(h: te.Expr, i: te.Expr, j: te.Expr) -> te.Expr:
        return te.sum(W[h, i, k].astype("float32") * B[0, k, j].astype("float32"), axis=k)

    return A, B, te.compute((1, rows, columns), total, name="C")


@pytest.mark.parametrize("target", ["sim -arch=sm_80", "sim -device=H200"])
def test_an_operand_that_is_computed_is_no_copy(target: str) -> None:
    """Of one head, rows of weights are the elements of what is computed: they were once to be copied by cp.async."""
    A, B, C = weighted(16, 16, 512)
    s = tw.auto_schedule(C, target)
    assert s.plan is not None and s.plan.of("C").rule == "tensor cores"
    random = np.random.default_rng(0)
    a, b = random.integers(-4, 4, A.shape).astype("float32"), random.integers(-4, 4, B.shape).astype("float16")
    (got,) = testing.run(tw.build(s, [A, B, C], target, "weighted"), [a, b], [(C.shape, "float32")])
    np.testing.assert_array_equal(got, (a + 1) @ b.astype("float32"))


def test_tma_copies_nothing_that_is_computed() -> None:
    A, B, C = weighted(2048, 2048, 1024)
    s = tw.auto_schedule(C, "cuda -device=H200")
    assert [one.rule for one in s.plan or ()] == ["tensor cores"]
    tw.lower(s, [A, B, C], stage="gpu", target="cuda -device=H200")


def test_the_rule_goes_by_the_device() -> None:
    """The same matmul on three generations, and one of rows that TMA cannot step over: they are copied first."""
    whole = matmul(1024, 1024, 1024, dtype="float16", acc="float32").outputs
    odd = matmul(1024, 1023, 1021, dtype="float16", acc="float32").outputs
    found = {device: case_rules(whole, device) for device in ("T4", "A100", "L4", "H200", "B200")}
    assert found == {
        "T4": ["tiles in shared memory"], "A100": ["tensor cores"], "L4": ["tensor cores"], "H200": ["warpgroups"],
        "B200": ["tensor cores"],
    }  # fmt: skip
    assert case_rules(odd, "H200") == ["elementwise", "elementwise", "warpgroups"]
    assert case_rules(odd, "A100") == ["tensor cores"]


def case_rules(outputs: Any, device: str) -> list[str]:
    plan = tw.auto_schedule(outputs, tw.Target("cuda", device=device)).plan
    assert plan is not None
    return [decision.rule for decision in plan]


def test_a_rule_that_is_not_for_it() -> None:
    (out,) = matmul(64, 64, 64, dtype="float64").outputs
    with pytest.raises(ValueError) as caught:
        tw.auto_schedule(out, "cuda -device=A100", settings={"C": {"rule": "warpgroups"}})
    assert (
        str(caught.value)
        == "C: expected a rule of tiles in shared memory, reduction, an element a thread, got 'warpgroups'"
    )
