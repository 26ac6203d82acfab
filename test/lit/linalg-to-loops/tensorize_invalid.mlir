// RUN: tilewright-opt %s --tilewright-pipeline="to=loops" --split-input-file --verify-diagnostics

func.func @f(%A: tensor<4xf32> {te.name = "A"}, %out: tensor<4xf32> {te.name = "B", te.output}) -> tensor<4xf32> {
  %B = te.compute "B" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf32>
    // expected-note @below {{the stage computes this}}
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  } : tensor<4xf32>
  return %B : tensor<4xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{tensorize of stage 'B' by 'square': expected 'arith.mulf', as the intrinsic describes, got 'arith.addf'}}
  schedule.tensorize %i by "square" {
    func.func @describe(%a: tensor<4xf32>, %b: tensor<4xf32> {te.output}) -> tensor<4xf32> {
      %0 = te.compute "b" (%n: 4) {
        %x = te.read %a[%n] : tensor<4xf32>
        // expected-note @below {{the intrinsic computes this}}
        %y = arith.mulf %x, %x : f32
        te.yield %y : f32
      } : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @body(%a: memref<4xf32>, %b: memref<4xf32>) { return }
  }
}

// -----

func.func @f(%A: tensor<4xf32> {te.name = "A"}, %out: tensor<4xf32> {te.name = "B", te.output}) -> tensor<4xf32> {
  %B = te.compute "B" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  } : tensor<4xf32>
  return %B : tensor<4xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{tensorize of stage 'B' by 'two': expected a description that is one te.compute, got 2}}
  schedule.tensorize %i by "two" {
    func.func @describe(%a: tensor<4xf32>, %b: tensor<4xf32> {te.output}) -> tensor<4xf32> {
      %0 = te.compute "x" (%n: 4) {
        %x = te.read %a[%n] : tensor<4xf32>
        te.yield %x : f32
      } : tensor<4xf32>
      %1 = te.compute "y" (%n: 4) {
        %x = te.read %0[%n] : tensor<4xf32>
        te.yield %x : f32
      } : tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    func.func @body(%a: memref<4xf32>, %b: memref<4xf32>) { return }
  }
}

// -----

func.func @f(%A: tensor<4xf32> {te.name = "A"}, %out: tensor<4xf32> {te.name = "B", te.output}) -> tensor<4xf32> {
  %B = te.compute "B" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  } : tensor<4xf32>
  return %B : tensor<4xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{tensorize of stage 'B' by 'any': expected tensors of constant extents in the description, got 'tensor<?xf32>'}}
  schedule.tensorize %i by "any" {
    func.func @describe(%a: tensor<?xf32> {te.symbols = ["n"]}, %b: tensor<?xf32> {te.symbols = ["n"], te.output}) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %m = tensor.dim %a, %c0 : tensor<?xf32>
      %0 = te.compute "x" (%n: %m) {
        %x = te.read %a[%n] : tensor<?xf32>
        te.yield %x : f32
      } : tensor<?xf32>
      return %0 : tensor<?xf32>
    }
    func.func @body(%a: memref<?xf32>, %b: memref<?xf32>) { return }
  }
}

// -----

func.func @f(%A: tensor<4xf32> {te.name = "A"}, %out: tensor<4xf32> {te.name = "B", te.output}) -> tensor<4xf32> {
  %B = te.compute "B" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  } : tensor<4xf32>
  return %B : tensor<4xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{tensorize of stage 'B' by 'copy': expected an intrinsic with a body, got one without}}
  schedule.tensorize %i by "copy" {
    func.func @describe(%a: tensor<4xf32>, %b: tensor<4xf32> {te.output}) -> tensor<4xf32> {
      %0 = te.compute "x" (%n: 4) {
        %x = te.read %a[%n] : tensor<4xf32>
        te.yield %x : f32
      } : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @update(%a: memref<4xf32>, %b: memref<4xf32>) { return }
  }
}

// -----

func.func @f(%A: tensor<4xf32> {te.name = "A"}, %out: tensor<4xf32> {te.name = "B", te.output}) -> tensor<4xf32> {
  %B = te.compute "B" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  } : tensor<4xf32>
  return %B : tensor<4xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{tensorize of stage 'B' by 'copy': expected a description that reads the whole of each input, got input 1, of extent 4 along dimension 0, which it does not read}}
  schedule.tensorize %i by "copy" {
    func.func @describe(%a: tensor<4xf32>, %o: tensor<4xf32>, %b: tensor<4xf32> {te.output}) -> tensor<4xf32> {
      %0 = te.compute "x" (%n: 4) {
        %x = te.read %a[%n] : tensor<4xf32>
        te.yield %x : f32
      } : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @body(%a: memref<4xf32>, %o: memref<4xf32>, %b: memref<4xf32>) { return }
  }
}

// -----

func.func @matmul(%A: tensor<16x16xf16> {te.name = "A"}, %B: tensor<8x16xf16> {te.name = "B"},
                  %out: tensor<16x8xf16> {te.name = "C", te.output}) -> tensor<16x8xf16> {
  %C = te.compute "C" (%i: 16, %j: 8) max (%k: 16) {
    %x = te.read %A[%i, %k] : tensor<16x16xf16>
    %y = te.read %B[%j, %k] : tensor<8x16xf16>
    %xy = arith.mulf %x, %y : f16
    te.yield %xy : f16
  } : tensor<16x8xf16>
  return %C : tensor<16x8xf16>
}
schedule.of @matmul {
  %C = schedule.stage "C"
  %i, %j = schedule.axes %C ["i", "j"] : !schedule.axis, !schedule.axis
  // expected-error @below {{tensorize of stage 'C' by 'mma_sync': expected a description that is a matmul, as 'update' has loops that a matrix instruction does, got another}}
  schedule.tensorize %i by "mma_sync" {
    func.func @describe(%a: tensor<16x16xf16> {te.name = "a"}, %b: tensor<8x16xf16> {te.name = "b"},
                        %c: tensor<16x8xf16> {te.name = "c", te.output}) -> tensor<16x8xf16> {
      %0 = te.compute "c" (%m: 16, %n: 8) max (%k: 16) {
        %x = te.read %a[%m, %k] : tensor<16x16xf16>
        %y = te.read %b[%n, %k] : tensor<8x16xf16>
        %xy = arith.mulf %x, %y : f16
        te.yield %xy : f16
      } : tensor<16x8xf16>
      return %0 : tensor<16x8xf16>
    }
    func.func @reset(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) { return }
    func.func @update(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf16>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      scf.for %m = %c0 to %c16 step %c1 {
        scf.for %n = %c0 to %c8 step %c1 {
          scf.for %k = %c0 to %c16 step %c1 {
            %old = memref.load %c[%m, %n] : memref<16x8xf16>
            %y = memref.load %b[%n, %k] : memref<8x16xf16>
            %x = memref.load %a[%m, %k] : memref<16x16xf16>
            %xy = arith.mulf %x, %y : f16
            %new = arith.addf %old, %xy : f16
            memref.store %new, %c[%m, %n] : memref<16x8xf16>
          } {schedule.axis = #schedule.axis<"k">}
        } {schedule.axis = #schedule.axis<"n">}
      } {schedule.axis = #schedule.axis<"m">, schedule.instruction = #schedule.instruction<mma_sync, 16x8x16>}
      return
    }
  }
}

// -----

func.func @f(%A: tensor<4xf32> {te.name = "A"}, %out: tensor<4xf32> {te.name = "B", te.output}) -> tensor<4xf32> {
  %B = te.compute "B" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf32>
    // expected-note @below {{the stage computes this}}
    %b = arith.addf %a, %a fastmath<contract> : f32
    te.yield %b : f32
  } : tensor<4xf32>
  return %B : tensor<4xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  // expected-error @below {{tensorize of stage 'B' by 'other': expected the same 'arith.addf', as the intrinsic describes, got one with other attributes}}
  schedule.tensorize %i by "other" {
    func.func @describe(%a: tensor<4xf32>, %b: tensor<4xf32> {te.output}) -> tensor<4xf32> {
      %0 = te.compute "b" (%n: 4) {
        %x = te.read %a[%n] : tensor<4xf32>
        // expected-note @below {{the intrinsic computes this}}
        %y = arith.addf %x, %x : f32
        te.yield %y : f32
      } : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @body(%a: memref<4xf32>, %b: memref<4xf32>) { return }
  }
}

// -----

func.func @f(%A: tensor<4xf32> {te.name = "A"}, %out: tensor<4xf32> {te.name = "B", te.output}) -> tensor<4xf32> {
  %B = te.compute "B" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf32>
    // expected-note @below {{the stage computes this}}
    %c = arith.constant 3.0 : f32
    %b = arith.mulf %a, %c : f32
    te.yield %b : f32
  } : tensor<4xf32>
  return %B : tensor<4xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %io, %ii = schedule.split %i by 2
  // expected-error @below {{tensorize of stage 'B' by 'twice': expected the constant 2.000000e+00 : f32, as the intrinsic describes, got 3.000000e+00 : f32}}
  schedule.tensorize %ii by "twice" {
    func.func @describe(%a: tensor<2xf32>, %b: tensor<2xf32> {te.output}) -> tensor<2xf32> {
      %0 = te.compute "b" (%n: 2) {
        %x = te.read %a[%n] : tensor<2xf32>
        // expected-note @below {{the intrinsic computes this}}
        %c = arith.constant 2.0 : f32
        %y = arith.mulf %x, %c : f32
        te.yield %y : f32
      } : tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    func.func @body(%a: memref<2xf32>, %b: memref<2xf32>) { return }
  }
}

// -----

func.func @f(%A: tensor<4xf32> {te.name = "A"}, %out: tensor<4xf32> {te.name = "B", te.output}) -> tensor<4xf32> {
  %B = te.compute "B" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf32>
    // expected-note @below {{the stage computes this}}
    %b = arith.negf %a : f32
    te.yield %b : f32
  } : tensor<4xf32>
  return %B : tensor<4xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %io, %ii = schedule.split %i by 2
  // expected-error @below {{tensorize of stage 'B' by 'copy': expected an element read, as the intrinsic describes, got 'arith.negf'}}
  schedule.tensorize %ii by "copy" {
    func.func @describe(%a: tensor<2xf32>, %b: tensor<2xf32> {te.output}) -> tensor<2xf32> {
      // expected-note @below {{the intrinsic computes this}}
      %0 = te.compute "b" (%n: 2) {
        %x = te.read %a[%n] : tensor<2xf32>
        te.yield %x : f32
      } : tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    func.func @body(%a: memref<2xf32>, %b: memref<2xf32>) { return }
  }
}

// -----

func.func @f(%A: tensor<4xf32> {te.name = "A"}, %out: tensor<4xf32> {te.name = "B", te.output}) -> tensor<4xf32> {
  // expected-note @below {{the stage computes this}}
  %B = te.compute "B" (%i: 4) {
    %a = te.read %A[%i] : tensor<4xf32>
    %n = arith.index_cast %i : index to i32
    %w = arith.sitofp %n : i32 to f32
    %b = arith.mulf %a, %w : f32
    te.yield %b : f32
  } : tensor<4xf32>
  return %B : tensor<4xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %io, %ii = schedule.split %i by 2
  // expected-error @below {{tensorize of stage 'B' by 'weighted': expected an index that is that of the tile, as the intrinsic describes, got one that depends on where the tile is}}
  schedule.tensorize %ii by "weighted" {
    func.func @describe(%a: tensor<2xf32>, %b: tensor<2xf32> {te.output}) -> tensor<2xf32> {
      // expected-note @below {{the intrinsic computes this}}
      %0 = te.compute "b" (%n: 2) {
        %x = te.read %a[%n] : tensor<2xf32>
        %m = arith.index_cast %n : index to i32
        %w = arith.sitofp %m : i32 to f32
        %y = arith.mulf %x, %w : f32
        te.yield %y : f32
      } : tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    func.func @body(%a: memref<2xf32>, %b: memref<2xf32>) { return }
  }
}

// -----

func.func @f(%A: tensor<4x2xf32> {te.name = "A"}, %out: tensor<4xf32> {te.name = "B", te.output}) -> tensor<4xf32> {
  // expected-note @below {{the stage computes this}}
  %B = te.compute "B" (%i: 4) reduce (%k: 2) {
    %a = te.read %A[%i, %k] : tensor<4x2xf32>
    te.yield %a : f32
  } combine (%x: f32, %y: f32) identity [0.0 : f32] {
    %z = arith.addf %y, %x : f32
    te.yield %z : f32
  } : tensor<4xf32>
  return %B : tensor<4xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %k = schedule.reduce_axes %B ["k"] : !schedule.axis
  // expected-error @below {{tensorize of stage 'B' by 'sum': expected what is reduced so far, as the intrinsic describes, got an element read}}
  schedule.tensorize %i by "sum" {
    func.func @describe(%a: tensor<4x2xf32>, %b: tensor<4xf32> {te.output}) -> tensor<4xf32> {
      // expected-note @below {{the intrinsic computes this}}
      %0 = te.compute "b" (%n: 4) reduce (%l: 2) {
        %x = te.read %a[%n, %l] : tensor<4x2xf32>
        te.yield %x : f32
      } combine (%x: f32, %y: f32) identity [0.0 : f32] {
        %z = arith.addf %x, %y : f32
        te.yield %z : f32
      } : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @body(%a: memref<4x2xf32>, %b: memref<4xf32>) { return }
  }
}

// -----

func.func @f(%A: tensor<4x8xf32> {te.name = "A"}, %out: tensor<4xf32> {te.name = "B", te.output}) -> tensor<4xf32> {
  %B = te.compute "B" (%i: 4) reduce (%k: 8) {
    %a = te.read %A[%i, %k] : tensor<4x8xf32>
    te.yield %a : f32
  } combine (%x: f32, %y: f32) identity [0.0 : f32] {
    %z = arith.addf %x, %y : f32
    te.yield %z : f32
  } : tensor<4xf32>
  return %B : tensor<4xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %k = schedule.reduce_axes %B ["k"] : !schedule.axis
  %ko, %ki = schedule.split %k by 2
  schedule.bind %ko to <threadIdx.x>
  // expected-error @below {{tensorize of stage 'B' by 'sum': expected a reduction by one thread, got axis 'k.outer' bound to threadIdx.x}}
  schedule.tensorize %ki by "sum" {
    func.func @describe(%a: tensor<4x2xf32>, %b: tensor<4xf32> {te.output}) -> tensor<4xf32> {
      %0 = te.compute "b" (%n: 4) reduce (%l: 2) {
        %x = te.read %a[%n, %l] : tensor<4x2xf32>
        te.yield %x : f32
      } combine (%x: f32, %y: f32) identity [0.0 : f32] {
        %z = arith.addf %x, %y : f32
        te.yield %z : f32
      } : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @body(%a: memref<4x2xf32>, %b: memref<4xf32>) { return }
  }
}
