"""Gradients of attention by a mask of floats, of kernels of tensor cores on the simulator, beside float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import ops, te
from tilewright.ops.operator import Operand
from tilewright.schedules.attention_backward import attention_gradients_of

torch = pytest.importorskip("torch")
H200 = "sim -device=H200"
Extents = tuple[int, ...]


def gradients(head: Any, arrays: list[Any], softcap: float | None, sees: Any) -> Any:
    q, k, v, mask = (torch.tensor(one.astype("float64"), requires_grad=True) for one in arrays)
    shared = q.shape[1] // k.shape[1]
    keys, values = (one.repeat_interleave(shared, 1) for one in (k, v))
    scores = q @ keys.mT * q.shape[-1] ** -0.5
    scores = (scores if softcap is None else softcap * torch.tanh(scores / softcap)) + mask
    scores = scores.masked_fill(~torch.tensor(sees), -np.inf)
    result = torch.softmax(scores, -1) @ values
    return torch.autograd.grad(result, (q, k, v, mask), torch.tensor(head.astype("float64")))


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("shape", "extents", "options"),
    [
        ((2, 1, 1, 90), (70, 90, 32), {}),
        ((2, 1, 130, 200), (130, 200, 64), {"is_causal": True, "offset": 70}),
        ((1, 2, 128, 64), (128, 64, 128), {"softcap": 2.0}),
        ((2, 2, 64, 192), (64, 192, 64), {"dtype": "float16"}),
        ((192,), (64, 192, 64), {"k_heads": 1}),
        ((64, 70), (64, 70, 72), {"k_heads": 1, "dtype": "float16"}),
        ((1, 64), (64, 64, 256), {}),
        ((64, 64), (64, 64, 256), {"window": (40, 0)}),
    ],
    ids=[
        "of keys", "of queries and keys", "for all sequences", "of each head", "of keys for all heads", "for all heads",
        "of keys, and wide heads", "wide heads",
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_known", [False, True], ids=["alone", "with logarithms"])
def test_any_masks(shape: Extents, extents: Extents, options: dict[str, Any], is_known: bool) -> None:
    (queries, keys, width), options = extents, dict(options)
    rng, k_heads = np.random.default_rng(2), options.pop("k_heads", 2)
    head, q = rng.standard_normal((2, 2, 2, queries, width)).astype("float16")
    k, v = rng.standard_normal((2, 2, k_heads, keys, width)).astype("float16")
    arrays = [q, k, v, rng.standard_normal(shape).astype(options.pop("dtype", "float32"))]
    i, j = np.arange(queries)[:, None] + options.get("offset", 0), np.arange(keys)
    before, behind = options.get("window", (None, 0 if options.get("is_causal") else None))
    most = max(queries, keys)
    sees = (j <= i + (most if behind is None else behind)) & (j >= i - (most if before is None else before))
    given: dict[str, Any] = {"enable_gqa": True, "target": H200, **options}
    if is_known:
        known = ops.attention_with_logarithms(*arrays, **given)
        given |= zip(("result", "logarithms"), known, strict=True)
    s, _ = ops.attention_gradients.schedule(head, *arrays, **given)
    assert "dP" not in {stage.name for stage in s.stages}  # no scores are in memory
    made = ops.attention_gradients(head, *arrays, **given)
    right = gradients(head, arrays, options.get("softcap"), sees)
    assert [one.shape for one in made] == [one.shape for one in arrays]
    # What is summed over heads and queries has an error of each.
    terms = (*[1] * 3, 4 * queries / max(arrays[3].size // keys, 1))
    for got, one, many in zip(made, right, terms, strict=True):
        difference = np.abs(got.astype("float64") - one.numpy())
        assert difference.max() <= 3 * 2.0**-11 * max(1.0, many**0.5 / 4) * float(one.abs().max())


def test_masks_of_one_element_for_all_keys_are_general() -> None:
    one, mask = Operand((2, 2, 64, 64), "float16"), Operand((64, 1), "float32")
    s, _ = ops.attention_gradients.schedule(one, one, one, one, mask, target=H200)
    assert "dP" in {stage.name for stage in s.stages}


@pytest.mark.parametrize(
    "mask", [None, ((64, 64), "bool"), ((64, 1), "float32")], ids=["none", "bools", "one for all keys"]
)
def test_what_has_no_gradient(mask: tuple[Extents, str] | None) -> None:
    x = [te.placeholder((2, 64, 64), "float16", name=name) for name in ("head", "Q", "K", "V")]
    masks = [] if mask is None else [te.placeholder(*mask, name="mask")]
    with pytest.raises(tw.TilewrightError) as caught:
        attention_gradients_of(*x, *masks, wanted=["MASK"])
    assert str(caught.value) == "expected a mask of floats, with an element for each key, to compute its gradient"


@pytest.mark.sweep
@pytest.mark.parametrize("shape", [(2, 1, 1, 1024), (1, 1024, 1024)])
@pytest.mark.parametrize("width", [64, 128, 256])
def test_ptxas_spills_nothing(shape: Extents, width: int) -> None:
    one, known = Operand((2, 2, 1024, width), "bfloat16"), Operand((2, 2, 1024), "float32")
    function = ops.attention_gradients.function(
        one, one, one, one, Operand(shape, "float32"), result=one, logarithms=known, wanted=("mask",),
        target="cuda -arch=sm_90a",
    )  # fmt: skip
    assert not any(kernel.spills or kernel.notes for kernel in function.report().kernels)
