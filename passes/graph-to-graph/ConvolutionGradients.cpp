//===- ConvolutionGradients.cpp - gradients of convolutions by tensor cores ===//
//
// The gradient of filters is a convolution, in which the images of a batch stand for channels: K of its matmul is all
// pixels. The gradient of images is the transpose of a convolution: a convolution with reversed filters, of images with
// zeros between their pixels where there are strides.
//
//===----------------------------------------------------------------------===//
#include "passes/graph-to-graph/ConvolutionGradients.h"

#include "dialects/Graph/Graph.h"
#include "passes/graph-to-graph/Rewrites.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilewright {
namespace {

/// Rows and columns that a tile has about, and the elements along K that are worth a part.
constexpr int64_t kTile = 128, kLeastOfPart = 512;

bool areAll(ArrayRef<int64_t> values, int64_t wanted) {
  return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
}

Value moved(Value value, ArrayRef<int64_t> permutation, PatternRewriter &rewriter) {
  RankedTensorType type = typeOfTensor(value);
  auto shape = llvm::map_to_vector(permutation, [&](int64_t d) { return type.getDimSize(d); });
  return graph::TransposeOp::create(rewriter, value.getLoc(), RankedTensorType::get(shape, type.getElementType()),
                                    value, permutation);
}

/// Whether tensor cores multiply what a convolution of static images reads. `Conv` is a convolution or a transpose.
template <typename Conv> bool isOfTensorCores(Conv op) {
  RankedTensorType x = typeOfTensor(op.getX()), w = typeOfTensor(op.getW());
  Type element = x.getElementType();
  return x.getRank() == 4 && x.hasStaticShape() && w.hasStaticShape() && op.getGroups() == 1 &&
         x.getNumElements() != 0 && w.getNumElements() != 0 && w.getElementType() == element &&
         (element.isF16() || element.isBF16() || (element.isF32() && op.getAcc() == "tf32"));
}

/// Whether the batch of images stands where their channels do: they are NCHW or NHWC otherwise.
bool hasBatchAsChannels(Value images) {
  auto transpose = images.getDefiningOp<graph::TransposeOp>();
  if (!transpose)
    return false;
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  return permutation == ArrayRef<int64_t>{1, 0, 2, 3} || permutation == ArrayRef<int64_t>{3, 0, 1, 2};
}

/// In how many parts of equal lengths a matmul of few tiles is made.
int64_t getParts(int64_t rows, int64_t columns, int64_t length, int64_t processors) {
  int64_t tiles = llvm::divideCeil(rows, kTile) * llvm::divideCeil(columns, kTile);
  int64_t most = std::min(2 * processors / tiles, length / kLeastOfPart);
  for (int64_t parts = most; parts > 1; --parts)
    if (length % parts == 0)
      return parts;
  return 1;
}

struct MatmulOfFilters : OpRewritePattern<graph::ConvOp> {
  MatmulOfFilters(MLIRContext *context, int64_t processors) : OpRewritePattern(context), processors(processors) {}

  LogicalResult matchAndRewrite(graph::ConvOp op, PatternRewriter &rewriter) const override {
    if (!isOfTensorCores(op) || !hasBatchAsChannels(op.getX()) || !hasBatchAsChannels(op.getW()))
      return rewriter.notifyMatchFailure(op, "no gradient of filters that tensor cores make");
    Location loc = op.getLoc();
    RankedTensorType x = typeOfTensor(op.getX()), w = typeOfTensor(op.getW()), result = typeOfTensor(op);
    Type element = x.getElementType();
    int64_t inputs = x.getDimSize(0), batch = x.getDimSize(1), outputs = w.getDimSize(0);
    ArrayRef<int64_t> pixels = w.getShape().drop_front(2), kernel = result.getShape().drop_front(2);
    // A place of the gradient is a window, and the results are places in it: strides and dilations change their roles.
    ArrayRef<int64_t> strides = op.getDilations(), dilations = op.getStrides(), before = op.getBefore();
    SmallVector<int64_t> after;
    for (unsigned d = 0; d < 2; ++d) {
      int64_t reach = (pixels[d] - 1) * strides[d] + (kernel[d] - 1) * dilations[d] + 1;
      after.push_back(reach - x.getDimSize(2 + d) - before[d]);
    }
    if (llvm::any_of(after, [](int64_t extent) { return extent < 0; }))
      return rewriter.notifyMatchFailure(op, "the last places of the images are in no window");

    int64_t length = batch * pixels[0] * pixels[1], columns = kernel[0] * kernel[1] * inputs;
    Value windows = moved(op.getX(), {1, 2, 3, 0}, rewriter);
    bool isWhole = areAll(kernel, 1) && areAll(strides, 1) && areAll(before, 0) && areAll(after, 0);
    if (!isWhole)
      windows = graph::WindowsOp::create(rewriter, loc, RankedTensorType::get({length, columns}, element), windows,
                                         kernel, strides, before, after, dilations);
    int64_t parts = getParts(outputs, columns, length, processors);
    Value gradients = moved(op.getW(), {1, 2, 3, 0}, rewriter);
    Value product;
    if (parts == 1) {
      Value a = moved(reshaped(gradients, {length, outputs}, rewriter), {1, 0}, rewriter);
      Value b = reshaped(windows, {length, columns}, rewriter);
      product =
          graph::MatmulOp::create(rewriter, loc, RankedTensorType::get({outputs, columns}, result.getElementType()), a,
                                  b, op.getAccAttr(), op.getToAttr());
    } else {
      auto of = [&](Value value, int64_t width) { return reshaped(value, {parts, length / parts, width}, rewriter); };
      Value a = moved(of(gradients, outputs), {0, 2, 1}, rewriter);
      Type wide = rewriter.getF32Type();
      Value made = graph::MatmulOp::create(rewriter, loc, RankedTensorType::get({parts, outputs, columns}, wide), a,
                                           of(windows, columns), op.getAccAttr(), rewriter.getStringAttr("float32"));
      auto type = RankedTensorType::get({outputs, columns}, wide);
      product = graph::ReduceSumOp::create(rewriter, loc, type, made, ArrayRef<int64_t>{0}, false);
      if (result.getElementType() != wide)
        product = graph::CastOp::create(rewriter, loc, type.clone(result.getElementType()), product, op.getTo(), false);
    }
    Value filters = reshaped(product, {outputs, kernel[0], kernel[1], inputs}, rewriter);
    rewriter.replaceOp(op, moved(filters, {3, 0, 1, 2}, rewriter));
    return success();
  }

private:
  int64_t processors;
};

Value withZeros(Value value, ArrayRef<int64_t> before, ArrayRef<int64_t> after, RankedTensorType type,
                PatternRewriter &rewriter) {
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero =
      graph::ConstantOp::create(rewriter, value.getLoc(), scalar, cast<ElementsAttr>(rewriter.getZeroAttr(scalar)));
  return graph::PadOp::create(rewriter, value.getLoc(), type, value, zero, before, after, "constant");
}

/// The images with `steps` - 1 rows and columns of zeros between theirs.
Value spread(Value images, ArrayRef<int64_t> steps, PatternRewriter &rewriter) {
  RankedTensorType type = typeOfTensor(images);
  Location loc = images.getLoc();
  int64_t n = type.getDimSize(0), c = type.getDimSize(1), h = type.getDimSize(2), w = type.getDimSize(3);
  auto wide = RankedTensorType::get({n, c, h, steps[0], w, steps[1]}, type.getElementType());
  Value apart = reshaped(images, {n, c, h, 1, w, 1}, rewriter);
  apart = withZeros(apart, {0, 0, 0, 0, 0, 0}, {0, 0, 0, steps[0] - 1, 0, steps[1] - 1}, wide, rewriter);
  apart = reshaped(apart, {n, c, h * steps[0], w * steps[1]}, rewriter);
  SmallVector<int64_t> sizes = {n, c, (h - 1) * steps[0] + 1, (w - 1) * steps[1] + 1}, starts(4, 0);
  return graph::SliceOp::create(rewriter, loc, RankedTensorType::get(sizes, type.getElementType()), apart,
                                rewriter.getI64ArrayAttr(starts), ArrayRef<int64_t>{1, 1, 1, 1},
                                rewriter.getI64ArrayAttr(sizes));
}

struct ConvolutionOfTranspose : OpRewritePattern<graph::ConvTransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ConvTransposeOp op, PatternRewriter &rewriter) const override {
    constexpr int64_t kFewestChannels = 16;
    RankedTensorType x = typeOfTensor(op.getX()), w = typeOfTensor(op.getW());
    if (!isOfTensorCores(op) || llvm::any_of(op.getDilations(), [](int64_t by) { return by < 1; }))
      return rewriter.notifyMatchFailure(op, "no convolution of tensor cores");
    // Zeros between pixels are multiplied, too: a convolution of few channels has no tensor cores that make up for it.
    bool hasSteps = !areAll(op.getStrides(), 1);
    if (hasSteps && std::min(w.getDimSize(0), w.getDimSize(1)) < kFewestChannels)
      return rewriter.notifyMatchFailure(op, "few channels");
    bool isPointwise = areAll(w.getShape().drop_front(2), 1);
    SmallVector<int64_t> before, after;
    for (unsigned d = 0; d < 2; ++d) {
      int64_t reach = (w.getDimSize(2 + d) - 1) * op.getDilations()[d];
      before.push_back(reach - op.getBefore()[d]);
      after.push_back(reach - op.getAfter()[d]);
    }
    if (llvm::any_of(llvm::concat<int64_t>(before, after), [](int64_t extent) { return extent < 0; }))
      return rewriter.notifyMatchFailure(op, "images are cut");
    Value filters = op.getW(), images = op.getX();
    if (!isPointwise) {
      SmallVector<int64_t> starts = {0, 0, w.getDimSize(2) - 1, w.getDimSize(3) - 1};
      filters =
          graph::SliceOp::create(rewriter, op.getLoc(), w, filters, rewriter.getI64ArrayAttr(starts),
                                 rewriter.getDenseI64ArrayAttr({1, 1, -1, -1}), rewriter.getI64ArrayAttr(w.getShape()));
    }
    filters = moved(filters, {1, 0, 2, 3}, rewriter);
    auto convolve = [&](RankedTensorType type, Value images, ArrayRef<int64_t> low, ArrayRef<int64_t> high) -> Value {
      return graph::ConvOp::create(rewriter, op.getLoc(), type, images, filters, ArrayRef<int64_t>{1, 1}, low, high,
                                   op.getDilations(), op.getGroups(), op.getAcc(), op.getTo());
    };
    RankedTensorType result = typeOfTensor(op);
    if (hasSteps && isPointwise) {
      SmallVector<int64_t> shape(x.getShape());
      shape[1] = w.getDimSize(1);
      Value made = spread(convolve(RankedTensorType::get(shape, result.getElementType()), images, {0, 0}, {0, 0}),
                          op.getStrides(), rewriter);
      if (!areAll(before, 0) || !areAll(after, 0))
        made = withZeros(made, {0, 0, before[0], before[1]}, {0, 0, after[0], after[1]}, result, rewriter);
      rewriter.replaceOp(op, made);
      return success();
    }
    if (hasSteps)
      images = spread(images, op.getStrides(), rewriter);
    rewriter.replaceOp(op, convolve(result, images, before, after));
    return success();
  }
};

} // namespace

void populateConvolutionGradientPatterns(RewritePatternSet &patterns, int64_t processors) {
  patterns.add<MatmulOfFilters>(patterns.getContext(), processors);
  patterns.add<ConvolutionOfTranspose>(patterns.getContext());
}

} // namespace tilewright
