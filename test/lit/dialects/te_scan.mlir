// Round trip, and what a scan becomes.
// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s --check-prefix=TE
// RUN: tilewright-opt %s -convert-te-to-linalg | FileCheck %s --check-prefix=LINALG
// RUN: tilewright-opt %s -convert-te-to-linalg | tilewright-opt -o /dev/null
// RUN: tilewright-opt %s -convert-te-to-linalg -apply-schedule | FileCheck %s --check-prefix=LOOPS

// The cumulative sum of each column.
// TE: %S = te.compute "S" scan (%t: 16, %i: 8) {
// TE: %[[P:.*]] = te.previous 0 by 1 : f32

// LINALG-LABEL: func.func @cumsum
// LINALG-SAME: (%[[X:.*]]: tensor<16x8xf32> {{{.*}}}, %[[OUT:.*]]: tensor<16x8xf32> {
// LINALG: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]
// LINALG-SAME: outs(%[[OUT]] : tensor<16x8xf32>) attrs = {te.axes = ["t", "i"], te.scan, te.stage = "S"}
// LINALG: %[[T:.*]] = linalg.index 0
// LINALG-NEXT: %[[I:.*]] = linalg.index 1
// LINALG: } else {
// LINALG: %[[T1:.*]] = affine.apply #{{.*}}()[%[[T]]]
// LINALG: tensor.extract %[[OUT]][%[[T1]], %[[I]]]

// The serial loop stands where the schedule has it, and reads what it wrote.
// LOOPS-LABEL: func.func @cumsum
// LOOPS-SAME: (%[[X:.*]]: memref<16x8xf32> {{{.*}}}, %[[OUT:.*]]: memref<16x8xf32> {
// LOOPS: scf.for %[[I:.*]] = %c0{{.*}} to %c8
// LOOPS: scf.for %[[T:.*]] = %c0{{.*}} to %c16
// LOOPS: %[[T1:.*]] = affine.apply #{{.*}}()[%[[T]]]
// LOOPS: memref.load %[[OUT]][%[[T1]], %[[I]]]
// LOOPS: memref.store %{{.*}}, %[[OUT]][%[[T]], %[[I]]]
// LOOPS: schedule.axis = #schedule.axis<"t" of "S">
// LOOPS: schedule.axis = #schedule.axis<"i" of "S">, schedule.bind = #schedule.thread<threadIdx.x>
func.func @cumsum(%X: tensor<16x8xf32> {te.name = "X"}, %out: tensor<16x8xf32> {te.name = "S", te.output}) -> tensor<16x8xf32> {
  %S = te.compute "S" scan (%t: 16, %i: 8) {
    %x = te.read %X[%t, %i] : tensor<16x8xf32>
    %c1 = arith.constant 1 : index
    %first = arith.cmpi slt, %t, %c1 : index
    %s = scf.if %first -> f32 {
      scf.yield %x : f32
    } else {
      %before = te.previous 0 by 1 : f32
      %sum = arith.addf %before, %x : f32
      scf.yield %sum : f32
    }
    te.yield %s : f32
  } : tensor<16x8xf32>
  return %S : tensor<16x8xf32>
}
schedule.of @cumsum {
  %S = schedule.stage "S"
  %t, %i = schedule.axes %S ["t", "i"] : !schedule.axis, !schedule.axis
  schedule.reorder %i, %t
  schedule.bind %i to <threadIdx.x>
}
