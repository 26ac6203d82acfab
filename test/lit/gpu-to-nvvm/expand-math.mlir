// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(expand-math),check-kernel-ops))' | FileCheck %s
// RUN: tilewright-opt %s --tilewright-pipeline="from=gpu to=nvvm arch=sm_75" | FileCheck %s --check-prefix=NVVM

// NVVM-NOT: __nv_
// NVVM: llvm.intr.exp2
// NVVM-NOT: __nv_
gpu.module @functions {
  // e^x is 2^n 2^f; the bounds keep f a number where x is infinite.
  // CHECK-LABEL: gpu.func @exp
  // CHECK: %[[LOW:.*]] = arith.maximumf %{{.*}}, %{{.*}} : f32
  // CHECK: %[[X:.*]] = arith.minimumf %[[LOW]], %{{.*}} : f32
  // CHECK: %[[T:.*]] = arith.mulf %[[X]], %{{.*}} : f32
  // CHECK: %[[N:.*]] = math.floor %[[T]] : f32
  // CHECK: math.fma %[[X]]
  // CHECK: %[[F:.*]] = math.fma %[[X]]
  // CHECK-DAG: %[[A:.*]] = math.exp2 %[[F]] : f32
  // CHECK-DAG: %[[B:.*]] = math.exp2 %[[N]] : f32
  // CHECK: %[[Y:.*]] = arith.mulf %[[A]], %[[B]] : f32
  // CHECK: memref.store %[[Y]]
  gpu.func @exp(%a: memref<4xf32>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<4xf32>
    %y = math.exp %x : f32
    memref.store %y, %a[%i] : memref<4xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @vectors
  // CHECK: math.exp2 %{{.*}} : vector<4xf32>
  // CHECK-NOT: math.{{exp |log|tanh}}
  gpu.func @vectors(%a: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %x = vector.load %a[%c0] : memref<4xf32>, vector<4xf32>
    %0 = math.exp %x : vector<4xf32>
    %1 = math.log %0 : vector<4xf32>
    %2 = math.tanh %1 : vector<4xf32>
    vector.store %2, %a[%c0] : memref<4xf32>, vector<4xf32>
    gpu.return
  }

  // Types of 16 bits go through f32.
  // CHECK-LABEL: gpu.func @narrow
  // CHECK: arith.extf %{{.*}} : f16 to f32
  // CHECK: math.exp2 %{{.*}} : f32
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  // CHECK: arith.extf %{{.*}} : bf16 to f32
  // CHECK-NOT: math.log
  // CHECK: arith.truncf %{{.*}} : f32 to bf16
  gpu.func @narrow(%a: memref<4xf16>, %b: memref<4xbf16>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<4xf16>
    %0 = math.exp %x : f16
    memref.store %0, %a[%i] : memref<4xf16>
    %y = memref.load %b[%i] : memref<4xbf16>
    %1 = math.log %y : bf16
    memref.store %1, %b[%i] : memref<4xbf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @others
  // CHECK-NOT: math.{{log|tanh|rsqrt}}
  // CHECK: math.sqrt %{{.*}} : f64
  // CHECK: arith.divf %{{.*}} : f64
  gpu.func @others(%a: memref<4xf32>, %b: memref<4xf64>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<4xf32>
    %0 = math.log2 %x : f32
    %1 = math.log10 %0 : f32
    %2 = math.tanh %1 : f32
    %3 = math.rsqrt %2 : f32
    memref.store %3, %a[%i] : memref<4xf32>
    %z = memref.load %b[%i] : memref<4xf64>
    %4 = math.rsqrt %z : f64
    memref.store %4, %b[%i] : memref<4xf64>
    gpu.return
  }
}
