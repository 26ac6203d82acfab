// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(emit-ptx))' | FileCheck %s

// Rows t + 2 and t of 18 numbers, a number and five from their starts. They are 256 bytes apart, which is 0 in 8 bits.
// CHECK-LABEL: gpu.module @m
// CHECK:       ld.global.b64 \09[[FIRST:%rd[0-9]+]],
// CHECK:       ld.global.b64 \09[[SECOND:%rd[0-9]+]],
// CHECK-DAG:   st.global.b64 \09[%{{rd[0-9]+}}], [[FIRST]];
// CHECK-DAG:   st.global.b64 \09[%{{rd[0-9]+}}+16], [[SECOND]];
gpu.module @m [#nvvm.target<O = 3, chip = "sm_90a">] {
  llvm.func @f(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c7 = llvm.mlir.constant(7 : i8) : i8
    %c16 = llvm.mlir.constant(16 : i8) : i8
    %c18 = llvm.mlir.constant(18 : i8) : i8
    %c70 = llvm.mlir.constant(70 : i8) : i8
    %id = nvvm.read.ptx.sreg.tid.x : i32
    %bit = llvm.and %id, %c1 : i32
    %t = llvm.trunc %bit : i32 to i8
    %x = llvm.or disjoint %t, %c16 : i8
    %y = llvm.or disjoint %t, %c70 : i8
    %rowx = llvm.urem %x, %c7 : i8
    %rowy = llvm.urem %y, %c7 : i8
    %a = llvm.mul %rowx, %c18 overflow<nuw> : i8
    %b = llvm.mul %rowy, %c18 overflow<nuw> : i8
    %ai = llvm.zext nneg %a : i8 to i64
    %bi = llvm.zext nneg %b : i8 to i64
    %pa = llvm.getelementptr inbounds %in[%ai] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f64
    %pb = llvm.getelementptr inbounds %in[%bi] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f64
    %qa = llvm.getelementptr inbounds %pa[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %qb = llvm.getelementptr inbounds %pb[40] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %u = llvm.load %qa : !llvm.ptr<1> -> f64
    %v = llvm.load %qb : !llvm.ptr<1> -> f64
    llvm.store %u, %out : f64, !llvm.ptr<1>
    %out1 = llvm.getelementptr %out[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f64
    llvm.store %v, %out1 : f64, !llvm.ptr<1>
    llvm.return
  }
}
