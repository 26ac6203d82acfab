// RUN: tilewright-opt %s --verify-stage=stage=te -split-input-file -verify-diagnostics

// What may not stand at the stage te.
func.func @f(%A: tensor<8xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{stage te: expected tensor expressions, got 'linalg.generic'}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%A : tensor<8xf32>) outs(%out : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @f(%A: tensor<?xf32>) -> index {
  %c3 = arith.constant 3 : index
  // expected-error @below {{stage te: expected one of the 1 dimensions of 'tensor<?xf32>', got dimension 3}}
  %n = tensor.dim %A, %c3 : tensor<?xf32>
  return %n : index
}
