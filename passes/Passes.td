#ifndef TILEWRIGHT_PASSES
#define TILEWRIGHT_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

//===--- te to linalg -----------------------------------------------------===//

def ConvertTEToLinalg : Pass<"convert-te-to-linalg", "mlir::ModuleOp"> {
  let summary = "Each te.compute becomes a linalg op on tensors";
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect", "mlir::arith::ArithDialect",
                           "mlir::affine::AffineDialect", "mlir::scf::SCFDialect"];
}

#endif
