"""Right programs: the simulator computes what a GPU computes, with checks and without, and says nothing."""

import numpy as np
import pytest

SHARED = "#gpu.address_space<workgroup>"
LOCAL = "#gpu.address_space<private>"

both = pytest.mark.parametrize("checks", [False, True], ids=["fast", "checked"])


@both
def test_without_barriers_the_threads_run_in_sequence(run, checks):
    a = np.arange(60, dtype="f4").reshape(5, 12)
    b = np.zeros_like(a)
    body = """
      %i = gpu.global_id x
      %j = gpu.thread_id y
      %x = memref.load %A[%j, %i] : memref<5x12xf32>
      %y = arith.addf %x, %x : f32
      memref.store %y, %B[%j, %i] : memref<5x12xf32>
      gpu.return"""
    run("%A: memref<5x12xf32>, %B: memref<5x12xf32>", body, [a], b, (4, 5, 1), (3, 1, 1), checks=checks)
    np.testing.assert_array_equal(b, 2 * a)


@both
def test_every_number_of_a_thread(run, checks):
    out = np.zeros((2, 3, 2, 48, 8), dtype="i8")
    numbers = "block_id z|block_id y|thread_id y|thread_id x|block_dim x|grid_dim y|lane_id|subgroup_id|num_subgroups"
    typed = ("subgroup_id", "num_subgroups")
    ops = "\n".join(f"%n{n} = gpu.{op}" + " : index" * (op in typed) for n, op in enumerate(numbers.split("|")))
    stores = "\n".join(
        f"""%k{n} = arith.constant {n} : index
        %v{n} = arith.index_cast %n{n} : index to i64
        memref.store %v{n}, %out[%n0, %n1, %n2, %n3, %k{n}] : memref<2x3x2x48x8xi64>"""
        for n in range(1, 8)
    )
    count = """
      %v0 = arith.index_cast %n8 : index to i64
      memref.store %v0, %out[%n0, %n1, %n2, %n3, %c0] : memref<2x3x2x48x8xi64>
      gpu.return"""
    run("%out: memref<2x3x2x48x8xi64>", ops + stores + count, [], out, (48, 2, 1), (1, 3, 2), checks=checks)
    for bz, by, ty, tx in np.ndindex(2, 3, 2, 48):
        linear = ty * 48 + tx
        assert out[bz, by, ty, tx].tolist() == [3, by, ty, tx, 48, 3, linear % 32, linear // 32]


REVERSE = f"""
      %tile = memref.view %shared[%c0][] : memref<0xi8, {SHARED}> to memref<96xf32, {SHARED}>
      %t = gpu.thread_id x
      %last = arith.constant 95 : index
      %r = arith.subi %last, %t : index
      %x = memref.load %A[%t] : memref<96xf32>
      memref.store %x, %tile[%t] : memref<96xf32, {SHARED}>
      gpu.barrier
      %y = memref.load %tile[%r] : memref<96xf32, {SHARED}>
      memref.store %y, %B[%t] : memref<96xf32>
      gpu.return"""


@both
def test_a_block_of_three_warps_exchanges_through_shared_memory(run, checks):
    a = np.arange(96, dtype="f4")
    b = np.zeros_like(a)
    run("%A: memref<96xf32>, %B: memref<96xf32>", REVERSE, [a], b, (96, 1, 1), (2, 1, 1), shared=384, checks=checks)
    np.testing.assert_array_equal(b, a[::-1])


@both
def test_a_reduction_by_shuffles(run, checks):
    a = np.arange(64, dtype="f4")
    b = np.zeros(2, dtype="f4")
    steps = "\n".join(
        f"""%o{n} = arith.constant {16 >> n} : i32
        %s{n}, %p{n} = gpu.shuffle {mode} %x{n}, %o{n}, %width : f32
        %x{n + 1} = arith.addf %x{n}, %s{n} : f32"""
        for n, mode in enumerate(["xor", "down", "xor", "xor", "xor"])
    )
    body = f"""
      %width = arith.constant 32 : i32
      %t = gpu.thread_id x
      %lane = gpu.lane_id
      %warp = gpu.subgroup_id : index
      %x0 = memref.load %A[%t] : memref<64xf32>
      {steps.replace("down", "xor")}
      %first = arith.cmpi eq, %lane, %c0 : index
      scf.if %first {{
        memref.store %x5, %B[%warp] : memref<2xf32>
      }}
      gpu.return"""
    run("%A: memref<64xf32>, %B: memref<2xf32>", body, [a], b, (64, 1, 1), checks=checks)
    assert b.tolist() == [a[:32].sum(), a[32:].sum()]


@pytest.mark.parametrize(
    ("mode", "offset", "width", "source"),
    [
        ("up", 3, 32, lambda lane: lane - 3),
        ("down", 5, 32, lambda lane: lane + 5),
        ("xor", 9, 32, lambda lane: lane ^ 9),
        ("idx", 7, 32, lambda lane: 7),
        ("down", 5, 16, lambda lane: lane + 5),
        ("xor", 8, 16, lambda lane: lane ^ 8),
    ],
)
def test_modes_of_a_shuffle(run, mode, offset, width, source):
    a = np.arange(100, 132, dtype="f8")
    out = np.zeros((32, 2), dtype="f8")
    body = f"""
      %t = gpu.thread_id x
      %x = memref.load %A[%t] : memref<32xf64>
      %o = arith.constant {offset} : i32
      %w = arith.constant {width} : i32
      %s, %p = gpu.shuffle {mode} %x, %o, %w : f64
      %pf = arith.uitofp %p : i1 to f64
      memref.store %s, %B[%t, %c0] : memref<32x2xf64>
      memref.store %pf, %B[%t, %c1] : memref<32x2xf64>
      gpu.return"""
    run("%A: memref<32xf64>, %B: memref<32x2xf64>", body, [a], out, (32, 1, 1))
    for lane in range(32):
        valid = lane < width and 0 <= source(lane) < width
        assert out[lane].tolist() == [a[source(lane)] if valid else a[lane], valid]


@both
def test_threads_that_fill_a_buffer_redundantly_do_not_race(run, checks):
    # TVM's way for a stage without bound axes: all threads write all of the buffer, the same values.
    a = np.arange(8, dtype="f4")
    b = np.zeros(8, dtype="f4")
    body = f"""
      %tile = memref.view %shared[%c0][] : memref<0xi8, {SHARED}> to memref<8xf32, {SHARED}>
      %c8 = arith.constant 8 : index
      %t = gpu.thread_id x
      scf.for %i = %c0 to %c8 step %c1 {{
        %x = memref.load %A[%i] : memref<8xf32>
        memref.store %x, %tile[%i] : memref<8xf32, {SHARED}>
      }}
      gpu.barrier
      %y = memref.load %tile[%t] : memref<8xf32, {SHARED}>
      memref.store %y, %B[%t] : memref<8xf32>
      gpu.return"""
    run("%A: memref<8xf32>, %B: memref<8xf32>", body, [a], b, (8, 1, 1), shared=32, checks=checks)
    np.testing.assert_array_equal(b, a)


@both
def test_dynamic_extents_vectors_and_local_arrays(run, checks):
    # Local arrays inside a loop must not grow the stack: 4096 turns of 4 KiB would.
    a = np.arange(128, dtype="f4").reshape(2, 64)
    b = np.zeros_like(a)
    body = f"""
      %c4 = arith.constant 4 : index
      %many = arith.constant 4096 : index
      %t = gpu.thread_id x
      %j = arith.muli %t, %c4 : index
      scf.for %turn = %c0 to %many step %c1 {{
        %l = memref.alloca() : memref<1024xf32, {LOCAL}>
        %v = vector.load %A[%c1, %j] : memref<?x64xf32>, vector<4xf32>
        vector.store %v, %l[%j] : memref<1024xf32, {LOCAL}>, vector<4xf32>
        %w = vector.load %l[%j] : memref<1024xf32, {LOCAL}>, vector<4xf32>
        vector.store %w, %B[%c1, %j] : memref<2x64xf32>, vector<4xf32>
      }}
      gpu.barrier
      gpu.return"""
    from sim_support import module
    from tilewright.ir import Module, context
    from tilewright.sim import Buffer, compile_sim

    with context():
        simulator = compile_sim(Module.parse(module("%A: memref<?x64xf32>, %B: memref<2x64xf32>", body)), checks)
    buffers = [Buffer("A", a.ctypes.data, a.nbytes, True), Buffer("B", b.ctypes.data, b.nbytes, False)]
    with simulator.call(buffers):
        simulator.launch("k", (1, 1, 1), (16, 1, 1), 0, [a.ctypes.data, 2, b.ctypes.data])
    np.testing.assert_array_equal(b, [np.zeros(64), a[1]])


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
def test_narrow_floats_round_after_each_operation(run, dtype):
    import ml_dtypes

    numpy_type = {"bf16": ml_dtypes.bfloat16, "f16": np.float16}[dtype]
    a = np.linspace(0.1, 7, 32).astype(numpy_type)
    b = np.zeros_like(a)
    body = f"""
      %t = gpu.thread_id x
      %x = memref.load %A[%t] : memref<32x{dtype}>
      %y = arith.mulf %x, %x : {dtype}
      %z = arith.addf %y, %x : {dtype}
      memref.store %z, %B[%t] : memref<32x{dtype}>
      gpu.return"""
    run(f"%A: memref<32x{dtype}>, %B: memref<32x{dtype}>", body, [a], b, (32, 1, 1))
    np.testing.assert_array_equal(b.view("u2"), (a * a + a).view("u2"))


@both
def test_a_whole_gemm(run, checks):
    n, k = 32, 40
    rng = np.random.default_rng(0)
    a, b = rng.random((n, k), dtype="f4"), rng.random((k, n), dtype="f4")
    c = np.zeros((n, n), dtype="f4")
    body = f"""
      %c4 = arith.constant 4 : index
      %ck = arith.constant {k} : index
      %offset = arith.constant {4 * k * 4} : index
      %zero = arith.constant 0.0 : f32
      %as = memref.view %shared[%c0][] : memref<0xi8, {SHARED}> to memref<4x{k}xf32, {SHARED}>
      %bs = memref.view %shared[%offset][] : memref<0xi8, {SHARED}> to memref<{k}x4xf32, {SHARED}>
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %tx = gpu.thread_id x
      %ty = gpu.thread_id y
      scf.for %i = %c0 to %c4 step %c1 {{
        scf.for %kk = %c0 to %ck step %c1 {{
          %row = affine.apply affine_map<(b, i) -> (b * 4 + i)>(%bx, %i)
          %v = memref.load %A[%row, %kk] : memref<{n}x{k}xf32>
          memref.store %v, %as[%i, %kk] : memref<4x{k}xf32, {SHARED}>
          %col = affine.apply affine_map<(b, i) -> (b * 4 + i)>(%by, %i)
          %w = memref.load %B[%kk, %col] : memref<{k}x{n}xf32>
          memref.store %w, %bs[%kk, %i] : memref<{k}x4xf32, {SHARED}>
        }}
      }}
      gpu.barrier
      %sum = scf.for %kk = %c0 to %ck step %c1 iter_args(%acc = %zero) -> f32 {{
        %x = memref.load %as[%tx, %kk] : memref<4x{k}xf32, {SHARED}>
        %y = memref.load %bs[%kk, %ty] : memref<{k}x4xf32, {SHARED}>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc, %p : f32
        scf.yield %s : f32
      }}
      %row = affine.apply affine_map<(b, i) -> (b * 4 + i)>(%bx, %tx)
      %col = affine.apply affine_map<(b, i) -> (b * 4 + i)>(%by, %ty)
      memref.store %sum, %C[%row, %col] : memref<{n}x{n}xf32>
      gpu.return"""
    arguments = f"%A: memref<{n}x{k}xf32>, %B: memref<{k}x{n}xf32>, %C: memref<{n}x{n}xf32>"
    run(arguments, body, [a, b], c, (4, 4, 1), (n // 4, n // 4, 1), shared=8 * k * 4, checks=checks)
    np.testing.assert_allclose(c, a.astype("f8") @ b, rtol=1e-5)
