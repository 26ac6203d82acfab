"""Attention of PyTorch and of ONNX as one operator of the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw

torch = pytest.importorskip("torch")

from models.traced import operators_for  # noqa: E402
from tilewright.torch import compile_fx  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
SDPA = torch.nn.functional.scaled_dot_product_attention


class Attention(torch.nn.Module):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = options

    def forward(self, q, k, v, mask=None):
        return SDPA(q, k, v, attn_mask=mask, **self.options)


def operands(heads: int = 4, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    torch.manual_seed(2)
    return [torch.randn(2, each, rows, 8, dtype=dtype) for each, rows in ((4, 5), (heads, 7), (heads, 7))]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("options", "mask", "heads"),
    [
        ({}, None, 4),
        ({"is_causal": True}, None, 4),
        ({"scale": 0.3}, None, 4),
        ({}, torch.randn(2, 1, 5, 7, generator=torch.Generator().manual_seed(1)), 4),
        ({}, torch.randn(5, 7, generator=torch.Generator().manual_seed(1)) > -0.5, 4),
        ({"enable_gqa": True}, None, 2),
    ],
    ids=["plain", "causal", "scale", "float mask", "bool mask", "shared heads"],
)
def test_attention_of_pytorch(options: dict[str, Any], mask: torch.Tensor | None, heads: int) -> None:
    inputs = (*operands(heads), *([] if mask is None else [mask]))
    module = Attention(**options)
    model = tw.compile(module, inputs, target="cpu")
    assert [group.operators for group in model.groups if "attention" in group.operators] == [("attention",)]
    assert not any({"matmul", "softmax"} & {*group.operators} for group in model.groups)
    torch.testing.assert_close(model(*inputs), module(*inputs), rtol=1e-5, atol=1e-5)
    assert model.verify(*inputs)


@pytest.mark.sweep
def test_attention_of_any_number_of_keys_is_one_compilation() -> None:
    module, inputs = Attention(), operands()
    shapes = {"q": {2: "queries"}, "k": {2: "keys"}, "v": {2: "keys"}}
    model = tw.compile(module, tuple(inputs), target="cpu", dynamic_shapes=shapes)
    for queries, keys in ((1, 1), (3, 9), (16, 2)):
        q, k, v = (torch.randn(2, 4, rows, 8) for rows in (queries, keys, keys))
        torch.testing.assert_close(model(q, k, v), module(q, k, v), rtol=1e-5, atol=1e-5)


@pytest.mark.sweep
def test_gradients_of_attention_are_those_of_pytorch() -> None:
    def loss(q, k, v):
        return SDPA(q, k, v, is_causal=True).square().sum()

    inputs = [one.requires_grad_() for one in operands(4, torch.float64)]
    inputs[1], inputs[2] = (one[:, :, :5].detach().requires_grad_() for one in inputs[1:])
    expected = torch.autograd.grad(loss(*inputs), inputs)
    got = torch.autograd.grad(torch.compile(loss, backend=compile_fx)(*inputs), inputs)
    for one, wanted in zip(got, expected, strict=True):
        torch.testing.assert_close(one, wanted)


@pytest.mark.sweep
def test_on_hopper_it_is_one_kernel_of_warpgroups() -> None:
    inputs = tuple(torch.randn(3, 1, 2, 64, 64, dtype=torch.bfloat16).unbind())
    module = Attention(is_causal=True)
    model = tw.compile(module, inputs, target=tw.Target("cuda", arch="sm_90a"))
    (group,) = model.groups
    assert group.function.ptx.count(".entry") == 1 and "wgmma" in group.function.ptx
    simulated = tw.compile(module, inputs, target="sim")
    wanted = module(*(one.float() for one in inputs))
    torch.testing.assert_close(simulated(*inputs).float(), wanted, rtol=2e-2, atol=2e-2)
    # A mask, and extents that TMA does not step over, are kernels too.
    odd = tuple(operands(4, torch.float16))
    torch.testing.assert_close(
        tw.compile(Attention(), odd, target="sim")(*odd), Attention()(*odd), rtol=1e-2, atol=1e-2
    )


@pytest.mark.sweep
def test_tiles_that_a_mask_of_bools_hides_are_not_visited(monkeypatch: pytest.MonkeyPatch) -> None:
    from tilewright.schedules import attention_choice
    from tilewright.torch import attention

    class Masked(torch.nn.Module):
        def forward(self, q, k, v, mask):
            return attention(q, k, v, mask)

    monkeypatch.setattr(attention_choice, "_LISTED", 1)
    torch.manual_seed(5)
    q, k, v = (torch.randn(1, 2, rows, 64, dtype=torch.float16) for rows in (150, 300, 300))
    mask = torch.zeros(150, 300, dtype=torch.bool)
    mask[:70, :60] = mask[70:, 64:120] = True
    model = tw.compile(Masked(), (q, k, v, mask), target="sim")
    right = SDPA(q.float(), k.float(), v.float(), attn_mask=mask)
    # What only hidden tiles have is not read: 0 times NaN would be NaN.
    v[:, :, 256:] = torch.nan
    torch.testing.assert_close(model(q, k, v, mask).float(), right, rtol=1e-2, atol=1e-2)


# ---------------------------------------------------------------------------- ONNX


def _onnx_model(scale: str, causes: str = "") -> Any:
    """softmax(q k^T * or / scale + mask) v, as exporters write it."""
    onnx = pytest.importorskip("onnx")
    h = onnx.helper
    values = [h.make_tensor_value_info(n, 1, s) for n, s in (
        ("q", (2, 4, 5, 8)), ("k", (2, 7, 4, 8)), ("v", (2, 4, 7, 8)), ("mask", (2, 1, 5, 7)))]  # fmt: skip
    outputs = [h.make_tensor_value_info("y", 1, (2, 4, 5, 8))]
    nodes = [
        h.make_node("Transpose", ["k"], ["kt"], perm=[0, 2, 3, 1]),
        h.make_node("MatMul", ["q", "kt"], ["s"]),
        h.make_node(scale, ["s", "factor"], ["scaled"]),
        h.make_node("Add", ["scaled", "mask"], ["masked"]),
        h.make_node("Softmax", ["masked"], ["p"], axis=-1),
        h.make_node("MatMul", ["p", "v"], ["y"]),
    ]
    factor = onnx.numpy_helper.from_array(np.float32(0.25 if scale == "Mul" else 4.0), "factor")
    if causes:
        outputs.append(h.make_tensor_value_info(causes, 1, None))
    return h.make_model(h.make_graph(nodes, "attention", values, outputs, [factor]))


@pytest.mark.sample(1)
@pytest.mark.parametrize("scale", ["Mul", "Div"])
def test_matmuls_around_a_softmax_become_attention(scale: str) -> None:
    onnx = _onnx_model(scale)
    model = tw.compile(onnx, target="cpu")
    operators = [name for group in model.groups for name in group.operators]
    assert sorted(operators) == ["attention", "transpose"]
    rng = np.random.default_rng(3)
    inputs = {name: rng.standard_normal(kind.shape).astype("float32") for name, kind in model.inputs}
    from onnx.reference import ReferenceEvaluator

    (wanted,) = ReferenceEvaluator(onnx).run(None, inputs)
    np.testing.assert_allclose(model(**inputs), wanted, rtol=1e-5, atol=1e-6)
    apart = tw.compile(onnx, target="cpu", without=["raise-attention"])
    assert "attention" not in {name for group in apart.groups for name in group.operators}
    np.testing.assert_allclose(apart(**inputs), wanted, rtol=1e-5, atol=1e-6)


def test_weights_that_the_model_returns_are_computed() -> None:
    model = tw.compile(_onnx_model("Mul", "p"), target="cpu")
    assert "attention" not in {name for group in model.groups for name in group.operators}


def test_dropout_is_that_of_the_operator() -> None:
    class Dropped(torch.nn.Module):
        def forward(self, q, k, v, seed):
            return torch.ops.tilewright.attention(q, k, v, dropout_p=0.5, seed=seed)

    import tilewright.torch  # noqa: F401

    given = (*operands(), torch.tensor(3, dtype=torch.int32))
    made = tw.compile(Dropped(), given, target="cpu")(*given)
    torch.testing.assert_close(made, Dropped()(*given), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["lengths", "slopes", "sinks"])
def test_arrays_beside_a_mask_are_refused(name: str) -> None:
    class Other(torch.nn.Module):
        def forward(self, q, k, v, array):
            return torch.ops.tilewright.attention(q, k, v, **{name: array})

    import tilewright.torch  # noqa: F401

    q, k, v = operands()
    array = torch.ones(q.shape[0], dtype=torch.int32) if name == "lengths" else torch.ones(q.shape[1])
    with pytest.raises(tw.CompileError) as raised:
        tw.compile(Other(), (q, k, v, array), target="cpu")
    assert f"expected attention without {name} in a compiled model" in str(raised.value)


@pytest.mark.parametrize(
    ("options", "shapes"),
    [
        ({"is_causal": True}, [(2, 4, 33, 64)] * 3),
        ({"enable_gqa": True}, [(2, 4, 33, 64), (2, 2, 33, 64), (2, 2, 33, 64)]),
        ({}, [(4, 33, 64)] * 3),
        ({}, [(2, 4, 33, 192), (2, 4, 33, 192), (2, 4, 33, 128)]),
    ],
    ids=["causal", "shared heads", "three dimensions", "narrow values"],
)
def test_a_gpus_attention_is_one_operator(
    options: dict[str, Any], shapes: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyTorch would choose an operator by the GPU, or matmuls."""
    names = operators_for(monkeypatch, lambda q, k, v: SDPA(q, k, v, **options), *shapes, dtype=torch.bfloat16)
    assert "tilewright.attention.default" in names
    assert not any("mm" in name or "softmax" in name for name in names)


@pytest.mark.sweep
@pytest.mark.parametrize("rank", [2, 3, 5])
def test_attention_of_other_ranks(rank: int) -> None:
    torch.manual_seed(4)
    q, k, v = (torch.randn(1, 2, 3, 5, 8)[(0,) * (5 - rank)] for _ in range(3))
    mask = torch.rand(5, 5) > 0.3
    made = torch.compile(lambda *given: SDPA(*given), backend=compile_fx, fullgraph=True)(q, k, v, mask)
    torch.testing.assert_close(made, SDPA(q, k, v, mask), rtol=1e-5, atol=1e-5)


def test_autocast_casts_the_operands_of_attention() -> None:
    q, k, v = operands()

    def attention(q: Any, k: Any, v: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return SDPA(q, k, v)

    made = torch.compile(attention, backend=compile_fx, fullgraph=True)(q, k, v)
    assert made.dtype == torch.bfloat16
    torch.testing.assert_close(made, attention(q, k, v), rtol=1e-2, atol=1e-2)
