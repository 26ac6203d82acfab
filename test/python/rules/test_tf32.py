"""Matmuls and convolutions of float32 that may be multiplied in tf32."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.records import identify
from tilewright.rules import matrices
from tilewright.rules.contraction import Contraction
from tilewright.rules.operand_copies import OperandCopies
from tilewright.rules.tensor_cores import transposed

H200, HOPPER = "cuda -device=H200", "sim -device=H200"
# Of a factor's 24 bits 11 are left, so that a product is off by this share at most.
OFF = 2.0**-10


def matmul(
    rows: int, columns: int, k: int, layout: str, batch: int = 0, precision: str = "tf32"
) -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    """C = A B, each operand as it is (N) or transposed (T)."""
    outer = (batch,) if batch else ()
    A = te.placeholder((*outer, *((k, rows) if layout[0] == "T" else (rows, k))), name="A")
    B = te.placeholder((*outer, *((columns, k) if layout[1] == "T" else (k, columns))), name="B")
    r = te.reduce_axis((0, k), "k")

    def element(*at: te.Var) -> te.Expr:
        *b, i, j = at
        a = A(*b, *((r, i) if layout[0] == "T" else (i, r)))
        return te.sum(a * B(*b, *((j, r) if layout[1] == "T" else (r, j))), axis=r)

    C = te.compute((*outer, rows, columns), element, name="C", attrs={"precision": precision})
    return A, B, C


def product_of(s: te.Schedule, tensors: tuple[te.Tensor, ...], layout: str, target: str) -> tuple[np.ndarray, ...]:
    """What a schedule computes, the exact product, and the product of the absolute values."""
    function = tw.build(s, tensors, target=target)
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal([int(e) for e in one.shape]).astype("float32") for one in tensors[:2])
    c = np.zeros([int(e) for e in tensors[2].shape], "float32")
    function(a, b, c)
    left = (a.swapaxes(-1, -2) if layout[0] == "T" else a).astype("float64")
    right = (b.swapaxes(-1, -2) if layout[1] == "T" else b).astype("float64")
    return c, left @ right, abs(left) @ abs(right)


def check(s: te.Schedule, tensors: tuple[te.Tensor, ...], layout: str, target: str) -> None:
    c, exact, size = product_of(s, tensors, layout, target)
    off = abs(c - exact)
    assert (off <= OFF * size).all()
    assert off.max() > 1e-5 * size.max()  # else it was float32 that was multiplied


@pytest.mark.parametrize("layout", ["NT", "NN", "TN", "TT"])
def test_layouts_on_warps(layout: str) -> None:
    tensors = matmul(48, 80, 96, layout)
    s = tw.auto_schedule(tensors[2], "sim")
    assert "tensor cores" in s.explain() and "tf32 with sums in float32" in s.explain()
    check(s, tensors, layout, "sim")


def test_float32_stays_without_leave() -> None:
    tensors = matmul(48, 80, 96, "NT", precision="ieee")
    s = tw.auto_schedule(tensors[2], "sim")
    assert "tf32" not in s.explain()
    c, exact, size = product_of(s, tensors, "NT", "sim")
    assert (abs(c - exact) <= 1e-6 * size).all()


@pytest.mark.parametrize("target", ["cuda -device=H200", "cuda -arch=sm_80"])
def test_kernels(target: str) -> None:
    tensors = matmul(4096, 4096, 1024, "NT")
    ptx = tw.build(tw.auto_schedule(tensors[2], target), tensors, target=target).ptx
    instruction = "wgmma.mma_async" if "H200" in target else "mma.sync.aligned.m16n8k8"
    assert instruction in ptx and ".f32.tf32.tf32" in ptx
    # TMA rounds what it loads; what threads load is rounded by them.
    assert ("cvt.rna.tf32.f32" in ptx) == ("H200" not in target)


def test_no_tensor_cores_for_tf32() -> None:
    tensors = matmul(512, 256, 128, "NT")
    s = tw.auto_schedule(tensors[2], "cuda -arch=sm_75")
    assert "tf32" not in s.explain()


def turn_all(found: Contraction, gpu: object) -> OperandCopies | None:
    if found.factor_dtypes[0] != "tf32" or not found.is_of_matrices:
        return None
    a, b = transposed(found)
    return OperandCopies((a, not b), (False, False))


@pytest.mark.parametrize("batch", [0, 2])
@pytest.mark.parametrize("layout", ["NN", "TN", "TT"])
def test_operands_along_k(layout: str, batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "copies_before", turn_all)
    tensors = matmul(128, 64, 96, layout, batch)
    s = tw.auto_schedule(tensors[2], HOPPER, settings={"C_product": {"rule": "warpgroups"}})
    assert s.explain().count("transpose through shared memory") == {"NN": 1, "TN": 2, "TT": 1}[layout]
    check(s, tensors, layout, HOPPER)


def test_when_operands_are_transposed() -> None:
    s = tw.auto_schedule(matmul(4096, 4096, 4096, "TN")[2], H200)
    assert s.explain().count("transpose through shared memory") == 1 and "warpgroups: C" in s.explain()
    in_registers = tw.auto_schedule(matmul(4096, 4096, 4096, "TT")[2], H200).explain()
    assert "transpose" not in in_registers and "warpgroups: C" in in_registers
    for small in (matmul(128, 128, 128, "NN"), matmul(32, 4096, 4096, "NN"), matmul(512, 512, 510, "NN")):
        assert "transpose" not in tw.auto_schedule(small[2], H200).explain()


def test_numbers_that_are_not_finite() -> None:
    tensors = matmul(64, 64, 64, "NN")
    function = tw.build(tw.auto_schedule(tensors[2], "sim"), tensors, target="sim")
    a, b, c = np.ones((64, 64), "float32"), np.ones((64, 64), "float32"), np.zeros((64, 64), "float32")
    a[0, 3], a[1, 3], a[2, 3] = np.nan, np.inf, -np.inf
    a[3, 3] = np.array(0x7FFFFFFF, "uint32").view("float32")  # what a GPU makes of 0 / 0
    a[4] = 1 + 2.0**-11  # between two neighbours in tf32
    function(a, b, c)
    assert np.isnan(c[[0, 3]]).all() and (c[1] == np.inf).all() and (c[2] == -np.inf).all()
    assert (c[4] == 64 * (1 + 2.0**-10)).all()


def test_convolution_by_warpgroups() -> None:
    X = te.placeholder((2, 8, 8, 32), name="X")
    W = te.placeholder((32, 3, 3, 32), name="W")
    r, s_, c = te.reduce_axis((0, 3), "r"), te.reduce_axis((0, 3), "s"), te.reduce_axis((0, 32), "c")
    Y = te.compute(
        (2, 6, 6, 32),
        lambda n, y, x, f: te.sum(X[n, y + r, x + s_, c] * W[f, r, s_, c], axis=[r, s_, c]),
        name="Y",
        attrs={"precision": "tf32"},
    )
    s = tw.auto_schedule(Y, HOPPER, settings={"Y": {"rule": "convolutions by warpgroups"}})
    assert "tf32 with sums in float32" in s.explain()
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal([int(e) for e in one.shape]).astype("float32") for one in (X, W))
    y = np.zeros((2, 6, 6, 32), "float32")
    tw.build(s, [X, W, Y], target=HOPPER)(x, w, y)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype("float64"), (3, 3), axis=(1, 2))
    exact = np.einsum("nyxcrs,frsc->nyxf", windows, w.astype("float64"))
    size = np.einsum("nyxcrs,frsc->nyxf", abs(windows), abs(w.astype("float64")))
    assert (abs(y - exact) <= OFF * size).all() and abs(y - exact).max() > 1e-5 * size.max()


def test_records_of_both_precisions() -> None:
    """A database keeps apart what is exact and what may be rounded: their IR is the same."""
    keys = [identify([tensors[2]], tensors, {})[2] for tensors in (
        matmul(48, 80, 96, "NT"), matmul(48, 80, 96, "NT", precision="ieee"), matmul(48, 80, 96, "NT")
    )]  # fmt: skip
    assert keys[0] == keys[2] != keys[1]
