// RUN: tilewright-opt %s --drop-schedules | FileCheck %s

// CHECK: func.func @f
// CHECK: te.compute "B"
// CHECK-NOT: schedule
func.func @f(%A: tensor<8xf32>, %out: tensor<8xf32> {te.output}) -> tensor<8xf32> {
  %B = te.compute "B" (%i: 8) {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  } : tensor<8xf32>
  return %B : tensor<8xf32>
}
schedule.of @f {
  %B = schedule.stage "B"
  %i = schedule.axes %B ["i"] : !schedule.axis
  %o, %j = schedule.split %i by 4
}
