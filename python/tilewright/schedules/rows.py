"""Reductions of rows, and what is made of them: each row is read once, kept in registers and written once."""

from __future__ import annotations

from ..te import IterVar, Tensor, compute, exp, max, placeholder, reduce_axis, rsqrt, sum, thread_axis
from ..te.schedule import Schedule, create_schedule
from .sizes import sizes

__all__ = ["layer_norm", "rms_norm", "row_sum", "softmax"]


@sizes(rows=0, columns=0)
def softmax(rows: int, columns: int, *, threads: int | None = None) -> tuple[Schedule, list[Tensor]]:
    """Y[i, j] = exp(X[i, j] - max of row i) / their sum, float32, row-major.

    X is `rows` x `columns`. A row belongs to `threads` threads. Each reads its elements into registers, four neighbours
    at a time. They stay there until the result is stored. The threads find the maximum and the sum by shuffles. If
    there are several warps, each also uses a word of shared memory. By default a thread has 16 elements of a row, or 32
    if one warp has the row. In rows of up to 32768 elements it has at most 64. Longer rows exceed the registers.

    >>> import tilewright as tw
    >>> func = tw.build(*softmax(64, 1024), target="cuda -arch=sm_90a", name="softmax")
    >>> ".reqntid 32, 8, 1" in func.ptx
    True
    """
    X = placeholder((rows, columns), name="X")
    j, k = reduce_axis((0, columns), "j"), reduce_axis((0, columns), "k")
    largest = compute((rows,), lambda i: max(X[i, j], axis=j), name="largest")
    power = compute((rows, columns), lambda i, j: exp(X[i, j] - largest[i]), name="power")
    total = compute((rows,), lambda i: sum(power[i, k], axis=k), name="total")
    Y = compute((rows, columns), lambda i, j: power[i, j] * (1.0 / total[i]), name="Y")
    s = create_schedule(Y.op)
    _keep_rows(
        s, Y, [s.cache_read(X, "local", [largest, power]), power], [largest, total], threads or _threads(columns)
    )
    return s, [X, Y]


@sizes(rows=0, columns=1)
def layer_norm(
    rows: int, columns: int, *, epsilon: float = 1e-5, threads: int | None = None
) -> tuple[Schedule, list[Tensor]]:
    """Y[i, j] = (X[i, j] - mean of row i) / sqrt(variance of row i + epsilon) * gamma[j] + beta[j], float32.

    The variance is the mean of the squared distances from the mean, which the elements in registers make as cheap as
    any other way. X is `rows` x `columns`, and `threads` threads share a row as in `softmax`.

    >>> import tilewright as tw
    >>> func = tw.build(*layer_norm(64, 4096), target="cuda -arch=sm_90a", name="layer_norm")
    >>> ".reqntid 256, 1, 1" in func.ptx
    True
    """
    X = placeholder((rows, columns), name="X")
    gamma, beta = placeholder((columns,), name="gamma"), placeholder((columns,), name="beta")
    j, k = reduce_axis((0, columns), "j"), reduce_axis((0, columns), "k")
    total = compute((rows,), lambda i: sum(X[i, j], axis=j), name="total")
    centred = compute((rows, columns), lambda i, j: X[i, j] - total[i] * (1.0 / columns), name="centred")
    squares = compute((rows,), lambda i: sum(centred[i, k] * centred[i, k], axis=k), name="squares")
    scale = compute((rows,), lambda i: rsqrt(squares[i] * (1.0 / columns) + epsilon), name="scale")
    Y = compute((rows, columns), lambda i, j: centred[i, j] * scale[i] * gamma[j] + beta[j], name="Y")
    s = create_schedule(Y.op)
    s[scale].compute_inline()
    _keep_rows(
        s, Y, [s.cache_read(X, "local", [total, centred]), centred], [total, squares], threads or _threads(columns)
    )
    return s, [X, gamma, beta, Y]


@sizes(rows=0, columns=1)
def rms_norm(
    rows: int, columns: int, *, epsilon: float = 1e-5, threads: int | None = None
) -> tuple[Schedule, list[Tensor]]:
    """Y[i, j] = X[i, j] / sqrt(mean of the squares of row i + epsilon) * gamma[j], float32.

    X is `rows` x `columns`, and `threads` threads share a row as in `softmax`.

    >>> import tilewright as tw
    >>> func = tw.build(*rms_norm(64, 1024), target="cuda -arch=sm_90a", name="rms_norm")
    >>> ".reqntid 32, 8, 1" in func.ptx
    True
    """
    X, gamma = placeholder((rows, columns), name="X"), placeholder((columns,), name="gamma")
    k = reduce_axis((0, columns), "k")
    squares = compute((rows,), lambda i: sum(X[i, k] * X[i, k], axis=k), name="squares")
    scale = compute((rows,), lambda i: rsqrt(squares[i] * (1.0 / columns) + epsilon), name="scale")
    Y = compute((rows, columns), lambda i, j: X[i, j] * scale[i] * gamma[j], name="Y")
    s = create_schedule(Y.op)
    s[scale].compute_inline()
    _keep_rows(s, Y, [s.cache_read(X, "local", [squares, Y])], [squares], threads or _threads(columns))
    return s, [X, gamma, Y]


@sizes(rows=0, columns=0)
def row_sum(rows: int, columns: int, *, threads: int | None = None) -> tuple[Schedule, list[Tensor]]:
    """Y[i] = the sum of row i of X, float32.

    X is `rows` x `columns`, and `threads` threads share a row as in `softmax`.

    >>> import tilewright as tw
    >>> func = tw.build(*row_sum(64, 1024), target="cuda -arch=sm_90a", name="row_sum")
    >>> ".reqntid 32, 8, 1" in func.ptx
    True
    """
    X = placeholder((rows, columns), name="X")
    k = reduce_axis((0, columns), "k")
    total = compute((rows,), lambda i: sum(X[i, k], axis=k), name="total")
    Y = compute((rows,), lambda i: total[i], name="Y")
    s = create_schedule(Y.op)
    _keep_rows(s, Y, [s.cache_read(X, "local", [total])], [total], threads or _threads(columns))
    return s, [X, Y]


def _keep_rows(s: Schedule, Y: Tensor, kept: list[Tensor], reduced: list[Tensor], threads: int) -> None:
    """Threads share each row of Y: a thread has its elements of `kept` in registers, all have those of `reduced`."""
    block, row = s[Y].split(Y.op.axis[0], factor=-(-256 // threads))
    s[Y].bind(block, thread_axis("blockIdx.x"))
    s[Y].bind(row, thread_axis("threadIdx.y"))
    for tensor in (*kept, *reduced):
        s[tensor].set_scope("local")
        s[tensor].compute_at(s[Y], row)
    for tensor in reduced:
        four = _share(s, tensor, s[tensor].op.reduce_axis[0], threads)
        s[tensor].unroll(four)
    for tensor in (*kept, Y):
        if len(tensor.shape) == 2:
            s[tensor].vectorize(_share(s, tensor, s[tensor].op.axis[1], threads))


def _threads(columns: int) -> int:
    """A warp for rows of up to 1024, else a power of two, up to 512."""
    threads = 32
    while threads < 512 and columns > 1024 and columns > 16 * threads:
        threads *= 2
    return threads


def _share(s: Schedule, tensor: Tensor, axis: IterVar, threads: int) -> IterVar:
    """Threads take four neighbours each in turn, or two or one where four do not divide rows; the loop over these.

    A vector of neighbours that no vector aligns would be moved one by one, each by threads that are far apart.
    """
    assert axis.dom is not None
    extent = axis.dom.extent
    factor = 4 if not isinstance(extent, int) or extent % 4 == 0 else 2 if extent % 2 == 0 else 1
    turn, four = s[tensor].split(axis, factor=factor)
    turn, thread = s[tensor].split(turn, factor=threads)
    s[tensor].unroll(turn)
    s[tensor].bind(thread, thread_axis("threadIdx.x"))
    return four
