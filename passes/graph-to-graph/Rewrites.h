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

} // namespace tilewright

#endif
