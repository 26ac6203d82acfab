"""Steps of training through torch.compile: loss, gradients and optimisers beside PyTorch's in float64."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")
F = torch.nn.functional


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    from tilewright.torch import compile_fx

    torch._dynamo.reset()
    return torch.compile(function, backend=compile_fx)


def _close(got: Any, wanted: Any, most: Any, what: str) -> None:
    """No element is further from float64's than 0.0001 of the largest, or than rounding among gradients makes it."""
    size = max(float(wanted.abs().max()), most)
    assert float((got.double() - wanted).abs().max()) <= 1e-4 * size, what


def _check_step(
    loss_of: Callable[..., Any], module: Any, given: tuple[Any, ...], optimiser: Any, **options: Any
) -> None:
    """One step of training, compiled in float32, and the same step in float64 by PyTorch alone."""
    exact = copy.deepcopy(module).double()
    before = [one.detach().clone() for one in exact.parameters()]
    wide = tuple(one.double() if one.is_floating_point() else one for one in given)
    wanted = loss_of(exact, *wide)
    wanted.backward()
    got = _compiled(lambda *some: loss_of(module, *some))(*given)
    got.backward()
    assert float(got) == pytest.approx(float(wanted), rel=1e-5)
    largest = max(float(one.grad.abs().max()) for one in exact.parameters())
    assert largest > 1e-3
    for (name, one), other in zip(module.named_parameters(), exact.parameters()):
        _close(one.grad, other.grad, 1e-3 * largest, name)
    for (name, one), other in zip(module.named_buffers(), exact.buffers()):
        if one.is_floating_point():
            _close(one, other, 1e-3, name)
        else:
            assert torch.equal(one, other), name
    # The optimiser of both gets the same gradients: Adam makes a step of full size of one that is nothing but rounding.
    for one, other in zip(module.parameters(), exact.parameters()):
        other.grad = one.grad.double()
    steps = optimiser(module.parameters(), **options), optimiser(exact.parameters(), **options)
    _compiled(lambda: steps[0].step())()
    steps[1].step()
    for (name, one), other, old in zip(module.named_parameters(), exact.parameters(), before):
        assert not one.grad.any() or not torch.equal(one.double(), old), name
        # A first step of Adam has 1 - 0.999 in float32, whose error is 0.00005 of it.
        most = 1e-6 * float(other.abs().max()) + 1e-4 * float((other - old).abs().max())
        assert float((one.double() - other).abs().max()) <= most, name


# What is compiled for each, small for every run, as published for -m slow.
_SMALL_BERT = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
               "intermediate_size": 64}  # fmt: skip
_SMALL_GPT2 = {"vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
_NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def _resnet(image: int, **options: Any) -> Any:
    timm = pytest.importorskip("timm")
    module = timm.create_model("resnet18", **options).train()
    labels = torch.tensor([1, 7, 3, 9])
    return lambda m, x, y: F.cross_entropy(m(x), y), module, (torch.randn(4, 3, image, image), labels)


def _bert(length: int, **options: Any) -> Any:
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(**options, **_NO_DROPOUT)
    ids = torch.randint(3, config.vocab_size, (2, length))
    labels = ids.clone()
    labels[:, ::2] = -100  # what is not masked says nothing
    mask = (torch.arange(length)[None] < torch.tensor([[length], [length - 3]])).long()
    module = transformers.BertForMaskedLM(config).train()
    return lambda m, i, a, y: m(input_ids=i, attention_mask=a, labels=y).loss, module, (ids, mask, labels)


def _gpt2(length: int, **options: Any) -> Any:
    transformers = pytest.importorskip("transformers")
    none = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0, "use_cache": False}
    module = transformers.GPT2LMHeadModel(transformers.GPT2Config(**options, **none)).train()
    ids = torch.randint(3, module.config.vocab_size, (2, length))
    return lambda m, i: m(input_ids=i, labels=i).loss, module, (ids,)


SGD = {"lr": 0.1, "momentum": 0.9, "weight_decay": 1e-2}
ADAMW = {"lr": 1e-2, "weight_decay": 1e-2}
STEPS: dict[str, tuple[Callable[[], Any], Any, dict[str, Any]]] = {
    "ResNet-18, small": (lambda: _resnet(64, num_classes=10), torch.optim.SGD, SGD),
    "BERT, small": (lambda: _bert(10, **_SMALL_BERT), torch.optim.AdamW, ADAMW),
    "GPT-2, small": (lambda: _gpt2(10, **_SMALL_GPT2), torch.optim.AdamW, ADAMW),
    "ResNet-18": (lambda: _resnet(224), torch.optim.SGD, SGD),
    "BERT": (lambda: _bert(128), torch.optim.AdamW, ADAMW),
    "GPT-2 small": (lambda: _gpt2(128), torch.optim.AdamW, ADAMW),
}


@pytest.mark.sweep
@pytest.mark.parametrize(
    "name", [one if one.endswith(", small") else pytest.param(one, marks=pytest.mark.slow) for one in STEPS]
)
def test_a_step(name: str) -> None:
    make, optimiser, options = STEPS[name]
    torch.manual_seed(0)
    loss_of, module, given = make()
    _check_step(loss_of, module, given, optimiser, **options)


class Block(torch.nn.Module):
    """Convolution, batch norm, pooling, layer norm, embedding, attention and dropout's place, in a few lines."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.words = torch.nn.Embedding(11, 8)
        self.layer = torch.nn.LayerNorm(8)
        self.mixed = torch.nn.Linear(8, 24)
        self.out = torch.nn.Linear(8, 11)

    def forward(self, image: Any, ids: Any) -> Any:
        x = F.max_pool2d(F.relu(self.norm(self.conv(image))), 2).flatten(2).transpose(1, 2)
        x = self.layer(x + self.words(ids))
        q, k, v = self.mixed(x).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(F.gelu(x + y.transpose(1, 2).flatten(2)))


@pytest.mark.sweep
@pytest.mark.parametrize(("optimiser", "options"), [(torch.optim.SGD, SGD), (torch.optim.AdamW, ADAMW)])
def test_a_step_of_a_model_of_many_operators(optimiser: Any, options: dict[str, Any]) -> None:
    torch.manual_seed(1)
    given = torch.randn(3, 2, 6, 4), torch.randint(0, 11, (3, 6)), torch.randint(0, 11, (3, 6))
    _check_step(
        lambda m, image, ids, y: F.cross_entropy(m(image, ids).flatten(0, 1), y.flatten()), Block(), given,
        optimiser, **options,
    )  # fmt: skip


_MASKS = {
    "none": {},
    "causal": {"is_causal": True},
    "bool": {"attn_mask": torch.tensor([True, False, True, True, False, True]).expand(5, 6)},
    "float": {"attn_mask": torch.linspace(-2, 1, 30).view(5, 6), "scale": 0.3},
    "fewer heads of keys": {"enable_gqa": True},
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", _MASKS)
def test_attention_s_gradients(name: str) -> None:
    torch.manual_seed(2)
    options = _MASKS[name]
    heads = 2 if "enable_gqa" in options else 4
    given = [torch.randn(2, 4, 5, 8), torch.randn(2, heads, 6, 8), torch.randn(2, heads, 6, 8)]
    towards = torch.randn(2, 4, 5, 8)
    gradients = []
    for dtype in (torch.float32, torch.float64):
        own = [one.detach().to(dtype).requires_grad_() for one in given]
        held = {key: one.to(dtype) if torch.is_tensor(one) and one.is_floating_point() else one
                for key, one in options.items()}  # fmt: skip

        def attention(*three: Any, held: dict[str, Any] = held) -> Any:
            return F.scaled_dot_product_attention(*three, **held)

        made = (_compiled(attention) if dtype == torch.float32 else attention)(*own)
        made.backward(towards.to(dtype))
        gradients.append([made.detach(), *(one.grad for one in own)])
    for got, wanted in zip(*gradients):
        _close(got, wanted, 0.0, name)


def _layer(x: Any, weight: Any) -> Any:
    return torch.relu(x @ weight)


def test_inputs_kept_for_the_backward_pass_are_not_copied() -> None:
    torch.manual_seed(1)
    x, weight = (torch.randn(8, 8, requires_grad=True) for _ in range(2))
    y = _compiled(_layer)(x, weight)
    kept = [one.data_ptr() for one in y.grad_fn.saved_tensors]
    assert {x.data_ptr(), weight.data_ptr()} <= {*kept}


@pytest.mark.parametrize("changed", ["input", "output"])
def test_what_is_kept_must_not_change(changed: str) -> None:
    """As without torch.compile."""
    x, weight = (torch.ones(8, 8, requires_grad=True) for _ in range(2))
    y = _compiled(_layer)(x, weight)
    with torch.no_grad():
        (weight if changed == "input" else y).mul_(2)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize(
    ("module", "shape"),
    [
        (torch.nn.Conv2d(12, 12, 3, padding=1, groups=12), (4, 12, 11, 9)),
        (torch.nn.Conv2d(8, 12, (3, 2), stride=(2, 1), padding=(1, 0), groups=4), (3, 8, 10, 12)),
        (torch.nn.Conv1d(6, 9, 5, padding=2, dilation=2, groups=3), (2, 6, 20)),
        (torch.nn.ConvTranspose2d(8, 12, 3, stride=2, groups=4), (3, 8, 5, 5)),
    ],
    ids=["depthwise", "strides", "dilations", "transposed"],
)
@pytest.mark.sample(1)
def test_all_groups_of_filters_have_their_gradient_at_once(
    module: Any, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    from models.traced import compiled_models

    models = compiled_models(monkeypatch)
    exact, x = copy.deepcopy(module).double(), torch.randn(shape, generator=torch.Generator().manual_seed(0))
    _compiled(module)(x).square().sum().backward()
    exact(x.double()).square().sum().backward()
    for one, other in zip(module.parameters(), exact.parameters()):
        _close(one.grad, other.grad, 0.0, "a gradient")
    operators = [name for group in models[-1].groups for name in group.operators]
    assert operators.count("conv") == 1
