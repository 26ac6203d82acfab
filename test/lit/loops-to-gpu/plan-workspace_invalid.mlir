// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(plan-workspace))' --split-input-file --verify-diagnostics

func.func @inside(%A: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{expected temporary 'T' to stand at the top of @inside in global memory, got 'memref<8xf32>'}}
    %T = memref.alloc() {te.stage = "T"} : memref<8xf32>
  }
  return
}

// -----

func.func @shared() {
  // expected-error @below {{expected temporary 'T' to stand at the top of @shared in global memory, got 'memref<8xf32, #gpu.address_space<workgroup>>'}}
  %T = memref.alloc() {te.stage = "T"} : memref<8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @strided() {
  // expected-error @below {{expected temporary 'T' to stand at the top of @strided in global memory, got 'memref<4x4xf32, strided<[8, 1]>>'}}
  %T = memref.alloc() {te.stage = "T"} : memref<4x4xf32, strided<[8, 1]>>
  return
}

// -----

func.func @computed(%sizes: memref<1xindex>) {
  %c0 = arith.constant 0 : index
  %n = memref.load %sizes[%c0] : memref<1xindex>
  // expected-error @below {{expected the size of temporary 'T' to follow from the extents of the arguments}}
  %T = memref.alloc(%n) {te.stage = "T"} : memref<?xf32>
  return
}

// -----

func.func @too_large(%x: f32) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{temporary 'T': expected at most 1125899906842624 bytes, got 'memref<4194304x4194304x4194304xf32>'}}
  %T = memref.alloc() {te.stage = "T"} : memref<4194304x4194304x4194304xf32>
  memref.store %x, %T[%c0, %c0, %c0] : memref<4194304x4194304x4194304xf32>
  return
}
