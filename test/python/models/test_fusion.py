"""Which operators of a layer of a transformer are computed together."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.graph import PASSES, GraphBuilder, TensorType, compile_graph

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore")


class Layer(torch.nn.Module):
    """Attention and a feed-forward network, each with a norm behind, as BERT has them."""

    def __init__(self, width: int = 32, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.parts = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(4))
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(width) for _ in range(2))
        self.feed = torch.nn.Sequential(
            torch.nn.Linear(width, 2 * width), torch.nn.GELU(), torch.nn.Linear(2 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = (
            part(x).view(batch, length, self.heads, width // self.heads).transpose(1, 2) for part in self.parts[:3]
        )
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        x = self.norms[0](x + self.parts[3](y.transpose(1, 2).reshape(batch, length, width)))
        return self.norms[1](x + self.feed(x))


@pytest.mark.sweep
@pytest.mark.parametrize("batch", [1, 2])
def test_a_layer_of_bert_has_ten_groups(batch: int) -> None:
    """A product and its heads apart, attention, a product and a norm, a product with the activation, a product
    and a norm, which is written as the result."""
    torch.manual_seed(0)
    module, x = Layer(), torch.randn(batch, 8, 32)
    with torch.no_grad():
        model = tw.compile(module, (x,), target="cpu")
        assert len(model.groups) == 10
        assert model.verify(x)
        torch.testing.assert_close(model(x), module(x), rtol=1e-4, atol=1e-5)
    norms = [group.operators for group in model.groups if "rsqrt" in group.operators]
    assert len(norms) == 2 and all(each.count("reduce_sum") == 2 for each in norms)


@pytest.mark.sweep
def test_weights_of_sixteen_bits_are_converted_where_they_are_read() -> None:
    torch.manual_seed(0)
    module, x = Layer().to(torch.bfloat16), torch.randn(1, 8, 32).to(torch.bfloat16)
    with torch.no_grad():
        model = tw.compile(module, (x,), target="cpu")
        plain = tw.compile(module, (x,), target="cpu", without=PASSES)
        assert len(model.groups) == 10 < len(plain.groups) / 4
        assert model.verify(x)
        assert not [group.name for group in model.groups if group.operators == ("cast",)]
        norms = [group.operators for group in model.groups if "rsqrt" in group.operators]
        assert len(norms) == 2 and all(each.count("reduce_sum") == 2 for each in norms)
        got = [one(x).float() for one in (model, plain)]
        exact = module.float()(x.float())
    errors = [float((one - exact).abs().max()) for one in got]
    assert errors[0] <= 2 * errors[1] + 1e-2


@pytest.mark.sample(2)
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("without", [(), ("fuse-operators",)])
def test_a_norm_behind_a_product_is_right(target: str, without: Any) -> None:
    kinds = [("x", TensorType((6, 16), "float32")), ("w", TensorType((16, 8), "float32"))]
    with GraphBuilder("norm", kinds) as b:
        product = b.op("matmul", b.inputs["x"], b.inputs["w"], acc="float32", to="float32")
        split = b.op("reshape", product, shape=(2, 3, 8))
        largest = b.op("reduce_max", split, axes=(2,), keepdims=True)
        made = b.op("exp", b.op("sub", split, largest))
        total = b.op("reduce_sum", made, axes=(2,), keepdims=True)
        graph = b.finish([("y", b.op("div", made, total))])
    rng = np.random.default_rng(3)
    x, w = rng.standard_normal((6, 16), "float32"), rng.standard_normal((16, 8), "float32")
    model = compile_graph(graph, target, without)
    z = (x.astype(float) @ w).reshape(2, 3, 8)
    wanted = np.exp(z - z.max(2, keepdims=True))
    np.testing.assert_allclose(model(x, w), wanted / wanted.sum(2, keepdims=True), rtol=1e-5)
    assert model.verify(x, w)
    if not without:
        assert [len(group.operators) for group in model.groups] == [1, 5]


@pytest.mark.sweep
def test_groups_keep_the_values_that_they_read() -> None:
    """Also when the model is gone."""
    module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.LayerNorm(16)).eval()
    groups = tw.compile(module, (torch.randn(4, 8),), target="cpu").groups
    gc.collect()
    types = [str(value.type) for group in groups for value in (*group.inputs, *group.results)]
    assert types[1:] == [
        "tensor<4x8xf32>",
        "tensor<16xf32>",
        *["tensor<4x16xf32>"] * 2,
        *["tensor<16xf32>"] * 2,
        "tensor<4x16xf32>",
    ]
