"""Scalar expressions: what the body of a compute is made of.

An expression is a tree that knows its dtype and the user's line. Arithmetic on axes, symbolic extents and numbers alone
is index arithmetic (`is_index`). Where it meets data, it counts as int32.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Union

from ..dtypes import DType, dtype_of, fits
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..messages.location import Source, user_source
from .extents import Array, Range, as_extent
from .walks import Steps, run

if TYPE_CHECKING:
    from .reduction import Reduction
    from .tensor import Tensor

__all__ = ["Call", "Cast", "Const", "Expr", "ExprLike", "IterVar", "Previous", "Read", "ReduceItem", "Select", "Var"]

ExprLike = Union["Expr", int, float, bool]

_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "floormod": "%", "and": "&", "or": "|",
    "xor": "^", "shl": "<<", "shr": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip
# How tightly operators bind, for printing.
_BINDING = {"|": 2, "^": 3, "&": 4, "<<": 5, ">>": 5, "+": 6, "-": 6, "*": 7, "/": 7, "//": 7, "%": 7}
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_BITWISE = ("and", "or", "xor", "shl", "shr")
# The functions of NumPy that its scalars call for an operator, and those whose name is another than te's.
_OF_NUMPY = {
    "add": "add", "subtract": "sub", "multiply": "mul", "true_divide": "div", "divide": "div",
    "floor_divide": "floordiv", "remainder": "floormod", "equal": "eq", "not_equal": "ne", "less": "lt",
    "less_equal": "le", "greater": "gt", "greater_equal": "ge", "bitwise_and": "and", "bitwise_or": "or",
    "bitwise_xor": "xor", "left_shift": "shl", "right_shift": "shr",
}  # fmt: skip
_FUNCTION_OF_NUMPY = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "bitwise_count": "popcount", "invert": "bitwise_not",
    "logical_and": "all", "logical_or": "any", "maximum": "max", "minimum": "min", "rint": "nearbyint",
}  # fmt: skip
_INDEX_OPS = frozenset(("add", "sub", "mul", "floordiv", "floormod", "truncdiv", "truncmod", "min", "max"))


def _is_scalar(value: object) -> bool:
    """Whether a value of Python's, of NumPy's or an expression is one number."""
    return isinstance(value, Expr) or getattr(value, "shape", ()) == ()


class Expr:
    """A scalar expression. Comparisons and arithmetic make new ones; ``astype`` converts.

    The dtypes of two operands must be the same; a Python number takes the other operand's. Integers are divided by
    ``//``, ``te.floordiv`` or ``te.truncdiv``, never by ``/``.
    """

    __slots__ = ("element_type", "is_index", "source")
    if TYPE_CHECKING:

        def __hash__(self) -> int: ...
    else:
        __hash__ = object.__hash__
    is_element = False

    element_type: DType
    source: Source
    is_index: bool

    def __init__(self, dtype: DType, source: Source, is_index: bool = False) -> None:
        self.element_type, self.source, self.is_index = dtype, source, is_index

    @property
    def dtype(self) -> str:
        """NumPy's name of the type of this value."""
        return self.element_type.name

    def operands(self) -> tuple[Expr, ...]:
        """The expressions that this one is made of."""
        return ()

    def astype(self, dtype: object) -> Expr:
        """This value in another type: towards zero from floats to integers, ``!= 0`` to bool.

        A float that the integer type does not have becomes the type's nearest number, and NaN 0. Integers wrap around.
        """
        source = user_source()
        to = dtype_of(dtype, source)
        if to is self.element_type and not self.is_index:
            return self
        return Cast(self, to, source)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **_: Any) -> Expr:
        """What NumPy calls for `np.float32(2) * x`, which is the expression, and for `np.exp(x)`, which is refused."""
        op = _OF_NUMPY.get(ufunc.__name__)
        if (
            op is not None
            and method == "__call__"
            and all(isinstance(each, Expr) or _is_scalar(each) for each in inputs)
        ):
            return binary(op, *inputs)
        name, source = ufunc.__name__, user_source()
        if op is not None or method != "__call__":
            raise TypeError(f"{source}: np.{name}: expected an expression and a number, got an array")
        from .. import te

        instead = _FUNCTION_OF_NUMPY.get(name, name)
        if instead in te.__all__:
            raise TypeError(f"{source}: expected te.{instead} of an expression, got np.{name}, which takes arrays")
        raise TypeError(f"{source}: expected a function of te on an expression, got np.{name}, which takes arrays")

    def __bool__(self) -> bool:
        raise TypeError(
            f"{user_source()}: expected te.all, te.any, te.if_then_else or te.select on an expression, "
            "got Python's own 'and', 'or', 'not' or 'if', which need its value now"
        )

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{user_source()}: expected a sequence, got the expression {self}")

    def __add__(self, other: ExprLike) -> Expr:
        return binary("add", self, other)

    def __radd__(self, other: ExprLike) -> Expr:
        return binary("add", other, self)

    def __sub__(self, other: ExprLike) -> Expr:
        return binary("sub", self, other)

    def __rsub__(self, other: ExprLike) -> Expr:
        return binary("sub", other, self)

    def __mul__(self, other: ExprLike) -> Expr:
        return binary("mul", self, other)

    def __rmul__(self, other: ExprLike) -> Expr:
        return binary("mul", other, self)

    def __truediv__(self, other: ExprLike) -> Expr:
        return binary("div", self, other)

    def __rtruediv__(self, other: ExprLike) -> Expr:
        return binary("div", other, self)

    def __floordiv__(self, other: ExprLike) -> Expr:
        return binary("floordiv", self, other)

    def __rfloordiv__(self, other: ExprLike) -> Expr:
        return binary("floordiv", other, self)

    def __mod__(self, other: ExprLike) -> Expr:
        return binary("floormod", self, other)

    def __rmod__(self, other: ExprLike) -> Expr:
        return binary("floormod", other, self)

    def __and__(self, other: ExprLike) -> Expr:
        return binary("and", self, other)

    def __rand__(self, other: ExprLike) -> Expr:
        return binary("and", other, self)

    def __or__(self, other: ExprLike) -> Expr:
        return binary("or", self, other)

    def __ror__(self, other: ExprLike) -> Expr:
        return binary("or", other, self)

    def __xor__(self, other: ExprLike) -> Expr:
        return binary("xor", self, other)

    def __rxor__(self, other: ExprLike) -> Expr:
        return binary("xor", other, self)

    def __lshift__(self, other: ExprLike) -> Expr:
        return binary("shl", self, other)

    def __rlshift__(self, other: ExprLike) -> Expr:
        return binary("shl", other, self)

    def __rshift__(self, other: ExprLike) -> Expr:
        return binary("shr", self, other)

    def __rrshift__(self, other: ExprLike) -> Expr:
        return binary("shr", other, self)

    def __neg__(self) -> Expr:
        source = user_source()
        need_arithmetic("-", self, source)
        if self.element_type.is_float:
            return Call("neg", (self,), self.element_type, source)
        return binary("sub", 0, self)

    def __pos__(self) -> Expr:
        return self

    def __invert__(self) -> Expr:
        if self.element_type.kind == "bool":
            return binary("xor", self, True)
        return binary("xor", self, -1 if self.element_type.kind == "int" else (1 << self.element_type.bits) - 1)

    def __lt__(self, other: ExprLike) -> Expr:
        return binary("lt", self, other)

    def __le__(self, other: ExprLike) -> Expr:
        return binary("le", self, other)

    def __gt__(self, other: ExprLike) -> Expr:
        return binary("gt", self, other)

    def __ge__(self, other: ExprLike) -> Expr:
        return binary("ge", self, other)

    def __eq__(self, other: object) -> Expr:  # type: ignore[override]
        if other is None:
            return False  # type: ignore[return-value]
        return binary("eq", self, other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]
        if other is None:
            return True  # type: ignore[return-value]
        return binary("ne", self, other)  # type: ignore[arg-type]

    def same_as(self, other: object) -> bool:
        """Whether `other` is this expression, not one that computes the same."""
        return self is other

    def equal(self, other: ExprLike) -> Expr:
        """``self == other`` as an expression."""
        return binary("eq", self, other)

    def __str__(self) -> str:
        return run(_text(self))

    def __repr__(self) -> str:
        return str(self)

    def written(self, operands: Sequence[str]) -> str:
        """It as text, over its operands as texts."""
        return "?"


def _text(expr: Expr) -> Steps[str]:
    operands = []
    for operand in expr.operands():
        operands.append((yield _text(operand)))
    return expr.written(operands)


class Const(Expr):
    """A number."""

    __slots__ = ("value",)

    value: int | float | bool

    def __init__(self, value: int | float | bool, dtype: DType, source: Source, is_index: bool = False) -> None:
        super().__init__(dtype, source, is_index)
        self.value = value

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def written(self, operands: Sequence[str]) -> str:
        return str(self.value)


class Var(Expr):
    """A symbolic extent or a number that a call gives, the same wherever it stands (`te.var`, `te.size_var`), or an
    element in a combiner.

    An integer is a multiple of `divisible_by`, at least `minimum`, and at most `maximum`, where these are no None. What
    `is_symbol` is of the whole program, what `is_size` at least 0. `default` is what a number is in calls that leave it
    out, None of one that none may.
    """

    __slots__ = ("default", "divisible_by", "is_size", "is_symbol", "maximum", "minimum", "name")

    name: str
    is_symbol: bool
    is_size: bool
    divisible_by: int
    minimum: int

    def __init__(self, name: str, dtype: DType, source: Source, is_index: bool = True, is_symbol: bool = False) -> None:
        super().__init__(dtype, source, is_index)
        self.name, self.is_symbol, self.is_size = name, is_symbol or is_index, False
        self.divisible_by, self.minimum = 1, 0
        self.maximum: int | None = None
        self.default: int | float | bool | None = None

    @property
    def name_hint(self) -> str:
        """TVM's older word for `name`."""
        return self.name

    def written(self, operands: Sequence[str]) -> str:
        return self.name


class IterVar(Expr):
    """An axis: of a compute, of a reduction, of a schedule, or a thread index (`te.thread_axis`).

    ``dom`` is its first value and its extent; ``None`` where the schedule decides it.
    """

    __slots__ = ("dom", "kind", "name", "tag")
    # What TVM calls the kinds of axes, in `iter_type` and in `Stage.iter_var_attrs`.
    DataPar: ClassVar[int] = 0
    ThreadIndex: ClassVar[int] = 1
    CommReduce: ClassVar[int] = 2
    Ordered: ClassVar[int] = 3
    Opaque: ClassVar[int] = 4
    Unrolled: ClassVar[int] = 5
    Vectorized: ClassVar[int] = 6
    Parallelized: ClassVar[int] = 7
    Tensorized: ClassVar[int] = 8

    name: str
    kind: str
    tag: str
    dom: Range | None

    def __init__(self, name: str, dom: tuple[int, int | Expr] | None, kind: str, source: Source, tag: str = "") -> None:
        super().__init__(dtype_of("int32"), source, is_index=True)
        self.name, self.kind, self.tag = name, kind, tag
        self.dom = None if dom is None else Range(dom[0], as_extent(dom[1]))

    @property
    def var(self) -> IterVar:
        """The axis itself: it is its own variable."""
        return self

    @property
    def thread_tag(self) -> str:
        """The index of a `te.thread_axis`, such as ``"threadIdx.x"``; "" of other axes."""
        return self.tag

    @property
    def iter_type(self) -> int:
        """TVM's number of the kind of axis, such as ``IterVar.CommReduce``."""
        return {"reduce": self.CommReduce, "thread": self.ThreadIndex}.get(self.kind, self.DataPar)

    def written(self, operands: Sequence[str]) -> str:
        return self.name


class Call(Expr):
    """An operation on operands of one dtype."""

    __slots__ = ("args", "op")

    op: str
    args: tuple[Expr, ...]

    def __init__(self, op: str, args: tuple[Expr, ...], dtype: DType, source: Source, is_index: bool = False) -> None:
        super().__init__(dtype, source, is_index)
        self.op, self.args = op, args

    @property
    def a(self) -> Expr:
        """The first operand, as TVM's binary operations name it."""
        return self.args[0]

    @property
    def b(self) -> Expr:
        """The second operand."""
        return self.args[1]

    def operands(self) -> tuple[Expr, ...]:
        return self.args

    def __bool__(self) -> bool:
        # What dictionaries and `in` ask of equality is identity, as in TVM.
        if self.op in ("eq", "ne"):
            return (self.args[0] is self.args[1]) == (self.op == "eq")
        return super().__bool__()

    def written(self, operands: Sequence[str]) -> str:
        if self.op not in _SYMBOLS:
            return f"{self.op}({', '.join(operands)})"
        symbol, binding = _SYMBOLS[self.op], _binding(self)
        lhs, rhs = (
            f"({text})" if _binding(arg) < binding + side else text
            for side, (arg, text) in enumerate(zip(self.args, operands))
        )
        return f"{lhs} {symbol} {rhs}"


def _binding(expr: Expr) -> int:
    """How tightly the operator of an expression binds; names, numbers and calls most of all."""
    if not isinstance(expr, Call) or expr.op not in _SYMBOLS:
        return 9
    return _BINDING.get(_SYMBOLS[expr.op], 1)


class Cast(Expr):
    """A value in another type."""

    __slots__ = ("value",)

    value: Expr

    def __init__(self, value: Expr, dtype: DType, source: Source) -> None:
        super().__init__(dtype, source)
        self.value = value

    def operands(self) -> tuple[Expr, ...]:
        return (self.value,)

    def written(self, operands: Sequence[str]) -> str:
        return f"{self.dtype}({operands[0]})"


class Select(Expr):
    """One of two values. A lazy one (`te.if_then_else`) computes only the one it takes."""

    __slots__ = ("condition", "false_value", "lazy", "true_value")

    condition: Expr
    true_value: Expr
    false_value: Expr
    lazy: bool

    def __init__(self, condition: Expr, true_value: Expr, false_value: Expr, lazy: bool, source: Source) -> None:
        super().__init__(true_value.element_type, source, true_value.is_index and false_value.is_index)
        self.condition, self.true_value, self.false_value, self.lazy = condition, true_value, false_value, lazy

    def operands(self) -> tuple[Expr, ...]:
        return (self.condition, self.true_value, self.false_value)

    def written(self, operands: Sequence[str]) -> str:
        return f"{'if_then_else' if self.lazy else 'select'}({', '.join(operands)})"


class Read(Expr):
    """One element of a tensor."""

    __slots__ = ("indices", "tensor")
    is_element = True

    tensor: Tensor
    indices: tuple[Expr, ...]

    def __init__(self, tensor: Tensor, indices: tuple[Expr, ...], source: Source) -> None:
        super().__init__(dtype_of(tensor.dtype), source)
        self.tensor, self.indices = tensor, indices

    @property
    def producer(self) -> Tensor:
        """The tensor, as TVM's ``ProducerLoad`` names it."""
        return self.tensor

    def operands(self) -> tuple[Expr, ...]:
        return self.indices

    def written(self, operands: Sequence[str]) -> str:
        return f"{self.tensor.name}[{', '.join(operands)}]"


class Previous(Expr):
    """In a scan: an element of result number `result`, `lag` steps earlier at the same place of the other axes."""

    __slots__ = ("lag", "result")

    result: int
    lag: int

    def __init__(self, result: int, lag: int, dtype: DType, source: Source) -> None:
        super().__init__(dtype, source)
        self.result, self.lag = result, lag

    def written(self, operands: Sequence[str]) -> str:
        return f"previous({self.result}, {self.lag})"


class ReduceItem(Expr):
    """One result of a reduction: the whole body of a compute, or one of its tuple."""

    __slots__ = ("index", "reduction")

    reduction: Reduction
    index: int

    def __init__(self, reduction: Reduction, index: int) -> None:
        super().__init__(reduction.exprs[index].element_type, reduction.source)
        self.reduction, self.index = reduction, index

    @property
    def axis(self) -> Array[IterVar]:
        """The axes that are reduced over."""
        return Array(self.reduction.axis)

    @property
    def value_index(self) -> int:
        """Which result of the reduction it is."""
        return self.index

    def operands(self) -> tuple[Expr, ...]:
        return self.reduction.exprs

    def written(self, operands: Sequence[str]) -> str:
        axes = ", ".join(axis.name for axis in self.reduction.axis)
        return f"{self.reduction.name}({', '.join(operands)}, axis=[{axes}])"


def literal(value: object, like: Expr | None, source: Source) -> Expr:
    """A Python number as an expression of the type of `like`, or of its own natural type; an expression is itself."""
    if isinstance(value, Expr):
        return value
    from .tensor import Tensor, TensorRegion, TensorSlice

    if isinstance(value, TensorRegion):
        position = next(place for place, index in enumerate(value.indices) if isinstance(index, slice))
        raise TypeError(f"{source}: index {position} of {value.tensor.name}: expected one element, got a slice")
    if isinstance(value, (Tensor, TensorSlice)):
        missing = f"one element of it, {value.name}[...] with {value.ndim} indices"
        raise TypeError(f"{source}: expected a scalar, got the tensor {value.name}: read {missing}")
    if type(value).__module__ == "numpy" and (item := getattr(value, "item", None)) is not None:
        value = item()
    if not isinstance(value, (bool, int, float)):
        raise TypeError(f"{source}: expected an expression or a number, got {value!r}")
    kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"
    if like is None:
        return constant(value, dtype_of({"bool": "bool", "int": "int32", "float": "float32"}[kind]), source)
    if kind != "float" and like.is_index:
        return Const(int(value), like.element_type, source, is_index=True)
    if kind == "float" and not like.element_type.is_float or (kind == "int") and like.element_type.kind == "bool":
        raise TypeError(f"{source}: expected operands of one dtype, got {like.dtype} and the {kind} {value!r}")
    return constant(value, like.element_type, source)


def whole(value: Any) -> Any:
    """The number that a constant of an integer type is; anything else itself."""
    return int(value.value) if isinstance(value, Const) and value.element_type.is_integer else value


def constant(value: int | float | bool, dtype: DType, source: Source) -> Const:
    """A number of a given type, which must have it."""
    if dtype.is_integer:
        if isinstance(value, float) and not value.is_integer():
            raise TypeError(f"{source}: expected a value of {dtype}, got {value!r}")
        if not fits(int(value), dtype):
            raise ValueError(f"{source}: expected a value of {dtype}, got {value!r}, which it does not have")
        return Const(int(value), dtype, source)
    if dtype.kind == "bool":
        return Const(bool(value), dtype, source)
    return Const(float(value), dtype, source)


def need_arithmetic(what: str, value: Expr, source: Source) -> None:
    """Storage types are converted before anything is computed with them; bools are no numbers."""
    if value.element_type.storage:
        raise TypeError(
            f"{source}: '{what}': expected a dtype with arithmetic, got {value.dtype}, which only stores: "
            "convert it with .astype"
        )
    if value.element_type.kind == "bool" and what not in ("==", "!=", "&", "|", "^", "min", "max"):
        raise TypeError(f"{source}: '{what}': expected a number, got bool: convert it with .astype")


def unify(what: str, lhs: object, rhs: object, source: Source) -> tuple[Expr, Expr]:
    """Two operands in one type: numbers take the other's, index arithmetic that of int32 or int64 data."""
    if not isinstance(lhs, Expr) and not isinstance(rhs, Expr):
        first = literal(lhs, None, source)
        return first, literal(rhs, first, source)
    if not isinstance(lhs, Expr):
        return literal(lhs, rhs if isinstance(rhs, Expr) else None, source), rhs  # type: ignore[return-value]
    if not isinstance(rhs, Expr):
        return lhs, literal(rhs, lhs, source)
    if lhs.is_index != rhs.is_index:
        index, data = (lhs, rhs) if lhs.is_index else (rhs, lhs)
        if isinstance(data, Const) and data.dtype == "int32":
            data = Const(data.value, data.element_type, data.source, is_index=True)
        elif data.dtype in ("int32", "int64"):
            index = Cast(index, data.element_type, source)
        return_pair = (index, data) if lhs.is_index else (data, index)
        lhs, rhs = return_pair
    if lhs.element_type is not rhs.element_type:
        raise TypeError(
            f"{source}: '{what}': expected operands of one dtype, got {lhs.dtype} and {rhs.dtype}: "
            "convert one with .astype"
        )
    return lhs, rhs


def binary(op: str, a: ExprLike, b: ExprLike) -> Expr:
    """`a op b` with the checks that every binary operation has."""
    source = user_source()
    what = _SYMBOLS.get(op, op)
    lhs, rhs = unify(what, a, b, source)
    need_arithmetic(what, lhs, source)
    dtype = lhs.element_type
    if op == "div" and not dtype.is_float:
        raise TypeError(
            f"{source}: '/': expected floats, got {dtype}: integers are divided by //, te.floordiv or te.truncdiv"
        )
    if op in _BITWISE and dtype.is_float:
        raise TypeError(f"{source}: '{what}': expected integers or bools, got {dtype}")
    if op in _COMPARISONS:
        return Call(op, (lhs, rhs), dtype_of("bool"), source)
    is_index = lhs.is_index and rhs.is_index
    if is_index and op in _BITWISE:
        lhs, rhs, is_index = Cast(lhs, dtype, source), Cast(rhs, dtype, source), False
    if op in ("floordiv", "floormod", "truncdiv", "truncmod", "div") and isinstance(rhs, Const) and rhs.value == 0:
        if not dtype.is_float:
            raise ValueError(f"{source}: '{what}': expected a divisor other than 0, got 0")
    return Call(op, (lhs, rhs), dtype, source, is_index)
