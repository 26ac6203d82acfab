// RUN: tilewright-opt %s --convert-gpu-to-sim --canonicalize | FileCheck %s

// A lane reads the row that it names; the run time deals out the rows of the warp.

gpu.module @m_kernels {
  memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
  // CHECK-LABEL: func.func @m_kernel0
  gpu.func @m_kernel0(%C: memref<32x4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
    %s = memref.view %all[%c0][] : memref<0xi8, #gpu.address_space<workgroup>> to memref<32x8xf16, #gpu.address_space<workgroup>>
    // CHECK: %[[ROW:.*]] = vector.load %{{.*}} : memref<32x8xf16, #gpu.address_space<workgroup>>, vector<8xf16>
    // CHECK: llvm.store %[[ROW]], %[[SLOT:[0-9]+]] {alignment = 1 : i64} : vector<8xf16>, !llvm.ptr
    // CHECK: call @tw_sim_load_matrices(%{{.*}}, %{{.*}}, %c4_i32, %c0_i32, %[[SLOT]], %[[RESULT:[0-9]+]])
    // CHECK: llvm.load %[[RESULT]] {alignment = 1 : i64} : !llvm.ptr -> vector<8xf16>
    %a = nvgpu.ldmatrix %s[%t, %c0] {numTiles = 4 : i32, transpose = false} : memref<32x8xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
    %b = nvgpu.ldmatrix %s[%t, %c0] {numTiles = 2 : i32, transpose = true} : memref<32x8xf16, #gpu.address_space<workgroup>> -> vector<2x2xf16>
    %c = arith.constant dense<0.0> : vector<2x2xf32>
    // CHECK: call @tw_sim_multiply(%{{.*}}, %{{.*}}, %c0_i32, %c16_i32, %{{.*}}, %{{.*}}, %[[SUMS:[0-9]+]])
    // CHECK: llvm.load %[[SUMS]] {alignment = 1 : i64} : !llvm.ptr -> vector<4xf32>
    %d = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %flat = vector.shape_cast %d : vector<2x2xf32> to vector<4xf32>
    vector.store %flat, %C[%t, %c0] : memref<32x4xf32>, vector<4xf32>
    gpu.return
  }
}
