// RUN: tilewright-opt %s --convert-host-to-ffi="target=cpu model=true" --verify-diagnostics

// expected-error @+1 {{'llvm.func' op expected @f_model beside it}}
llvm.func @f(%data: !llvm.ptr, %shape: !llvm.ptr, %workspace: !llvm.ptr, %launcher: !llvm.ptr) -> i32
    attributes {tilewright.arguments = [{te.name = "A", type = memref<?xf32>}], tilewright.kernels = []} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}
llvm.func @f_workspace_bytes(%shape: !llvm.ptr) -> i64 {
  %zero = llvm.mlir.constant(0 : i64) : i64
  llvm.return %zero : i64
}
