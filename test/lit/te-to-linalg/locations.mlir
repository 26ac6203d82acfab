// RUN: tilewright-opt %s -convert-te-to-linalg -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func @located
func.func @located(%X: tensor<4xf32>, %at: tensor<4xindex>, %out: tensor<4xf32> {te.output}) -> tensor<4xf32> {
  // CHECK: tensor.extract %{{.+}} : tensor<4xf32> loc("user.py":3:5)
  // CHECK: arith.negf %{{.+}} loc("user.py":4:7)
  // CHECK: } -> tensor<4xf32> loc("Y"("user.py":2:1))
  %Y = te.compute "Y" (%i: 4) {
    %a = te.read %at[%i] : tensor<4xindex>
    %x = te.read %X[symbol(%a) + %i] : tensor<4xf32> loc("user.py":3:5)
    %y = arith.negf %x : f32 loc("user.py":4:7)
    te.yield %y : f32
  } : tensor<4xf32> loc("Y"("user.py":2:1))
  return %Y : tensor<4xf32>
}
