// RUN: tilewright-opt %s --multiversion-host-functions="levels=x86-64-v3,x86-64-v4,x86-64-v3" | FileCheck %s

// A program and what it reaches have a copy for each level; what surrounds it calls the choice.

// CHECK: llvm.func @tilewrightHostCpuLevel() -> i32

// CHECK-LABEL: llvm.func internal @helper(
// CHECK-NOT: target_cpu
llvm.func internal @helper(%x: f32) -> f32 {
  %twice = llvm.fadd %x, %x : f32
  llvm.return %twice : f32
}

// CHECK-LABEL: llvm.func internal @"f.x86-64-v4"(
// CHECK-SAME: target_cpu = "x86-64-v4"
// CHECK: llvm.call @"helper.x86-64-v4"
// CHECK-LABEL: llvm.func internal @"helper.x86-64-v4"(
// CHECK-SAME: target_cpu = "x86-64-v4"
// CHECK-LABEL: llvm.func internal @"f.x86-64-v3"(
// CHECK: llvm.call @"helper.x86-64-v3"
// CHECK-LABEL: llvm.func internal @"helper.x86-64-v3"(
// CHECK-LABEL: llvm.func internal @f.base(
// CHECK-NOT: target_cpu
// CHECK: llvm.call @helper(

// CHECK-LABEL: llvm.func @f(
// CHECK-SAME: tilewright.arguments
// CHECK: %[[LEVEL:.*]] = llvm.call @tilewrightHostCpuLevel()
// CHECK: %[[FOUR:.*]] = llvm.mlir.constant(4 : i32)
// CHECK: %[[SUITS:.*]] = llvm.icmp "sge" %[[LEVEL]], %[[FOUR]]
// CHECK: llvm.cond_br %[[SUITS]], ^[[CALL:.*]], ^[[NEXT:.*]]
// CHECK: ^[[CALL]]:
// CHECK: llvm.call @"f.x86-64-v4"
// CHECK: ^[[NEXT]]:
// CHECK: llvm.call @"f.x86-64-v3"
// CHECK: llvm.call @f.base
llvm.func @f(%x: f32) -> f32 attributes {tilewright.arguments = []} {
  %y = llvm.call @helper(%x) : (f32) -> f32
  llvm.return %y : f32
}

// CHECK-LABEL: llvm.func @caller(
// CHECK: llvm.call @f(
llvm.func @caller(%x: f32) -> f32 {
  %y = llvm.call @f(%x) : (f32) -> f32
  llvm.return %y : f32
}
