// RUN: tilewright-opt %s --keep-narrow-rounding | FileCheck %s

// The extension does not undo the truncation before it: both keep what they are given without fast-math.
// CHECK-LABEL: func.func @f(
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.extf %{{.*}} : bf16 to f32
// What is no conversion keeps its flags.
// CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<contract> : f32
func.func @f(%x: f32) -> f32 {
  %narrow = arith.truncf %x fastmath<contract> : f32 to bf16
  %wide = arith.extf %narrow fastmath<contract> : bf16 to f32
  %sum = arith.addf %wide, %x fastmath<contract> : f32
  return %sum : f32
}
