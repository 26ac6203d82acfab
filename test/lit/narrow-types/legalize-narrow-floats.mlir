// RUN: tilewright-opt %s --legalize-narrow-floats | FileCheck %s --check-prefixes=CHECK,DIRECT
// RUN: tilewright-opt %s --legalize-narrow-floats=f64-through-f32 | FileCheck %s --check-prefixes=CHECK,THROUGH

// The values are tested exhaustively elsewhere; here, what the conversions are made of.

// CHECK-LABEL: func.func @from_e5m2(
// CHECK: %[[BITS:.*]] = arith.bitcast %arg0 : f8E5M2 to i8
// CHECK: %[[WIDE:.*]] = arith.extui %[[BITS]] : i8 to i16
// CHECK: %[[UP:.*]] = arith.shli %[[WIDE]], %{{.*}} : i16
// CHECK: %[[Y:.*]] = arith.bitcast %[[UP]] : i16 to f16
// CHECK: return %[[Y]] : f16
func.func @from_e5m2(%x: f8E5M2) -> f16 {
  %y = arith.extf %x : f8E5M2 to f16
  return %y : f16
}

// Vectors of any shape stay vectors.
// CHECK-LABEL: func.func @from_e4m3_vector(
// CHECK: arith.bitcast %arg0 : vector<16xf8E4M3FN> to vector<16xi8>
// CHECK: arith.mulf %{{.*}} : vector<16xf32>
// CHECK-NOT: f8E4M3FN
// CHECK: return %{{.*}} : vector<16xf32>
func.func @from_e4m3_vector(%x: vector<16xf8E4M3FN>) -> vector<16xf32> {
  %y = arith.extf %x : vector<16xf8E4M3FN> to vector<16xf32>
  return %y : vector<16xf32>
}

// CHECK-LABEL: func.func @to_e4m3(
// CHECK: arith.bitcast %arg0 : f32 to i32
// CHECK-NOT: arith.truncf
// CHECK: %[[BYTE:.*]] = arith.trunci %{{.*}} : i32 to i8
// CHECK: arith.bitcast %[[BYTE]] : i8 to f8E4M3FN
func.func @to_e4m3(%x: f32) -> f8E4M3FN {
  %y = arith.truncf %x : f32 to f8E4M3FN
  return %y : f8E4M3FN
}

// From f64 in two steps, the first of which rounds to odd: the last bit says that it was not exact.
// CHECK-LABEL: func.func @from_f64(
// CHECK: arith.truncf %arg0 : f64 to f32
// CHECK: arith.cmpf one
// CHECK: arith.ori
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @from_f64(%x: f64) -> f8E5M2 {
  %y = arith.truncf %x : f64 to f8E5M2
  return %y : f8E5M2
}

// CHECK-LABEL: func.func @f64_to_f16(
// DIRECT-NEXT: arith.truncf %arg0 : f64 to f16
// THROUGH: arith.truncf %arg0 : f64 to f32
// THROUGH: arith.ori
// THROUGH: arith.truncf %{{.*}} : f32 to f16
func.func @f64_to_f16(%x: f64) -> f16 {
  %y = arith.truncf %x : f64 to f16
  return %y : f16
}

// CHECK-LABEL: func.func @f64_to_bf16(
// DIRECT-NEXT: arith.truncf %arg0 : f64 to bf16
// THROUGH: arith.truncf %arg0 : f64 to f32
// THROUGH: arith.ori
// THROUGH: arith.truncf %{{.*}} : f32 to bf16
func.func @f64_to_bf16(%x: f64) -> bf16 {
  %y = arith.truncf %x : f64 to bf16
  return %y : bf16
}

// Another rounding is not ours.
// CHECK-LABEL: func.func @toward_zero(
// CHECK-NEXT: arith.truncf %arg0 toward_zero : f32 to f8E5M2
func.func @toward_zero(%x: f32) -> f8E5M2 {
  %y = arith.truncf %x toward_zero : f32 to f8E5M2
  return %y : f8E5M2
}
