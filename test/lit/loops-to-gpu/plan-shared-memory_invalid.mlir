// RUN: tilewright-opt %s --plan-shared-memory=shared-limit=4096 --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @global(%x: f32) kernel {
    // expected-error @below {{expected buffers in a kernel to be shared or local, got 'T' in global memory}}
    %T = memref.alloc() {te.stage = "T"} : memref<8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @symbolic(%n: index) kernel {
    // expected-error @below {{expected shared buffer 'A.shared' to have a constant size, got 'memref<?xf32, #gpu.address_space<workgroup>>'}}
    %S = memref.alloc(%n) {te.stage = "A.shared"} : memref<?xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @strided() kernel {
    // expected-error @below {{expected shared buffer 'A.shared' to have a constant size, got 'memref<4x4xf32, strided<[8, 1]>, #gpu.address_space<workgroup>>'}}
    %S = memref.alloc() {te.stage = "A.shared"} : memref<4x4xf32, strided<[8, 1]>, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expected at most 4096 bytes of shared memory a block, got 4100: A.shared (4096 bytes), B.shared (4 bytes)}}
  gpu.func @too_large(%x: f32) kernel {
    %c0 = arith.constant 0 : index
    // expected-note @below {{'A.shared' is allocated here}}
    %A = memref.alloc() {te.stage = "A.shared"} : memref<1024xf32, #gpu.address_space<workgroup>>
    // expected-note @below {{'B.shared' is allocated here}}
    %B = memref.alloc() {te.stage = "B.shared"} : memref<1xf32, #gpu.address_space<workgroup>>
    memref.store %x, %A[%c0] : memref<1024xf32, #gpu.address_space<workgroup>>
    memref.store %x, %B[%c0] : memref<1xf32, #gpu.address_space<workgroup>>
    %a = memref.load %A[%c0] : memref<1024xf32, #gpu.address_space<workgroup>>
    %b = memref.load %B[%c0] : memref<1xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
