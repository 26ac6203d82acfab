//===- SinkReshapes.cpp - reshapes move behind what reads them -------------===//
#include "dialects/Graph/Graph.h"
#include "passes/PassSupport.h"
#include "passes/graph-to-graph/Rewrites.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_SINKRESHAPES
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

/// A reshape that splits the rows of a matrix into several dimensions, or null.
graph::ReshapeOp getSplitOfRows(Value value) {
  auto reshape = value.getDefiningOp<graph::ReshapeOp>();
  if (!reshape)
    return nullptr;
  auto from = typeOfTensor(reshape.getX()), to = typeOfTensor(reshape);
  bool isSplit = from.getRank() == 2 && to.getRank() > 2 && from.hasStaticShape() && to.hasStaticShape() &&
                 from.getShape().back() == to.getShape().back() && from.getNumElements() > 0;
  return isSplit ? reshape : nullptr;
}

/// The shape of an operand that is broadcast to `split` when the rows of that are one dimension, `rows`; nothing where
/// it has none.
std::optional<SmallVector<int64_t>> getShapeOfMatrix(ArrayRef<int64_t> shape, ArrayRef<int64_t> split, int64_t rows) {
  if (shape.size() < 2)
    return SmallVector<int64_t>(shape);
  ArrayRef<int64_t> leading = shape.drop_back();
  if (llvm::all_of(leading, [](int64_t extent) { return extent == 1; }))
    return SmallVector<int64_t>{1, shape.back()};
  if (leading == split.drop_back())
    return SmallVector<int64_t>{rows, shape.back()};
  return std::nullopt;
}

struct SinkReshapeBehindElementwise : RewritePattern {
  explicit SinkReshapeBehindElementwise(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isElementwise(op))
      return rewriter.notifyMatchFailure(op, "not elementwise");
    auto result = typeOfTensor(op->getResult(0));
    graph::ReshapeOp split;
    for (Value operand : op->getOperands())
      if (auto found = getSplitOfRows(operand); found && typeOfTensor(found).getShape() == result.getShape())
        split = found;
    if (!split)
      return rewriter.notifyMatchFailure(op, "no operand of the result's shape splits the rows of a matrix");
    ArrayRef<int64_t> matrix = typeOfTensor(split.getX()).getShape();
    SmallVector<SmallVector<int64_t>> shapes;
    for (Value operand : op->getOperands()) {
      auto shape = getShapeOfMatrix(typeOfTensor(operand).getShape(), result.getShape(), matrix.front());
      if (!shape || !typeOfTensor(operand).hasStaticShape())
        return rewriter.notifyMatchFailure(op, "an operand is broadcast along some of the rows");
      shapes.push_back(*shape);
    }
    SmallVector<Value> operands;
    for (auto [operand, shape] : llvm::zip(op->getOperands(), shapes))
      operands.push_back(ArrayRef(shape) == typeOfTensor(operand).getShape() ? operand
                                                                             : reshaped(operand, shape, rewriter));
    Operation *sunk = rewriter.clone(*op);
    sunk->setOperands(operands);
    sunk->getResult(0).setType(RankedTensorType::get(matrix, result.getElementType()));
    rewriter.replaceOp(op, reshaped(sunk->getResult(0), result.getShape(), rewriter));
    return success();
  }
};

template <typename ReduceOp> struct SinkBehindReduction : OpRewritePattern<ReduceOp> {
  using OpRewritePattern<ReduceOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    graph::ReshapeOp split = getSplitOfRows(op.getX());
    if (!split)
      return rewriter.notifyMatchFailure(op, "not of the split rows of a matrix");
    auto axes = op.getAxes();
    auto result = typeOfTensor(op);
    if (axes.size() != 1 || axes.front() != typeOfTensor(split).getRank() - 1)
      return rewriter.notifyMatchFailure(op, "not along the last dimension");
    auto type = RankedTensorType::get({typeOfTensor(split.getX()).getDimSize(0), 1}, result.getElementType());
    Value sunk = ReduceOp::create(rewriter, op.getLoc(), type, split.getX(), ArrayRef<int64_t>{1}, true);
    rewriter.replaceOp(op, reshaped(sunk, result.getShape(), rewriter));
    return success();
  }
};

struct SinkReshapes : impl::SinkReshapesBase<SinkReshapes> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SinkReshapeBehindElementwise, SinkBehindReduction<graph::ReduceSumOp>,
                 SinkBehindReduction<graph::ReduceMaxOp>, SinkBehindReduction<graph::ReduceMinOp>,
                 SinkBehindReduction<graph::ReduceProdOp>>(&getContext());
    graph::ReshapeOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilewright
