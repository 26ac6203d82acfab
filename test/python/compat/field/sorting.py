"""Sorting, selection and what detection needs, by statements: nothing outside is called."""

from __future__ import annotations

import numpy as np

import tilewright as tvm
from tilewright import te

from . import inputs, program, random


@program((3, 8), (2, 15))
def sort_by_odd_and_even_pairs(rows, n):
    """topi's sort_ir: neighbours are exchanged by the threads of a block, in shared memory."""
    x = random(rows, n)
    (A,) = inputs(x)

    def statements(ins, outs):
        ib = tvm.tir.ir_builder.create()
        data, out, at = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0]), ib.buffer_ptr(outs[1])
        bx, tx = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
        ib.scope_attr(bx, "thread_extent", rows)
        ib.scope_attr(tx, "thread_extent", (n + 1) // 2)
        keys = ib.allocate("float32", (n,), name="keys", scope="shared")
        places = ib.allocate("int32", (n,), name="places", scope="shared")
        with ib.for_range(0, 2, name="half") as half:
            with ib.if_scope(tx * 2 + half < n):
                keys[tx * 2 + half] = data[bx, tx * 2 + half]
                places[tx * 2 + half] = (tx * 2 + half).astype("int32")
        with ib.for_range(0, n, name="k") as k:
            first = tx * 2 + te.indexmod(k, 2)
            with ib.if_scope(
                te.all(first + 1 < n, te.if_then_else(first + 1 < n, keys[first] > keys[first + 1], False))
            ):
                key, place = ib.let("key", keys[first]), ib.let("place", places[first])
                keys[first] = keys[first + 1]
                places[first] = places[first + 1]
                keys[first + 1] = key
                places[first + 1] = place
        with ib.for_range(0, 2, name="half") as half:
            with ib.if_scope(tx * 2 + half < n):
                out[bx, tx * 2 + half] = keys[tx * 2 + half]
                at[bx, tx * 2 + half] = places[tx * 2 + half]
        return ib.get()

    B, P = te.extern([(rows, n), (rows, n)], [A], statements, name="sort_gpu", dtype=["float32", "int32"])
    s = te.create_schedule(B.op)
    return s, [A, B, P], [x], [np.sort(x, axis=1), np.argsort(x, axis=1).astype("int32")]


@program((4, 9, 3), (2, 6, 6))
def topk_of_rows(rows, n, count):
    """Ranks are counted: each element finds its place by itself."""
    x = random(rows, n)
    (A,) = inputs(x)
    k = te.reduce_axis((0, n), name="k")
    rank = te.compute(
        (rows, n),
        lambda i, j: te.sum(te.any(A[i, k] > A[i, j], te.all(A[i, k].equal(A[i, j]), k < j)).astype("int32"), axis=k),
        name="rank",
    )
    r = te.reduce_axis((0, n), name="r")
    B = te.compute(
        (rows, count), lambda i, j: te.sum(te.select(rank[i, r].equal(j), A[i, r], 0.0), axis=r), name="topk"
    )
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(B.op.axis[1], te.thread_axis("threadIdx.x"))
    s[rank].bind(rank.op.axis[0], te.thread_axis("blockIdx.x"))
    s[rank].bind(rank.op.axis[1], te.thread_axis("threadIdx.x"))
    return s, [A, B], [x], [-np.sort(-x, axis=1)[:, :count]]


def boxes(n: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    corner = rng.uniform(0, 4, (n, 2))
    size = rng.uniform(1, 3, (n, 2))
    score = np.sort(rng.uniform(0.1, 1, n))[::-1]
    return np.concatenate([score[:, None], corner, corner + size], axis=1).astype("float32")


def overlap(a, b, largest, least):
    """Intersection over union of boxes of (score, left, top, right, bottom)."""
    wide = largest(0.0, least(a[3], b[3]) - largest(a[1], b[1]))
    high = largest(0.0, least(a[4], b[4]) - largest(a[2], b[2]))
    area = wide * high
    return area / ((a[3] - a[1]) * (a[4] - a[2]) + (b[3] - b[1]) * (b[4] - b[2]) - area)


@program((2, 6), (1, 11))
def non_maximum_suppression(batch, n):
    """A block for each image: in the order of scores a box that is left removes those it overlaps, all at once."""
    data = np.stack([boxes(n + 2 * b)[:n] for b in range(batch)])
    (A,) = inputs(data)

    def statements(ins, outs):
        ib = tvm.tir.ir_builder.create()
        box, out = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        bx, tx = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
        ib.scope_attr(bx, "thread_extent", batch)
        ib.scope_attr(tx, "thread_extent", n)
        left = ib.allocate("int32", (n,), name="left", scope="shared")
        left[tx] = 1
        with ib.for_range(0, n, name="i") as i:
            first, second = [box[bx, i, e] for e in range(5)], [box[bx, tx, e] for e in range(5)]
            with ib.if_scope(te.all(tx > i, left[i].equal(1), overlap(first, second, te.max, te.min) > 0.3)):
                left[tx] = 0
        out[bx, tx] = te.select(left[tx].equal(1), box[bx, tx, 0], -1.0)
        return ib.get()

    B = te.extern((batch, n), [A], statements, name="nms", dtype="float32")
    s = te.create_schedule(B.op)
    expected = data[:, :, 0].copy()
    for b in range(batch):
        for i in range(n):
            for j in range(i + 1, n):
                if expected[b, i] >= 0 and overlap(data[b, i], data[b, j], max, min) > 0.3:
                    expected[b, j] = -1
    return s, [A, B], [data], [expected]


@program((5, 7), (2, 20))
def valid_first(rows, n):
    """topi's get_valid_counts: those over a threshold in front, in their order, and how many there are."""
    x = random(rows, n)
    (A,) = inputs(x)

    def statements(ins, outs):
        ib = tvm.tir.ir_builder.create()
        data, count, out = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0]), ib.buffer_ptr(outs[1])
        tx = te.thread_axis("threadIdx.x")
        ib.scope_attr(tx, "thread_extent", rows)
        found = ib.allocate("int32", (1,), name="found", scope="local")
        found[0] = 0
        with ib.for_range(0, n, name="j") as j:
            out[tx, j] = -1.0
        with ib.for_range(0, n, name="j") as j, ib.if_scope(data[tx, j] > 0.0):
            out[tx, found[0]] = data[tx, j]
            found[0] = found[0] + 1
        count[tx] = found[0]
        return ib.get()

    C, B = te.extern([(rows,), (rows, n)], [A], statements, name="valid", dtype=["int32", "float32"])
    s = te.create_schedule(B.op)
    expected = np.full_like(x, -1)
    for row, front in zip(x, expected):
        front[: (row > 0).sum()] = row[row > 0]
    return s, [A, C, B], [x], [(x > 0).sum(axis=1).astype("int32"), expected]


@program((3, 16), (1, 11))
def cumulative_sum(rows, n):
    """A scan by doubling distances, with two buffers in shared memory."""
    x = random(rows, n)
    (A,) = inputs(x)

    def statements(ins, outs):
        ib = tvm.tir.ir_builder.create()
        data, out = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        bx, tx = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
        ib.scope_attr(bx, "thread_extent", rows)
        ib.scope_attr(tx, "thread_extent", n)
        sums = ib.allocate("float32", (2, n), name="sums", scope="shared")
        sums[0, tx] = data[bx, tx]
        steps = (n - 1).bit_length()
        for step in range(steps):
            distance, here, there = 1 << step, step % 2, (step + 1) % 2
            with ib.if_scope(tx >= distance):
                sums[there, tx] = sums[here, tx] + sums[here, tx - distance]
            with ib.else_scope():
                sums[there, tx] = sums[here, tx]
        out[bx, tx] = sums[steps % 2, tx]
        return ib.get()

    B = te.extern((rows, n), [A], statements, name="cumsum", dtype="float32")
    s = te.create_schedule(B.op)
    return s, [A, B], [x], [x.cumsum(axis=1)]
