"""Operations on arrays that are not row-major."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import ops

VIEWS = {
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "every second": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "reversed": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
    "part": lambda x: np.pad(x, 3)[3:-3, 3:-3],
}  # fmt: skip


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("view", VIEWS)
def test_views(view: str, target: str) -> None:
    x = np.random.default_rng(0).standard_normal((6, 10)).astype("float32")
    y = VIEWS[view](x)
    assert not y.flags.c_contiguous
    assert np.array_equal(y, x)
    for same in (
        lambda one: ops.sum(one, axis=0, target=target),
        lambda one: ops.softmax(one, target=target),
        lambda one: ops.add(x, one, target=target),
        lambda one: ops.matmul(one, x, transpose_a=True, target=target),
        lambda one: ops.matmul(x, one, transpose_b=True, target=target),
        lambda one: ops.matmul(x, x, transpose_b=True, residual=(one @ one.T).T, target=target),
    ):
        for _ in range(2):  # the second call finds what the first one compiled
            assert np.allclose(same(y), same(x), rtol=1e-5, atol=1e-5)


def test_transposed_factors_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []
    scheduled = ops.matmul._scheduled  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(
        ops.matmul,
        "_scheduled",
        lambda operands, options, target: seen.append(dict(options)) or scheduled(operands, options, target),
    )
    a, b = np.ones((13, 4), "float32"), np.ones((7, 13), "float32")
    assert np.array_equal(ops.matmul(a.T, b.T), np.full((4, 7), 13.0))
    assert np.array_equal(ops.matmul(a.T, b, transpose_b=True), np.full((4, 7), 13.0))
    assert seen == [{"transpose_a": True, "transpose_b": True}]


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_result_in_a_view(target: str) -> None:
    x = np.arange(12, dtype="float32").reshape(3, 4)
    whole = np.zeros((4, 3), "float32")
    assert ops.relu(x, out=whole.T, target=target).base is whole
    assert np.array_equal(whole, x.T)
    with pytest.raises(ValueError, match=r"^relu: out: expected float32\[3, 4\], got float32\[4, 3\]$"):
        ops.relu(x, out=np.zeros((3, 4), "float32").T)
    with pytest.raises(ValueError, match=r"^relu: out: expected float32\[3, 4\], got float64\[3, 4\]$"):
        ops.relu(x, out=np.zeros((4, 3), "float64").T)


def test_views_of_torch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(24, dtype=torch.bfloat16).reshape(4, 6)
    assert torch.equal(ops.matmul(x, x.T), x @ x.T)
    assert torch.equal(ops.sum(x[:, ::2], axis=1), x[:, ::2].float().sum(1).to(torch.bfloat16))
    one = torch.ones(1, 6, dtype=torch.bfloat16)
    assert torch.equal(ops.add(x, one.expand(4, 6)), x + one)
    out = torch.zeros(6, 4, dtype=torch.bfloat16)
    ops.relu(x, out=out.T)
    assert torch.equal(out.T, x)


def test_attention_of_reversed_heads() -> None:
    q = np.random.default_rng(0).standard_normal((1, 2, 5, 8)).astype("float32")
    assert np.array_equal(ops.attention(q[:, ::-1], q, q), ops.attention(q[:, ::-1].copy(), q, q))


def test_functions_take_row_major_arrays() -> None:
    x = np.ones((3, 4), "float32")
    function = ops.relu.function(x, target="cpu")
    with pytest.raises(tw.TilewrightError, match="expected a row-major array"):
        function(np.ones((4, 3), "float32").T)
