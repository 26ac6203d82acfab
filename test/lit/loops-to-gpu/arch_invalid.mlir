// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(distribute-fragments{arch=sm_12}))' --verify-diagnostics

// expected-error @below {{expected one of the architectures sm_75, sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, sm_90a, sm_100, sm_100a, sm_100f, sm_103, sm_103a, sm_103f, sm_110, sm_110a, sm_110f, sm_120, sm_120a, sm_120f, got 'sm_12'}}
func.func @f() {
  return
}
