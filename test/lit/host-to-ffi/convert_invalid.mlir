// RUN: tilewright-opt %s --convert-host-to-ffi -split-input-file -verify-diagnostics

// expected-error @+1 {{'llvm.func' op expected a ranked 'type' or that of a number in entry 0 of tilewright.arguments}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32 attributes {tilewright.arguments = [{te.name = "A"}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}

// -----

// expected-error @+1 {{'llvm.func' op expected a dtype that DLPack has, got f80, in entry 1 of tilewright.arguments}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32
    attributes {tilewright.arguments = [{type = memref<f32>}, {te.dtype = f80, type = memref<f80>}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}

// -----

// expected-error @+1 {{'llvm.func' op expected a stride for each of 2 dimensions, got 1, in entry 0 of tilewright.arguments}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32
    attributes {tilewright.arguments = [{te.strides = array<i64: 8>, type = memref<8x4xf32>}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}

// -----

// expected-error @+1 {{'llvm.func' op expected te.strides of a memref that is not row-major, and of no other, got none in entry 0 of tilewright.arguments}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32
    attributes {tilewright.arguments = [{type = memref<8x4xf32, strided<[?, 1]>>}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}

// -----

// expected-error @+1 {{'llvm.func' op expected te.strides of a memref that is not row-major, and of no other, got them in entry 0 of tilewright.arguments}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32
    attributes {tilewright.arguments = [{te.strides = array<i64: 16, 1>, type = memref<8x4xf32>}]} {
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

// -----

// expected-error @+1 {{'llvm.func' op expected te.groups to be dictionaries with the name and the count of a group's elements, which are among the arguments that follow, in entry 1 of tilewright.arguments}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32
    attributes {tilewright.arguments = [{te.groups = [{name = "pair", count = 2 : i64}], type = memref<f32>}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}

// -----

// expected-error @+1 {{'llvm.func' op expected te.groups to be dictionaries with the name and the count of a group's elements, which are among the arguments that follow, in entry 0 of tilewright.arguments}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32
    attributes {tilewright.arguments = [{te.groups = [{name = "pair", fields = ["a", "b"]}], type = memref<f32>}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}

// -----

// expected-error @+1 {{'llvm.func' op expected te.groups to be dictionaries with the name and the count of a group's elements, which are among the arguments that follow, in entry 0 of tilewright.arguments}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32
    attributes {tilewright.arguments = [{te.groups = [{name = "pair", count = 1 : i64, fields = [1]}], type = memref<f32>}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}

// -----

// expected-error @+1 {{'llvm.func' op expected te.default to be a number of int8 in entry 0 of tilewright.arguments}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32
    attributes {tilewright.arguments = [{te.default = 1.0 : f64, type = i8}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}

// -----

// expected-error @+1 {{'llvm.func' op expected te.align to be the alignment of a tensor in bytes, a power of two from that of an element on, in entry 0 of tilewright.arguments}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32
    attributes {tilewright.arguments = [{te.align = 2 : i64, type = memref<f32>}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}

// -----

// expected-error @+1 {{'llvm.func' op expected another argument to have the extent n of A, which is given by its address}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32
    attributes {tilewright.arguments = [{te.name = "A", te.symbols = ["n"], te.pointer, type = memref<?xf32>}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}

// -----

// expected-error @+1 {{'llvm.func' op expected te.pointer to be of a tensor that every call gives in entry 0 of tilewright.arguments}}
llvm.func @f(%d: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %l: !llvm.ptr) -> i32
    attributes {tilewright.arguments = [{te.pointer, type = f32}]} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}
