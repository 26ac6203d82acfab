"""Operators on each element, or on each two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...graph import Value
from ...graph.numbers import number_of
from ...graph.operators.common import accumulator, difference
from ...te import Expr
from ..dtypes import dtype_name
from ..narrow import NARROW, Narrow, decoded, encoded
from ..node import CONVERTERS, Node, converter
from .parts import quotient

_UNARY = {
    "Abs": "abs", "Neg": "neg", "Sign": "sign", "Floor": "floor", "Ceil": "ceil", "Round": "round", "Sqrt": "sqrt",
    "Reciprocal": "reciprocal", "Exp": "exp", "Log": "log", "Sin": "sin", "Cos": "cos", "Tan": "tan", "Asin": "asin",
    "Acos": "acos", "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh", "Tanh": "tanh", "Asinh": "asinh",
    "Acosh": "acosh", "Atanh": "atanh", "Erf": "erf", "Sigmoid": "sigmoid", "Relu": "relu", "Not": "not",
    "BitwiseNot": "not", "IsNaN": "isnan",
}  # fmt: skip
_BINARY = {
    "Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div", "And": "and", "Or": "or", "Xor": "xor",
    "BitwiseAnd": "and", "BitwiseOr": "or", "BitwiseXor": "xor", "Equal": "equal", "Less": "less",
    "LessOrEqual": "less_equal", "Greater": "greater", "GreaterOrEqual": "greater_equal",
}  # fmt: skip


def _unary(name: str) -> Callable[[Node], Value]:
    def convert(node: Node) -> Value:
        return node.op_(name, node.tensor(0))

    return convert


def _binary(name: str) -> Callable[[Node], Value]:
    def convert(node: Node) -> Value:
        a, b = node.tensor(0), node.tensor(1)
        if node.attr("broadcast") and 0 < b.rank < a.rank:  # before version 7
            axis = node.axis(node.attr("axis", a.rank - b.rank), a.rank)
            b = node.reshape(b, [*b.shape, *[1] * (a.rank - axis - b.rank)])
        return node.op_(name, a, b)

    return convert


CONVERTERS.update({op: _unary(name) for op, name in _UNARY.items()})
CONVERTERS.update({op: _binary(name) for op, name in _BINARY.items()})


@converter("Identity")
def _identity(node: Node) -> Value:
    return node.tensor(0)


@converter("Dropout")
def _dropout(node: Node) -> Sequence[Value]:
    x = node.tensor(0)
    training = node.number(2, False) if node.has(2) else False
    ratio = node.number(1, 0.5) if training else 0
    if ratio != 0:
        shape, seed = [extent for extent in x.shape if isinstance(extent, int)], node.attr("seed")
        if seed is None or len(shape) != x.rank:
            raise node.error("Dropout in training mode needs a seed and static extents: its result is random otherwise")
        # A seed decides the elements that stay, as ONNX's reference draws them.
        drawn: NDArray[np.bool_] = np.random.RandomState(seed).uniform(0, 1, shape) >= ratio
        mask = node.builder.constant(drawn)
        kept = node.op_("where", mask, x, node.constant(0, x))
        return [node.op_("mul", kept, node.constant(1 / (1 - ratio), x)), mask][: node.output_count]
    ones = node.constant(True, "bool")
    return [x, node.op_("expand", ones, shape=list(x.shape))] if node.has_output(1) else [x]


def _fold(node: Node, name: str) -> Value:
    first, *rest = node.tensors()
    for other in rest:
        first = node.op_(name, first, other)
    return first


@converter("Max")
def _max(node: Node) -> Value:
    return _fold(node, "max")


@converter("Min")
def _min(node: Node) -> Value:
    return _fold(node, "min")


@converter("Sum")
def _sum(node: Node) -> Value:
    return _fold(node, "add")


@converter("Mean")
def _mean(node: Node) -> Value:
    total = _fold(node, "add")
    return node.op_("div", total, node.constant(node.input_count, total))


@converter("Mod")
def _mod(node: Node) -> Value:
    return node.op_("fmod" if node.attr("fmod", 0) else "mod", node.tensor(0), node.tensor(1))


@converter("Pow")
def _pow(node: Node) -> Value:
    a, b = node.tensor(0), node.tensor(1)
    if a.dtype == b.dtype and "float" in a.dtype:
        return node.op_("pow", a, b)
    if "float" in a.dtype:
        return node.op_("pow", a, node.cast(b, a.dtype))
    if "float" not in b.dtype:
        return node.op_("pow", a, node.cast(b, a.dtype))
    return node.cast(node.op_("pow", node.cast(a, "float64"), node.cast(b, "float64")), a.dtype)


@converter("BitShift")
def _shift(node: Node) -> Value:
    left = node.attr("direction") == "LEFT"
    return node.op_("shift_left" if left else "shift_right", node.tensor(0), node.tensor(1))


@converter("Where")
def _where(node: Node) -> Value:
    return node.op_("where", *node.tensors())


@converter("Cast")
def _cast(node: Node) -> Value:
    return _converted(node, dtype_name(node.attr("to")))


@converter("CastLike")
def _cast_like(node: Node) -> Value:
    return _converted(node, node.type(1).dtype)


def _converted(node: Node, to: str) -> Value:
    x = node.tensor(0)
    if isinstance(x, Narrow):
        if x.stored == to:
            return x
        x = decoded(node, x)
    return converted(node, x, to, bool(node.attr("saturate", 1)), node.attr("round_mode", "up"))


def converted(node: Node, x: Value, to: str, saturate: bool, round_mode: str = "up") -> Value:
    """A tensor in another type. With `saturate` a float beyond a type of 8 bits is the type's largest number."""
    if to in NARROW:
        return encoded(node, x, to, saturate, round_mode)
    if x.dtype == to:
        return x
    if to in _LARGEST and saturate:
        x = node.cast(x, "float32")
        x = node.op_("max", node.op_("min", x, node.constant(_LARGEST[to], x)), node.constant(-_LARGEST[to], x))
    return node.op_("cast", x, to=to, saturate=saturate)


_LARGEST = {"float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}


@converter("Clip")
def _clip(node: Node) -> Value:
    x = node.tensor(0)
    for position, name, op in ((1, "min", "max"), (2, "max", "min")):
        if node.has(position):
            bound = node.tensor(position)
            x = node.op_(op, x, node.reshape(bound, []) if bound.rank else bound)
        elif name in node.attributes:
            x = node.op_(op, x, node.constant(node.attr(name), x))
    return x


@converter("IsInf")
def _isinf(node: Node) -> Value:
    return node.op_(
        "isinf", node.tensor(0), positive=bool(node.attr("detect_positive", 1)),
        negative=bool(node.attr("detect_negative", 1)),
    )  # fmt: skip


@converter("PRelu")
def _prelu(node: Node) -> Value:
    x, slope = node.tensor(0), node.tensor(1)
    if node.version < 7 and slope.rank == 1 and x.rank > 2:  # a slope for each channel
        slope = node.reshape(slope, [*slope.shape, *[1] * (x.rank - 2)])
    negative = node.op_("less", x, node.constant(0, x))
    return node.op_("where", negative, node.op_("mul", x, slope), x)


@converter("Selu")
def _selu(node: Node) -> Value:
    x = node.tensor(0)
    alpha = node.constant(node.attr("alpha", 1.6732632423543772), x)
    below = node.op_("mul", alpha, node.op_("sub", node.op_("exp", x), node.constant(1, x)))
    chosen = node.op_("where", node.op_("greater", x, node.constant(0, x)), x, below)
    return node.op_("mul", chosen, node.constant(node.attr("gamma", 1.0507009873554805), x))


@converter("LeakyRelu")
def _leaky_relu(node: Node) -> Value:
    x = node.tensor(0)
    negative = node.op_("less", x, node.constant(0, x))
    return node.op_("where", negative, node.op_("mul", x, node.constant(node.attr("alpha", 0.01), x)), x)


@converter("HardSigmoid")
def _hard_sigmoid(node: Node) -> Value:
    x = node.tensor(0)
    line = node.op_("mul", x, node.constant(node.attr("alpha", 0.2), x))
    line = node.op_("add", line, node.constant(node.attr("beta", 0.5), x))
    return node.op_("min", node.op_("max", line, node.constant(0, x)), node.constant(1, x))


@converter("Elu")
def _elu(node: Node) -> Value:
    x = node.tensor(0)
    below = node.op_("sub", node.op_("exp", x), node.constant(1, x))
    below = node.op_("mul", below, node.constant(node.attr("alpha", 1.0), x))
    return node.op_("where", node.op_("less", x, node.constant(0, x)), below, x)


@converter("Celu")
def _celu(node: Node) -> Value:
    # As a function of ONNX, its result has a dimension where x has none.
    x = node.tensor(0)
    alpha = node.constant(node.attr("alpha", 1.0), x)
    below = node.op_("sub", node.op_("exp", node.op_("div", x, alpha)), node.constant(1, x))
    return node.op_("where", node.op_("less", x, node.constant(0, x)), node.op_("mul", below, alpha), x)


@converter("Softplus")
def _softplus(node: Node) -> Value:
    x = node.tensor(0)
    # log(1 + exp(x)) without overflow
    away = node.op_("exp", node.op_("neg", node.op_("abs", x)))
    return node.op_("add", node.op_("max", x, node.constant(0, x)), node.op_("log1p", away))


@converter("Softsign")
def _softsign(node: Node) -> Value:
    x = node.tensor(0)
    return node.op_("div", x, node.op_("add", node.constant(1, x), node.op_("abs", x)))


@converter("Shape", "Size", "Constant")
def _known(node: Node) -> Value | None:
    name = node.proto.output[0]
    node.scope.put_host(name, node.scope.evaluate(node)[0])
    return None


@converter("ConstantOfShape")
def _constant_of_shape(node: Node) -> Value:
    from onnx import numpy_helper

    value = node.attr("value")
    array = np.zeros((1,), np.float32) if value is None else numpy_helper.to_array(value)
    scalar = node.builder.constant(array.reshape(()))
    return node.op_("expand", scalar, shape=node.integers(0))


@converter("Trilu")
def _trilu(node: Node) -> Value:
    return node.op_("trilu", node.tensor(0), k=int(node.number(1, 0)), upper=bool(node.attr("upper", 1)))


@converter("EyeLike")
def _eye_like(node: Node) -> Value:
    kind = node.type(0)
    dtype = dtype_name(node.attr("dtype")) if "dtype" in node.attributes else kind.dtype
    row = node.op_("iota", shape=list(kind.shape), axis=0, to="int64")
    column = node.op_("iota", shape=list(kind.shape), axis=1, to="int64")
    shifted = node.op_("add", row, node.constant(node.attr("k", 0), "int64"))
    return node.cast(node.op_("equal", shifted, column), dtype)


@converter("Range")
def _range(node: Node) -> Value:
    start, limit = (node.host(i).reshape(-1)[0] for i in range(2))
    delta = node.host(2).reshape(-1)[0] if node.has(2) else np.int64(1)  # that of com.microsoft may have none
    if any(isinstance(one, Expr) for one in (start, limit, delta)):
        return _symbolic_range(node, start, limit, delta)
    count = max(int(np.ceil((limit - start) / delta)), 0)
    dtype = start.dtype.name
    acc = accumulator(dtype)
    steps = node.op_("iota", shape=[count], axis=0, to=acc)
    made = node.op_("mul", steps, node.constant(delta, acc))
    return node.cast(node.op_("add", made, node.constant(start, acc)), dtype)


def _symbolic_range(node: Node, start: Any, limit: Any, delta: Any) -> Value:
    """Whole numbers from a start to before a limit, one of which is an extent. The step is a number."""
    if isinstance(delta, Expr):
        raise node.error(f"expected a step that is a number, got {delta}")
    step = int(delta)
    low, high = (start, limit) if step > 0 else (limit, start)
    count = difference(high, low)
    extent: Any = high - low if count is None else max(count, 0)
    made = node.op_("iota", shape=[quotient(extent, abs(step))], axis=0, to="int64")
    made = made if step == 1 else node.op_("mul", made, node.constant(step, "int64"))
    return node.op_("add", made, number_of(node.builder, start if isinstance(start, Expr) else int(start)))


@converter("Shrink")
def _shrink(node: Node) -> Value:
    x = node.tensor(0)
    bias, bound = node.attr("bias", 0.0), node.attr("lambd", 0.5)
    low = node.op_("where", node.op_("less", x, node.constant(-bound, x)), node.op_("add", x, node.constant(bias, x)),
                   node.constant(0, x))  # fmt: skip
    above = node.op_("greater", x, node.constant(bound, x))
    return node.op_("where", above, node.op_("sub", x, node.constant(bias, x)), low)
