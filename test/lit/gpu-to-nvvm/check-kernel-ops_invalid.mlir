// RUN: tilewright-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(check-kernel-ops))'

gpu.module @transcendental {
  gpu.func @k(%x: f64, %y: f32) kernel {
    // expected-error@+1 {{math.exp2 on 'f64' has no lowering for target cuda}}
    %0 = math.exp2 %x : f64
    // expected-error@+1 {{math.exp on 'f32' has no lowering for target cuda}}
    %1 = math.exp %y : f32
    // expected-error@+1 {{math.cbrt on 'f32' has no lowering for target cuda}}
    %5 = math.cbrt %y : f32
    // expected-error@+1 {{arith.remf on 'f32' has no lowering for target cuda}}
    %2 = arith.remf %y, %y : f32
    %3 = math.exp2 %y : f32
    %4 = math.sqrt %x : f64
    gpu.return
  }
}

// -----

gpu.module @bool {
  // expected-error@+1 {{expected buffers with elements of at least 8 bits for target cuda, got 'memref<64xi1>'}}
  gpu.func @k(%a: memref<64xi1>) kernel { gpu.return }
}

// -----

gpu.module @empty {
  // expected-error@+1 {{expected buffers with at least one element, got 'memref<4x0xf32>'}}
  gpu.func @k(%a: memref<4x0xf32>, %b: memref<0xf32>) kernel { gpu.return }
}
