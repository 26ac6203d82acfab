// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(convert-kernels-to-nvvm))' | FileCheck %s

gpu.module @f_kernels {
  // Loads through the read-only cache would not wait, so nothing is readonly.
  // CHECK-LABEL: llvm.func @dependent
  // CHECK-SAME: (%{{[^,]*}}: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias}, %{{[^,]*}}: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias})
  // CHECK-NOT: tilewright.launch
  // CHECK: nvvm.griddepcontrol wait
  // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
  // CHECK: llvm.load
  gpu.func @dependent(%a: memref<4xf32>, %b: memref<4xf32>) kernel attributes {tilewright.launch = {dependent}} {
    %c0 = arith.constant 0 : index
    %x = memref.load %a[%c0] : memref<4xf32>
    memref.store %x, %b[%c0] : memref<4xf32>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @cooperative
  // CHECK-SAME: llvm.noalias
  // CHECK-NOT: griddepcontrol
  gpu.func @cooperative(%a: memref<4xf32>) kernel attributes {tilewright.launch = {cooperative}} {
    gpu.return
  }
}
