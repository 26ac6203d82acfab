//===- Rewrites.h - what passes on operators share ------------------------===//
#ifndef TILEWRIGHT_PASSES_GRAPHTOGRAPH_REWRITES_H
#define TILEWRIGHT_PASSES_GRAPHTOGRAPH_REWRITES_H

#include "dialects/Graph/Graph.h"
#include "passes/graph-to-graph/TensorTypes.h"

#include "mlir/IR/PatternMatch.h"

namespace tilewright {

/// The fewest channels that a tile of tensor cores has, and the bytes that a copy of them has.
inline constexpr int64_t kFewestChannels = 16, kCopyBytes = 16;

inline bool areAll(llvm::ArrayRef<int64_t> values, int64_t wanted) {
  return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
}

/// A number, as a tensor of rank 0.
inline mlir::Value scalarOf(mlir::TypedAttr number, mlir::Location loc, mlir::OpBuilder &builder) {
  auto type = mlir::RankedTensorType::get({}, number.getType());
  return graph::ConstantOp::create(builder, loc, type, mlir::DenseElementsAttr::get(type, mlir::Attribute(number)));
}

inline mlir::Value transposed(mlir::Value value, llvm::ArrayRef<int64_t> permutation, mlir::PatternRewriter &rewriter) {
  mlir::RankedTensorType type = typeOfTensor(value);
  auto shape = llvm::map_to_vector(permutation, [&](int64_t d) { return type.getDimSize(d); });
  auto made = mlir::RankedTensorType::get(shape, type.getElementType());
  return graph::TransposeOp::create(rewriter, value.getLoc(), made, value, permutation);
}

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
