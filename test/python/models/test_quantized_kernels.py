"""The kernels of quantised models on a GPU: as few as of floats, and right on the simulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing
from tilewright.dtypes import as_dtype
from tilewright.graph import GraphBuilder, TensorType, compile_graph
from tilewright.graph.checks import checked

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")


class Attention(torch.nn.Module):
    """Four heads of 16, whose queries, keys and values are read from one matrix."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.out = (torch.nn.Linear(64, 64) for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (one(x).view(1, 16, 4, 16).transpose(1, 2) for one in (self.q, self.k, self.v))
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(1, 16, 64))


class Encoder(torch.nn.Module):
    """A layer of BERT."""

    def __init__(self) -> None:
        super().__init__()
        self.attention, self.norms = Attention(), torch.nn.ModuleList(torch.nn.LayerNorm(64) for _ in range(2))
        self.feed = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norms[0](x + self.attention(x))
        return self.norms[1](x + self.feed(x))


class Bottleneck(torch.nn.Module):
    """Convolutions of 1 x 1, 3 x 3 and 1 x 1 pixels beside their input."""

    def __init__(self) -> None:
        super().__init__()
        sizes = ((32, 32, 1), (32, 48, 3), (48, 32, 1))
        convolutions = [torch.nn.Conv2d(given, made, size, padding=size // 2) for given, made, size in sizes]
        self.body = torch.nn.Sequential(
            convolutions[0], torch.nn.ReLU(), convolutions[1], torch.nn.ReLU(), convolutions[2]
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.body(x) + x)


def _models(make: Callable[[], Any], x: torch.Tensor, **quantised: Any) -> tuple[Any, Any, torch.Tensor]:
    """A model of bfloat16 for the simulator, the quantised one, and the exact result."""
    torch.manual_seed(3)
    module = make().eval()
    with torch.no_grad():
        exact = module(x)
        module, x = module.to(torch.bfloat16), x.to(torch.bfloat16)
        target = "sim -arch=sm_90a"
        floats = tw.compile(module, (x,), target)
        return floats, tw.compile(module, (x,), target, calibration=[(x,)], **quantised), exact


def _cosine(got: torch.Tensor, exact: torch.Tensor) -> float:
    return float(torch.nn.functional.cosine_similarity(got.double().flatten(), exact.double().flatten(), dim=0))


@pytest.mark.sweep
@pytest.mark.parametrize("to", ["int8", "float8_e4m3fn"])
def test_a_layer_of_an_encoder(to: str) -> None:
    x = torch.randn(1, 16, 64)
    floats, quantised, exact = _models(Encoder, x, quantized=to)
    # Only the input of the model and the result of attention are quantised by kernels of their own.
    assert len(quantised.groups) == len(floats.groups) + 2
    assert [group.operators for group in quantised.groups].count(("quantize",)) == 2
    (norm,) = [group for group in quantised.groups if len(group.results) == 2]
    assert [str(kind) for kind in norm.types] == ["bfloat16[16, 64]", f"{to}[16, 64]"]
    assert len(norm.function.launch_config()) == 1
    acc = 'acc = "int32"' if to == "int8" else 'acc = "float32"'
    assert quantised.ir("graph").count(acc) == 4  # queries, keys and values are one matmul
    x = x.to(torch.bfloat16)
    assert quantised.verify(x)
    assert _cosine(quantised(x), exact) > 0.999


@pytest.mark.sweep
@pytest.mark.parametrize("to", ["int8", "float8_e4m3fn"])
def test_a_bottleneck(to: str) -> None:
    x = torch.randn(1, 32, 6, 7)
    _, quantised, exact = _models(Bottleneck, x, quantized=to)
    assert "graph.conv" not in quantised.ir("graph")
    for group in quantised.groups:
        if "matmul" in group.operators:
            assert len(group.function.launch_config()) == 1
    # Between the convolutions there are 8 bits alone.
    types = [str(kind) for group in quantised.groups if "matmul" in group.operators for kind in group.types]
    assert types == [f"{to}[42, 32]", f"{to}[42, 48]", "bfloat16[42, 32]"]
    x = x.to(torch.bfloat16)
    assert quantised.verify(x)
    assert _cosine(quantised(x), exact) > 0.999


@pytest.mark.sweep
@pytest.mark.parametrize("to", ["int8", "float8_e4m3fn"])
def test_tensor_cores_read_filters_along_k(to: str) -> None:
    """Warpgroups multiply pixels and windows; without them, matrices are loaded in whole rows, not in bytes."""
    acc = "int32" if to == "int8" else "float32"
    w = np.zeros((128, 128, 3, 3), as_dtype(to))
    for arch, instruction, other in (("sm_90a", "wgmma.mma_async", "mma.sync"), ("sm_89", "mma.sync", "wgmma")):
        with GraphBuilder("images", [("x", TensorType((64, 128, 28, 28), to))]) as g:
            y = g.inputs["x"]
            for name, filters in (("first", w[..., :1, :1]), ("second", w[..., 1:2, 1:2]), ("third", w)):
                edge = [filters.shape[2] // 2] * 2
                y = g.op("conv", y, g.weight(name, filters), strides=[1, 1], before=edge, after=edge, dilations=[1, 1],
                         groups=1, acc=acc, to=acc)  # fmt: skip
                y = g.op("cast", y, to=to, saturate=True)
            groups = compile_graph(g.finish([("y", y)]), f"cuda -arch={arch}").groups
        _, *kernels = (group.function.ptx for group in groups if "matmul" in group.operators)
        assert len(kernels) == 2
        for ptx in kernels:
            assert instruction in ptx and other not in ptx and "ld.shared.b8" not in ptx
            assert arch == "sm_90a" or "ldmatrix" in ptx


def test_what_is_quantised_is_at_most_a_step_from_the_exact_integer() -> None:
    scale = np.float32(0.9375 / 127)
    with GraphBuilder("steps", [("x", TensorType((8, 16), "float32"))]) as g:
        q = g.op("quantize", g.inputs["x"], g.constant(float(scale), "float32"), g.constant(0, "int8"), axis=0, block=0,
                 to="int8")  # fmt: skip
        model = compile_graph(g.finish([("q", q)]), "cpu")
    x = np.full((8, 16), 0.46875, "float32")  # 63.5 steps in float32, but not in float64
    (group,) = model.groups
    exact, got = int(np.rint(0.46875 / np.float64(scale))), int(model(x)[0, 0])
    assert abs(got - exact) == 1
    for steps, right in ((0, True), (-1, True), (1, False), (-3, False)):
        assert checked(group, [x], [model(x) + np.int8(steps)], {}).right == right


@pytest.mark.parametrize("to", ["int8", "float8_e4m3fn"])
def test_warpgroups_store_a_result_of_eight_bits(to: str) -> None:
    a, b = (np.random.default_rng(seed).integers(-1, 2, (128, 128)).astype(as_dtype(to)) for seed in (1, 2))
    acc = "int32" if to == "int8" else "float32"
    A, B, k = te.placeholder(a.shape, to), te.placeholder(b.shape, to), te.reduce_axis((0, 128), name="k")
    C = te.compute((128, 128), lambda i, j: te.sum(A[i, k].astype(acc) * B[j, k].astype(acc), axis=k), name="C")
    D = te.compute((128, 128), lambda i, j: te.nearbyint(C[i, j].astype("float32") * 0.75).astype(to), name="D")
    target = "sim -arch=sm_90a"
    s = tw.auto_schedule(D, target, settings={"D": {"rule": "warpgroups"}})
    (got,) = testing.run(tw.build(s, [A, B, D], target=target), [a, b], [((128, 128), to)])
    exact = np.rint(a.astype("float32") @ b.T.astype("float32") * np.float32(0.75))
    np.testing.assert_array_equal(got.astype("float32"), exact.astype(as_dtype(to)).astype("float32"))
