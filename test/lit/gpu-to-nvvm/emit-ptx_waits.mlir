// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(emit-ptx))' | FileCheck %s

// A kernel that waits for those before it has ordinary loads behind the wait. The store does not overlap what is
// loaded, so one load before the loop is enough.
// CHECK-LABEL: gpu.module @dependent
// CHECK-NOT:   ld.global
// CHECK:       griddepcontrol.wait
// CHECK-NOT:   ld.global.nc
// CHECK:       ld.global.b32
// CHECK:       $L__BB0_{{[0-9]}}:
// CHECK-NOT:   ld.global
// CHECK:       st.volatile.global.b32
// CHECK:       ret;
gpu.module @dependent [#nvvm.target<chip = "sm_90">] {
  llvm.func @k(%in: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr {llvm.noalias}, %n: i32) attributes {nvvm.kernel} {
    nvvm.griddepcontrol wait
    nvvm.griddepcontrol launch_dependents
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^loop(%zero : i32)
  ^loop(%i: i32):
    %x = llvm.load %in : !llvm.ptr -> i32
    %sum = llvm.add %x, %i : i32
    %place = llvm.getelementptr %out[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    llvm.store volatile %sum, %place : i32, !llvm.ptr
    %next = llvm.add %i, %one : i32
    %goes = llvm.icmp "slt" %next, %n : i32
    llvm.cond_br %goes, ^loop(%next : i32), ^end
  ^end:
    llvm.return
  }
}
