"""Complex tensors: each is two tensors of the graph, its real and its imaginary parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...graph import Value
from ..call import CONVERTERS, Call, Converter, converter
from .movement import sliced

__all__ = ["Pair", "complex_converter", "convert_complex", "joined", "parted"]


@dataclass(frozen=True)
class Pair:
    """A complex tensor."""

    real: Value
    imaginary: Value

    @property
    def rank(self) -> int:
        """The number of its dimensions."""
        return self.real.rank

    def by_part(self, function: Callable[[Value], Value]) -> Pair:
        """What a function makes of each part."""
        return Pair(function(self.real), function(self.imaginary))


_COMPLEX: dict[str, Converter] = {}
"""By operator, what makes operators of the graph of a call with complex operands or results."""

_OF_EACH_PART = (
    "view.default", "_unsafe_view.default", "reshape.default", "squeeze.dim", "squeeze.dims", "squeeze.default",
    "unsqueeze.default", "expand.default", "permute.default", "transpose.int", "t.default", "slice.Tensor",
    "select.int", "split_with_sizes.default", "split.Tensor", "unbind.int", "flip.default", "roll.default",
    "clone.default", "alias.default", "detach.default", "contiguous.default", "lift_fresh_copy.default",
    "index.Tensor", "_unsafe_index.Tensor", "index_select.default", "gather.default", "repeat.default",
    "neg.default", "sum.default", "sum.dim_IntList", "mean.default", "mean.dim", "cumsum.default", "add.Tensor",
    "sub.Tensor", "add.Scalar", "sub.Scalar", "constant_pad_nd.default", "tril.default", "triu.default",
    "diagonal.default", "as_strided.default", "as_strided_scatter.default", "index_put.default",
    "_unsafe_index_put.default", "scatter.src", "scatter.value", "scatter_add.default", "masked_select.default",
    "masked_scatter.default", "alias_copy.default", "view_copy.default", "expand_copy.default",
    "permute_copy.default", "_reshape_copy.default", "flatten.using_ints", "pad.default",
    "split_with_sizes_copy.default", "reflection_pad1d.default", "reflection_pad2d.default",
    "reflection_pad3d.default", "replication_pad1d.default", "replication_pad2d.default", "replication_pad3d.default",
    "prims.broadcast_in_dim.default", "prims.transpose.default", "prims.reshape.default", "prims.clone.default",
    "prims.neg.default", "prims.sum.default", "prims.add.default", "prims.sub.default",
)  # fmt: skip
"""Operators that are linear in their complex operands: they are done to the real parts, and to the imaginary ones."""

_SUMS = ("add.Tensor", "sub.Tensor", "add.Scalar", "sub.Scalar", "prims.add.default", "prims.sub.default")
_PRODUCTS = (
    "mul.Tensor", "mul.Scalar", "mm.default", "bmm.default", "matmul.default", "dot.default", "mv.default",
    "prims.mul.default",
)  # fmt: skip
_NUMBERS = {"constant_pad_nd.default": 2, "pad.default": 3, "scatter.value": 3}
"""By operator, which operand is a number of Python that is an element: a real one has no imaginary part."""


def parted(call: Call, x: Value) -> Pair:
    """The complex tensor whose parts the last dimension of a tensor has."""
    last = x.rank - 1
    return Pair(*(call.reshape(sliced(call, x, last, part, 1), x.shape[:-1]) for part in range(2)))


def joined(call: Call, x: Pair) -> Value:
    """A tensor with the parts of a complex one as its last dimension."""
    parts = [call.reshape(part, [*part.shape, 1]) for part in (x.real, x.imaginary)]
    return call.op("concat", *parts, axis=x.rank)


def convert_complex(call: Call, arguments: Sequence[Any]) -> Any:
    """What a call with complex operands or a complex result makes; a `Pair` is a complex tensor."""
    name = call.target
    if name in _COMPLEX:
        return _COMPLEX[name](call, *arguments)
    if name in _OF_EACH_PART and name in CONVERTERS:
        # Of the terms of a sum, those that are real have no imaginary part; a factor of a term stays one of both parts.
        terms = [_pair(call, one) for one in arguments[:2]] if name in _SUMS else []
        operands = [*terms, *arguments[len(terms) :]]
        if name in _NUMBERS:
            number: Any = operands[_NUMBERS[name]] or 0
            operands[_NUMBERS[name]] = complex(number)
        parts = [CONVERTERS[name](call, *(_part(one, part) for one in operands)) for part in range(2)]
        if isinstance(parts[0], list):
            return [Pair(real, imaginary) for real, imaginary in zip(*parts)]
        return Pair(*parts)
    if name in _PRODUCTS and name in CONVERTERS:
        return _product(call, CONVERTERS[name], arguments[0], arguments[1])
    raise call.error("the operator is not supported for complex numbers")


def _part(argument: Any, part: int) -> Any:
    """The real (0) or the imaginary part (1) of an operand; what is not complex is as it is."""
    if isinstance(argument, Pair):
        return argument.imaginary if part else argument.real
    if isinstance(argument, complex):
        return argument.imag if part else argument.real
    return [_part(one, part) for one in argument] if isinstance(argument, list) else argument  # pyright: ignore[reportUnknownVariableType]


def complex_converter(*operators: str) -> Callable[[Converter], Converter]:
    """Says what makes operators of the graph of a call with complex operands or results, for some operators."""

    def put(function: Converter) -> Converter:
        _COMPLEX.update(dict.fromkeys(operators, function))
        return function

    return put


def _pair(call: Call, x: Any) -> Pair:
    """An operand as a complex tensor."""
    if isinstance(x, Pair):
        return x
    dtype = call.dtype
    if isinstance(x, Value):
        return Pair(call.cast(x, dtype), call.expand(call.constant(0, dtype), x.shape))
    return Pair(call.constant(complex(x).real, dtype), call.constant(complex(x).imag, dtype))


def _product(call: Call, multiply: Converter, a: Any, b: Any) -> Pair:
    if not isinstance(a, (Pair, complex)):
        return _pair(call, b).by_part(lambda part: multiply(call, a, part))
    if not isinstance(b, (Pair, complex)):
        return _pair(call, a).by_part(lambda part: multiply(call, part, b))
    a, b = _pair(call, a), _pair(call, b)
    return Pair(
        call.op("sub", multiply(call, a.real, b.real), multiply(call, a.imaginary, b.imaginary)),
        call.op("add", multiply(call, a.real, b.imaginary), multiply(call, a.imaginary, b.real)),
    )


@complex_converter("div.Tensor", "div.Scalar", "true_divide.Tensor", "prims.div.default")
def _div(call: Call, a: Any, b: Any) -> Pair:
    """The quotient as Smith has it: both parts of the divisor are divided by the larger one, so that no square of them
    overflows."""
    divide, op = CONVERTERS["div.Tensor"], call.op
    if not isinstance(b, (Pair, complex)):
        return _pair(call, a).by_part(lambda part: divide(call, part, b))
    a, b = _pair(call, a), _pair(call, b)
    swapped = op("less", op("abs", b.real), op("abs", b.imaginary))
    larger, smaller = op("where", swapped, b.imaginary, b.real), op("where", swapped, b.real, b.imaginary)
    ratio = op("div", smaller, larger)
    divisor = op("add", larger, op("mul", smaller, ratio))
    real = op("add", op("mul", op("where", swapped, a.real, a.imaginary), ratio),
              op("where", swapped, a.imaginary, a.real))  # fmt: skip
    imaginary = op("sub", op("where", swapped, op("mul", a.imaginary, ratio), a.imaginary),
                   op("where", swapped, a.real, op("mul", a.real, ratio)))  # fmt: skip
    return Pair(op("div", real, divisor), op("div", imaginary, divisor))


@complex_converter("_conj.default", "_conj_physical.default", "conj_physical.default")
def _conjugate(call: Call, x: Any) -> Pair:
    x = _pair(call, x)
    return Pair(x.real, call.op("neg", x.imaginary))


@complex_converter("resolve_conj.default", "resolve_neg.default")
@converter("resolve_conj.default", "resolve_neg.default", "_conj_physical.default", "conj_physical.default")
def _as_it_is(call: Call, x: Any) -> Any:
    del call
    return x


@complex_converter("cat.default")
def _cat(call: Call, tensors: Sequence[Any], dim: int = 0) -> Pair:
    pairs = [_pair(call, one) for one in tensors]
    return Pair(*(CONVERTERS["cat.default"](call, [_part(one, part) for one in pairs], dim) for part in range(2)))


@complex_converter("where.self", "prims.where.default")
def _where(call: Call, condition: Value, x: Any, y: Any) -> Pair:
    pairs = _pair(call, x), _pair(call, y)
    return Pair(*(CONVERTERS["where.self"](call, condition, *(_part(one, part) for one in pairs)) for part in range(2)))


@complex_converter("abs.default")
def _abs(call: Call, x: Pair) -> Value:
    """By the quotient of the parts, whose square does not overflow."""
    parts = call.op("abs", x.real), call.op("abs", x.imaginary)
    larger, smaller = call.op("max", *parts), call.op("min", *parts)
    zero, one = call.constant(0, larger), call.constant(1, larger)
    ratio = call.op("div", smaller, call.op("where", call.op("equal", larger, zero), one, larger))
    length = call.op("mul", larger, call.op("sqrt", call.op("add", one, call.op("mul", ratio, ratio))))
    infinity = call.constant(float("inf"), larger)
    infinite = call.op("or", *(call.op("equal", part, infinity) for part in parts))
    return call.op("where", infinite, infinity, length)


@complex_converter("sgn.default")
def _sgn(call: Call, x: Pair) -> Pair:
    length = _abs(call, x)
    zero = call.constant(0, length)
    divisor = call.op("where", call.op("equal", length, zero), call.constant(1, length), length)
    return x.by_part(lambda part: call.op("div", part, divisor))


@complex_converter("exp.default")
def _exp(call: Call, x: Pair) -> Pair:
    return _polar(call, call.op("exp", x.real), x.imaginary)


def _angle(call: Call, x: Pair) -> Value:
    return call.op("atan2", x.imaginary, x.real)


@complex_converter("log.default")
def _log(call: Call, x: Pair) -> Pair:
    return Pair(call.op("log", _abs(call, x)), _angle(call, x))


@complex_converter("sqrt.default")
def _sqrt(call: Call, x: Pair) -> Pair:
    half = call.op("mul", _angle(call, x), call.constant(0.5, x.real))
    return _polar(call, call.op("sqrt", _abs(call, x)), half)


@complex_converter("reciprocal.default")
def _reciprocal(call: Call, x: Pair) -> Pair:
    return _div(call, 1.0, x)


@complex_converter("eq.Tensor", "eq.Scalar")
def _equal(call: Call, a: Any, b: Any) -> Value:
    dtype = next(one.real.dtype for one in (a, b) if isinstance(one, Pair))
    pairs = [one if isinstance(one, Pair) else _numbers(call, one, dtype) for one in (a, b)]
    return call.op("and", *(call.op("equal", *(_part(one, part) for one in pairs)) for part in range(2)))


@complex_converter("ne.Tensor", "ne.Scalar")
def _differs(call: Call, a: Any, b: Any) -> Value:
    return call.op("not", _equal(call, a, b))


@complex_converter("logical_not.default")
def _is_zero(call: Call, x: Pair) -> Value:
    return _equal(call, x, 0)


@complex_converter("logical_and.default", "logical_or.default", "logical_xor.default")
def _logical(call: Call, a: Any, b: Any) -> Value:
    name = call.target.removeprefix("logical_").removesuffix(".default")
    return call.op(name, *(_differs(call, x, 0) if isinstance(x, Pair) else call.cast(x, "bool") for x in (a, b)))


def _numbers(call: Call, x: Any, dtype: str) -> Pair:
    """Numbers that are real, or one of Python's, as a pair of that type."""
    if isinstance(x, Value):
        return Pair(call.cast(x, dtype), call.constant(0, dtype))
    return Pair(call.constant(complex(x).real, dtype), call.constant(complex(x).imag, dtype))


@complex_converter("isnan.default")
def _isnan(call: Call, x: Pair) -> Value:
    return call.op("or", call.op("isnan", x.real), call.op("isnan", x.imaginary))


@complex_converter("var.correction", "var_mean.correction")
def _variance(call: Call, x: Pair, *given: Any) -> Any:
    """The sum of the variances of the parts."""
    parts: list[Any] = [CONVERTERS[call.target](call, part, *given) for part in (x.real, x.imaginary)]
    if call.target == "var.correction":
        return call.op("add", *parts)
    (real, mean), (imaginary, other) = parts
    return call.op("add", real, imaginary), Pair(mean, other)


@complex_converter("isinf.default")
def _isinf(call: Call, x: Pair) -> Value:
    return call.op("or", *(CONVERTERS["isinf.default"](call, part) for part in (x.real, x.imaginary)))


@complex_converter("_to_copy.default", "to.dtype", "prims.convert_element_type.default")
def _to(call: Call, x: Any, *_: Any) -> Any:
    dtype, wanted = call.dtype, call.is_complex
    if isinstance(x, Pair) and dtype == "bool":
        return _differs(call, x, 0)
    if isinstance(x, Pair):
        return x.by_part(lambda part: call.cast(part, dtype)) if wanted else call.cast(x.real, dtype)
    return _pair(call, x)


@complex_converter("full.default", "full_like.default", "fill.Scalar", "fill.Tensor", "new_full.default")
def _full(call: Call, _: Any, value: Any, *rest: Any) -> Pair:
    return _filled(call, rest[0] if call.target == "new_full.default" else value)


def _filled(call: Call, value: Any) -> Pair:
    return _pair(call, value).by_part(lambda part: call.expand(part, call.shape))


@complex_converter("copy.default")
def _copy(call: Call, x: Any, source: Any, *_: Any) -> Pair:
    del x
    return _pair(call, source).by_part(lambda part: call.expand(part, call.shape))


@complex_converter("new_zeros.default", "zeros_like.default", "zeros.default", "empty.memory_format")
@complex_converter("empty_strided.default", "empty_like.default", "new_empty.default", "empty_permuted.default")
@complex_converter("new_empty_strided.default")
def _zeros(call: Call, *_: Any) -> Pair:
    return _filled(call, 0)


@complex_converter("ones.default", "ones_like.default", "new_ones.default")
def _ones(call: Call, *_: Any) -> Pair:
    return _filled(call, 1)


@complex_converter("scalar_tensor.default")
def _scalar_tensor(call: Call, value: Any, *_: Any) -> Pair:
    return _pair(call, value)


# Operators between real tensors and complex ones: PyTorch has decompositions of some, which write to views.


@complex_converter("view_as_real.default")
@converter("view_as_real.default", "view_as_real_copy.default")
def _view_as_real(call: Call, x: Pair) -> Value:
    return joined(call, x)


@complex_converter("view_as_complex.default")
@converter("view_as_complex.default", "view_as_complex_copy.default")
def _view_as_complex(call: Call, x: Value) -> Pair:
    return parted(call, x)


@complex_converter("polar.default")
@converter("polar.default")
def _polar(call: Call, length: Value, angle: Value) -> Pair:
    multiply = CONVERTERS["mul.Tensor"]
    return Pair(*(multiply(call, length, call.op(function, angle)) for function in ("cos", "sin")))


@complex_converter("complex.default")
@converter("complex.default")
def _of_parts(call: Call, real: Value, imaginary: Value) -> Pair:
    return Pair(call.expand(real, call.shape), call.expand(imaginary, call.shape))


@complex_converter("real.default")
@converter("real.default")
def _real(call: Call, x: Pair) -> Value:
    del call
    return x.real


@complex_converter("imag.default")
@converter("imag.default")
def _imaginary(call: Call, x: Pair) -> Value:
    del call
    return x.imaginary
