"""Tensors and the operations that define them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from ..dtypes import MOST, DType, dtype_of
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..messages.location import Source, user_source
from .alignment import ALIGNMENT, checked_alignment
from .expr import Call, Expr, ExprLike, IterVar, Read, ReduceItem, Select, Var, literal, whole
from .extents import Array, IntExtent
from .names import checked_name
from .reduction import Reduction
from .strides import Stride, Strides, check_strides
from .tag import current_tag

if TYPE_CHECKING:
    from .intrinsic_call import TensorIntrinCall

__all__ = [
    "CacheOp", "ComputeOp", "Operation", "PlaceholderOp", "Tensor", "TensorRegion", "TensorSlice", "compute",
    "placeholder",
]  # fmt: skip

Extent = int | Expr


class Operation:
    """What defines tensors: an input of the program, a compute, or a copy that a schedule made."""

    __slots__ = ("_axis", "element_types", "_reduce_axis", "results", "attrs", "name", "shape", "source", "tag")

    name: str
    shape: Array[Extent]
    source: Source
    element_types: tuple[DType, ...]
    results: tuple[Tensor, ...]
    tag: str
    attrs: dict[str, Any]

    def __init__(self, name: str, shape: tuple[Extent, ...], dtypes: Sequence[DType], source: Source) -> None:
        self.name, self.shape, self.source = name, Array(shape), source
        self._axis: Array[IterVar] = Array()
        self._reduce_axis: Array[IterVar] = Array()
        self.tag, self.attrs = "", dict[str, Any]()
        self.element_types = tuple(dtypes)
        self.results = tuple(Tensor(self, i) for i in range(len(self.element_types)))

    @property
    def axis(self) -> Array[IterVar]:
        """The axes of the elements, one a dimension."""
        return self._axis

    @axis.setter
    def axis(self, axes: Sequence[IterVar]) -> None:
        self._axis = Array(axes)

    @property
    def reduce_axis(self) -> Array[IterVar]:
        """The axes that are reduced over."""
        return self._reduce_axis

    @reduce_axis.setter
    def reduce_axis(self, axes: Sequence[IterVar]) -> None:
        self._reduce_axis = Array(axes)

    @property
    def num_outputs(self) -> int:
        return len(self.results)

    @property
    def outputs(self) -> Array[Tensor]:
        """The tensors that this operation defines."""
        return Array(self.results)

    @property
    def dtype(self) -> str:
        """The type of the elements of its first tensor."""
        return self.element_types[0].name

    def output(self, index: int) -> Tensor:
        """The tensor that this operation defines, by its position."""
        return self.results[index]

    def shape_of(self, index: int) -> tuple[Extent, ...]:
        """The extents of the tensor at a position."""
        return self.shape

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        """The tensors that are read, each once, in the order of their first read."""
        return ()

    @property
    def together(self) -> tuple[Operation, ...]:
        """The operations that are computed together with it, itself too: the updates of one scan."""
        return (self,)

    @property
    def exprs(self) -> Sequence[Expr]:
        """The expressions, other than those of the elements, that it is made of."""
        return ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


class PlaceholderOp(Operation):
    """An input of the program.

    `given` says whether a call passes it; None means that every call does. `align` divides the address of its memory,
    in bytes. `strides` are None for a row-major tensor. `scan` is the scan whose state it is, or None for an input.
    """

    __slots__ = ("align", "given", "scan", "strides")

    align: int
    given: Var | None

    def __init__(
        self,
        name: str,
        shape: tuple[Extent, ...],
        dtypes: Sequence[DType],
        source: Source,
        optional: bool = False,
        align: int = ALIGNMENT,
    ) -> None:
        super().__init__(name, shape, dtypes, source)
        self.align = align
        is_bool = dtype_of("bool")
        self.given = Var(f"{name}_is_given", is_bool, source, is_index=False, is_symbol=True) if optional else None
        self.strides: Strides | None = None
        self.scan: Operation | None = None


class ComputeOp(Operation):
    """A compute: its axes and the value of one element."""

    __slots__ = ("_inputs", "body")

    body: tuple[Expr, ...]

    def __init__(
        self, name: str, axis: tuple[IterVar, ...], shape: tuple[Extent, ...], body: tuple[Expr, ...], source: Source
    ) -> None:
        super().__init__(name, shape, [expr.element_type for expr in body], source)
        self.axis, self.body = axis, body
        if self.reduction is not None:
            self.reduce_axis = self.reduction.axis
        self._inputs = _check_body(self)

    @property
    def reduction(self) -> Reduction | None:
        """The reduction that the whole body is, where it is one."""
        first = self.body[0]
        return first.reduction if isinstance(first, ReduceItem) else None

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        return self._inputs


class CacheOp(Operation):
    """A stage that `cache_read`, `cache_write` or `rfactor` made, or what one of these left of another.

    `body` has the value of one element, or several, as the body of a compute has; for people to read.
    """

    __slots__ = ("body",)

    def __init__(self, name: str, shape: tuple[Extent, ...], dtypes: Sequence[DType], source: Source) -> None:
        super().__init__(name, shape, dtypes, source)
        self.body: tuple[Expr, ...] = ()


def _no_operator(tensor: Tensor | TensorSlice, *_: object) -> Any:
    """Operators take elements: on a whole tensor they are an error that says so."""
    literal(tensor, None, user_source())


class _Elementless:
    """What has no arithmetic of its own, as it is no scalar."""

    __slots__ = ()
    if not TYPE_CHECKING:  # to which a tensor has no operators
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _no_operator
        __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = __lt__ = __le__ = __gt__ = __ge__ = _no_operator


class Tensor(_Elementless):
    """A tensor: ``A[i, k]`` reads one element, and ``A.op`` is what defines it."""

    __slots__ = ("op", "value_index")

    op: Operation
    value_index: int

    def __init__(self, op: Operation, value_index: int) -> None:
        self.op, self.value_index = op, value_index

    @property
    def name(self) -> str:
        return self.op.name if self.op.num_outputs == 1 else f"{self.op.name}.v{self.value_index}"

    @property
    def shape(self) -> tuple[Extent, ...]:
        return self.op.shape_of(self.value_index)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def axis(self) -> Array[IterVar]:
        """The axes of its operation."""
        return self.op.axis

    @property
    def dtype(self) -> str:
        return self.op.element_types[self.value_index].name

    def same_as(self, other: object) -> bool:
        """Whether `other` is this tensor."""
        return self is other

    def __getitem__(self, indices: object) -> Expr:
        given = indices if isinstance(indices, tuple) else (indices,)
        return TensorSlice(self, ())[given]

    def __call__(self, *indices: ExprLike) -> Expr:
        """``A(i, k)`` is ``A[i, k]``: handy with a lambda's ``*axes``."""
        source = user_source()
        if len(indices) != self.ndim:
            raise ValueError(f"{source}: tensor {self.name}: expected {self.ndim} indices, got {len(indices)}")
        return self[indices]

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{user_source()}: expected a sequence, got the tensor {self.name}")

    def __len__(self) -> int:
        raise TypeError(f"{user_source()}: expected a sequence, got the tensor {self.name}: its extents are .shape")

    def __repr__(self) -> str:
        return f"Tensor(name={self.name}, shape={self.shape}, dtype={self.dtype})"


class TensorSlice(_Elementless):
    """A tensor with some of its indices given: ``A[i][k]`` is ``A[i, k]``."""

    __slots__ = ("indices", "tensor")

    tensor: Tensor
    indices: tuple[Expr | slice, ...]

    def __init__(self, tensor: Tensor, indices: tuple[Expr | slice, ...]) -> None:
        self.tensor, self.indices = tensor, indices

    @property
    def name(self) -> str:
        return self.tensor.name

    @property
    def dtype(self) -> str:
        return self.tensor.dtype

    @property
    def ndim(self) -> int:
        return self.tensor.ndim

    def __getitem__(self, indices: object) -> Any:
        source = user_source()
        given = indices if isinstance(indices, tuple) else (indices,)
        exprs = self.indices + tuple(
            index if isinstance(index, slice) else literal(index, None, source) for index in given
        )
        for position, expr in enumerate(exprs):
            if not isinstance(expr, slice) and not expr.element_type.is_integer:
                raise TypeError(f"{source}: index {position} of {self.name}: expected an integer, got {expr.dtype}")
        if len(exprs) > self.ndim:
            raise ValueError(f"{source}: tensor {self.name}: expected {self.ndim} indices, got {len(exprs)}")
        if len(exprs) < self.ndim:
            return TensorSlice(self.tensor, exprs)
        whole = tuple(expr for expr in exprs if not isinstance(expr, slice))
        if len(whole) < len(exprs):
            return TensorRegion(self.tensor, exprs, source)
        return Read(self.tensor, whole, source)


class TensorRegion(_Elementless):
    """A part of a tensor, ``A[i, 0:16]``: what an intrinsic takes that is called in a compute."""

    __slots__ = ("indices", "source", "tensor")

    tensor: Tensor
    indices: tuple[Expr | slice, ...]
    source: Source

    def __init__(self, tensor: Tensor, indices: tuple[Expr | slice, ...], source: Source) -> None:
        self.tensor, self.indices, self.source = tensor, indices, source


def checked_extents(shape: object, what: str, source: Source) -> tuple[Extent, ...]:
    """A shape as numbers and index expressions."""
    if isinstance(shape, (int, Expr)) or hasattr(shape, "__index__"):
        shape = (shape,)
    if not isinstance(shape, Sequence):
        raise TypeError(f"{source}: {what}: expected a shape, got {shape!r}")
    extents: list[Extent] = []
    for position, extent in enumerate(shape):
        extent = whole(extent)
        if isinstance(extent, Expr):
            if not extent.is_index:
                raise TypeError(f"{source}: {what}: dimension {position}: expected an extent, got {extent}")
            extents.append(extent)
            continue
        if isinstance(extent, bool) or not isinstance(extent, SupportsIndex):
            raise TypeError(f"{source}: {what}: dimension {position}: expected an integer or te.var, got {extent!r}")
        if extent.__index__() < 0:
            raise ValueError(f"{source}: {what}: dimension {position}: expected at least 0, got {extent.__index__()}")
        extents.append(IntExtent(extent.__index__()))
    return Array(extents)


def _check_size(numbers: Sequence[Extent], kind: DType | None, what: str, source: Source) -> None:
    """What the compiler counts, elements, their bytes and iterations, it counts in 63 bits."""
    known = [number for number in numbers if isinstance(number, int)]
    size = math.prod(known) * (1 if kind is None else max(kind.bits // 8, 1))
    if size > MOST:
        counted = "iterations" if kind is None else f"bytes, elements of {kind}"
        shape = " x ".join(map(str, numbers))
        raise ValueError(f"{source}: {what}: expected at most 2^63 - 1 {counted}, got {shape}")


def _truncated(shape: object) -> object:
    """As TVM does it for Python 3, in whose quotients of integers are floats: those of a computed shape are cut."""

    def cut(extent: object) -> object:
        return int(extent) if isinstance(extent, float) and math.isfinite(extent) else extent

    return tuple(map(cut, shape)) if isinstance(shape, (tuple, list)) else cut(shape)


def placeholder(
    shape: object,
    dtype: object = "float32",
    name: str = "placeholder",
    *,
    optional: bool = False,
    strides: Sequence[Stride] | None = None,
    align: int = ALIGNMENT,
) -> Tensor:
    """An input of the program.

    Parameters
    ----------
    shape
        Its extents: integers, `te.var`s, or one of them.
    dtype
        NumPy's name of the type of its elements.
    name
        How it is called in the IR and in errors.
    optional
        Whether a call may give None in its place. The program asks by `te.if_given`, at each call.
    strides
        For each dimension the distance from one element to the next, in elements, of an array that is not row-major: a
        number, a `te.var`, which is one number wherever it stands, or None for whatever a call has. An output gets its
        own by `te.strided`.
    align
        Bytes, a power of two, an element's at the least: what divides the address of the memory that calls give. Below
        16 any slice of an array's rows is taken, and the kernels load and store less at once; `te.aligned` says it of
        results.

    >>> placeholder((4, 8), strides=(16, 1), name="A")
    Tensor(name=A, shape=(4, 8), dtype=float32)
    >>> placeholder((4, 8), name="A")
    Tensor(name=A, shape=(4, 8), dtype=float32)
    """
    source = user_source()
    name = checked_name(name, "te.placeholder", source)
    extents = checked_extents(shape, f"placeholder {name}", source)
    kind = dtype_of(dtype, source)
    _check_size(extents, kind, f"placeholder {name}", source)
    align = checked_alignment(align, kind, f"placeholder {name}", source)
    made = PlaceholderOp(name, extents, [kind], source, optional, align)
    if strides is not None:
        made.strides = check_strides(strides, extents, f"placeholder {name}", source)
    return made.output(0)


def _axis_names(
    fcompute: Callable[..., Any], rank: int, varargs_names: Sequence[str] | None, what: str, source: Source
) -> tuple[list[str], Exception | None]:
    """The names of the axes: those of the function's parameters, and `i0`, `i1`, … for its `*axes`.

    Beside them the error for too few: that is one unless the function calls an intrinsic, which has the others.
    """
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(fcompute).parameters.values()
    names = [p.name for p in parameters if p.kind in positional and p.default is inspect.Parameter.empty]
    if not any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
        error = None
        if len(names) != rank:
            error = ValueError(
                f"{source}: {what}: expected a function of {rank} axes, one a dimension, got {len(names)} parameters"
            )
        if error is not None and (not names or len(names) > rank):
            raise error
        return names, error
    rest = rank - len(names)
    if rest < 0:
        raise ValueError(f"{source}: {what}: expected a function of at most {rank} axes, got {len(names)} parameters")
    if varargs_names is None:
        return names + [f"i{i}" for i in range(len(names), rank)], None
    if len(varargs_names) != rest:
        raise ValueError(f"{source}: {what}: expected {rest} varargs_names, got {len(varargs_names)}")
    return names + [checked_name(name, what, source) for name in varargs_names], None


@overload
def compute(
    shape: object,
    fcompute: Callable[..., ExprLike | TensorIntrinCall],
    name: str = ...,
    tag: str = ...,
    attrs: Mapping[str, Any] | None = ...,
    varargs_names: Sequence[str] | None = ...,
) -> Tensor: ...
@overload
def compute(
    shape: object,
    fcompute: Callable[..., tuple[ExprLike, ...] | list[ExprLike]],
    name: str = ...,
    tag: str = ...,
    attrs: Mapping[str, Any] | None = ...,
    varargs_names: Sequence[str] | None = ...,
) -> tuple[Tensor, ...]: ...
def compute(
    shape: object,
    fcompute: Callable[..., Any],
    name: str = "compute",
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
    varargs_names: Sequence[str] | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """A tensor, element by element; several of one shape where `fcompute` returns a tuple.

    Parameters
    ----------
    shape
        The extents of the result, one an axis. Floats are cut to integers, so that ``n / 2`` is an extent.
    fcompute
        From the axes to the value of the element there: an expression, a reduction (`te.sum`…), or a tuple of either.
        Its parameters name the axes.
    name
        The name of the stage that a schedule knows it by.
    tag, attrs
        Notes for the user's own use, kept on the operation; `te.tag_scope` gives a tag to many.
    varargs_names
        Names for the axes that go into `*axes`.

    Returns
    -------
    Tensor or tuple of Tensor

    >>> A = placeholder((4, 8), name="A")
    >>> compute((8, 4), lambda i, j: A[j, i] * 2, name="B")
    Tensor(name=B, shape=(8, 4), dtype=float32)
    """
    source = user_source()
    name = checked_name(name, "te.compute", source)
    what = f"compute {name}"
    tag = current_tag(tag, what, source)
    extents = checked_extents(_truncated(shape), what, source)
    if not callable(fcompute):
        raise TypeError(f"{source}: {what}: expected a function of the axes, got {fcompute!r}")
    names, missing = _axis_names(fcompute, len(extents), varargs_names, what, source)
    axis = tuple(IterVar(axis_name, (0, extent), "spatial", source) for axis_name, extent in zip(names, extents))
    result = fcompute(*axis)
    if (called := getattr(result, "op", None)) is not None and hasattr(result, "intrin"):
        op = called(name, axis, extents, source)
        op.tag, op.attrs = tag, dict(attrs or {})
        return tuple(op.results) if op.num_outputs > 1 else op.output(0)
    if missing is not None:
        raise missing
    several = isinstance(result, (tuple, list))
    values = tuple(result) if several else (result,)
    if not values:
        raise ValueError(f"{source}: {what}: expected at least one value, got an empty tuple")
    for value in values:
        if value is None:
            raise TypeError(f"{source}: {what}: expected the function to return an expression, got None")
    op = ComputeOp(name, axis, extents, tuple(literal(value, None, source) for value in values), source)
    op.tag, op.attrs = tag, dict(attrs or {})
    return tuple(op.results) if several else op.output(0)


def _check_body(op: ComputeOp) -> tuple[Tensor, ...]:
    """The tensors that a body reads. Its reductions stand at the top and its axes are the compute's own."""
    what = f"compute {op.name}"
    for kind in op.element_types:
        _check_size(op.shape, kind, what, op.source)
    _check_size([axis.dom[1] for axis in op.axis + op.reduce_axis if axis.dom is not None], None, what, op.source)
    _check_reduce_extents(op, what)
    reduction = op.reduction
    if reduction is not None or any(isinstance(expr, ReduceItem) for expr in op.body):
        items = [(expr.reduction, expr.index) if isinstance(expr, ReduceItem) else None for expr in op.body]
        if reduction is None or items != [(reduction, i) for i in range(len(reduction.exprs))]:
            raise ValueError(
                f"{op.source}: {what}: expected the results of one reduction in their order, "
                f"got {', '.join(map(str, op.body))}"
            )
    own = {id(axis) for axis in op.axis + op.reduce_axis}
    inputs: dict[int, Tensor] = {}
    seen: set[int] = set()
    todo = list(reversed(reduction.exprs if reduction is not None else op.body))
    while todo:
        expr = todo.pop()
        if id(expr) in seen:
            continue
        seen.add(id(expr))
        if isinstance(expr, ReduceItem):
            raise ValueError(
                f"{expr.source}: {what}: expected a reduction as the whole value of a compute, got one inside an "
                "expression: give it a compute of its own"
            )
        if isinstance(expr, IterVar) and id(expr) not in own:
            hint = "name it in the reduction's axis=" if expr.kind == "reduce" else "it belongs to another compute"
            mine = ", ".join(axis.name for axis in op.axis + op.reduce_axis) or "none"
            raise ValueError(f"{op.source}: {what}: expected its own axes ({mine}), got '{expr.name}': {hint}")
        if isinstance(expr, Read):
            inputs.setdefault(id(expr.tensor), expr.tensor)
        todo.extend(reversed(expr.operands()))
    if any(is_optional(tensor) for tensor in inputs.values()):
        _check_optional_reads(what, reduction.exprs if reduction is not None else op.body)
    return tuple(inputs.values())


def _check_reduce_extents(op: ComputeOp, what: str) -> None:
    """How far a reduction goes is the same for all elements: it depends on no axis."""
    for axis in op.reduce_axis:
        end = None if axis.dom is None else axis.dom[1]
        todo: list[Expr] = [end] if isinstance(end, Expr) else []
        while todo:
            part = todo.pop()
            if isinstance(part, IterVar):
                raise ValueError(
                    f"{axis.source}: {what}: expected reduce_axis {axis.name} to end at a number, a te.var or an "
                    f"expression of these, got one of the axis '{part.name}': end at the largest, and give the "
                    "reduction where="
                )
            todo += part.operands()


def is_optional(tensor: Tensor) -> bool:
    """Whether a call may be without the tensor."""
    return isinstance(tensor.op, PlaceholderOp) and tensor.op.given is not None


def _check_optional_reads(what: str, exprs: Sequence[Expr]) -> None:
    """What a call may be without is read only where it is known to be there."""
    nothing: frozenset[int] = frozenset()
    todo = [(expr, nothing) for expr in exprs]
    seen: set[tuple[int, frozenset[int]]] = set()
    while todo:
        expr, given = todo.pop()
        if (id(expr), given) in seen:
            continue
        seen.add((id(expr), given))
        if isinstance(expr, Read) and isinstance(expr.tensor.op, PlaceholderOp):
            flag = expr.tensor.op.given
            if flag is not None and id(flag) not in given:
                raise ValueError(
                    f"{expr.source}: {what}: expected {expr}, of an optional tensor, as the first of te.if_given's "
                    "values, got it where the tensor may not be there"
                )
        if isinstance(expr, Select) and expr.lazy:
            todo += [(expr.condition, given), (expr.true_value, given | _implied(expr.condition))]
            todo.append((expr.false_value, given))
        else:
            todo += [(operand, given) for operand in expr.operands()]


def _implied(condition: Expr) -> frozenset[int]:
    """The conditions that hold where this one does."""
    todo, found = [condition], set[int]()
    while todo:
        one = todo.pop()
        if isinstance(one, Call) and one.op == "and":
            todo += one.args
        else:
            found.add(id(one))
    return frozenset(found)
