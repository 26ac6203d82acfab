"""te.extern: what its statements may be, what they compute, and what is refused, with the user's line."""

import numpy as np
import pytest

import tilewright as tvm
from tilewright import CompileError, ScheduleError, te, tir


def one_kernel(ib, size):
    tx = te.thread_axis("threadIdx.x")
    ib.scope_attr(tx, "thread_extent", size)
    return tx


def copied(write=None, dtype=None, **options):
    """An extern of 8 elements of one input, which `write` fills."""
    a = te.placeholder((8,), name="a")

    def fcompute(ins, outs):
        ib = tir.ir_builder.create()
        if write is None:
            with ib.for_range(0, 8, name="i") as i:
                ib.buffer_ptr(outs[0])[i] = ins[0][i]
        else:
            write(ib, ins, outs)
        return ib.get()

    return a, te.extern((8,), [a], fcompute, name="copied", dtype=dtype, **options)


def error(kind, call) -> str:
    """The text of what `call` raises, which names this file."""
    with pytest.raises(kind) as caught:
        call()
    line, text = str(caught.value).split(": ", 1)
    assert line.startswith(__file__)
    return text


def test_what_it_is() -> None:
    a, c = copied(tag="mine", attrs={"note": 1})
    assert isinstance(c.op, te.ExternOp)
    assert c.op.input_tensors == (a,) and c.op.axis == () and c.op.num_outputs == 1
    assert (c.op.tag, c.op.attrs) == ("mine", {"note": 1})
    assert str(c) == "Tensor(name=copied, shape=(8,), dtype=float32)"


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_all_statements(target) -> None:
    """Loops of all kinds, choices, names, a flat index, buffers of one's own and vstore."""
    n = te.var("n")
    a = te.placeholder((n, 6), name="a")
    read, made = tir.decl_buffer((n, 6), name="read"), tir.decl_buffer((n, 6), name="made")

    def fcompute(ins, outs):
        assert ins == [read] and outs == [made]
        ib = tir.ir_builder.create()
        out = ib.buffer_ptr(outs[0])

        def row(i):
            half = ib.let("half", ins[0][i, 0] * 0.5)
            own = ib.allocate("float32", (2, 3), name="own", scope="local")
            with ib.for_range(0, 6, name="j", kind="unroll") as j:
                own[j] = ib.buffer_ptr(ins[0])[i * 6 + j] + half
            with ib.for_range(2, 6, name="j", kind="vectorize") as j:
                out[i, j] = own[j]
            with ib.if_scope(i % 2 == 0):
                ib.emit(outs[0].vstore([i, 0], own[0, 0]))
            with ib.else_scope():
                out[i, 0] = -ins[0].vload([i, 0])
            out[i, 1] = i.astype("float32")

        if target == "cpu":
            with ib.for_range(0, n, name="i", kind="parallel") as i:
                row(i)
        else:
            bx = te.thread_axis("blockIdx.x")
            ib.scope_attr(bx, "thread_extent", n)
            row(bx)
        return ib.get()

    c = te.extern((n, 6), [a], fcompute, name="c", in_buffers=[read], out_buffers=[made])
    program = tvm.build(te.create_schedule(c.op), [a, c], target)
    x = np.arange(30, dtype="float32").reshape(5, 6)
    expected = x + x[:, :1] / 2
    expected[1::2, 0] = -x[1::2, 0]
    expected[:, 1] = range(5)
    got = tvm.nd.empty(x.shape)
    program(tvm.nd.array(x), got)
    np.testing.assert_array_equal(got.numpy(), expected)


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_vectorize_keeps_the_order(target) -> None:
    """A sum, a shift and a scratch element: what one iteration stores the next loads, so that lanes would be wrong."""
    a, b = (te.placeholder((8,), name=name) for name in "ab")

    def fcompute(ins, outs):
        ib = tir.ir_builder.create()
        if target == "sim":
            one_kernel(ib, 1)
        c, d, e = map(ib.buffer_ptr, outs)
        scratch = ib.allocate("float32", (1,), name="scratch", scope="local")
        c[0] = 0.0
        d[0] = 1.0
        with ib.for_range(0, 8, name="v", kind="vectorize") as v:
            c[0] += ins[0][v] * ins[1][v]
        with ib.for_range(0, 4, name="v", kind="vectorize") as v:
            d[v + 1] = d[v] + ins[0][v]
        with ib.for_range(0, 4, name="v", kind="vectorize") as v:
            scratch[0] = ins[0][v] + 1
            e[v] = scratch[0]
        return ib.get()

    outs = te.extern([(1,), (5,), (4,)], [a, b], fcompute, name="made", dtype=["float32"] * 3)
    program = tvm.build(te.create_schedule(outs[0].op), [a, b, *outs], target)
    x, y = np.arange(8, dtype="float32"), np.arange(8, 16, dtype="float32")
    got = [tvm.nd.empty(shape) for shape in ((1,), (5,), (4,))]
    program(tvm.nd.array(x), tvm.nd.array(y), *got)
    np.testing.assert_array_equal(got[0].numpy(), [x @ y])
    np.testing.assert_array_equal(got[1].numpy(), np.cumsum([1, *x[:4]]))
    np.testing.assert_array_equal(got[2].numpy(), x[:4] + 1)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float16", "bfloat16", "int64"])
@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_types(target, dtype) -> None:
    """A reversed copy by way of memory of each kind."""
    a = te.placeholder((8,), dtype, name="a")

    def fcompute(ins, outs):
        ib = tir.ir_builder.create()
        scope = "shared" if target == "sim" else "local"
        if target == "sim":
            i = one_kernel(ib, 8)
            own = ib.allocate(dtype, (8,), name="own", scope=scope)
            own[i] = ins[0][i]
            ib.buffer_ptr(outs[0])[i] = own[7 - i]
        else:
            own = ib.allocate(dtype, (8,), name="own", scope=scope)
            for source, to in ((ins[0], own), (own, ib.buffer_ptr(outs[0]))):
                with ib.for_range(0, 8) as i:
                    to[i] = source[7 - i if source is own else i]
        return ib.get()

    c = te.extern((8,), [a], fcompute, name="c")
    program = tvm.build(te.create_schedule(c.op), [a, c], target)
    x = (np.arange(8) % 3).astype(dtype) if dtype != "bfloat16" else tvm.nd.array(np.zeros(8), dtype="bfloat16").numpy()
    got = tvm.nd.empty((8,), dtype)
    program(tvm.nd.array(x), got)
    np.testing.assert_array_equal(got.numpy(), x[::-1])


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_between_stages(target) -> None:
    """It reads a stage and is read by stages, of which one is computed in a loop of another; a cache reads its tensor."""
    x = te.placeholder((16,), name="x")
    before = te.compute((16,), lambda i: x[i] * 2, name="before")

    def fcompute(ins, outs):
        ib = tir.ir_builder.create()
        out, last = ib.buffer_ptr(outs[0]), ib.buffer_ptr(outs[1])
        if target == "cpu":
            with ib.for_range(0, 16) as i:
                out[i] = ins[0][15 - i]
        else:
            i = one_kernel(ib, 16)
            out[i] = ins[0][15 - i]
        last[0] = out[15]
        return ib.get()

    turned, last = te.extern([(16,), (1,)], [before], fcompute, name="turned")
    middle = te.compute((16,), lambda i: turned[i] + last[0], name="middle")
    after = te.compute((16,), lambda i: middle[i] * 3, name="after")
    s = te.create_schedule(after.op)
    for stage in (before, after):
        s[stage].bind(s[stage].op.axis[0], te.thread_axis("threadIdx.x"))
    s[middle].compute_at(s[after], after.op.axis[0])
    s[turned].compute_root()
    program = tvm.build(s, [x, after], target)
    given = np.arange(16, dtype="float32")
    got = tvm.nd.empty((16,))
    program(tvm.nd.array(given), got)
    np.testing.assert_array_equal(got.numpy(), (given[::-1] * 2 + given[0] * 2) * 3)


def test_a_cache_of_its_tensor() -> None:
    a, c = copied(lambda ib, ins, outs: ib.buffer_ptr(outs[0]).__setitem__(t := one_kernel(ib, 8), ins[0][t]))
    d = te.compute((8,), lambda i: c[i] + c[7 - i], name="d")
    s = te.create_schedule(d.op)
    outer, inner = s[d].split(d.op.axis[0], 8)
    shared = s.cache_read(c, "shared", [d])
    s[d].bind(outer, te.thread_axis("blockIdx.x"))
    s[d].bind(inner, te.thread_axis("threadIdx.x"))
    s[shared].compute_at(s[d], outer)
    program = tvm.build(s, [a, d], "sim")
    got = tvm.nd.empty((8,))
    program(tvm.nd.array(np.arange(8, dtype="float32")), got)
    np.testing.assert_array_equal(got.numpy(), np.full(8, 7))


def test_virtual_threads_and_two_thread_axes() -> None:
    a = te.placeholder((4, 8), name="a")

    def fcompute(ins, outs):
        ib = tir.ir_builder.create()
        ty, tx, v = (te.thread_axis(tag) for tag in ("threadIdx.y", "threadIdx.x", "vthread"))
        ib.scope_attr(ty, "thread_extent", 2)
        own = ib.allocate("float32", (1,), name="own")
        ib.scope_attr(tx, "thread_extent", 8)
        ib.scope_attr(v, "virtual_thread", 2)
        own[0] = ins[0][v * 2 + ty, tx]
        ib.buffer_ptr(outs[0])[v * 2 + ty, 7 - tx] = own[0]
        return ib.get()

    c = te.extern((4, 8), [a], fcompute, name="c")
    program = tvm.build(te.create_schedule(c.op), [a, c], "sim")
    given = np.arange(32, dtype="float32").reshape(4, 8)
    got = tvm.nd.empty((4, 8))
    program(tvm.nd.array(given), got)
    np.testing.assert_array_equal(got.numpy(), given[:, ::-1])


@pytest.mark.parametrize("first", [0, 1])
def test_a_barrier_between_choices_of_one_condition(first) -> None:
    """Canonicalization once made one of two, in which no barrier can stand: the second reads what the first stores."""

    def write(ib, ins, outs):
        tx = one_kernel(ib, 8)
        shared = ib.allocate("float32", (8,), name="shared", scope="shared")
        shared[tx] = 0.0
        is_one = tir.all(tx >= 1, tx < 5) if first else tx < 5
        with ib.if_scope(is_one):
            shared[tx] = ins[0][tx]
        with ib.if_scope(is_one):
            ib.buffer_ptr(outs[0])[tx] = shared[7 - tx] + shared[5 - tx]

    a, c = copied(write)
    program = tvm.build(te.create_schedule(c.op), [a, c], "sim")
    given = np.arange(1, 9, dtype="float32")
    got = tvm.nd.array(np.full(8, -1, "float32"))
    program(tvm.nd.array(given), got)
    stored = np.where((np.arange(8) >= first) & (np.arange(8) < 5), given, 0)
    expected = np.full(8, -1, "float32")
    expected[first:5] = stored[7 - np.arange(first, 5)] + stored[5 - np.arange(first, 5)]
    np.testing.assert_array_equal(got.numpy(), expected)


def test_a_barrier_between_choices_with_an_else() -> None:
    """No barrier stood between what one branch stores and the other one loads, once there was but one choice."""

    def write(ib, ins, outs):
        tx, out = one_kernel(ib, 8), ib.buffer_ptr(outs[0])
        shared = ib.allocate("float32", (8,), name="shared", scope="shared")
        with ib.if_scope(tx < 4):
            shared[tx] = ins[0][tx]
        with ib.else_scope():
            shared[tx] = ins[0][tx] * 2
        with ib.if_scope(tx < 4):
            out[tx] = shared[7 - tx]
        with ib.else_scope():
            out[tx] = shared[7 - tx] + 1

    a, c = copied(write)
    program = tvm.build(te.create_schedule(c.op), [a, c], "sim")
    got = tvm.nd.empty((8,))
    program(tvm.nd.array(np.arange(8, dtype="float32")), got)
    np.testing.assert_array_equal(got.numpy(), [14, 12, 10, 8, 4, 3, 2, 1])


def test_the_nest() -> None:
    n = te.var("n")
    a = te.placeholder((n,), "int32", "a")

    def fcompute(ins, outs):
        ib = tir.ir_builder.create()
        out = ib.buffer_ptr(outs[0])
        out[0] = 0
        with ib.while_loop(out[0] < 9):
            with ib.for_range(1, n, name="i") as i, ib.if_scope(ins[0][i] > 0):
                with ib.for_range(ins[0][i], n, name="j") as j:
                    out[0] += j
        return ib.get()

    c = te.extern((1,), [a], fcompute, name="c")
    assert str(te.create_schedule(c.op)) == (
        "c[0] = 0\n"
        "while c[0] < 9:\n"
        "  for i in range(n - 1):  # c\n"
        "    if a[i + 1] > 0:\n"
        "      for j in range(n - a[i + 1]):\n"
        "        c[0] += j + a[i + 1]"
    )


def test_what_a_schedule_does_not_change() -> None:
    a, c = copied()
    b = te.compute((8,), lambda i: c[i] + 1, name="b")
    s = te.create_schedule(b.op)
    text = "error: expected a stage with loops of its own, got the extern 'copied', whose statements say how it is computed"
    i = b.op.axis[0]
    calls = (
        lambda: s[c].compute_at(s[b], i),
        lambda: s[c].compute_inline(),
        lambda: s[c].reverse_compute_at(s[b], i),
        lambda: s[c].set_scope("shared"),
        lambda: s[c].double_buffer(),
        lambda: s[c].rolling_buffer(),
        lambda: s[c].transform_layout(lambda j: [j]),
        lambda: s[c].env_threads(te.thread_axis((0, 8), "threadIdx.x")),
        lambda: s.cache_write(c, "local"),
        lambda: s.cache_read(a, "shared", [c]),
    )
    for call in calls:
        assert error((ScheduleError, ValueError), call) in (
            text,
            "error: reverse_compute_at: expected a stage that 'copied' reads, got stage 'b'",
        )
    assert error(ScheduleError, lambda: s[c].split(i, 2)) == (
        "error: split: expected an axis of stage 'copied' (none), got 'i' of stage 'b'"
    )
    assert error(ScheduleError, lambda: s.rfactor(c, i)) == (
        "error: rfactor: expected a stage with a reduction, got 'copied'"
    )


def test_what_it_reads_is_there_whole() -> None:
    x = te.placeholder((8,), name="x")
    y = te.compute((8,), lambda i: x[i] + 1, name="y")

    def fcompute(ins, outs):
        ib = tir.ir_builder.create()
        tx = one_kernel(ib, 8)
        ib.buffer_ptr(outs[0])[tx] = ins[0][tx]
        return ib.get()

    c = te.extern((8,), [y], fcompute, name="c")
    s = te.create_schedule(c.op)
    s[y].compute_inline()
    assert error(ScheduleError, lambda: tvm.build(s, [x, c], "sim")).splitlines()[0] == (
        "error: compute_inline: expected a stage whose elements are read at indices, got stage 'y', whose tensor the extern 'c' "
        "reads"
    )


def test_targets() -> None:
    a, c = copied()
    s = te.create_schedule(c.op)
    text = error(ScheduleError, lambda: tvm.build(s, [a, c], "sim")).splitlines()[0]
    assert text == (
        "error: stage 'copied' is not bound to any block or thread: let all of its statements stand in thread axes, such as "
        'ib.scope_attr(te.thread_axis("blockIdx.x"), "thread_extent", 1)'
    )
    a, c = copied(lambda ib, ins, outs: ib.buffer_ptr(outs[0]).__setitem__(t := one_kernel(ib, 8), ins[0][t]))
    text = error(CompileError, lambda: tvm.build(te.create_schedule(c.op), [a, c], "cpu")).splitlines()[0]
    assert text == (
        "error: te.extern 'copied': expected loops for target cpu, got a thread axis, threadIdx.x: use ib.for_range"
    )


def test_an_extent_that_is_not_known_at_the_launch() -> None:
    a = te.placeholder((8,), "int32", "a")

    def fcompute(ins, outs):
        ib = tir.ir_builder.create()
        bx = te.thread_axis("blockIdx.x")
        ib.scope_attr(bx, "thread_extent", ins[0][0])
        ib.buffer_ptr(outs[0])[bx] = 1
        return ib.get()

    c = te.extern((8,), [a], fcompute, name="c")
    text = error(ScheduleError, lambda: tvm.build(te.create_schedule(c.op), [a, c], "sim")).splitlines()[0]
    assert text == (
        "error: stage 'c' is not bound to any block or thread: let all of its statements stand in thread axes, such as "
        'ib.scope_attr(te.thread_axis("blockIdx.x"), "thread_extent", 1)'
    )


@pytest.mark.parametrize("where", ["store", "load", "thread", "sum"])
def test_a_loop_that_leaves_a_buffer(where: str) -> None:
    a = te.placeholder((8, 4), name="a")

    def fcompute(ins, outs):
        ib = tir.ir_builder.create()
        x, c = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        if where == "thread":
            tx = te.thread_axis("threadIdx.x")
            ib.scope_attr(tx, "thread_extent", 9)
            c[tx] = x[0, 0]
            return ib.get()
        with ib.for_range(0, 9 if where == "store" else 8) as i:
            with ib.for_range(1, 4) as j:
                c[i] = x[7 - i, j] if where == "store" else x[i, j + 1] if where == "load" else x[2 * i - j - 1, j]
        return ib.get()

    text = {
        "store": "index 0 of c: expected 0 to 7, got 0 to 8",
        "load": "index 1 of a: expected 0 to 3, got 2 to 4",
        "thread": "index 0 of c: expected 0 to 7, got 0 to 8",
        "sum": "index 0 of a: expected 0 to 7, got -4 to 12",
    }[where]
    assert error(ValueError, lambda: te.extern((8,), [a], fcompute, name="c")) == text


def test_what_a_condition_guards_may_leave_a_buffer() -> None:
    a = te.placeholder((8,), name="a")

    def fcompute(ins, outs):
        ib = tir.ir_builder.create()
        x, c = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, 9) as i:
            with ib.if_scope(i < 8):
                c[i] = te.if_then_else(i > 0, x[i - 1], 0.0)
        with ib.for_range(0, 0) as i:
            c[i + 9] = 0.0
        return ib.get()

    c = te.extern((8,), [a], fcompute, name="c")
    func = tvm.build(te.create_schedule(c.op), [a, c], "cpu")
    x, y = np.arange(8, dtype="float32"), np.empty(8, "float32")
    func(x, y)
    np.testing.assert_array_equal(y, [0, 0, 1, 2, 3, 4, 5, 6])


def test_arguments() -> None:
    a, h = te.placeholder((8,), name="a"), te.placeholder((8,), "float16", "h")
    wrong = tir.decl_buffer((4,), name="wrong")

    def extern(inputs=(a,), fcompute=lambda ins, outs: [], **options):
        return te.extern((8,), list(inputs), fcompute, name="c", **options)

    assert error(TypeError, lambda: extern(["a"])) == "extern c: input 0: expected a tensor, got 'a'"
    assert error(ValueError, lambda: extern([a, h])) == (
        "extern c: expected a dtype where the inputs are not of one, got float32, float16"
    )
    assert error(ValueError, lambda: extern([])) == (
        "extern c: expected a dtype where the inputs are not of one, got no input"
    )
    assert error(ValueError, lambda: extern(dtype=["int8", "int8"])) == (
        "extern c: expected 1 dtypes, one a result, got 2"
    )
    assert error(ValueError, lambda: extern(in_buffers=[])) == (
        "extern c: in_buffers: expected 1 buffers, one a tensor, got 0"
    )
    assert error(TypeError, lambda: extern(in_buffers=[a])) == (
        "extern c: in_buffers: expected buffers of decl_buffer, got Tensor(name=a, shape=(8,), dtype=float32)"
    )
    assert error(ValueError, lambda: extern(out_buffers=wrong)) == (
        "extern c: out_buffers: expected a buffer for c of [8] float32, got buffer(wrong, [4], float32)"
    )
    twice = tir.decl_buffer((8,), name="twice")
    assert error(ValueError, lambda: extern([a, a], in_buffers=[twice, twice])) == (
        "extern c: in_buffers: expected a buffer for each tensor, got twice twice"
    )
    assert error(TypeError, lambda: extern(fcompute=lambda ins, outs: 3)) == (
        "extern c: expected statements, as ib.get() returns, got 3: a function of a library is called beside the built one"
    )
    assert error(TypeError, extern) == ("extern c: expected statements, as ib.get() returns, got none")
    assert error(ValueError, lambda: copied(lambda ib, ins, outs: ib.buffer_ptr(ins[0]).__setitem__(0, 1.0))) == (
        "extern copied: expected stores to its results, got one to the input a"
    )


def test_gradient() -> None:
    a, c = copied()
    d = te.compute((8,), lambda i: c[i] * 2, name="d")
    text = error(TypeError, lambda: te.gradient(d, [a]))
    assert text.startswith("te.gradient of copied: expected expressions, got an extern (")


def test_thread_axes() -> None:
    tx, v = te.thread_axis("threadIdx.x"), te.thread_axis("vthread")
    ib = tir.ir_builder.create()
    assert error(ValueError, lambda: ib.scope_attr(tx, "pragma_unroll", 1)) == (
        "scope_attr: expected one of thread_extent, virtual_thread, got 'pragma_unroll'"
    )
    assert error(TypeError, lambda: ib.scope_attr("threadIdx.x", "thread_extent", 8)) == (
        "scope_attr thread_extent: expected te.thread_axis(...), got 'threadIdx.x'"
    )
    assert error(ValueError, lambda: ib.scope_attr(v, "thread_extent", 8)) == (
        "scope_attr vthread: expected virtual_thread for it, got thread_extent"
    )
    assert error(ValueError, lambda: ib.scope_attr(tx, "virtual_thread", 8)) == (
        "scope_attr threadIdx.x: expected thread_extent for it, got virtual_thread"
    )
    assert error(TypeError, lambda: ib.scope_attr(tx, "thread_extent", 8.0)) == (
        "scope_attr threadIdx.x: expected an integer as extent, got 8.0"
    )
    assert error(ValueError, lambda: ib.scope_attr(tx, "thread_extent", 0)) == (
        "scope_attr threadIdx.x: expected an extent of at least 1, got 0"
    )
    assert error(ValueError, lambda: ib.scope_attr(te.thread_axis((0, 4), "threadIdx.x"), "thread_extent", 8)) == (
        "scope_attr threadIdx.x: expected its extent, 4, got 8"
    )
    with ib.new_scope():
        ib.scope_attr(tx, "thread_extent", 8)
        assert error(ValueError, lambda: ib.scope_attr(tx, "thread_extent", 8)).startswith(
            "scope_attr threadIdx.x: expected each index once, got it in that of "
        )
        assert error(ValueError, lambda: ib.allocate("float32", 4, "t", scope="global")) == (
            "allocate t: expected scope shared or local in thread axes, got 'global': a buffer in global memory is allocated "
            "before a kernel"
        )
    ib.scope_attr(tx, "thread_extent", 8)
    ib = tir.ir_builder.create()
    with ib.for_range(0, 4):
        assert error(ValueError, lambda: ib.scope_attr(tx, "thread_extent", 8)).startswith(
            "scope_attr threadIdx.x: expected a thread axis outside of loops and choices, got one in that of line "
        )


def test_what_statements_are_made_of() -> None:
    def build(write):
        a, c = copied(write)
        return tvm.lower(te.create_schedule(c.op), [a, c], stage="te")

    other, tx = te.placeholder((8,), name="other"), te.thread_axis("threadIdx.x")
    assert error(ValueError, lambda: build(lambda ib, ins, outs: ib.buffer_ptr(outs[0]).__setitem__(0, other[0]))) == (
        "expected loads of buffers, got one of the tensor other"
    )
    assert error(ValueError, lambda: build(lambda ib, ins, outs: ib.buffer_ptr(outs[0]).__setitem__(tx, 1.0))) == (
        "expected variables of the loops and thread axes around (none), got threadIdx.x"
    )

    def late_buffer(ib, ins, outs):
        with ib.for_range(0, 8) as i:
            own = ib.allocate("float32", 1, name="own")
            own[0] = ins[0][i]
        ib.buffer_ptr(outs[0])[0] = own[0]

    assert error(ValueError, lambda: build(late_buffer)) == (
        "expected one of the buffers of the statements (a, copied), got own"
    )

    def late_name(ib, ins, outs):
        with ib.if_scope(ins[0][0] > 0):
            half = ib.let("half", ins[0][0] / 2)
        with ib.else_scope():
            ib.buffer_ptr(outs[0])[0] = half

    assert error(ValueError, lambda: build(late_name)) == (
        "expected variables of the loops and thread axes around (none), got half"
    )
    assert error(ValueError, lambda: copied(lambda ib, ins, outs: ib.buffer_ptr(outs[0]).__setitem__(-1, 1.0))) == (
        "index 0 of copied: expected 0 to 7, got -1"
    )
    assert error(TypeError, lambda: copied(lambda ib, ins, outs: ib.while_loop(ins[0][0]).__enter__())) == (
        "while_loop: expected a condition, got a[0] of float32"
    )
    n = te.var("n")
    buffer = tir.decl_buffer((n,), name="b")
    assert error(ValueError, lambda: buffer[-1]) == "index 0 of b: expected 0 to its extent, got -1"


def test_intrinsics_are_of_a_thread() -> None:
    x = te.placeholder((4,), name="x")
    y = te.compute((4,), lambda i: x[i], name="y")

    def declared(write):
        def fcompute(ins, outs):
            ib = tir.ir_builder.create()
            write(ib)
            with ib.for_range(0, 4) as i:
                ib.buffer_ptr(outs[0])[i] = ins[0][i]
            return ib.get()

        return te.decl_tensor_intrin(y.op, fcompute, name="copy")

    assert error(ValueError, lambda: declared(lambda ib: ib.allocate("float32", 4, "t", scope="shared"))) == (
        "decl_tensor_intrin copy: expected buffers of a thread's own, of scope local, got t of scope 'shared': cache_read in it"
    )
    assert error(TypeError, lambda: declared(lambda ib: ib.allocate("float32", te.var("n"), "t"))) == (
        "decl_tensor_intrin copy: expected constant extents of t, got (n,)"
    )
    assert error(ValueError, lambda: declared(lambda ib: one_kernel(ib, 4))) == (
        "decl_tensor_intrin copy: expected statements of one thread, got a loop on threadIdx.x: bind the loops around"
    )


def test_types_of_buffers():
    """Those of `out_buffers`, where no others are said."""
    a = te.placeholder((8,), name="a")
    values, places = tir.decl_buffer((8,), "float32", name="v"), tir.decl_buffer((8,), "int32", name="p")

    def mirrored(ins, outs):
        ib = tir.ir_builder.create()
        v, p, x = ib.buffer_ptr(outs[0]), ib.buffer_ptr(outs[1]), ib.buffer_ptr(ins[0])
        with ib.for_range(0, 8) as i:
            v[i] = x[7 - i]
            p[i] = 7 - i
        return ib.get()

    one, other = te.extern([(8,), (8,)], [a], mirrored, out_buffers=[values, places])
    assert (one.dtype, other.dtype) == ("float32", "int32")
    f = tvm.build(te.create_schedule(one.op), [a, one, other], "cpu")
    given = np.arange(8, dtype="float32")
    got = tvm.testing.run(f, [given], [((8,), "float32"), ((8,), "int32")])
    np.testing.assert_array_equal(got[0], given[::-1])
    np.testing.assert_array_equal(got[1], np.arange(8)[::-1])
