// RUN: tilewright-opt %s --tilewright-pipeline="from=loops to=gpu" | FileCheck %s

// The tiled product: all threads of a block fill two shared tiles together, a barrier before they read them and one
// before they fill them again.

// CHECK-LABEL: gpu.module @mmult_kernels
// CHECK: memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
// CHECK: gpu.func @mmult_kernel0(
// CHECK-SAME: known_block_size = array<i32: 32, 32, 1>, known_grid_size = array<i32: 4, 4, 1>
// CHECK: scf.for
// CHECK: memref.load {{.*}} : memref<128x64xf32>
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.store
// CHECK-NOT: gpu.barrier
// CHECK: memref.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: scf.for
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
// CHECK: gpu.launch_func @mmult_kernels::@mmult_kernel0
// CHECK-SAME: shared = "A.shared (4096 bytes), B.shared (4096 bytes)"
func.func @mmult(%A: memref<128x64xf32> {te.name = "A"}, %B: memref<64x128xf32> {te.name = "B"}, %C: memref<128x128xf32> {te.name = "C", te.output}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  scf.for %io = %c0 to %c4 step %c1 {
    scf.for %jo = %c0 to %c4 step %c1 {
      scf.for %ii = %c0 to %c32 step %c1 {
        scf.for %ji = %c0 to %c32 step %c1 {
          %acc = memref.alloca() {te.stage = "C"} : memref<1xf32, #gpu.address_space<private>>
          %zero = arith.constant 0.0 : f32
          memref.store %zero, %acc[%c0] : memref<1xf32, #gpu.address_space<private>>
          scf.for %ko = %c0 to %c2 step %c1 {
            %As = memref.alloc() {te.stage = "A.shared"} : memref<32x32xf32, #gpu.address_space<workgroup>>
            scf.for %a0 = %c0 to %c32 step %c1 {
              scf.for %a1 = %c0 to %c32 step %c1 {
                %i = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%io, %a0)
                %k = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%ko, %a1)
                %v = memref.load %A[%i, %k] : memref<128x64xf32>
                memref.store %v, %As[%a0, %a1] : memref<32x32xf32, #gpu.address_space<workgroup>>
              } {schedule.axis = #schedule.axis<"ax1" of "A.shared">, schedule.bind = #schedule.thread<threadIdx.x>}
            } {schedule.axis = #schedule.axis<"ax0" of "A.shared">, schedule.bind = #schedule.thread<threadIdx.y>}
            %Bs = memref.alloc() {te.stage = "B.shared"} : memref<32x32xf32, #gpu.address_space<workgroup>>
            scf.for %b0 = %c0 to %c32 step %c1 {
              scf.for %b1 = %c0 to %c32 step %c1 {
                %k = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%ko, %b0)
                %j = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%jo, %b1)
                %v = memref.load %B[%k, %j] : memref<64x128xf32>
                memref.store %v, %Bs[%b0, %b1] : memref<32x32xf32, #gpu.address_space<workgroup>>
              } {schedule.axis = #schedule.axis<"ax1" of "B.shared">, schedule.bind = #schedule.thread<threadIdx.x>}
            } {schedule.axis = #schedule.axis<"ax0" of "B.shared">, schedule.bind = #schedule.thread<threadIdx.y>}
            scf.for %ki = %c0 to %c32 step %c1 {
              %sum = memref.load %acc[%c0] : memref<1xf32, #gpu.address_space<private>>
              %a = memref.load %As[%ii, %ki] : memref<32x32xf32, #gpu.address_space<workgroup>>
              %b = memref.load %Bs[%ki, %ji] : memref<32x32xf32, #gpu.address_space<workgroup>>
              %ab = arith.mulf %a, %b : f32
              %next = arith.addf %sum, %ab : f32
              memref.store %next, %acc[%c0] : memref<1xf32, #gpu.address_space<private>>
            } {schedule.axis = #schedule.axis<"k.inner" of "C">}
          } {schedule.axis = #schedule.axis<"k.outer" of "C">}
          %i = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%io, %ii)
          %j = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%jo, %ji)
          %sum = memref.load %acc[%c0] : memref<1xf32, #gpu.address_space<private>>
          memref.store %sum, %C[%i, %j] : memref<128x128xf32>
        } {schedule.axis = #schedule.axis<"j.inner" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
      } {schedule.axis = #schedule.axis<"i.inner" of "C">, schedule.bind = #schedule.thread<threadIdx.y>}
    } {schedule.axis = #schedule.axis<"j.outer" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
  } {schedule.axis = #schedule.axis<"i.outer" of "C">, schedule.bind = #schedule.thread<blockIdx.y>}
  return
}
