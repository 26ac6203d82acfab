"""What programs are made of: `te.placeholder` and `te.compute`."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, overload

from ..dtypes import dtype_of
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import is_listed, parameters_of
from ..messages.location import Source, user_source
from .alignment import ALIGNMENT, checked_alignment
from .arithmetic import literal
from .equality import computing
from .expr import Expr, ExprLike, IterVar
from .names import checked_name
from .shapes import check_size, checked_extents
from .strides import Stride, check_strides
from .tag import current_tag, notes
from .tensor import ComputeOp, PlaceholderOp, Tensor

if TYPE_CHECKING:
    from .intrinsic_call import TensorIntrinCall

__all__ = ["compute", "placeholder"]

_Element = TypeVar("_Element")
_ElementOut = TypeVar("_ElementOut", covariant=True)


# A function of one, two or three elements.
ElementFunction: TypeAlias = Callable[[Expr], Expr] | Callable[[Expr, Expr], Expr] | Callable[[Expr, Expr, Expr], Expr]


class _OfAxes(Protocol[_ElementOut]):
    """A function of any number of axes."""

    def __call__(self, *axes: IterVar) -> _ElementOut: ...


# A function with a parameter for each axis, so that a type checker knows those of a lambda.
_OfEachAxis: TypeAlias = (
    Callable[[], _Element]
    | Callable[[IterVar], _Element]
    | Callable[[IterVar, IterVar], _Element]
    | Callable[[IterVar, IterVar, IterVar], _Element]
    | Callable[[IterVar, IterVar, IterVar, IterVar], _Element]
    | Callable[[IterVar, IterVar, IterVar, IterVar, IterVar], _Element]
    | Callable[[IterVar, IterVar, IterVar, IterVar, IterVar, IterVar], _Element]
    | Callable[[IterVar, IterVar, IterVar, IterVar, IterVar, IterVar, IterVar], _Element]
    | Callable[[IterVar, IterVar, IterVar, IterVar, IterVar, IterVar, IterVar, IterVar], _Element]
)


def _truncated(shape: object) -> object:
    """As TVM does it for Python 3, in whose quotients of integers are floats: those of a computed shape are cut."""

    def cut(extent: object) -> object:
        return int(extent) if isinstance(extent, float) and math.isfinite(extent) else extent

    return tuple(map(cut, shape)) if is_listed(shape) else cut(shape)


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

    Raises
    ------
    TypeError
        Where an extent is neither an integer nor a `te.var`, or `dtype` is no type.
    ValueError
        For a negative extent, a tensor of 2^63 bytes or more, an `align` that is no power of two, or strides that do
        not fit the shape.

    >>> placeholder((4, 8), strides=(16, 1), name="A")
    Tensor(name=A, shape=(4, 8), dtype=float32)
    >>> placeholder((4, 8), name="A")
    Tensor(name=A, shape=(4, 8), dtype=float32)
    """
    source = user_source()
    name = checked_name(name, "te.placeholder", source)
    extents = checked_extents(shape, f"placeholder {name}", source)
    kind = dtype_of(dtype, source)
    check_size(extents, kind, f"placeholder {name}", source)
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
    parameters = parameters_of(fcompute)
    if parameters is None:
        raise TypeError(f"{source}: {what}: expected a function of the axes, got {fcompute!r}")
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
    fcompute: _OfAxes[ExprLike | TensorIntrinCall],
    name: str = ...,
    tag: str = ...,
    attrs: Mapping[str, Any] | None = ...,
    varargs_names: Sequence[str] | None = ...,
) -> Tensor: ...
@overload
def compute(
    shape: object,
    fcompute: _OfEachAxis[ExprLike | TensorIntrinCall],
    name: str = ...,
    tag: str = ...,
    attrs: Mapping[str, Any] | None = ...,
    varargs_names: Sequence[str] | None = ...,
) -> Tensor: ...
@overload
def compute(
    shape: object,
    fcompute: _OfAxes[tuple[ExprLike, ...] | list[ExprLike]],
    name: str = ...,
    tag: str = ...,
    attrs: Mapping[str, Any] | None = ...,
    varargs_names: Sequence[str] | None = ...,
) -> tuple[Tensor, ...]: ...
@overload
def compute(
    shape: object,
    fcompute: _OfEachAxis[tuple[ExprLike, ...] | list[ExprLike]],
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
        Notes for the user's own use, kept on the operation; `te.tag_scope` gives a tag to many. With
        ``attrs={"precision": "tf32"}``, `tilewright.auto_schedule` may have tensor cores multiply a sum of products of
        float32 in tf32.
    varargs_names
        Names for the axes that go into `*axes`.

    Returns
    -------
    Tensor or tuple of Tensor

    Raises
    ------
    TypeError
        Where `fcompute` is no function, or returns what is no expression.
    ValueError
        For an empty tuple, or for values of it that reduce differently.

    >>> A = placeholder((4, 8), name="A")
    >>> compute((8, 4), lambda i, j: A[j, i] * 2, name="B")
    Tensor(name=B, shape=(8, 4), dtype=float32)
    """
    source = user_source()
    name = checked_name(name, "te.compute", source)
    what = f"compute {name}"
    tag = current_tag(tag, what, source)
    extents = checked_extents(_truncated(shape), what, source)
    names, missing = _axis_names(fcompute, len(extents), varargs_names, what, source)
    axis = tuple(IterVar(axis_name, (0, extent), "spatial", source) for axis_name, extent in zip(names, extents))
    with computing():
        result = fcompute(*axis)
    if (called := getattr(result, "op", None)) is not None and hasattr(result, "intrin"):
        op = called(name, axis, extents, source)
        op.tag, op.attrs = tag, notes(attrs, what, source)
        return tuple(op.results) if op.num_outputs > 1 else op.output(0)
    if missing is not None:
        raise missing
    several = is_listed(result)
    values: tuple[Any, ...] = tuple(result) if several else (result,)
    if not values:
        raise ValueError(f"{source}: {what}: expected at least one value, got an empty tuple")
    for value in values:
        if value is None:
            raise TypeError(f"{source}: {what}: expected the function to return an expression, got None")
    op = ComputeOp(name, axis, extents, tuple(literal(value, None, source) for value in values), source)
    op.tag, op.attrs = tag, notes(attrs, what, source)
    return tuple(op.results) if several else op.output(0)
