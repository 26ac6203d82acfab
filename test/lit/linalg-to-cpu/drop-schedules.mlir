// RUN: tilewright-opt %s --drop-schedules | FileCheck %s

func.func @f(%A: tensor<8xf32>, %out: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %B : tensor<8xf32>
}
func.func @g(%A: tensor<8xf32>, %out: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %B : tensor<8xf32>
}
func.func @h(%A: tensor<8xf32>, %out: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %B : tensor<8xf32>
}
func.func @v(%A: tensor<8xf32>, %out: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %B : tensor<8xf32>
}
func.func @launched(%A: tensor<8xf32>, %out: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %B : tensor<8xf32>
}

// A schedule for a processor stays.
// CHECK: schedule.of @f
// CHECK: schedule.split
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %o, %j = schedule.split %i by 4
}
// Threads are a GPU's.
// CHECK-NOT: schedule.of @g
schedule.of @g {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %o, %j = schedule.split %i by 4
  schedule.bind %j to <threadIdx.x>
}
// The loops stay as they are.
// CHECK-NOT: schedule.of @h
schedule.of @h {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  schedule.compute_root %B
}
// Virtual threads are loops.
// CHECK: schedule.of @v
schedule.of @v {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  schedule.bind %i to <vthread>
}
// CHECK-NOT: schedule.of @launched
schedule.of @launched {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %o, %j = schedule.split %i by 4
} {tilewright.launch = {dependent}}
