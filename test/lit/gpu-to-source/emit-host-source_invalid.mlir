// RUN: tilewright-opt %s --split-input-file --verify-diagnostics --emit-host-source

// expected-error@+1 {{expected arguments that are numbers or row-major memrefs without memory space}}
func.func @scalar(%a: memref<4xf32>, %n: index) { return }
// -----
// expected-error@+1 {{expected arguments of dtypes that DLPack has}}
func.func @dtype(%a: memref<4xf80> {te.name = "A"}) { return }
// -----
// expected-error@+1 {{expected arguments of dtypes that a C++ program takes, got float8_e8m0fnu}}
func.func @scales(%a: memref<4xf8E8M0FNU> {te.name = "A", te.dtype = f8E8M0FNU}) { return }
// -----
// expected-error@+1 {{expected a host function of one block}}
func.func @blocks(%a: memref<4xf32>) {
  cf.br ^next
^next:
  return
}
// -----
func.func @view(%a: memref<16xi8> {te.name = "A", te.dtype = i8}) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected a view of the workspace}}
  %v = memref.view %a[%c0][] : memref<16xi8> to memref<4xf32>
  return
}
// -----
func.func @op(%a: memref<16xi8> {te.name = "A", te.dtype = i8}) {
  // expected-error@+1 {{memref.alloc has no form in C++}}
  %v = memref.alloc() : memref<4xf32>
  return
}
// -----
module attributes {gpu.container_module} {
  gpu.module @m { gpu.func @k(%x: bf16) kernel { gpu.return } }
  func.func @argument(%a: memref<16xi8> {te.name = "A", te.dtype = i8}) {
    %c1 = arith.constant 1 : index
    %x = arith.constant 1.0 : bf16
    // expected-error@+1 {{expected arguments of kernels that C++ has types for}}
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : bf16)
    return
  }
}
// -----
func.func @tiles() {
  // expected-error@+1 {{tile.wait_stores has no form in C++: programs of asynchronous tiles can be read as IR of stage gpu, and their kernels as CUDA C++ and PTX}}
  tile.wait_stores 0
  return
}
// -----
// expected-error@+1 {{expected arguments aligned to 16 bytes, got A, aligned to 4}}
func.func @aligned(%a: memref<4xf32> {te.name = "A", te.align = 4 : i64}) { return }
// -----
func.func @dimension(%a: memref<4x4xf32> {te.name = "A", te.dtype = f32}, %b: memref<?xf32> {te.name = "B", te.dtype = f32}) {
  %c7 = arith.constant 7 : index
  // expected-error@+1 {{expected a dimension of 1, got number 7}}
  %d = memref.dim %b, %c7 : memref<?xf32>
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  scf.for %i = %c0 to %d step %c1 {
  }
  return
}
// -----
// expected-error@+1 {{expected numbers of types that C++ has on every machine, got float16}}
func.func @half(%x: f16 {te.name = "x", te.dtype = f16}) { return }
// -----
// expected-error@+1 {{expected arguments that every call gives, got A, which is optional}}
func.func @optional(%a: memref<4xf32> {te.name = "A", te.optional}) { return }
// -----
module attributes {gpu.container_module} {
  // expected-error @below {{expected row-major arguments, got A, which has strides}}
  func.func @f(%arg0: memref<4x8xf32, strided<[16, 1]>> {te.name = "A", te.strides = array<i64: 16, 1>}) {
    return
  }
}
