"""tw.ops: one line each, beside NumPy; and what they refuse."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import ops, te


def random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_operations(target: str) -> None:
    x, y, gamma, beta = random(6, 64), random(6, 64, seed=1), random(64, seed=2), random(64, seed=3)
    power = np.exp(x - x.max(1, keepdims=True))
    centred = x - x.mean(1, keepdims=True)
    for got, exact in (
        (ops.add(x, y, target=target), x + y),
        (ops.transpose(x, target=target), x.T),
        (ops.softmax(x, target=target), power / power.sum(1, keepdims=True)),
        (ops.row_sum(x, target=target), x.sum(1)),
        (ops.column_sum(x, target=target), x.sum(0)),
        (ops.matvec(x, gamma, target=target), x @ gamma),
        (ops.vecmat(gamma, np.ascontiguousarray(x.T), target=target), x @ gamma),
        (
            ops.matvec(x.astype("float16"), gamma.astype("float16"), target=target),
            x.astype("float16").astype("float32") @ gamma.astype("float16").astype("float32"),
        ),
        (
            ops.layer_norm(x, gamma, beta, target=target),
            centred / np.sqrt(x.var(1, keepdims=True) + 1e-5) * gamma + beta,
        ),
        (ops.rms_norm(x, gamma, target=target), x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * gamma),
        (ops.gelu(x, target=target), 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))),
    ):
        np.testing.assert_allclose(got, exact, atol=1e-3)


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_convolution(target: str) -> None:
    x, w = random(1, 2, 5, 5), random(3, 2, 3, 3, seed=1)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    np.testing.assert_allclose(ops.conv2d(x, w, target=target), np.einsum("ncyxij,fcij->nfyx", windows, w), atol=1e-4)


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_convolution_with_channels_last(target: str) -> None:
    x, w, bias = random(1, 5, 5, 16).astype("float16"), random(8, 3, 3, 16, seed=1).astype("float16"), random(8, seed=2)
    padded = np.pad(x.astype("float64"), ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))[:, ::2, ::2]
    exact = np.maximum(np.einsum("nyxcij,fijc->nyxf", windows, w.astype("float64")) + bias, 0)
    got = ops.conv2d(x, w, bias, stride=2, activation="relu", out_dtype="float32", target=target)
    np.testing.assert_allclose(got, exact, atol=1e-3)


def test_convolution_of_any_number_of_images() -> None:
    images, filters = ops.Operand((te.var("n", max=8), 5, 5, 8), "float16"), ops.Operand((4, 3, 3, 8), "float16")
    schedule, tensors = ops.conv2d.schedule(images, filters, target="sim -device=H200")
    func = tw.build(schedule, tensors, "sim -device=H200", name="convolution")
    w = random(4, 3, 3, 8, seed=1).astype("float16")
    for n in (1, 3):
        x, y = random(n, 5, 5, 8).astype("float16"), np.zeros((n, 5, 5, 4), "float16")
        func(x, w, y)
        np.testing.assert_allclose(y, ops.conv2d(x, w, target="cpu"), atol=2e-2)


def test_convolution_of_one_tap_is_a_matmul_of_rules() -> None:
    x, w = random(3, 7, 7, 24).astype("float16"), random(80, 1, 1, 24, seed=1).astype("float16")
    bias, target = random(80, seed=2), "sim -device=H200"
    got = ops.conv2d(x, w, bias, activation="relu", out_dtype="float32", target=target)
    exact = np.maximum(x.astype("float64") @ w[:, 0, 0].T.astype("float64") + bias, 0)
    np.testing.assert_allclose(got, exact, atol=1e-3)
    for size, rule in ((7, "tensor cores"), (85, "warpgroups")):
        images, filters = ops.Operand((32, size, size, 24), "float16"), ops.Operand((80, 1, 1, 24), "float16")
        schedule, _ = ops.conv2d.schedule(images, filters, target=target)
        assert schedule.plan is not None and schedule.plan.decisions[-1].rule == rule


@pytest.mark.parametrize(
    ("operation", "arrays", "error", "expected"),
    [
        (ops.add, ((2, 3), (3, 2)), ValueError, "add: expected shapes that broadcast, got x (2, 3) and y (3, 2)"),
        (ops.row_sum, ((2, 3, 4),), ValueError, "row_sum: x: expected 2 dimensions, got shape (2, 3, 4)"),
        (ops.transpose, ((2,),), ValueError, "transpose: x: expected 2 dimensions, got shape (2,)"),
        (ops.rms_norm, ((2, 3), (2,)), ValueError, "rms_norm: gamma: expected shape (3,), got (2,)"),
        (
            ops.vecmat,
            ((3,), (2, 3)),
            ValueError,
            "vecmat: expected a matrix and a vector that fit, got shapes (2, 3) and (3,)",
        ),
        (
            ops.conv2d,
            ((1, 2, 5, 4), (3, 2, 3, 3)),
            ValueError,
            "conv2d: expected square images, and square filters of as many channels, got shapes (1, 2, 5, 4) and "
            "(3, 2, 3, 3)",
        ),
    ],
)
def test_refusals(operation: ops.Operator, arrays: Any, error: type[Exception], expected: str) -> None:
    with pytest.raises(error) as caught:
        operation(*(np.zeros(shape, "float32") for shape in arrays))
    assert str(caught.value) == expected


def test_types() -> None:
    with pytest.raises(TypeError) as caught:
        ops.gelu(np.zeros(3, "int8"))
    assert str(caught.value) == "gelu: expected x of float16, bfloat16, float32, float64, got int8"
    with pytest.raises(TypeError) as caught:
        ops.matvec(np.zeros((2, 3), "float16"), np.zeros(3, "float32"))
    assert str(caught.value) == ("matvec: expected one type of float32, float16, bfloat16, got float16 and float32")


def test_what_is_no_array() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError) as caught:
        ops.matmul([[1.0]], np.zeros((1, 1), "float32"))
    assert str(caught.value) == "matmul: a: expected an array with a shape and a dtype, got list"
    with pytest.raises(TypeError) as caught:
        ops.relu(torch.zeros(3, device="meta"))
    assert str(caught.value) == (
        "relu(X: float32[3], relu: float32[3]): argument 0 (X): expected an array that DLPack can hand over, got Tensor: "
        "Unknown device type meta for Dlpack"
    )


def test_numbers_of_numpy() -> None:
    """As a sum of an array is: not arrays of NumPy's, but with a shape and a dtype."""
    total = np.arange(4, dtype="float32").sum()
    assert not isinstance(total, np.ndarray)
    for _ in range(2):
        assert ops.add(np.ones((2, 2), "float32"), total).tolist() == [[7.0, 7.0], [7.0, 7.0]]
        assert ops.relu(total).shape == ()
        assert ops.relu(-total) == 0.0


def test_refusals_of_convolutions() -> None:
    x, w = ops.Operand((1, 8, 4, 4), "float32"), ops.Operand((2, 8, 3, 3), "float32")
    for arrays, options, error, expected in (
        (
            (x, ops.Operand((2, 8, 3, 3), "float16")),
            {},
            TypeError,
            "conv2d: expected images and filters of one type, got float32 and float16",
        ),
        (
            (x, w),
            {"activation": "tanh"},
            ValueError,
            "conv2d: expected an activation of relu, gelu, gelu_tanh, silu, got 'tanh'",
        ),
    ):
        with pytest.raises(error) as caught:
            ops.conv2d.schedule(*arrays, **options)
        assert str(caught.value) == expected


def test_calls_with_arrays_like_earlier_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """They look nothing up twice, and what is kept has an end."""
    monkeypatch.setattr(sys.modules["tilewright.ops.operator"], "_MOST", 2)
    ops.relu._known.clear()
    looked_up = []
    find = ops.relu._find
    monkeypatch.setattr(ops.relu, "_find", lambda *how: looked_up.append(how) or find(*how))
    for extent in (3, 3, 4, 4, 5, 3):
        x = np.arange(extent, dtype="float32") - 1
        for _ in range(2):
            np.testing.assert_array_equal(ops.relu(x), np.maximum(x, 0))
        out = np.empty_like(x)
        assert ops.relu(x, out=out) is out
        np.testing.assert_array_equal(out, np.maximum(x, 0))
        assert len(ops.relu._known) <= 2
    assert len(looked_up) == 4  # 3, 4, 5, and 3 again, which had gone
    assert ops.relu(x, target="sim") is not ops.relu(x, target="cpu") and len(looked_up) == 6


@pytest.mark.parametrize("by_name", [False, True])
def test_a_tensor_that_requires_a_gradient(by_name: bool) -> None:
    torch = pytest.importorskip("torch")
    x, y = torch.ones(3), torch.tensor([1.0, -1.0, 2.0], requires_grad=True)
    call = (lambda: ops.add(x, y=y)) if by_name else (lambda: ops.add(x, y))
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == (
        "add: y requires a gradient, which an operation does not have: expected a call under torch.no_grad(), "
        'or a function of torch.compile(backend="tilewright")'
    )
    with torch.no_grad():
        assert call().tolist() == [2.0, 0.0, 3.0]
    assert ops.add(x, y.detach()).tolist() == [2.0, 0.0, 3.0]
