// RUN: tilewright-opt %s -fuse-operators | FileCheck %s

// What is quantised and read as it is, too: one group has both results. With a scale for each row it is a group alone.
// CHECK-LABEL: func.func @both
// CHECK-NEXT: %[[G:.*]]:2 = graph.group "relu_quantize" {
// CHECK: %[[R:.*]] = graph.relu %arg0
// CHECK: %[[Q:.*]] = graph.quantize %[[R]], %{{.*}}, %{{.*}}
// CHECK-NEXT: graph.yield %[[R]], %[[Q]] : tensor<4x8xf32>, tensor<4x8xi8>
// CHECK: } {ends = ["an output of the model", "an output of the model"]} : tensor<4x8xf32>, tensor<4x8xi8>
// CHECK-NEXT: %[[P:.*]] = graph.group "quantize"
// CHECK: graph.quantize %[[G]]#0, %arg1
// CHECK: return %[[G]]#0, %[[G]]#1, %[[P]]
func.func @both(%x: tensor<4x8xf32>, %rows: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4x8xi8>, tensor<4x8xi8>) {
  %scale = graph.constant dense<0.5> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<i8>
  %r = graph.relu %x {graph.definition = @relu} : tensor<4x8xf32>
  %q = graph.quantize %r, %scale, %zero {axis = 0 : i64, block = 0 : i64, graph.definition = @quantize, to = "int8"} : (tensor<4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<4x8xi8>
  %p = graph.quantize %r, %rows, %zero {axis = 0 : i64, block = 0 : i64, graph.definition = @quantize_rows, to = "int8"} : (tensor<4x8xf32>, tensor<4xf32>, tensor<i8>) -> tensor<4x8xi8>
  return %r, %q, %p : tensor<4x8xf32>, tensor<4x8xi8>, tensor<4x8xi8>
}

func.func private @relu(%x: tensor<4x8xf32>, %o: tensor<4x8xf32> {te.output}) -> tensor<4x8xf32> {
  %y = te.compute "relu" (%i: 4, %j: 8) {
    %e = te.read %x[%i, %j] : tensor<4x8xf32>
    %z = arith.constant 0.0 : f32
    %m = arith.maximumf %e, %z : f32
    te.yield %m : f32
  } : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
func.func private @quantize(%x: tensor<4x8xf32>, %s: tensor<f32>, %z: tensor<i8>, %o: tensor<4x8xi8> {te.output}) -> tensor<4x8xi8> {
  %y = te.compute "quantize" (%i: 4, %j: 8) {
    %e = te.read %x[%i, %j] : tensor<4x8xf32>
    %f = te.read %s[] : tensor<f32>
    %d = arith.divf %e, %f : f32
    %q = arith.fptosi %d : f32 to i8
    te.yield %q : i8
  } : tensor<4x8xi8>
  return %y : tensor<4x8xi8>
}
func.func private @quantize_rows(%x: tensor<4x8xf32>, %s: tensor<4xf32>, %z: tensor<i8>, %o: tensor<4x8xi8> {te.output}) -> tensor<4x8xi8> {
  %y = te.compute "quantize" (%i: 4, %j: 8) {
    %e = te.read %x[%i, %j] : tensor<4x8xf32>
    %f = te.read %s[%i] : tensor<4xf32>
    %d = arith.divf %e, %f : f32
    %q = arith.fptosi %d : f32 to i8
    te.yield %q : i8
  } : tensor<4x8xi8>
  return %y : tensor<4x8xi8>
}
