"""Elements in other places, of any type."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..graph.operators.movement import padded
from ..target import Target
from ..te import const
from .by_rules import axes_of, by_rules, given, operate
from .operator import Operand, Scheduled, operator
from .shapes import expect_dimensions

__all__ = ["concatenate", "embedding", "gather", "pad", "permute"]


@operator
def permute(x: Operand, *, axes: Sequence[int] | None = None, target: Target | None = None) -> Scheduled:
    """`x` with its axes in another order: `axes`, by default the reverse.

    >>> import numpy as np
    >>> permute(np.zeros((2, 3, 4), "int8"), axes=(1, 2, 0)).shape
    (3, 4, 2)
    """
    order = tuple(range(len(x.shape)))[::-1] if axes is None else tuple(axes)
    if axes_of("permute", order, len(x.shape)) != tuple(range(len(x.shape))):
        raise ValueError(f"permute: expected {len(x.shape)} axes, got {order}")
    X = given(x, "X")
    return by_rules([X], operate("transpose", X, permutation=[axis % len(x.shape) for axis in order]), target)


@operator
def concatenate(
    a: Operand, b: Operand, c: Operand | None = None, d: Operand | None = None, *, axis: int = 0,
    target: Target | None = None,
) -> Scheduled:  # fmt: skip
    """Two to four arrays of one type, `a`, `b`, `c` and `d`, one behind the other along `axis`.

    >>> import numpy as np
    >>> concatenate(np.zeros((2, 3)), np.ones((2, 1)), axis=1)
    array([[0., 0., 0., 1.],
           [0., 0., 0., 1.]])
    """
    some = [one for one in (a, b, c, d) if one is not None]
    (along,) = axes_of("concatenate", axis, len(a.shape))
    for one in some:
        fits = len(one.shape) == len(a.shape) and all(
            extent == wanted for place, (extent, wanted) in enumerate(zip(one.shape, a.shape)) if place != along
        )
        if not fits or one.dtype != a.dtype:
            raise ValueError(
                f"concatenate: expected arrays that differ along axis {along} alone, got {a.dtype} {a.shape} and "
                f"{one.dtype} {one.shape}"
            )
    tensors = [given(one, name) for one, name in zip(some, "ABCD")]
    return by_rules(tensors, operate("concat", *tensors, axis=along), target)


@operator
def pad(
    x: Operand, *, before: Sequence[int], after: Sequence[int], value: float = 0, target: Target | None = None
) -> Scheduled:
    """`x` with elements of `value` around it: as many as `before` and `after` say of each dimension.

    >>> import numpy as np
    >>> pad(np.ones(2, "float32"), before=[1], after=[2])
    array([0., 1., 1., 0., 0.], dtype=float32)
    """
    if not len(before) == len(after) == len(x.shape) or min((*before, *after), default=0) < 0:
        raise ValueError(f"pad: expected numbers of at least 0 for {len(x.shape)} dimensions, got {before} and {after}")
    X = given(x, "X")
    return by_rules([X], padded(X, before, after, const(value, x.dtype)), target)


@operator
def gather(x: Operand, indices: Operand, *, axis: int = 0, target: Target | None = None) -> Scheduled:
    """The slices of `x` along `axis` that the integers `indices` name. An index may count from the end; one beyond is
    that of the end.

    >>> import numpy as np
    >>> gather(np.array([5, 6, 7], "float32"), np.array([[2, 0]]))
    array([[7., 5.]], dtype=float32)
    """
    if not indices.dtype.startswith(("int", "uint")):
        raise TypeError(f"gather: expected indices that are integers, got {indices.dtype}")
    (along,) = axes_of("gather", axis, len(x.shape))
    if x.shape[along] == 0:
        raise ValueError(f"gather: expected elements along axis {along}, got shape {x.shape}")
    X, at = given(x, "X"), given(indices, "indices")
    return by_rules([X, at], operate("gather", X, at, axis=along), target)


@operator
def embedding(table: Operand, tokens: Operand, *, target: Target | None = None) -> Scheduled:
    """The rows of the matrix `table` that the integers `tokens` name: `gather` along the first axis.

    >>> import numpy as np
    >>> embedding(np.eye(3, dtype="float16"), np.array([2, 1]))
    array([[0., 0., 1.],
           [0., 1., 0.]], dtype=float16)
    """
    expect_dimensions("embedding", 2, table=table)
    if not tokens.dtype.startswith(("int", "uint")) or table.shape[0] == 0:
        raise TypeError(f"embedding: expected a table with rows and integers, got {table.shape} and {tokens.dtype}")
    T, at = given(table, "table"), given(tokens, "tokens")
    return by_rules([T, at], operate("gather", T, at, axis=0), target)
