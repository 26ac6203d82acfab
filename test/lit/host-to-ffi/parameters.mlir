// RUN: tilewright-opt %s --convert-host-to-ffi=target=cpu | FileCheck %s

// What a call gives is not always the arguments one by one: a tuple is one value of tvm-ffi's, taken apart by compiled code; a
// number may have a default; of a pointer there is an address alone, whose extents other arguments have.

llvm.func @f(%data: !llvm.ptr, %shape: !llvm.ptr, %workspace: !llvm.ptr, %launcher: !llvm.ptr) -> i32 attributes {
    tilewright.kernels = [], tilewright.arguments = [
      {te.name = "A", te.dtype = f32, te.symbols = ["n"], type = memref<?xf32>},
      {te.name = "B", te.dtype = f32, te.pointer, te.align = 32 : i64, te.symbols = ["n"], type = memref<?xf32>,
       te.groups = [{name = "pair", count = 2 : i64, fields = ["first", "rest"]}]},
      {te.name = "k", te.dtype = ui64, type = i64, te.groups = [{name = "rest", count = 1 : i64}]},
      {te.name = "alpha", te.dtype = f32, te.default = 0.1 : f64, type = f32}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}
llvm.func @f_workspace_bytes(%shape: !llvm.ptr) -> i64 {
  %zero = llvm.mlir.constant(0 : i64) : i64
  llvm.return %zero : i64
}

// CHECK-DAG: @f_text{{[0-9]+}}("f(A: float32[n], pair: (B: pointer to float32[n], rest: (k: uint64)), alpha: float32 = 0.1)\00")
// CHECK-DAG: @f_text{{[0-9]+}}("1.first\00")
// CHECK-DAG: @f_text{{[0-9]+}}("1.rest[0]\00")
// Three parameters, the two elements of the second, and the one of its second.
// CHECK-DAG: @f_parameters() {{.*}} : !llvm.array<6 x struct<(ptr, ptr, i32, i32, i32)>>

// CHECK-LABEL: llvm.func @f_call(
// CHECK-DAG: %[[ARRAY:.*]] = llvm.mlir.constant(71 : i32) : i32
// CHECK-DAG: %[[TWO:.*]] = llvm.mlir.constant(2 : i64) : i64
// CHECK-DAG: %[[LOW:.*]] = llvm.mlir.constant(31 : i64) : i64

// The pair is a tuple of two, and then the second of that one of one.
// CHECK: %[[PAIR:.*]] = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK: %[[KIND:.*]] = llvm.load %[[PAIR]] : !llvm.ptr -> i32
// CHECK: llvm.icmp "eq" %[[KIND]], %[[ARRAY]] : i32
// CHECK: %[[OBJECT:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: %[[COUNT:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK: llvm.xor %[[COUNT]], %[[TWO]] : i64
// CHECK: %[[ELEMENTS:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: %[[REST:.*]] = llvm.getelementptr %[[ELEMENTS]][16] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK: %[[INNER:.*]] = llvm.load %[[REST]] : !llvm.ptr -> i32
// CHECK: llvm.icmp "eq" %[[INNER]], %[[ARRAY]] : i32

// The address: an int or a pointer, not null, aligned.
// CHECK: llvm.icmp "ne" %[[ADDRESS:[0-9]+]], %{{[0-9]+}} : i64
// CHECK: llvm.and %[[ADDRESS]], %[[LOW]] : i64
// CHECK: llvm.call @f(
