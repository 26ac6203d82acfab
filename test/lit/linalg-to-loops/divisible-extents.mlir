// RUN: tilewright-opt %s --apply-schedule | FileCheck %s

// An extent that is known to be a multiple of 64 is 64 times a symbol: splits by factors of it need no predicate.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @f
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK: %[[N:.*]] = memref.dim %arg0
// CHECK: %[[BLOCKS:.*]] = arith.divui %[[N]], %[[C64]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[BLOCKS]]
// CHECK-NEXT: scf.for
// CHECK-NOT: scf.if
// CHECK: schedule.axis = "C.i.inner"
// CHECK: schedule.axis = "C.i.outer"
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
