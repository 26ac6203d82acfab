"""Constants, symbols and thread axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..dtypes import dtype_of
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import integer_of, is_listed
from ..messages.location import Source, user_source
from .arithmetic import constant, literal, whole
from .expr import Const, Expr, IterVar, Var
from .names import checked_name
from .reduction import bound

if TYPE_CHECKING:
    pass


__all__ = ["THREAD_TAGS", "const", "max_value", "min_value", "size_var", "thread_axis", "var"]


THREAD_TAGS = (
    "blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y", "threadIdx.z",
    "vthread", "vthread.x", "vthread.y", "vthread.z",
)  # fmt: skip


def const(value: int | float | bool, dtype: object = None) -> Const:
    """The constant `value`; without a `dtype` an int32, float32 or bool.

    Raises TypeError where `value` is no number, ValueError where the dtype does not have it.

    >>> const(1, "float16").dtype
    'float16'
    >>> const(2**63, "uint64").dtype
    'uint64'
    """
    source = user_source()
    if dtype is None:
        return literal(value, None, source)  # type: ignore[return-value]
    if isinstance(value, int):  # of more bits, maybe, than an int32, which it is by itself
        return constant(value, dtype_of(dtype, source), source)
    number = literal(value, None, source)
    if not isinstance(number, Const):
        raise TypeError(f"{source}: te.const: expected a number, got {value}")
    return constant(number.value, dtype_of(dtype, source), source)


def var(
    name: str = "tindex", dtype: object = "int32", *, divisible_by: int = 1, min: int | None = None,
    max: int | None = None, default: int | float | bool | None = None
) -> Var:  # fmt: skip
    """A symbolic extent, or a number that a call gives.

    An extent is taken from the shapes of the arguments at each call, and the program works for every value. A number is
    an argument of `tw.build` itself, which TVM's scripts also use for extents. The function of ``tw.build(s, [n, alpha,
    A, B])`` is called with Python or NumPy numbers at these places. Numbers may have any arithmetic type. Extents, and
    variables in extents, are int32 or int64.

    Parameters
    ----------
    dtype
        The type of the number, by its name.
    divisible_by
        A number that divides every value: a split by a factor of it needs no predicate, so that its loops can be
        vectorised.
    min
        The least value. It saves tests, such as whether a first tile is whole, or whether a grid has blocks. By default
        an extent is at least 0.
    max
        The greatest value, where there is one.
    default
        What a number is in calls that leave it out: those at the end of the arguments may be, and any by its name.

    `divisible_by`, `min` and `max` are of int32 and int64 alone. For other types they are a TypeError. A call with a
    number or an extent that is otherwise raises ValueError before anything runs.

    >>> n = var("n", divisible_by=64, min=64, max=4096)
    >>> n.divisible_by, n.minimum, n.maximum
    (64, 64, 4096)
    >>> alpha = var("alpha", "float32", default=1.0)
    """
    source = user_source()
    name = checked_name(name, "te.var", source)
    kind = dtype_of(dtype, source)
    if kind.storage:
        raise TypeError(f"{source}: te.var {name}: expected a dtype with arithmetic, got {kind}")
    if kind.name not in ("int32", "int64"):
        if divisible_by != 1 or min is not None or max is not None:
            raise TypeError(
                f"{source}: te.var {name}: expected divisible_by, min and max of int32 or int64, got them of {kind}"
            )
        number = Var(name, kind, source, is_index=False, is_symbol=True)
        if default is not None:
            number.default = _checked_default(number, default, source)
        return number
    made = Var(name, kind, source)
    made.divisible_by = _at_least(1, divisible_by, f"te.var {name}: divisible_by", source)
    made.minimum = 0 if min is None else _at_least(0, min, f"te.var {name}: min", source)
    if max is not None:
        made.maximum = _at_least(made.minimum, max, f"te.var {name}: max", source)
    if default is not None:
        made.default = _checked_default(made, default, source, is_bounded=min is not None)
    return made


def _checked_default(number: Var, default: object, source: Source, is_bounded: bool = False) -> int | float | bool:
    from .arguments import checked_default

    value = checked_default(number.name, number.element_type, default, source)
    what = None
    if number.is_index and value % number.divisible_by:
        what = f"divisible by {number.divisible_by}"
    elif is_bounded and value < number.minimum:
        what = f"at least {number.minimum}"
    elif number.maximum is not None and value > number.maximum:
        what = f"at most {number.maximum}"
    if what is not None:
        raise ValueError(f"{source}: te.var {number.name}: default: expected a number {what}, got {value}")
    return value


def _at_least(least: int, number: object, what: str, source: Source) -> int:
    whole_number = integer_of(number)
    if whole_number is None:
        raise TypeError(f"{source}: {what}: expected an integer, got {number!r}")
    if whole_number < least:
        raise ValueError(f"{source}: {what}: expected at least {least}, got {whole_number}")
    return whole_number


def size_var(
    name: str = "size", dtype: object = "int32", *, divisible_by: int = 1, min: int = 0, max: int | None = None,
    default: int | None = None
) -> Var:  # fmt: skip
    """A symbolic extent, or a number that a call gives, which is at least 0.

    The parameters `dtype`, `divisible_by`, `min`, `max` and `default` are those of `var`. Raises what `var` raises:
    TypeError and ValueError.

    >>> from tilewright import te
    >>> n = te.size_var("n")
    >>> te.placeholder((n, 4), name="A").shape
    (n, 4)
    """
    made = var(name, dtype, divisible_by=divisible_by, min=min, max=max, default=default)
    made.is_size = True
    return made


def thread_axis(dom: object = None, tag: object = "", name: str = "") -> IterVar:
    """A block or thread index, to bind an axis to: `tag` is one of CUDA's, `dom` its extent or range, if given.

    ``te.thread_axis("threadIdx.x")``, or with its extent, ``te.thread_axis((0, 64), "threadIdx.x")`` or
    ``te.thread_axis(64, "threadIdx.x")``; TVM's other order of the two works, too. `name` is for messages.

    Raises ValueError for another tag, and for an extent of less than 1 or of 2^31 or more. An extent that is no integer
    is a TypeError.

    >>> thread_axis((0, 64), "threadIdx.x")
    threadIdx.x
    """
    source = user_source()
    if isinstance(dom, str):
        dom, tag = (tag or None), dom
    if tag not in THREAD_TAGS:
        got = repr(tag) if tag or dom is None else f"{dom!r} alone"
        raise ValueError(f"{source}: te.thread_axis: expected one of {', '.join(THREAD_TAGS)}, got {got}")
    said = whole(dom)
    if is_listed(dom):
        dom = tuple(map(whole, dom))
        if len(dom) != 2 or integer_of(dom[0]) != 0:
            raise ValueError(f"{source}: te.thread_axis {tag}: expected the pair (0, extent), got {dom!r}")
        said = dom[1]
    extent = integer_of(said)
    if said is not None:
        if extent is None:
            hint = ": leave it out, for the axis that is bound says it" if isinstance(said, Expr) else ""
            raise TypeError(f"{source}: te.thread_axis {tag}: expected an integer extent, got {said!r}{hint}")
        if extent < 1:
            raise ValueError(f"{source}: te.thread_axis {tag}: expected an extent of at least 1, got {extent}")
        if extent > 2**31 - 1:
            raise ValueError(f"{source}: te.thread_axis {tag}: expected an extent of at most 2147483647, got {extent}")
    name = checked_name(name, f"te.thread_axis {tag}", source)
    return IterVar(name or str(tag), None if extent is None else (0, extent), "thread", source, tag=str(tag))


def min_value(dtype: object) -> Const:
    """The least value of the type `dtype`, minus infinity for floats. Raises TypeError for another word.

    >>> from tilewright import te
    >>> te.min_value("int8")
    -128
    """
    source = user_source()
    return bound(dtype_of(dtype, source), False, source)


def max_value(dtype: object) -> Const:
    """The largest value of the type `dtype`, infinity for floats. Raises TypeError for another word.

    >>> from tilewright import te
    >>> te.max_value("int8")
    127
    """
    source = user_source()
    return bound(dtype_of(dtype, source), True, source)


def convert(value: Any) -> Any:
    """A number as an expression; a list or tuple as a list of such; anything else itself.

    >>> from tilewright import tir
    >>> tir.convert([1, 2.5])
    [1, 2.5]
    """
    if is_listed(value):
        return [convert(one) for one in value]
    return const(value) if isinstance(value, (bool, int, float)) else value
