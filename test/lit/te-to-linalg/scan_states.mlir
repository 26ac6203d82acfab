// RUN: tilewright-opt %s --pass-pipeline='builtin.module(convert-te-to-linalg,cse)' | FileCheck %s

// The steps of a scan read its states by the tensors that it writes into. Of two states they stay two, though both are
// temporaries of one type.
// CHECK-LABEL: func.func @rotate
// CHECK: %[[DIM:.*]] = tensor.dim
// CHECK: %[[X:.*]] = bufferization.alloc_tensor(%[[DIM]]) : tensor<?x40xf32>
// CHECK: %[[Y:.*]] = bufferization.alloc_tensor(%[[DIM]]) : tensor<?x40xf32>
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[X]], %[[Y]] : tensor<?x40xf32>, tensor<?x40xf32>)
// CHECK: tensor.extract %[[X]]
// CHECK: tensor.extract %[[Y]]
// CHECK: } -> (tensor<?x40xf32>, tensor<?x40xf32>)
func.func @rotate(%A: tensor<?x40xf32> {te.name = "A", te.dtype = f32, te.symbols = ["m", ""]},
                  %O: tensor<40xf32> {te.name = "last", te.dtype = f32, te.output}) -> tensor<40xf32> {
  %c0 = arith.constant 0 : index
  %dim = tensor.dim %A, %c0 : tensor<?x40xf32>
  %S:2 = te.compute "S" scan (%t: %dim, %i: 40) {
    %c1 = arith.constant 1 : index
    %first = arith.cmpi slt, %t, %c1 : index
    %begin = te.read %A[%t, %i] : tensor<?x40xf32>
    %x = scf.if %first -> (f32) {
      scf.yield %begin : f32
    } else {
      %p = te.previous 0 by 1 : f32
      %q = te.previous 1 by 1 : f32
      %d = arith.subf %p, %q : f32
      scf.yield %d : f32
    }
    %y = scf.if %first -> (f32) {
      scf.yield %begin : f32
    } else {
      %p = te.previous 0 by 1 : f32
      scf.yield %p : f32
    }
    te.yield %x, %y : f32, f32
  } : tensor<?x40xf32>, tensor<?x40xf32>
  %last = te.compute "last" (%i: 40) {
    %x = te.read %S#0[symbol(%dim) - 1, %i] : tensor<?x40xf32>
    %y = te.read %S#1[symbol(%dim) - 1, %i] : tensor<?x40xf32>
    %sum = arith.addf %x, %y : f32
    te.yield %sum : f32
  } : tensor<40xf32>
  return %last : tensor<40xf32>
}
