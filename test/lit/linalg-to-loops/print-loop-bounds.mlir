// What apply-schedule infers of a schedule, as print-loop-bounds prints it.
// RUN: tilewright-opt %s --rewrite-scheduled-dataflow --convert-te-to-linalg --print-loop-bounds --split-input-file -o /dev/null | FileCheck %s

// Tiles of blocks and threads: caches hold what a tile reads. Those in shared memory are filled by the 64 threads.
// CHECK-LABEL: bounds of @gemm
// CHECK-NEXT: stage A.shared in shared memory, in loop k.outer of stage C.local
// CHECK-NEXT:   axis ax0: 32 of 64 from d0 * 32, index d11 * 8 + d12 + d10 floordiv 8
// CHECK-NEXT:   axis ax1: 8 of 32 from d8 * 8, index d10 mod 8
// CHECK-NEXT:   buffer [32, 8] from [d0 * 32, d8 * 8]
// CHECK-NEXT:   loop d11 ax0.ax1.fused.outer.outer: extent 4
// CHECK-NEXT:   loop d12 ax0.ax1.fused.outer.inner: extent 8, threadIdx.y
// CHECK-NEXT:   loop d10 ax0.ax1.fused.inner: extent 8, threadIdx.x
// CHECK-NEXT: stage C.local in local memory, in loop j.inner.outer of stage C
// CHECK-NEXT:   axis i: 4 of 64 from d0 * 32 + d2 * 4, index d6
// CHECK-NEXT:   axis j: 2 of 48 from d1 * 16 + d4 * 2, index d7
// CHECK-NEXT:   axis k: 32 reduced, index d8 * 8 + d9
// CHECK-NEXT:   buffer [4, 2] from [d0 * 32 + d2 * 4, d1 * 16 + d4 * 2]
// CHECK-NEXT:   loop d8 k.outer: extent 4
// CHECK-NEXT:   loop d9 k.inner: extent 8
// CHECK-NEXT:   loop d6 i: extent 4
// CHECK-NEXT:   loop d7 j: extent 2
// CHECK-NEXT: stage C in global memory
// CHECK-NEXT:   axis i: 64 of 64 from 0, index d0 * 32 + d2 * 4 + d3
// CHECK-NEXT:   axis j: 48 of 48 from 0, index d1 * 16 + d4 * 2 + d5
// CHECK-NEXT:   buffer [64, 48] from [0, 0]
// CHECK-NEXT:   loop d0 i.outer: extent 2, blockIdx.y
// CHECK-NEXT:   loop d1 j.outer: extent 3, blockIdx.x
// CHECK-NEXT:   loop d2 i.inner.outer: extent 8, threadIdx.y
// CHECK-NEXT:   loop d4 j.inner.outer: extent 8, threadIdx.x
// CHECK-NEXT:   loop d3 i.inner.inner: extent 4
// CHECK-NEXT:   loop d5 j.inner.inner: extent 2
func.func @gemm(%A: tensor<64x32xf32> {te.name = "A"}, %B: tensor<32x48xf32> {te.name = "B"},
                %out: tensor<64x48xf32> {te.name = "C", te.output}) -> tensor<64x48xf32> {
  %C = te.compute "C" (%i: 64, %j: 48) sum (%k: 32) {
    %a = te.read %A[%i, %k] : tensor<64x32xf32>
    %b = te.read %B[%k, %j] : tensor<32x48xf32>
    %ab = arith.mulf %a, %b : f32
    te.yield %ab : f32
  } : tensor<64x48xf32>
  return %C : tensor<64x48xf32>
}
schedule.of @gemm {
  %C = schedule.stage "C"
  %CL = schedule.cache_write %C in <local> as "C.local"
  %AS = schedule.cache_read "A" in <shared> for %CL as "A.shared"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  %by, %bx, %ii, %ji = schedule.tile %i, %j by 32, 16
  %ty, %i2 = schedule.split %ii by 4
  %tx, %j2 = schedule.split %ji by 2
  schedule.reorder %by, %bx, %ty, %tx, %i2, %j2
  schedule.bind %by to <blockIdx.y>
  schedule.bind %bx to <blockIdx.x>
  schedule.bind %ty to <threadIdx.y>
  schedule.bind %tx to <threadIdx.x>
  schedule.compute_at %CL at %C, %tx
  %ci, %cj = schedule.axes %CL ["i", "j"] : !schedule.axis, !schedule.axis
  %k = schedule.reduce_axes %CL ["k"] : !schedule.axis
  %ko, %ki = schedule.split %k by 8
  schedule.reorder %ko, %ki, %ci, %cj
  schedule.compute_at %AS at %CL, %ko
}

// -----

// A tile and its rim. A factor that does not divide has a last iteration that goes beyond the axis.
// CHECK-LABEL: bounds of @stencil
// CHECK-NEXT: stage P in shared memory, in loop i.outer of stage B
// CHECK-NEXT:   axis y: 18 of 66 from d0 * 16, index d2 * 16 + d3
// CHECK-NEXT:   buffer [18] from [d0 * 16]
// CHECK-NEXT:   loop d2 y.outer: extent 2
// CHECK-NEXT:   loop d3 y.inner: extent 16, threadIdx.x
// CHECK-NEXT: stage B in global memory
// CHECK-NEXT:   axis i: 60 of 60 from 0, index d0 * 16 + d1
// CHECK-NEXT:   buffer [60] from [0]
// CHECK-NEXT:   loop d0 i.outer: extent 4, blockIdx.x
// CHECK-NEXT:   loop d1 i.inner: extent 16, threadIdx.x
func.func @stencil(%A: tensor<66xf32> {te.name = "A"}, %out: tensor<60xf32> {te.name = "B", te.output}) -> tensor<60xf32> {
  %P = te.compute "P" (%y: 66) {
    %a = te.read %A[%y] : tensor<66xf32>
    %twice = arith.addf %a, %a : f32
    te.yield %twice : f32
  } : tensor<66xf32>
  %B = te.compute "B" (%i: 60) {
    %l = te.read %P[%i] : tensor<66xf32>
    %r = te.read %P[%i + 2] : tensor<66xf32>
    %s = arith.addf %l, %r : f32
    te.yield %s : f32
  } : tensor<60xf32>
  return %B : tensor<60xf32>
}
schedule.of @stencil {
  %B = schedule.stage "B"
  %P = schedule.stage "P"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %io, %ii = schedule.split %i by 16
  schedule.bind %io to <blockIdx.x>
  schedule.bind %ii to <threadIdx.x>
  schedule.compute_at %P at %B, %io
}

// -----

// A symbolic extent that is a multiple of 4, and a reduction across threads.
// CHECK-LABEL: bounds of @rows
// CHECK-NEXT: stage S in global memory
// CHECK-NEXT:   axis i: s0 * 4 of s0 * 4 from 0, index d0 * 4 + d1
// CHECK-NEXT:   axis k: 100 reduced, index d2 * 32 + d3
// CHECK-NEXT:   buffer [s0 * 4] from [0]
// CHECK-NEXT:   loop d0 i.outer: extent s0, blockIdx.x
// CHECK-NEXT:   loop d1 i.inner: extent 4, threadIdx.y
// CHECK-NEXT:   loop d3 k.inner: extent 32, threadIdx.x
// CHECK-NEXT:   loop d2 k.outer: extent 4
// CHECK-NEXT: symbol s0: n / 4
func.func @rows(%A: tensor<?x100xf32> {te.name = "A", te.symbols = ["n", ""], te.divisible_by = array<i64: 4, 1>},
                %out: tensor<?xf32> {te.name = "S", te.output, te.symbols = ["n"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %A, %c0 : tensor<?x100xf32>
  %S = te.compute "S" (%i: %n) sum (%k: 100) {
    %a = te.read %A[%i, %k] : tensor<?x100xf32>
    te.yield %a : f32
  } : tensor<?xf32>
  return %S : tensor<?xf32>
}
schedule.of @rows {
  %S = schedule.stage "S"
  %i = schedule.axes %S ["i"] : !schedule.axis
  %k = schedule.reduce_axes %S ["k"] : !schedule.axis
  %io, %ii = schedule.split %i by 4
  %ko, %ki = schedule.split %k by 32
  schedule.bind %io to <blockIdx.x>
  schedule.bind %ii to <threadIdx.y>
  schedule.bind %ki to <threadIdx.x>
}

// -----

// What is computed at a loop in a number that a call says lies in global memory, a part for each block.
// CHECK-LABEL: bounds of @parts
// CHECK-NEXT: stage B in global memory, in loop j of stage C
// CHECK-NEXT:   axis i: s0 of s0 from 0, index d2
// CHECK-NEXT:   axis j: 1 of 8 from d1, index 0
// CHECK-NEXT:   buffer [s0, 1] from [0, d1], one for each iteration of j
// CHECK-NEXT:   loop d2 i: extent s0
// CHECK-NEXT:   loop d3 j: extent 1
// CHECK-NEXT: stage C in global memory
// CHECK-NEXT:   axis i: s0 of s0 from 0, index d0
// CHECK-NEXT:   axis j: 8 of 8 from 0, index d1
// CHECK-NEXT:   buffer [s0, 8] from [0, 0]
// CHECK-NEXT:   loop d1 j: extent 8, blockIdx.x
// CHECK-NEXT:   loop d0 i: extent s0
// CHECK-NEXT: symbol s0: n
func.func @parts(%A: tensor<?x8xf32> {te.name = "A", te.symbols = ["n", ""]},
                 %out: tensor<?x8xf32> {te.name = "C", te.output, te.symbols = ["n", ""]}) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %A, %c0 : tensor<?x8xf32>
  %B = te.compute "B" (%i: %n, %j: 8) {
    %a = te.read %A[%i, %j] : tensor<?x8xf32>
    te.yield %a : f32
  } : tensor<?x8xf32>
  %C = te.compute "C" (%i: %n, %j: 8) {
    %b = te.read %B[%i, %j] : tensor<?x8xf32>
    te.yield %b : f32
  } : tensor<?x8xf32>
  return %C : tensor<?x8xf32>
}
schedule.of @parts {
  %B = schedule.stage "B"
  %C = schedule.stage "C"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  schedule.reorder %j, %i
  schedule.bind %j to <blockIdx.x>
  schedule.compute_at %B at %C, %j
}

// -----

// A follower computes what an iteration of its producer made possible; the producer's buffer is in that loop.
// CHECK-LABEL: bounds of @follow
// CHECK-NEXT: stage B in local memory
// CHECK-NEXT:   axis i: 64 of 64 from 0, index d0 * 16 + d1
// CHECK-NEXT:   buffer [16] from [d0 * 16] in loop i.outer
// CHECK-NEXT:   loop d0 i.outer: extent 4
// CHECK-NEXT:   loop d1 i.inner: extent 16
// CHECK-NEXT: stage C in global memory, after its producer in loop i.outer of stage B
// CHECK-NEXT:   axis i: 16 of 64 from d0 * 16, index d2
// CHECK-NEXT:   buffer [64] from [0]
// CHECK-NEXT:   loop d2 i: extent 16
func.func @follow(%A: tensor<64xf32> {te.name = "A"}, %out: tensor<64xf32> {te.name = "C", te.output}) -> tensor<64xf32> {
  %B = te.compute "B" (%i: 64) {
    %a = te.read %A[%i] : tensor<64xf32>
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } : tensor<64xf32>
  %C = te.compute "C" (%i: 64) {
    %b = te.read %B[%i] : tensor<64xf32>
    te.yield %b : f32
  } : tensor<64xf32>
  return %C : tensor<64xf32>
}
schedule.of @follow {
  %B = schedule.stage "B"
  %C = schedule.stage "C"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %io, %ii = schedule.split %i by 16
  schedule.reverse_compute_at %C at %B, %io
}

// -----

// Windows of a rolling buffer overlap: each iteration computes what the one before has not.
// CHECK-LABEL: bounds of @rolling
// CHECK-NEXT: stage B in local memory, in loop i of stage C
// CHECK-NEXT:   axis i: 3 of 18 from d0, index d1
// CHECK-NEXT:   buffer [3] from [0], windows move by 1 along i
// CHECK-NEXT:   loop d1 i: extent 3
// CHECK-NEXT: stage C in global memory
// CHECK-NEXT:   axis i: 16 of 16 from 0, index d0
// CHECK-NEXT:   buffer [16] from [0]
// CHECK-NEXT:   loop d0 i: extent 16
func.func @rolling(%A: tensor<18xf32> {te.name = "A"}, %out: tensor<16xf32> {te.name = "C", te.output}) -> tensor<16xf32> {
  %B = te.compute "B" (%i: 18) {
    %a = te.read %A[%i] : tensor<18xf32>
    te.yield %a : f32
  } : tensor<18xf32>
  %C = te.compute "C" (%i: 16) {
    %x = te.read %B[%i] : tensor<18xf32>
    %y = te.read %B[%i + 2] : tensor<18xf32>
    %z = arith.addf %x, %y : f32
    te.yield %z : f32
  } : tensor<16xf32>
  return %C : tensor<16xf32>
}
schedule.of @rolling {
  %B = schedule.stage "B"
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  schedule.compute_at %B at %C, %i
  schedule.rolling_buffer %B
}

// -----

// A stage in the steps of a scan is computed for one step at a time, of the scan every row is kept.
// CHECK-LABEL: bounds of @scan
// CHECK-NEXT: stage total in local memory, in loop t of stage S
// CHECK-NEXT:   axis t: 1 of 4 from d0 - 1, index 0
// CHECK-NEXT:   axis k: 4 reduced, index d3
// CHECK-NEXT:   buffer [1] from [d0 - 1]
// CHECK-NEXT:   loop d2 t: extent 1
// CHECK-NEXT:   loop d3 k: extent 4
// CHECK-NEXT: stage S in global memory
// CHECK-NEXT:   axis t: 5 of 5 from 0, index d0
// CHECK-NEXT:   axis i: 4 of 4 from 0, index d1
// CHECK-NEXT:   buffer [5, 4] from [0, 0]
// CHECK-NEXT:   loop d0 t: extent 5
// CHECK-NEXT:   loop d1 i: extent 4
func.func @scan(%X: tensor<5x4xf32> {te.name = "X"}, %out: tensor<5x4xf32> {te.name = "S", te.output}) -> tensor<5x4xf32> {
  %state = te.state "state" of "S" : tensor<5x4xf32>
  %total = te.compute "total" (%t: 4) sum (%k: 4) {
    %x = te.read %state[%t, %k] : tensor<5x4xf32>
    te.yield %x : f32
  } : tensor<4xf32>
  %S = te.compute "S" scan (%t: 5, %i: 4) {
    %c1 = arith.constant 1 : index
    %begins = arith.cmpi slt, %t, %c1 : index
    %s = scf.if %begins -> f32 {
      %x = te.read %X[%t, %i] : tensor<5x4xf32>
      scf.yield %x : f32
    } else {
      %x = te.read %total[%t - 1] : tensor<4xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<5x4xf32>
  return %S : tensor<5x4xf32>
}

// -----

// In warp memory each warp, which is a row of threads along y, has the elements of its own lanes.
// CHECK-LABEL: bounds of @warp
// CHECK-NEXT: stage B in warp memory, one for each threadIdx.y, in loop i.outer of stage C
// CHECK-NEXT:   axis i: 32 of 64 from d0 * 32, index d3
// CHECK-NEXT:   buffer [32] from [d0 * 32]
// CHECK-NEXT:   loop d2 i.outer: extent 1
// CHECK-NEXT:   loop d3 i.inner: extent 32, threadIdx.x
// CHECK-NEXT: stage C in global memory
// CHECK-NEXT:   axis i: 64 of 64 from 0, index d0 * 32 + d1
// CHECK-NEXT:   buffer [64] from [0]
// CHECK-NEXT:   loop d0 i.outer: extent 2, threadIdx.y
// CHECK-NEXT:   loop d1 i.inner: extent 32, threadIdx.x
func.func @warp(%A: tensor<64xf32> {te.name = "A"}, %out: tensor<64xf32> {te.name = "C", te.output}) -> tensor<64xf32> {
  %B = te.compute "B" (%i: 64) {
    %a = te.read %A[%i] : tensor<64xf32>
    te.yield %a : f32
  } : tensor<64xf32>
  %C = te.compute "C" (%i: 64) {
    %b = te.read %B[%i floordiv 32 * 32 + (31 - %i mod 32)] : tensor<64xf32>
    te.yield %b : f32
  } : tensor<64xf32>
  return %C : tensor<64xf32>
}
schedule.of @warp {
  %B = schedule.stage "B"
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %ty, %tx = schedule.split %i by 32
  schedule.bind %ty to <threadIdx.y>
  schedule.bind %tx to <threadIdx.x>
  schedule.set_scope %B to <warp>
  schedule.compute_at %B at %C, %ty
}

// -----

// A split by a number of the call. What stands for it is of the bounds alone, the program is as it was.
// CHECK-LABEL: bounds of @given
// CHECK-NEXT: stage C in global memory
// CHECK-NEXT:   axis i: 64 of 64 from 0, index d0 * s0 + d1
// CHECK-NEXT:   buffer [64] from [0]
// CHECK-NEXT:   loop d0 i.outer: extent 64 ceildiv s0
// CHECK-NEXT:   loop d1 i.inner: extent s0
// CHECK-NEXT: symbol s0: max(n, 1)
func.func @given(%n: index {te.name="n", te.dtype = i64, te.symbols=["n"]}, %A: tensor<64xf32> {te.name = "A"}, %out: tensor<64xf32> {te.name = "C", te.output}) -> tensor<64xf32> {
  %C = te.compute "C" (%i: 64) {
    %a = te.read %A[%i] : tensor<64xf32>
    te.yield %a : f32
  } : tensor<64xf32>
  return %C : tensor<64xf32>
}
schedule.of @given {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %o, %ii = schedule.split %i by_symbol "n"
}
