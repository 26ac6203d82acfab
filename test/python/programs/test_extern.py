"""Programs whose statements are written by hand, as scripts for TVM have them: sorting, sparse rows, searching, histograms."""

import numpy as np
import pytest

import tilewright as tvm
from programs.checks import TARGETS
from tilewright import te, tir

RNG = np.random.default_rng(3)
GPU = pytest.param("gpu", marks=pytest.mark.gpu)


def threads(ib, blocks, size):
    """A block index and a thread index for what follows."""
    bx, tx = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
    ib.scope_attr(tx, "thread_extent", size)
    ib.scope_attr(bx, "thread_extent", blocks)
    return bx, tx


def build(schedule, args, target):
    """The program to run, and its device. For cuda it is compiled, which is all; on a GPU it is run, too."""
    if target == "gpu":
        if not tvm.cuda(0).exist:
            pytest.skip("no GPU here")
        return tvm.build(schedule, args, "cuda"), tvm.cuda(0)
    program = tvm.build(schedule, args, "cuda -arch=sm_90a" if target == "cuda" else target)
    if target != "cuda":
        return program, tvm.cpu(0)
    assert program.cubin[:4] == b"\x7fELF"
    return None, None


def on(target, schedule, *stages):
    """Binds what stands around an extern."""
    if target != "cpu":
        for stage in stages:
            fused = schedule[stage].fuse(*stage.op.axis)
            outer, inner = schedule[stage].split(fused, factor=32)
            schedule[stage].bind(outer, te.thread_axis("blockIdx.x"))
            schedule[stage].bind(inner, te.thread_axis("threadIdx.x"))
    return schedule


@pytest.mark.parametrize("target", ["sim", "cuda", GPU])
def test_odd_even_sort_of_rows(target) -> None:
    """A block a row, in shared memory: a barrier in each of the two steps."""
    rows, size = 5, 63
    keys = te.placeholder((rows, size), name="keys")

    def sort(ins, outs):
        ib = tir.ir_builder.create()
        key, out, order = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0]), ib.buffer_ptr(outs[1])
        row, tx = threads(ib, rows, 64)
        shared = ib.allocate("float32", (size,), name="row", scope="shared")
        place = ib.allocate("int32", (size,), name="place", scope="shared")
        mine = ib.allocate("float32", (2,), name="mine", scope="local")
        which = ib.allocate("int32", (2,), name="which", scope="local")
        with ib.if_scope(tx < size):
            shared[tx] = key[row * size + tx]
            place[tx] = tx
        with ib.for_range(0, size, name="step") as step:
            left = 2 * tx + step % 2
            with ib.if_scope(left + 1 < size):
                for side in range(2):
                    mine[side] = shared[left + side]
                    which[side] = place[left + side]
            with ib.if_scope(te.all(left + 1 < size, mine[0] > mine[1])):
                for side in range(2):
                    shared[left + side] = mine[1 - side]
                    place[left + side] = which[1 - side]
        with ib.if_scope(tx < size):
            out[row, tx] = shared[tx]
            order[row, tx] = place[tx]
        return ib.get()

    out, order = te.extern([keys.shape, keys.shape], [keys], sort, name="sorted", dtype=["float32", "int32"])
    program, device = build(te.create_schedule(out.op), [keys, out, order], target)
    if program is None:
        return
    given = RNG.permutation(rows * size).reshape(rows, size).astype("float32")
    got = tvm.nd.empty(given.shape, device=device)
    places = tvm.nd.empty(given.shape, "int32", device)
    program(tvm.nd.array(given, device), got, places)
    tvm.testing.assert_allclose(got.numpy(), np.sort(given, axis=1))
    assert (places.numpy() == np.argsort(given, axis=1)).all()


@pytest.mark.parametrize("target", [*TARGETS, GPU])
def test_sparse_matrix_times_vector(target) -> None:
    """Rows as lists of elements: the bounds of the loop are data."""
    m, n, stored = te.var("m"), te.var("n"), te.var("stored")
    starts = te.placeholder((m + 1,), "int32", "starts")
    columns = te.placeholder((stored,), "int32", "columns")
    values = te.placeholder((stored,), name="values")
    vector = te.placeholder((n,), name="vector")
    scaled = te.compute((n,), lambda i: vector[i] * 2, name="scaled")

    def product(ins, outs):
        ib = tir.ir_builder.create()
        start, column, value, x = map(ib.buffer_ptr, ins)
        y = ib.buffer_ptr(outs[0])

        def row(i):
            total = ib.allocate("float32", (1,), name="total", scope="local")
            total[0] = 0.0
            with ib.for_range(start[i], start[i + 1], name="at") as at:
                total[0] += value[at] * x[column[at]]
            y[i] = total[0]

        if target == "cpu":
            with ib.for_range(0, m, name="i") as i:
                row(i)
        else:
            bx, tx = threads(ib, (m + 31) // 32, 32)
            with ib.if_scope(bx * 32 + tx < m):
                row(bx * 32 + tx)
        return ib.get()

    result = te.extern((m,), [starts, columns, values, scaled], product, name="result", dtype="float32")
    shifted = te.compute((m,), lambda i: result[i] + 1, name="shifted")
    schedule = on(target, te.create_schedule(shifted.op), scaled, shifted)
    program, device = build(schedule, [starts, columns, values, vector, shifted], target)
    if program is None:
        return
    for rows, width in ((40, 17), (7, 90)):
        dense = RNG.random((rows, width)) * (RNG.random((rows, width)) < 0.3)
        where = np.nonzero(dense)
        begin = np.concatenate(([0], np.cumsum((dense != 0).sum(axis=1)))).astype("int32")
        x = RNG.random(width).astype("float32")
        got = tvm.nd.empty((rows,), device=device)
        data = (begin, where[1].astype("int32"), dense[where].astype("float32"), x)
        program(*(tvm.nd.array(one, device) for one in data), got)
        tvm.testing.assert_allclose(got.numpy(), dense @ (2 * x) + 1, rtol=1e-5)


@pytest.mark.parametrize("target", [*TARGETS, GPU])
def test_binary_search(target) -> None:
    n, m = te.var("n"), te.var("m")
    table, wanted = te.placeholder((n,), name="table"), te.placeholder((m,), name="wanted")

    def search(ins, outs):
        ib = tir.ir_builder.create()
        sorted_, key, place = ib.buffer_ptr(ins[0]), ib.buffer_ptr(ins[1]), ib.buffer_ptr(outs[0])

        def one(i):
            low = ib.allocate("int32", (1,), name="low", scope="local")
            high = ib.allocate("int32", (1,), name="high", scope="local")
            low[0] = 0
            high[0] = n
            with ib.while_loop(low[0] < high[0]):
                middle = ib.let("middle", (low[0] + high[0]) // 2)
                with ib.if_scope(sorted_[middle] < key[i]):
                    low[0] = middle + 1
                with ib.else_scope():
                    high[0] = middle
            place[i] = low[0]

        if target == "cpu":
            with ib.for_range(0, m, name="i", kind="parallel") as i:
                one(i)
        else:
            bx, tx = threads(ib, te.floordiv(m + 31, 32), 32)
            with ib.if_scope(ib.likely(bx * 32 + tx < m)):
                one(bx * 32 + tx)
        return ib.get()

    place = te.extern((m,), [table, wanted], search, name="place", dtype="int32")
    program, device = build(te.create_schedule(place.op), [table, wanted, place], target)
    if program is None:
        return
    for size, count in ((1, 3), (1000, 77)):
        haystack, needles = np.sort(RNG.random(size)).astype("float32"), RNG.random(count).astype("float32")
        got = tvm.nd.empty((count,), "int32", device)
        program(tvm.nd.array(haystack, device), tvm.nd.array(needles, device), got)
        assert (got.numpy() == np.searchsorted(haystack, needles)).all()


@pytest.mark.parametrize("target", ["sim", "cuda", GPU])
def test_prefix_sum_in_three_kernels(target) -> None:
    """Sums of parts by a tree in shared memory, their prefix sums by one thread, and each part again: parts go by global memory."""
    n, size = te.var("n"), 32
    parts = (n + size - 1) // size
    x = te.placeholder((n,), "int32", "x")

    def prefix(ins, outs):
        ib = tir.ir_builder.create()
        a, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        sums = ib.allocate("int32", (parts,), name="sums", scope="global")
        with ib.new_scope():
            bx, tx = threads(ib, parts, size)
            tree = ib.allocate("int32", (size,), name="tree", scope="shared")
            with ib.if_scope(bx * size + tx < n):
                tree[tx] = a[bx * size + tx]
            with ib.else_scope():
                tree[tx] = 0
            for step in (16, 8, 4, 2, 1):
                with ib.if_scope(tx < step):
                    tree[tx] += tree[tx + step]
            with ib.if_scope(tx == 0):
                sums[bx] = tree[0]
        with ib.new_scope():
            threads(ib, 1, 1)
            with ib.for_range(1, parts, name="part") as part:
                sums[part] += sums[part - 1]
        with ib.new_scope():
            bx, tx = threads(ib, 1, size)
            with ib.for_range(0, (parts + size - 1) // size, name="round") as turn:
                part = turn * size + tx
                with ib.if_scope(part < parts):
                    so_far = ib.allocate("int32", (1,), name="so_far", scope="local")
                    so_far[0] = 0
                    with ib.if_scope(part > 0):
                        so_far[0] = sums[part - 1]
                    with ib.for_range(0, size, name="i") as i:
                        with ib.if_scope(part * size + i < n):
                            so_far[0] += a[part * size + i]
                            y[part * size + i] = so_far[0]
        return ib.get()

    y = te.extern((n,), [x], prefix, name="y")
    program, device = build(te.create_schedule(y.op), [x, y], target)
    if program is None:
        return
    for length in (1, 32, 1000):
        given = RNG.integers(-9, 9, length).astype("int32")
        got = tvm.nd.empty((length,), "int32", device)
        program(tvm.nd.array(given, device), got)
        assert (got.numpy() == np.cumsum(given)).all()


@pytest.mark.parametrize("target", [*TARGETS, GPU])
def test_histogram(target) -> None:
    """Each thread counts its own bin; a stage reads the counts."""
    n, bins = 500, 40
    data = te.placeholder((n,), "int32", "data")

    def count(ins, outs):
        ib = tir.ir_builder.create()
        value, counts = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])

        def one(b):
            counts[b] = 0
            with ib.for_range(0, n, name="i") as i:
                with ib.if_scope(value[i] == b):
                    counts[b] += 1

        if target == "cpu":
            with ib.for_range(0, bins, name="b") as b:
                one(b)
        else:
            bx, tx = threads(ib, 5, 8)
            one(bx * 8 + tx)
        return ib.get()

    counts = te.extern((bins,), [data], count, name="counts")
    share = te.compute((bins,), lambda i: counts[i].astype("float32") / n, name="share")
    program, device = build(on(target, te.create_schedule(share.op), share), [data, share], target)
    if program is None:
        return
    given = RNG.integers(0, bins, n).astype("int32")
    got = tvm.nd.empty((bins,), device=device)
    program(tvm.nd.array(given, device), got)
    tvm.testing.assert_allclose(got.numpy(), np.bincount(given, minlength=bins) / n, rtol=1e-6)
