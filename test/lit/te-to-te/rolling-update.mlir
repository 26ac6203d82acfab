// RUN: tilewright-opt %s --rewrite-scheduled-dataflow --split-input-file | FileCheck %s

// The sum of exponentials follows the maximum: one reduction of pairs, whose repair is exp(m0 - m). What reads the maximum
// reads the second result, and the maximum's own stage is gone.
// CHECK-LABEL: func.func @softmax
// CHECK-NOT:   te.compute "M"
// CHECK:       %[[L:.+]]:2 = te.compute "L" (%i: 8) reduce (%j: 64) {
// CHECK:         %[[X:.+]] = te.read %arg0[%i, %j]
// CHECK-NOT:     math.exp
// CHECK:         %[[MASKED:.+]] = arith.cmpf oeq, %[[X]], %{{.+}}
// CHECK:         %[[ONE:.+]] = arith.select %[[MASKED]], %{{.+}}, %{{.+}}
// CHECK:         te.yield %[[ONE]], %[[X]] : f32, f32
// CHECK:       } combine (%[[A:.+]]: f32, %[[MA:.+]]: f32, %[[B:.+]]: f32, %[[MB:.+]]: f32) identity [0.0{{.*}} : f32, 0xFF800000 : f32] {
// CHECK:         %[[M:.+]] = arith.maximumf %[[MA]], %[[MB]]
// CHECK:         arith.subf %{{.+}}, %{{.+}}
// CHECK:         math.exp
// CHECK:         te.yield %{{.+}}, %[[M]] : f32, f32
// CHECK:       te.compute "P"
// CHECK:         te.read %[[L]]#1[%i]
// CHECK:         te.read %[[L]]#0[%i]
// CHECK-LABEL: schedule.of @softmax
// CHECK-NOT:     schedule.stage "M"
// CHECK-NOT:     schedule.rolling_update
func.func @softmax(%S: tensor<8x64xf32> {te.name = "S"}, %out: tensor<8x64xf32> {te.name = "P", te.output}) -> tensor<8x64xf32> {
  %M = te.compute "M" (%i: 8) max (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    te.yield %s : f32
  } : tensor<8xf32>
  %L = te.compute "L" (%i: 8) sum (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    %m = te.read %M[%i] : tensor<8xf32>
    %d = arith.subf %s, %m : f32
    %e = math.exp %d : f32
    te.yield %e : f32
  } : tensor<8xf32>
  %P = te.compute "P" (%i: 8, %j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    %m = te.read %M[%i] : tensor<8xf32>
    %l = te.read %L[%i] : tensor<8xf32>
    %d = arith.subf %s, %m : f32
    %e = math.exp %d : f32
    %p = arith.divf %e, %l : f32
    te.yield %p : f32
  } : tensor<8x64xf32>
  return %P : tensor<8x64xf32>
}
schedule.of @softmax {
  %M = schedule.stage "M"
  %L = schedule.stage "L"
  %i = schedule.axes %L ["i"] : !schedule.axis
  %j = schedule.reduce_axes %L ["j"] : !schedule.axis
  schedule.rolling_update %j of %M
}

// -----

// A stage with more axes than the maximum's: a factor beside the exponential stays in the element, the maximum stays for
// its other readers.
// CHECK-LABEL: func.func @values
// CHECK:       te.compute "M"
// CHECK:       %[[O:.+]]:2 = te.compute "O" (%i: 8, %d: 16) reduce (%j: 64) {
// CHECK:         te.read %arg1[%j, %d]
// CHECK:       return %[[O]]#0, %{{.+}}
func.func @values(%S: tensor<8x64xf32> {te.name = "S"}, %V: tensor<64x16xf32> {te.name = "V"},
                  %out: tensor<8x16xf32> {te.name = "O", te.output}, %max: tensor<8xf32> {te.name = "M", te.output})
    -> (tensor<8x16xf32>, tensor<8xf32>) {
  %M = te.compute "M" (%i: 8) max (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    te.yield %s : f32
  } : tensor<8xf32>
  %O = te.compute "O" (%i: 8, %d: 16) sum (%j: 64) {
    %s = te.read %S[%i, %j] : tensor<8x64xf32>
    %m = te.read %M[%i] : tensor<8xf32>
    %v = te.read %V[%j, %d] : tensor<64x16xf32>
    %difference = arith.subf %s, %m : f32
    %e = math.exp2 %difference : f32
    %p = arith.mulf %e, %v : f32
    te.yield %p : f32
  } : tensor<8x16xf32>
  return %O, %M : tensor<8x16xf32>, tensor<8xf32>
}
schedule.of @values {
  %M = schedule.stage "M"
  %O = schedule.stage "O"
  %j = schedule.reduce_axes %O ["j"] : !schedule.axis
  schedule.rolling_update %j of %M
}
