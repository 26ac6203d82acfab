"""Attention with the logarithms of its sums, and its gradients, as operators of the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.graph import GraphBuilder, TensorType, compile_graph

torch = pytest.importorskip("torch")

from tilewright.torch import compile_fx  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
SIM = tw.Target("sim", arch="sm_90a")
ROWS, WIDTH = 64, 64
PLAIN = {"scale": 0.125, "before": -1, "behind": -1, "offset": 0, "softcap": 0.0}


def _model(
    target: Any, keys: int, mask: str | None, wanted: list[int], width: int = WIDTH, **options: Any
) -> Any:  # fmt: skip
    """Both operators of two heads of float16, of which the queries and the head are transposed."""
    rows, of_keys = TensorType((ROWS, 2, width), "float16"), TensorType((keys, ROWS, width), "float16")
    inputs = [("head", rows), ("q", rows), ("k", of_keys), ("v", of_keys)]
    inputs += [] if mask is None else [("mask", TensorType((ROWS, ROWS), mask))]
    inputs += [("seed", TensorType((), "int32"))] if "dropout_p" in options else []
    with GraphBuilder("trained", inputs) as b:
        head, q = (b.op("transpose", b.inputs[name], permutation=[1, 0, 2]) for name in ("head", "q"))
        given = [q, b.inputs["k"], b.inputs["v"]]
        masks = [b.inputs[name] for name in ("mask", "seed") if name in b.inputs]
        result, logarithms = b.ops("attention_with_logarithms", *given, *masks, **PLAIN | options)
        made = b.ops(
            "attention_gradients", head, *given, result, logarithms, *masks, **PLAIN | options, wanted=wanted,
            deterministic=False,
        )  # fmt: skip
        graph = b.finish([("o", result), ("l", logarithms), *((f"d{n}", one) for n, one in zip(wanted, made))])
    return compile_graph(graph, target)


def _arrays(keys: int, mask: str | None, width: int = WIDTH) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    shapes = [(ROWS, 2, width)] * 2 + [(keys, ROWS, width)] * 2
    arrays = [rng.standard_normal(shape).astype("float16") for shape in shapes]
    if mask is not None:
        drawn = rng.standard_normal((ROWS, ROWS))
        arrays.append(drawn > -0.5 if mask == "bool" else drawn.astype(mask))
    return arrays


def _exact(arrays: list[np.ndarray], wanted: list[int], options: dict[str, Any]) -> list[Any]:
    """The result, logarithms and gradients in float64."""
    head, q, *others = (torch.tensor(one if one.dtype == bool else one.astype("float64")) for one in arrays)
    head, q = head.transpose(0, 1), q.transpose(0, 1)
    given = [one if one.dtype == torch.bool else one.requires_grad_() for one in (q, *others)]
    q, k, v, *masks = given
    scores = q @ k.expand(2, -1, -1).mT * options.get("scale", 0.125)
    if cap := options.get("softcap"):
        scores = cap * torch.tanh(scores / cap)
    kept = options.get("kept")
    for one in masks:
        scores = scores.masked_fill(~one, -torch.inf) if one.dtype == torch.bool else scores + one
    if options.get("behind") == 0:
        scores = scores.masked_fill(torch.ones(ROWS, ROWS).triu(1).bool(), -torch.inf)
    weights = torch.softmax(scores, -1) * (1 if kept is None else kept / (1 - options["dropout_p"]))
    result = weights @ v.expand(2, -1, -1)
    gradients = torch.autograd.grad(result, [given[number] for number in wanted], head)
    return [result.detach(), torch.logsumexp(scores, -1).detach() / np.log(2), *gradients]


CASES: dict[str, tuple[int, str | None, list[int], dict[str, Any]]] = {
    "causal": (2, None, [0, 1, 2], {"behind": 0}),
    "a head of keys for two": (1, None, [0, 1, 2], {}),
    "a soft cap": (2, None, [0, 1, 2], {"softcap": 2.0, "scale": 0.3}),
    "bools, two gradients": (2, "bool", [1, 2], {}),
    "a gradient by a mask": (2, "float32", [0, 3], {}),
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("target", [SIM, "cpu"], ids=["sim", "cpu"])
def test_results_and_gradients(name: str, target: Any) -> None:
    keys, mask, wanted, options = CASES[name]
    model, arrays = _model(target, keys, mask, wanted, **options), _arrays(keys, mask)
    if target is SIM:
        both = [one for one in model.groups if any("attention" in each for each in one.operators)]
        assert [len(one.operators) for one in both] == [1, 2]  # the transpose of the head is in the group
        assert not {"dP", "QK"} & {stage.name for one in both for stage in one.schedule.stages}  # no scores in memory
    made = model(*arrays)
    for number, (got, right) in enumerate(zip(made, _exact(arrays, wanted, options), strict=True)):
        bound = 1e-3 if number == 1 else 4 * 2.0**-11 * float(right.abs().max())
        assert np.abs(got.astype("float64") - right.numpy()).max() <= bound


@pytest.mark.sweep
def test_widths_that_have_no_kernel_are_left_to_the_rules() -> None:
    model, arrays = _model(SIM, 2, None, [0, 1, 2], 36), _arrays(2, None, 36)
    assert {"dP", "QK"} <= {stage.name for one in model.groups for stage in one.schedule.stages}
    for number, (got, right) in enumerate(zip(model(*arrays), _exact(arrays, [0, 1, 2], {}), strict=True)):
        bound = 1e-3 if number == 1 else 4 * 2.0**-11 * float(right.abs().max())
        assert np.abs(got.astype("float64") - right.numpy()).max() <= bound


@pytest.mark.sample(1)
@pytest.mark.parametrize("is_deterministic", [True, False])
def test_whether_the_gradients_are_deterministic_is_pytorch_s_choice(
    is_deterministic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    texts: list[str] = []

    def kept(graph: Any, target: Any) -> Any:
        texts.append(str(graph.module))
        return compile_graph(graph, target)

    monkeypatch.setattr("tilewright.torch.backend.compile_graph", kept)
    q, k, v = (torch.randn(1, 2, 4, 8, requires_grad=True) for _ in range(3))
    torch._dynamo.reset()
    compiled = torch.compile(torch.nn.functional.scaled_dot_product_attention, backend=compile_fx)
    torch.use_deterministic_algorithms(is_deterministic)
    try:
        torch.autograd.grad(compiled(q, k, v).sum(), (q, k, v))
    finally:
        torch.use_deterministic_algorithms(False)
    forward, backward = texts
    assert "graph.attention_with_logarithms" in forward and "graph.attention_gradients" in backward
    assert f"deterministic = {str(is_deterministic).lower()}" in backward
    assert "graph.matmul" not in forward + backward


MASKS: dict[str, Any] = {
    "documents": lambda b, i, j: b.op("and", b.op("greater_equal", i, j), b.op("equal", *_documents(b))),
    "ALiBi": lambda b, i, j: b.op(
        "mul", b.op("cast", b.op("sub", j, i), to="float32", saturate=True), b.inputs["slopes"]
    ),
}  # fmt: skip


def _documents(b: GraphBuilder) -> tuple[Any, Any]:
    return b.op("reshape", b.inputs["documents"], shape=[ROWS, 1]), b.inputs["documents"]


def _model_of_positions(name: str, *operands: tuple[str, TensorType]) -> Any:
    """Attention, or its gradients, whose mask is made of arrays of a few numbers."""
    tables = [(each, TensorType((ROWS,), "int64")) for each in ("positions", "documents")]
    with GraphBuilder(name, [*operands, *tables, ("slopes", TensorType((2, 1, 1), "float32"))]) as b:
        j = b.inputs["positions"]
        mask = MASKS[name](b, b.op("reshape", j, shape=[ROWS, 1]), j)
        given = [b.inputs[each] for each, _ in operands]
        if len(given) == 3:
            made = b.ops("attention_with_logarithms", *given, mask, **PLAIN)
        else:
            made = b.ops("attention_gradients", *given, mask, **PLAIN, wanted=[0, 1, 2], deterministic=True)
        model = compile_graph(b.finish([(f"y{number}", one) for number, one in enumerate(made)]), SIM)
    assert len(model.groups) == 1  # the mask is computed where it is read
    return model


@pytest.mark.sweep
@pytest.mark.parametrize("name", MASKS)
def test_a_mask_of_positions_takes_no_memory(name: str) -> None:
    rows, of_rows = TensorType((2, ROWS, WIDTH), "float16"), TensorType((2, ROWS), "float32")
    three = [(each, rows) for each in ("q", "k", "v")]
    forward = _model_of_positions(name, *three)
    backward = _model_of_positions(name, ("head", rows), *three, ("result", rows), ("logarithms", of_rows))
    head, *arrays = (np.random.default_rng(6).standard_normal((4, 2, ROWS, WIDTH))).astype("float16")
    tables = [np.arange(ROWS), np.arange(ROWS) // 24, np.array([0.5, 0.125], "float32").reshape(2, 1, 1)]
    q, k, v = exact = [torch.tensor(one.astype("float64"), requires_grad=True) for one in arrays]
    scores, i = q @ k.mT * 0.125, torch.arange(ROWS)
    if name == "documents":
        scores = scores.masked_fill((i[:, None] < i) | (i[:, None] // 24 != i // 24), -torch.inf)
    else:
        scores = scores + (i - i[:, None]) * torch.tensor([0.5, 0.125]).view(2, 1, 1)
    expected = torch.softmax(scores, -1) @ v
    gradients = torch.autograd.grad(expected, exact, torch.tensor(head.astype("float64")))
    result, logarithms = forward(*arrays, *tables)
    made = backward(head, *arrays, result, logarithms, *tables)
    for got, right in zip((result, *made), (expected.detach(), *gradients), strict=True):
        assert np.abs(got.astype("float64") - right.numpy()).max() <= 4 * 2.0**-11 * float(right.abs().max())


@pytest.mark.sample(2)
@pytest.mark.parametrize("mask", [None, "bool"])
@pytest.mark.parametrize("target", [SIM, "cpu"], ids=["sim", "cpu"])
def test_dropout(target: Any, mask: str | None) -> None:
    """Both directions drop the same weights: those that a seed says, which values of an identity show."""
    options = {"dropout_p": 0.3}
    model = _model(target, 2, mask, [0, 1, 2], **options)
    arrays = _arrays(2, mask)
    if target is SIM:  # no scores in memory
        assert not {"dP", "QK"} & {stage.name for one in model.groups for stage in one.schedule.stages}
    head, q, k, v, *masks = arrays
    seen = masks[0] if masks else np.ones((ROWS, ROWS), bool)
    shown = model(head, q, k, np.broadcast_to(np.eye(ROWS, dtype="float16"), v.shape).copy(), *masks, np.int32(7))[0]
    kept = (shown > 0) & seen
    assert 0.66 < kept[:, seen].mean() < 0.74
    made = model(*arrays, np.int32(7))
    wanted = _exact(arrays, [0, 1, 2], options | {"kept": torch.tensor(kept).double()})
    for one, exact in zip(made, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(one, "float64"), exact.numpy(), rtol=5e-3, atol=5e-3)
    other = model(*arrays, np.int32(8))[0]
    assert not np.array_equal(other, made[0])
