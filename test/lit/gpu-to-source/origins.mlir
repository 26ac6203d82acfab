// RUN: tilewright-opt %s --emit-cuda-source | FileCheck %s

// A line of a file whose path has spaces, and a node of a model, which has no line.
// CHECK: // my kernels.py:7
// CHECK-SAME: B[tx] = 
// CHECK-SAME: // net.py:6 (aten.mul.Tensor)
gpu.module @f_kernels {
  gpu.func @f_kernel0(%a: memref<32xf32> {te.name = "A"}, %b: memref<32xf32> {te.name = "B"}, %c: memref<32xf32> {te.name = "C"}) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %i = gpu.thread_id x
    %0 = memref.load %a[%i] : memref<32xf32>
    memref.store %0, %b[%i] : memref<32xf32> loc("/home/some one/my kernels.py":7:0)
    memref.store %0, %c[%i] : memref<32xf32> loc("net.py:6 (aten.mul.Tensor)":0:0)
    gpu.return
  }
}
