// RUN: tilewright-opt %s --legalize-narrow-floats | FileCheck %s
// RUN: tilewright-opt %s --legalize-narrow-floats=f64-through-f32 | FileCheck %s --check-prefix=F64

// CHECK-LABEL: func.func @widen
// CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : f8E5M2 to i8
// CHECK: %[[WIDE:.*]] = arith.extui %[[BITS]] : i8 to i16
// CHECK: %[[SHIFTED:.*]] = arith.shli %[[WIDE]], %{{.*}} : i16
// CHECK: arith.bitcast %[[SHIFTED]] : i16 to f16
func.func @widen(%x: f8E5M2) -> f16 {
  %y = arith.extf %x : f8E5M2 to f16
  return %y : f16
}

// CHECK-LABEL: func.func @narrow
// CHECK-NOT: truncf
// CHECK: %[[BYTES:.*]] = arith.trunci %{{.*}} : vector<4xi32> to vector<4xi8>
// CHECK: arith.bitcast %[[BYTES]] : vector<4xi8> to vector<4xf8E4M3FN>
func.func @narrow(%x: vector<4xf32>) -> vector<4xf8E4M3FN> {
  %y = arith.truncf %x : vector<4xf32> to vector<4xf8E4M3FN>
  return %y : vector<4xf8E4M3FN>
}

// The f32 between is rounded to odd, so that the result is rounded once.
// CHECK-LABEL: func.func @from_f64
// CHECK: arith.truncf %{{.*}} : f64 to bf16
// F64-LABEL: func.func @from_f64
// F64: arith.truncf %{{.*}} : f64 to f32
// F64: arith.ori
// F64: arith.truncf %{{.*}} : f32 to bf16
func.func @from_f64(%x: f64) -> bf16 {
  %y = arith.truncf %x : f64 to bf16
  return %y : bf16
}
