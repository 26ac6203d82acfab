// RUN: tilewright-opt %s --fill-empty-reductions | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK: te.compute "B" (%{{.*}}: 8) max (%{{.*}}: 1) {
// CHECK-NEXT: %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
// CHECK-NEXT: te.yield %[[LOWEST]] : f32
// CHECK: te.compute "C" (%{{.*}}: 8) sum (%{{.*}}: 4) {
// CHECK-NEXT: te.read
func.func @f(%A: tensor<8x0xf32>, %D: tensor<8x4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %B = te.compute "B" (%i: 8) max (%k: 0) {
    %a = te.read %A[%i, %k] : tensor<8x0xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  %C = te.compute "C" (%i: 8) sum (%k: 4) {
    %d = te.read %D[%i, %k] : tensor<8x4xf32>
    te.yield %d : f32
  } : tensor<8xf32>
  return %B, %C : tensor<8xf32>, tensor<8xf32>
}

// What is read of nothing is never read: %n can only be 0 here.
// CHECK-LABEL: func.func @g
// CHECK: te.compute "E" (%{{.*}}: 8) sum (%{{.*}}: %{{.*}}) {
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: te.yield %[[ZERO]] : f32
// CHECK: te.compute "F" (%{{.*}}: 0) {
// CHECK-NEXT: te.read
func.func @g(%A: tensor<8x0xf32>, %B: tensor<0xf32>, %n: index) -> (tensor<8xf32>, tensor<0xf32>) {
  %E = te.compute "E" (%i: 8) sum (%k: %n) {
    %a = te.read %A[%i, %k] : tensor<8x0xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  %F = te.compute "F" (%i: 0) {
    %b = te.read %B[%i] : tensor<0xf32>
    te.yield %b : f32
  } : tensor<0xf32>
  return %E, %F : tensor<8xf32>, tensor<0xf32>
}
