// RUN: tilewright-opt %s --verify-diagnostics --legalize-externs

func.func @f(%out: tensor<64xf32>, %c0: index, %c1: index, %c64: index) -> tensor<64xf32> {
  %C = te.extern "C" outs(%c = %out : tensor<64xf32>) {
    // expected-error @below {{te.extern 'C': expected loops for target cpu, got a thread axis, threadIdx.x: use ib.for_range}}
    scf.for %i = %c0 to %c64 step %c1 {
    } {schedule.bind = #schedule.thread<threadIdx.x>}
  }
  return %C : tensor<64xf32>
}
