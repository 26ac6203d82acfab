"""Attention as an operator of PyTorch."""

from __future__ import annotations

import sys
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import tilewright as tw  # noqa: E402
from tilewright import ops  # noqa: E402
from tilewright.torch import attention, compile_fx  # noqa: E402

CASES: list[tuple[str, dict[str, Any]]] = [
    ("full", {}),
    ("causal", {"is_causal": True}),
    ("scale", {"scale": -0.3}),
    ("bool mask", {"mask": "bool"}),
    ("float mask", {"mask": "float64"}),
]


def operands(dtype: torch.dtype = torch.float64, heads: int = 2) -> list[torch.Tensor]:
    """Of b s h d, with axes swapped."""
    generator = torch.Generator().manual_seed(0)
    shapes = ((2, 5, heads, 4), (2, 7, 2, 4), (2, 7, 2, 6))
    made = [torch.randn(shape, dtype=dtype, generator=generator).transpose(1, 2) for shape in shapes]
    return [one.requires_grad_() for one in made]


def with_mask(options: dict[str, Any]) -> dict[str, Any]:
    if "mask" not in options:
        return options
    drawn = torch.randn(2, 1, 5, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    return {**options, "mask": drawn > -0.5 if options["mask"] == "bool" else drawn.requires_grad_()}


@pytest.mark.sample(1)
@pytest.mark.parametrize("options", [one for _, one in CASES], ids=[name for name, _ in CASES])
@pytest.mark.parametrize("heads", [2, 4])
def test_gradients_are_torchs(options: dict[str, Any], heads: int) -> None:
    options = with_mask(options)
    inputs = operands(heads=heads)
    result = attention(*inputs, enable_gqa=True, **options)
    mask = options.pop("mask", None)
    exact = torch.nn.functional.scaled_dot_product_attention(*inputs, attn_mask=mask, enable_gqa=True, **options)
    torch.testing.assert_close(result, exact)
    assert result.transpose(1, 2).is_contiguous()
    wanted = [*inputs, *([mask] if mask is not None and mask.is_floating_point() else [])]
    head = torch.randn_like(exact)
    for got, expected in zip(*(torch.autograd.grad(one, wanted, head) for one in (result, exact)), strict=True):
        torch.testing.assert_close(got, expected)


@pytest.mark.sample(1)
@pytest.mark.parametrize("is_compiled", [False, True], ids=["eager", "compiled"])
def test_sinks_slopes_and_lengths(is_compiled: bool) -> None:
    """Sinks are learned; they have a gradient of float32."""
    q, k, v = operands()
    slopes, lengths = torch.tensor([-0.5, -0.25]), torch.tensor([7, 4], dtype=torch.int32)
    sinks = torch.tensor([0.3, -1.0], requires_grad=True)

    def of(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sinks: torch.Tensor) -> torch.Tensor:
        return attention(q, k, v, is_causal=True, lengths=lengths, slopes=slopes, sinks=sinks)

    made = (torch.compile(of, backend="aot_eager", fullgraph=True) if is_compiled else of)(q, k, v, sinks)
    i = torch.arange(5)[:, None] + lengths.reshape(2, 1, 1, 1) - 5
    j = torch.arange(7)
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + slopes.double()[:, None, None] * (j - i)
    scores = scores.masked_fill(j > i, -torch.inf)
    all_scores = torch.cat([scores, sinks.double()[:, None, None].expand(2, 2, 5, 1)], -1)
    exact = torch.softmax(all_scores, -1)[..., :-1] @ v
    torch.testing.assert_close(made, exact)
    head, wanted = torch.randn_like(exact), (q, k, v, sinks)
    for got, expected in zip(*(torch.autograd.grad(one, wanted, head) for one in (made, exact)), strict=True):
        torch.testing.assert_close(got, expected)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "options", [{"window": (2, 1), "offset": 2}, {"softcap": 0.7}, {"is_causal": True, "offset": -2}],
    ids=["window", "soft cap", "rows that see nothing"],
)  # fmt: skip
def test_gradients_are_those_of_differences(options: dict[str, Any]) -> None:
    torch.autograd.gradcheck(lambda *given: attention(*given, **options), operands())


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64], ids=str)
def test_gradients_of_a_part(dtype: torch.dtype) -> None:
    drawn = torch.randn(4, 1, 2, 5, 4, dtype=dtype, generator=torch.Generator().manual_seed(2))
    mask = torch.randn(5, 5, dtype=dtype, generator=torch.Generator().manual_seed(3))
    given = [*drawn[:3].unbind(), mask]
    for wanted in ((0,), (1, 2), (3,), (0, 3)):
        inputs = [one.detach().clone().requires_grad_(number in wanted) for number, one in enumerate(given)]
        some = [inputs[number] for number in wanted]
        exact = torch.nn.functional.scaled_dot_product_attention(*inputs[:3], attn_mask=inputs[3])
        expected = torch.autograd.grad(exact, some, drawn[3])
        got = torch.autograd.grad(attention(*inputs[:3], inputs[3]), some, drawn[3])
        for one, other in zip(got, expected, strict=True):
            # By types of 16 bits, weights, gradients of scores and results are rounded once each.
            torch.testing.assert_close(one, other, **({"rtol": 0, "atol": 2e-2} if dtype == torch.float16 else {}))


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["bool", "float64", "float64 with gradients"])
def test_what_is_expanded(kind: str) -> None:
    q, k, v = torch.randn(3, 2, 3, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2)).unbind()
    k, v = (one[:, :1].expand(2, 3, 5, 4).requires_grad_() for one in (k, v))
    mask = torch.randn(2, 1, 1, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    mask = (mask > -1 if kind == "bool" else mask).expand(2, 3, 5, 5)
    wanted = [k, v, *([mask.requires_grad_()] if "gradients" in kind else [])]
    results = [attention(q, k, v, mask), torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)]
    for got, expected in zip(*(torch.autograd.grad(one.square().sum(), wanted) for one in results), strict=True):
        torch.testing.assert_close(got, expected)


@pytest.mark.sample(1)
@pytest.mark.parametrize("is_dense", [False, True], ids=["views", "dense"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_gradients_of_16_bit_types_are_the_same_in_each_run(dtype: torch.dtype, is_dense: bool) -> None:
    inputs = operands(dtype, 4)
    if is_dense:
        inputs = [one.detach().contiguous().requires_grad_() for one in inputs]
    # The logarithms of sums are kept for the gradients.
    made = attention(*inputs, is_causal=True, enable_gqa=True)
    assert "attention_with_logarithms" in type(made.grad_fn).__name__
    head = torch.randn(2, 4, 5, 6, dtype=dtype)
    first, second = (
        torch.autograd.grad(attention(*inputs, is_causal=True, enable_gqa=True), inputs, head) for _ in range(2)
    )
    exact_inputs = [one.detach().double().requires_grad_() for one in inputs]
    exact = torch.nn.functional.scaled_dot_product_attention(*exact_inputs, is_causal=True, enable_gqa=True)
    expected = torch.autograd.grad(exact, exact_inputs, head.double())
    for one, other, right in zip(first, second, expected, strict=True):
        assert torch.equal(one, other)
        # The weights, the gradients of scores and the result are rounded once each.
        assert (one - right).abs().max() < 4 * torch.finfo(dtype).eps * max(1.0, float(right.abs().max()))


@pytest.mark.sweep
def test_what_operators_of_pytorch_have_to_do() -> None:
    q, k, v = operands()
    tested = ["test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"]
    torch.library.opcheck(torch.ops.tilewright.attention.default, (q, k, v, None, True), test_utils=tested)
    dense = [one.detach().half().contiguous().requires_grad_() for one in (q, k, v)]
    op = torch.ops.tilewright.attention_with_logarithms.default
    torch.library.opcheck(op, (*dense, None, True), test_utils=tested)


@pytest.mark.sweep
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_torch_compile_keeps_it_whole(backend: str) -> None:
    def model(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return attention(q * 2, k, v, is_causal=True).transpose(1, 2).reshape(2, 5, -1)

    inputs = operands()
    compiled = torch.compile(model, backend=backend, fullgraph=True)
    torch.testing.assert_close(compiled(*inputs), model(*inputs))
    made = [torch.autograd.grad(one(*inputs).square().sum(), inputs) for one in (compiled, model)]
    for one, other in zip(*made, strict=True):
        torch.testing.assert_close(one, other)


class Model(torch.nn.Module):
    """Attention with options."""

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__()
        self.options = options

    def forward(self, *given: torch.Tensor) -> torch.Tensor:
        return attention(*given, enable_gqa=True, **self.options).transpose(1, 2).flatten(2)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "options",
    [{"is_causal": True}, {"window": (2, 1), "offset": 2}, {"softcap": 0.7}, {"is_causal": True, "offset": -2}],
    ids=["causal", "window", "soft cap", "rows that see nothing"],
)
def test_models_with_it_are_compiled(options: dict[str, Any]) -> None:
    inputs = tuple(one.detach() for one in operands(torch.float32, 4))
    model = Model(options)
    torch.testing.assert_close(tw.compile(model, inputs, target="cpu")(*inputs), model(*inputs))
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(model, backend=compile_fx)(*inputs), model(*inputs))


def test_a_mask_that_does_not_fit() -> None:
    with pytest.raises(
        ValueError, match=r"attention: expected a mask that is broadcast to \(2, 2, 5, 7\), got shape \(7, 5\)"
    ):
        attention(*operands(), torch.ones(7, 5, dtype=torch.bool))


def test_dropout_drops_the_same_weights_backward():
    torch.manual_seed(0)
    q, k = torch.randn(2, 1, 2, 7, 8).unbind()
    v = torch.randn(1, 2, 7, 8, requires_grad=True)
    o = attention(q, k, v, dropout_p=0.5)
    assert not torch.equal(o, attention(q, k, v, dropout_p=0.5))  # another seed
    head = torch.randn_like(o)
    (gradient,) = torch.autograd.grad(o, v, head)
    # The result is linear in the values: their gradient has the weights of the result.
    torch.testing.assert_close((gradient * v).sum(), (head * o).sum(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("is_wanted", [False, True])
def test_gradients_are_deterministic_where_pytorch_is_to_be(is_wanted, monkeypatch):
    asked = []

    def gradients(*given, deterministic, **options):
        asked.append(deterministic)
        return ops.attention_gradients(*given, deterministic=deterministic, **options)

    monkeypatch.setattr(sys.modules["tilewright.torch.attention"], "attention_gradients", gradients)
    was_wanted = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(is_wanted)
    try:
        q, k, v = torch.randn(3, 1, 2, 5, 8, requires_grad=True).unbind()
        torch.autograd.grad(attention(q, k, v).sum(), q)
    finally:
        torch.use_deterministic_algorithms(was_wanted)
    assert asked == [is_wanted]


class Masked(torch.nn.Module):
    def forward(self, q: Any, k: Any, v: Any, seen: Any) -> Any:
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=seen)


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_bools_of_a_model_stay_bools(target: str) -> None:
    q, k = (one.detach().float() for one in operands()[:2])
    v = k.flip(-1)
    seen = with_mask({"mask": "bool"})["mask"]
    seen[0, 0, 3] = False  # a query that sees no key
    model = tw.compile(Masked(), (q, k, v, seen), target=target)
    assert "graph.where" not in model.ir("graph")
    assert "tensor<2x1x5x7xi1>) -> tensor<2x2x5x4xf32>" in model.ir("graph")
    made, wanted = model(q, k, v, seen), Masked()(q, k, v, seen)
    torch.testing.assert_close(made, wanted, rtol=1e-5, atol=1e-6)
    assert not made[0, :, 3].any() and not wanted[0, :, 3].any()


def decoded(x: torch.Tensor, kept: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of new rows to the rows that are kept and to themselves."""
    positions = kept.shape[1] + torch.arange(x.shape[1])[:, None]
    kept = torch.cat([kept, x], 1)
    seen = mask[:, None, :] & (torch.arange(kept.shape[1]) <= positions)
    return (x @ kept.mT).masked_fill(~seen, -1e9).softmax(-1) @ kept, kept


@pytest.mark.sweep
@pytest.mark.parametrize("dynamic", [True, None])
def test_a_cache_that_grows(dynamic: bool | None) -> None:
    """PyTorch finds that a mask is longer than the cache by one; the mask's own symbol is then no input's extent."""
    from torch._dynamo.testing import CompileCounterWithBackend

    torch.manual_seed(0)
    torch.compiler.reset()
    counter = CompileCounterWithBackend("tilewright")
    compiled = torch.compile(decoded, backend=counter, dynamic=dynamic)
    kept = torch.empty(2, 0, 4)
    for count in (5, 1, 1, 1, 1):
        x, mask = torch.randn(2, count, 4), torch.ones(2, kept.shape[1] + count, dtype=torch.bool)
        mask[0, 0] = False
        wanted, (made, kept) = decoded(x, kept, mask), compiled(x, kept, mask)
        torch.testing.assert_close((made, kept), wanted)
    assert counter.frame_count == 2  # with an empty cache, and with one


@pytest.mark.parametrize("gpu", ["A100", "B200"])
def test_a_gpu_without_wgmma(gpu: str) -> None:
    """Its kernel reads parts of one tensor where they are, and stores rows of all heads, as that of sm_90a does."""

    class Heads(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            q, k, v = (one.view(2, 150, 2, 64).transpose(1, 2) for one in x.split(128, -1))
            result = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return result.transpose(1, 2).reshape(2, 150, 128)

    x = torch.randn(2, 150, 384, generator=torch.Generator().manual_seed(0)).half()
    model = tw.compile(Heads(), (x,), target=f"sim -device={gpu}")
    assert len(model.groups) == 1
    exact = Heads()(x.double())
    assert (model(x).double() - exact).abs().max() < 2e-3
