//===- ChannelsLast.cpp - convolutions become matmuls of rows of pixels ----===//
#include "dialects/Graph/Graph.h"
#include "passes/PassSupport.h"
#include "passes/graph-to-graph/Rewrites.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_CHANNELSLAST
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

/// The fewest channels that a tile of tensor cores has, and what their number is a multiple of, for copies of 16 bytes.
constexpr int64_t kFewestChannels = 16, kGranule = 8;

constexpr std::array<int64_t, 4> kToLast = {0, 2, 3, 1}, kToFirst = {0, 3, 1, 2};

Value transposed(Value value, ArrayRef<int64_t> permutation, PatternRewriter &rewriter) {
  RankedTensorType type = typeOfTensor(value);
  auto shape = llvm::map_to_vector(permutation, [&](int64_t d) { return type.getDimSize(d); });
  auto made = RankedTensorType::get(shape, type.getElementType());
  return graph::TransposeOp::create(rewriter, value.getLoc(), made, value, permutation);
}

/// Whether tensor cores multiply its filters and windows in whole copies.
bool isForTensorCores(graph::ConvOp op) {
  RankedTensorType x = typeOfTensor(op.getX()), w = typeOfTensor(op.getW());
  Type element = x.getElementType();
  auto fits = [](int64_t channels) { return channels >= kFewestChannels && channels % kGranule == 0; };
  return x.getRank() == 4 && x.hasStaticShape() && w.hasStaticShape() && x.getNumElements() > 0 &&
         (element.isF16() || element.isBF16()) && op.getGroups() == 1 && fits(w.getDimSize(0)) && fits(w.getDimSize(1));
}

bool isPointwise(graph::ConvOp op) {
  auto are = [](ArrayRef<int64_t> values, int64_t wanted) {
    return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
  };
  return are(typeOfTensor(op.getW()).getShape().drop_front(2), 1) && are(op.getStrides(), 1) &&
         are(op.getBefore(), 0) && are(op.getAfter(), 0);
}

struct ConvolutionOfRows : OpRewritePattern<graph::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ConvOp op, PatternRewriter &rewriter) const override {
    if (!isForTensorCores(op))
      return rewriter.notifyMatchFailure(op, "no tiles of tensor cores");
    Location loc = op.getLoc();
    Type element = typeOfTensor(op.getX()).getElementType();
    RankedTensorType result = typeOfTensor(op);
    ArrayRef<int64_t> filter = typeOfTensor(op.getW()).getShape();
    int64_t batch = result.getDimSize(0), outputs = filter[0], inputs = filter[1];
    int64_t height = result.getDimSize(2), width = result.getDimSize(3);
    int64_t rows = batch * height * width, columns = filter[2] * filter[3] * inputs;

    Value windows = transposed(op.getX(), kToLast, rewriter);
    if (isPointwise(op))
      windows = reshaped(windows, {rows, columns}, rewriter);
    else
      windows = graph::WindowsOp::create(rewriter, loc, RankedTensorType::get({rows, columns}, element), windows,
                                         filter.drop_front(2), op.getStrides(), op.getBefore(), op.getAfter(),
                                         op.getDilations());
    Value filters = op.getW();
    if (columns != inputs)
      filters = transposed(filters, kToLast, rewriter);
    filters = transposed(reshaped(filters, {outputs, columns}, rewriter), {1, 0}, rewriter);
    Value product =
        graph::MatmulOp::create(rewriter, loc, RankedTensorType::get({rows, outputs}, result.getElementType()), windows,
                                filters, op.getAccAttr(), op.getToAttr());
    Value images = reshaped(product, {batch, height, width, outputs}, rewriter);
    rewriter.replaceOp(op, transposed(images, kToFirst, rewriter));
    return success();
  }
};

/// The transpose that puts channels first, or null.
graph::TransposeOp getToFirst(Value value) {
  auto transpose = value.getDefiningOp<graph::TransposeOp>();
  return transpose && transpose.getPermutation() == ArrayRef<int64_t>(kToFirst) ? transpose : nullptr;
}

struct SinkTransposeBehindElementwise : RewritePattern {
  explicit SinkTransposeBehindElementwise(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!op->hasTrait<graph::BroadcastElementwise>())
      return rewriter.notifyMatchFailure(op, "not elementwise");
    RankedTensorType result = typeOfTensor(op->getResult(0));
    bool isOfImages = llvm::any_of(op->getOperands(), [&](Value operand) {
      return getToFirst(operand) && typeOfTensor(operand).getShape() == result.getShape();
    });
    bool isStatic =
        llvm::all_of(op->getOperands(), [](Value operand) { return typeOfTensor(operand).hasStaticShape(); });
    if (!isOfImages || !isStatic)
      return rewriter.notifyMatchFailure(op, "no operand of the result's shape has its channels moved to the front");
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      RankedTensorType type = typeOfTensor(operand);
      if (type.getNumElements() > 1 || type.getRank() == 4) {
        SmallVector<int64_t> shape(4 - type.getRank(), 1);
        llvm::append_range(shape, type.getShape());
        operand = type.getRank() == 4 ? operand : reshaped(operand, shape, rewriter);
        operand = transposed(operand, kToLast, rewriter);
      }
      operands.push_back(operand);
    }
    Operation *sunk = rewriter.clone(*op);
    sunk->setOperands(operands);
    auto shape = llvm::map_to_vector(kToLast, [&](int64_t d) { return result.getDimSize(d); });
    sunk->getResult(0).setType(RankedTensorType::get(shape, result.getElementType()));
    rewriter.replaceOp(op, transposed(sunk->getResult(0), kToFirst, rewriter));
    return success();
  }
};

/// A reduction of all pixels, as of the mean at the end of a network.
struct SinkBehindSum : OpRewritePattern<graph::ReduceSumOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ReduceSumOp op, PatternRewriter &rewriter) const override {
    graph::TransposeOp transpose = getToFirst(op.getX());
    SmallVector<int64_t> axes(op.getAxes());
    llvm::sort(axes);
    if (!transpose || axes != ArrayRef<int64_t>{2, 3})
      return rewriter.notifyMatchFailure(op, "not of the pixels of images whose channels are moved to the front");
    RankedTensorType result = typeOfTensor(op);
    RankedTensorType type = result;
    if (op.getKeepdims())
      type = RankedTensorType::get({result.getDimSize(0), 1, 1, result.getDimSize(1)}, result.getElementType());
    Value sum = graph::ReduceSumOp::create(rewriter, op.getLoc(), type, transpose.getX(), ArrayRef<int64_t>{1, 2},
                                           op.getKeepdims());
    rewriter.replaceOp(op, op.getKeepdims() ? transposed(sum, kToFirst, rewriter) : sum);
    return success();
  }
};

struct ChannelsLast : impl::ChannelsLastBase<ChannelsLast> {
  void runOnOperation() override {
    // A convolution of each channel by itself reads images as they come.
    bool isGrouped = false;
    getOperation().walk([&](graph::ConvOp op) { isGrouped |= op.getGroups() != 1; });
    if (isGrouped)
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvolutionOfRows, SinkTransposeBehindElementwise, SinkBehindSum>(&getContext());
    graph::TransposeOp::getCanonicalizationPatterns(patterns, &getContext());
    graph::ReshapeOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    // What several convolutions read is transposed once.
    DominanceInfo dominance(getOperation());
    IRRewriter rewriter(&getContext());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }
};

} // namespace
} // namespace tilewright
