"""Attention of `torch.compile(dynamic=True)`: kernels without scores in memory, for inference and for training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
backend = pytest.importorskip("tilewright.torch.backend")

HEADS, WIDTH = 4, 64


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], tuple[Any, list[Any]]]:
    """A function that compiles a module for a simulated GPU, and the models that this makes. Tensors of processors are
    compiled for them otherwise."""
    from tilewright.graph import compile_graph

    def of(module: Any, target: str) -> tuple[Any, list[Any]]:
        models = list[Any]()

        def for_gpu(graph: Any, kind: str, *others: Any) -> Any:
            models.append(compile_graph(graph, target, *others))
            return models[-1]

        monkeypatch.setattr(backend, "compile_graph", for_gpu)
        torch._dynamo.reset()
        return torch.compile(module, backend="tilewright", dynamic=True), models

    yield of
    torch._dynamo.reset()


def attend(kind: str, q: Any, k: Any, v: Any, mask: Any) -> Any:
    attention = torch.nn.functional.scaled_dot_product_attention
    if kind == "causal":
        return attention(q, k, v, is_causal=True)
    if kind == "known heads":
        q, k, v = (one.transpose(1, 2).flatten(2).unflatten(-1, (HEADS, WIDTH)).transpose(1, 2) for one in (q, k, v))
    if kind in ("grouped", "known heads"):
        return attention(q, k[:, :2], v[:, :2], enable_gqa=True)
    return attention(q, k, v, attn_mask=mask if kind in ("bools", "floats") else None)


def drawn(kind: str, batch: int, queries: int, keys: int, dtype: Any) -> tuple[list[Any], Any]:
    generator = torch.Generator().manual_seed(batch * queries + keys)

    def normal(*shape: int) -> Any:
        return torch.randn(*shape, generator=generator).to(dtype)

    q, k, v = normal(batch, HEADS, queries, WIDTH), *(normal(batch, HEADS, keys, WIDTH) for _ in range(2))
    mask = None
    if kind == "bools":
        mask = torch.rand(batch, 1, 1, keys, generator=generator) < 0.7
        mask[..., 0] = True
    elif kind == "floats":
        mask = normal(1, HEADS, queries, keys)
    return [q, k, v], mask


KINDS = ["full", "causal", "bools", "floats", "known heads"]
SIZES = [(2, 100, 60), (3, 77, 130)]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("device", "dtype"), [("H200", "float16"), ("A100", "float32")])
@pytest.mark.parametrize("kind", KINDS)
def test_inference(kind: str, device: str, dtype: str, compiled: Any) -> None:
    call, models = compiled(lambda *given: attend(kind, *given), f"sim -device={device}")
    for batch, queries, keys in SIZES:
        keys = queries if kind == "causal" else keys
        given, mask = drawn(kind, batch, queries, keys, getattr(torch, dtype))
        with torch.no_grad():
            made, wanted = call(*given, mask), attend(kind, *(one.double() for one in given), as_double(mask))
        assert (made - wanted).abs().max() < (4e-3 if dtype == "float16" else 5e-6)
    rules = [rule for model in models for group in model.groups for rule in rules_of(group)]
    assert "attention" in rules and "reduction" not in rules


def with_gradients(function: Any, tensors: list[Any], head: Any = None) -> list[Any]:
    """The result, and the gradients by tensors: of it times a head, or of the sum of its squares."""
    tensors = [one.detach().requires_grad_() for one in tensors]
    out = function(*tensors)
    by = (out.square().sum(), tensors) if head is None else (out, tensors, head.to(out.dtype))
    return [out, *torch.autograd.grad(*by)]


def test_symbolic_heads_that_share_keys() -> None:
    """Each two of four heads read one of two, though nobody has said that there are four."""
    torch._dynamo.reset()
    call = torch.compile(lambda *given: attend("grouped", *given, None), backend="tilewright", dynamic=True)
    given, _ = drawn("grouped", 2, 20, 30, torch.float32)
    results = [with_gradients(one, given) for one in (call, lambda *x: attend("grouped", *x, None))]
    for made, wanted in zip(*results, strict=True):
        assert (made - wanted).abs().max() < 1e-5
    torch._dynamo.reset()


def as_double(mask: Any) -> Any:
    return mask if mask is None or mask.dtype == torch.bool else mask.double()


def rules_of(group: Any) -> list[str]:
    """The rules that made a group's schedule; none where it is one of a library."""
    plan = group.schedule.plan
    return [] if plan is None else [decision.rule for decision in plan.decisions]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("device", "dtype"), [("H200", "float16"), ("A100", "float32")])
@pytest.mark.parametrize("kind", ["causal", "bools", "known heads"])
def test_training(kind: str, device: str, dtype: str, compiled: Any) -> None:
    call, models = compiled(lambda *given: attend(kind, *given), f"sim -device={device}")
    for batch, queries, keys in SIZES:
        keys = queries if kind == "causal" else keys
        given, mask = drawn(kind, batch, queries, keys, getattr(torch, dtype))
        head = torch.randn(given[0].shape, generator=torch.Generator().manual_seed(1)).to(given[0].dtype)
        ours = with_gradients(lambda *x, mask=mask: call(*x, mask), given, head)
        right = with_gradients(
            lambda *x, mask=mask: attend(kind, *x, as_double(mask)), [one.double() for one in given], head
        )
        for made, wanted in zip(ours, right, strict=True):
            assert (made - wanted).abs().max() < (5e-3 if dtype == "float16" else 5e-6) * wanted.abs().max()
    for name in ("attention_with_logarithms", "attention_gradients"):
        (group, *_) = [
            group for model in models for group in model.groups if f"tilewright.{name}.default" in str(group)
        ]
        assert group.schedule.plan is None, str(group)  # a schedule of the library, and not one of the rules


@pytest.mark.parametrize("shape", [(1, HEADS, 40, 40), (40, 40)])
def test_a_mask_that_learns(shape: tuple[int, ...], compiled: Any) -> None:
    """Its gradient sums over sequences, which nobody has counted: the rules are for it."""
    call, _ = compiled(lambda q, k, v, mask: attend("floats", q, k, v, mask), "sim -device=H200")
    for batch in (2, 3):
        given, _ = drawn("full", batch, 40, 40, torch.float32)
        bias = torch.randn(shape, generator=torch.Generator().manual_seed(2))
        ours = with_gradients(call, [*given, bias])
        right = with_gradients(lambda *x: attend("floats", *x), [one.double() for one in (*given, bias)])
        for made, wanted in zip(ours, right, strict=True):
            assert (made - wanted).abs().max() < 1e-5 * wanted.abs().max()
