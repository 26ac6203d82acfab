// RUN: tilewright-opt %s --apply-schedule | FileCheck %s

// Arguments with te.strides have them as their layout.
#id = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[A:[^:]*]]: memref<?x8xf32, strided<[?, 1]>> {te.name = "A"
// CHECK-SAME: %[[C:[^:]*]]: memref<?x8xf32, strided<[1, 64]>> {te.name = "C"
// CHECK: %[[X:.*]] = memref.load %[[A]][%{{.*}}, %{{.*}}] : memref<?x8xf32, strided<[?, 1]>>
// CHECK: memref.store %{{.*}}, %[[C]][%{{.*}}, %{{.*}}] : memref<?x8xf32, strided<[1, 64]>>
func.func @f(%a: tensor<?x8xf32> {te.name = "A", te.symbols = ["n", ""], te.strides = array<i64: -1, 1>, te.stride_symbols = ["ld", ""]},
             %out: tensor<?x8xf32> {te.name = "C", te.output, te.symbols = ["n", ""], te.strides = array<i64: 1, 64>})
    -> tensor<?x8xf32> {
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x8xf32>) outs(%out : tensor<?x8xf32>) attrs = {te.stage = "C", te.axes = ["i", "j"]} {
  ^bb0(%x: f32, %y: f32):
    %z = arith.negf %x : f32
    linalg.yield %z : f32
  } -> tensor<?x8xf32>
  return %c : tensor<?x8xf32>
}
