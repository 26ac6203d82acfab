"""Models on the simulator and on a GPU, scheduled by rules."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright.graph import Graph, GraphBuilder, TensorType, compile_graph

RNG = np.random.default_rng(11)
W, V = RNG.standard_normal((24, 16)).astype("float32"), RNG.standard_normal((5, 3, 3, 3)).astype("float32")


def _perceptron(dtype: str = "float32") -> Graph:
    with GraphBuilder("perceptron", [("x", TensorType((4, 24), dtype))]) as b:
        h = b.op("matmul", b.inputs["x"], b.weight("w", W.astype(dtype)), acc="float32", to=dtype)
        h = b.op("relu", b.op("add", h, b.constant(0.5, dtype)))
        return b.finish([("h", h), ("y", b.op("softmax", h, axis=1))])


def _convolution() -> Graph:
    with GraphBuilder("convolution", [("x", TensorType((1, 3, 9, 9), "float32"))]) as b:
        windows = {"strides": [2, 2], "before": [1, 1], "after": [1, 1], "dilations": [1, 1]}
        h = b.op("conv", b.inputs["x"], b.weight("v", V), **windows, groups=1, acc="float32", to="float32")
        h = b.op("max_pool", b.op("tanh", h), kernel=[2, 2], **windows)
        return b.finish([("y", b.op("reduce_sum", h, axes=[2, 3], keepdims=False))])


MODELS = {"perceptron": (_perceptron, (4, 24)), "convolution": (_convolution, (1, 3, 9, 9))}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("target", ["sim", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_a_target_is_as_the_processor(name: str, target: str) -> None:
    if target == "cuda" and not tw.cuda(0).exist:
        pytest.skip("no GPU here")
    make, shape = MODELS[name]
    x = RNG.standard_normal(shape).astype("float32")
    expected = compile_graph(make(), "cpu")(x)
    model = compile_graph(make(), target)
    for _ in range(2):
        got = model(x)
        for one, wanted in zip(
            got if isinstance(got, tuple) else (got,), expected if isinstance(got, tuple) else (expected,)
        ):
            assert isinstance(one, np.ndarray)
            np.testing.assert_allclose(one, wanted, rtol=2e-5, atol=1e-6)


def _normalised() -> Graph:
    """A convolution whose batch norm becomes weights that are computed when the model is compiled."""
    with GraphBuilder("normalised", [("x", TensorType((1, 3, 9, 9), "float32"))]) as b:
        windows = {"strides": [1, 1], "before": [1, 1], "after": [1, 1], "dilations": [1, 1]}
        h = b.op("conv", b.inputs["x"], b.weight("v", V), **windows, groups=1, acc="float32", to="float32")
        row = [b.weight(f"row{i}", V[:, :1, :1, i % 3].reshape(1, 5, 1, 1) ** 2 + 1) for i in range(2)]
        h = b.op("mul", b.op("sub", h, row[0]), b.op("rsqrt", row[1]))
        return b.finish([("y", b.op("relu", h))])


@pytest.mark.parametrize("targets", [("cpu", "sim"), ("sim", "cpu"), ("sim", "cuda -device=H200", "sim")])
def test_a_graph_is_compiled_for_one_target_after_the_other(targets: tuple[str, ...]) -> None:
    graph, x = _normalised(), RNG.standard_normal((1, 3, 9, 9)).astype("float32")
    before, expected = str(graph.module), compile_graph(_normalised(), "cpu")(x)
    for target in targets:
        model = tw.compile(graph, target=target)
        assert str(graph.module) == before
        if model.target.kind == "cuda":
            assert all(".entry" in group.function.ptx for group in model.groups)
        else:
            np.testing.assert_allclose(model(x), expected, rtol=2e-5, atol=1e-6)


@pytest.mark.gpu
def test_tensors_on_the_gpu_stay_there() -> None:
    torch = pytest.importorskip("torch")
    if not tw.cuda(0).exist:
        pytest.skip("no GPU here")
    model = compile_graph(_perceptron("bfloat16"), "cuda")
    x = torch.randn(4, 24, device="cuda", dtype=torch.bfloat16)
    h, y = model(x)
    assert h.is_cuda and y.is_cuda and y.dtype == torch.bfloat16
    wanted = torch.relu((x.float() @ torch.from_numpy(W).bfloat16().float().cuda()).bfloat16() + 0.5)
    torch.testing.assert_close(h, wanted, rtol=1.6e-2, atol=1e-2)
    torch.testing.assert_close(y.float(), torch.softmax(wanted.float(), 1), rtol=1.6e-2, atol=1e-2)


@pytest.mark.gpu
def test_a_module_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    if not tw.cuda(0).exist:
        pytest.skip("no GPU here")
    torch.manual_seed(5)
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0)
    module = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    x = torch.randn(2, 10, 32)
    model = tw.compile(module, (x,), target="cuda")
    with torch.no_grad():
        torch.testing.assert_close(model(x.cuda()).cpu(), module(x), rtol=1e-4, atol=1e-4)


def test_programs_of_a_gpu_are_compiled_without_one() -> None:
    model = compile_graph(_perceptron(), "cuda -arch=sm_90a")
    assert all(group.function.cubin for group in model.groups)


@pytest.mark.parametrize("transposed", [(False, True), (True, False)])
def test_transposes_before_a_matmul_are_read_by_warpgroups(transposed: tuple[bool, bool]) -> None:
    """As of the weight of a layer of PyTorch's: no copy, and TMA loads the operand where it is."""
    import ml_dtypes

    a, b = (RNG.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((64, 128), (128, 96)))
    stored = [one.T.copy() if turned else one for one, turned in zip((a, b), transposed)]
    with GraphBuilder("layer", [("x", TensorType(stored[0].shape, "bfloat16"))]) as build:
        operands = [build.inputs["x"], build.weight("w", stored[1])]
        for place, turned in enumerate(transposed):
            if turned:
                operands[place] = build.op("transpose", operands[place], permutation=[1, 0])
        y = build.op("matmul", *operands, acc="float32", to="float32")
        graph = build.finish([("y", build.op("relu", y))])
    model = compile_graph(graph, "sim -arch=sm_90a")
    (group,) = model.groups
    assert group.schedule.plan is not None
    (decision,) = group.schedule.plan.decisions
    assert decision.rules[:2] == ("warpgroups", "tensor cores")  # both take it, and an estimate decides
    expected = np.maximum(a.astype(np.float64) @ b.astype(np.float64), 0)
    np.testing.assert_allclose(model(stored[0]), expected, rtol=1e-5, atol=1e-4)


def _exponentials(rows: int) -> Graph:
    with GraphBuilder("exponentials", [("x", TensorType((rows, 4096), "float16"))]) as b:
        return b.finish([("y", b.op("exp", b.inputs["x"]))])


@pytest.mark.parametrize("arch, rows, waits", [("sm_90a", 64, True), ("sm_80", 64, False), ("sm_90a", 8192, False)])
def test_short_kernels_come_up_while_the_one_before_runs(arch: str, rows: int, waits: bool) -> None:
    model = compile_graph(_exponentials(rows), f"cuda -arch={arch}")
    for group in model.groups:
        ptx = group.function.ptx
        assert ptx.count("griddepcontrol.wait") == (ptx.count(".entry") if waits else 0)
        assert ("ld.global.nc" in ptx) != waits
