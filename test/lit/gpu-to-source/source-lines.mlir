// RUN: tilewright-opt %s --emit-cuda-source=lines=true --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: tilewright-opt %s --emit-host-source=lines=true --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=HOST

// One location a line: those of all ops that it has, the multiplication that became part of the store among them.
// CHECK: tilewright.cuda_lines = [
// CHECK-SAME: loc(fused["f.py":7:0, "f.py":6:0])
// HOST: tilewright.cpp_lines = [
// HOST-SAME: loc("f.py":9:0)
module attributes {gpu.container_module} {
  gpu.module @f_kernels {
    gpu.func @f_kernel0(%a: memref<32xf32> {te.name = "A"}, %b: memref<32xf32> {te.name = "B"}) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %i = gpu.thread_id x loc("f.py":4:0)
      %0 = memref.load %a[%i] : memref<32xf32> loc("f.py":5:0)
      %1 = arith.mulf %0, %0 : f32 loc("f.py":6:0)
      memref.store %1, %b[%i] : memref<32xf32> loc("f.py":7:0)
      gpu.return loc("f.py":8:0)
    } loc("f.py":3:0)
  }
  func.func @f(%a: memref<32xf32> {te.name = "A", te.dtype = f32}, %b: memref<32xf32> {te.name = "B", te.dtype = f32, te.output}) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @f_kernels::@f_kernel0 blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%a : memref<32xf32>, %b : memref<32xf32>) loc("f.py":9:0)
    return
  }
}
