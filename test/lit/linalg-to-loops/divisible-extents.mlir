// RUN: tilewright-opt %s --apply-schedule | FileCheck %s

// An extent that is known to be a multiple of 64 is 64 times a symbol: splits by factors of it need no predicate.
#id = affine_map<(i) -> (i)>
// CHECK-DAG: #[[BY_FOUR:.*]] = affine_map<()[s0] -> (s0 * 4)>
// CHECK-DAG: #[[BY_EIGHT:.*]] = affine_map<()[s0] -> (s0 * 8)>
// CHECK-DAG: #[[UP:.*]] = affine_map<()[s0] -> ((s0 * 4) ceildiv 64)>
// CHECK-LABEL: func.func @f
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK: %[[N:.*]] = memref.dim %arg0
// CHECK: %[[BLOCKS:.*]] = arith.divui %[[N]], %[[C64]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[BLOCKS]]
// CHECK-NEXT: scf.for
// CHECK-NOT: scf.if
// CHECK: schedule.axis = #schedule.axis<"i.inner" of "C">
// CHECK: schedule.axis = #schedule.axis<"i.outer" of "C">
func.func @f(%a: tensor<?xf32> {te.name = "A", te.symbols = ["n"], te.divisible_by = array<i64: 64>},
             %out: tensor<?xf32> {te.name = "C", te.output, te.symbols = ["n"], te.divisible_by = array<i64: 64>})
    -> tensor<?xf32> {
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%out : tensor<?xf32>) attrs = {te.stage = "C", te.axes = ["i"]} {
  ^bb0(%x: f32, %y: f32):
    %z = arith.negf %x : f32
    linalg.yield %z : f32
  } -> tensor<?xf32>
  return %c : tensor<?xf32>
}
schedule.of @f {
  %c = schedule.stage "C"
  %i = schedule.axes %c ["i"] : !schedule.axis
  %o, %inner = schedule.split %i by 64
}

// So it is where elements ask for it; what is rounded up by splits and by an expression is the same.
// CHECK-LABEL: func.func @padded
// CHECK: %[[N:.*]] = memref.dim %arg0
// CHECK: %[[UNITS:.*]] = arith.divui %[[N]], %{{.*}}
// CHECK: %[[EXTENT:.*]] = affine.apply #[[BY_FOUR]]()[%[[UNITS]]]
// CHECK: %[[BLOCKS:.*]] = affine.apply #[[UP]]()[%[[UNITS]]]
// CHECK: scf.for %[[O:.*]] = %{{.*}} to %[[BLOCKS]]
// CHECK: %[[I:.*]] = affine.apply
// CHECK-NEXT: arith.cmpi slt, %[[I]], %[[EXTENT]]
// CHECK-NOT: arith.cmpi
// CHECK: memref.store
func.func @padded(%a: tensor<?xf32> {te.name = "A", te.symbols = ["n"], te.divisible_by = array<i64: 4>},
                  %out: tensor<?xf32> {te.name = "C", te.output, te.symbols = ["(n + 63) // 64 * 64"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %rounded = affine.apply affine_map<()[s0] -> ((s0 + 63) floordiv 64 * 64)>()[%n]
  %empty = tensor.empty(%rounded) : tensor<?xf32>
  %c = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]}
      outs(%empty : tensor<?xf32>) attrs = {te.stage = "B", te.axes = ["i"]} {
  ^bb0(%y: f32):
    %i = linalg.index 0 : index
    %inside = arith.cmpi slt, %i, %n : index
    %z = scf.if %inside -> f32 {
      %x = tensor.extract %a[%i] : tensor<?xf32>
      scf.yield %x : f32
    } else {
      %zero = arith.constant 0.0 : f32
      scf.yield %zero : f32
    }
    linalg.yield %z : f32
  } -> tensor<?xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%c : tensor<?xf32>) outs(%out : tensor<?xf32>) attrs = {te.stage = "C", te.axes = ["i"]} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<?xf32>
  return %d : tensor<?xf32>
}
schedule.of @padded {
  %b = schedule.stage "B"
  %i = schedule.axes %b ["i"] : !schedule.axis
  %o, %inner = schedule.split %i by 64
}

// One symbol of which two arguments say different things is one number all the same.
// CHECK-LABEL: func.func @twice
// CHECK: %[[N:.*]] = memref.dim %arg0
// CHECK: %[[UNITS:.*]] = arith.divui %[[N]], %c8
// CHECK: %[[ALL:.*]] = affine.apply #[[BY_EIGHT]]()[%[[UNITS]]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[ALL]] step
func.func @twice(%a: tensor<?xf32> {te.name = "A", te.symbols = ["n"], te.divisible_by = array<i64: 8>},
                 %out: tensor<?xf32> {te.name = "C", te.output, te.symbols = ["n"], te.divisible_by = array<i64: 4>})
    -> tensor<?xf32> {
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%out : tensor<?xf32>) attrs = {te.stage = "C", te.axes = ["i"]} {
  ^bb0(%x: f32, %y: f32):
    %z = arith.negf %x : f32
    linalg.yield %z : f32
  } -> tensor<?xf32>
  return %c : tensor<?xf32>
}
schedule.of @twice {
  %c = schedule.stage "C"
  %i = schedule.axes %c ["i"] : !schedule.axis
}
