"""Models of PyTorch against PyTorch: exported, with symbolic extents, and as a backend of torch.compile."""

from __future__ import annotations

import inspect
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")

ROOT = Path(__file__).resolve().parents[3]


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3, stride=2, padding=1)
        self.norm = torch.nn.BatchNorm2d(4)
        self.skip = torch.nn.Conv2d(3, 4, 1, stride=2, bias=False)

    def forward(self, x):
        y = torch.relu(self.norm(self.conv(x)) + self.skip(x))
        return torch.nn.functional.adaptive_avg_pool2d(torch.nn.functional.max_pool2d(y, 2), 1).flatten(1)


class Decoder(torch.nn.Module):
    """One layer of a decoder, as GPT-2 has them."""

    def __init__(self, width=16, heads=2, words=11) -> None:
        super().__init__()
        self.words, self.places = torch.nn.Embedding(words, width), torch.nn.Embedding(32, width)
        self.before, self.after = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.wide, self.narrow = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
        self.heads = heads

    def forward(self, ids):
        batch, length = ids.shape
        x = self.words(ids) + self.places(torch.arange(length))
        q, k, v = (
            one.view(batch, length, self.heads, -1).transpose(1, 2) for one in self.qkv(self.before(x)).chunk(3, -1)
        )  # fmt: skip
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, -1))
        x = x + self.narrow(torch.nn.functional.gelu(self.wide(self.after(x)), approximate="tanh"))
        return {"logits": x @ self.words.weight.T, "hidden": x}


def _mlp(dtype=torch.float32):
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)).to(dtype).eval()


def _close(got, expected, rtol=1e-4, atol=1e-5):
    torch.testing.assert_close(got, expected, rtol=rtol, atol=atol)


@pytest.mark.sweep
def test_a_module_with_a_symbolic_batch():
    module = _mlp()
    model = tw.compile(module, (torch.randn(3, 8),), target="cpu", dynamic_shapes=({0: "batch"},))
    assert (
        repr(model) == "<tilewright.Model Sequential(input: float32[batch, 8]) -> (addmm_1: float32[batch, 4]) for cpu>"
    )
    with torch.no_grad():
        for batch in (1, 2, 7):
            x = torch.randn(batch, 8)
            _close(model(x), module(x))
    assert isinstance(model(np.zeros((1, 8), "float32")), np.ndarray)


@pytest.mark.sweep
def test_a_residual_block():
    torch.manual_seed(2)
    module = Block().eval()
    module.norm.running_mean.uniform_(), module.norm.running_var.uniform_(0.5, 2)
    x = torch.randn(2, 3, 12, 12)
    with torch.no_grad():
        _close(tw.compile(module, (x,), target="cpu")(x), module(x))


@pytest.mark.sweep
def test_a_decoder_with_symbolic_batch_and_length():
    torch.manual_seed(3)
    module = Decoder().eval()
    example = torch.randint(0, 11, (2, 5))
    model = tw.compile(module, (example,), target="cpu", dynamic_shapes={"ids": {0: "batch", 1: "length"}})
    assert [str(kind) for _, kind in model.outputs] == ["float32[batch, length, 11]", "float32[batch, length, 16]"]
    with torch.no_grad():
        for shape in ((2, 5), (1, 9), (3, 2)):
            ids = torch.randint(0, 11, shape)
            logits, hidden = model(ids)
            expected = module(ids)
            _close(logits, expected["logits"])
            _close(hidden, expected["hidden"])


def test_bfloat16():
    module = _mlp(torch.bfloat16)
    x = torch.randn(3, 8, dtype=torch.bfloat16)
    with torch.no_grad():
        _close(tw.compile(module, (x,), target="cpu")(x), module(x), rtol=1.6e-2, atol=1e-2)


def test_an_exported_program():
    module, x = _mlp(), torch.randn(3, 8)
    with torch.no_grad():
        program = torch.export.export(module, (x,))
        _close(tw.compile(program, target="cpu")(x), module(x))
    with pytest.raises(ValueError) as caught:
        tw.compile(program, target="cpu", dynamic_shapes=({0: "batch"},))
    assert str(caught.value) == "expected no dynamic_shapes with an exported program, which has its own"


class Unsupported(torch.nn.Module):
    def forward(self, x):
        noise = torch.rand(4) + x
        values = torch.linalg.ldl_factor(x[:, None] * x).LD
        return noise + torch.randn(4) + values


def test_everything_that_is_not_supported_is_listed_with_its_line():
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(Unsupported(), (torch.ones(4),), target="cpu")
    first = inspect.getsourcelines(Unsupported)[1]
    lines = str(caught.value).splitlines()
    assert lines == [
        f"{__file__}:{first + 2} (aten.rand.default): cannot be compiled: its result is random",
        f"{__file__}:{first + 3} (aten.linalg_ldl_factor_ex.default): the operator is not supported",
        f"{__file__}:{first + 4} (aten.randn.default): cannot be compiled: its result is random",
    ]


def test_what_pytorch_does_not_decompose(monkeypatch):
    def run_decompositions(program, table):
        raise RuntimeError("Cannot cast FakeTensor(..., size=(), dtype=torch.int64) to number")

    monkeypatch.setattr(torch.export.ExportedProgram, "run_decompositions", run_decompositions)
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(torch.nn.ReLU(), (torch.ones(4),), target="cpu")
    assert str(caught.value) == (
        "ReLU: PyTorch does not decompose it: Cannot cast FakeTensor(..., size=(), dtype=torch.int64) to number"
    )


@pytest.mark.sweep
def test_a_node_names_the_line_of_the_module():
    module = Decoder().eval()
    model = tw.compile(module, (torch.randint(0, 11, (1, 3)),), target="cpu")
    line = (
        inspect.getsource(Decoder).splitlines().index('        return {"logits": x @ self.words.weight.T, "hidden": x}')
    )
    first = inspect.getsourcelines(Decoder)[1]
    assert f"{__file__}:{first + line} (aten.mm.default)" in [node for group in model.groups for node in group.nodes]


class Counted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = torch.nn.Parameter(torch.zeros(()))

    def forward(self, x):
        with torch.no_grad():
            self.calls.add_(1)
        return x * self.calls


def test_a_module_that_writes_to_a_parameter():
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(Counted(), (torch.ones(3),), target="cpu")
    assert str(caught.value) == (
        "Counted: expected a model that writes to none of its parameters, buffers and inputs, got writes to calls: "
        "call eval() where the model is trained, or call the model once before where its first call prepares them"
    )


@pytest.mark.sweep
def test_an_embedding_of_bounded_norm():
    module, rows = torch.nn.Embedding(9, 4, max_norm=1.0), torch.tensor([[1, 3], [1, 8]])
    with torch.no_grad():
        module.weight.copy_(torch.linspace(-2, 3, 36).reshape(9, 4))
    kept = module.weight.detach().clone()
    model = tw.compile(module, (rows,), target="cpu")
    torch.testing.assert_close(module.weight.detach(), kept)
    _close(model(rows), module(rows))
    # torch.compile writes the rows, as PyTorch does.
    wanted = module.weight.detach().clone()
    with torch.no_grad():
        module.weight.copy_(kept)
    torch.compile(module, backend="tilewright")(rows)
    torch.testing.assert_close(module.weight, torch.nn.Parameter(wanted))


def test_a_module_in_training_mode():
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(Block().train(), (torch.randn(2, 3, 12, 12),), target="cpu")
    assert str(caught.value) == (
        "Block: expected a model that writes to none of its parameters, buffers and inputs, got writes to "
        "norm.running_mean, norm.running_var, norm.num_batches_tracked: call eval() where the model is trained, or call "
        "the model once before where its first call prepares them"
    )


@pytest.mark.parametrize("given, got", [(None, "none"), (torch.ones(3, 8), "a tensor")])
def test_example_inputs(given, got):
    with pytest.raises(TypeError) as caught:
        tw.compile(_mlp(), given, target="cpu")
    assert str(caught.value) == f"example_inputs: expected a tuple of the arguments of Sequential, got {got}"


def _backend():
    if sys.version_info < (3, 11):
        pytest.skip("tomllib is of Python 3.11")
    import tomllib

    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["torch_dynamo_backends"]
    return EntryPoint("tilewright", points["tilewright"], "torch_dynamo_backends").load()


def test_torch_compile_and_a_training_step():
    module, x = _mlp(), torch.randn(3, 8)
    compiled = torch.compile(module, backend=_backend())
    with torch.no_grad():
        _close(compiled(x), module(x))
    compiled(x).square().sum().backward()
    got = [parameter.grad.clone() for parameter in module.parameters()]
    module.zero_grad()
    module(x).square().sum().backward()
    for one, parameter in zip(got, module.parameters()):
        _close(one, parameter.grad)


@pytest.mark.sweep
def test_torch_compile_with_sizes_that_change():
    module = _mlp()
    compiled = torch.compile(module, backend=_backend())
    for batch in (3, 5, 6):
        x = torch.randn(batch, 8, requires_grad=True)
        compiled(x).sum().backward()
        got, x.grad = x.grad, None
        module(x).sum().backward()
        _close(got, x.grad)


def test_torch_compile_with_tensors_that_are_constants():
    table = torch.arange(4.0)

    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        own = torch.tensor([1.0, -2.0, 3.0, 0.5])
        turned = (x * torch.tensor([1j, 2.0, -1j, 0.5])).real
        return x * torch.tensor(2.0) + own, torch.distributions.Normal(0.0, 1.0).log_prob(x), x + table, turned

    x = torch.randn(3, 4)
    for got, wanted in zip(torch.compile(function, backend=_backend())(x), function(x)):
        _close(got, wanted)


def test_torch_compile_refuses_what_is_not_supported():
    with pytest.raises(Exception, match="aten.linalg_eig.default.*: the operator is not supported"):
        torch.compile(lambda x: torch.linalg.eigvals(x), backend=_backend())(torch.eye(4))


class _Extents(torch.nn.Module):
    """Extents in the place of numbers: places behind those of a cache, and what is computed of both."""

    def forward(self, x: torch.Tensor, past: torch.Tensor) -> tuple[torch.Tensor, ...]:
        n, p = x.shape[1], past.shape[0]
        seen = torch.arange(n)[:, None] + p >= torch.arange(n + p)[None] - min(n, p) % 3
        return torch.arange(n) + p, torch.arange(p, p + n), seen, x * p, torch.full((n,), (p - n) // 2)


@pytest.mark.sweep
def test_extents_are_numbers():
    examples = torch.randn(2, 5), torch.randn(7)
    model = tw.compile(_Extents(), examples, dynamic_shapes=({1: "length"}, {0: "past"}), target="cpu")
    for n, p in ((9, 4), (2, 3), (4, 9)):
        given = torch.randn(2, n), torch.randn(p)
        for got, wanted in zip(model(*given), _Extents()(*given)):
            assert got.dtype == wanted.dtype and torch.equal(got, wanted)


class _Heads(torch.nn.Module):
    """Attention of heads that lie in one of the orders that models have; its result is viewed as it lies."""

    def __init__(self, rows_first: bool) -> None:
        super().__init__()
        self.rows_first = rows_first

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, batch, width = x.shape
        if self.rows_first:  # as torch.nn.MultiheadAttention
            q = x.view(rows, batch * 4, width // 4).transpose(0, 1).view(batch, 4, rows, width // 4)
            y = torch.nn.functional.scaled_dot_product_attention(q, q, q)
            return y.permute(2, 0, 1, 3).reshape(rows * batch, width)
        q = x.view(batch, rows, 4, width // 4).transpose(1, 2)
        y = torch.nn.functional.scaled_dot_product_attention(q, q, q)
        return y.transpose(1, 2).reshape(rows * batch, width)


@pytest.mark.sample(1)
@pytest.mark.parametrize("rows_first", [False, True])
def test_attention_s_result_lies_as_its_query(rows_first):
    x = torch.randn(10, 2, 32)
    _close(tw.compile(_Heads(rows_first), (x,), target="cpu")(x), _Heads(rows_first)(x))


class _Mixed(torch.nn.Linear):
    def forward(self, x, y, options):
        return x @ self.weight + y * options["scale"]


def test_example_inputs_that_are_one_tensor():
    """Two inputs may be the same tensor, or a parameter. In a call they are others."""
    module = _Mixed(3, 3)
    same = module.weight
    model = tw.compile(module, (same, same, {"scale": same}), target="cpu")
    x, y, scale = torch.randn(3, 3, 3)
    _close(model(x, y, scale), module(x, y, {"scale": scale}).detach())
