// RUN: tilewright-opt %s --convert-host-to-ffi -split-input-file -verify-diagnostics

// expected-error @+1 {{'llvm.func' op expected tilewright.arguments to be an array}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32 attributes {tilewright.arguments = 1} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}

// -----

// expected-error @+1 {{'llvm.func' op expected a ranked 'type' or that of a number in entry 0 of tilewright.arguments}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32 attributes {tilewright.arguments = [{te.name = "A"}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}

// -----

// expected-error @+1 {{'llvm.func' op expected a dtype that DLPack has, got 'decimal', in entry 1 of tilewright.arguments}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32
    attributes {tilewright.arguments = [{type = memref<f32>}, {te.dtype = "decimal", type = memref<f32>}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}

// -----

// expected-error @+1 {{'llvm.func' op expected an argument with te.given for each of 1 with te.optional, got 0}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32
    attributes {tilewright.arguments = [{te.optional, type = memref<f32>}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}

// -----

// expected-error @+1 {{'llvm.func' op expected @f_workspace_bytes beside it}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32 attributes {tilewright.arguments = []} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}

// -----

// expected-error @+1 {{'llvm.func' op expected tilewright.cubins to be cubins by architecture ('sm_90a'), got 'hopper' with "ELF"}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32
    attributes {tilewright.arguments = [], tilewright.cubins = {hopper = "ELF"}} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}
llvm.func @f_workspace_bytes(%shape: !llvm.ptr) -> i64 {
  %zero = llvm.mlir.constant(0 : i64) : i64
  llvm.return %zero : i64
}
