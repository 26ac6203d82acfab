"""Attention of float32 in one kernel, and its gradients in three: each product is three of tf32, by mma.sync."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from attention_reference import exact, exact_gradients, kernels
from tilewright import ops, te
from tilewright.graph.operators.attention import attention
from tilewright.schedules.attention_choice import multiplies_by
from tilewright.schedules.online_softmax import attention_of
from tilewright.target import Target

GPUS = ["H200", "A100", "RTX_4090", "B200"]
# Batch, heads, heads of keys, queries, keys and columns; keys of several turns of a ring.
CASES: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((1, 2, 2, 192, 448, 64), {}),
    ((1, 4, 2, 150, 150, 36), {"is_causal": True}),
    ((1, 2, 1, 130, 300, 96), {"window": (40, 0)}),
    ((2, 2, 2, 77, 333, 128), {"is_causal": True, "offset": 256}),
]


def seen_by(queries: int, keys: int, options: dict[str, Any]) -> np.ndarray:
    i, j = np.arange(queries)[:, None] + options.get("offset", 0), np.arange(keys)
    seen = (j <= i) if options else np.ones((queries, keys), bool)
    return seen & (j >= i - options["window"][0]) if "window" in options else seen


def drawn(shape: tuple[int, ...]) -> list[np.ndarray]:
    """Queries, keys and values."""
    batch, heads, shared, queries, keys, width = shape
    rng = np.random.default_rng(sum(shape))
    sides = ((heads, queries), (shared, keys), (shared, keys))
    return [rng.standard_normal((batch, count, rows, width)).astype("float32") for count, rows in sides]


@pytest.mark.sample(3)
@pytest.mark.parametrize("gpu", ["H200", "A100"])
@pytest.mark.parametrize(("shape", "options"), CASES)
@pytest.mark.parametrize("tile", [(128, 64), (64, 32)])
def test_kernel(shape: tuple[int, ...], options: dict[str, Any], tile: tuple[int, int], gpu: str) -> None:
    if shape[-1] > 64 and gpu == "A100":
        tile = (64, 32)  # what its shared memory has room for
    given = drawn(shape)
    q, k, v = given
    target = f"sim -device={gpu}"
    own = {"behind": 0} if options else {}
    own |= {"before": options["window"][0]} if "window" in options else {}
    own |= {"offset": options["offset"]} if "offset" in options else {}
    with Target(target):
        tensors = [te.placeholder(one.shape, "float32", name=name) for one, name in zip(given, "QKV", strict=True)]
        s, tensors = attention_of(*tensors, tile=tile, **own)
    assert kernels(str(tw.lower(s, tensors, "attention", stage="gpu", target=target)))[1] == 2
    func = tw.build(s, tensors, target=target, name="attention")
    out = np.full(q.shape, np.nan, "float32")
    func(*given, out)
    assert np.abs(out - exact(q, k, v, seen_by(q.shape[2], k.shape[2], options))).max() < 3e-6


@pytest.mark.sample(4)
@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize(("shape", "options"), CASES)
def test_operation(shape: tuple[int, ...], options: dict[str, Any], gpu: str) -> None:
    """Whatever the model chooses."""
    q, k, v = drawn(shape)
    got = ops.attention(q, k, v, enable_gqa=q.shape[1] != k.shape[1], target=f"sim -device={gpu}", **options)
    assert np.abs(got - exact(q, k, v, seen_by(q.shape[2], k.shape[2], options))).max() < 3e-6


@pytest.mark.sample(2)
@pytest.mark.parametrize("gpu", ["H200", "A100"])
@pytest.mark.parametrize(("shape", "options"), CASES)
def test_gradients(shape: tuple[int, ...], options: dict[str, Any], gpu: str) -> None:
    q, k, v = drawn(shape)
    head = np.random.default_rng(1).standard_normal(q.shape).astype("float32")
    target, has_groups = f"sim -device={gpu}", q.shape[1] != k.shape[1]
    named: dict[str, Any] = {"enable_gqa": has_groups, "target": target, **options}
    s, tensors = ops.attention_gradients.schedule(head, q, k, v, **named)
    assert kernels(str(tw.lower(s, tensors, "gradients", stage="gpu", target=target)))[1] == 9
    got = ops.attention_gradients(head, q, k, v, **named)
    wanted = exact_gradients(head, q, k, v, seen_by(q.shape[2], k.shape[2], options))
    for made, right in zip(got, wanted, strict=True):
        assert np.abs(made - right).max() / np.abs(right).max() < 3e-6


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("width", [64, 128])
def test_one_kernel(width: int, gpu: str) -> None:
    """No scores are stored, but for heads of 128 where float32 is as fast without tensor cores as tf32 is with them.

    The second kernel of a B200 merges split keys.
    """
    q, target = np.zeros((4, 16, 1024, width), "float32"), f"sim -device={gpu}"
    s, tensors = ops.attention.schedule(q, q, q, target=target)
    text = str(tw.lower(s, tensors, "attention", stage="gpu", target=target))
    is_one = gpu != "RTX_4090" or width == 64
    assert kernels(text) == (1 + (gpu == "B200"), 2) if is_one else kernels(text)[1] == 0


def test_products_of_tf32() -> None:
    """On an H200, too: two small products and one of what is rounded, and no wgmma."""
    target = "cuda -device=H200"
    q = np.zeros((4, 16, 1024, 64), "float32")
    s, tensors = ops.attention.schedule(q, q, q, target=target)
    ptx = tw.build(s, tensors, target=target, name="attention").ptx
    products = len(re.findall(r"mma\.sync\.aligned\.m16n8k8\.row\.col\.f32\.tf32\.tf32\.f32", ptx))
    assert "wgmma" not in ptx
    # 64 keys and 64 columns of a head, by 8 x 8.
    assert products == 3 * 2 * (64 // 8) * (64 // 8)


@pytest.mark.parametrize("device", ["H200", "A100"])
def test_rule(device: str) -> None:
    tensors = [te.placeholder((2, 16, 400, 64), "float32", name=name) for name in "QKV"]
    result = attention(*tensors, scale=None, before=None, behind=0, offset=0, softcap=20.0)
    s = tw.auto_schedule(result, f"sim -device={device}")
    assert s.explain().count("attention: O") == 1
    func = tw.build(s, [*tensors, result], target=f"sim -device={device}", name="attention")
    q, k, v = np.random.default_rng(1).standard_normal((3, 2, 16, 400, 64)).astype("float32")
    out = np.full_like(q, np.nan)
    func(q, k, v, out)
    scores = 20 * np.tanh(q.astype("float64") @ k.astype("float64").swapaxes(-1, -2) / 8 / 20)
    scores[..., ~np.tri(400, dtype=bool)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    assert np.abs(out - weights / weights.sum(-1, keepdims=True) @ v).max() < 3e-5


def test_no_tensor_cores() -> None:
    device = Target("cuda", device="T4").device
    assert multiplies_by(device, "float32") is None


@pytest.mark.gpu
@pytest.mark.parametrize("width", [64, 128])
@pytest.mark.parametrize("options", [{}, {"is_causal": True}], ids=["full", "causal"])
def test_on_a_gpu(options: dict[str, Any], width: int) -> None:
    """No less exact than PyTorch, also where a sum has thousands of products, of which tensor cores would lose some."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    torch.manual_seed(0)
    head, q, k, v = (torch.randn(1, 4, 4096, width, device="cuda") for _ in range(4))

    def of(*given: Any) -> tuple[Any, ...]:
        given = tuple(one.detach().requires_grad_() for one in given)
        out = torch.nn.functional.scaled_dot_product_attention(*given, **options)
        return out, *torch.autograd.grad(out, given, head.to(out.dtype))

    right, theirs = of(*(one.double() for one in (q, k, v))), of(q, k, v)
    ours = ops.attention(q, k, v, **options), *ops.attention_gradients(head, q, k, v, **options)
    for made, other, wanted in zip(ours, theirs, right, strict=True):
        assert (made - wanted).abs().max() < 2 * (other - wanted).abs().max()
