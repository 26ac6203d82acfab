// RUN: tilewright-opt %s --apply-schedule --split-input-file --verify-diagnostics

// linalg that is not as convert-te-to-linalg makes it, such as may be left after an edit by hand.

func.func @named(%A: tensor<8x8xf32>, %out: tensor<8x8xf32> {te.output}) -> tensor<8x8xf32> {
  // expected-error @below {{expected te.extern, or linalg.generic with 'te.stage' and 'te.axes', the names of its axes, got linalg.matmul}}
  %C = linalg.matmul {te.stage = "C", te.axes = ["i", "j", "k"]} ins(%A, %A : tensor<8x8xf32>, tensor<8x8xf32>) outs(%out : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %C : tensor<8x8xf32>
}

// -----

func.func @unnamed_axes(%A: tensor<8xf32>, %out: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  // expected-error @below {{expected te.extern, or linalg.generic with 'te.stage' and 'te.axes', the names of its axes, got linalg.generic}}
  %C = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"],
                       te.stage = "C"} ins(%A : tensor<8xf32>) outs(%out : tensor<8xf32>) {
  ^bb0(%a: f32, %old: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %C : tensor<8xf32>
}

// -----

func.func @order(%A: tensor<8x8xf32>, %out: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  // expected-error @below {{stage 'C': expected spatial axes before reduction axes}}
  %C = linalg.generic {indexing_maps = [affine_map<(k, i) -> (i, k)>, affine_map<(k, i) -> (i)>], iterator_types = ["reduction", "parallel"],
                       te.stage = "C", te.axes = ["k", "i"]} ins(%A : tensor<8x8xf32>) outs(%out : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %sum = arith.addf %acc, %a : f32
    linalg.yield %sum : f32
  } -> tensor<8xf32>
  return %C : tensor<8xf32>
}

// -----

func.func @no_start(%A: tensor<8x8xf32>, %out: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  // expected-error @below {{stage 'C': expected a reduction that starts from linalg.fill with a constant}}
  %C = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"],
                       te.stage = "C", te.axes = ["i", "k"]} ins(%A : tensor<8x8xf32>) outs(%out : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %sum = arith.addf %acc, %a : f32
    linalg.yield %sum : f32
  } -> tensor<8xf32>
  return %C : tensor<8xf32>
}

// -----

func.func @scalar(%x: f32, %out: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  // expected-error @below {{stage 'C': expected operands that are tensors, got 'f32'}}
  %C = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"],
                       te.stage = "C", te.axes = ["i"]} ins(%x : f32) outs(%out : tensor<8xf32>) {
  ^bb0(%a: f32, %old: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %C : tensor<8xf32>
}

// -----

func.func @f(%A: tensor<8xf32>, %out: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  %C = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"],
                       te.stage = "C", te.axes = ["i"]} ins(%A : tensor<8xf32>) outs(%out : tensor<8xf32>) {
  ^bb0(%a: f32, %old: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %C : tensor<8xf32>
}
schedule.of @f {
  %C = schedule.stage "C"
  // expected-error @below {{'schedule.cache_write' op expected a primitive on loops: run rewrite-scheduled-dataflow first}}
  %CL = schedule.cache_write %C in <local> as "C.local"
}

// -----

func.func @dimension(%A: tensor<?xf32>, %out: tensor<?xf32> {te.output}) -> tensor<?xf32> {
  %c3 = arith.constant 3 : index
  // expected-error @below {{'tensor.dim' op expected a constant dimension that the tensor has, got that of 'tensor<?xf32>'}}
  %n = tensor.dim %A, %c3 : tensor<?xf32>
  return %out : tensor<?xf32>
}
