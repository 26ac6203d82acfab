"""Operators of PyTorch that whole models call, against PyTorch."""

from __future__ import annotations

import pytest

import tilewright as tw
from tilewright import te

torch = pytest.importorskip("torch")

from tilewright.torch.backend import compile_fx  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


class Calls(torch.nn.Module):
    """A module that calls a function."""

    def __init__(self, function) -> None:
        super().__init__()
        self.function = function

    def forward(self, *given):
        return self.function(*given)


def _check(function, *given, **tolerances):
    with torch.no_grad():
        got = tw.compile(Calls(function), given, target="cpu")(*given)
        torch.testing.assert_close(got, function(*given), **tolerances)


@pytest.mark.sweep
def test_a_product_of_bools():
    _check(lambda a, b: a * b, torch.tensor([True, True, False, False]), torch.tensor([True, False, True, False]))


@pytest.mark.sample(1)
@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_pad(mode):
    _check(lambda x: torch.ops.aten.pad(x, [1, 2, 0, 1], mode), torch.randn(2, 3, 4, 5))


@pytest.mark.sweep
def test_nan_is_the_largest_in_order():
    x = torch.tensor([[1.0, torch.nan, -2.0, torch.nan], [3.0, 1.0, torch.nan, torch.inf]])
    _check(lambda x: (*x.sort(stable=True, dim=1), *x.sort(stable=True, dim=1, descending=True)), x, equal_nan=True)
    _check(lambda x: (*(x > 0).sort(stable=True, dim=1), *(x > 0).sort(stable=True, dim=0, descending=True)), x)
    _check(lambda x: (*x[1:].topk(2, 1), *x[1:].topk(3, 1, largest=False)), x, equal_nan=True)


@pytest.mark.sample(1)
@pytest.mark.parametrize("largest", [False, True])
def test_topk_of_a_symbolic_number(largest):
    def function(x, k):
        return x.topk(k, dim=1, largest=largest)

    compiled = torch.compile(function, backend=compile_fx, dynamic=True)
    for rows, columns, k in ((4, 9, 3), (2, 5, 4), (2, 7, 7)):
        x = torch.randint(0, 5, (rows, columns)) + torch.rand(rows, columns)
        torch.testing.assert_close(tuple(compiled(x, k)), tuple(function(x, k)))


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["cpu", pytest.param("sim", marks=pytest.mark.sweep)])
@pytest.mark.parametrize("descending", [False, True])
def test_a_symbolic_extent_is_sorted(descending, target):
    sort = Calls(lambda x: (*x.sort(stable=True, dim=0, descending=descending), x[:, 0].int().argsort(stable=True)))
    model = tw.compile(sort, (torch.ones(6, 2),), target=target, dynamic_shapes=(({0: "rows"},),))
    for rows in (6, 9, 2500):
        x = (torch.arange(rows * 2) * 7 % 5).float().reshape(rows, 2)
        x[2, 1] = x[4, 1] = torch.nan
        torch.testing.assert_close(model(x), sort(x), equal_nan=True)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.nn.functional.max_pool2d(x, 3, 2, 1, return_indices=True),
        lambda x: torch.nn.functional.avg_pool2d(x, 3, 2, 1),
        lambda x: torch.nn.functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        lambda x: torch.nn.functional.adaptive_avg_pool2d(x, (2, 3)),
        lambda x: torch.diagonal(x, 1, 2, 3),
        lambda x: torch.diagonal(x, -2, 3, 2),
        lambda x: torch.einsum("ncii->nc", x @ x.mT),
    ],
    ids=["max", "avg", "without edges", "adaptive", "diagonal", "diagonal below", "trace"],
)
def test_images_of_symbolic_extents(function):
    module = Calls(function)
    sides = {2: torch.export.Dim("h", min=5, max=64), 3: torch.export.Dim("w", min=5, max=64)}
    model = tw.compile(module, (torch.ones(2, 3, 9, 11),), target="cpu", dynamic_shapes=((sides,),))
    for shape in ((9, 11), (16, 5)):
        x = torch.randn(2, 3, *shape)
        torch.testing.assert_close(model(x), module(x), rtol=1e-5, atol=1e-5)


def test_an_extent_that_is_bounded():
    embedding = torch.nn.Embedding(8, 4)
    lookup = Calls(lambda x: embedding(torch.arange(x.shape[1])) + x)
    length = torch.export.Dim("length", min=3, max=8)
    model = tw.compile(lookup, (torch.ones(1, 6, 4),), target="cpu", dynamic_shapes=(({1: length},),))
    x = torch.ones(1, 8, 4)
    torch.testing.assert_close(model(x), lookup(x))
    with pytest.raises(ValueError, match=r"expected extent \w+ in dimension 1 to be at most 8"):
        model(torch.ones(1, 9, 4))
    with pytest.raises(ValueError, match=r"expected extent \w+ in dimension 1 to be at least 3"):
        model(torch.ones(1, 2, 4))


@pytest.mark.parametrize("given", ["var", "dim"])
def test_bounds_of_dynamic_shapes_hold_at_the_call(given):
    double = Calls(lambda x: x * 2)
    if given == "var":
        rows, columns = te.var("rows", min=3, max=8), te.var("columns", min=2, divisible_by=2)
    else:
        rows, columns = torch.export.Dim("rows", min=3, max=8), torch.export.Dim("columns", min=2)
    model = tw.compile(double, (torch.ones(4, 6),), target="cpu", dynamic_shapes=(({0: rows, 1: columns},),))
    for shape in ((3, 2), (8, 4)):
        torch.testing.assert_close(model(torch.ones(shape)), torch.full(shape, 2.0))
    refused = {(2, 4): "rows in dimension 0 to be at least 3", (9, 4): "rows in dimension 0 to be at most 8"}
    refused[4, 1] = "columns in dimension 1 to be " + ("divisible by 2" if given == "var" else "at least 2")
    if given == "var":
        refused[4, 3] = "columns in dimension 1 to be divisible by 2"
    for shape, text in refused.items():
        with pytest.raises(
            ValueError, match=rf"argument 0 \(\w+\): expected extent {text}.*, got shape \({shape[0]}, "
        ):
            model(torch.ones(shape))


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", [torch.int32, torch.float32])
def test_a_histogram(dtype):
    x = torch.tensor([-2, 0, 0, 1, 3, 3, 4, 7]).to(dtype)
    _check(lambda x: torch.histc(x.float(), bins=4, min=0, max=4), x)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "x", [torch.linspace(-2, 5, 20).square(), torch.full((3,), 2.0)], ids=["numbers", "equal ones"]
)
def test_a_histogram_of_the_data_s_range(x):
    edges = torch.tensor([-1.0, 0.5, 2.0])
    _check(lambda x: torch.histc(x, bins=4), x)
    _check(lambda x: (*torch.histogram(x, 4), torch.histogram(x, 5, range=(-2.0, 3.0)).hist), x)
    _check(lambda x: (torch.histogram(x, edges).hist, torch.histogram(x, 3, weight=x, density=True).hist), x)


@pytest.mark.sample(1)
@pytest.mark.parametrize("ends", [[2, 2, 5, 7], [0, 7, 7, 7]], ids=str)
def test_products_of_groups_of_rows(ends):
    x, w = torch.randn(7, 16).bfloat16(), torch.randn(4, 32, 16).bfloat16().transpose(1, 2)
    _check(lambda x, w, ends: torch._grouped_mm(x, w, offs=ends), x, w, torch.tensor(ends, dtype=torch.int32),
           rtol=1.6e-2, atol=1e-2)  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize("ends", [[2, 2, 5, 7], [0, 7, 7, 7]], ids=str)
def test_gradients_of_products_of_groups_of_rows(ends, dtype):
    """Operators of PyTorch for bfloat16, and of transformers for float32."""
    moe = pytest.importorskip("transformers.integrations.moe")
    torch.compiler.reset()
    x, w = torch.randn(7, 16, dtype=dtype), torch.randn(4, 32, 16, dtype=dtype)
    ends = torch.tensor(ends, dtype=torch.int32)

    def gradients(x, w):
        made = moe._grouped_mm(x, w.transpose(1, 2), ends)
        return made, *torch.autograd.grad(made.square().sum(), (x, w))

    operands = x.requires_grad_(), w.requires_grad_()
    made = torch.compile(lambda x, w: moe._grouped_mm(x, w.transpose(1, 2), ends), backend="tilewright")(*operands)
    found = made, *torch.autograd.grad(made.square().sum(), operands)
    rtol, atol = (1.6e-2, 0.1) if dtype == torch.bfloat16 else (1e-4, 1e-3)
    torch.testing.assert_close(found, gradients(*operands), rtol=rtol, atol=atol)


@pytest.mark.sweep
def test_operators_that_whole_models_call_now_and_then():
    x, w, places = torch.randn(4, 6), torch.randn(6), torch.tensor([[3, 0, 5], [1, 1, 2]])
    small = torch.randint(-9, 9, (32, 24), dtype=torch.int8)
    scale, zero = torch.tensor([0.1, 0.2, 0.05, 0.1]), torch.tensor([0, 3, -2, 0], dtype=torch.int32)

    def calls(x, w, places, small, scale, zero):
        return (
            torch.nn.functional.prelu(x, w), torch.nn.functional.prelu(x[:, None], w[:1]),
            torch.conv_tbc(x[:, None], w.reshape(2, 3, 1)[:, :1].expand(2, 6, 1), w[:1], 1),
            x[0] * torch.kaiser_window(6) + torch.kaiser_window(6, periodic=False, beta=9.0),
            x[0] * torch.bartlett_window(6) + torch.bartlett_window(6, periodic=False),
            torch.nonzero_static((x > 0).int(), size=20), torch.nonzero_static(x[0] > 0, size=2, fill_value=7),
            torch.put(x, places, w.reshape(2, 3), accumulate=True), torch._int_mm(small, small.T),
            x.index_reduce(0, places[0] % 4, x[:3], "amax"),
            x.index_reduce(0, places[1], x[:3], "mean", include_self=False),
            torch.fake_quantize_per_tensor_affine(x, 0.05, 3, -8, 7),
            torch.fake_quantize_per_channel_affine(x, scale, zero, 0, -128, 127),
        )  # fmt: skip

    _check(calls, x, w, places, small, scale, zero)


@pytest.mark.sweep
def test_attention_whose_heads_are_put_together_by_a_view():
    def attention(q, k, v):
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return y.transpose(1, 2).reshape(2, 5, -1).contiguous().view(-1, 12)

    _check(attention, *(torch.randn(2, 3, 5, 4) for _ in range(3)), rtol=1e-4, atol=1e-5)
