#ifndef TILEWRIGHT_KERNEL_MATH_PASSES
#define TILEWRIGHT_KERNEL_MATH_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def ExpandMath : Pass<"expand-math"> {
  let summary = "Functions of math become arithmetic";
  let description = [{
    Libdevice is not linked, so what has no instruction of its own is built from what has: 2^x of f32, the square root,
    rounding and arithmetic. Scalars and vectors of f32 and f64; f16 and bf16 are computed in f32. `arith.remf` and
    `math.ipowi` become loops, lane by lane. What is no function of te's is left for `check-kernel-ops` to refuse.

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
  let options = [Option<"onlyBeyondLLVM", "only-beyond-llvm", "bool", "false",
                        "expand only what LLVM has no intrinsic for, for targets that have the C library">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect", "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect"];
}

#endif // TILEWRIGHT_KERNEL_MATH_PASSES
