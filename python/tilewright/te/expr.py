"""Scalar expressions: what the body of a compute is made of.

An expression is a tree that knows its dtype and the user's line. Arithmetic on axes, symbolic extents and numbers alone
is index arithmetic (`is_index`). Where it meets data, it counts as int32.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Union

from ..dtypes import DType, dtype_of
from ..errors import TilewrightTypeError as TypeError
from ..messages.location import Source, user_source
from .equality import asks_for_values
from .extents import Array, Range, as_extent
from .operators import SYMBOLS, Operators
from .symbol_ranges import Ranged
from .walks import Steps, run

if TYPE_CHECKING:
    from .reduction import Reduction
    from .tensor import Tensor

__all__ = ["Call", "Cast", "Const", "Expr", "ExprLike", "IterVar", "Previous", "Read", "ReduceItem", "Select", "Var"]

ExprLike = Union["Expr", int, float, bool]

# How tightly operators bind, for printing.
_BINDING = {"|": 2, "^": 3, "&": 4, "<<": 5, ">>": 5, "+": 6, "-": 6, "*": 7, "/": 7, "//": 7, "%": 7}


class Expr(Operators):
    """A scalar expression. Comparisons and arithmetic make new ones; ``astype`` converts.

    The dtypes of two operands must be the same; a Python number takes the other operand's. Integers are divided by
    ``//``, ``te.floordiv`` or ``te.truncdiv``, never by ``/``.

    >>> from tilewright import te
    >>> x = te.var("x", "float32")
    >>> (x + 1) * 2
    (x + 1.0) * 2.0
    >>> (x > 0).dtype
    'bool'
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
        """This value in another type, `dtype`: towards zero from floats to integers, ``!= 0`` to bool.

        A float that the integer type does not have becomes the type's nearest number, and NaN 0. Integers wrap around.
        Raises TypeError for another word.
        """
        source = user_source()
        to = dtype_of(dtype, source)
        if to is self.element_type and not self.is_index:
            return self
        return Cast(self, to, source)

    def __bool__(self) -> bool:
        raise TypeError(
            f"{user_source()}: expected te.all, te.any, te.if_then_else or te.select on an expression, "
            "got Python's own 'and', 'or', 'not' or 'if', which need its value now"
        )

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{user_source()}: expected a sequence, got the expression {self}")

    def __neg__(self) -> Expr:
        from .arithmetic import negative

        return negative(self)

    def __pos__(self) -> Expr:
        return self

    def __invert__(self) -> Expr:
        if self.element_type.kind == "bool":
            return self ^ True
        return self ^ (-1 if self.element_type.kind == "int" else (1 << self.element_type.bits) - 1)

    def same_as(self, other: object) -> bool:
        """Whether `other` is this expression, not one that computes the same."""
        return self is other

    def equal(self, other: ExprLike) -> Expr:
        """``self == other`` as an expression."""
        return self == other

    def __str__(self) -> str:
        return run(_text(self))

    def __repr__(self) -> str:
        return str(self)

    def written(self, operands: Sequence[str]) -> str:
        """It as text, over its `operands` as texts."""
        return "?"


def _text(expr: Expr) -> Steps[str]:
    operands: list[str] = []
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


class Var(Ranged, Expr):
    """A symbolic extent or a number that a call gives, the same wherever it stands (`te.var`, `te.size_var`), or an
    element in a combiner.

    An integer is a multiple of `divisible_by`, at least `minimum`, and at most `maximum`, where these are no None. What
    `is_symbol` is of the whole program, what `is_size` at least 0. `default` is what a number is in calls that leave it
    out, None of one that none may.

    >>> from tilewright import te
    >>> n = te.var("n", divisible_by=8, max=4096)
    >>> n.divisible_by, n.maximum
    (8, 4096)
    """

    __slots__ = ("_maximum", "_minimum", "default", "divisible_by", "is_size", "is_symbol", "name")

    name: str
    is_symbol: bool
    is_size: bool
    divisible_by: int

    def __init__(self, name: str, dtype: DType, source: Source, is_index: bool = True, is_symbol: bool = False) -> None:
        super().__init__(dtype, source, is_index)
        self.name, self.is_symbol, self.is_size = name, is_symbol or is_index, False
        self.divisible_by, self.minimum, self.maximum = 1, 0, None
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

    >>> from tilewright import te
    >>> k = te.reduce_axis((0, 32), name="k")
    >>> k, k.dom.extent
    (k, 32)
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
        if self.op in ("eq", "ne") and not asks_for_values(*self.args):
            return (self.args[0] is self.args[1]) == (self.op == "eq")
        return super().__bool__()

    def written(self, operands: Sequence[str]) -> str:
        if self.op not in SYMBOLS:
            return f"{self.op}({', '.join(operands)})"
        symbol, binding = SYMBOLS[self.op], _binding(self)
        lhs, rhs = (
            f"({text})" if _binding(arg) < binding + side else text
            for side, (arg, text) in enumerate(zip(self.args, operands))
        )
        return f"{lhs} {symbol} {rhs}"


def _binding(expr: Expr) -> int:
    """How tightly the operator of an expression binds; names, numbers and calls most of all."""
    if not isinstance(expr, Call) or expr.op not in SYMBOLS:
        return 9
    return _BINDING.get(SYMBOLS[expr.op], 1)


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
