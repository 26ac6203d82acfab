"""Where the elements of a buffer lie: transform_layout, swizzle and rolling_buffer."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import CompileError, ScheduleError, te, testing

TARGETS = ["sim", "cpu"]


def refused(call) -> str:
    with pytest.raises((CompileError, ScheduleError)) as caught:
        call()
    return str(caught.value).split("error: ", 1)[1].split("\n")[0]


def lowered(s, *args) -> str:
    return refused(lambda: tw.lower(s, list(args), stage="loops"))


def check(s, args, inputs, wanted, target, name="f"):
    (got,) = testing.run(tw.build(s, args, target=target, name=name), inputs, [(wanted.shape, "float32")])
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


def replays(s, *outputs):
    again = te.create_schedule([one.op for one in outputs])
    te.Trace.from_json(s.trace().to_json()).apply(again)
    assert again.ir() == s.ir()
    named = {one.op.name: one for one in outputs}
    scope = {"te": te, **named, **{t.op.name: t for one in outputs for t in one.op.input_tensors}}
    exec(str(s.trace()), scope)
    assert scope["s"].ir() == s.ir()


def transposed(rows=64, columns=48, tile=16, scope="shared"):
    A = te.placeholder((rows, columns), name="A")
    C = te.compute((columns, rows), lambda i, j: A[j, i] * 2, name="C")
    s = te.create_schedule(C.op)
    AA = s.cache_read(A, scope, [C])
    io, jo, ii, ji = s[C].tile(*C.op.axis, tile, tile)
    for axis, thread in ((io, "blockIdx.y"), (jo, "blockIdx.x"), (ii, "threadIdx.y"), (ji, "threadIdx.x")):
        s[C].bind(axis, te.thread_axis(thread))
    s[AA].compute_at(s[C], jo)
    return s, A, C, AA


def check_transposed(s, A, C, target):
    a = np.random.default_rng(0).standard_normal(A.shape).astype(np.float32)
    check(s, [A, C], [a], 2 * a.T, target)


LAYOUTS = {
    "columns of 4": lambda i, j: [j // 4, i, j % 4],
    "transposed": lambda i, j: [j, i],
    "flat": lambda i, j: [i * 16 + j],
    "mirrored": lambda i, j: (15 - i, j),
    "of TVM's functions": lambda *i: [te.indexdiv(i[1], 8), i[0], te.indexmod(i[1], 8)],
    "text": "affine_map<(i, j) -> (j, i)>",
}


@pytest.mark.sample(6)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_transform_layout(layout: str, target: str) -> None:
    s, A, C, AA = transposed()
    s[AA].transform_layout(LAYOUTS[layout])
    check_transposed(s, A, C, target)
    replays(s, C)


@pytest.mark.parametrize("target", TARGETS)
def test_a_layout_of_a_stage_between_kernels(target: str) -> None:
    # Its extents are symbolic: the layout is by axes, quotients and remainders.
    n = te.var("n", divisible_by=4)
    A = te.placeholder((n, 8), name="A")
    B = te.compute((n, 8), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((n, 8), lambda i, j: B[i, 7 - j] * 2, name="C")
    s = te.create_schedule(C.op)
    for stage in (B, C):
        s[stage].bind(stage.op.axis[0], te.thread_axis("blockIdx.x"))
        s[stage].bind(stage.op.axis[1], te.thread_axis("threadIdx.x"))
    s[B].transform_layout(lambda i, j: [j, i // 4, i % 4])
    a = np.random.default_rng(0).standard_normal((12, 8)).astype(np.float32)
    check(s, [A, C], [a], (a[:, ::-1] + 1) * 2, target)


@pytest.mark.parametrize("target", TARGETS)
def test_reads_at_computed_indices_go_to_the_place(target: str) -> None:
    A = te.placeholder((16, 8), name="A")
    at = te.placeholder((16,), "int32", name="at")
    B = te.compute((16, 8), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((16, 8), lambda i, j: B[at[i], j], name="C")
    for write in (lambda stage: stage.transform_layout(lambda i, j: [j, i]), lambda stage: stage.swizzle(2)):
        s = te.create_schedule(C.op)
        for stage in (B, C):
            s[stage].bind(stage.op.axis[0], te.thread_axis("blockIdx.x"))
        write(s[B])
        a = np.random.default_rng(0).standard_normal((16, 8)).astype(np.float32)
        places = np.random.default_rng(1).permutation(16).astype(np.int32)
        check(s, [A, at, C], [a, places], a[places] + 1, target)


def test_what_is_no_layout() -> None:
    s, A, C, AA = transposed()
    with pytest.raises(TypeError, match="transform_layout: expected a function of the indices, got 3$"):
        s[AA].transform_layout(3)
    with pytest.raises(
        ValueError, match=r"transform_layout: expected a function of 2 indices, one a dimension, got 1$"
    ):
        s[AA].transform_layout(lambda i: [i])
    with pytest.raises(TypeError, match=r"transform_layout: expected a list of indices, got i$"):
        s[AA].transform_layout(lambda i, j: i)
    with pytest.raises(ValueError, match=r"quotients and remainders by constants, got i \* j$"):
        s[AA].transform_layout(lambda i, j: [i * j])
    with pytest.raises(ValueError, match=r"transform_layout: expected an affine map, affine_map<...>, got 'x'$"):
        s[AA].transform_layout("x")
    assert refused(lambda: s[C].transform_layout(lambda i, j: [j, i])) == (
        "transform_layout: expected a tensor of the program's own, got the output 'C', whose elements lie as the caller's "
        "array has them: cache_write it"
    )


def test_layouts_without_a_place_for_each() -> None:
    for layout, reason in (
        (
            lambda i, j: [i, j // 2],
            "expected a place of its own for each element, got one for those at [0, 0] and [0, 1]",
        ),
        (lambda i, j: [i - 1, j], "expected places from 0 on, got some that are less or not known to be"),
        (lambda i, j: [i * 100000 + j], "expected a layout by axes and their quotients and remainders, or at most 1048576 places, got a buffer of more"),
    ):  # fmt: skip
        s, A, C, AA = transposed()
        s[AA].transform_layout(layout)
        assert lowered(s, A, C) == f"transform_layout of stage 'A.shared': {reason}"
    s, A, C, AA = transposed()
    s[AA].transform_layout("affine_map<(i) -> (i)>")
    assert lowered(s, A, C) == (
        "transform_layout of stage 'A.shared': expected a layout of 2 indices, one a dimension, got one of 1"
    )
    n = te.var("n")
    A = te.placeholder((n, 8), name="A")
    B = te.compute((n, 8), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((n, 8), lambda i, j: B[i, j] * 2, name="C")
    s = te.create_schedule(C.op)
    s[B].transform_layout(lambda i, j: [i * 8 + j])
    assert lowered(s, A, C) == (
        "transform_layout of stage 'B': expected a layout by axes and their quotients and remainders where an extent is "
        "symbolic, got another"
    )


def test_a_layout_and_other_primitives() -> None:
    s, A, C, AA = transposed()
    s[AA].transform_layout(lambda i, j: [j, i])
    assert refused(lambda: s[AA].transform_layout(lambda i, j: [j, i])) == (
        "transform_layout: expected one layout of stage 'A.shared', got a second"
    )
    s[AA].storage_align(AA.op.axis[0], 32, 1)
    assert lowered(s, A, C) == (
        "transform_layout of stage 'A.shared': expected a stage without storage_align, which sets rows apart that this moves"
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("granule", [1, 2, 4, 8])
def test_swizzle(granule: int, target: str) -> None:
    s, A, C, AA = transposed()
    s[AA].swizzle(granule)
    check_transposed(s, A, C, target)
    replays(s, C)


@pytest.mark.parametrize("target", TARGETS)
def test_swizzle_of_a_layout(target: str) -> None:
    s, A, C, AA = transposed()
    s[AA].transform_layout(lambda i, j: [j, i])
    s[AA].swizzle(4)
    check_transposed(s, A, C, target)


def banks_of_a_column(granule: int | None) -> set[int]:
    """The banks of 4 bytes that 16 threads reach that read down a column of 32 floats."""
    row, column = np.arange(16), 5
    at = column if granule is None else ((column // granule) ^ (row % (32 // granule))) * granule + column % granule
    return set(((row * 32 + at) % 32).tolist())


def test_a_column_lies_in_other_banks() -> None:
    assert len(banks_of_a_column(None)) == 1 and len(banks_of_a_column(4)) == 8 and len(banks_of_a_column(1)) == 16
    s, _, C, AA = transposed(64, 64, 32)
    s[AA].swizzle(4)
    assert "A.shared[j.inner, (i.inner//4 ^ j.inner%8)*4 + i.inner%4] * 2.0" in str(s)


def test_granules_stay_together_for_vectors() -> None:
    A = te.placeholder((64, 64), name="A")
    C = te.compute((64, 64), lambda i, j: A[i, 63 - j], name="C")

    def ptx(swizzles: bool, asynchronous: bool) -> str:
        s = te.create_schedule(C.op)
        AA = s.cache_read(A, "shared", [C])
        io, ii = s[C].split(C.op.axis[0], factor=16)
        k, jo = s[C].split(C.op.axis[1], factor=32)
        s[C].reorder(io, k, ii, jo)
        s[C].bind(io, te.thread_axis("blockIdx.x"))
        s[C].bind(ii, te.thread_axis("threadIdx.y"))
        s[C].bind(jo, te.thread_axis("threadIdx.x"))
        s[AA].compute_at(s[C], k)
        co, ci = s[AA].split(AA.op.axis[1], factor=4)
        s[AA].vectorize(ci)
        if swizzles:
            s[AA].swizzle(4)
        if asynchronous:
            s[C].software_pipeline(k, 2, use_async=True)
        return tw.build(s, [A, C], target="cuda -arch=sm_90a").ptx

    assert ptx(False, False).count("st.shared.v4") == ptx(True, False).count("st.shared.v4") > 0
    assert ptx(False, True).count("cp.async.cg") == ptx(True, True).count("cp.async.cg") > 0


def test_rows_that_cannot_be_swizzled() -> None:
    what = "swizzle of stage 'A.shared':"
    for tile, granule, reason in (
        (24, 4, f"{what} expected rows of a power of two granules of 4 elements, got rows of 24 elements"),
        (16, 32, f"{what} expected rows of a power of two granules of 32 elements, got rows of 16 elements"),
        (16, 16, f"{what} expected rows of more than one granule, got rows of 16 elements and a granule of 16"),
    ):
        s, A, C, AA = transposed(48, 48, tile)
        s[AA].swizzle(granule)
        assert lowered(s, A, C) == reason
    s, *_, AA = transposed()
    assert refused(lambda: s[AA].swizzle(3)) == "swizzle: expected a granule of a power of two elements, got 3"
    A = te.placeholder((16,), name="A")
    B = te.compute((16,), lambda i: A[i] + 1, name="B")
    C = te.compute((16,), lambda i: B[i] * 2, name="C")
    s = te.create_schedule(C.op)
    s[B].swizzle()
    assert lowered(s, A, C) == "swizzle of stage 'B': expected a buffer with rows, of 2 dimensions or more, got 1"
    s = te.create_schedule(C.op)
    s[C].swizzle()
    assert lowered(s, A, C) == (
        "swizzle of stage 'C': expected a tensor of the program's own, got an output, which lies in memory as the caller has "
        "it: cache_write it"
    )


def test_what_else_is_not_swizzled() -> None:
    n = te.var("n")
    A = te.placeholder((8, n), name="A")
    B = te.compute((8, n), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((8, n), lambda i, j: B[i, j] * 2, name="C")
    s = te.create_schedule(C.op)
    s[B].swizzle()
    assert lowered(s, A, C) == "swizzle of stage 'B': expected rows of constant extent, got one that is symbolic"
    X = te.placeholder((16, 32), name="X")
    state = te.placeholder((16, 32), name="state")
    init = te.compute((1, 32), lambda _, i: X[0, i], name="init")
    update = te.compute((16, 32), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    scan = te.scan(init, update, state, inputs=[X], name="scan")
    D = te.compute((16, 32), lambda t, i: scan[t, i] * 2, name="D")
    s = te.create_schedule(D.op)
    s[update].swizzle()
    assert lowered(s, X, D).endswith("expected a stage that does not read its own tensor, got a scan")


# Rolling buffers.


def stencil(height=64, width=64, taps=3, step=1):
    A = te.placeholder(((height - 1) * step + taps, width), name="A")
    B = te.compute(A.shape, lambda y, x: A[y, x] * 2 + 1, name="B")
    k = te.reduce_axis((0, taps), name="k")
    C = te.compute((height, width), lambda y, x: te.sum(B[y * step + k, x], axis=k), name="C")
    return A, B, C


def reference(a, height, taps, step):
    b = 2 * a.astype(np.float64) + 1
    return sum(b[k : k + (height - 1) * step + 1 : step] for k in range(taps)).astype(np.float32)


def rolled(height=60, width=32, taps=3, step=1, rows=16, scope="shared"):
    A, B, C = stencil(height, width, taps, step)
    s = te.create_schedule(C.op)
    y, x = C.op.axis
    yo, yi = s[C].split(y, factor=rows)
    s[C].bind(yo, te.thread_axis("blockIdx.x"))
    if scope == "local":
        s[C].reorder(yo, x, yi)
    s[C].bind(x, te.thread_axis("threadIdx.x"))
    s[B].compute_at(s[C], yi)
    return s, A, B, C


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("scope", ["shared", "local"])
@pytest.mark.parametrize(("taps", "step"), [(3, 1), (5, 2), (2, 1)])
def test_rolling_buffer(target: str, scope: str, taps: int, step: int) -> None:
    # The last block has rows beyond the end.
    s, A, B, C = rolled(taps=taps, step=step, scope=scope)
    s[B].rolling_buffer()
    a = np.random.default_rng(0).standard_normal(A.shape).astype(np.float32)
    check(s, [A, C], [a], reference(a, 60, taps, step), target)
    again = te.create_schedule(C.op)
    s.trace().apply(again)
    assert again.ir() == s.ir()


def test_each_row_is_computed_once() -> None:
    s, _, B, _ = rolled(rows=16)
    s[B].rolling_buffer()
    nest = str(s)
    assert "B: shared float32[3, 32]\n  for y.inner in range(16):" in nest
    assert "(y.inner == 0 or y.x.fused.outer >= 2):" in nest and "C.acc += B[(k + y.inner)%3, x]" in nest


@pytest.mark.parametrize("target", TARGETS)
def test_padding_before_the_first_row(target: str) -> None:
    # The first window begins before the tensor.
    A = te.placeholder((32, 32), name="A")
    B = te.compute((32, 32), lambda y, x: A[y, x] * 2, name="B")
    k = te.reduce_axis((0, 3), name="k")
    C = te.compute(
        (32, 32),
        lambda y, x: te.sum(te.if_then_else(te.all(y + k >= 1, y + k < 33), B[y + k - 1, x], 0.0), axis=k),
        name="C",
    )
    s = te.create_schedule(C.op)
    y, x = C.op.axis
    xo, xi = s[C].split(x, factor=16)
    s[C].reorder(xo, y, xi)
    s[C].bind(xo, te.thread_axis("blockIdx.x"))
    s[C].bind(xi, te.thread_axis("threadIdx.x"))
    s[B].compute_at(s[C], y)
    s[B].rolling_buffer()
    a = np.random.default_rng(0).standard_normal(A.shape).astype(np.float32)
    b = np.pad(2 * a, ((1, 1), (0, 0)))
    check(s, [A, C], [a], b[:-2] + b[1:-1] + b[2:], target)


@pytest.mark.parametrize("target", TARGETS)
def test_two_rolling_buffers_in_a_row(target: str) -> None:
    A = te.placeholder((36, 32), name="A")
    B = te.compute((36, 32), lambda y, x: A[y, x] * 2, name="B")
    C = te.compute((34, 32), lambda y, x: B[y, x] + B[y + 1, x] + B[y + 2, x], name="C")
    D = te.compute((32, 32), lambda y, x: C[y, x] + C[y + 1, x] * C[y + 2, x], name="D")
    s = te.create_schedule(D.op)
    y, x = D.op.axis
    s[D].bind(x, te.thread_axis("threadIdx.x"))
    for stage in (C, B):
        s[stage].compute_at(s[D], y)
        s[stage].rolling_buffer()
    a = np.random.default_rng(0).standard_normal(A.shape).astype(np.float32)
    b = 2 * a
    c = b[:-2] + b[1:-1] + b[2:]
    check(s, [A, D], [a], c[:-2] + c[1:-1] * c[2:], target)


def test_what_does_not_roll() -> None:
    what = "rolling_buffer of stage 'B':"
    s, A, B, C = rolled()
    s[B].compute_root()
    s[B].rolling_buffer()
    assert (
        lowered(s, A, C)
        == f"{what} expected a stage that is computed at a loop of another, got one that is computed at the root"
    )
    s, A, B, C = rolled(taps=3, step=3)
    s[B].rolling_buffer()
    assert lowered(s, A, C) == (
        f"{what} expected windows that overlap, got windows of 3 along axis 'y' that move by 3 with loop 'y.inner'"
    )
    s, A, B, C = rolled()
    A, B, C = stencil()
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].compute_at(s[C], C.op.axis[0])
    s[B].rolling_buffer()
    assert (
        lowered(s, A, C) == f"{what} expected a loop whose iterations come one after the other, got 'y' on blockIdx.x"
    )
    s = te.create_schedule(C.op)
    s[C].software_pipeline(C.op.axis[0], 2)
    s[B].compute_at(s[C], C.op.axis[0])
    s[B].rolling_buffer()
    assert lowered(s, A, C) == (
        f"{what} expected a loop whose iterations come one after the other, got 'y', which is a software pipeline"
    )
    D = te.compute((64, 64), lambda y, x: B[x, x] + B[x + 1, x], name="D")
    s = te.create_schedule(D.op)
    s[B].compute_at(s[D], D.op.axis[0])
    s[B].rolling_buffer()
    assert lowered(s, A, D) == f"{what} expected windows that move with loop 'y', got the same one in every iteration"
    A = te.placeholder((70, 70), name="A")
    B = te.compute((70, 70), lambda y, x: A[y, x] * 2, name="B")
    E = te.compute((64,), lambda i: B[i, i] + B[i + 1, i + 1], name="E")
    s = te.create_schedule(E.op)
    s[B].compute_at(s[E], E.op.axis[0])
    s[B].rolling_buffer()
    assert lowered(s, A, E) == f"{what} expected windows that move along one axis with loop 'i', got 'y' and 'x'"
    F = te.compute((64, 8), lambda i, j: B[69 - i, j], name="F")
    s = te.create_schedule(F.op)
    s[B].compute_at(s[F], F.op.axis[0])
    s[B].rolling_buffer()
    assert lowered(s, A, F) == (
        f"{what} expected windows that move on by a constant with loop 'i', got axis 'y', along which they do not"
    )


def test_a_rolling_buffer_with_a_layout() -> None:
    s, A, B, C = rolled()
    s[B].rolling_buffer()
    s[B].transform_layout(lambda i, j: [j, i])
    assert lowered(s, A, C) == (
        "transform_layout of stage 'B': expected a stage without a rolling buffer, whose rows lie in a circle"
    )


LAID_OUT = {
    "swizzle": lambda stage: stage.swizzle(4),
    "transform_layout": lambda stage: stage.transform_layout(lambda i, j: [j // 4, i, j % 4]),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("how", ["double_buffer", "pipeline of 3", "async"])
@pytest.mark.parametrize("layout", LAID_OUT)
def test_layouts_in_software_pipelines(layout: str, how: str) -> None:
    A = te.placeholder((32, 64), name="A")
    B = te.placeholder((64, 32), name="B")
    k = te.reduce_axis((0, 64), name="k")
    C = te.compute((32, 32), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    CL = s.cache_write(C, "local")
    copies = [s.cache_read(tensor, "shared", [CL]) for tensor in (A, B)]
    io, jo, ii, ji = s[C].tile(*C.op.axis, 16, 16)
    for axis, thread in ((io, "blockIdx.y"), (jo, "blockIdx.x"), (ii, "threadIdx.y"), (ji, "threadIdx.x")):
        s[C].bind(axis, te.thread_axis(thread))
    s[CL].compute_at(s[C], ji)
    ko, ki = s[CL].split(CL.op.reduce_axis[0], factor=16)
    s[CL].reorder(ko, ki, *CL.op.axis)
    for copy in copies:
        s[copy].compute_at(s[CL], ko)
        if how == "async":
            _, lanes = s[copy].split(copy.op.axis[1], factor=4)
            s[copy].vectorize(lanes)
        LAID_OUT[layout](s[copy])
        if how == "double_buffer":
            s[copy].double_buffer()
    if how != "double_buffer":
        s[CL].software_pipeline(ko, 3, use_async=how == "async")
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(x.shape).astype(np.float32) for x in (A, B))
    check(s, [A, B, C], [a, b], (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32), "sim")
    tw.build(s, [A, B, C], target="cuda -arch=sm_90a")
