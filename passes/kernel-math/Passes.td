#ifndef TILEWRIGHT_KERNEL_MATH_PASSES
#define TILEWRIGHT_KERNEL_MATH_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def ExpandMath : Pass<"expand-math", "mlir::gpu::GPUFuncOp"> {
  let summary = "Exponentials, logarithms, tanh and rsqrt become arithmetic around 2^x and the square root";
  let description = [{
    Libdevice is not linked, so what has no instruction of its own is built from what has. `math.exp`, `math.log` and
    `math.tanh` on f32 stay within 2 units of the last place, `math.log2` and `math.log10` within 3, on scalars and
    vectors; f16 and bf16 are computed in f32. `math.rsqrt` is a square root and a division, of f64 too. Other functions,
    and those of f64, are left for `check-kernel-ops` to refuse.

    ```mlir
    %y = math.exp %x : f32
    ```
    becomes
    ```mlir
    %0 = arith.maximumf %x, %lowest : f32
    %1 = arith.minimumf %0, %highest : f32
    %2 = arith.mulf %1, %log2e : f32
    %n = math.floor %2 : f32
    %3 = arith.negf %n : f32
    %4 = math.fma %1, %log2e, %3 : f32
    %f = math.fma %1, %log2e_low, %4 : f32
    %5 = math.exp2 %f : f32
    %6 = math.exp2 %n : f32
    %y = arith.mulf %5, %6 : f32
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

#endif // TILEWRIGHT_KERNEL_MATH_PASSES
