"""Attention that reads slices and transposes of one matmul's result, and writes rows, without a copy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tilewright.graph import PASSES, GraphBuilder, TensorType, compile_graph

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore")
SIM = tw.Target("sim", arch="sm_90a")


class Heads(torch.nn.Module):
    """Attention as BERT has it, or with fewer heads of keys."""

    def __init__(self, keys: int, bias: bool) -> None:
        super().__init__()
        self.keys = keys
        self.q = torch.nn.Linear(64, 128, bias)
        self.kv = torch.nn.ModuleList(torch.nn.Linear(64, 64 * keys, bias) for _ in range(2))
        self.out = torch.nn.Linear(128, 64, bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        q = self.q(x).view(batch, length, 2, 64).transpose(1, 2)
        k, v = (one(x).view(batch, length, self.keys, 64).transpose(1, 2) for one in self.kv)
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=self.keys < 2)
        return self.out(y.transpose(1, 2).reshape(batch, length, 128))


@pytest.mark.sweep
@pytest.mark.parametrize(("batch", "keys", "bias"), [(1, 2, True), (2, 1, False)])
def test_a_matmul_attention_and_a_matmul(batch: int, keys: int, bias: bool) -> None:
    torch.manual_seed(0)
    module, x = Heads(keys, bias).to(torch.bfloat16), torch.randn(batch, 64, 64).to(torch.bfloat16)
    with torch.no_grad():
        model = tw.compile(module, (x,), target=SIM)
        names = [group.operators for group in model.groups]
        assert sum("matmul" in each for each in names) == 2
        (attention,) = (group for group in model.groups if "attention" in group.operators)
        assert {"slice", "transpose", "attention"} <= set(attention.operators)
        assert len(attention.inputs) == 3 and len(set(attention.inputs)) == 1
        assert len(attention.function.launch_config()) == 1
        got = model(x).float()
        assert model.verify(x)
        apart = tw.compile(module, (x,), target=SIM, without=["merge-matmuls"])
        assert sum("matmul" in group.operators for group in apart.groups) == 4
        for other in (apart(x), tw.compile(module, (x,), target="cpu")(x), module(x)):
            torch.testing.assert_close(other.float(), got, rtol=0.02, atol=0.02)


@pytest.mark.sweep
def test_weights_of_a_merged_matmul_are_exported(tmp_path: Path) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    torch.manual_seed(0)
    module, x = Heads(2, True), torch.randn(2, 8, 64)
    with torch.no_grad():
        model = tw.compile(module, (x,), target="cpu")
        assert sum("matmul" in group.operators for group in model.groups) == 2
        model.export(tmp_path / "heads.so")
        torch.testing.assert_close(
            tvm_ffi.load_module(str(tmp_path / "heads.so")).model(x), module(x), rtol=1e-4, atol=1e-5
        )


@pytest.mark.sample(1)
@pytest.mark.parametrize("shape", [(64, 2, 64), (64, 2, 36)])
def test_what_needs_a_copy_is_left_to_the_rules(shape: tuple[int, int, int]) -> None:
    """Rows of 36 elements are no multiple of 16 bytes; a reshape behind a transpose moves elements."""
    rows, heads, width = shape
    with GraphBuilder("copied", [(name, TensorType(shape, "float16")) for name in "qkv"]) as b:
        operands = [b.op("transpose", b.inputs[name], permutation=[1, 0, 2]) for name in "qkv"]
        if width == 64:
            turned = b.op("transpose", b.inputs["k"], permutation=[1, 2, 0])
            operands[1] = b.op("reshape", turned, shape=[heads, rows, width])
        options = {"scale": 0.125, "before": -1, "behind": -1, "offset": 0, "softcap": 0.0}
        y = b.op("attention", *operands, **options)
        graph = b.finish([("y", b.op("transpose", y, permutation=[1, 0, 2]))])
    rng = np.random.default_rng(1)
    inputs = [rng.standard_normal(shape).astype("float16") for _ in "qkv"]
    q, k, v = (one.astype(float).transpose(1, 0, 2) for one in inputs)
    if width == 64:
        k = inputs[1].astype(float).transpose(1, 2, 0).reshape(heads, rows, width)
    scores = np.exp(0.125 * q @ k.transpose(0, 2, 1))
    wanted = (scores / scores.sum(2, keepdims=True) @ v).transpose(1, 0, 2)
    got = compile_graph(graph, SIM)(*inputs)
    np.testing.assert_allclose(got.astype(float), wanted, atol=0.01)


@pytest.mark.sweep
def test_reshapes_between_matmuls_are_gone() -> None:
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 16), torch.nn.Softmax(-1)
    )
    x = torch.randn(2, 4, 16)
    with torch.no_grad():
        model = tw.compile(module, (x,), target="cpu")
        without = tw.compile(module, (x,), target="cpu", without=["sink-reshapes"])
        assert len(model.groups) < len(without.groups)
        for one in (model, without, tw.compile(module, (x,), target="cpu", without=PASSES)):
            torch.testing.assert_close(one(x), module(x), rtol=1e-4, atol=1e-5)
