// RUN: tilewright-opt %s --tilewright-pipeline="from=loops to=gpu arch=sm_90a" --split-input-file --verify-diagnostics

#map = affine_map<()[s0] -> (s0 - 1)>
func.func @f(%arg0: memref<8xf32> {te.name = "X"}, %arg1: memref<8xf32> {te.name = "S", te.output}) {
  %c8 = arith.constant 8 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %alloc = memref.alloc() {te.stage = "init"} : memref<1xf32>
  scf.for %arg2 = %c0 to %c1 step %c1 {
    %0 = memref.load %arg0[%c0] : memref<8xf32>
  } {schedule.bind = #schedule.thread<blockIdx.x>}
  // expected-error @below {{stage 'S' is not bound to any block or thread: it is a scan without another axis, so give its tensors one, for which extent 1 is enough, and bind that}}
  scf.for %arg2 = %c0 to %c8 step %c1 {
    %0 = arith.cmpi slt, %arg2, %c1 : index
    %1 = scf.if %0 -> (f32) {
      %2 = memref.load %alloc[%c0] : memref<1xf32>
      scf.yield %2 : f32
    } else {
      %2 = affine.apply #map()[%arg2]
      %3 = memref.load %arg1[%2] : memref<8xf32>
      %4 = memref.load %arg0[%arg2] : memref<8xf32>
      %5 = arith.addf %3, %4 : f32
      scf.yield %5 : f32
    }
  } {schedule.axis = #schedule.axis<"t" of "S">, te.scan}
  return
}
