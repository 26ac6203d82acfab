// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(roll-reductions))' --split-input-file --verify-diagnostics

func.func @no_such_reduction(%K: memref<256x64xbf16>, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
    %most = scf.for %j = %c0 to %c4 step %c1 iter_args(%m = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %m1 = tile.row_reduce max %s into %m {te.stage = "M"} : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %m1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    // expected-error @below {{rolling_update: expected 'N' to be reduced in a loop of the same kernel before it}}
    %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%l = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> {te.stage = "P"} -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %m: f32, %row: index, %column: index):
        %d = arith.subf %e, %m : f32
        %f = math.exp2 %d : f32
        tile.yield %f : f32
      }
      %l1 = tile.row_reduce sum %p into %l : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %l1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.rolling = #schedule.rolling<of = "N">}
    %result = tile.map %none, %sum, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %l: f32, %m: f32, %row: index, %column: index):
      %d = arith.divf %m, %l : f32
      tile.yield %d : f32
    }
    tile.store %result to %out[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<64x64xf32>
  }
  return
}

// -----

func.func @other_tiles(%K: memref<256x64xbf16>, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
    %most = scf.for %j = %c0 to %c4 step %c1 iter_args(%m = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %m1 = tile.row_reduce max %s into %m {te.stage = "M"} : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %m1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    // expected-error @below {{rolling_update: expected a loop over as many tiles as that of 'M'}}
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> {te.stage = "P"} -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %m: f32, %row: index, %column: index):
        %d = arith.subf %e, %m : f32
        %f = math.exp2 %d : f32
        tile.yield %f : f32
      }
      %l1 = tile.row_reduce sum %p into %l : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %l1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.rolling = #schedule.rolling<of = "M">}
    %result = tile.map %none, %sum, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %l: f32, %m: f32, %row: index, %column: index):
      %d = arith.divf %m, %l : f32
      tile.yield %d : f32
    }
    tile.store %result to %out[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<64x64xf32>
  }
  return
}

// -----

func.func @between(%K: memref<256x64xbf16>, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
    %most = scf.for %j = %c0 to %c4 step %c1 iter_args(%m = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %m1 = tile.row_reduce max %s into %m {te.stage = "M"} : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %m1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    %scaled = tile.map %most : !tile.fragment<64x1xf32> -> !tile.fragment<64x1xf32> {
    ^bb0(%e: f32, %row: index, %column: index):
      %f = arith.addf %e, %e : f32
      tile.yield %f : f32
    }
    // expected-error @below {{rolling_update: expected nothing to be computed of 'M' between its loop and this one}}
    %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%l = %scaled) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> {te.stage = "P"} -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %m: f32, %row: index, %column: index):
        %d = arith.subf %e, %m : f32
        %f = math.exp2 %d : f32
        tile.yield %f : f32
      }
      %l1 = tile.row_reduce sum %p into %l : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %l1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.rolling = #schedule.rolling<of = "M">}
    %result = tile.map %none, %sum, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %l: f32, %m: f32, %row: index, %column: index):
      %d = arith.divf %m, %l : f32
      tile.yield %d : f32
    }
    tile.store %result to %out[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<64x64xf32>
  }
  return
}

// -----

func.func @used_otherwise(%K: memref<256x64xbf16>, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
    %most = scf.for %j = %c0 to %c4 step %c1 iter_args(%m = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %m1 = tile.row_reduce max %s into %m {te.stage = "M"} : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %m1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    // expected-error @below {{rolling_update: expected a value that each iteration reduces to, got one that is used otherwise}}
    %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%l = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> {te.stage = "P"} -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %m: f32, %row: index, %column: index):
        %d = arith.subf %e, %m : f32
        %f = math.exp2 %d : f32
        tile.yield %f : f32
      }
      %l1 = tile.map %l, %low : !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x1xf32> {
      ^bb0(%e: f32, %g: f32, %row: index, %column: index):
        %f = arith.addf %e, %g : f32
        tile.yield %f : f32
      }
      scf.yield %l1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.rolling = #schedule.rolling<of = "M">}
    %result = tile.map %none, %sum, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %l: f32, %m: f32, %row: index, %column: index):
      %d = arith.divf %m, %l : f32
      tile.yield %d : f32
    }
    tile.store %result to %out[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<64x64xf32>
  }
  return
}

// -----

func.func @not_by_element(%K: memref<256x64xbf16>, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
    %most = scf.for %j = %c0 to %c4 step %c1 iter_args(%m = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %m1 = tile.row_reduce max %s into %m {te.stage = "M"} : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %m1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    // expected-error @below {{rolling_update: expected 'M' to be read element by element}}
    %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%l = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> {te.stage = "P"} -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %m: f32, %row: index, %column: index):
        %d = arith.subf %e, %m : f32
        %f = math.exp2 %d : f32
        tile.yield %f : f32
      }
      %q = tile.row_reduce sum %p into %most : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      %l0 = tile.row_reduce sum %p into %l : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      %l1 = tile.map %l0, %q : !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x1xf32> {
      ^bb0(%e: f32, %g: f32, %row: index, %column: index):
        %f = arith.addf %e, %g : f32
        tile.yield %f : f32
      }
      scf.yield %l1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.rolling = #schedule.rolling<of = "M">}
    %result = tile.map %none, %sum, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %l: f32, %m: f32, %row: index, %column: index):
      %d = arith.divf %m, %l : f32
      tile.yield %d : f32
    }
    tile.store %result to %out[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<64x64xf32>
  }
  return
}

// -----

func.func @further_maps(%K: memref<256x64xbf16>, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
    %most = scf.for %j = %c0 to %c4 step %c1 iter_args(%m = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %m1 = tile.row_reduce max %s into %m {te.stage = "M"} : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %m1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    // expected-error @below {{rolling_update: expected 'M' to be read where the elements that are reduced are computed}}
    %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%l = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> {te.stage = "P"} -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %m: f32, %row: index, %column: index):
        %d = arith.subf %e, %m : f32
        %f = math.exp2 %d : f32
        tile.yield %f : f32
      }
      %r = tile.map %p : !tile.fragment<64x64xf32> -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %row: index, %column: index):
        %f = arith.mulf %e, %e : f32
        tile.yield %f : f32
      }
      %l1 = tile.row_reduce sum %r into %l : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %l1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.rolling = #schedule.rolling<of = "M">}
    %result = tile.map %none, %sum, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %l: f32, %m: f32, %row: index, %column: index):
      %d = arith.divf %m, %l : f32
      tile.yield %d : f32
    }
    tile.store %result to %out[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<64x64xf32>
  }
  return
}

// -----

func.func @maximum(%K: memref<256x64xbf16>, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
    %most = scf.for %j = %c0 to %c4 step %c1 iter_args(%m = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %m1 = tile.row_reduce max %s into %m {te.stage = "M"} : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %m1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    // expected-error @below {{rolling_update: expected a sum, got a reduction by max}}
    %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%l = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> {te.stage = "P"} -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %m: f32, %row: index, %column: index):
        %d = arith.subf %e, %m : f32
        %f = math.exp2 %d : f32
        tile.yield %f : f32
      }
      %l1 = tile.row_reduce max %p into %l : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %l1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.rolling = #schedule.rolling<of = "M">}
    %result = tile.map %none, %sum, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %l: f32, %m: f32, %row: index, %column: index):
      %d = arith.divf %m, %l : f32
      tile.yield %d : f32
    }
    tile.store %result to %out[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<64x64xf32>
  }
  return
}

// -----

func.func @no_repair(%K: memref<256x64xbf16>, %out: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %low = tile.fill %zero : f32 -> !tile.fragment<64x1xf32>
    %most = scf.for %j = %c0 to %c4 step %c1 iter_args(%m = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %m1 = tile.row_reduce max %s into %m {te.stage = "M"} : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %m1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    // expected-error @below {{rolling_update: expected the element of 'P' as a product with factors exp(x), where x is what it reads of 'M', got math.tanh in its way}}
    %sum = scf.for %j = %c0 to %c4 step %c1 iter_args(%l = %low) -> (!tile.fragment<64x1xf32>) {
      %k = tile.load %K[%j, %c0] box [64, 64] : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %k into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32> {te.stage = "P"} -> !tile.fragment<64x64xf32> {
      ^bb0(%e: f32, %m: f32, %row: index, %column: index):
        %d = arith.subf %e, %m : f32
        %f = math.tanh %d : f32
        tile.yield %f : f32
      }
      %l1 = tile.row_reduce sum %p into %l : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xf32>
      scf.yield %l1 : !tile.fragment<64x1xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.rolling = #schedule.rolling<of = "M">}
    %result = tile.map %none, %sum, %most : !tile.fragment<64x64xf32>, !tile.fragment<64x1xf32>, !tile.fragment<64x1xf32> -> !tile.fragment<64x64xf32> {
    ^bb0(%e: f32, %l: f32, %m: f32, %row: index, %column: index):
      %d = arith.divf %m, %l : f32
      tile.yield %d : f32
    }
    tile.store %result to %out[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<64x64xf32>
  }
  return
}

// -----

func.func @other_registers(%K: memref<128x64xbf16>, %Q: memref<256x64xbf16>, %V: memref<128x64xf32>, %D: memref<256x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c2, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["V.x", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %k = tile.load %K[%x, %c0] box [64, 64] : memref<128x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %values = scf.for %j = %c0 to %c4 step %c1 iter_args(%v = %none) -> (!tile.fragment<64x64xf32>) {
      %q = tile.load %Q[%j, %c0] box [64, 64] {te.stage = "Q0"} : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %q into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s : !tile.fragment<64x64xf32> {te.stage = "P0"} -> !tile.fragment<64x64xbf16> {
      ^bb0(%e: f32, %row: index, %column: index):
        %g = arith.truncf %e : f32 to bf16
        tile.yield %g : bf16
      }
      %v1 = tile.matmul %p, %q mn_major into %v : !tile.fragment<64x64xbf16>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %v1 : !tile.fragment<64x64xf32>
    } {schedule.axis = #schedule.axis<"r.outer" of "dV">, schedule.pipeline = #schedule.pipeline<stages = 2>}
    tile.store %values to %V[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<128x64xf32>
  }
  tile.kernel (%c2, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [24, 240] axes ["D.x", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %k = tile.load %K[%x, %c0] box [64, 64] {te.stage = "K1"} : memref<128x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    // expected-error @below {{rolling_update: expected a kernel with the blocks, the warpgroups and the registers of that of 'dV', one tile for each block, got another}}
    scf.for %j = %c0 to %c4 step %c1 {
      %q = tile.load %Q[%j, %c0] box [64, 64] {te.stage = "Q1"} : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %q into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s : !tile.fragment<64x64xf32> {te.stage = "P1"} -> !tile.fragment<64x64xbf16> {
      ^bb0(%e: f32, %row: index, %column: index):
        %g = arith.truncf %e : f32 to bf16
        tile.yield %g : bf16
      }
      %all = tile.share %p : !tile.fragment<64x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %d = tile.matmul %all mn_major, %k mn_major into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      tile.store %d to %D[%j, %c0] box [64, 64] columns 64 swizzle 128 reduce_add : !tile.fragment<64x64xf32>, memref<256x64xf32>
    } {schedule.axis = #schedule.axis<"i.outer" of "dQ">, schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.rolling = #schedule.rolling<of = "dV">}
  }
  return
}

// -----

func.func @result_between(%K: memref<128x64xbf16>, %Q: memref<256x64xbf16>, %V: memref<128x64xf32>, %D: memref<256x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tile.kernel (%c2, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["V.x", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %k = tile.load %K[%x, %c0] box [64, 64] : memref<128x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %values = scf.for %j = %c0 to %c4 step %c1 iter_args(%v = %none) -> (!tile.fragment<64x64xf32>) {
      %q = tile.load %Q[%j, %c0] box [64, 64] {te.stage = "Q0"} : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %q into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s : !tile.fragment<64x64xf32> {te.stage = "P0"} -> !tile.fragment<64x64xbf16> {
      ^bb0(%e: f32, %row: index, %column: index):
        %g = arith.truncf %e : f32 to bf16
        tile.yield %g : bf16
      }
      %v1 = tile.matmul %p, %q mn_major into %v : !tile.fragment<64x64xbf16>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      scf.yield %v1 : !tile.fragment<64x64xf32>
    } {schedule.axis = #schedule.axis<"r.outer" of "dV">, schedule.pipeline = #schedule.pipeline<stages = 2>}
    tile.store %values to %V[%x, %c0] box [64, 64] columns 64 swizzle 128 : !tile.fragment<64x64xf32>, memref<128x64xf32>
  }
  %first = memref.load %V[%c0, %c0] : memref<128x64xf32>
  memref.store %first, %D[%c0, %c0] : memref<256x64xf32>
  tile.kernel (%c2, %c1, %c1) cluster [1, 1, 1] warpgroups 1 registers [40, 232] axes ["D.x", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %k = tile.load %K[%x, %c0] box [64, 64] {te.stage = "K1"} : memref<128x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    %none = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    // expected-error @below {{rolling_update: expected a stage that can be computed together with 'dV', got one with results of that kernel between them}}
    scf.for %j = %c0 to %c4 step %c1 {
      %q = tile.load %Q[%j, %c0] box [64, 64] {te.stage = "Q1"} : memref<256x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %s = tile.matmul %k, %q into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      %p = tile.map %s : !tile.fragment<64x64xf32> {te.stage = "P1"} -> !tile.fragment<64x64xbf16> {
      ^bb0(%e: f32, %row: index, %column: index):
        %g = arith.truncf %e : f32 to bf16
        tile.yield %g : bf16
      }
      %all = tile.share %p : !tile.fragment<64x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
      %d = tile.matmul %all mn_major, %k mn_major into %none : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
      tile.store %d to %D[%j, %c0] box [64, 64] columns 64 swizzle 128 reduce_add : !tile.fragment<64x64xf32>, memref<256x64xf32>
    } {schedule.axis = #schedule.axis<"i.outer" of "dQ">, schedule.pipeline = #schedule.pipeline<stages = 2>, schedule.rolling = #schedule.rolling<of = "dV">}
  }
  return
}
