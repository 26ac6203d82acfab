// A scan whose steps read the step before at other places: round trip, and what it becomes.
// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s --check-prefix=TE
// RUN: tilewright-opt %s -convert-te-to-linalg | FileCheck %s --check-prefix=LINALG
// RUN: tilewright-opt %s -convert-te-to-linalg | tilewright-opt -o /dev/null
// RUN: tilewright-opt %s -convert-te-to-linalg -apply-schedule | FileCheck %s --check-prefix=LOOPS

// The powers of a vector times a matrix, and their first elements as a state of another shape, which is no output.
// TE: %S = te.state "S" of "scan" : tensor<9x64xf32>
// TE: %first = te.state "first" of "firsts"(%{{.*}}) : tensor<9x?xf32>

// LINALG-LABEL: func.func @powers
// LINALG-SAME: (%[[W:.*]]: tensor<64x64xf32> {{{.*}}}, %[[N:.*]]: i64 {{{.*}}}, %[[OUT:.*]]: tensor<9x64xf32> {
// LINALG-NOT: te.state "S"
// LINALG: %[[FIRST:.*]] = te.state "first" of "firsts"(%{{.*}}) : tensor<9x?xf32>
// LINALG: linalg.generic {{.*}} ins(%[[W]] : {{.*}} te.stage = "m"
// LINALG: tensor.extract %[[OUT]][
// LINALG: linalg.generic {{.*}} outs(%[[OUT]] : tensor<9x64xf32>) attrs = {te.axes = ["t", "i"], te.scan, te.stage = "scan"}
// LINALG: linalg.generic {{.*}} outs(%[[FIRST]] : tensor<9x?xf32>) attrs = {te.axes = ["t", "j"], te.scan, te.stage = "firsts"}

// All that a step computes stands in the one loop of the steps, the updates last.
// LOOPS-LABEL: func.func @powers
// LOOPS-SAME: %[[OUT:[a-z0-9]+]]: memref<9x64xf32> {
// LOOPS: %[[FIRSTS:.*]] = memref.alloc(%{{.*}}) {te.stage = "firsts"} : memref<9x?xf32>
// LOOPS: scf.for %[[T:.*]] = %c0{{.*}} to %c9
// LOOPS:   %[[M:.*]] = memref.alloc() {te.stage = "m"} : memref<1x64xf32, #gpu.address_space<workgroup>>
// LOOPS:   scf.for
// LOOPS:     schedule.axis = #schedule.axis<"i" of "m">, schedule.bind = #schedule.thread<threadIdx.x>
// LOOPS:   memref.store %{{.*}}, %[[FIRSTS]][%[[T]], %{{.*}}]
// LOOPS:   scf.for %[[I:.*]] = %c0{{.*}} to %c64
// LOOPS:     memref.store %{{.*}}, %[[OUT]][%[[T]], %[[I]]]
// LOOPS:     schedule.axis = #schedule.axis<"i" of "scan">, schedule.bind = #schedule.thread<threadIdx.x>
// LOOPS: } {schedule.axis = #schedule.axis<"t" of "scan">, te.scan}
// LOOPS-NOT: scf.for
func.func @powers(%W: tensor<64x64xf32> {te.name = "W"}, %n: i64 {te.name = "n", te.dtype = i64, te.symbols = ["n"]},
                  %out: tensor<9x64xf32> {te.name = "scan", te.output}) -> tensor<9x64xf32> {
  %N = arith.index_cast %n : i64 to index
  %S = te.state "S" of "scan" : tensor<9x64xf32>
  %first = te.state "first" of "firsts"(%N) : tensor<9x?xf32>
  %m = te.compute "m" (%t: 8, %i: 64) sum (%k: 64) {
    %s = te.read %S[%t, %k] : tensor<9x64xf32>
    %w = te.read %W[%k, %i] : tensor<64x64xf32>
    %p = arith.mulf %s, %w : f32
    te.yield %p : f32
  } : tensor<8x64xf32>
  %scan = te.compute "scan" scan (%t: 9, %i: 64) {
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    %begins = arith.cmpi slt, %t, %c1 : index
    %s = scf.if %begins -> f32 {
      scf.yield %one : f32
    } else {
      %x = te.read %m[%t - 1, %i] : tensor<8x64xf32>
      %y = te.read %first[%t - 1, 0] : tensor<9x?xf32>
      %z = arith.addf %x, %y : f32
      scf.yield %z : f32
    }
    te.yield %s : f32
  } : tensor<9x64xf32>
  %firsts = te.compute "firsts" scan (%t: 9, %j: %N) {
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    %begins = arith.cmpi slt, %t, %c1 : index
    %s = scf.if %begins -> f32 {
      scf.yield %one : f32
    } else {
      %x = te.read %S[%t - 1, 0] : tensor<9x64xf32>
      scf.yield %x : f32
    }
    te.yield %s : f32
  } : tensor<9x?xf32>
  return %scan : tensor<9x64xf32>
}
schedule.of @powers {
  %m = schedule.stage "m"
  %mt, %mi = schedule.axes %m ["t", "i"] : !schedule.axis, !schedule.axis
  schedule.bind %mi to <threadIdx.x>
  %s = schedule.stage "scan"
  %t, %i = schedule.axes %s ["t", "i"] : !schedule.axis, !schedule.axis
  schedule.bind %i to <threadIdx.x>
}
