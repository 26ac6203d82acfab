// RUN: tilewright-opt %s --emit-host-object | FileCheck %s
// RUN: tilewright-opt %s --emit-host-object="mcpu=native opt-level=0" | FileCheck %s

// The module has the bytes of an object file, with the function's name in its table of symbols.
// CHECK: module attributes {tilewright.object = "\7FELF{{.*}}answer{{.*}}"}
// CHECK: llvm.func @answer() -> i32
llvm.func @answer() -> i32 {
  %0 = llvm.mlir.constant(42 : i32) : i32
  llvm.return %0 : i32
}
