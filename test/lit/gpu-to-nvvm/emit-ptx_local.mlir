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

// ptxas moves a load before some of 200 stores in its block. A block of many accesses is split by branches that nobody
// takes: no GPU has as many processors as a branch compares with.
// CHECK-LABEL: gpu.module @many
// CHECK:       [[PROCESSORS:%r[0-9]+]], %nsmid;
// CHECK-COUNT-128: st.local.b32
// CHECK:       [[FIRST:%p[0-9]+]], [[PROCESSORS]], -1;
// CHECK:       @[[FIRST]] bra {{[^;]*}}[[NEVER:\$L__BB0_[0-9]+]];
// CHECK-COUNT-128: st.local.b32
// CHECK:       [[SECOND:%p[0-9]+]], [[PROCESSORS]], -2;
// CHECK:       @[[SECOND]] bra {{[^;]*}}[[NEVER]];
// CHECK:       ld.local.b32
// CHECK:       ret;
// CHECK:       [[NEVER]]:
// CHECK:       trap;
gpu.module @many [#nvvm.target<chip = "sm_90">] {
  llvm.func @k(%out: !llvm.ptr<1>, %i: i32) attributes {nvvm.kernel} {
    %size = llvm.mlir.constant(300 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %array = llvm.alloca %size x i32 : (i32) -> !llvm.ptr
    llvm.br ^loop(%zero : i32)
  ^loop(%k: i32):
    %each = llvm.getelementptr %array[%k] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    llvm.store volatile %k, %each : i32, !llvm.ptr
    %next = llvm.add %k, %one : i32
    %is_last = llvm.icmp "eq" %next, %size : i32
    llvm.cond_br %is_last, ^end, ^loop(%next : i32) {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
  ^end:
    %place = llvm.getelementptr %array[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    %read = llvm.load volatile %place : !llvm.ptr -> i32
    llvm.store %read, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}
