// Round trip: what is printed reads back as the same.
// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

// CHECK-LABEL: func.func @mmult
func.func @mmult(%A: tensor<64x32xf32> {te.name = "A"}, %B: tensor<32x48xf32> {te.name = "B"},
                 %out: tensor<64x48xf32> {te.name = "C", te.output}) -> tensor<64x48xf32> {
  // CHECK: %C = te.compute "C" (%i: 64, %j: 48) sum (%k: 32) {
  // CHECK:   te.read %arg0[%i, %k] : tensor<64x32xf32>
  // CHECK: } : tensor<64x48xf32>
  %C = te.compute "C" (%i: 64, %j: 48) sum (%k: 32) {
    %a = te.read %A[%i, %k] : tensor<64x32xf32>
    %b = te.read %B[%k, %j] : tensor<32x48xf32>
    %ab = arith.mulf %a, %b : f32
    te.yield %ab : f32
  } : tensor<64x48xf32>
  return %C : tensor<64x48xf32>
}

// CHECK-LABEL: func.func @argmax
func.func @argmax(%X: tensor<64x128xf32>, %o0: tensor<64xi32> {te.output}, %o1: tensor<64xf32> {te.output}) -> (tensor<64xi32>, tensor<64xf32>) {
  // CHECK: te.compute "argmax" (%i: 64) reduce (%k: 128) {
  // CHECK: } combine (%{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32) identity [-1 : i32, 0xFF800000 : f32] {
  %at, %max = te.compute "argmax" (%i: 64) reduce (%k: 128) {
    %x = te.read %X[%i, %k] : tensor<64x128xf32>
    %n = arith.index_cast %k : index to i32
    te.yield %n, %x : i32, f32
  } combine (%n0: i32, %x0: f32, %n1: i32, %x1: f32) identity [-1 : i32, 0xFF800000 : f32] {
    %ge = arith.cmpf oge, %x0, %x1 : f32
    %n = arith.select %ge, %n0, %n1 : i32
    %x = arith.select %ge, %x0, %x1 : f32
    te.yield %n, %x : i32, f32
  } : tensor<64xi32>, tensor<64xf32>
  return %at, %max : tensor<64xi32>, tensor<64xf32>
}

// An extent that is a value, an index that is computed, an axis named apart from its argument.
// CHECK-LABEL: func.func @gather
func.func @gather(%X: tensor<?xf32>, %at: tensor<8xi32>, %o: tensor<?xf32> {te.output}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %o, %c0 : tensor<?xf32>
  // CHECK: te.compute "G" (%n: %dim) {
  // CHECK: te.read %{{.*}}[symbol(%{{.*}})] : tensor<?xf32>
  %G = te.compute "G" (%m as "n": %n) {
    %a = te.read %at[%m mod 8] : tensor<8xi32>
    %i = arith.index_cast %a : i32 to index
    %x = te.read %X[symbol(%i)] : tensor<?xf32>
    te.yield %x : f32
  } : tensor<?xf32>
  return %G : tensor<?xf32>
}
