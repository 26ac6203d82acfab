// RUN: tilewright-opt %s --apply-schedule=on-processor | FileCheck %s
// RUN: tilewright-opt %s --print-loop-bounds=on-processor -o /dev/null | FileCheck %s --check-prefix=BOUNDS

// A stage in global memory is computed at a loop, in a buffer of its own.
// CHECK-LABEL: func.func @scheduled(%{{.*}}: memref<8xf32>
// CHECK: scf.for
// CHECK: memref.alloca() {te.stage = "B"} : memref<1xf32, #gpu.address_space<private>>
// BOUNDS:      bounds of @scheduled
// BOUNDS-NEXT: stage B in local memory, in loop i of stage C
// BOUNDS-NEXT:   axis i: 1 of 8 from d0, index 0
// BOUNDS-NOT:  bounds of @unscheduled
#id = affine_map<(d0) -> (d0)>
func.func @scheduled(%A: tensor<8xf32>, %out: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %B = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%A : tensor<8xf32>) outs(%e : tensor<8xf32>)
      attrs = {te.stage = "B", te.axes = ["i"]} {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  %C = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%B : tensor<8xf32>) outs(%out : tensor<8xf32>)
      attrs = {te.stage = "C", te.axes = ["i"]} {
  ^bb0(%b: f32, %o: f32):
    %n = arith.negf %b : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  return %C : tensor<8xf32>
}
schedule.of @scheduled {
  %C = schedule.stage "C"
  %i = schedule.axes %C ["i"] : !schedule.axis
  %B = schedule.stage "B"
  schedule.set_scope %B to <global>
  schedule.compute_at %B at %C, %i
}

// Without a schedule a function stays on tensors.
// CHECK-LABEL: func.func @unscheduled(%{{.*}}: tensor<8xf32>
// CHECK: linalg.generic
func.func @unscheduled(%A: tensor<8xf32>, %out: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  %B = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%A : tensor<8xf32>) outs(%out : tensor<8xf32>)
      attrs = {te.stage = "B", te.axes = ["i"]} {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  return %B : tensor<8xf32>
}
