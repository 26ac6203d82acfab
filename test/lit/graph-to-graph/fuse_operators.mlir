// RUN: tilewright-opt %s -fuse-operators | FileCheck %s
// RUN: tilewright-opt %s '-fuse-operators=max-operators=1' | FileCheck %s --check-prefix=ALONE

// What comes before a reduction and after it is in its group. A constant of one element is in the group that reads it.
// CHECK-LABEL: func.func @chain
// CHECK-NOT: graph.constant
// CHECK: graph.group "relu_reduce_sum_add" {
// CHECK-NEXT: graph.relu
// CHECK-NEXT: graph.reduce_sum
// CHECK-NEXT: graph.constant
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.yield
// CHECK-NEXT: } {ends = ["an output of the model"]} : tensor<4xf32>
// ALONE-LABEL: func.func @chain
// ALONE: graph.group "relu" {
// ALONE: ends = ["a group has 1 operators at most"]
// ALONE: graph.group "reduce_sum" {
// ALONE: ends = ["a group has 1 operators at most"]
// ALONE: graph.group "add" {
func.func @chain(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %one = graph.constant dense<1.0> : tensor<f32>
  %r = graph.relu %x {graph.definition = @relu} : tensor<4x8xf32>
  %s = graph.reduce_sum %r {axes = array<i64: 1>, graph.definition = @reduce_sum, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>
  %a = graph.add %s, %one {graph.definition = @add} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// CHECK-LABEL: func.func @ends
// CHECK: graph.group "exp"
// CHECK: ends = ["2 operators use it"]
// CHECK: graph.group "reduce_sum"
// CHECK: ends = ["an output of the model"]
// CHECK: graph.group "exp"
// CHECK: ends = ["expand reads its elements several times"]
// CHECK: graph.group "expand"
func.func @ends(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>, tensor<8x4xf32>) {
  %r = graph.exp %x {graph.definition = @exp_whole} : tensor<4x8xf32>
  %s = graph.reduce_sum %r {axes = array<i64: 1>, graph.definition = @reduce_sum, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>
  %q = graph.relu %r {graph.definition = @relu} : tensor<4x8xf32>
  %e = graph.exp %s {graph.definition = @exp} : tensor<4xf32>
  %w = graph.expand %e {graph.definition = @expand, shape = [8, 4]} : (tensor<4xf32>) -> tensor<8x4xf32>
  return %s, %q, %w : tensor<4xf32>, tensor<4x8xf32>, tensor<8x4xf32>
}

// Each element of %e is read for several results, through a stage that pads it.
// CHECK-LABEL: func.func @windows
// CHECK: graph.group "exp"
// CHECK: ends = ["sum_pool reads its elements several times"]
// CHECK: graph.group "sum_pool"
func.func @windows(%x: tensor<1x1x4xf32>) -> tensor<1x1x4xf32> {
  %e = graph.exp %x {graph.definition = @exp_image} : tensor<1x1x4xf32>
  %p = graph.sum_pool %e {graph.definition = @window_sums, kernel = array<i64: 3>, strides = array<i64: 1>, before = array<i64: 1>, after = array<i64: 1>, dilations = array<i64: 1>} : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  return %p : tensor<1x1x4xf32>
}
func.func private @exp_image(%x: tensor<1x1x4xf32>, %o: tensor<1x1x4xf32> {te.output}) -> tensor<1x1x4xf32> {
  %r = te.compute "exp" (%n: 1, %c: 1, %i: 4) {
    %e = te.read %x[%n, %c, %i] : tensor<1x1x4xf32>
    %y = math.exp %e : f32
    te.yield %y : f32
  } : tensor<1x1x4xf32>
  return %r : tensor<1x1x4xf32>
}
func.func private @window_sums(%x: tensor<1x1x4xf32>, %o: tensor<1x1x4xf32> {te.output}) -> tensor<1x1x4xf32> {
  %padded = te.compute "padded" (%n: 1, %c: 1, %i: 6) {
    %first = arith.constant 1 : index
    %last = arith.constant 5 : index
    %a = arith.cmpi sge, %i, %first : index
    %b = arith.cmpi slt, %i, %last : index
    %inside = arith.andi %a, %b : i1
    %e = scf.if %inside -> (f32) {
      %read = te.read %x[%n, %c, %i - 1] : tensor<1x1x4xf32>
      scf.yield %read : f32
    } else {
      %none = arith.constant 0.0 : f32
      scf.yield %none : f32
    }
    te.yield %e : f32
  } : tensor<1x1x6xf32>
  %r = te.compute "sums" (%n: 1, %c: 1, %i: 4) sum (%k: 3) {
    %e = te.read %padded[%n, %c, %i + %k] : tensor<1x1x6xf32>
    te.yield %e : f32
  } : tensor<1x1x4xf32>
  return %r : tensor<1x1x4xf32>
}

// Nothing is known of an operator without a definition.
// CHECK-LABEL: func.func @unknown
// CHECK: graph.group "exp"
// CHECK: ends = ["nothing is known of exp"]
// CHECK: graph.group "relu"
func.func @unknown(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = graph.exp %x : tensor<4x8xf32>
  %r = graph.relu %e {graph.definition = @relu} : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// A reduction ends the group of another one; what reads at other places cannot follow a reduction.
// CHECK-LABEL: func.func @reductions
// CHECK: graph.group "reduce_sum"
// CHECK: ends = ["transpose reads it at other places"]
// CHECK: graph.group "transpose_reduce_sum"
func.func @reductions(%x: tensor<4x8x4xf32>, %y: tensor<4x8xf32>) -> tensor<8xf32> {
  %s = graph.reduce_sum %x {axes = array<i64: 2>, graph.definition = @reduce_last, keepdims = false} : (tensor<4x8x4xf32>) -> tensor<4x8xf32>
  %t = graph.transpose %s {graph.definition = @turn, permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %r = graph.reduce_sum %t {axes = array<i64: 1>, graph.definition = @reduce_turned, keepdims = false} : (tensor<8x4xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// Reductions of the same rows, and what is made of them, are one group; `%d` has two users in it.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT: graph.group "reduce_sum_sub_exp_and2more_sub" {
// CHECK: } {ends = ["an output of the model"]} : tensor<4x8xf32>
// CHECK-NEXT: return
func.func @rows(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = graph.reduce_sum %x {axes = array<i64: 1>, graph.definition = @row_sum, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %d = graph.sub %x, %s {graph.definition = @row_sub} : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %e = graph.exp %d {graph.definition = @exp_whole} : tensor<4x8xf32>
  %t = graph.reduce_sum %e {axes = array<i64: 1>, graph.definition = @row_sum, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %y = graph.sub %d, %t {graph.definition = @row_sub} : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Weights that are converted for rows to read are in their group, too.
// CHECK-LABEL: func.func @weights
// CHECK-NEXT: graph.group "reduce_sum_sub_cast_and3more_mul" {
// CHECK: } {ends = ["an output of the model"]} : tensor<4x8xf32>
// CHECK-NEXT: return
func.func @weights(%x: tensor<4x8xf32>, %w: tensor<8xbf16>) -> tensor<4x8xf32> {
  %s = graph.reduce_sum %x {axes = array<i64: 1>, graph.definition = @row_sum, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %d = graph.sub %x, %s {graph.definition = @row_sub} : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %c = graph.cast %w {graph.definition = @cast_weight, saturate = true, to = "float32"} : (tensor<8xbf16>) -> tensor<8xf32>
  %t = graph.reduce_sum %d {axes = array<i64: 1>, graph.definition = @row_sum, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %e = graph.sub %d, %t {graph.definition = @row_sub} : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %y = graph.mul %e, %c {graph.definition = @mul_weight} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Reductions of other dimensions are groups of their own.
// CHECK-LABEL: func.func @columns
// CHECK-NEXT: graph.group "reduce_sum" {
// CHECK: ends = ["sub reads it at other places"]
// CHECK-NEXT: graph.group "sub" {
func.func @columns(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = graph.reduce_sum %x {axes = array<i64: 0>, graph.definition = @column_sum, keepdims = true} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %d = graph.sub %x, %s {graph.definition = @column_sub} : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// An operator with two users in one group is in that, behind a reduction, too; not where one of them moves its elements.
// CHECK-LABEL: func.func @both
// CHECK-NEXT: graph.group "reduce_sum_exp_relu_add" {
// CHECK: graph.group "reduce_sum" {
// CHECK: ends = ["2 operators use it"]
// CHECK-NEXT: graph.group "slice_add" {
func.func @both(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = graph.reduce_sum %x {axes = array<i64: 1>, graph.definition = @reduce_sum, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>
  %e = graph.exp %s {graph.definition = @exp} : tensor<4xf32>
  %r = graph.relu %s {graph.definition = @relu_row} : tensor<4xf32>
  %a = graph.add %e, %r {graph.definition = @add_rows} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t = graph.reduce_sum %y {axes = array<i64: 1>, graph.definition = @reduce_sum, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>
  %f = graph.slice %t {graph.definition = @flip, starts = [3], steps = array<i64: -1>, sizes = [4]} : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.add %t, %f {graph.definition = @add_rows} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// A conversion is in the group of its only user, however often that reads an element, unless the user reduces.
// CHECK-LABEL: func.func @converted
// CHECK-NEXT: graph.group "cast_expand" {
func.func @converted(%x: tensor<4xbf16>) -> tensor<8x4xf32> {
  %c = graph.cast %x {graph.definition = @cast, saturate = true, to = "float32"} : (tensor<4xbf16>) -> tensor<4xf32>
  %w = graph.expand %c {graph.definition = @expand, shape = [8, 4]} : (tensor<4xf32>) -> tensor<8x4xf32>
  return %w : tensor<8x4xf32>
}

// What several operators of rows read in a wider type is widened with them: the group before stores narrow elements.
// CHECK-LABEL: func.func @widened
// CHECK-NEXT: graph.group "reduce_sum" {
// CHECK: } {ends = ["cast is in the group of another reduction"]} : tensor<4x8xbf16>
// CHECK-NEXT: graph.group "cast_reduce_sum_sub" {
func.func @widened(%x: tensor<4x8x4xbf16>) -> tensor<4x8xf32> {
  %n = graph.reduce_sum %x {axes = array<i64: 2>, graph.definition = @reduce_narrow, keepdims = false} : (tensor<4x8x4xbf16>) -> tensor<4x8xbf16>
  %c = graph.cast %n {graph.definition = @cast_rows, saturate = true, to = "float32"} : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %s = graph.reduce_sum %c {axes = array<i64: 1>, graph.definition = @row_sum, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %d = graph.sub %c, %s {graph.definition = @row_sub} : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// Where these are in two groups, it is widened in each.
// CHECK-LABEL: func.func @widened_for_two
// CHECK-NEXT: graph.group "reduce_sum" {
// CHECK: } {ends = ["2 operators use it"]} : tensor<4x8xbf16>
// CHECK-NEXT: graph.group "cast_exp" {
// CHECK: graph.group "cast_reduce_sum" {
func.func @widened_for_two(%x: tensor<4x8x4xbf16>) -> (tensor<4x8xf32>, tensor<4x1xf32>) {
  %n = graph.reduce_sum %x {axes = array<i64: 2>, graph.definition = @reduce_narrow, keepdims = false} : (tensor<4x8x4xbf16>) -> tensor<4x8xbf16>
  %c = graph.cast %n {graph.definition = @cast_rows, saturate = true, to = "float32"} : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %e = graph.exp %c {graph.definition = @exp_whole} : tensor<4x8xf32>
  %s = graph.reduce_sum %c {axes = array<i64: 1>, graph.definition = @row_sum, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  return %e, %s : tensor<4x8xf32>, tensor<4x1xf32>
}

// What is cheap and reads no more than it makes is computed in each group that reads it, and what that reads, too.
// CHECK-LABEL: func.func @again
// CHECK-NEXT: graph.group "cast_reduce_sum" {
// CHECK: graph.group "cast_sub_mul_reduce_sum" {
// CHECK: graph.group "cast_sub_sub" {
// CHECK-NOT: graph.group
func.func @again(%x: tensor<4x8xbf16>) -> tensor<4x8xf32> {
  %c = graph.cast %x {graph.definition = @cast_rows, saturate = true, to = "float32"} : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %s = graph.reduce_sum %c {axes = array<i64: 0>, graph.definition = @column_sum, keepdims = true} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %d = graph.sub %c, %s {graph.definition = @column_sub} : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %p = graph.mul %d, %d {graph.definition = @mul_whole} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = graph.reduce_sum %p {axes = array<i64: 0>, graph.definition = @column_sum, keepdims = true} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %e = graph.sub %d, %t {graph.definition = @column_sub} : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return %e : tensor<4x8xf32>
}

// A product of two tensors is stored, for it reads more. So is an output.
// CHECK-LABEL: func.func @stored
// CHECK-NEXT: graph.group "mul" {
// CHECK: } {ends = ["2 operators use it"]} : tensor<4x8xf32>
// CHECK: graph.group "relu" {
// CHECK: } {ends = ["an output of the model"]} : tensor<4x8xf32>
func.func @stored(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<1x8xf32>, tensor<4x8xf32>) {
  %p = graph.mul %x, %y {graph.definition = @mul_whole} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = graph.exp %p {graph.definition = @exp_whole} : tensor<4x8xf32>
  %s = graph.reduce_sum %p {axes = array<i64: 0>, graph.definition = @column_sum, keepdims = true} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %r = graph.relu %x {graph.definition = @relu} : tensor<4x8xf32>
  %d = graph.sub %r, %s {graph.definition = @column_sub} : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %f = graph.sub %e, %s {graph.definition = @column_sub} : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %g = graph.sub %f, %d {graph.definition = @sub_whole} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r, %s, %g : tensor<4x8xf32>, tensor<1x8xf32>, tensor<4x8xf32>
}

func.func private @reduce_narrow(%x: tensor<4x8x4xbf16>, %o: tensor<4x8xbf16> {te.output}) -> tensor<4x8xbf16> {
  %r = te.compute "reduce_sum" (%i: 4, %j: 8) sum (%k: 4) {
    %e = te.read %x[%i, %j, %k] : tensor<4x8x4xbf16>
    te.yield %e : bf16
  } : tensor<4x8xbf16>
  return %r : tensor<4x8xbf16>
}
func.func private @cast_rows(%x: tensor<4x8xbf16>, %o: tensor<4x8xf32> {te.output}) -> tensor<4x8xf32> {
  %r = te.compute "cast" (%i: 4, %j: 8) {
    %e = te.read %x[%i, %j] : tensor<4x8xbf16>
    %w = arith.extf %e : bf16 to f32
    te.yield %w : f32
  } : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
func.func private @row_sum(%x: tensor<4x8xf32>, %o: tensor<4x1xf32> {te.output}) -> tensor<4x1xf32> {
  %r = te.compute "reduce_sum" (%i: 4, %j: 1) sum (%k: 8) {
    %e = te.read %x[%i, %k] : tensor<4x8xf32>
    te.yield %e : f32
  } : tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}
func.func private @column_sum(%x: tensor<4x8xf32>, %o: tensor<1x8xf32> {te.output}) -> tensor<1x8xf32> {
  %r = te.compute "reduce_sum" (%i: 1, %j: 8) sum (%k: 4) {
    %e = te.read %x[%k, %j] : tensor<4x8xf32>
    te.yield %e : f32
  } : tensor<1x8xf32>
  return %r : tensor<1x8xf32>
}
func.func private @row_sub(%x: tensor<4x8xf32>, %y: tensor<4x1xf32>, %o: tensor<4x8xf32> {te.output}) -> tensor<4x8xf32> {
  %r = te.compute "sub" (%i: 4, %j: 8) {
    %e = te.read %x[%i, %j] : tensor<4x8xf32>
    %f = te.read %y[%i, 0] : tensor<4x1xf32>
    %s = arith.subf %e, %f : f32
    te.yield %s : f32
  } : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
func.func private @column_sub(%x: tensor<4x8xf32>, %y: tensor<1x8xf32>, %o: tensor<4x8xf32> {te.output}) -> tensor<4x8xf32> {
  %r = te.compute "sub" (%i: 4, %j: 8) {
    %e = te.read %x[%i, %j] : tensor<4x8xf32>
    %f = te.read %y[0, %j] : tensor<1x8xf32>
    %s = arith.subf %e, %f : f32
    te.yield %s : f32
  } : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
func.func private @mul_whole(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %o: tensor<4x8xf32> {te.output}) -> tensor<4x8xf32> {
  %r = te.compute "mul" (%i: 4, %j: 8) {
    %e = te.read %x[%i, %j] : tensor<4x8xf32>
    %f = te.read %y[%i, %j] : tensor<4x8xf32>
    %s = arith.mulf %e, %f : f32
    te.yield %s : f32
  } : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
func.func private @sub_whole(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %o: tensor<4x8xf32> {te.output}) -> tensor<4x8xf32> {
  %r = te.compute "sub" (%i: 4, %j: 8) {
    %e = te.read %x[%i, %j] : tensor<4x8xf32>
    %f = te.read %y[%i, %j] : tensor<4x8xf32>
    %s = arith.subf %e, %f : f32
    te.yield %s : f32
  } : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
func.func private @exp_whole(%x: tensor<4x8xf32>, %o: tensor<4x8xf32> {te.output}) -> tensor<4x8xf32> {
  %r = te.compute "exp" (%i: 4, %j: 8) {
    %e = te.read %x[%i, %j] : tensor<4x8xf32>
    %y = math.exp %e : f32
    te.yield %y : f32
  } : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
func.func private @relu_row(%x: tensor<4xf32>, %o: tensor<4xf32> {te.output}) -> tensor<4xf32> {
  %r = te.compute "relu" (%i: 4) {
    %e = te.read %x[%i] : tensor<4xf32>
    %zero = arith.constant 0.0 : f32
    %m = arith.maximumf %e, %zero : f32
    te.yield %m : f32
  } : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @add_rows(%x: tensor<4xf32>, %y: tensor<4xf32>, %o: tensor<4xf32> {te.output}) -> tensor<4xf32> {
  %r = te.compute "add" (%i: 4) {
    %e = te.read %x[%i] : tensor<4xf32>
    %f = te.read %y[%i] : tensor<4xf32>
    %s = arith.addf %e, %f : f32
    te.yield %s : f32
  } : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @flip(%x: tensor<4xf32>, %o: tensor<4xf32> {te.output}) -> tensor<4xf32> {
  %r = te.compute "slice" (%i: 4) {
    %e = te.read %x[3 - %i] : tensor<4xf32>
    te.yield %e : f32
  } : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @cast(%x: tensor<4xbf16>, %o: tensor<4xf32> {te.output}) -> tensor<4xf32> {
  %r = te.compute "cast" (%i: 4) {
    %e = te.read %x[%i] : tensor<4xbf16>
    %y = arith.extf %e : bf16 to f32
    te.yield %y : f32
  } : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @relu(%x: tensor<4x8xf32>, %o: tensor<4x8xf32> {te.output}) -> tensor<4x8xf32> {
  %r = te.compute "relu" (%i: 4, %j: 8) {
    %e = te.read %x[%i, %j] : tensor<4x8xf32>
    %zero = arith.constant 0.0 : f32
    %m = arith.maximumf %e, %zero : f32
    te.yield %m : f32
  } : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
func.func private @reduce_sum(%x: tensor<4x8xf32>, %o: tensor<4xf32> {te.output}) -> tensor<4xf32> {
  %r = te.compute "reduce_sum" (%i: 4) sum (%k: 8) {
    %e = te.read %x[%i, %k] : tensor<4x8xf32>
    te.yield %e : f32
  } : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @add(%x: tensor<4xf32>, %y: tensor<f32>, %o: tensor<4xf32> {te.output}) -> tensor<4xf32> {
  %r = te.compute "add" (%i: 4) {
    %e = te.read %x[%i] : tensor<4xf32>
    %f = te.read %y[] : tensor<f32>
    %s = arith.addf %e, %f : f32
    te.yield %s : f32
  } : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @reduce_last(%x: tensor<4x8x4xf32>, %o: tensor<4x8xf32> {te.output}) -> tensor<4x8xf32> {
  %r = te.compute "reduce_sum" (%i: 4, %j: 8) sum (%k: 4) {
    %e = te.read %x[%i, %j, %k] : tensor<4x8x4xf32>
    te.yield %e : f32
  } : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
func.func private @turn(%x: tensor<4x8xf32>, %o: tensor<8x4xf32> {te.output}) -> tensor<8x4xf32> {
  %r = te.compute "transpose" (%i: 8, %j: 4) {
    %e = te.read %x[%j, %i] : tensor<4x8xf32>
    te.yield %e : f32
  } : tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
func.func private @reduce_turned(%x: tensor<8x4xf32>, %o: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  %r = te.compute "reduce_sum" (%i: 8) sum (%k: 4) {
    %e = te.read %x[%i, %k] : tensor<8x4xf32>
    te.yield %e : f32
  } : tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func private @exp(%x: tensor<4xf32>, %o: tensor<4xf32> {te.output}) -> tensor<4xf32> {
  %r = te.compute "exp" (%i: 4) {
    %e = te.read %x[%i] : tensor<4xf32>
    %y = math.exp %e : f32
    te.yield %y : f32
  } : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @expand(%x: tensor<4xf32>, %o: tensor<8x4xf32> {te.output}) -> tensor<8x4xf32> {
  %r = te.compute "expand" (%i: 8, %j: 4) {
    %e = te.read %x[%j] : tensor<4xf32>
    te.yield %e : f32
  } : tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

func.func private @cast_weight(%x: tensor<8xbf16>, %o: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  %y = te.compute "cast" (%i: 8) {
    %0 = te.read %x[%i] : tensor<8xbf16>
    %1 = arith.extf %0 : bf16 to f32
    te.yield %1 : f32
  } : tensor<8xf32>
  return %y : tensor<8xf32>
}

func.func private @mul_weight(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %o: tensor<4x8xf32> {te.output}) -> tensor<4x8xf32> {
  %y = te.compute "mul" (%i: 4, %j: 8) {
    %0 = te.read %x[%i, %j] : tensor<4x8xf32>
    %1 = te.read %w[%j] : tensor<8xf32>
    %2 = arith.mulf %0, %1 : f32
    te.yield %2 : f32
  } : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
