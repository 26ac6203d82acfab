"""Packed documents of attention: what a mask of bools comes to, without one in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright import TilewrightError, ops
from tilewright.ops.operator import Operand

H200 = "sim -device=H200"


def arrays(shape: tuple[int, ...]) -> list[np.ndarray]:
    return [*np.random.default_rng(0).standard_normal((4, *shape)).astype("float16")]


def same(documents: np.ndarray, targets: dict[str, Any], shape: tuple[int, ...], mask: np.ndarray) -> None:
    """With documents and with the mask, each result and each gradient is the same."""
    head, q, k, v = arrays(shape)
    result, logarithms = ops.attention_with_logarithms(q, k, v, mask, **targets)
    known = {"result": result, "logarithms": logarithms}
    right = [ops.attention(q, k, v, mask, **targets), result, logarithms]
    right += ops.attention_gradients(head, q, k, v, mask, **known, **targets)
    made = [ops.attention(q, k, v, documents=documents, **targets)]
    made += ops.attention_with_logarithms(q, k, v, documents=documents, **targets)
    made += ops.attention_gradients(head, q, k, v, documents=documents, **known, **targets)
    for got, one in zip(made, right, strict=True):
        np.testing.assert_array_equal(got, one)


@pytest.mark.sweep
@pytest.mark.parametrize("is_shared", [False, True], ids=["of each sequence", "of all"])
@pytest.mark.parametrize("target", ["cpu", pytest.param(H200, marks=pytest.mark.sweep)])
def test_they_are_a_mask(target: str, is_shared: bool) -> None:
    documents = np.array([[3] * 30 + [1] * 40, [5] * 70], "int32")
    mask = documents[:, None, :, None] == documents[:, None, None]
    if is_shared:
        same(documents[0], {"target": target}, (1, 70, 32), mask[0])
    else:
        same(documents, {"target": target, "is_causal": True}, (2, 1, 70, 32), mask)


@pytest.mark.sweep
def test_tiles_of_other_documents_are_not_visited() -> None:
    documents = (np.arange(768) // 200).astype("int32")
    one, of_tokens = Operand((1, 8, 768, 64), "float16"), Operand(documents.shape, "int32")
    s, tensors = ops.attention.schedule(one, one, one, documents=of_tokens, target=H200)
    assert "visited" in str(s.trace())
    assert (768, 768) not in [tensor.shape for tensor in tensors]  # no mask is an argument
    same(documents, {"target": H200, "is_causal": True}, (1, 8, 768, 64), documents[:, None] == documents)


@pytest.mark.parametrize(
    ("documents", "others", "message"),
    [
        (((8,), "int64"), {}, "expected documents of int32, got int64"),
        (((8,), "int32"), {"mask": ((8, 8), "bool")}, "expected documents without mask, got both"),
        (((8,), "int32"), {"lengths": ((2,), "int32")}, "expected documents without lengths, got both"),
        (((8,), "int32"), {"k": ((2, 1, 9, 8), "float16"), "v": ((2, 1, 9, 8), "float16")},
         "expected as many queries as keys beside documents, got 8 and 9"),
        (((3, 8), "int32"), {},
         "expected documents of shape (8,) or (2, 8), a number for each token, got (3, 8)"),
    ],
)  # fmt: skip
def test_documents_that_do_not_fit(documents: Any, others: dict[str, Any], message: str) -> None:
    given = {name: ((2, 1, 8, 8), "float16") for name in "qkv"} | {"documents": documents} | others
    operands = {name: Operand(*one) for name, one in given.items()}
    with pytest.raises(TilewrightError) as caught:
        ops.attention.schedule(**operands)
    assert str(caught.value) == f"attention: {message}"


def test_an_operator_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    from tilewright.torch import attention

    q, k, v = (torch.tensor(x, dtype=torch.float32, requires_grad=True) for x in arrays((1, 2, 12, 8))[1:])
    documents = torch.tensor([0] * 5 + [1] * 7, dtype=torch.int32)
    o = attention(q, k, v, is_causal=True, documents=documents)
    parts = [
        torch.nn.functional.scaled_dot_product_attention(*(x[..., own, :] for x in (q, k, v)), is_causal=True)
        for own in (slice(0, 5), slice(5, 12))
    ]
    torch.testing.assert_close(o, torch.cat(parts, -2))
    gradients = [torch.autograd.grad(x.square().sum(), (q, k, v), retain_graph=True) for x in (o, torch.cat(parts, -2))]
    for got, one in zip(*gradients, strict=True):
        torch.testing.assert_close(got, one)
