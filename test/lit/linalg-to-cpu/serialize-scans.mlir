// RUN: tilewright-opt %s --serialize-scans | FileCheck %s

// The cumulative sum of each column: row by row, each from the one before it.
#id = affine_map<(t, i) -> (t, i)>
#first = affine_map<(t, i) -> (0, i)>
#before = affine_map<(t) -> (t - 1)>
// CHECK-LABEL: func.func @cumsum
// CHECK-SAME: (%[[X:.*]]: tensor<16x8xf32>, %[[OUT:.*]]: tensor<16x8xf32>
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<1x8xf32>
// CHECK: %[[S:.*]]:2 = scf.for %[[T:.*]] = %c0{{.*}} to %c16{{.*}} step %c1{{.*}} iter_args(%[[STATE:.*]] = %[[OUT]], %[[ROW:.*]] = %[[EMPTY]])
// CHECK: %[[NEXT:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK-SAME: outs(%[[ROW]] : tensor<1x8xf32>)
// CHECK: %[[I:.*]] = linalg.index 1
// CHECK: tensor.extract %[[X]][%[[T]], %[[I]]]
// CHECK: %[[T1:.*]] = affine.apply #{{.*}}(%[[T]])
// CHECK: tensor.extract %[[STATE]][%[[T1]], %{{.*}}]
// CHECK: %[[PLACE:.*]] = tensor.extract_slice %[[STATE]][%[[T]], 0] [1, 8] [1, 1] : tensor<16x8xf32> to tensor<1x8xf32>
// CHECK: %[[COPIED:.*]] = linalg.generic {{.*}} ins(%[[NEXT]] : tensor<1x8xf32>) outs(%[[PLACE]] : tensor<1x8xf32>)
// CHECK: %[[INSERTED:.*]] = tensor.insert_slice %[[COPIED]] into %[[STATE]][%[[T]], 0] [1, 8] [1, 1]
// CHECK: scf.yield %[[INSERTED]], %[[NEXT]]
// CHECK: return %[[S]]#0
func.func @cumsum(%x: tensor<16x8xf32>, %out: tensor<16x8xf32> {te.output}) -> tensor<16x8xf32> {
  %c1 = arith.constant 1 : index
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<16x8xf32>) outs(%out : tensor<16x8xf32>)
      attrs = {te.stage = "S", te.axes = ["t", "i"], te.scan} {
  ^bb0(%a: f32, %o: f32):
    %t = linalg.index 0 : index
    %i = linalg.index 1 : index
    %begins = arith.cmpi slt, %t, %c1 : index
    %v = scf.if %begins -> f32 {
      scf.yield %a : f32
    } else {
      %t1 = affine.apply #before(%t)
      %p = tensor.extract %out[%t1, %i] : tensor<16x8xf32>
      %sum = arith.addf %p, %a : f32
      scf.yield %sum : f32
    }
    linalg.yield %v : f32
  } -> tensor<16x8xf32>
  return %s : tensor<16x8xf32>
}
