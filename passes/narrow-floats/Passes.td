#ifndef TILEWRIGHT_NARROW_FLOATS_PASSES
#define TILEWRIGHT_NARROW_FLOATS_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def LegalizeNarrowFloats : Pass<"legalize-narrow-floats"> {
  let summary = "Conversions from and to f8E4M3FN and f8E5M2 become integer and f32 arithmetic";
  let description = [{
    Exact, on scalars and vectors: to nearest even, with subnormals and NaN. What is beyond the largest value becomes
    infinity in f8E5M2 and NaN in f8E4M3FN, which has no infinity. Both are storage types: arithmetic on them is to be
    done in f32 first (`arith-emulate-unsupported-floats`).

    ```mlir
    %y = arith.extf %x : f8E5M2 to f16
    ```

    becomes

    ```mlir
    %0 = arith.bitcast %x : f8E5M2 to i8
    %1 = arith.extui %0 : i8 to i16
    %2 = arith.shli %1, %c8_i16 : i16
    %y = arith.bitcast %2 : i16 to f16
    ```
  }];
  let options = [Option<"f64ThroughF32", "f64-through-f32", "bool", "false",
                        "also round from f64 to f16 and bf16 through f32, where the target has no instruction for it">];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

#endif // TILEWRIGHT_NARROW_FLOATS_PASSES
