"""FlexAttention of PyTorch, whose masks and changes of scores become those of attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tilewright as tw

torch = pytest.importorskip("torch")
flex = pytest.importorskip("torch.nn.attention.flex_attention")

from tilewright.graph import compile_graph  # noqa: E402
from tilewright.torch import compile_fx  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
ROWS, WIDTH = 20, 8
TABLE = torch.randn(4, 2 * ROWS + 1, generator=torch.Generator().manual_seed(3))
DOCUMENTS = torch.tensor([0] * 7 + [1] * 9 + [2] * 4)
LENGTHS = torch.tensor([3, 17])


def _operands(heads: int = 4, dtype: torch.dtype = torch.float32) -> list[Any]:
    torch.manual_seed(2)
    return [torch.randn(2, each, ROWS, WIDTH, dtype=dtype) for each in (4, heads, heads)]


def _mask(function: Callable[..., Any], batches: int | None = None) -> Any:
    return flex.create_block_mask(function, batches, None, ROWS, ROWS, device="cpu", BLOCK_SIZE=16)


def _attributes(model: Any) -> dict[str, str]:
    (line,) = (line for line in model.ir("graph").splitlines() if "graph.attention" in line)
    inside = line[line.index("{") + 1 : line.index("}")]
    return dict(one.strip().split(" = ") for one in inside.split(","))


class Flex(torch.nn.Module):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = options

    def forward(self, q: Any, k: Any, v: Any) -> Any:
        return flex.flex_attention(q, k, v, **self.options)


WINDOWS: dict[str, tuple[Callable[..., Any], tuple[int, int, int]]] = {
    "all": (lambda b, h, i, j: i >= 0, (-1, -1, 0)),
    "causal": (lambda b, h, i, j: i >= j, (-1, 0, 0)),
    "strictly causal": (lambda b, h, i, j: i > j, (-1, 0, -1)),
    "window": (lambda b, h, i, j: (i >= j) & (i - j < 5), (4, 0, 0)),
    "both sides": (lambda b, h, i, j: (i - j).abs() <= 3, (6, 0, 3)),
    "the future": (lambda b, h, i, j: j >= i + 2, (0, -1, 2)),
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", WINDOWS)
def test_a_mask_that_is_a_window_becomes_one(name: str) -> None:
    function, expected = WINDOWS[name]
    module, operands = Flex(block_mask=_mask(function)), _operands()
    model = tw.compile(module, tuple(operands), target="cpu")
    found = _attributes(model)
    assert tuple(int(found[each].split(" ")[0]) for each in ("before", "behind", "offset")) == expected
    assert len(model.groups) == 1 and len(model.groups[0].inputs) == 3
    torch.testing.assert_close(model(*operands), module(*operands), rtol=1e-4, atol=1e-5)


SCORES: dict[str, dict[str, Any]] = {
    "causal": {"score_mod": lambda s, b, h, i, j: torch.where(i >= j, s, -float("inf"))},
    "ALiBi": {"score_mod": lambda s, b, h, i, j: s + (j - i) * torch.exp2(-(h + 1) * 0.5)},
    "soft cap": {"score_mod": lambda s, b, h, i, j: 20 * torch.tanh(s / 20)},
    "table": {"score_mod": lambda s, b, h, i, j: s - TABLE[h, i - j + ROWS]},
    "square": {"score_mod": lambda s, b, h, i, j: s * s.abs()},
    "documents": {"block_mask": (lambda b, h, i, j: (DOCUMENTS[i] == DOCUMENTS[j]) & (i >= j), None)},
    "lengths": {"block_mask": (lambda b, h, i, j: j < LENGTHS[b], 2), "scale": 0.3},
    "empty rows": {"block_mask": (lambda b, h, i, j: (i >= j) & (i > 3), None)},
    "all at once": {
        "block_mask": (lambda b, h, i, j: j < LENGTHS[b], 2),
        "score_mod": lambda s, b, h, i, j: torch.where(h < 2, 5 * torch.tanh(s / 5) + TABLE[h, j] * i, -float("inf")),
    },
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", SCORES)
def test_scores_and_masks(name: str) -> None:
    options = {key: _mask(*one) if isinstance(one, tuple) else one for key, one in SCORES[name].items()}
    module, operands = Flex(**options), _operands()
    torch._dynamo.reset()
    made = torch.compile(module, backend=compile_fx, fullgraph=True)(*operands)
    torch.testing.assert_close(made, module(*operands), rtol=1e-4, atol=1e-5)


@pytest.mark.sweep
def test_results_that_lie_otherwise_heads_that_are_shared_and_logarithms() -> None:
    causal = _mask(lambda b, h, i, j: i >= j)

    def several(q: Any, k: Any, v: Any) -> Any:
        result, sums = flex.flex_attention(q, k, v, enable_gqa=True, return_lse=True, block_mask=causal)
        turned = flex.flex_attention(*(one.transpose(1, 2) for one in (q, q, q)))
        return result, sums, turned.transpose(1, 2).reshape(2, 4, -1)

    for dtype, tolerance in ((torch.float32, 1e-5), (torch.bfloat16, 2e-2)):
        operands = _operands(2, dtype)
        torch._dynamo.reset()
        made = torch.compile(several, backend=compile_fx, fullgraph=True)(*operands)
        torch.testing.assert_close(made, several(*operands), rtol=10 * tolerance, atol=tolerance)


@pytest.mark.sweep
def test_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    # PyTorch refuses them on a processor, where its own kernels have none.
    monkeypatch.setattr(flex, "_validate_device", lambda *_: None)
    causal = _mask(lambda b, h, i, j: i >= j)

    def loss(q: Any, k: Any, v: Any, table: Any) -> Any:
        score_mod = lambda s, b, h, i, j: s + table[h, i - j + ROWS]  # noqa: E731
        return flex.flex_attention(q, k, v, block_mask=causal, score_mod=score_mod, enable_gqa=True).square().sum()

    given = [one.requires_grad_() for one in (*_operands(2), TABLE.clone())]
    torch._dynamo.reset()
    made = torch.autograd.grad(torch.compile(loss, backend=compile_fx, fullgraph=True)(*given), given)

    def plain(q: Any, k: Any, v: Any, table: Any) -> Any:
        i = torch.arange(ROWS)
        bias = table[:, i[:, None] - i + ROWS].masked_fill(i[:, None] < i, -float("inf"))
        attention = torch.nn.functional.scaled_dot_product_attention
        return attention(q, k, v, attn_mask=bias, enable_gqa=True).square().sum()

    for one, expected in zip(made, torch.autograd.grad(plain(*given), given), strict=True):
        torch.testing.assert_close(one, expected, rtol=1e-4, atol=1e-4)


TRAINED = ("causal", "ALiBi", "soft cap", "table", "documents", "empty rows")


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", TRAINED)
def test_gradients_have_the_operator_of_attention(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flex, "_validate_device", lambda *_: None)
    texts: list[str] = []

    def kept(graph: Any, target: Any) -> Any:
        texts.append(str(graph.module))
        return compile_graph(graph, target)

    monkeypatch.setattr("tilewright.torch.backend.compile_graph", kept)
    options = {key: _mask(*one) if isinstance(one, tuple) else one for key, one in SCORES[name].items()}
    given = [one.requires_grad_() for one in _operands(2)]

    def attention(q: Any, k: Any, v: Any) -> Any:
        return flex.flex_attention(q, k, v, enable_gqa=True, **options)

    torch._dynamo.reset()
    made = torch.compile(attention, backend=compile_fx, fullgraph=True)(*given)
    head = torch.randn(made.shape, generator=torch.Generator().manual_seed(4))
    got = torch.autograd.grad(made, given, head)
    forward, backward = texts
    assert "graph.attention_with_logarithms" in forward and "graph.attention_gradients" in backward
    assert "graph.matmul" not in forward + backward
    q, k, v = exact = [one.detach().double().requires_grad_() for one in given]
    k, v = (one.repeat_interleave(2, 1) for one in (k, v))
    h, i, j = torch.arange(4).view(4, 1, 1), torch.arange(ROWS).view(-1, 1), torch.arange(ROWS)
    scores = q @ k.mT * WIDTH**-0.5
    if changed := SCORES[name].get("score_mod"):
        scores = changed(scores, 0, h, i, j)
    seen = torch.ones(ROWS, ROWS, dtype=torch.bool)
    if mask := SCORES[name].get("block_mask"):
        seen = mask[0](0, 0, i, j)
    weights = torch.softmax(scores.masked_fill(~seen, -1e300), -1) * seen.any(-1, keepdim=True)
    for one, expected in zip(got, torch.autograd.grad(weights @ v, exact, head.double()), strict=True):
        torch.testing.assert_close(one.double(), expected, rtol=1e-4, atol=1e-5)
