// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(emit-ptx))' | FileCheck %s

// ptxas loses the order of local and shared memory beside many loads of memory that nothing writes. So a kernel with
// local memory has none of them, by an argument's attributes or by a load's own.
// CHECK-LABEL: gpu.module @local
// CHECK:       .local .align
// CHECK-NOT:   ld.global.nc
// CHECK:       ld.global.b32
// CHECK-NOT:   ld.global.nc
// CHECK:       ld.global.b32
// CHECK-NOT:   ld.global.nc
// CHECK:       ret;
gpu.module @local [#nvvm.target<chip = "sm_90">] {
  llvm.func @k(%in: !llvm.ptr {llvm.noalias, llvm.readonly}, %other: !llvm.ptr<1>, %out: !llvm.ptr<1>, %i: i32)
      attributes {nvvm.kernel} {
    %size = llvm.mlir.constant(16 : i32) : i32
    %array = llvm.alloca %size x i32 : (i32) -> !llvm.ptr
    %first = llvm.load %in : !llvm.ptr -> i32
    %second = llvm.load %other invariant : !llvm.ptr<1> -> i32
    %place = llvm.getelementptr %array[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    llvm.store volatile %first, %array : i32, !llvm.ptr
    llvm.store volatile %second, %place : i32, !llvm.ptr
    %sum = llvm.load volatile %array : !llvm.ptr -> i32
    llvm.store %sum, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}

// CHECK-LABEL: gpu.module @registers
// CHECK:       ld.global.nc.b32
// CHECK:       ld.global.nc.b32
// CHECK:       ret;
gpu.module @registers [#nvvm.target<chip = "sm_90">] {
  llvm.func @k(%in: !llvm.ptr {llvm.noalias, llvm.readonly}, %other: !llvm.ptr<1>, %out: !llvm.ptr<1>)
      attributes {nvvm.kernel} {
    %first = llvm.load %in : !llvm.ptr -> i32
    %second = llvm.load %other invariant : !llvm.ptr<1> -> i32
    %sum = llvm.add %first, %second : i32
    llvm.store %sum, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}
