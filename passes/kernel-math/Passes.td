#ifndef TILEWRIGHT_KERNEL_MATH_PASSES
#define TILEWRIGHT_KERNEL_MATH_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def ExpandMath : Pass<"expand-math"> {
  let summary = "Functions of math become arithmetic";
  let description = [{
    Libdevice is not linked. Functions without an instruction are therefore computed from those that have one: 2^x of
    f32, the square root, rounding and arithmetic. Scalars and vectors of f32 and f64; f16 and bf16 are computed in f32.
    `arith.remf` and `math.ipowi` become loops, lane by lane. A quotient by a constant that is then rounded and limited to
    a type of few bits, as quantisation does, becomes products. It is rounded as the division is, but for the sign of the
    zero that a subnormal number becomes. Integers of up to 16 bits that are rounded and limited as floats become
    the last bits of a sum with 1.5 2^23. A product of x and 1 + erf(c x), as in gelu, has a formula of its own. What is
    no function of te's is left for `check-kernel-ops` to refuse.

    A processor (`on-processor`) has no instruction for 2^x, but others for remainders, quotients and types of 16 bits.
    There the C library would compute one element at a time; arithmetic goes in vectors.

    ```mlir
    %y = math.exp %x : f32
    ```
    becomes
    ```mlir
    %0 = arith.mulf %x, %log2e : f32
    %1 = arith.maximumf %0, %lowest : f32
    %2 = arith.minimumf %1, %highest : f32
    %sum = arith.addf %2, %shift : f32
    %n = arith.subf %sum, %shift : f32
    %3 = arith.negf %n : f32
    %4 = math.fma %x, %log2e, %3 : f32
    %f = math.fma %x, %log2e_low, %4 : f32
    %5 = math.exp2 %f fastmath<afn> : f32
    %6 = arith.bitcast %sum : f32 to i32
    %7 = arith.shli %6, %c23 : i32
    %8 = arith.bitcast %7 : i32 to f32
    %y = arith.mulf %5, %8 : f32
    ```
  }];
  let options = [Option<"onProcessor", "on-processor", "bool", "false",
                        "2^x is arithmetic too, and LLVM has what is no function of real numbers">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect", "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect"];
}

def GuardIntegerOps : Pass<"guard-integer-ops"> {
  let summary = "Divisions, shifts and conversions to integers get a result for every operand";
  let description = [{
    LLVM leaves four results undefined: a division by zero, the least number divided by -1, and a shift by the width or
    more. The fourth is the conversion of a float that the integer type does not have. A processor ends the process at
    the first two. The results here are those of a GPU's instructions, on all targets:

    - the quotient and the remainder by zero have all bits set: -1, or the largest unsigned number;
    - the least number divided by -1 is itself, and leaves 0;
    - a left shift by the width or more, or by a negative number, gives 0, a right shift 0 or, of a negative number, -1;
    - a float beyond an integer type becomes the type's nearest number, and NaN becomes 0. Types of less than 32 bits are
      limited as floats, and converted by way of 32.

    An operand that cannot be one of these (a constant, a maximum with 1) adds nothing. Scalars and vectors.

    ```mlir
    %q = arith.divui %a, %b : i32
    ```
    becomes
    ```mlir
    %divisor = arith.maxui %b, %c1_i32 : i32
    %0 = arith.divui %a, %divisor : i32
    %isZero = arith.cmpi eq, %b, %c0_i32 : i32
    %q = arith.select %isZero, %c-1_i32, %0 : i32
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

#endif // TILEWRIGHT_KERNEL_MATH_PASSES
