"""`print(s)`: the loop nest that a schedule makes, in the user's names."""

import re
import textwrap

import pytest

import tilewright as tw
from programs import test_convolution, test_gemm, test_moves, test_rows, test_scan
from tilewright import te


def nest(text):
    return textwrap.dedent(text).strip()


def bind(stage, **axes):
    for thread, axis in axes.items():
        stage.bind(axis, te.thread_axis(thread.replace("_", ".")))


def test_buffers_scopes_bindings_and_predicates():
    A, B = te.placeholder((70, 24), name="A"), te.placeholder((24, 70), name="B")
    k = te.reduce_axis((0, 24), name="k")
    C = te.compute((70, 70), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    AS = s.cache_read(A, "shared", [C])
    CL = s.cache_write(C, "local")
    io, jo, ii, ji = s[C].tile(*C.op.axis, 16, 32)
    jt, jv = s[C].split(ji, factor=4)
    bind(s[C], blockIdx_y=io, blockIdx_x=jo, threadIdx_y=ii, threadIdx_x=jt)
    s[C].vectorize(jv)
    s[CL].compute_at(s[C], jt)
    ko, ki = s[CL].split(s[CL].op.reduce_axis[0], nparts=3)
    s[CL].reorder(ko, ki, *s[CL].op.axis)
    s[CL].unroll(ki)
    s[AS].compute_at(s[CL], ko)
    y, x = s[AS].op.axis
    bind(s[AS], threadIdx_y=y, threadIdx_x=x)
    assert str(s) == nest("""
        for i.outer in range(5):  # C, blockIdx.y
          for j.outer in range(3):  # blockIdx.x
            for i.inner in range(16):  # threadIdx.y
              for j.inner.outer in range(8):  # threadIdx.x
                C.local: local float32[1, 4]
                for j in range(4):  # C.local
                  if i.outer*16 + i.inner < 70 and j.outer*32 + j.inner.outer*4 + j < 70:
                    C.local[0, j] = 0.0
                for k.outer in range(3):  # C.local
                  A.shared: shared float32[16, 8]
                  for ax0 in range(16):  # A.shared, threadIdx.y
                    for ax1 in range(8):  # threadIdx.x
                      t0 = i.outer*16 + ax0
                      if t0 < 70:
                        A.shared[ax0, ax1] = A[t0, k.outer*8 + ax1]
                  for k.inner in range(8):  # unrolled
                    for j in range(4):
                      t0 = j.outer*32 + j.inner.outer*4 + j
                      if i.outer*16 + i.inner < 70 and t0 < 70:
                        C.local[0, j] += A.shared[i.inner, k.inner] * B[k.outer*8 + k.inner, t0]
                for j.inner.inner in range(4):  # vectorized
                  t0 = i.outer*16 + i.inner
                  t1 = j.outer*32 + j.inner.outer*4 + j.inner.inner
                  if t0 < 70 and t1 < 70:
                    C[t0, t1] = C.local[0, j.inner.inner]
    """)


def test_it_follows_the_schedule():
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] * 2.0, name="B")
    s = te.create_schedule(B.op)
    assert str(s) == "for i in range(64):  # B\n  B[i] = A[i] * 2.0"
    outer, _ = s[B].split(B.op.axis[0], factor=16)
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    assert str(s) == nest("""
        for i.outer in range(4):  # B, blockIdx.x
          for i.inner in range(16):
            t0 = i.outer*16 + i.inner
            B[t0] = A[t0] * 2.0
    """)


def test_several_stages_and_a_temporary():
    A = te.placeholder((8,), "uint8", name="A")
    B = te.compute((8,), lambda i: A[i] + 1, name="B")
    C = te.compute((8,), lambda i: B[i].astype("float32") / 3.0, name="C")
    assert str(te.create_schedule(C.op)) == nest("""
        B: global uint8[8]
        for i in range(8):  # B
          B[i] = A[i] + 1
        for i in range(8):  # C
          C[i] = float32(B[i]) / 3.0
    """)


def test_symbols_and_reads_that_must_not_happen_everywhere():
    n = te.var("n")
    A = te.placeholder((n, 2), name="A")
    B = te.compute(
        (n, 2), lambda i, j: te.if_then_else(te.all(i >= 1, j < 1), A[i - 1, j], te.const(0, "float32")), name="B"
    )
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], factor=32)
    bind(s[B], blockIdx_x=outer, threadIdx_x=inner)
    assert str(s) == nest("""
        for i.outer in range(ceildiv(n, 32)):  # B, blockIdx.x
          for i.inner in range(32):  # threadIdx.x
            for j in range(2):
              t0 = i.outer*32 + i.inner
              if t0 < n:
                B[t0, j] = A[t0 - 1, j] if t0 >= 1 and j < 1 else 0.0
    """)


def test_a_sum_of_its_own_and_functions():
    A = te.placeholder((4, 8), name="A")
    k, r = te.reduce_axis((0, 8), name="k"), te.reduce_axis((0, 8), name="r")
    M = te.compute((4,), lambda i: te.max(A[i, k], axis=k), name="M")
    S = te.compute((4,), lambda i: te.sum(te.exp(A[i, r] - M[i]), axis=r), name="S")
    assert str(te.create_schedule(S.op)) == nest("""
        M: global float32[4]
        for i in range(4):  # M
          M.acc: local float32
          M.acc = -inf
          for k in range(8):
            M.acc = max(M.acc, A[i, k])
          M[i] = M.acc
        for i in range(4):  # S
          S.acc: local float32
          S.acc = 0.0
          for r in range(8):
            S.acc += exp(A[i, r] - M[i])
          S[i] = S.acc
    """)


def test_results_of_a_tuple_are_written_together():
    X = te.placeholder((4, 8), name="X")
    k = te.reduce_axis((0, 8), name="k")
    larger = te.comm_reducer(
        lambda x, y: (te.select(x[1] >= y[1], x[0], y[0]), te.select(x[1] >= y[1], x[1], y[1])),
        lambda t0, t1: (te.const(-1, t0), te.min_value(t1)),
    )
    index, value = te.compute((4,), lambda i: larger((k, X[i, k]), axis=k), name="best")
    assert str(te.create_schedule(index.op)) == nest("""
        for i in range(4):  # best
          best.v0.acc: local int32
          best.v1.acc: local float32
          best.v0.acc, best.v1.acc = -1, -inf
          for k in range(8):
            best.v0.acc, best.v1.acc = (best.v0.acc, best.v1.acc) if best.v1.acc >= X[i, k] else (k, X[i, k])
          best.v0[i], best.v1[i] = best.v0.acc, best.v1.acc
    """)


def test_operators_bind_as_in_python():
    A, N = te.placeholder((8,), name="A"), te.placeholder((8,), "int32", name="N")
    B = te.compute((8,), lambda i: (A[i] + 1.0) * (A[i] - (2.0 - A[i])) / (A[i] * 3.0) + -A[i], name="B")
    C = te.compute((8,), lambda i: (N[i] & 3) << 1 | N[i] ^ 5, name="C")
    text = str(te.create_schedule([B.op, C.op]))
    assert "B[i] = (A[i] + 1.0) * (A[i] - (2.0 - A[i])) / (A[i] * 3.0) + -A[i]" in text
    assert "C[i] = (N[i] & 3) << 1 | N[i] ^ 5" in text


def test_without_a_nest_it_says_why():
    A = te.placeholder((64, 64), name="A")
    B = te.compute((64, 64), lambda i, j: A[i, j] * 2.0, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis((0, 32), "threadIdx.x"))
    line = test_without_a_nest_it_says_why.__code__.co_firstlineno + 4
    assert str(s) == f"{s.ir()}\n" + nest(f"""
        # It has no loop nest:
        # {__file__}:{line}: error: bind: expected axis 'i' of extent 32, as the thread axis says, got 64
        # (lowering main from linalg to loops)
    """)


def test_what_threads_reduce_together():
    A = te.placeholder((3, 30), name="A")
    k = te.reduce_axis((0, 30), name="k")
    B = te.compute((3,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    _, ki = s[B].split(k, factor=8)
    bind(s[B], blockIdx_x=B.op.axis[0], threadIdx_x=ki)
    assert str(s) == nest("""
        for i in range(3):  # B, blockIdx.x
          B.total = 0.0
          for k.inner in range(8):  # threadIdx.x, combined by shuffles
            B.acc: local float32[1]
            B.acc[0] = 0.0
            for k.outer in range(4):
              t0 = k.outer*8 + k.inner
              if t0 < 30:
                B.acc[0] += A[i, t0]
            B.total += B.acc[0]
          B[i] = B.total
    """)


def row_sums(rows, columns, threads, rows_a_block=1, thread="threadIdx_x", other="threadIdx_y"):
    X = te.placeholder((rows, columns), name="X")
    k = te.reduce_axis((0, columns), name="k")
    total = te.compute((rows,), lambda i: te.sum(X[i, k], axis=k), name="total")
    s = te.create_schedule(total.op)
    block, row = s[total].split(total.op.axis[0], factor=rows_a_block)
    _, part = s[total].split(total.op.reduce_axis[0], factor=threads)
    bind(s[total], blockIdx_x=block, **{thread: part, other: row})
    return s, X, total


def test_threads_that_reduce_together():
    s, _, total = row_sums(10, 99, 32, rows_a_block=4)
    s[total].launch_bounds(2)
    assert str(s) == nest("""
        for i.outer in range(3):  # total, blockIdx.x, at least 2 blocks per SM
          for i.inner in range(4):  # threadIdx.y
            total.total = 0.0
            for k.inner in range(32):  # threadIdx.x, combined by shuffles
              total.acc: local float32[1]
              total.acc[0] = 0.0
              for k.outer in range(4):
                t0 = i.outer*4 + i.inner
                t1 = k.outer*32 + k.inner
                if t0 < 10 and t1 < 99:
                  total.acc[0] += X[t0, t1]
              total.total += total.acc[0]
            t0 = i.outer*4 + i.inner
            if t0 < 10:
              total[t0] = total.total
    """)


def test_tuples_that_threads_combine():
    s, _ = test_rows.argmax(6, 75)
    assert str(s) == nest("""
        for i in range(6):  # argmax, blockIdx.x
          argmax.v0.total, argmax.v1.total = 2147483647, -inf
          for k.inner in range(32):  # threadIdx.x, combined by shuffles
            argmax.v0.acc: local int32[1]
            argmax.v1.acc: local float32[1]
            argmax.v0.acc[0], argmax.v1.acc[0] = 2147483647, -inf
            for k.outer in range(3):
              t0 = k.outer*32 + k.inner
              if t0 < 75:
                argmax.v0.acc[0], argmax.v1.acc[0] = (argmax.v0.acc[0], argmax.v1.acc[0]) if argmax.v1.acc[0] > X[i, t0] or argmax.v1.acc[0] == X[i, t0] and argmax.v0.acc[0] < t0 else (t0, X[i, t0])
            argmax.v0.total, argmax.v1.total = (argmax.v0.total, argmax.v1.total) if argmax.v1.total > argmax.v1.acc[0] or argmax.v1.total == argmax.v1.acc[0] and argmax.v0.total < argmax.v0.acc[0] else (argmax.v0.acc[0], argmax.v1.acc[0])
          argmax.v0[i], argmax.v1[i] = argmax.v0.total, argmax.v1.total
    """)  # fmt: skip


@pytest.mark.parametrize("thread", ["threadIdx_x", "threadIdx_y"])
@pytest.mark.parametrize(("threads", "rows"), [(32, 4), (16, 2), (16, 1), (64, 1), (96, 2), (20, 8), (8, 3), (12, 1)])
def test_what_is_said_of_threads_is_what_they_do(threads, rows, thread):
    """`combined ...` follows a rule of the pass that combines them."""
    other = "threadIdx_y" if thread == "threadIdx_x" else "threadIdx_x"
    s, X, total = row_sums(24, 200, threads, rows, thread, other)
    said = next(line for line in str(s).splitlines() if "combined" in line)
    kernel = str(tw.lower(s, [X, total], stage="gpu"))
    words = [
        word
        for word, mark in (("by shuffles", "gpu.shuffle"), ("in shared memory", "@shared_memory"))
        if mark in kernel
    ]
    assert said.endswith(f"combined {', then '.join(words)}")


def test_a_pipeline_and_its_buffers():
    A = te.placeholder((64,), name="A")
    k = te.reduce_axis((0, 64), name="k")
    B = te.compute((8,), lambda i: te.sum(A[k], axis=k), name="B")
    s = te.create_schedule(B.op)
    AS = s.cache_read(A, "shared", [B])
    ko, _ = s[B].split(B.op.reduce_axis[0], factor=8)
    bind(s[B], threadIdx_x=B.op.axis[0])
    s[AS].compute_at(s[B], ko)
    bind(s[AS], threadIdx_x=s[AS].op.axis[0])
    s[B].software_pipeline(ko, 3, use_async=True)
    assert str(s) == nest("""
        for i in range(8):  # B, threadIdx.x
          B.acc: local float32
          B.acc = 0.0
          for k.outer in range(8):  # filled 2 ahead by cp.async
            A.shared: shared float32[8]  # 3 places
            for ax0 in range(8):  # A.shared, threadIdx.x
              A.shared[ax0] = A[k.outer*8 + ax0]
            for k.inner in range(8):
              B.acc += A.shared[k.inner]
          B[i] = B.acc
    """)
    s = te.create_schedule(B.op)
    AS = s.cache_read(A, "shared", [B])
    ko, _ = s[B].split(B.op.reduce_axis[0], factor=8)
    bind(s[B], threadIdx_x=B.op.axis[0])
    s[AS].compute_at(s[B], ko)
    bind(s[AS], threadIdx_x=s[AS].op.axis[0])
    s[AS].double_buffer()
    text = str(s)
    assert "for k.outer in range(8):  # filled 1 ahead\n" in text
    assert "A.shared: shared float32[8]  # 2 places\n" in text


def test_constants_are_as_short_as_their_type_allows():
    A, H = te.placeholder((8,), name="A"), te.placeholder((8,), "float16", name="H")
    D = te.placeholder((8,), "float64", name="D")
    B = te.compute((8,), lambda i: A[i] * (1.0 / 3) + 1e-5, name="B")
    C = te.compute((8,), lambda i: H[i] * 0.1, name="C")
    E = te.compute((8,), lambda i: D[i] * 0.1, name="E")
    text = str(te.create_schedule([B.op, C.op, E.op]))
    assert "B[i] = A[i] * 0.33333334 + 1e-05" in text
    assert "C[i] = H[i] * 0.1" in text
    assert "E[i] = D[i] * 0.1" in text


def test_a_store_that_the_next_one_needs_has_a_line_of_its_own():
    s, _, total = row_sums(4, 300, 128)
    s = te.create_schedule(total.op)
    _, part = s[total].split(total.op.reduce_axis[0], factor=128)
    factored = s.rfactor(total, part)
    bind(s[total], blockIdx_x=s[total].op.axis[0], threadIdx_x=s[total].op.reduce_axis[0])
    s[factored].compute_at(s[total], s[total].op.reduce_axis[0])
    assert "    total.acc[0] = 0.0\n    total.acc[0] += total.rf[0, 0]\n" in str(s)


PROGRAMS = {
    "blocked_gemm": lambda: test_gemm.blocked_gemm(30, 19, 21),
    "batch_matmul": lambda: test_gemm.batch_matmul(3, 13, 21, 19),
    "direct": lambda: test_convolution.direct(4, 8, 13, 16),
    "depthwise": lambda: test_convolution.depthwise(5, 8, 2),
    "winograd": lambda: test_convolution.winograd(6, 5, 4),
    "transpose": lambda: test_moves.transpose(35, 50),
    "blur": lambda: test_moves.blur(21, 37),
    "row_sum": lambda: test_rows.row_sum(10, 99),
    "column_sum": lambda: test_rows.column_sum(50, 35),
    "softmax": lambda: test_rows.softmax(5, 70),
    "layer_norm": lambda: test_rows.layer_norm(4, 75),
    "rms_norm": lambda: test_rows.rms_norm(4, 75),
    "argmax": lambda: test_rows.argmax(6, 75),
    "cumulative_sum": lambda: test_scan.cumulative_sum(21, 75),
    "smoothed": lambda: test_scan.smoothed(21, 75),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_of_the_field_print_as_loops_buffers_and_assignments(program):
    s, _ = PROGRAMS[program]()
    name = r"[A-Za-z_][\w.]*"
    line_of_a_nest = re.compile(
        rf" *(for {name} in range\(\d+\):(  # .*)?"  # loops,
        rf"|{name}: (global|shared|local) \w+(\[[\d, ]+\])?(  # \d+ places)?"  # buffers,
        rf"|if .*:|t\d+ = [\w.+*/% -]+"  # predicates, indices
        rf"|({name}(\[[^=?]*\])?(, )?)+ \+?= [^?]+)"  # and elements
    )
    for line in str(s).splitlines():
        assert line_of_a_nest.fullmatch(line), line


def test_numbers_and_optional_inputs() -> None:
    n, alpha = te.var("n"), te.var("alpha", "float32")
    A = te.placeholder((n,), name="A")
    bias = te.placeholder((n,), name="bias", optional=True)
    C = te.compute((n,), lambda i: te.if_given(bias, A[i] * alpha + bias[i], A[i] * alpha), name="C")
    assert str(te.create_schedule(C.op)) == (
        "for i in range(n):  # C\n  C[i] = A[i] * alpha + bias[i] if bias_is_given else A[i] * alpha"
    )
