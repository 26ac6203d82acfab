//===- ChannelsLast.cpp - convolutions become matmuls of rows of pixels ----===//
#include "dialects/Graph/Graph.h"
#include "passes/graph-to-graph/ConvolutionGradients.h"
#include "passes/graph-to-graph/Passes.h"
#include "passes/graph-to-graph/Rewrites.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_CHANNELSLAST
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

constexpr std::array<int64_t, 4> kToLast = {0, 2, 3, 1}, kToFirst = {0, 3, 1, 2};

/// What convolutions become matmuls: those of tensor cores, with images of few channels or not, or those of float32.
enum class Kind { kCores, kCoresAndPatches, kFloats };

/// Whether it has patches of images with fewer channels than a copy of 16 bytes has, which a copy of the images pads.
bool isOfPatches(graph::ConvOp op) {
  RankedTensorType w = typeOfTensor(op.getW());
  Type element = w.getElementType();
  return (element.isF16() || element.isBF16()) && w.getDimSize(0) >= kFewestChannels &&
         w.getDimSize(0) % kFewestChannels == 0 && w.getDimSize(1) < kCopyBytes / getElementBytes(element) &&
         w.getDimSize(2) * w.getDimSize(3) > 1 && llvm::all_of(op.getDilations(), [](int64_t d) { return d == 1; });
}

/// Whether tensor cores multiply its filters and windows in whole copies; of floats, whether vectors have its results.
bool isWorthIt(graph::ConvOp op, Kind kind) {
  RankedTensorType x = typeOfTensor(op.getX()), w = typeOfTensor(op.getW());
  if (x.getRank() != 4 || !x.hasStaticShape() || !w.hasStaticShape() || x.getNumElements() == 0 || op.getGroups() != 1)
    return false;
  Type element = x.getElementType();
  if (kind == Kind::kFloats)
    return element.isF32() && w.getElementType() == element && w.getDimSize(0) >= kFewestChannels &&
           w.getNumElements() > 0;
  int64_t granule = kCopyBytes / getElementBytes(element);
  auto fits = [&](int64_t channels) { return channels >= kFewestChannels && channels % granule == 0; };
  bool isOfCores = element.isF16() || element.isBF16() || element.isInteger(8) || isa<Float8E4M3FNType>(element) ||
                   (element.isF32() && op.getAcc() == "tf32");
  if (!isOfCores || w.getElementType() != element || w.getNumElements() == 0)
    return false;
  return (fits(w.getDimSize(0)) && fits(w.getDimSize(1))) || (kind == Kind::kCoresAndPatches && isOfPatches(op));
}

bool isPointwise(graph::ConvOp op) {
  return areAll(typeOfTensor(op.getW()).getShape().drop_front(2), 1) && areAll(op.getStrides(), 1) &&
         areAll(op.getBefore(), 0) && areAll(op.getAfter(), 0);
}

struct ConvolutionOfRows : OpRewritePattern<graph::ConvOp> {
  ConvolutionOfRows(MLIRContext *context, Kind kind) : OpRewritePattern(context), kind(kind) {}

  LogicalResult matchAndRewrite(graph::ConvOp op, PatternRewriter &rewriter) const override {
    if (!isWorthIt(op, kind))
      return rewriter.notifyMatchFailure(op,
                                         kind == Kind::kFloats ? "no vectors of results" : "no tiles of tensor cores");
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
    auto swapped = filters.getDefiningOp<graph::TransposeOp>();
    if (columns != inputs)
      filters = transposed(filters, kToLast, rewriter);
    // Those of a convolution of gradients are swapped already.
    if (columns == inputs && swapped && swapped.getPermutation() == ArrayRef<int64_t>{1, 0, 2, 3})
      filters = reshaped(swapped.getX(), {columns, outputs}, rewriter);
    else
      filters = transposed(reshaped(filters, {outputs, columns}, rewriter), {1, 0}, rewriter);
    Value product =
        graph::MatmulOp::create(rewriter, loc, RankedTensorType::get({rows, outputs}, result.getElementType()), windows,
                                filters, op.getAccAttr(), op.getToAttr());
    Value images = reshaped(product, {batch, height, width, outputs}, rewriter);
    rewriter.replaceOp(op, transposed(images, kToFirst, rewriter));
    return success();
  }

private:
  Kind kind;
};

/// The transpose that puts channels first, or null.
graph::TransposeOp getToFirst(Value value) {
  auto transpose = value.getDefiningOp<graph::TransposeOp>();
  return transpose && transpose.getPermutation() == ArrayRef<int64_t>(kToFirst) ? transpose : nullptr;
}

struct SinkTransposeBehindElementwise : RewritePattern {
  explicit SinkTransposeBehindElementwise(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isElementwise(op))
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

/// A sum of all pixels of an image, as of the mean at the end of a network, or of all images.
struct SinkBehindSum : OpRewritePattern<graph::ReduceSumOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ReduceSumOp op, PatternRewriter &rewriter) const override {
    graph::TransposeOp transpose = getToFirst(op.getX());
    SmallVector<int64_t> axes(op.getAxes());
    llvm::sort(axes);
    bool isOfAll = axes == ArrayRef<int64_t>{0, 2, 3};
    if (!transpose || (!isOfAll && axes != ArrayRef<int64_t>{2, 3}))
      return rewriter.notifyMatchFailure(op, "not of the pixels of images whose channels are moved to the front");
    RankedTensorType result = typeOfTensor(op);
    RankedTensorType type = result;
    if (op.getKeepdims())
      type = RankedTensorType::get({result.getDimSize(0), 1, 1, result.getDimSize(1)}, result.getElementType());
    Value sum =
        graph::ReduceSumOp::create(rewriter, op.getLoc(), type, transpose.getX(),
                                   isOfAll ? ArrayRef<int64_t>{0, 1, 2} : ArrayRef<int64_t>{1, 2}, op.getKeepdims());
    rewriter.replaceOp(op, op.getKeepdims() ? transposed(sum, kToFirst, rewriter) : sum);
    return success();
  }
};

/// The pool of images whose channels are last: windows are of one more dimension, along which they have one element.
/// Null where the channels of the images are not moved to the front.
template <typename Pool> Value pooledLast(Pool op, PatternRewriter &rewriter) {
  graph::TransposeOp transpose = getToFirst(op.getX());
  RankedTensorType result = typeOfTensor(op);
  if (!transpose || !result.hasStaticShape())
    return {};
  auto with = [](ArrayRef<int64_t> values, int64_t last) {
    SmallVector<int64_t> all(values);
    all.push_back(last);
    return all;
  };
  auto lift = [](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> lifted(shape);
    lifted.insert(lifted.begin() + 1, 1);
    return lifted;
  };
  Value images = transpose.getX();
  auto shape = llvm::map_to_vector(kToLast, [&](int64_t d) { return result.getDimSize(d); });
  Value lifted = reshaped(images, lift(typeOfTensor(images).getShape()), rewriter);
  Operation *pooled = rewriter.clone(*op);
  pooled->setOperands(lifted);
  pooled->getResult(0).setType(RankedTensorType::get(lift(shape), result.getElementType()));
  auto pool = cast<Pool>(pooled);
  pool.setKernel(with(op.getKernel(), 1));
  pool.setStrides(with(op.getStrides(), 1));
  pool.setBefore(with(op.getBefore(), 0));
  pool.setAfter(with(op.getAfter(), 0));
  pool.setDilations(with(op.getDilations(), 1));
  return reshaped(pool, shape, rewriter);
}

template <typename Pool> struct SinkBehindPool : OpRewritePattern<Pool> {
  using OpRewritePattern<Pool>::OpRewritePattern;

  LogicalResult matchAndRewrite(Pool op, PatternRewriter &rewriter) const override {
    Value pooled = pooledLast(op, rewriter);
    if (!pooled)
      return rewriter.notifyMatchFailure(op, "not of images whose channels are moved to the front");
    rewriter.replaceOp(op, transposed(pooled, kToFirst, rewriter));
    return success();
  }
};

/// Where the largest elements are: counted with channels last, then with channels first.
struct SinkBehindPoolIndices : OpRewritePattern<graph::MaxPoolIndicesOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::MaxPoolIndicesOp op, PatternRewriter &rewriter) const override {
    Value last = op.getColumnMajor() ? Value() : pooledLast(op, rewriter);
    if (!last)
      return rewriter.notifyMatchFailure(op, "not of images whose channels are moved to the front");
    RankedTensorType x = typeOfTensor(op.getX()), type = typeOfTensor(last);
    Location loc = op.getLoc();
    auto number = [&](int64_t value) {
      return scalarOf(rewriter.getIntegerAttr(type.getElementType(), value), loc, rewriter);
    };
    Value channels = number(x.getDimSize(1)), pixels = number(x.getDimSize(2) * x.getDimSize(3));
    Value pixel = graph::DivOp::create(rewriter, loc, type, last, channels);
    Value channel = graph::ModOp::create(rewriter, loc, type, last, channels);
    Value image = graph::DivOp::create(rewriter, loc, type, pixel, pixels);
    Value within = graph::ModOp::create(rewriter, loc, type, pixel, pixels);
    Value plane = graph::MulOp::create(rewriter, loc, type, image, channels);
    plane = graph::AddOp::create(rewriter, loc, type, plane, channel);
    Value first = graph::MulOp::create(rewriter, loc, type, plane, pixels);
    first = graph::AddOp::create(rewriter, loc, type, first, within);
    rewriter.replaceOp(op, transposed(first, kToFirst, rewriter));
    return success();
  }
};

struct ChannelsLast : impl::ChannelsLastBase<ChannelsLast> {
  using ChannelsLastBase::ChannelsLastBase;

  void runOnOperation() override {
    if (!floats) {
      RewritePatternSet gradients(&getContext());
      populateConvolutionGradientPatterns(gradients, processors);
      graph::TransposeOp::getCanonicalizationPatterns(gradients, &getContext());
      graph::ReshapeOp::getCanonicalizationPatterns(gradients, &getContext());
      if (failed(applyPatternsGreedily(getOperation(), std::move(gradients))))
        return signalPassFailure();
    }
    // A convolution of each channel by itself reads images as they come.
    bool isGrouped = false;
    getOperation().walk([&](graph::ConvOp op) { isGrouped |= op.getGroups() != 1; });
    if (isGrouped)
      return;
    // Patches alone are no reason to move the channels of their results.
    bool hasOthers = false;
    getOperation().walk([&](graph::ConvOp op) { hasOthers |= isWorthIt(op, Kind::kCores); });
    Kind kind = floats ? Kind::kFloats : patches && hasOthers ? Kind::kCoresAndPatches : Kind::kCores;
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvolutionOfRows>(&getContext(), kind);
    patterns.add<SinkTransposeBehindElementwise, SinkBehindSum>(&getContext());
    if (kind != Kind::kCores)
      patterns.add<SinkBehindPool<graph::MaxPoolOp>, SinkBehindPool<graph::SumPoolOp>, SinkBehindPoolIndices>(
          &getContext());
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
