// RUN: tilewright-opt %s --convert-host-to-ffi="target=cpu export=true model=true" | FileCheck %s
// RUN: tilewright-opt %s --convert-host-to-ffi="target=cuda export=true model=true" | FileCheck %s --check-prefix=CUDA

llvm.mlir.global internal @f_model() : !llvm.ptr {
  %none = llvm.mlir.zero : !llvm.ptr
  llvm.return %none : !llvm.ptr
}
llvm.func @f(%data: !llvm.ptr, %shape: !llvm.ptr, %workspace: !llvm.ptr, %launcher: !llvm.ptr) -> i32
    attributes {tilewright.arguments = [{te.name = "A", type = memref<?xf32>}], tilewright.kernels = []} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}
llvm.func @f_workspace_bytes(%shape: !llvm.ptr) -> i64 {
  %zero = llvm.mlir.constant(0 : i64) : i64
  llvm.return %zero : i64
}

// CHECK-NOT: @f_call
// CHECK-LABEL: llvm.func @__tvm_ffi_f(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %[[ARGS:.*]]: !llvm.ptr, %[[COUNT:.*]]: i32, %[[RESULT:.*]]: !llvm.ptr) -> i32
// CHECK: llvm.store %{{.*}}, %[[RESULT]] : i64, !llvm.ptr
// CHECK-DAG: %[[MODEL:.*]] = llvm.mlir.addressof @f_model
// CHECK-DAG: %[[SIGNATURE:.*]] = llvm.mlir.addressof @f_signature
// CHECK-DAG: %[[NULL:.*]] = llvm.mlir.zero
// CHECK: %[[STATUS:.*]] = llvm.call @tilewrightHostCallModel(%[[MODEL]], %[[SIGNATURE]], %[[NULL]], %[[ARGS]], %[[COUNT]], %[[RESULT]])
// CHECK: llvm.return %[[STATUS]] : i32
// CHECK-NOT: @__tvm_ffi_f_load

// CUDA-LABEL: llvm.func @__tvm_ffi_f(
// CUDA: llvm.mlir.addressof @f_program
// CUDA: llvm.call @tilewrightHostCallModel(
// CUDA-LABEL: llvm.func @__tvm_ffi_f_load(
// CUDA: llvm.call @tilewrightHostLoadModel(
