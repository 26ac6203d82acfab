"""Convolutions by the warpgroups of sm_90a, which asynchronous copies feed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..instructions import wgmma
from ..schedule import Schedule, create_schedule
from ..te import Expr, Tensor, compute, if_then_else, placeholder, reduce_axis, sum, thread_axis
from ..te import all as all_of

__all__ = ["conv2d_wgmma"]

_SPAN, _SHARED = 128, 231424


def conv2d_wgmma(
    batch: int,
    channels: int,
    size: int,
    filters: int,
    kernel: int,
    in_dtype: str = "float16",
    out_dtype: str | None = None,
    *,
    stride: int = 1,
    dilation: int = 1,
    epilogue: Callable[..., Expr] | None = None,
    operands: Sequence[Tensor] = (),
    pixels: tuple[int, int, int] = (1, 8, 16),
    columns: int = 128,
    depth: int | None = None,
    share_rows: bool | None = None,
    blocks: int | None = 132,
    cluster: int = 1,
) -> tuple[Schedule, list[Tensor]]:
    margin = (kernel - 1) * dilation // 2
    out = (size + 2 * margin - dilation * (kernel - 1) - 1) // stride + 1
    if share_rows is None:
        share_rows = stride == 1 and kernel > 1 and pixels[2] % 8 == 0
    tn, th, tw = pixels
    step = _SPAN // 2
    N, H, B = (-(-extent // one) * one for extent, one in ((batch, tn), (out, th), (out, tw)))
    F, C = -(-filters // columns) * columns, -(-channels // step) * step
    X = placeholder((batch, size, size, channels), in_dtype, name="X")
    W = placeholder((filters, kernel, kernel, channels), in_dtype, name="W")

    def pixel(n: Expr, y: Expr, x: Expr, c: Expr) -> Expr:
        inside = [n < batch, y >= 0, y < size, x >= 0, x < size, c < channels]
        return if_then_else(all_of(*inside), X[n, y, x, c], 0)

    if share_rows:
        As = compute(
            (N, H + (kernel - 1) * dilation, B, kernel, C),
            lambda n, y, x, s, c: pixel(n, y - margin, x * stride + s * dilation - margin, c),
            name="As",
        )
    else:
        As = compute(
            (N, H, B, kernel, kernel, C),
            lambda n, y, x, r, s, c: pixel(n, y * stride + r * dilation - margin, x * stride + s * dilation - margin, c),
            name="As",
        )
    Bs = compute(
        (kernel, kernel, F, C),
        lambda r, s, f, c: if_then_else(all_of(f < filters, c < channels), W[f, r, s, c], 0),
        name="Bs",
    )
    r, s_, c = reduce_axis((0, kernel), "r"), reduce_axis((0, kernel), "s"), reduce_axis((0, C), "c")

    def product(n: Expr, y: Expr, x: Expr, f: Expr) -> Expr:
        a = As[n, y + r * dilation, x, s_, c] if share_rows else As[n, y, x, r, s_, c]
        return a.astype("float32") * Bs[r, s_, f, c].astype("float32")

    P = compute((N, H, B, F), lambda *at: sum(product(*at), axis=[r, s_, c]), name="P")

    def result(*at: Expr) -> Expr:
        value = (epilogue(P[at], *at) if epilogue else P[at]).astype(out_dtype or in_dtype)
        ends = [(index, end) for index, end, whole in zip(at, shape, (N, H, B, F), strict=True) if end != whole]
        return if_then_else(all_of(*(index < end for index, end in ends)), value, 0) if operands and ends else value

    shape = (batch, out, out, filters)
    stored = compute((N, H, B, F), result, name="made")
    Y = compute(shape, lambda *at: stored[at], name="Y")
    s = create_schedule(Y.op)
    s[stored].set_scope("shared")
    n, y, x, f = s[Y].op.axis
    no, n = s[Y].split(n, factor=tn)
    yo, y = s[Y].split(y, factor=th)
    xo, x = s[Y].split(x, factor=tw)
    fo, f = s[Y].split(f, factor=columns)
    s[Y].reorder(no, yo, xo, fo, n, y, x, f)
    by = s[Y].fuse(no, yo, xo)
    s[Y].bind(by, thread_axis("blockIdx.y"))
    s[Y].bind(fo, thread_axis("blockIdx.x"))
    s[Y].env_threads([thread_axis((0, 128), "threadIdx.x")])
    s[Y].copy_by("tma", swizzle=_SPAN)
    s[stored].compute_at(s[Y], fo)
    n, y, x, f = s[stored].op.axis
    warpgroups = tn * th * tw // 64
    if tn % warpgroups == 0:
        warpgroup, _ = s[stored].split(n, nparts=warpgroups)
        rows = (tn // warpgroups, th, tw)
    else:
        warpgroup, _ = s[stored].split(y, nparts=warpgroups)
        rows = (tn, th // warpgroups, tw)
        s[stored].reorder(warpgroup, n)
    s[stored].bind(warpgroup, thread_axis("threadIdx.y"))
    s[P].set_scope("local")
    s[P].compute_at(s[stored], warpgroup)
    n, y, x, f = s[P].op.axis
    r, s_, c = s[P].op.reduce_axis
    co, ci = s[P].split(c, factor=step)
    if share_rows:
        s[P].reorder(s_, co, r, n, y, x, f, ci)
        ko = s[P].fuse(s_, co)
    else:
        s[P].reorder(r, s_, co, n, y, x, f, ci)
        ko = s[P].fuse(r, s_, co)
    s[P].tensorize(n, wgmma(in_dtype, "float32", n=columns, k=step, rows=rows, transpose_b=True))
    for stage in (As, Bs):
        s[stage].set_scope("shared")
        s[stage].compute_at(s[P], ko)
        s[stage].copy_by("tma", swizzle=_SPAN)
    s[P].software_pipeline(ko, depth or 3)
    s[P].specialize(ko)
    if cluster > 1:
        s[Y].cluster(by, cluster)
    if blocks is not None:
        s[Y].persistent(blocks, raster="grouped", group=8)
    return s, [X, W, *operands, Y]
