// RUN: tilewright-opt %s --pass-pipeline='builtin.module(expand-math,gpu.module(check-kernel-ops))' | FileCheck %s
// RUN: tilewright-opt %s --tilewright-pipeline="from=gpu to=nvvm arch=sm_75" | FileCheck %s --check-prefix=NVVM

// RUN: tilewright-opt %s --expand-math=on-processor | FileCheck %s --check-prefix=CPU

// NVVM-NOT: __nv_
// NVVM: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// NVVM-NOT: __nv_
gpu.module @functions {
  // e^x is 2^n 2^f; n is at most what an exponent can be, and comes to stand as the last bits of a sum.
  // CHECK-LABEL: gpu.func @exp
  // CHECK: %[[X:.*]] = memref.load
  // CHECK: %[[T:.*]] = arith.mulf %[[X]], %{{.*}} : f32
  // CHECK: %[[LOW:.*]] = arith.maximumf %[[T]], %{{.*}} : f32
  // CHECK: %[[N:.*]] = arith.minimumf %[[LOW]], %{{.*}} : f32
  // CHECK: %[[SUM:.*]] = arith.addf %[[N]], %{{.*}} : f32
  // CHECK: math.fma %[[X]]
  // CHECK: %[[F:.*]] = math.fma %[[X]]
  // CHECK: %[[BITS:.*]] = arith.bitcast %[[SUM]] : f32 to i32
  // CHECK: %[[SHIFTED:.*]] = arith.shli %[[BITS]], %{{.*}} : i32
  // CHECK: %[[B:.*]] = arith.bitcast %[[SHIFTED]] : i32 to f32
  // CHECK: %[[A:.*]] = math.exp2 %[[F]] fastmath<afn> : f32
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
  // CHECK: math.exp2 %{{.*}} fastmath<afn> : vector<4xf32>
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
  // CHECK: math.exp2 %{{.*}} fastmath<afn> : f32
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

  // Every function of te; check-kernel-ops has nothing to refuse.
  // CHECK-LABEL: gpu.func @all
  // CHECK-NOT: math.{{[a-z0-9]*(exp|log|sin|cos|tan|erf|pow|is)}}
  // CHECK: gpu.return
  gpu.func @all(%a: memref<4xf64>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<4xf64>
    %0 = math.exp %x : f64
    %1 = math.exp2 %0 : f64
    %2 = math.expm1 %1 : f64
    %3 = math.sinh %2 : f64
    %4 = math.cosh %3 : f64
    %5 = math.tanh %4 : f64
    %6 = math.erf %5 : f64
    %7 = math.log %6 : f64
    %8 = math.log2 %7 : f64
    %9 = math.log10 %8 : f64
    %10 = math.log1p %9 : f64
    %11 = math.asinh %10 : f64
    %12 = math.acosh %11 : f64
    %13 = math.atanh %12 : f64
    %14 = math.sin %13 : f64
    %15 = math.cos %14 : f64
    %16 = math.tan %15 : f64
    %17 = math.asin %16 : f64
    %18 = math.acos %17 : f64
    %19 = math.atan %18 : f64
    %20 = math.atan2 %19, %x : f64
    %21 = math.powf %20, %x : f64
    memref.store %21, %a[%i] : memref<4xf64>
    gpu.return
  }

  // Large numbers take the branch: only there the bits of 2 / pi are looked at.
  // CHECK-LABEL: gpu.func @branch
  // CHECK: %[[LARGE:.*]] = arith.cmpf olt, %{{.*}}, %{{.*}} : vector<2xf32>
  // CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[LARGE]] : vector<2xi1> into i1
  // CHECK: scf.if %[[ANY]] -> (vector<2xf32>, vector<2xf32>, vector<2xi32>)
  // CHECK: arith.mului_extended
  // CHECK: } else {
  gpu.func @branch(%a: memref<2xf32>) kernel {
    %c0 = arith.constant 0 : index
    %x = vector.load %a[%c0] : memref<2xf32>, vector<2xf32>
    %0 = math.sin %x : vector<2xf32>
    vector.store %0, %a[%c0] : memref<2xf32>, vector<2xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @known_powers
  // CHECK: %[[X:.*]] = memref.load
  // CHECK-NEXT: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : f32
  // CHECK-NEXT: memref.store %[[SQUARE]]
  gpu.func @known_powers(%a: memref<4xf32>) kernel {
    %two = arith.constant 2.0 : f32
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<4xf32>
    %y = math.powf %x, %two : f32
    memref.store %y, %a[%i] : memref<4xf32>
    gpu.return
  }

  // Beside 1, what is subnormal is 0 once it is rounded.
  // CHECK-LABEL: gpu.func @power_beside_one
  // CHECK: math.exp2 %{{.*}} fastmath<afn> : f32
  // CHECK: math.exp2 %{{.*}} : f32
  gpu.func @power_beside_one(%a: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    %half = arith.constant 0.5 : f32
    %x = memref.load %a[%c0] : memref<4xf32>
    %y = math.exp2 %x : f32
    %z = arith.addf %y, %one : f32
    memref.store %z, %a[%c0] : memref<4xf32>
    %u = memref.load %a[%c1] : memref<4xf32>
    %v = math.exp2 %u : f32
    %w = arith.addf %v, %half : f32
    memref.store %w, %a[%c1] : memref<4xf32>
    gpu.return
  }

  // Where only sums with 1 are taken, what is lost of small numbers does not count: there is one formula for all.
  // CHECK-LABEL: gpu.func @erf_beside_one
  // CHECK-NOT: arith.cmpf
  // CHECK: math.exp2
  // CHECK-NOT: arith.cmpf
  // CHECK: gpu.return
  gpu.func @erf_beside_one(%a: memref<4xf32>) kernel {
    %one = arith.constant 1.0 : f32
    %two = arith.constant -2.0 : f32
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<4xf32>
    %y = math.erf %x : f32
    %sum = arith.addf %one, %y : f32
    %difference = arith.subf %y, %two : f32
    memref.store %sum, %a[%i] : memref<4xf32>
    memref.store %difference, %a[%i] : memref<4xf32>
    gpu.return
  }

  // gelu, with the factor 1/2 before or behind: neither 1 - power nor the sign of erf is needed.
  // CHECK-LABEL: gpu.func @product_with_erf
  // CHECK-SAME: %[[A:.*]]: memref
  // CHECK: %[[X:.*]] = memref.load %[[A]]
  // CHECK: %[[Z:.*]] = arith.mulf %[[X]], %cst{{.*}} : f32
  // CHECK: %[[ABS:.*]] = math.absf %[[Z]] : f32
  // CHECK: %[[NEAR:.*]] = arith.minimumf %[[ABS]], %{{.*}} : f32
  // CHECK-NOT: math.copysign
  // CHECK: %[[POWER:.*]] = math.exp2 %{{.*}} fastmath<afn> : f32
  // CHECK: %[[POSITIVE:.*]] = arith.maximumf %[[X]], %{{.*}} : f32
  // CHECK: %[[MINUS:.*]] = arith.negf %[[NEAR]] : f32
  // CHECK: %[[GELU:.*]] = math.fma %[[MINUS]], %[[POWER]], %[[POSITIVE]] : f32
  // CHECK: memref.store %[[GELU]]
  // CHECK-NOT: math.copysign
  // CHECK: memref.store
  // Of other numbers than what erf is of.
  // CHECK: math.copysign
  // CHECK: gpu.return
  gpu.func @product_with_erf(%a: memref<4xf32>, %other: f32) kernel {
    %one = arith.constant 1.0 : f32
    %half = arith.constant 0.5 : f32
    %slope = arith.constant 0.707106769 : f32
    %root = arith.constant 1.41421354 : f32
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<4xf32>
    %z = arith.mulf %x, %slope : f32
    %erf = math.erf %z : f32
    %sum = arith.addf %erf, %one : f32
    %xHalf = arith.mulf %x, %half : f32
    %y = arith.mulf %xHalf, %sum : f32
    memref.store %y, %a[%i] : memref<4xf32>
    %z1 = arith.divf %x, %root : f32
    %erf1 = math.erf %z1 : f32
    %sum1 = arith.addf %one, %erf1 : f32
    %x1 = arith.mulf %sum1, %x : f32
    %y1 = arith.mulf %x1, %half : f32
    memref.store %y1, %a[%i] : memref<4xf32>
    %erf2 = math.erf %z : f32
    %sum2 = arith.addf %erf2, %one : f32
    %y2 = arith.mulf %other, %sum2 : f32
    memref.store %y2, %a[%i] : memref<4xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @erf_beside_less
  // CHECK: arith.cmpf
  // CHECK: gpu.return
  gpu.func @erf_beside_less(%a: memref<4xf32>) kernel {
    %half = arith.constant 0.5 : f32
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<4xf32>
    %y = math.erf %x : f32
    %sum = arith.addf %y, %half : f32
    memref.store %sum, %a[%i] : memref<4xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @loops
  // CHECK-COUNT-2: arith.remui
  // CHECK: %[[POWER:.*]]:3 = scf.while
  // CHECK: memref.store %[[POWER]]#0
  gpu.func @loops(%a: memref<4xf32>, %b: memref<4xi32>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<4xf32>
    %0 = arith.remf %x, %x : f32
    memref.store %0, %a[%i] : memref<4xf32>
    %y = memref.load %b[%i] : memref<4xi32>
    %1 = math.ipowi %y, %y : i32
    memref.store %1, %b[%i] : memref<4xi32>
    gpu.return
  }
}

// A quotient by a constant that is rounded and limited: the operand is limited first, and rounded by a sum.
// CHECK-LABEL: func.func @quantize(
// CHECK-SAME: %[[X:[a-z0-9]*]]: f32, %{{.*}}: f32
func.func @quantize(%x: f32, %y: f32) -> (i8, f8E4M3FN, i8) {
  %scale = arith.constant 2.000000e-01 : f32
  %zero = arith.constant 3.000000e+00 : f32
  %least = arith.constant -1.280000e+02 : f32
  %most = arith.constant 1.270000e+02 : f32
  // CHECK: %[[LOW:.*]] = arith.maximumf %[[X]], %cst{{.*}} : f32
  // CHECK: %[[Z:.*]] = arith.minimumf %[[LOW]], %cst{{.*}} : f32
  // CHECK: %[[Q:.*]] = arith.mulf %[[Z]], %[[INVERSE:.*]] : f32
  // CHECK: %[[MINUS:.*]] = arith.negf %[[Q]] : f32
  // CHECK: %[[REST:.*]] = math.fma %[[MINUS]], %{{.*}}, %[[Z]] : f32
  // CHECK: %[[EXACT:.*]] = math.fma %[[REST]], %[[INVERSE]], %[[Q]] : f32
  // CHECK: %[[SUM:.*]] = arith.addf %[[EXACT]], %{{.*}} : f32
  // CHECK: %[[BITS:.*]] = arith.bitcast %[[SUM]] : f32 to i32
  // CHECK: %[[ODD:.*]] = arith.subi %[[BITS]], %c1_i32
  // CHECK: %[[KNOWN:.*]] = arith.minui %[[ODD]], %c1262551040_i32
  // CHECK: arith.trunci %[[KNOWN]] : i32 to i8
  %0 = arith.divf %x, %scale : f32
  %1 = math.roundeven %0 : f32
  %2 = arith.addf %1, %zero : f32
  %3 = arith.maximumf %2, %least : f32
  %4 = arith.minimumf %3, %most : f32
  %5 = arith.fptosi %4 : f32 to i8
  // CHECK: math.fma
  // CHECK: math.fma
  %6 = arith.divf %y, %scale : f32
  %7 = arith.minimumf %6, %most : f32
  %8 = arith.maximumf %7, %least : f32
  %9 = arith.truncf %8 : f32 to f8E4M3FN
  // Without a limit, and used elsewhere.
  // CHECK: arith.divf
  %10 = arith.divf %y, %scale : f32
  %11 = arith.minimumf %10, %most : f32
  %12 = arith.fptosi %11 : f32 to i8
  return %5, %9, %12 : i8, f8E4M3FN, i8
}

// Without a division. What is limited again, is not an integer, or is beyond the type is converted as before.
// CHECK-LABEL: func.func @rounded(
// CHECK-SAME: %[[X:[a-z0-9]*]]: vector<4xf32>
func.func @rounded(%x: vector<4xf32>) -> (vector<4xi8>, vector<4xi8>, vector<4xi8>) {
  %least = arith.constant dense<0.000000e+00> : vector<4xf32>
  %most = arith.constant dense<2.550000e+02> : vector<4xf32>
  %half = arith.constant dense<2.500000e+00> : vector<4xf32>
  // CHECK: %[[LOW:.*]] = arith.maximumf %[[X]], %{{.*}} : vector<4xf32>
  // CHECK: %[[Z:.*]] = arith.minimumf %[[LOW]], %{{.*}} : vector<4xf32>
  // CHECK: arith.addf %[[Z]], %{{.*}} : vector<4xf32>
  // CHECK: arith.trunci %{{.*}} : vector<4xi32> to vector<4xi8>
  %0 = math.roundeven %x : vector<4xf32>
  %1 = arith.maximumf %0, %least : vector<4xf32>
  %2 = arith.minimumf %1, %most : vector<4xf32>
  %3 = arith.fptoui %2 : vector<4xf32> to vector<4xi8>
  // CHECK: arith.fptosi
  %4 = math.roundeven %x : vector<4xf32>
  %5 = arith.maximumf %4, %least : vector<4xf32>
  %6 = arith.minimumf %5, %most : vector<4xf32>
  %7 = arith.fptosi %6 : vector<4xf32> to vector<4xi8>
  // CHECK: arith.fptoui
  %8 = math.roundeven %x : vector<4xf32>
  %9 = arith.addf %8, %half : vector<4xf32>
  %10 = arith.maximumf %9, %least : vector<4xf32>
  %11 = arith.minimumf %10, %most : vector<4xf32>
  %12 = arith.fptoui %11 : vector<4xf32> to vector<4xi8>
  return %3, %7, %12 : vector<4xi8>, vector<4xi8>, vector<4xi8>
}

// CHECK-LABEL: func.func @not_only_quantized(
// CHECK: arith.divf
func.func @not_only_quantized(%x: f32) -> (i8, f32) {
  %scale = arith.constant 2.000000e-01 : f32
  %least = arith.constant -1.280000e+02 : f32
  %most = arith.constant 1.270000e+02 : f32
  %0 = arith.divf %x, %scale : f32
  %1 = arith.maximumf %0, %least : f32
  %2 = arith.minimumf %1, %most : f32
  %3 = arith.fptosi %2 : f32 to i8
  return %3, %2 : i8, f32
}

// A processor has no instruction for 2^x. The steps of polynomials may be contracted.
// CPU-LABEL: func.func @on_processor(
// CPU-SAME: %[[X:[a-z0-9]*]]: vector<4xf32>
// CPU-NOT: math.exp
// CPU: math.fma {{.*}} : vector<4xf32>
// CPU: %[[M:.*]] = arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : vector<4xf32>
// CPU-NEXT: arith.addf %[[M]], %{{.*}} fastmath<contract> : vector<4xf32>
// CPU: arith.bitcast %{{.*}} : vector<4xi32> to vector<4xf32>
// CPU: %[[E:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<4xf32>
// CPU-NOT: math.{{(exp2|sin|powf|tanh|log)}}
// CPU: arith.remf
// CPU-NOT: math.{{(exp2|sin|powf|tanh|log)}}
// CPU: return
func.func @on_processor(%x: vector<4xf32>, %y: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>) {
  %0 = math.exp %x : vector<4xf32>
  %1 = math.exp2 %0 : vector<4xf32>
  %2 = math.sin %1 : vector<4xf32>
  %3 = math.powf %2, %y : vector<4xf32>
  %4 = math.tanh %3 : vector<4xf32>
  %5 = math.log %4 : vector<4xf32>
  %6 = arith.remf %5, %y : vector<4xf32>
  %7 = math.exp2 %y : vector<4xf32>
  return %6, %7 : vector<4xf32>, vector<4xf32>
}

// CPU-LABEL: func.func @conditions(
// CPU-NOT: math.erf
// CPU-NOT: math.isinf
func.func @conditions(%x: f32) -> i1 {
  %0 = math.erf %x : f32
  %1 = math.isinf %0 : f32
  return %1 : i1
}
