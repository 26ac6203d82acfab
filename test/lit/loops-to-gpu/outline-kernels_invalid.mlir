// RUN: tilewright-opt %s --outline-kernels --verify-diagnostics

// expected-note @below {{it is used here}}
func.func private @f_kernels()
// expected-error @below {{expected the name @f_kernels to be free for the kernels of @f}}
func.func @f() {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    gpu.terminator
  }
  return
}
