// RUN: tilewright-opt %s --convert-gpu-to-sim --insert-sim-checks --split-input-file -verify-diagnostics

gpu.module @m {
  // expected-error@+1 {{expected every gpu.func to be a kernel}}
  gpu.func @helper() { gpu.return }
}

// -----

gpu.module @m {
  // expected-error@+1 {{expected shared memory to be planned (plan-shared-memory), got attributions}}
  gpu.func @k() workgroup(%tile: memref<8xf32, #gpu.address_space<workgroup>>) kernel { gpu.return }
}

// -----

gpu.module @m {
  // expected-error@+1 {{expected arguments without offset and memory space, got 'memref<4x4xf32, strided<[8, 1], offset: 2>>'}}
  gpu.func @k(%A: memref<4x4xf32, strided<[8, 1], offset: 2>>) kernel { gpu.return }
}

// -----

gpu.module @m {
  // expected-error@+1 {{expected arguments that are memrefs, indices, scalars or tensor maps, got 'vector<4xf32>'}}
  gpu.func @k(%v: vector<4xf32>) kernel { gpu.return }
}

// -----

gpu.module @m {
  gpu.func @k(%x: f32) kernel {
    // expected-error@+1 {{expected an operation that the simulator runs, got 'gpu.printf'}}
    gpu.printf "%f", %x : f32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%v: vector<4xf32>, %o: i32) kernel {
    gpu.return
  }
  // expected-error@-3 {{expected arguments that are memrefs, indices, scalars or tensor maps, got 'vector<4xf32>'}}
}

// -----

gpu.module @m {
  gpu.func @k(%o: i32) kernel {
    %v = arith.constant dense<0.0> : vector<4xf32>
    // expected-error@+1 {{expected a value of at most 64 bits, got 'vector<4xf32>'}}
    %s, %p = gpu.shuffle xor %v, %o, %o : vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%n: index) kernel {
    // expected-error@+1 {{expected a local array of static extents, got 'memref<?xf32, #gpu.address_space<private>>'}}
    %l = memref.alloca(%n) : memref<?xf32, #gpu.address_space<private>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error@+1 {{expected no allocation inside a kernel (plan-shared-memory), got 'memref<8xf32, #gpu.address_space<workgroup>>'}}
    %l = memref.alloc() : memref<8xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<8xf32>, %x: f32, %i: index) kernel {
    %B = memref.alloca() : memref<8xf32, #gpu.address_space<private>>
    // expected-error@+1 {{expected an access that the simulator can check, got 'memref.atomic_rmw'}}
    %old = memref.atomic_rmw addf %x, %B[%i] : (f32, memref<8xf32, #gpu.address_space<private>>) -> f32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%A: memref<64xi1>, %x: i1, %i: index) kernel {
    // expected-error@+1 {{expected elements of whole bytes (store-bools-as-bytes), got 'memref<64xi1>'}}
    memref.store %x, %A[%i] : memref<64xi1>
    gpu.return
  }
}
