"""Matmuls whose operands have rows that TMA cannot step over: longer rows are copied, where that pays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing
from tilewright.dtypes import as_dtype
from tilewright.rules import matrices, operand_copies

H200, SIM = "cuda -device=H200", "sim -device=H200"
WARPGROUPS: Any = {"C": {"rule": "warpgroups"}}


def matmul(
    m: int, n: int, k: int, layout: str, dtype: str, batch: tuple[int, ...] = ()
) -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    """C = A B in float32, each operand as it is (N) or transposed (T)."""
    A = te.placeholder((*batch, *((k, m) if layout[0] == "T" else (m, k))), dtype, name="A")
    B = te.placeholder((*batch, *((n, k) if layout[1] == "T" else (k, n))), dtype, name="B")
    r = te.reduce_axis((0, k), "r")
    to = "int32" if dtype == "int8" else "float32"

    def element(*at: Any) -> te.Expr:
        *some, i, j = at
        x = A(*some, *((r, i) if layout[0] == "T" else (i, r)))
        y = B(*some, *((j, r) if layout[1] == "T" else (r, j)))
        return te.sum(x.astype(to) * y.astype(to), axis=r)

    return A, B, te.compute((*batch, m, n), element, name="C")


@pytest.mark.sample(5)
@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("layout, dtype", [*((one, "bfloat16") for one in ("NN", "NT", "TN", "TT")), ("NT", "int8")])
def test_results(layout: str, dtype: str, batch: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies behind the copied rows is no part of the results, whatever it is multiplied with."""
    monkeypatch.setattr(operand_copies, "_by_warps", lambda *_: 1.0)
    tensors = matmul(97, 75, 541 if batch else 141, layout, dtype, batch)
    s = tw.auto_schedule(tensors[2], SIM, settings=WARPGROUPS)
    assert "warpgroups: C" in s.explain() and "A_padded" in s.explain() and "B_padded" in s.explain()
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-3, 4, tuple(map(int, one.shape))).astype(as_dtype(dtype)) for one in tensors[:2])
    (got,) = testing.run(
        tw.build(s, tensors, SIM), [a, b], [(tuple(map(int, tensors[2].shape)), str(tensors[2].dtype))]
    )
    x, y = (
        one.astype("float64").swapaxes(-1, -2) if how == "T" else one.astype("float64")
        for one, how in zip((a, b), layout)
    )
    np.testing.assert_array_equal(got, x @ y)


@pytest.mark.sample(2)
@pytest.mark.parametrize("width, is_copied", [(136, False), (141, True), (256, False)])
@pytest.mark.parametrize("k", [136, 129])
def test_a_part_of_a_wider_tensor(k: int, width: int, is_copied: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the tensor's rows that TMA steps over, and not what is read of them."""
    monkeypatch.setattr(operand_copies, "_by_warps", lambda *_: 1.0)
    A, B, r = (
        te.placeholder((96, width), "float16", name="A"),
        te.placeholder((k, 64), "float16", name="B"),
        te.reduce_axis((0, k), "r"),
    )
    C = te.compute(
        (96, 64), lambda i, j: te.sum(A(i, r).astype("float32") * B(r, j).astype("float32"), axis=r), name="C"
    )
    s = tw.auto_schedule(C, SIM, settings=WARPGROUPS)
    assert ("A_padded" in s.explain()) == is_copied
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-3, 4, shape).astype("float16") for shape in ((96, width), (k, 64)))
    (got,) = testing.run(tw.build(s, [A, B, C], SIM), [a, b], [((96, 64), "float32")])
    np.testing.assert_array_equal(got, a[:, :k].astype("float64") @ b.astype("float64"))


@pytest.mark.sweep
@pytest.mark.parametrize("in_parts", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn"])
@pytest.mark.parametrize("layout", ["NN", "NT", "TN", "TT"])
def test_warps_copy_a_part_of_a_wider_tensor(layout: str, dtype: str, in_parts: bool) -> None:
    """``cp.async`` reads as many bytes of the last 16 as are multiplied: those behind them are not numbers."""
    m, n, k, step = 29, 37, 1021, 16 // as_dtype(dtype).itemsize
    sizes = [(k, m) if layout[0] == "T" else (m, k), (n, k) if layout[1] == "T" else (k, n)]
    A, B = (
        te.placeholder((rows, -(-columns // step) * step), dtype, name=name)
        for name, (rows, columns) in zip("AB", sizes)
    )
    r = te.reduce_axis((0, k), "r")

    def element(i: Any, j: Any) -> te.Expr:
        x, y = A(r, i) if layout[0] == "T" else A(i, r), B(j, r) if layout[1] == "T" else B(r, j)
        return te.sum(x.astype("float32") * y.astype("float32"), axis=r)

    C = te.compute((m, n), element, name="C")
    warps: Any = {"rule": "tensor cores"}
    plan = tw.auto_schedule(C, SIM, settings={"C": warps}).plan
    tiles = next(one.alternatives for decision in plan or () for one in decision.choices if one.name == "tile")
    warps["tile"] = max((tile for tile in tiles if tile[2] > 1), key=lambda tile: tile[-1] if in_parts else -tile[-1])
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-3, 4, tuple(map(int, one.shape))).astype(as_dtype(dtype)) for one in (A, B))
    for array, (_, columns) in zip((a, b), sizes):
        array[:, columns:] = np.nan
    (got,) = testing.run(
        tw.build(tw.auto_schedule(C, SIM, settings={"C": warps}), [A, B, C], SIM), [a, b], [((m, n), "float32")]
    )
    x, y = (
        array[:, :columns].astype("float64").T if how == "T" else array[:, :columns].astype("float64")
        for array, (_, columns), how in zip((a, b), sizes, layout)
    )
    np.testing.assert_array_equal(got, x @ y)
    tw.build(tw.auto_schedule(C, H200, settings={"C": warps}), [A, B, C], H200)


@pytest.mark.sample(1)
def test_one_operand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one ends where K does, and the copy does not: NaN there would be seen."""
    monkeypatch.setattr(operand_copies, "_by_warps", lambda *_: 1.0)
    tensors = matmul(64, 72, 141, "NN", "float16")
    s = tw.auto_schedule(tensors[2], SIM, settings=WARPGROUPS)
    assert "A_padded" in s.explain() and "B_padded" not in s.explain()
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-3, 4, tuple(map(int, one.shape))).astype("float16") for one in tensors[:2])
    (got,) = testing.run(tw.build(s, tensors, SIM), [a, b], [((64, 72), "float32")])
    np.testing.assert_array_equal(got, a.astype("float64") @ b.astype("float64"))


def test_when_rows_are_copied() -> None:
    """The last layer of GPT-2 has 50257 columns."""
    for m, n, k, layout in ((4096, 768, 50257, "NN"), (50257, 768, 4096, "TN")):
        text = tw.auto_schedule(matmul(m, n, k, layout, "bfloat16")[2], H200).explain()
        assert "A_padded" in text and "warpgroups: C" in text
    assert "padded" not in tw.auto_schedule(matmul(4096, 768, 50256, "NN", "bfloat16")[2], H200).explain()
    assert "padded" not in tw.auto_schedule(matmul(40, 768, 4095, "NN", "bfloat16")[2], H200).explain()


def test_other_gpus_read_rows_as_they_lie() -> None:
    assert (
        "padded" not in tw.auto_schedule(matmul(4096, 768, 50257, "NN", "bfloat16")[2], "cuda -device=A100").explain()
    )
    assert matrices.copies_before is operand_copies.copies_before
