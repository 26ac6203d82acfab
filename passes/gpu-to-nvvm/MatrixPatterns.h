//===- MatrixPatterns.h - matmuls of warps as NVVM has them ----------------===//
#ifndef TILEWRIGHT_PASSES_GPUTONVVM_MATRIXPATTERNS_H
#define TILEWRIGHT_PASSES_GPUTONVVM_MATRIXPATTERNS_H

#include "dialects/Program/Program.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/PatternMatch.h"

namespace tilewright {

/// `nvgpu.mma.sync` of all types, and `nvgpu.ldmatrix` of 8-bit floats. Upstream knows none of these and of bf16, and
/// lets sums of integers saturate.
void populateMatrixPatterns(const mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns,
                            mlir::PatternBenefit benefit);

} // namespace tilewright

#endif
