//===- GraphFolders.cpp - operators that are one of their operands --------===//
// Only what is exact for every value, NaN, infinities and zeros of either sign included, is folded.
#include "dialects/Graph/Graph.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::graph;

/// Whether `attr` holds one number everywhere, and that is `number`; of a float 0 the sign counts.
static bool isSplatOf(Attribute attr, int64_t number, bool isNegativeZero = false) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(attr);
  if (!elements || !elements.isSplat())
    return false;
  if (isa<FloatType>(elements.getElementType())) {
    APFloat value = elements.getSplatValue<APFloat>();
    if (number == 0)
      return value.isZero() && value.isNegative() == isNegativeZero;
    APFloat wanted(value.getSemantics(), std::to_string(number));
    return value.bitwiseIsEqual(wanted);
  }
  return elements.getSplatValue<APInt>() == number;
}

/// `value` where it has the result's type.
static OpFoldResult ifSameType(Operation *op, Value value) {
  return value.getType() == op->getResult(0).getType() ? OpFoldResult(value) : OpFoldResult();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (isSplatOf(adaptor.getB(), 0, /*isNegativeZero=*/true))
    return ifSameType(*this, getA());
  if (isSplatOf(adaptor.getA(), 0, /*isNegativeZero=*/true))
    return ifSameType(*this, getB());
  return {};
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  return isSplatOf(adaptor.getB(), 0) ? ifSameType(*this, getA()) : OpFoldResult();
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isSplatOf(adaptor.getB(), 1))
    return ifSameType(*this, getA());
  if (isSplatOf(adaptor.getA(), 1))
    return ifSameType(*this, getB());
  return {};
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  return isSplatOf(adaptor.getB(), 1) ? ifSameType(*this, getA()) : OpFoldResult();
}

OpFoldResult CastOp::fold(FoldAdaptor) { return ifSameType(*this, getX()); }
OpFoldResult ReshapeOp::fold(FoldAdaptor) { return ifSameType(*this, getX()); }
OpFoldResult ExpandOp::fold(FoldAdaptor) { return ifSameType(*this, getX()); }

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  return llvm::equal(getPermutation(), llvm::seq<int64_t>(0, getPermutation().size())) ? ifSameType(*this, getX())
                                                                                       : OpFoldResult();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? ifSameType(*this, getInputs()[0]) : OpFoldResult();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  // Of a whole tensor: the sizes are its own, and no dimension is reversed.
  return llvm::all_of(getSteps(), [](int64_t step) { return step > 0; }) ? ifSameType(*this, getX()) : OpFoldResult();
}

namespace {
struct ReshapeOfReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto before = op.getX().getDefiningOp<ReshapeOp>();
    if (!before)
      return rewriter.notifyMatchFailure(op, "not of a reshape");
    rewriter.modifyOpInPlace(op, [&] { op.getXMutable().assign(before.getX()); });
    return success();
  }
};

struct TransposeOfTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto before = op.getX().getDefiningOp<TransposeOp>();
    if (!before)
      return rewriter.notifyMatchFailure(op, "not of a transpose");
    SmallVector<int64_t> permutation;
    for (int64_t d : op.getPermutation())
      permutation.push_back(before.getPermutation()[d]);
    rewriter.modifyOpInPlace(op, [&] {
      op.getXMutable().assign(before.getX());
      op.setPermutation(permutation);
    });
    return success();
  }
};

/// Of a tensor that is reshaped first, dimensions of one element need not move: the others do, and then it is reshaped.
struct TransposeOfOnes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto before = op.getX().getDefiningOp<ReshapeOp>();
    auto type = cast<RankedTensorType>(op.getX().getType()), result = cast<RankedTensorType>(op.getType());
    if (!before || !llvm::is_contained(type.getShape(), 1))
      return rewriter.notifyMatchFailure(op, "not of a reshape with a dimension of one element");
    auto isOne = [&](int64_t d) { return type.getDimSize(d) == 1; };
    auto sizesOf = [&](ArrayRef<int64_t> dimensions) {
      return rewriter.getArrayAttr(
          llvm::map_to_vector(dimensions, [&](int64_t d) -> Attribute { return before.getShape()[d]; }));
    };
    SmallVector<int64_t> kept = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())), moved(op.getPermutation());
    llvm::erase_if(kept, isOne);
    llvm::erase_if(moved, isOne);
    Value value =
        ReshapeOp::create(rewriter, before.getLoc(), getTypeOfDimensions(type, kept), before.getX(), sizesOf(kept));
    if (moved != kept) {
      auto permutation = llvm::map_to_vector(moved, [&](int64_t d) { return llvm::find(kept, d) - kept.begin(); });
      value = TransposeOp::create(rewriter, op.getLoc(), getTypeOfDimensions(type, moved), value,
                                  SmallVector<int64_t>(permutation));
    }
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, result, value, sizesOf(op.getPermutation()));
    return success();
  }
};

/// Slices of a transpose that nothing else reads are transposes of slices: none moves more than it gives. So are
/// queries, keys and values that lie in one tensor, which attention then reads there.
struct SliceOfTranspose : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto before = op.getX().getDefiningOp<TransposeOp>();
    if (!before || !llvm::all_of(before->getUsers(), llvm::IsaPred<SliceOp>))
      return rewriter.notifyMatchFailure(op, "not of a transpose, or others read that");
    ArrayRef<int64_t> permutation = before.getPermutation();
    SmallVector<Attribute> starts(permutation.size()), sizes(permutation.size());
    SmallVector<int64_t> steps(permutation.size()), dimensions(permutation.size());
    for (auto [here, there] : llvm::enumerate(permutation)) {
      starts[there] = op.getStarts()[here];
      sizes[there] = op.getSizes()[here];
      steps[there] = op.getSteps()[here];
      dimensions[there] = here;
    }
    auto type = getTypeOfDimensions(cast<RankedTensorType>(op.getType()), dimensions);
    Value slice = SliceOp::create(rewriter, op.getLoc(), type, before.getX(), rewriter.getArrayAttr(starts), steps,
                                  rewriter.getArrayAttr(sizes));
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), slice, SmallVector<int64_t>(permutation));
    return success();
  }
};

/// Slices whose numbers are 0, 1, … are those that the tensor begins with.
struct GatherOfPositions : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    Value indices = op.getIndices();
    if (auto reshape = indices.getDefiningOp<ReshapeOp>())
      indices = reshape.getX();
    auto iota = indices.getDefiningOp<IotaOp>();
    auto type = cast<RankedTensorType>(op.getX().getType()), result = cast<RankedTensorType>(op.getType());
    if (!iota || !type.hasStaticShape() || !result.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "the indices are no positions, or shapes are not static");
    auto positions = cast<RankedTensorType>(iota.getType());
    int64_t axis = op.getAxis();
    if (positions.getRank() != 1 || positions.getDimSize(0) > type.getDimSize(axis))
      return rewriter.notifyMatchFailure(op, "the positions are not those of one dimension, or too many");
    SmallVector<int64_t> sizes(type.getShape()), starts(type.getRank(), 0), steps(type.getRank(), 1);
    sizes[axis] = positions.getDimSize(0);
    auto sliced = RankedTensorType::get(sizes, type.getElementType());
    Value slice = SliceOp::create(rewriter, op.getLoc(), sliced, op.getX(), rewriter.getI64ArrayAttr(starts), steps,
                                  rewriter.getI64ArrayAttr(sizes));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, result, slice, rewriter.getI64ArrayAttr(result.getShape()));
    return success();
  }
};

/// Where a dimension has one window, and that has all of its elements, the window has no more than these.
template <typename Pool> struct WindowOfAll : OpRewritePattern<Pool> {
  using OpRewritePattern<Pool>::OpRewritePattern;
  LogicalResult matchAndRewrite(Pool op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getX().getType()), result = cast<RankedTensorType>(op.getType());
    SmallVector<int64_t> kernel(op.getKernel()), strides(op.getStrides()), before(op.getBefore()), after(op.getAfter());
    bool hasChanged = false;
    for (size_t i = 0, first = type.getRank() - kernel.size(); i < kernel.size(); ++i) {
      int64_t extent = type.getDimSize(first + i);
      if (ShapedType::isDynamic(extent) || extent == 0 || result.getDimSize(first + i) != 1 ||
          op.getDilations()[i] != 1 || before[i] < 0 || kernel[i] - before[i] < extent || kernel[i] == extent)
        continue;
      kernel[i] = extent;
      strides[i] = 1;
      before[i] = after[i] = 0;
      hasChanged = true;
    }
    if (!hasChanged)
      return rewriter.notifyMatchFailure(op, "no window is larger than the elements that it has");
    rewriter.modifyOpInPlace(op, [&] {
      op.setKernel(kernel);
      op.setStrides(strides);
      op.setBefore(before);
      op.setAfter(after);
    });
    return success();
  }
};
} // namespace

void MaxPoolOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<WindowOfAll<MaxPoolOp>>(context);
}
void SumPoolOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<WindowOfAll<SumPoolOp>>(context);
}
void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SliceOfTranspose>(context);
}
void GatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<GatherOfPositions>(context);
}
void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReshapeOfReshape>(context);
}
void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<TransposeOfTranspose, TransposeOfOnes>(context);
}
