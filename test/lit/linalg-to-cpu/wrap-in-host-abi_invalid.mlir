// RUN: tilewright-opt %s --wrap-in-host-abi --split-input-file --verify-diagnostics

// expected-error @below {{'func.func' op expected a function that returns its 0 outputs or nothing, got 1 results}}
func.func @results(%A: memref<8xf32>) -> memref<8xf32> {
  return %A : memref<8xf32>
}

// -----

// expected-error @below {{'func.func' op expected memrefs without offset and numbers of at most 64 bits as arguments, got 'index'}}
func.func @scalar(%A: memref<8xf32>, %x: index) {
  return
}

// -----

// expected-error @below {{'func.func' op expected memrefs without offset and numbers of at most 64 bits as arguments, got 'memref<8xf32, strided<[2], offset: 1>>'}}
func.func @offset(%A: memref<8xf32, strided<[2], offset: 1>>) {
  return
}

// -----

func.func @shared(%A: memref<8xf32>) {
  // expected-error @below {{'memref.alloc' op expected a buffer of the host's memory, got 'memref<8xf32, #gpu.address_space<workgroup>>'}}
  %0 = memref.alloc() : memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @too_large(%A: memref<8xf32>) {
  // expected-error @below {{'memref.alloc' op expected a buffer of less than 2^63 elements, got 'memref<4194304x4194304x4194304xf32>'}}
  %0 = memref.alloc() : memref<4194304x4194304x4194304xf32>
  return
}

// -----

// expected-error @below {{'func.func' op expected memrefs without offset and numbers of at most 64 bits as arguments, got 'memref<4194304x4194304x4194304xf32>'}}
func.func @too_large_argument(%A: memref<4194304x4194304x4194304xf32>) {
  return
}
