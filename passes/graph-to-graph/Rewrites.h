//===- Rewrites.h - what passes on operators share ------------------------===//
#ifndef TILEWRIGHT_PASSES_GRAPHTOGRAPH_REWRITES_H
#define TILEWRIGHT_PASSES_GRAPHTOGRAPH_REWRITES_H

#include "dialects/Graph/Graph.h"
#include "passes/graph-to-graph/TensorTypes.h"

#include "mlir/IR/PatternMatch.h"

namespace tilewright {

inline mlir::Value reshaped(mlir::Value value, llvm::ArrayRef<int64_t> shape, mlir::PatternRewriter &rewriter) {
  auto type = mlir::RankedTensorType::get(shape, typeOfTensor(value).getElementType());
  return graph::ReshapeOp::create(rewriter, value.getLoc(), type, value, rewriter.getI64ArrayAttr(shape));
}

/// Whether each element of the result is made of the elements at the same place of its operands, which are broadcast.
/// Quantisation with one scale is such an operator.
inline bool isElementwise(mlir::Operation *op) {
  auto isOfOneScale = [](auto quantization) {
    auto isOne = [](mlir::Value value) {
      return typeOfTensor(value).hasStaticShape() && typeOfTensor(value).getNumElements() == 1;
    };
    return isOne(quantization.getScale()) && isOne(quantization.getZero());
  };
  if (auto quantize = llvm::dyn_cast<graph::QuantizeOp>(op))
    return isOfOneScale(quantize);
  if (auto dequantize = llvm::dyn_cast<graph::DequantizeOp>(op))
    return isOfOneScale(dequantize);
  return op->hasTrait<graph::BroadcastElementwise>();
}

} // namespace tilewright

#endif
