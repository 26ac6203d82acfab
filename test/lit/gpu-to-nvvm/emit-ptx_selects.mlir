// RUN: tilewright-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(emit-ptx))' | FileCheck %s

// ptxas puts the choice into the register of %a, and packs both differences.
// CHECK-LABEL: gpu.module @halves
// CHECK-NOT:   selp.b16
// CHECK:       selp.b32 \09%r{{[0-9]+}}, -1, 0, %p
// CHECK-NOT:   selp.b16
// CHECK:       ret;
gpu.module @halves [#nvvm.target<chip = "sm_90">] {
  llvm.func @k(%out: !llvm.ptr<1>, %a: bf16, %b: bf16, %c: bf16, %n: i32) attributes {nvvm.kernel} {
    %three = llvm.mlir.constant(3 : i32) : i32
    %p = llvm.icmp "slt" %n, %three : i32
    %chosen = llvm.select %p, %a, %b : i1, bf16
    %first = llvm.fsub %a, %c : bf16
    %second = llvm.fsub %chosen, %c : bf16
    llvm.store %first, %out : bf16, !llvm.ptr<1>
    %next = llvm.getelementptr %out[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, bf16
    llvm.store %second, %next : bf16, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// What is used by the select alone is chosen by selp.
// CHECK-LABEL: gpu.module @alone
// CHECK:       selp.b16
gpu.module @alone [#nvvm.target<chip = "sm_90">] {
  llvm.func @k(%out: !llvm.ptr<1>, %in: !llvm.ptr<1>, %b: bf16, %n: i32) attributes {nvvm.kernel} {
    %three = llvm.mlir.constant(3 : i32) : i32
    %p = llvm.icmp "slt" %n, %three : i32
    %a = llvm.load volatile %in : !llvm.ptr<1> -> bf16
    %chosen = llvm.select %p, %a, %b : i1, bf16
    llvm.store %chosen, %out : bf16, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// CHECK-LABEL: gpu.module @negation
// CHECK-NOT:   neg.s32
// CHECK:       not.b32 %[[NOT:r[0-9]+]]
// CHECK:       add.s32 \09%{{r[0-9]+}}, %[[NOT]], 1;
// CHECK:       max.s32
// CHECK:       max.s32
gpu.module @negation [#nvvm.target<chip = "sm_90">] {
  llvm.func @k(%out: !llvm.ptr<1>, %a: i32, %b: i32, %c: i32) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %negated = llvm.sub %zero, %a : i32
    %two = llvm.intr.smax(%b, %negated) : (i32, i32) -> i32
    %three = llvm.intr.smax(%two, %c) : (i32, i32) -> i32
    llvm.store %three, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// CHECK-LABEL: gpu.module @sum
// CHECK:       neg.s32
gpu.module @sum [#nvvm.target<chip = "sm_90">] {
  llvm.func @k(%out: !llvm.ptr<1>, %a: i32) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %negated = llvm.sub %zero, %a : i32
    llvm.store %negated, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// Both bits are stored, so LLVM keeps them as numbers; their disjunction is one of predicates.
// CHECK-LABEL: gpu.module @bits
// CHECK:       or.pred
// CHECK-NOT:   or.b32
// CHECK:       ret;
gpu.module @bits [#nvvm.target<chip = "sm_90">] {
  llvm.func @k(%out: !llvm.ptr<1>, %a: i32, %b: i32) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %five = llvm.mlir.constant(5 : i32) : i32
    %p = llvm.icmp "ugt" %a, %five : i32
    %q = llvm.icmp "ugt" %b, %five : i32
    %x = llvm.zext %p : i1 to i32
    %y = llvm.zext %q : i1 to i32
    %either = llvm.or %x, %y : i32
    %any = llvm.icmp "ne" %either, %zero : i32
    llvm.store volatile %x, %out : i32, !llvm.ptr<1>
    llvm.store volatile %y, %out : i32, !llvm.ptr<1>
    llvm.cond_br %any, ^end, ^then
  ^then:
    llvm.store volatile %a, %out : i32, !llvm.ptr<1>
    llvm.br ^end
  ^end:
    llvm.return
  }
}
