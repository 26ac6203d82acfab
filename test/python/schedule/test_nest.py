"""`print(s)`: the loop nest that a schedule makes, in the user's names."""

import textwrap

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
            best.v0.acc, best.v1.acc = best.v0.acc if best.v1.acc >= X[i, k] else k, best.v1.acc if best.v1.acc >= X[i, k] else X[i, k]
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
          for k.inner in range(8):  # threadIdx.x
            B.acc: local float32[1]
            B.acc[0] = 0.0
            for k.outer in range(4):
              t0 = k.outer*8 + k.inner
              if t0 < 30:
                B.acc[0] += A[i, t0]
            B.total += B.acc[0]
          B[i] = B.total
    """)
