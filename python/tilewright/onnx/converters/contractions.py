"""MatMul, Gemm, Einsum and convolutions."""

from __future__ import annotations

import string
from typing import Any

from ...graph import Value
from ..node import Node, converter


def matmul(node: Node, a: Value, b: Value, acc: str | None = None, to: str | None = None) -> Value:
    """Matmul as NumPy has it, of vectors too."""
    left, right = a, b
    if a.rank == 1:
        left = node.reshape(a, [1, *a.shape])
    if b.rank == 1:
        right = node.reshape(b, [*b.shape, 1])
    acc = acc or node.builder.accumulator("matmul", a.dtype)
    result = node.op_("matmul", left, right, acc=acc, to=to or a.dtype)
    shape = list(result.shape)
    if a.rank == 1:
        shape.pop(-2)
    if b.rank == 1:
        shape.pop(-1)
    return result if len(shape) == result.rank else node.reshape(result, shape)


@converter("MatMul")
def _matmul(node: Node) -> Value:
    return matmul(node, node.tensor(0), node.tensor(1))


@converter("Gemm")
def _gemm(node: Node) -> Value:
    a, b = node.tensor(0), node.tensor(1)
    if node.attr("transA", 0):
        a = node.op_("transpose", a, permutation=[1, 0])
    if node.attr("transB", 0):
        b = node.op_("transpose", b, permutation=[1, 0])
    result = matmul(node, a, b)
    alpha, beta = node.attr("alpha", 1.0), node.attr("beta", 1.0)
    if alpha != 1.0:
        result = node.op_("mul", result, node.constant(alpha, result))
    if node.has(2):
        c = node.tensor(2)
        result = node.op_("add", result, c if beta == 1.0 else node.op_("mul", c, node.constant(beta, c)))
    return result


@converter("Einsum")
def _einsum(node: Node) -> Value:
    inputs = node.tensors()
    equation = node.attr("equation").replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    free = [letter for letter in string.ascii_letters if letter not in equation]
    extra = max((x.rank - len(term.replace("...", "")) for term, x in zip(terms, inputs) if "..." in term), default=0)
    names = "".join(free[:extra])
    for i, (term, x) in enumerate(zip(terms, inputs)):
        if "..." in term:
            count = x.rank - len(term.replace("...", ""))
            terms[i] = term.replace("...", names[extra - count :])
    if arrow:
        right = right.replace("...", names)
    else:
        letters = "".join(terms)
        right = names + "".join(sorted(c for c in set(letters) if letters.count(c) == 1 and c not in names))
    return node.op_("einsum", *inputs, equation=f"{','.join(terms)}->{right}")


def numbers(node: Node, name: str, count: int, least: int | None = None, default: int = 1) -> list[int]:
    """An attribute of so many integers, each of at least `least`."""
    found = list(node.attr(name) or [default] * count)
    if len(found) != count or (least is not None and any(one < least for one in found)):
        of = "" if least is None else f" of at least {least}"
        raise node.error(f"{name}: expected {count} {'number' if count == 1 else 'numbers'}{of}, got {found}")
    return found


def groups(node: Node) -> int:
    """The number of groups of a convolution."""
    found = node.attr("group", 1)
    if found < 1:
        raise node.error(f"group: expected at least 1, got {found}")
    return found


def _check_kernel(node: Node, w: Value) -> None:
    """The weights say what kernel_shape says where it is given."""
    given, rank = node.attr("kernel_shape"), max(w.rank - 2, 0)
    if given and (len(given) != rank or any(isinstance(b, int) and a != b for a, b in zip(given, w.shape[2:]))):
        raise node.error(f"kernel_shape: expected that of the weights {tuple(w.shape[2:])}, got {list(given)}")


def windows(node: Node, x: Value, kernel: list[Any]) -> dict[str, list[int]]:
    """The strides, dilations and padding of a convolution or of pooling."""
    rank = x.rank - 2
    if rank < 1:
        raise node.error(f"expected images of at least 3 dimensions, got shape {tuple(x.shape)}")
    strides, dilations = numbers(node, "strides", rank, 1), numbers(node, "dilations", rank, 1)
    pads = numbers(node, "pads", 2 * rank, default=0)
    automatic = node.attr("auto_pad", "NOTSET")
    before, after = pads[:rank], pads[rank:]
    if automatic in ("SAME_UPPER", "SAME_LOWER"):
        for d, (extent, size) in enumerate(zip(x.shape[2:], kernel)):
            if not isinstance(extent, int):
                raise node.error(f"auto_pad of dimension {d + 2}: expected an extent that is known, got {extent}")
            count = -(-extent // strides[d])
            total = max((count - 1) * strides[d] + (size - 1) * dilations[d] + 1 - extent, 0)
            before[d] = total // 2 if automatic == "SAME_UPPER" else total - total // 2
            after[d] = total - before[d]
    elif automatic == "VALID":
        before, after = [0] * rank, [0] * rank
    return {"strides": strides, "before": before, "after": after, "dilations": dilations}


def with_bias(node: Node, result: Value, bias: Value | None) -> Value:
    """A convolution with a number for each channel added."""
    if bias is None:
        return result
    return node.op_("add", result, node.reshape(bias, [*bias.shape, *[1] * (result.rank - 2)]))


@converter("Conv")
def _conv(node: Node) -> Value:
    x, w = node.tensor(0), node.tensor(1)
    _check_kernel(node, w)
    acc = node.builder.accumulator("conv", x.dtype)
    found = windows(node, x, list(w.shape[2:]))
    result = node.op_("conv", x, w, **found, groups=groups(node), acc=acc, to=x.dtype)
    return with_bias(node, result, node.tensor(2) if node.has(2) else None)


@converter("ConvTranspose")
def _conv_transpose(node: Node) -> Value:
    x, w = node.tensor(0), node.tensor(1)
    _check_kernel(node, w)
    rank = x.rank - 2
    strides, dilations = numbers(node, "strides", rank, 1), numbers(node, "dilations", rank, 1)
    extra, pads = numbers(node, "output_padding", rank, 0, 0), numbers(node, "pads", 2 * rank, default=0)
    before: list[Any] = pads[:rank]
    after: list[Any] = pads[rank:]
    automatic = node.attr("auto_pad", "NOTSET")
    full = [
        (extent - 1) * s + (size - 1) * d + 1
        for extent, s, size, d in zip(x.shape[2:], strides, w.shape[2:], dilations)
    ]
    wanted = node.attr("output_shape")
    if wanted is None and automatic.startswith("SAME"):
        wanted = [extent * s for extent, s in zip(x.shape[2:], strides)]
    if wanted is not None:
        for d, size in enumerate(wanted[-rank:]):
            total = full[d] + extra[d] - size
            half = total // 2
            before[d], after[d] = (half, total - half) if automatic == "SAME_UPPER" else (total - half, half)
    elif automatic == "VALID":
        before, after = [0] * rank, [0] * rank
    after = [high - more for high, more in zip(after, extra)]
    result = node.op_(
        "conv_transpose", x, w, strides=strides, before=before, after=after, dilations=dilations,
        groups=groups(node), acc=node.builder.accumulator("conv", x.dtype), to=x.dtype,
    )  # fmt: skip
    return with_bias(node, result, node.tensor(2) if node.has(2) else None)
