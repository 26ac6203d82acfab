// RUN: tilewright-opt %s --emit-cuda-source | FileCheck %s

// CHECK: tilewright.cuda = "{{.*}}const float (*__restrict__ A)[8]{{.*}}long long A_extent0{{.*}}float carried = 0.0f;{{.*}}for (long long k_inner = 0LL; k_inner < 8LL; ++k_inner) {  // C.k.inner{{.*}}carried = carried + A[i][k_inner];{{.*}}out[i] = carried;
gpu.module @m {
  gpu.func @rows(%a: memref<?x8xf32> {te.name = "A"}, %o: memref<?xf32> {te.name = "out"}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %i = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%bx, %tx)
    %sum = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero) -> f32 {
      %x = memref.load %a[%i, %k] : memref<?x8xf32>
      %y = arith.addf %s, %x fastmath<contract> : f32
      scf.yield %y : f32
    } {schedule.axis = "C.k.inner"}
    memref.store %sum, %o[%i] : memref<?xf32>
    gpu.return
  }
}

// Values that two iterations exchange are both computed before one changes, and a while loop is one that is left.
// CHECK: tilewright.cuda = "{{.*}}const int next_carried = carried_2;{{.*}}const int next_carried_2 = carried;{{.*}}carried = next_carried;{{.*}}carried_2 = next_carried_2;{{.*}}while (true) {{[{].*}}if (!(carried_3 < carried)) break;
gpu.module @exchange {
  gpu.func @swap(%o: memref<2xi32> {te.name = "out"}, %n: i32 {te.name = "n"}, %m: i32 {te.name = "m"}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %one = arith.constant 1 : i32
    %r:2 = scf.for %k = %c0 to %c5 step %c1 iter_args(%a = %n, %b = %m) -> (i32, i32) {
      scf.yield %b, %a : i32, i32
    }
    %w = scf.while (%x = %r#1) : (i32) -> i32 {
      %less = arith.cmpi slt, %x, %r#0 : i32
      scf.condition(%less) %x : i32
    } do {
    ^bb0(%y: i32):
      %z = arith.addi %y, %one : i32
      scf.yield %z : i32
    }
    memref.store %w, %o[%c0] : memref<2xi32>
    gpu.return
  }
}
