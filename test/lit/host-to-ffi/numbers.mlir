// RUN: tilewright-opt %s --convert-host-to-ffi=target=cpu | FileCheck %s

// Numbers are arguments by value: what is compiled checks their kinds and ranges, and puts their bits among the extents.

llvm.func @scale(%data: !llvm.ptr, %shape: !llvm.ptr, %workspace: !llvm.ptr, %launcher: !llvm.ptr) -> i32 attributes {
    tilewright.kernels = [], tilewright.arguments = [
      {te.name = "k", te.dtype = i8, type = i8},
      {te.name = "n", te.dtype = i32, te.symbols = ["n"], te.minimum = array<i64: 0>, type = i32},
      {te.name = "A", te.dtype = f32, te.symbols = ["n"], type = memref<?xf32>},
      {te.name = "alpha", te.dtype = f32, type = f32}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}
llvm.func @scale_workspace_bytes(%shape: !llvm.ptr) -> i64 {
  %zero = llvm.mlir.constant(0 : i64) : i64
  llvm.return %zero : i64
}

// CHECK-DAG: llvm.mlir.global internal constant @scale_text{{[0-9]+}}("scale(k: int8, n: int32, A: float32[n], alpha: float32)\00")

// CHECK-LABEL: llvm.func @scale_call(
// CHECK-DAG: %[[HALF:.*]] = llvm.mlir.constant(128 : i64) : i64
// CHECK-DAG: %[[BITS:.*]] = llvm.mlir.constant(8 : i64) : i64
// CHECK-DAG: %[[INT:.*]] = llvm.mlir.constant(1 : i64) : i64
// CHECK-DAG: %[[FLOAT:.*]] = llvm.mlir.constant(3 : i64) : i64
// CHECK: llvm.alloca %{{.*}} x i64
// CHECK: %[[SHAPE:.*]] = llvm.alloca %{{.*}} x i64

// CHECK: %[[KIND:.*]] = llvm.load %arg1 : !llvm.ptr -> i64
// CHECK: llvm.xor %[[KIND]], %[[INT]] : i64
// CHECK: %[[K:.*]] = llvm.load
// CHECK: %[[MOVED:.*]] = llvm.add %[[K]], %[[HALF]] : i64
// CHECK: llvm.lshr %[[MOVED]], %[[BITS]] : i64
// CHECK: llvm.store %[[K]], %[[SHAPE]] : i64

// The array's extent is the number.
// CHECK: llvm.xor %{{.*}}, %[[INT]] : i64
// CHECK: %[[N:.*]] = llvm.load
// CHECK: llvm.add %[[N]]
// CHECK: llvm.store %[[N]]
// CHECK: %[[EXTENT:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK: llvm.xor %[[EXTENT]], %[[N]] : i64

// CHECK: llvm.xor %{{.*}}, %[[FLOAT]] : i64
// CHECK: %[[REAL:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f64
// CHECK: %[[MAGNITUDE:.*]] = llvm.intr.fabs(%[[REAL]]) : (f64) -> f64
// CHECK: llvm.fcmp "ule" %[[MAGNITUDE]]
// CHECK: %[[SINGLE:.*]] = llvm.fptrunc %[[REAL]] : f64 to f32
// CHECK: %[[STORED:.*]] = llvm.bitcast %[[SINGLE]] : f32 to i32
// CHECK: llvm.zext %[[STORED]] : i32 to i64

// CHECK: llvm.call @scale(
