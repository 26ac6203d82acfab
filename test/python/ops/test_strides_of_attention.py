"""Attention for training, and its gradients, of arrays in b s h d: they are read in place."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import ops

H200 = "sim -device=H200"
SHAPE = (1, 2, 70, 64)


def views(shape: tuple[int, ...], count: int) -> list[np.ndarray]:
    """Of b s h d, with axes swapped; slices of one array."""
    batch, heads, rows, width = shape
    every = np.random.default_rng(0).standard_normal((batch, rows, count, heads, width)).astype("float16")
    return [every[:, :, n].swapaxes(1, 2) for n in range(count)]


def check(shape: tuple[int, ...], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(array: Any) -> Any:
        if not array.flags.c_contiguous:
            raise AssertionError("copied")
        return array

    q, k, v, head = views(shape, 4)
    dense = [np.ascontiguousarray(one) for one in (head, q, k, v)]
    options: dict[str, Any] = {"is_causal": True, "target": target}
    right = ops.attention_with_logarithms(*dense[1:], **options)
    expected = ops.attention_gradients(*dense, result=right[0], logarithms=right[1], **options)
    for module in ("layouts", "attention_gradients", "operator"):
        monkeypatch.setattr(sys.modules[f"tilewright.ops.{module}"], "row_major", refused)
    result, logarithms = ops.attention_with_logarithms(q, k, v, **options)
    assert result.swapaxes(1, 2).flags.c_contiguous
    made = ops.attention_gradients(head, q, k, v, result=result, logarithms=logarithms, **options)
    for got, one in zip((result, logarithms, *made), (*right, *expected), strict=True):
        np.testing.assert_array_equal(got, one)
    assert all(one.flags.c_contiguous for one in made)


def test_general_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    check((1, 2, 6, 8), "cpu", monkeypatch)


@pytest.mark.sweep
def test_kernels_of_tensor_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    check(SHAPE, H200, monkeypatch)


def test_strides_take_the_kernels_of_tensor_cores() -> None:
    laid = ops.Operand((2, 4, 4096, 64), "bfloat16", (4096 * 768, 64, 768, 1))
    s, args = ops.attention_with_logarithms.schedule(laid, laid, laid, target=H200)
    assert "rolling_update" in str(s.trace())
    s, args = ops.attention_gradients.schedule(laid, laid, laid, laid, target=H200)
    assert "dP" not in {stage.name for stage in s.stages}
    assert [one.strides for one in (tensor.op for tensor in args[:4])] == [laid.strides] * 4


@pytest.mark.sweep
@pytest.mark.parametrize(("is_known", "size"), [(False, 8), (True, 4)], ids=["alone", "with both results"])
def test_memory_for_the_gradient_by_a_mask(is_known: bool, size: int) -> None:
    q, mask = ops.Operand((2, 4, 256, 64), "bfloat16"), ops.Operand((4, 256, 256), "bfloat16")
    both = {"result": q, "logarithms": ops.Operand((2, 4, 256), "float32")} if is_known else {}
    s, args = ops.attention_gradients.schedule(q, q, q, q, mask, **both, target="cuda -device=H200")
    text = tw.build(s, args, target="cuda -device=H200", name="gradients").ir("gpu")
    needed = int(text.split("workspace_bytes = ")[1].split()[0])
    # Of each query a kernel keeps one number or two, and of no score any.
    assert needed == size * (2 * 4 * 256)


@pytest.mark.parametrize("name", ["expanded", "every second column"])
def test_what_tma_does_not_load_is_copied(name: str) -> None:
    q, k, v, head = (np.ascontiguousarray(one) for one in views((1, 2, 6, 8), 4))
    other = {
        "expanded": lambda: np.broadcast_to(k[:, :1], k.shape),
        "every second column": lambda: np.repeat(k, 2, 3)[..., ::2],
    }
    view = other[name]()
    for got, one in zip(
        ops.attention_gradients(head, q, view, v, target="cpu"),
        ops.attention_gradients(head, q, np.ascontiguousarray(view), v, target="cpu"),
        strict=True,
    ):
        np.testing.assert_array_equal(got, one)
