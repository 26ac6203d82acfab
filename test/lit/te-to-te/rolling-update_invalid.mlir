// RUN: tilewright-opt %s --rewrite-scheduled-dataflow --split-input-file --verify-diagnostics

// The square of what is read has no repair.
func.func @square(%S: tensor<8x64xf32> {te.name = "S"}, %out: tensor<8xf32> {te.name = "L", te.output}) -> tensor<8xf32> {
  %M = te.compute "M" (%i: 8) sum (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    te.yield %s : f32
  } : tensor<8xf32>
  %L = te.compute "L" (%i: 8) sum (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    %m = te.read %M[%i] : tensor<8xf32>
    %d = arith.subf %s, %m : f32
    %e = arith.mulf %d, %d : f32
    te.yield %e : f32
  } : tensor<8xf32>
  return %L : tensor<8xf32>
}
schedule.of @square {
  %M = schedule.stage "M"
  %L = schedule.stage "L"
  %j = schedule.reduce_axes %L ["j"] : !schedule.axis
  // expected-error @+1 {{expected the element of 'L' as a product with factors exp(x), where x is what it reads of 'M', got arith.subf in its way}}
  schedule.rolling_update %j of %M
}

// -----

func.func @product_in_exponent(%S: tensor<8x64xf32> {te.name = "S"}, %out: tensor<8xf32> {te.name = "L", te.output}) -> tensor<8xf32> {
  %M = te.compute "M" (%i: 8) max (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    te.yield %s : f32
  } : tensor<8xf32>
  %L = te.compute "L" (%i: 8) sum (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    %m = te.read %M[%i] : tensor<8xf32>
    %d = arith.mulf %s, %m : f32
    %e = math.exp %d : f32
    te.yield %e : f32
  } : tensor<8xf32>
  return %L : tensor<8xf32>
}
schedule.of @product_in_exponent {
  %M = schedule.stage "M"
  %L = schedule.stage "L"
  %j = schedule.reduce_axes %L ["j"] : !schedule.axis
  // expected-error @+1 {{expected a sum of terms that depend either on 'M' or on the rest, got arith.mulf in its way}}
  schedule.rolling_update %j of %M
}

// -----

func.func @unrelated(%S: tensor<8x64xf32> {te.name = "S"}, %out: tensor<8xf32> {te.name = "L", te.output}) -> tensor<8xf32> {
  %M = te.compute "M" (%i: 8) max (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    te.yield %s : f32
  } : tensor<8xf32>
  %D = te.compute "D" (%i: 8) {
    %m = te.read %M[%i] : tensor<8xf32>
    te.yield %m : f32
  } : tensor<8xf32>
  %L = te.compute "L" (%i: 8) sum (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    %m = te.read %D[%i] : tensor<8xf32>
    %d = arith.subf %s, %m : f32
    %e = math.exp %d : f32
    te.yield %e : f32
  } : tensor<8xf32>
  return %L : tensor<8xf32>
}
schedule.of @unrelated {
  %M = schedule.stage "M"
  %L = schedule.stage "L"
  %j = schedule.reduce_axes %L ["j"] : !schedule.axis
  // expected-error @+1 {{expected stage 'L' to read 'M' itself, got no such read: inline the stages between}}
  schedule.rolling_update %j of %M
}

// -----

func.func @shorter(%S: tensor<8x64xf32> {te.name = "S"}, %out: tensor<8xf32> {te.name = "L", te.output}) -> tensor<8xf32> {
  %M = te.compute "M" (%i: 8) max (%j: 32) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    te.yield %s : f32
  } : tensor<8xf32>
  %L = te.compute "L" (%i: 8) sum (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    %m = te.read %M[%i] : tensor<8xf32>
    %d = arith.subf %s, %m : f32
    %e = math.exp %d : f32
    te.yield %e : f32
  } : tensor<8xf32>
  return %L : tensor<8xf32>
}
schedule.of @shorter {
  %M = schedule.stage "M"
  %L = schedule.stage "L"
  %j = schedule.reduce_axes %L ["j"] : !schedule.axis
  // expected-error @+1 {{expected stage 'L' to reduce over as many elements as 'M'}}
  schedule.rolling_update %j of %M
}

// -----

func.func @product(%S: tensor<8x64xf32> {te.name = "S"}, %out: tensor<8xf32> {te.name = "L", te.output}) -> tensor<8xf32> {
  %M = te.compute "M" (%i: 8) max (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    te.yield %s : f32
  } : tensor<8xf32>
  %L = te.compute "L" (%i: 8) prod (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    %m = te.read %M[%i] : tensor<8xf32>
    %d = arith.subf %s, %m : f32
    te.yield %d : f32
  } : tensor<8xf32>
  return %L : tensor<8xf32>
}
schedule.of @product {
  %M = schedule.stage "M"
  %L = schedule.stage "L"
  %j = schedule.reduce_axes %L ["j"] : !schedule.axis
  // expected-error @+1 {{expected a reduction by sum, max or min, got one by prod in 'L'}}
  schedule.rolling_update %j of %M
}

// -----

func.func @two_places(%S: tensor<8x8xf32> {te.name = "S"}, %out: tensor<8x8xf32> {te.name = "L", te.output}) -> tensor<8x8xf32> {
  %M = te.compute "M" (%i: 8) max (%j: 8) {
    %s = te.read %S[%i, %j] : tensor<8x8xf32>
    te.yield %s : f32
  } : tensor<8xf32>
  %L = te.compute "L" (%i: 8, %h: 8) sum (%j: 8) {
    %m = te.read %M[%i] : tensor<8xf32>
    %n = te.read %M[%h] : tensor<8xf32>
    %d = arith.subf %n, %m : f32
    %e = math.exp %d : f32
    te.yield %e : f32
  } : tensor<8x8xf32>
  return %L : tensor<8x8xf32>
}
schedule.of @two_places {
  %M = schedule.stage "M"
  %L = schedule.stage "L"
  %j = schedule.reduce_axes %L ["j"] : !schedule.axis
  // expected-error @+1 {{expected stage 'L' to read 'M' at one place, got two}}
  schedule.rolling_update %j of %M
}

// -----

func.func @custom(%S: tensor<8x64xf32> {te.name = "S"}, %out: tensor<8xf32> {te.name = "L", te.output}) -> tensor<8xf32> {
  %M = te.compute "M" (%i: 8) reduce (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    te.yield %s : f32
  } combine (%a: f32, %b: f32) identity [0.0 : f32] {
    %c = arith.addf %a, %b : f32
    te.yield %c : f32
  } : tensor<8xf32>
  %L = te.compute "L" (%i: 8) max (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    %m = te.read %M[%i] : tensor<8xf32>
    %d = arith.subf %s, %m : f32
    te.yield %d : f32
  } : tensor<8xf32>
  return %L : tensor<8xf32>
}
schedule.of @custom {
  %M = schedule.stage "M"
  %L = schedule.stage "L"
  %j = schedule.reduce_axes %L ["j"] : !schedule.axis
  // expected-error @+1 {{expected a reduction by a named combiner, got stage 'M'}}
  schedule.rolling_update %j of %M
}

// -----

func.func @integers(%S: tensor<8x64xi32> {te.name = "S"}, %out: tensor<8xi32> {te.name = "L", te.output}) -> tensor<8xi32> {
  %M = te.compute "M" (%i: 8) max (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xi32>
    te.yield %s : i32
  } : tensor<8xi32>
  %L = te.compute "L" (%i: 8) max (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xi32>
    %m = te.read %M[%i] : tensor<8xi32>
    %d = arith.subi %s, %m : i32
    te.yield %d : i32
  } : tensor<8xi32>
  return %L : tensor<8xi32>
}
schedule.of @integers {
  %M = schedule.stage "M"
  %L = schedule.stage "L"
  %j = schedule.reduce_axes %L ["j"] : !schedule.axis
  // expected-error @+1 {{expected a reduction of floats, got stage 'L'}}
  schedule.rolling_update %j of %M
}

// -----

func.func @reduced_place(%S: tensor<8x64xf32> {te.name = "S"}, %out: tensor<8xf32> {te.name = "L", te.output}) -> tensor<8xf32> {
  %M = te.compute "M" (%i: 8) max (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    te.yield %s : f32
  } : tensor<8xf32>
  %L = te.compute "L" (%i: 8) max (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    %h = arith.constant 8 : index
    %m = te.read %M[%j floordiv 8] : tensor<8xf32>
    %d = arith.subf %s, %m : f32
    te.yield %d : f32
  } : tensor<8xf32>
  return %L : tensor<8xf32>
}
schedule.of @reduced_place {
  %M = schedule.stage "M"
  %L = schedule.stage "L"
  %j = schedule.reduce_axes %L ["j"] : !schedule.axis
  // expected-error @+1 {{expected stage 'L' to read 'M' at its spatial axes alone}}
  schedule.rolling_update %j of %M
}

// -----

func.func @spatial_axis(%S: tensor<8x64xf32> {te.name = "S"}, %out: tensor<8xf32> {te.name = "L", te.output}) -> tensor<8xf32> {
  %M = te.compute "M" (%i: 8) max (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    te.yield %s : f32
  } : tensor<8xf32>
  %L = te.compute "L" (%i: 8) max (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    %m = te.read %M[%i] : tensor<8xf32>
    %d = arith.subf %s, %m : f32
    te.yield %d : f32
  } : tensor<8xf32>
  return %L : tensor<8xf32>
}
schedule.of @spatial_axis {
  %M = schedule.stage "M"
  %L = schedule.stage "L"
  %i = schedule.axes %L ["i"] : !schedule.axis
  // expected-error @+1 {{expected a reduction axis, got the loop 'i'}}
  schedule.rolling_update %i of %M
}

// -----

// An exponent in which values of M are chosen by branches.
func.func @branches(%S: tensor<8x64xf32> {te.name = "S"}, %out: tensor<8xf32> {te.name = "L", te.output}) -> tensor<8xf32> {
  %M = te.compute "M" (%i: 8) max (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    te.yield %s : f32
  } : tensor<8xf32>
  %L = te.compute "L" (%i: 8) sum (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    %m = te.read %M[%i] : tensor<8xf32>
    %zero = arith.constant 0.0 : f32
    %above = arith.cmpf ogt, %m, %zero : f32
    %x = scf.if %above -> f32 {
      scf.yield %m : f32
    } else {
      scf.yield %zero : f32
    }
    %d = arith.subf %s, %x : f32
    %e = math.exp %d : f32
    te.yield %e : f32
  } : tensor<8xf32>
  return %L : tensor<8xf32>
}
schedule.of @branches {
  %M = schedule.stage "M"
  %L = schedule.stage "L"
  %j = schedule.reduce_axes %L ["j"] : !schedule.axis
  // expected-error @+1 {{expected terms without choices between operations, got scf.if in its way}}
  schedule.rolling_update %j of %M
}
