// RUN: tilewright-opt %s --tilewright-pipeline="to=loops" | FileCheck %s
// RUN: tilewright-opt %s --tilewright-pipeline="to=nvvm" | FileCheck %s --check-prefix=NVVM

// Each row is asked for an iteration before it is read; the kernel's threads compute the same.
// CHECK-LABEL: func.func @f
// CHECK:         scf.for %{{.*}} = %c0 to %c32 step %c1 {
// CHECK:           scf.for %[[IO:.+]] = %c0 to %c4
// CHECK:             scf.for %[[II:.+]] = %c0 to %c8
// CHECK:               %[[NEXT:.+]] = affine.apply #{{.*}}(%[[II]])
// CHECK:               %[[EXISTS:.+]] = arith.cmpi slt, %[[NEXT]], %c8
// CHECK:               scf.if %[[EXISTS]] {
// CHECK:                 scf.for %[[LINE:.+]] = %c0 to %c2
// CHECK:                   memref.prefetch %arg0[%{{.*}}, %{{.*}}], read, locality<2>, data : memref<32x64xf32>
// CHECK:                 } {schedule.axis = #schedule.axis<"prefetch1" of "B">}
// CHECK:         } {schedule.axis = #schedule.axis<"threadIdx.x" of "B">, schedule.bind = #schedule.thread<threadIdx.x>}
// NVVM:          llvm.func @f_kernel0(%{{.*}}: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}
// NVVM:            nvvm.prefetch level = L2, %{{.*}} : !llvm.ptr
func.func @f(%A: tensor<32x64xf32> {te.name = "A"}, %out: tensor<32xf32> {te.name = "B", te.output}) -> tensor<32xf32> {
  %B = te.compute "B" (%i: 32) sum (%k: 64) {
    %a = te.read %A[%i, %k] : tensor<32x64xf32>
    te.yield %a : f32
  } : tensor<32xf32>
  return %B : tensor<32xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %io, %ii = schedule.split %i by 8
  schedule.bind %io to <blockIdx.x>
  schedule.prefetch %B of "A" at %ii offset 1
  schedule.env_threads %B on <threadIdx.x> extent 32
}
