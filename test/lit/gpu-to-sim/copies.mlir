// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(synchronize-copies))' | FileCheck %s
// RUN: tilewright-opt %s --gpu-to-sim=checks=true | FileCheck %s --check-prefix=SIM

module attributes {gpu.container_module} {
  gpu.module @p_kernels {
    memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024}
    // CHECK-LABEL: gpu.func @k
    // SIM-LABEL: llvm.func @k
    gpu.func @k(%a: memref<64xf32>, %b: memref<64xf32>, %some: index) kernel {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %shared = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
      %tile = memref.view %shared[%c0][] : memref<0xi8, #gpu.address_space<workgroup>> to memref<8xf32, #gpu.address_space<workgroup>>
      // CHECK: %[[X:.+]] = vector.load %{{.+}}[%c4] : memref<64xf32>, vector<4xf32>
      // CHECK: vector.store %[[X]], %{{.+}}[%c0] {tilewright.copy} : memref<8xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      // SIM: llvm.call @tw_sim_copy_shared
      %token = nvgpu.device_async_copy %a[%c4], %tile[%c0], 4 : memref<64xf32> to memref<8xf32, #gpu.address_space<workgroup>>
      // Of a copy of some elements the others are zeros, which nothing is read for.
      // CHECK: %[[NONE:.+]] = arith.constant 0 : index
      // CHECK: %[[IS:.+]] = arith.cmpi ult, %[[NONE]], %arg2
      // CHECK: %[[E:.+]] = scf.if %[[IS]] -> (f32)
      // CHECK:   memref.load %{{.+}}[%{{.+}}] : memref<64xf32>
      // CHECK: vector.from_elements %[[E]], %{{.+}} : vector<2xf32>
      %partial = nvgpu.device_async_copy %a[%c4], %tile[%c4], 2, %some : memref<64xf32> to memref<8xf32, #gpu.address_space<workgroup>>
      // CHECK: nvvm.cp.async.commit.group
      // SIM: llvm.call @tw_sim_commit_copies
      nvvm.cp.async.commit.group
      // CHECK: nvvm.cp.async.wait.group 2
      // SIM: llvm.call @tw_sim_wait_copies
      nvvm.cp.async.wait.group 2
      // SIM: llvm.call @tw_sim_load_shared
      %x = memref.load %tile[%c0] : memref<8xf32, #gpu.address_space<workgroup>>
      // SIM: llvm.call @tw_sim_store_global
      memref.store %x, %b[%c0] : memref<64xf32>
      gpu.return
    }
  }
}
