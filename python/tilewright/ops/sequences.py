"""Operations of language models: rotary embeddings, the largest elements, sums at places that data say."""

from __future__ import annotations

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..graph.operators import OPERATORS
from ..rules import auto_schedule
from ..target import Target
from ..te import Expr, compute, if_then_else, indexmod
from .by_rules import acc_of, axes_of, by_rules, expect_floats, given, operate
from .operator import Operand, Scheduled, operator
from .shapes import expect_shape

__all__ = ["rope", "scatter_add", "top_k"]


@operator
def rope(x: Operand, cos: Operand, sin: Operand, *, target: Target | None = None) -> Scheduled:
    """Rotary embedding: each pair of elements of a row, `i` and `i` + half of the width, turned by an angle.

    `x` is … x positions x width, `cos` and `sin` are positions x half of the width: the cosines and sines of the
    angles. 16 bits are computed in float32.

    >>> import numpy as np
    >>> x = np.array([[1.0, 2.0, 3.0, 4.0]], "float32")
    >>> rope(x, np.zeros((1, 2), "float32"), np.ones((1, 2), "float32"))
    array([[-3., -4.,  1.,  2.]], dtype=float32)
    """
    expect_floats("rope", x=x, cos=cos, sin=sin)
    if len(x.shape) < 2 or x.shape[-1] % 2:
        raise ValueError(f"rope: expected … x positions x an even width, got shape {x.shape}")
    half = x.shape[-1] // 2
    expect_shape("rope", (x.shape[-2], half), cos=cos, sin=sin)
    X, C, S = given(x, "X"), given(cos, "cos"), given(sin, "sin")
    acc = acc_of(x.dtype)

    def element(*at: Expr) -> Expr:
        *outer, position, i = at
        is_first = i < half
        pair = indexmod(i, half) if half else i
        other = X(*outer, position, if_then_else(is_first, i + half, i - half)).astype(acc)
        turned = other * S(position, pair).astype(acc)
        return (X(*at).astype(acc) * C(position, pair).astype(acc) + if_then_else(is_first, -turned, turned)).astype(
            x.dtype
        )

    return by_rules([X, C, S], compute(x.shape, element, name="rope"), target)


@operator
def top_k(x: Operand, *, k: int, axis: int = -1, largest: bool = True, target: Target | None = None) -> Scheduled:
    """The `k` elements of `x` along `axis` that are `largest`, or else smallest, in order, and their places, int64. Of
    equal ones the first comes first. Rows of up to 1024 elements are ranked, each element by itself; longer
    ones are sorted.

    >>> import numpy as np
    >>> values, places = top_k(np.array([[1, 7, 5, 7]], "float32"), k=3)
    >>> values, places
    (array([[7., 7., 5.]], dtype=float32), array([[1, 3, 2]]))
    """
    (along,) = axes_of("top_k", axis, len(x.shape))
    if isinstance(k, bool) or not isinstance(k, int) or not 0 <= k <= x.shape[along]:
        raise ValueError(f"top_k: expected k from 0 to {x.shape[along]}, got {k!r}")
    X = given(x, "X")
    by_threads = Target.of(target).kind != "cpu"
    outputs = list(OPERATORS["topk"](X, by_threads=by_threads, k=k, axis=along, largest=largest))
    return auto_schedule(outputs, target), [X, *outputs]


@operator
def scatter_add(
    x: Operand, index: Operand, updates: Operand, *, axis: int = 0, target: Target | None = None
) -> Scheduled:
    """`x` plus each update at the place along `axis` that `index` says: ``y[index[i, j], j] += updates[i, j]``.

    `index` and `updates` have one shape, that of `x` but for the axis; indices may count from the end. The sums do not
    depend on an order of threads: each element adds up its own updates, in their order.

    >>> import numpy as np
    >>> scatter_add(np.zeros(3, "float32"), np.array([0, 2, 0]), np.array([1, 2, 3], "float32"))
    array([4., 0., 2.], dtype=float32)
    """
    (along,) = axes_of("scatter_add", axis, len(x.shape))
    if not index.dtype.startswith(("int", "uint")):
        raise TypeError(f"scatter_add: expected indices that are integers, got {index.dtype}")
    if updates.dtype != x.dtype:
        raise TypeError(f"scatter_add: expected updates of the type of x, got {updates.dtype} and {x.dtype}")
    fits = len(index.shape) == len(x.shape) and all(
        extent == own for place, (extent, own) in enumerate(zip(index.shape, x.shape)) if place != along
    )
    if not fits or index.shape != updates.shape:
        raise ValueError(
            f"scatter_add: expected index and updates that differ from x along axis {along} alone, got shapes "
            f"{x.shape}, {index.shape} and {updates.shape}"
        )
    X, places, U = given(x, "X"), given(index, "index"), given(updates, "updates")
    Y = operate("scatter_elements", X, places, U, axis=along, reduction="add")
    return by_rules([X, places, U], Y, target)
