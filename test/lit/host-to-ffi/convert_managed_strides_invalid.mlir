// RUN: tilewright-opt %s --convert-host-to-ffi="target=cuda managed=true" --verify-diagnostics

// expected-error @+1 {{expected row-major arguments with host="managed", got A: float32[4, 8] strides (16, 1)}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32
    attributes {tilewright.arguments = [{te.name = "A", te.strides = array<i64: 16, 1>, type = memref<4x8xf32, strided<[16, 1]>>}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}
