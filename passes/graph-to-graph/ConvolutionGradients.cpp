//===- ConvolutionGradients.cpp - gradients of convolutions by tensor cores ===//
//
// The gradient of filters is a convolution, in which the images of a batch stand for channels: K of its matmul is all
// pixels. Of filters of one channel each, it is made of products of rows of pixels. The gradient of images is the
// transpose of a convolution: a convolution with reversed filters, of images with zeros between their pixels where
// there are strides.
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
/// The rows of all images that are worth matmuls for filters of one channel each, and the most rows of such a filter.
constexpr int64_t kLeastOfDepthwise = 256, kMostRows = 16;

/// The part of a tensor that begins at `starts`.
Value sliced(Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes, PatternRewriter &rewriter) {
  auto type = RankedTensorType::get(sizes, typeOfTensor(value).getElementType());
  return graph::SliceOp::create(rewriter, value.getLoc(), type, value, rewriter.getI64ArrayAttr(starts),
                                SmallVector<int64_t>(sizes.size(), 1), rewriter.getI64ArrayAttr(sizes));
}

/// The tensor as one of `type`, which has so many zeros more before and after it; fewer elements where it is negative.
Value withZeros(Value value, ArrayRef<int64_t> before, ArrayRef<int64_t> after, RankedTensorType type,
                PatternRewriter &rewriter) {
  Value zero = scalarOf(rewriter.getZeroAttr(type.getElementType()), value.getLoc(), rewriter);
  return graph::PadOp::create(rewriter, value.getLoc(), type, value, zero, before, after, "constant");
}

/// The sum of float32 along a dimension, in the type `to` of a convolution's results.
Value summed(Value value, int64_t axis, Type element, StringRef to, PatternRewriter &rewriter) {
  SmallVector<int64_t> shape(typeOfTensor(value).getShape());
  shape.erase(shape.begin() + axis);
  auto type = RankedTensorType::get(shape, rewriter.getF32Type());
  Value sum = graph::ReduceSumOp::create(rewriter, value.getLoc(), type, value, ArrayRef<int64_t>{axis}, false);
  if (element.isF32())
    return sum;
  return graph::CastOp::create(rewriter, value.getLoc(), type.clone(element), sum, to, false);
}

/// Whether tensor cores multiply what a convolution of static images reads. `Conv` is a convolution or a transpose.
template <typename Conv> bool isOfTensorCores(Conv op, bool isGrouped = false) {
  RankedTensorType x = typeOfTensor(op.getX()), w = typeOfTensor(op.getW());
  Type element = x.getElementType();
  return x.getRank() == 4 && x.hasStaticShape() && w.hasStaticShape() && (op.getGroups() != 1) == isGrouped &&
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

/// The gradient of filters: a matmul of the windows of all images and of all their gradients.
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
    Value windows = transposed(op.getX(), {1, 2, 3, 0}, rewriter);
    bool isWhole = areAll(kernel, 1) && areAll(strides, 1) && areAll(before, 0) && areAll(after, 0);
    if (!isWhole)
      windows = graph::WindowsOp::create(rewriter, loc, RankedTensorType::get({length, columns}, element), windows,
                                         kernel, strides, before, after, dilations);
    int64_t parts = getParts(outputs, columns, length, processors);
    Value gradients = transposed(op.getW(), {1, 2, 3, 0}, rewriter);
    Value product;
    if (parts == 1) {
      Value a = transposed(reshaped(gradients, {length, outputs}, rewriter), {1, 0}, rewriter);
      Value b = reshaped(windows, {length, columns}, rewriter);
      product =
          graph::MatmulOp::create(rewriter, loc, RankedTensorType::get({outputs, columns}, result.getElementType()), a,
                                  b, op.getAccAttr(), op.getToAttr());
    } else {
      auto of = [&](Value value, int64_t width) { return reshaped(value, {parts, length / parts, width}, rewriter); };
      Value a = transposed(of(gradients, outputs), {0, 2, 1}, rewriter);
      auto type = RankedTensorType::get({parts, outputs, columns}, rewriter.getF32Type());
      Value made = graph::MatmulOp::create(rewriter, loc, type, a, of(windows, columns), op.getAccAttr(),
                                           rewriter.getStringAttr("float32"));
      product = summed(made, 0, result.getElementType(), op.getTo(), rewriter);
    }
    Value filters = reshaped(product, {outputs, kernel[0], kernel[1], inputs}, rewriter);
    rewriter.replaceOp(op, transposed(filters, {3, 0, 1, 2}, rewriter));
    return success();
  }

private:
  int64_t processors;
};

/// The gradient of filters of one channel each: for a channel and a row r of its filter, the matmul of all rows of
/// images r rows below and all rows of the gradient has the products of any two columns. Their sums along diagonals are
/// the row.
struct MatmulsOfDepthwiseFilters : OpRewritePattern<graph::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ConvOp op, PatternRewriter &rewriter) const override {
    RankedTensorType x = typeOfTensor(op.getX()), w = typeOfTensor(op.getW()), result = typeOfTensor(op);
    int64_t groups = op.getGroups(), batch = w.getRank() == 4 ? w.getDimSize(1) : 0;
    if (!isOfTensorCores(op, true) || x.getDimSize(0) != 1 || w.getDimSize(0) != groups || !areAll(op.getStrides(), 1))
      return rewriter.notifyMatchFailure(op, "no gradient of filters of one channel each");
    // A place of the gradient reads windows as large as filters, which the results are. K of the matmuls is all rows.
    int64_t height = w.getDimSize(2), width = w.getDimSize(3), rows = result.getDimSize(2),
            columns = result.getDimSize(3);
    if (batch * height < kLeastOfDepthwise || rows > kMostRows || columns > width)
      return rewriter.notifyMatchFailure(op, "few rows of pixels, or large filters");
    Location loc = op.getLoc();
    Type element = x.getElementType(), wide = rewriter.getF32Type();
    int64_t down = op.getDilations()[0], along = op.getDilations()[1];
    // Rows of an image, of which the gradient has one in `down`; behind those that it has, its rows are zeros.
    int64_t more = llvm::divideCeil(rows, down) - 1, ofImage = height + more, all = batch * ofImage - more;
    auto whole = [&](int64_t extent) { return int64_t(llvm::alignTo(extent, kCopyBytes / getElementBytes(element))); };
    int64_t across = whole((width - 1) * along + columns), acrossGradient = whole(width);
    auto padded = [&](Value value, int64_t height, int64_t width, ArrayRef<int64_t> before) {
      SmallVector<int64_t> shape = {groups, batch, height, width};
      RankedTensorType type = typeOfTensor(value);
      return withZeros(value, {0, 0, before[0], before[1]},
                       {0, 0, height - type.getDimSize(2) - before[0], width - type.getDimSize(3) - before[1]},
                       RankedTensorType::get(shape, element), rewriter);
    };
    Value images = reshaped(op.getX(), {groups, batch, x.getDimSize(2), x.getDimSize(3)}, rewriter);
    images = padded(images, ofImage * down, across, op.getBefore());
    images = reshaped(images, {groups, batch * ofImage, down * across}, rewriter);
    Value gradients = padded(op.getW(), ofImage, acrossGradient, {0, 0});
    gradients = reshaped(gradients, {groups, batch * ofImage, acrossGradient}, rewriter);
    gradients = sliced(gradients, {0, 0, 0}, {groups, all, acrossGradient}, rewriter);
    SmallVector<Value> products;
    for (int64_t row = 0; row < rows; ++row) {
      Value below = sliced(images, {0, row / down, row % down * across}, {groups, all, across}, rewriter);
      Value a = transposed(below, {0, 2, 1}, rewriter);
      Value made = graph::MatmulOp::create(rewriter, loc, RankedTensorType::get({groups, across, acrossGradient}, wide),
                                           a, gradients, op.getAccAttr(), rewriter.getStringAttr("float32"));
      products.push_back(reshaped(made, {groups, 1, across * acrossGradient}, rewriter));
    }
    auto type = RankedTensorType::get({groups, rows, across * acrossGradient}, wide);
    Value product = graph::ConcatOp::create(rewriter, loc, type, products, 1);
    // Of a column and a place of the gradient where the product of both is.
    auto indices = RankedTensorType::get({columns, width}, rewriter.getI64Type());
    auto steps = [&](int64_t axis, int64_t step) -> Value {
      Value count =
          graph::IotaOp::create(rewriter, loc, indices, rewriter.getI64ArrayAttr(indices.getShape()), axis, "int64");
      return graph::MulOp::create(rewriter, loc, indices, count,
                                  scalarOf(rewriter.getI64IntegerAttr(step), loc, rewriter));
    };
    Value diagonals =
        graph::AddOp::create(rewriter, loc, indices, steps(0, acrossGradient), steps(1, along * acrossGradient + 1));
    Value read = graph::GatherOp::create(rewriter, loc, RankedTensorType::get({groups, rows, columns, width}, wide),
                                         product, diagonals, 2);
    Value sums = summed(read, 3, result.getElementType(), op.getTo(), rewriter);
    rewriter.replaceOp(op, reshaped(sums, result.getShape(), rewriter));
    return success();
  }
};

/// The images with `steps` - 1 rows and columns of zeros between theirs.
Value spread(Value images, ArrayRef<int64_t> steps, PatternRewriter &rewriter) {
  RankedTensorType type = typeOfTensor(images);
  int64_t n = type.getDimSize(0), c = type.getDimSize(1), h = type.getDimSize(2), w = type.getDimSize(3);
  auto wide = RankedTensorType::get({n, c, h, steps[0], w, steps[1]}, type.getElementType());
  Value apart = reshaped(images, {n, c, h, 1, w, 1}, rewriter);
  apart = withZeros(apart, {0, 0, 0, 0, 0, 0}, {0, 0, 0, steps[0] - 1, 0, steps[1] - 1}, wide, rewriter);
  apart = reshaped(apart, {n, c, h * steps[0], w * steps[1]}, rewriter);
  return sliced(apart, {0, 0, 0, 0}, {n, c, (h - 1) * steps[0] + 1, (w - 1) * steps[1] + 1}, rewriter);
}

/// The gradient of images: a convolution with reversed filters.
struct ConvolutionOfTranspose : OpRewritePattern<graph::ConvTransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ConvTransposeOp op, PatternRewriter &rewriter) const override {
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
    filters = transposed(filters, {1, 0, 2, 3}, rewriter);
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
  patterns.add<ConvolutionOfTranspose, MatmulsOfDepthwiseFilters>(patterns.getContext());
}

} // namespace tilewright
