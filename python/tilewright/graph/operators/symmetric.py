"""Eigenvalues of symmetric matrices: reflections make them tridiagonal, and rotations then make them diagonal.

The rotations are those of the implicit QL method. One thread computes the angles of a sweep, and all apply them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import te
from ...te import Expr, Tensor
from .common import operator
from .factors import made_by
from .matrices import Matrices, epsilon_of, reflect_columns, reflector, square

__all__: list[str] = []

_MOST_SWEEPS = 30
"""So many sweeps a row has. Two are enough, on the average."""


@operator
def diagonalize(x: Tensor, *, by_threads: bool) -> tuple[Tensor, Tensor]:
    """The eigenvalues, in no order, and the eigenvectors, a row each, of symmetric matrices [batch, rows, rows]."""
    return made_by(_diagonalize, [(x.shape[:2], x.dtype), (x.shape, x.dtype)], [x], by_threads)


def _diagonalize(m: Matrices, x: Any, values: Any, vectors: Any) -> None:
    rows, dtype = x.buffer.shape[1], x.dtype
    work = m.ib.allocate(dtype, x.buffer.shape, name="work", scope="global")
    with m.each_matrix() as b:
        diagonal, beside = m.held(dtype, rows, "diagonal"), m.held(dtype, rows, "beside")
        with m.places((0, rows), (0, rows)) as (i, j):
            work[b, i, j] = x[b, i, j]
            vectors[b, i, j] = te.select(i.equal(j), te.const(1, dtype), te.const(0, dtype))
        _make_tridiagonal(m, b, work, vectors, diagonal, beside)
        _make_diagonal(m, b, vectors, diagonal, beside)
        with m.each(0, rows) as i:
            values[b, i] = diagonal[i]


def _make_tridiagonal(m: Matrices, b: Any, work: Any, vectors: Any, diagonal: Any, beside: Any) -> None:
    """Reflects the rows and columns of `work`, and the rows of `vectors`, until only neighbours are not 0.

    `diagonal` has the diagonal, and `beside` what stands below each of its elements.
    """
    _, rows, _ = work.buffer.shape
    ib, dtype = m.ib, work.dtype
    vector, sums = m.held(dtype, rows, "vector"), m.held(dtype, rows, "sums")
    with ib.for_range(0, rows - 1, name="step") as step:
        below = m.total(step + 2, rows, lambda i: square(work[b, i, step]))
        first = ib.let("first", work[b, step + 1, step].astype("float64"))
        moved, apart, scale = reflector(ib, first, below, dtype)
        with m.once():
            diagonal[step] = work[b, step, step]
            beside[step] = moved.astype(dtype)
        with m.each(step + 1, rows) as i:
            quotient = (work[b, i, step].astype("float64") / apart).astype(dtype)
            vector[i] = te.select(i.equal(step + 1), te.const(1, dtype), quotient)
            sums[i] = te.const(0, dtype)
        with ib.for_range(step + 1, rows, name="i") as i, m.each(step + 1, rows) as j:
            sums[j] = sums[j] + vector[i] * work[b, i, j]
        product = m.total(step + 1, rows, lambda i: (vector[i] * sums[i]).astype("float64"))
        half = ib.let("half", scale * scale * product.astype(dtype) * te.const(0.5, dtype))
        with m.each(step + 1, rows) as i:
            sums[i] = scale * sums[i] - half * vector[i]
        with m.places((step + 1, rows), (step + 1, rows)) as (i, j):
            work[b, i, j] = work[b, i, j] - vector[i] * sums[j] - sums[i] * vector[j]
        reflect_columns(m, vectors, b, step + 1, 0, scale, vector, sums)
    with m.once():
        diagonal[rows - 1] = work[b, rows - 1, rows - 1]
        beside[rows - 1] = te.const(0, dtype)


def _make_diagonal(m: Matrices, b: Any, vectors: Any, diagonal: Any, beside: Any) -> None:
    """Rotates pairs of neighbours, also of the rows of `vectors`, until what stands beside the diagonal is 0."""
    _, rows, _ = vectors.buffer.shape
    ib, dtype = m.ib, diagonal.dtype
    cosines, sines = m.held(dtype, rows, "cosines"), m.held(dtype, rows, "sines")
    # The rows of the part that is not diagonal yet and has no 0 beside its diagonal, and the number of sweeps.
    state = m.held("int32", 3, "state")
    with m.once():
        for n in range(3):
            state[n] = te.const(0, "int32")
    with ib.while_loop(te.all(state[0] < rows - 1, state[2] < _MOST_SWEEPS * rows)):
        with m.once():
            low, high = _find_part(m, diagonal, beside, state[0])
            with ib.if_scope(low < high):
                _sweep(m, diagonal, beside, cosines, sines, low, high)
            state[0], state[1], state[2] = low, high, state[2] + 1
        _rotate(m, vectors, b, cosines, sines, ib.let("first", state[0]), ib.let("last", state[1]))


def _find_part(m: Matrices, diagonal: Any, beside: Any, begin: Any) -> tuple[Expr, Expr]:
    """The first rows from `begin` on that are not diagonal, from and to; both are the same where there are none."""
    ib, rows, dtype = m.ib, diagonal.buffer.shape[0], diagonal.dtype
    place = ib.allocate("int32", (1,), name="place")
    place[0] = begin

    def while_beside(is_true: Callable[[Expr, Expr], Expr]) -> Expr:
        """Goes on while what is beside the diagonal, and the bound of what is 0, are so; of NaN neither is true."""
        i = te.min(place[0], rows - 2)
        bound = te.const(epsilon_of(dtype), dtype) * (te.abs(diagonal[i]) + te.abs(diagonal[i + 1]))
        with ib.while_loop(te.all(place[0] < rows - 1, is_true(te.abs(beside[i]), bound))):
            place[0] = place[0] + 1
        return ib.let("found", place[0])

    return while_beside(lambda size, bound: size <= bound), while_beside(lambda size, bound: size > bound)


def _sweep(m: Matrices, diagonal: Any, beside: Any, cosines: Any, sines: Any, low: Any, high: Any) -> None:
    """The angles of one implicit QL step, from row `high` down to row `low`, and what becomes of the diagonals."""
    ib, dtype = m.ib, diagonal.dtype
    one, two, zero = (te.const(number, dtype) for number in (1, 2, 0))
    # What the next rotation takes: the element that the last one made, its cosine and sine, and what it has moved.
    made, cosine, sine, moved = (ib.allocate(dtype, (1,), name=name) for name in ("made", "cosine", "sine", "moved"))
    corner = ib.let("corner", beside[low])
    ratio = ib.let("ratio", (diagonal[low + 1] - diagonal[low]) / (two * corner))
    root = ib.let("root", te.sqrt(ratio * ratio + one))
    apart = te.select(ratio < zero, ratio - root, ratio + root)
    made[0] = diagonal[high] - diagonal[low] + corner / apart
    cosine[0], sine[0], moved[0] = one, one, zero
    with ib.for_range(0, high - low, name="n") as n:
        i = ib.let("i", high - 1 - n)
        f, g = ib.let("f", sine[0] * beside[i]), ib.let("g", made[0])
        kept = ib.let("kept", cosine[0] * beside[i])
        length = ib.let("length", te.sqrt(f * f + g * g))
        beside[i + 1] = length
        is_zero = ib.let("is_zero", length.equal(zero))
        new_sine = ib.let("new_sine", te.select(is_zero, zero, f / length))
        new_cosine = ib.let("new_cosine", te.select(is_zero, one, g / length))
        own = ib.let("own", diagonal[i + 1] - moved[0])
        turned = ib.let("turned", (diagonal[i] - own) * new_sine + two * new_cosine * kept)
        moved[0] = new_sine * turned
        diagonal[i + 1] = own + new_sine * turned
        made[0] = new_cosine * turned - kept
        sine[0], cosine[0] = new_sine, new_cosine
        sines[i], cosines[i] = new_sine, new_cosine
    diagonal[low] = diagonal[low] - moved[0]
    beside[low] = made[0]
    beside[high] = zero


def _rotate(m: Matrices, vectors: Any, b: Any, cosines: Any, sines: Any, low: Any, high: Any) -> None:
    """Applies the rotations to the rows of `vectors`, in the same order. A thread has columns of its own."""
    ib, rows = m.ib, vectors.buffer.shape[1]
    if not m.by_threads:
        with ib.for_range(0, high - low, name="n") as n:
            i = ib.let("i", high - 1 - n)
            with m.each(0, rows) as k:
                first, second = ib.let("first", vectors[b, i, k]), ib.let("second", vectors[b, i + 1, k])
                vectors[b, i + 1, k] = sines[i] * first + cosines[i] * second
                vectors[b, i, k] = cosines[i] * first - sines[i] * second
        return
    with m.each(0, rows) as k:
        carried = ib.allocate(vectors.dtype, (1,), name="carried", scope="local")
        carried[0] = vectors[b, high, k]
        with ib.for_range(0, high - low, name="n") as n:
            i = ib.let("i", high - 1 - n)
            first, second = ib.let("first", vectors[b, i, k]), ib.let("second", carried[0])
            vectors[b, i + 1, k] = sines[i] * first + cosines[i] * second
            carried[0] = cosines[i] * first - sines[i] * second
        vectors[b, low, k] = carried[0]
