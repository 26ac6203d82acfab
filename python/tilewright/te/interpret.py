"""What a program computes, by NumPy alone: te's own meaning, with which the stages of the compiler are compared.

Each stage of te is computed whole, with arithmetic in the type of each expression and nothing else: no pass and no
schedule takes part. `tilewright.testing.bisect` is what uses it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dtypes import DType, as_dtype
from ..errors import TilewrightError
from .expr import Call, Cast, Const, Expr, IterVar, Previous, Read, ReduceItem, Select, Var
from .program import operations
from .scan_stages import ScanOp, rows_for_steps, rows_in_steps
from .tensor import ComputeOp, PlaceholderOp, Tensor

__all__ = ["NoMeaningInNumPy", "ReadOutside", "interpret"]

Array = NDArray[Any]

_AT_ONCE = 1 << 20
"""How many elements are computed at once, those that are reduced included. It bounds the memory, and Ctrl-C is seen
between two pieces."""


class NoMeaningInNumPy(TilewrightError):
    """What has no expressions: statements of `te.extern`."""


class ReadOutside(TilewrightError):
    """An element is read that a tensor does not have."""


def interpret(
    outputs: Sequence[Tensor], inputs: Mapping[Tensor, Array], numbers: Mapping[Var, int | float | bool]
) -> list[Array]:
    """The elements of `outputs`, from those of the placeholders and the values of the symbols.

    Raises
    ------
    ReadOutside
        Where an element is read that is not there.
    NoMeaningInNumPy
        Of a program with `te.extern`.

    >>> from tilewright import te
    >>> A = te.placeholder((4,), name="A")
    >>> B = te.compute((3,), lambda i: A[i] + A[i + 1], name="B")
    >>> interpret([B], {A: np.arange(4, dtype="float32")}, {})
    [array([1., 3., 5.], dtype=float32)]
    """
    known: dict[Tensor, Array] = dict(inputs)
    ops = operations([tensor.op for tensor in outputs])
    in_steps = rows_in_steps(ops)
    for_steps = rows_for_steps(ops, [tensor.op for tensor in outputs], in_steps)
    for op in ops:
        if isinstance(op, PlaceholderOp) or op in in_steps or op.output(0) in known:
            continue
        if isinstance(op, ScanOp) and op.state is not None:
            _run_steps(op, known, numbers)
            continue
        if not isinstance(op, ComputeOp):
            raise NoMeaningInNumPy(f"{op.name}: expected a te.compute or te.scan, got {type(op).__name__}")
        stage = _Stage(op, known, numbers)
        made = stage.run_from(for_steps[op]) if op in for_steps else stage.run()
        for number, array in enumerate(made):
            known[op.output(number)] = array
    return [known[tensor] for tensor in outputs]


def _run_steps(scan: ScanOp, known: dict[Tensor, Array], numbers: Mapping[Var, Any]) -> None:
    """All results of a scan of several stages, step by step."""
    stages = [_Stage(op, known, numbers) for op in (*scan.inner, *scan.together) if isinstance(op, ComputeOp)]
    for stage in stages:
        for tensor, array in zip(stage.op.outputs, stage.empty()):
            known[tensor] = array
            if isinstance(stage.op, ScanOp) and stage.op.state is not None:
                known[stage.op.state] = array
    for step in range(len(known[scan.output(0)])):
        for stage in stages:
            if isinstance(stage.op, ScanOp) or step >= scan.begin:
                for tensor, row in zip(stage.op.outputs, stage.run_step(step)):
                    known[tensor][step : step + 1] = row


class _Stage:
    """One stage: its axes lie along the dimensions of arrays, first those of the result and then those reduced over."""

    def __init__(self, op: ComputeOp, known: Mapping[Tensor, Array], numbers: Mapping[Var, Any]) -> None:
        self.op, self._known, self._numbers = op, known, numbers
        self._axes: dict[int, Array] = {}
        self._bound: dict[int, Array] = {}
        self._steps: list[Array] = []
        self._step = 0
        extents: list[int] = []
        for axis in (*op.axis, *op.reduce_axis):
            assert axis.dom is not None
            extents.append(self._extent(axis.dom[1]))
        self._shape = tuple(extents)
        for position, (axis, extent) in enumerate(zip((*op.axis, *op.reduce_axis), extents)):
            assert axis.dom is not None
            line = np.arange(extent, dtype=np.int64) + axis.dom[0]
            self._axes[id(axis)] = line.reshape([-1 if at == position else 1 for at in range(len(extents))])
        self._rank = len(op.axis)

    def _extent(self, extent: int | Expr) -> int:
        return extent if isinstance(extent, int) else int(self._value(extent, {}, None))

    def run(self) -> list[Array]:
        if not isinstance(self.op, ScanOp):
            return self._pieces(0)
        with np.errstate(all="ignore"):
            return self._scan()

    def empty(self) -> list[Array]:
        """The tensors without their elements."""
        return [np.zeros(self._shape[: self._rank], _numpy(dtype)) for dtype in self.op.element_types]

    def run_from(self, begin: int) -> list[Array]:
        """The tensors with their rows from `begin` on."""
        whole = self.empty()
        for array, rows in zip(whole, self.run_step(begin, max(self._shape[0] - begin, 0))):
            array[begin:] = rows
        return whole

    def run_step(self, step: int, count: int = 1) -> list[Array]:
        """One row of each tensor, or some."""
        axes, shape, first = self._axes, self._shape, id(self.op.axis[0])
        self._axes = {**axes, first: axes[first][step : step + count]}
        self._shape = (count, *shape[1:])
        try:
            return self._pieces(0)
        finally:
            self._axes, self._shape = axes, shape

    def _pieces(self, dim: int) -> list[Array]:
        """The tensors, in pieces along the dimensions from `dim` on."""
        elements = math.prod(self._shape)
        if elements <= _AT_ONCE or dim == self._rank:
            return self._rows()
        axes, shape, axis = self._axes, self._shape, id(self.op.axis[dim])
        count = max(shape[dim] * _AT_ONCE // elements, 1)
        made: list[list[Array]] = []
        try:
            for begin in range(0, shape[dim], count):
                piece = axes[axis][(*[slice(None)] * dim, slice(begin, begin + count))]
                self._axes = {**axes, axis: piece}
                self._shape = (*shape[:dim], piece.size, *shape[dim + 1 :])
                made.append(self._pieces(dim + 1))
        finally:
            self._axes, self._shape = axes, shape
        return [np.concatenate(parts, axis=dim) for parts in zip(*made)]

    def _rows(self) -> list[Array]:
        with np.errstate(all="ignore"):
            memo: dict[int, Array] = {}
            reduction = self.op.reduction
            if reduction is None:
                return [self._element(expr, memo, self._shape) for expr in self.op.body]
            return self._reduce(reduction, [self._element(expr, memo, self._shape) for expr in reduction.exprs])

    def _element(self, expr: Expr, memo: dict[int, Array], shape: tuple[int, ...]) -> Array:
        made = self._value(expr, memo, None)
        return np.array(np.broadcast_to(made, shape), _numpy(expr.element_type), order="C")

    def _reduce(self, reduction: Any, parts: list[Array]) -> list[Array]:
        flat = [part.reshape(*part.shape[: self._rank], math.prod(part.shape[self._rank :])) for part in parts]
        axes = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}
        if reduction.name in axes:
            function, (part,) = axes[reduction.name], flat
            wide = part.astype(np.float64) if part.dtype.kind not in "biu" else part
            start = {"sum": 0, "prod": 1}.get(reduction.name, _bound(part.dtype, reduction.name == "min"))
            if part.dtype.kind == "b":
                return [np.asarray(part.any(axis=-1) if reduction.name == "max" else part.all(axis=-1))]
            return [function.reduce(wide, axis=-1, dtype=wide.dtype, initial=start).astype(part.dtype)]
        current = [np.full(part.shape[:-1], one.value, part.dtype) for part, one in zip(flat, reduction.identity)]
        for at in range(flat[0].shape[-1]):
            for var, value in zip(reduction.lhs, current):
                self._bound[id(var)] = value
            for var, part in zip(reduction.rhs, flat):
                self._bound[id(var)] = part[..., at]
            memo: dict[int, Array] = {}
            made = [self._value(one, memo, None) for one in reduction.combined]
            current = [np.broadcast_to(one, old.shape).astype(old.dtype) for one, old in zip(made, current)]
        return current

    def _scan(self) -> list[Array]:
        op = self.op
        self._steps = [np.zeros(self._shape, _numpy(dtype)) for dtype in op.element_types]
        first = op.axis[0]
        line = self._axes[id(first)]
        shape = (1, *self._shape[1:])
        for step in range(self._shape[0]):
            self._step = step
            self._axes[id(first)] = line[self._step : self._step + 1]
            memo: dict[int, Array] = {}
            made = [self._element(expr, memo, shape) for expr in op.body]
            for steps, one in zip(self._steps, made):
                steps[self._step : self._step + 1] = one
        return self._steps

    # Expressions. `where` says at which places a value is asked for; None is everywhere.

    def _value(self, expr: Expr, memo: dict[int, Array], where: Array | None) -> Array:
        if where is None and id(expr) in memo:
            return memo[id(expr)]
        made = self._compute(expr, memo, where)
        if where is None:
            memo[id(expr)] = made
        return made

    def _compute(self, expr: Expr, memo: dict[int, Array], where: Array | None) -> Array:
        if isinstance(expr, Const):
            return np.asarray(expr.value, np.int64 if expr.is_index else _numpy(expr.element_type))
        if isinstance(expr, IterVar):
            return self._axes[id(expr)]
        if isinstance(expr, Var):
            if id(expr) in self._bound:
                return self._bound[id(expr)]
            return np.asarray(self._numbers[expr], np.int64 if expr.is_index else _numpy(expr.element_type))
        if isinstance(expr, Cast):
            return _cast(self._value(expr.value, memo, where), expr.element_type)
        if isinstance(expr, Select):
            return self._select(expr, memo, where)
        if isinstance(expr, Read):
            return self._read(expr, memo, where)
        if isinstance(expr, Previous):
            at = max(self._step - expr.lag, 0)
            return self._steps[expr.result][at : at + 1]
        assert isinstance(expr, Call) and not isinstance(expr, ReduceItem), expr
        args = [self._in_type(arg, expr.args, self._value(arg, memo, where)) for arg in expr.args]
        if expr.op == "reinterpret":
            return np.ascontiguousarray(args[0]).view(_numpy(expr.element_type)).reshape(np.shape(args[0]))
        return _call(expr.op, args, expr.args[0].element_type, expr.is_index or all(arg.is_index for arg in expr.args))

    @staticmethod
    def _in_type(arg: Expr, args: Sequence[Expr], value: Array) -> Array:
        """Index arithmetic that meets data is data, too."""
        if arg.is_index and not all(one.is_index for one in args):
            return value.astype(_numpy(arg.element_type))
        return value

    def _select(self, expr: Select, memo: dict[int, Array], where: Array | None) -> Array:
        condition = self._value(expr.condition, memo, where)
        yes = no = where
        if expr.lazy:
            yes = condition if where is None else condition & where
            no = ~condition if where is None else ~condition & where
        values = [self._value(expr.true_value, memo, yes), self._value(expr.false_value, memo, no)]
        if not expr.is_index:
            values = [value.astype(_numpy(expr.element_type)) for value in values]
        return np.where(condition, *values)

    def _read(self, expr: Read, memo: dict[int, Array], where: Array | None) -> Array:
        array = self._known[expr.tensor]
        places: list[Array] = []
        for dim, (index, extent) in enumerate(zip(expr.indices, array.shape)):
            at = np.asarray(self._value(index, memo, where)).astype(np.int64)
            outside = (at < 0) | (at >= extent)
            if where is not None:
                outside = outside & where
            if outside.any() and 0 not in self._shape:  # of no elements nothing is read
                value = int(np.broadcast_to(at, outside.shape)[outside].flat[0])  # pyright: ignore[reportUnknownArgumentType]
                raise ReadOutside(
                    f"{expr.source}: {self.op.name} reads {expr.tensor.name} at {value} in dimension {dim}, "
                    f"expected 0 to {extent - 1}"
                )
            places.append(np.clip(at, 0, max(extent - 1, 0)))
        if not array.size:  # no place is asked for
            return np.zeros(np.broadcast_shapes(*(at.shape for at in places)), array.dtype)
        return array[tuple(np.broadcast_arrays(*places))] if places else array[()]


def _numpy(dtype: DType) -> np.dtype[Any]:
    return np.dtype(as_dtype(dtype.name))


def _bound(dtype: np.dtype[Any], largest: bool) -> Any:
    if dtype.kind in "iu":
        return np.iinfo(dtype).max if largest else np.iinfo(dtype).min
    return np.inf if largest else -np.inf


def _cast(value: Array, to: DType) -> Array:
    if to.kind == "bool":
        return value != 0
    if to.is_integer and value.dtype.kind not in "biu":
        value = np.trunc(value.astype(np.float64))
        return value.astype(np.uint64 if to.name == "uint64" else np.int64).astype(_numpy(to))
    return value.astype(_numpy(to))


def _in_double(function: Callable[..., Any]) -> Callable[..., Array]:
    """Of any floats in double precision, rounded once."""

    def call(*args: Array) -> Array:
        return np.asarray(function(*(arg.astype(np.float64) for arg in args))).astype(args[0].dtype)

    return call


def _truncdiv(a: Array, b: Array) -> Array:
    quotient = np.floor_divide(a, b)
    inexact = np.fmod(a, b) != 0
    return (quotient + (inexact & ((a < 0) != (b < 0)))).astype(a.dtype)


def _popcount(a: Array) -> Array:
    bits = a.view(f"u{a.dtype.itemsize}") if a.dtype.kind == "i" else a
    counts = np.unpackbits(np.ascontiguousarray(np.atleast_1d(bits))[..., None].view(np.uint8), axis=-1).sum(axis=-1)
    return counts.reshape(a.shape).astype(a.dtype)


def _sigmoid(a: Array) -> Array:
    return np.where(a < 0, np.exp(-np.abs(a)), 1.0) / (1 + np.exp(-np.abs(a)))


def _power(a: Array, b: Array) -> Array:
    if a.dtype.kind not in "iu":
        return _in_double(np.power)(a, b)
    bits = 8 * a.dtype.itemsize

    def one(base: int, power: int) -> int:
        if power < 0:
            return base if base in (1, -1) and power % 2 else 1 if base in (1, -1) else 0
        made = pow(int(base), int(power), 1 << bits)
        return made - (1 << bits) if a.dtype.kind == "i" and made >> (bits - 1) else made

    return np.vectorize(one, otypes=[object])(a, b).astype(a.dtype)


_OF_TWO: Mapping[str, Callable[..., Array]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "min": np.minimum, "max": np.maximum,
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "shl": np.left_shift, "shr": np.right_shift,
    "power": _power, "atan2": _in_double(np.arctan2),
}  # fmt: skip


def _rsqrt(a: Array) -> Array:
    return 1 / np.sqrt(a)


def _round(a: Array) -> Array:
    return np.copysign(np.floor(np.abs(a) + 0.5), a)


_OF_ONE: Mapping[str, Callable[..., Array]] = {
    "neg": np.negative, "abs": np.abs, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
    "popcount": _popcount, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "nearbyint": np.rint,
    **{
        name: _in_double(getattr(np, name))
        for name in ("exp", "exp2", "tanh", "log", "log2", "log10", "log1p", "tan", "cos", "cosh", "sin", "sinh",
                     "sqrt")
    },
    **{name: _in_double(getattr(np, f"arc{name[1:]}")) for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")},
    "rsqrt": _in_double(_rsqrt),
    "round": _in_double(_round),
    "erf": _in_double(np.vectorize(math.erf, otypes=[np.float64])),
    "sigmoid": _in_double(_sigmoid),
}  # fmt: skip


def _call(op: str, args: Sequence[Array], dtype: DType, is_index: bool) -> Array:
    is_float = dtype.is_float and not is_index
    if op in ("floordiv", "floormod"):
        a, b = args
        if not is_float:
            return np.floor_divide(a, b) if op == "floordiv" else np.remainder(a, b)
        quotient = np.floor(a / b)
        return quotient if op == "floordiv" else a - quotient * b
    if op in ("truncdiv", "truncmod"):
        if op == "truncdiv" and not is_float:
            return _truncdiv(*args) if dtype.kind == "int" else np.floor_divide(*args)
        return np.fmod(*args)
    if op in _OF_TWO:
        return _OF_TWO[op](*args)
    if op in _OF_ONE:
        return _OF_ONE[op](*args)
    raise NoMeaningInNumPy(f"te.{op}: it has no meaning in NumPy here")
