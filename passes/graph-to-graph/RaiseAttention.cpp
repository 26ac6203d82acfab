//===- RaiseAttention.cpp - matmuls around a softmax become attention ------===//
#include "dialects/Graph/Graph.h"
#include "passes/PassSupport.h"
#include "passes/graph-to-graph/Rewrites.h"

#include "mlir/Dialect/Traits.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_RAISEATTENTION
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

/// Numbers that hide a score as minus infinity does, -1e9 in 16 bits the largest: scores are less than their rounding.
constexpr double kHiding = -9.9e8;

/// The number that a constant has everywhere, or a tensor that is expanded from it.
std::optional<double> getNumber(Value value) {
  while (auto expand = value.getDefiningOp<graph::ExpandOp>())
    value = expand.getX();
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat() || !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  return elements.getSplatValue<APFloat>().convertToDouble();
}

using Extent = std::pair<int64_t, StringRef>;

/// The extents of a tensor, with the names of those that are symbols.
SmallVector<Extent> getExtents(RankedTensorType type) {
  auto names = dyn_cast_or_null<graph::ExtentsAttr>(type.getEncoding());
  SmallVector<Extent> extents;
  for (int64_t d = 0; d < type.getRank(); ++d)
    extents.emplace_back(type.getDimSize(d), names ? names.getNames()[d].getValue() : StringRef());
  return extents;
}

/// The extents of what counts matrices.
SmallVector<Extent> getLeading(Value value) {
  auto extents = getExtents(typeOfTensor(value));
  extents.truncate(extents.size() - 2);
  return extents;
}

bool haveSameMatrices(RankedTensorType one, RankedTensorType other) {
  return one.getRank() >= 2 && other.getRank() >= 2 &&
         llvm::equal(ArrayRef(getExtents(one)).take_back(2), ArrayRef(getExtents(other)).take_back(2));
}

/// The type of a tensor of such extents.
RankedTensorType getTypeOf(ArrayRef<Extent> extents, Type element, MLIRContext *context) {
  SmallVector<int64_t> shape;
  SmallVector<StringAttr> names;
  for (auto [extent, name] : extents) {
    shape.push_back(extent);
    names.push_back(StringAttr::get(context, name));
  }
  Attribute encoding;
  if (llvm::any_of(extents, [](Extent extent) { return !extent.second.empty(); }))
    encoding = graph::ExtentsAttr::get(context, names);
  return RankedTensorType::get(shape, element, encoding);
}

/// The type of the matrices of `value` where such extents count them; null where that is not possible.
RankedTensorType getTypeCountedBy(ArrayRef<Extent> leading, Value value) {
  auto type = typeOfTensor(value);
  auto extents = getExtents(type);
  SmallVector<Extent> counted(leading);
  llvm::append_range(counted, ArrayRef(extents).take_back(2));
  auto made = getTypeOf(counted, type.getElementType(), value.getContext());
  if (ArrayRef(extents).drop_back(2) == leading)
    return made;
  auto reshape = value.getDefiningOp<graph::ReshapeOp>();
  if (reshape && reshape.getX().getType() == made)
    return made;
  bool isKnown = type.hasStaticShape() && made.hasStaticShape();
  return isKnown && type.getNumElements() == made.getNumElements() ? made : RankedTensorType();
}

/// The matrices of `value`, counted by such extents.
Value countedBy(ArrayRef<Extent> leading, Value value, PatternRewriter &rewriter) {
  auto type = getTypeCountedBy(leading, value);
  auto reshape = value.getDefiningOp<graph::ReshapeOp>();
  if (value.getType() == type)
    return value;
  return reshape && reshape.getX().getType() == type ? reshape.getX() : reshaped(value, type.getShape(), rewriter);
}

/// Whether an operator gives the matrices that it takes, in floats of 16 or 32 bits: its one operand is then these.
bool keepsMatrices(Operation *op) {
  if (auto cast = dyn_cast<graph::CastOp>(op))
    return !getFloatName(typeOfTensor(cast.getX()).getElementType()).empty() &&
           !getFloatName(typeOfTensor(cast).getElementType()).empty();
  auto reshape = dyn_cast<graph::ReshapeOp>(op);
  return reshape && haveSameMatrices(typeOfTensor(reshape.getX()), typeOfTensor(reshape));
}

/// `value` with its last two dimensions swapped; two transposes become one, or none.
Value swapLast(Value value, PatternRewriter &rewriter) {
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, typeOfTensor(value).getRank()));
  if (auto before = value.getDefiningOp<graph::TransposeOp>()) {
    permutation = llvm::to_vector(before.getPermutation());
    value = before.getX();
  }
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return value;
  return graph::TransposeOp::create(rewriter, value.getLoc(),
                                    graph::getTypeOfDimensions(typeOfTensor(value), permutation), value, permutation);
}

/// A choice between scores and a number that hides them.
struct HiddenScores {
  Value scores, condition;
  double number;
  bool whereTrue; // whether the number stands where the condition is true

  static std::optional<HiddenScores> of(Operation *op) {
    auto where = dyn_cast<graph::WhereOp>(op);
    if (!where)
      return std::nullopt;
    auto a = getNumber(where.getA()), b = getNumber(where.getB());
    if (a.has_value() == b.has_value())
      return std::nullopt;
    HiddenScores hidden{a ? where.getB() : where.getA(), where.getCondition(), a ? *a : *b, a.has_value()};
    if (!(hidden.number <= kHiding) || hidden.scores.getType() != where.getType())
      return std::nullopt;
    return hidden;
  }
};

/// A factor of a tensor that is a number.
struct Scaled {
  Value value;
  double factor;

  static std::optional<Scaled> of(Operation *op) {
    if (auto product = dyn_cast<graph::MulOp>(op)) {
      if (auto number = getNumber(product.getB()))
        return Scaled{product.getA(), *number};
      if (auto number = getNumber(product.getA()))
        return Scaled{product.getB(), *number};
    } else if (auto quotient = dyn_cast<graph::DivOp>(op)) {
      if (auto number = getNumber(quotient.getB()))
        return Scaled{quotient.getA(), 1 / *number};
    }
    return std::nullopt;
  }
};

/// Whether a matmul is what scores are made of.
bool leadsToMatmul(Value value) {
  while (Operation *made = value.getDefiningOp()) {
    if (isa<graph::MatmulOp>(made))
      return true;
    if (isa<graph::AddOp>(made))
      return leadsToMatmul(made->getOperand(0)) || leadsToMatmul(made->getOperand(1));
    if (auto hidden = HiddenScores::of(made))
      value = hidden->scores;
    else if (auto scaled = Scaled::of(made))
      value = scaled->value;
    else if (keepsMatrices(made))
      value = made->getOperand(0);
    else
      return false;
  }
  return false;
}

/// The way from what a softmax reads up to a matmul.
class ScoresOfMatmul {
public:
  explicit ScoresOfMatmul(graph::SoftmaxOp softmax) : scores(typeOfTensor(softmax.getX())) {
    counts.push_back(getLeading(softmax));
    follow(softmax.getX());
  }

  graph::MatmulOp product; // null where there is something else on the way
  double scale = 1;

  /// The extents that count the matrices of all masks, of those that count them somewhere on the way; null without.
  std::optional<SmallVector<Extent>> getCommonLeading() const {
    for (const SmallVector<Extent> &leading : counts) {
      RankedTensorType sum;
      bool isPossible = true;
      for (Value mask : masks) {
        RankedTensorType type = getTypeOfMask(leading, mask);
        isPossible = isPossible && type && (!sum || (sum = getSum(sum, type)));
        sum = sum ? sum : type;
      }
      if (isPossible)
        return leading;
    }
    return std::nullopt;
  }

  /// The sum of the masks, in float32 where one is, or where 16 bits do not have its number; null without any.
  Value getMask(ArrayRef<Extent> leading, Type element, PatternRewriter &rewriter) const {
    bool isOneChoice = masks.size() == 1 && choices.front();
    if (isOneChoice && std::isinf(choices.front()->number)) {
      Value seen = maskFor(leading, masks.front(), rewriter);
      return choices.front()->whereTrue ? create<graph::NotOp>(seen.getType(), seen, rewriter) : seen;
    }
    SmallVector<Value> some;
    Type type = element;
    for (auto [value, choice] : llvm::zip(masks, choices)) {
      some.push_back(maskFor(leading, choice ? value : withoutCast(value, element), rewriter));
      bool isWide =
          choice ? element.isF16() && !std::isinf(choice->number) : typeOfTensor(some.back()).getElementType().isF32();
      if (isWide)
        type = rewriter.getF32Type();
    }
    if (some.size() == 1 && !choices.front())
      return some.front();
    Value sum;
    for (auto [mask, choice] : llvm::zip(some, choices)) {
      Type own = typeOfTensor(mask).clone(type);
      Location loc = mask.getLoc();
      if (choice) {
        Value number = scalarOf(rewriter.getFloatAttr(type, choice->number), loc, rewriter);
        Value zero = scalarOf(rewriter.getFloatAttr(type, 0), loc, rewriter);
        if (!choice->whereTrue)
          std::swap(number, zero);
        mask = create<graph::WhereOp>(own, ValueRange{mask, number, zero}, rewriter);
      } else if (mask.getType() != own) {
        mask = graph::CastOp::create(rewriter, loc, own, mask, getFloatName(type), true);
      }
      sum = sum ? create<graph::AddOp>(getSum(typeOfTensor(sum), typeOfTensor(mask)), ValueRange{sum, mask}, rewriter)
                : mask;
    }
    return sum;
  }

private:
  void follow(Value value) {
    while (value.hasOneUse() && value.getDefiningOp() && haveSameMatrices(typeOfTensor(value), scores)) {
      Operation *made = value.getDefiningOp();
      if (auto found = dyn_cast<graph::MatmulOp>(made)) {
        product = found;
        return;
      }
      if (isa<graph::AddOp>(made)) {
        bool isFirst = made->getOperand(0).getType() == value.getType() && leadsToMatmul(made->getOperand(0));
        Value mask = made->getOperand(isFirst ? 1 : 0), next = made->getOperand(isFirst ? 0 : 1);
        if (scale != 1 || next.getType() != value.getType())
          return;
        addMask(mask, std::nullopt, value);
        value = next;
      } else if (auto one = HiddenScores::of(made)) {
        if (scale <= 0 || (scale != 1 && !std::isinf(one->number)))
          return;
        addMask(one->condition, one, value);
        value = one->scores;
      } else if (auto scaled = Scaled::of(made)) {
        if (scaled->value.getType() != value.getType())
          return;
        scale *= scaled->factor;
        value = scaled->value;
      } else if (keepsMatrices(made)) {
        value = made->getOperand(0);
      } else {
        return;
      }
    }
  }

  template <typename Op> static Value create(Type type, ValueRange operands, PatternRewriter &rewriter) {
    return Op::create(rewriter, operands.front().getLoc(), TypeRange(type), operands, ArrayRef<NamedAttribute>{});
  }

  void addMask(Value mask, std::optional<HiddenScores> choice, Value at) {
    masks.push_back(mask);
    choices.push_back(choice);
    counts.push_back(getLeading(at));
  }

  /// A mask before it was cast from the type of the operands, and before it was expanded.
  static Value withoutCast(Value value, Type element) {
    auto cast = value.getDefiningOp<graph::CastOp>();
    return cast && typeOfTensor(cast.getX()).getElementType() == element ? cast.getX() : value;
  }
  static Value withoutExpand(Value value) {
    while (auto expand = value.getDefiningOp<graph::ExpandOp>())
      value = expand.getX();
    return value;
  }

  /// The type of a mask that is broadcast to scores which such extents count; null where that is not possible.
  static RankedTensorType getTypeOfMask(ArrayRef<Extent> leading, Value value) {
    value = withoutExpand(value);
    auto type = typeOfTensor(value);
    auto extents = getExtents(type);
    if (extents.size() <= 2)
      return type;
    ArrayRef<Extent> own = ArrayRef(extents).drop_back(2);
    bool isBroadcast = own.size() <= leading.size();
    for (auto [one, other] : llvm::zip(llvm::reverse(own), llvm::reverse(leading)))
      isBroadcast &= one.first == 1 || one == other;
    if (isBroadcast)
      return type;
    if (llvm::any_of(own, [](Extent extent) { return extent.first != 1; }))
      return getTypeCountedBy(leading, value);
    return type.hasStaticShape() ? RankedTensorType::get(type.getShape().take_back(2), type.getElementType())
                                 : RankedTensorType();
  }

  static Value maskFor(ArrayRef<Extent> leading, Value value, PatternRewriter &rewriter) {
    value = withoutExpand(value);
    auto type = getTypeOfMask(leading, value);
    if (value.getType() == type)
      return value;
    return type.getRank() == 2 ? reshaped(value, type.getShape(), rewriter) : countedBy(leading, value, rewriter);
  }

  /// The type of the sum of two masks of static shapes.
  static RankedTensorType getSum(RankedTensorType one, RankedTensorType other) {
    SmallVector<int64_t> shape;
    bool isKnown = one.hasStaticShape() && other.hasStaticShape() &&
                   OpTrait::util::getBroadcastedShape(one.getShape(), other.getShape(), shape);
    return isKnown ? RankedTensorType::get(shape, one.getElementType()) : RankedTensorType();
  }

  RankedTensorType scores;
  SmallVector<SmallVector<Extent>> counts; // the matrices, at the softmax and at each mask
  SmallVector<Value> masks;                // what is added, or the conditions of choices
  SmallVector<std::optional<HiddenScores>> choices;
};

struct AttentionOfMatmuls : OpRewritePattern<graph::MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::MatmulOp op, PatternRewriter &rewriter) const override {
    Value weights = op.getA();
    while (weights.hasOneUse() && weights.getDefiningOp() && keepsMatrices(weights.getDefiningOp()))
      weights = weights.getDefiningOp()->getOperand(0);
    auto softmax = weights.getDefiningOp<graph::SoftmaxOp>();
    if (!softmax || !softmax->hasOneUse())
      return rewriter.notifyMatchFailure(op, "no softmax that it alone reads");
    auto scores = typeOfTensor(softmax.getX());
    if (softmax.getAxis() != scores.getRank() - 1)
      return rewriter.notifyMatchFailure(op, "the softmax is not along the last axis");
    ScoresOfMatmul way(softmax);
    graph::MatmulOp product = way.product;
    if (!product || !product->hasOneUse())
      return rewriter.notifyMatchFailure(op, "no matmul before the softmax but for masks and factors");
    Value q = product.getA(), keys = product.getB(), v = op.getB();
    Type element = typeOfTensor(q).getElementType();
    for (Value other : {keys, v, Value(op.getResult())})
      if (typeOfTensor(other).getElementType() != element || getFloatName(element).empty())
        return rewriter.notifyMatchFailure(op, "operands of several element types");
    if (getLeading(q) != getLeading(keys) || getLeading(q) != getLeading(product) ||
        getLeading(op.getA()) != getLeading(v) || getLeading(v) != getLeading(op))
      return rewriter.notifyMatchFailure(op, "operands whose leading extents are broadcast");
    if (!std::isfinite(way.scale))
      return rewriter.notifyMatchFailure(op, "a factor that is not finite");
    auto leading = way.getCommonLeading();
    ArrayAttr shape = leading ? shapeOf(op, *leading, rewriter) : ArrayAttr();
    if (!shape ||
        !llvm::all_of(ArrayRef<Value>{q, keys, v}, [&](Value value) { return getTypeCountedBy(*leading, value); }))
      return rewriter.notifyMatchFailure(op, "matrices that are counted in another way");
    q = countedBy(*leading, q, rewriter);
    keys = countedBy(*leading, keys, rewriter);
    v = countedBy(*leading, v, rewriter);
    Value mask = way.getMask(*leading, element, rewriter);
    SmallVector<Extent> extents(*leading);
    llvm::append_range(extents, ArrayRef(getExtents(typeOfTensor(op))).take_back(2));
    Value attention = graph::AttentionOp::create(rewriter, op.getLoc(), getTypeOf(extents, element, getContext()), q,
                                                 swapLast(keys, rewriter), v, mask, rewriter.getF64FloatAttr(way.scale),
                                                 rewriter.getI64IntegerAttr(-1), rewriter.getI64IntegerAttr(-1),
                                                 rewriter.getI64IntegerAttr(0), rewriter.getF64FloatAttr(0),
                                                 product.getAcc() == "tf32" ? product.getAccAttr() : StringAttr());
    if (attention.getType() == op.getType())
      rewriter.replaceOp(op, attention);
    else
      rewriter.replaceOpWithNewOp<graph::ReshapeOp>(op, op.getType(), attention, shape);
    return success();
  }

  /// The matmul's shape as a reshape has it, where it is counted by other extents than such; null if it is not known.
  static ArrayAttr shapeOf(graph::MatmulOp op, ArrayRef<Extent> leading, PatternRewriter &rewriter) {
    auto type = typeOfTensor(op);
    if (type.hasStaticShape() || ArrayRef<Extent>(getLeading(op)) == leading)
      return rewriter.getI64ArrayAttr(type.getShape());
    auto reshape = op.getA().getDefiningOp<graph::ReshapeOp>();
    if (!reshape || type.isDynamicDim(type.getRank() - 1))
      return {};
    SmallVector<Attribute> shape(reshape.getShape().getValue());
    shape.back() = rewriter.getI64IntegerAttr(type.getShape().back());
    return rewriter.getArrayAttr(shape);
  }
};

/// Keys or values of fewer heads than queries, of which `value` has each several times; null if it is no such tensor.
Value getFewerHeads(Value value) {
  auto all = value.getDefiningOp<graph::ReshapeOp>();
  auto repeated = all ? all.getX().getDefiningOp<graph::ExpandOp>() : graph::ExpandOp();
  auto apart = repeated ? repeated.getX().getDefiningOp<graph::ReshapeOp>() : graph::ReshapeOp();
  if (!apart)
    return {};
  auto extents = getExtents(typeOfTensor(value)), of = getExtents(typeOfTensor(apart.getX())),
       each = getExtents(typeOfTensor(repeated));
  size_t heads = extents.size() - 3;
  if (extents.size() < 3 || of.size() != extents.size() || each.size() != extents.size() + 1)
    return {};
  auto single = getExtents(typeOfTensor(apart));
  for (size_t d = 0; d < extents.size(); ++d)
    if ((d != heads && extents[d] != of[d]) || each[d + (d > heads)] != of[d] || single[d + (d > heads)] != of[d])
      return {};
  int64_t count = of[heads].first, times = each[heads + 1].first;
  bool isKnown = !ShapedType::isDynamic(count) && !ShapedType::isDynamic(times) && single[heads + 1].first == 1;
  return isKnown && extents[heads].first == count * times ? apart.getX() : Value();
}

struct AttentionOfFewerHeads : OpRewritePattern<graph::AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::AttentionOp op, PatternRewriter &rewriter) const override {
    Value k = getFewerHeads(op.getK()), v = getFewerHeads(op.getV());
    if (!k || !v || typeOfTensor(k).getShape().drop_back(2) != typeOfTensor(v).getShape().drop_back(2))
      return rewriter.notifyMatchFailure(op, "keys and values have no heads several times");
    rewriter.modifyOpInPlace(op, [&] {
      op.getKMutable().assign(k);
      op.getVMutable().assign(v);
    });
    return success();
  }
};

/// The type of a tensor with bools in place of its elements.
RankedTensorType getBoolType(Value value) {
  RankedTensorType type = typeOfTensor(value);
  return RankedTensorType::get(type.getShape(), IntegerType::get(type.getContext(), 1), type.getEncoding());
}

/// The bools of which a mask is 0 where they are true, and -inf where they are false. Operators that move or cast the
/// mask's elements are created again for the bools. Null where the mask is something else; nothing is created then.
Value getBools(Value mask, PatternRewriter &rewriter) {
  Operation *made = mask.getDefiningOp();
  if (!made)
    return {};
  if (auto where = dyn_cast<graph::WhereOp>(made)) {
    auto seen = getNumber(where.getA()), unseen = getNumber(where.getB());
    bool isInverted = seen && std::isinf(*seen);
    if (isInverted)
      std::swap(seen, unseen);
    if (!seen || !unseen || *seen != 0 || !std::isinf(*unseen) || *unseen > 0 ||
        where.getCondition().getType() != getBoolType(mask))
      return {};
    Value condition = where.getCondition();
    if (!isInverted)
      return condition;
    return graph::NotOp::create(rewriter, made->getLoc(), TypeRange(getBoolType(mask)), ValueRange(condition), {});
  }
  if (!isa<graph::CastOp, graph::ReshapeOp, graph::ExpandOp, graph::TransposeOp>(made) ||
      !isa<FloatType>(typeOfTensor(made->getOperand(0)).getElementType()))
    return {};
  Value bools = getBools(made->getOperand(0), rewriter);
  if (!bools || isa<graph::CastOp>(made))
    return bools;
  IRMapping mapping;
  mapping.map(made->getOperand(0), bools);
  Operation *moved = rewriter.clone(*made, mapping);
  moved->getResult(0).setType(getBoolType(mask));
  return moved->getResult(0);
}

struct MaskOfBools : OpRewritePattern<graph::AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::AttentionOp op, PatternRewriter &rewriter) const override {
    if (!op.getMask() || !isa<FloatType>(typeOfTensor(op.getMask()).getElementType()))
      return rewriter.notifyMatchFailure(op, "no mask of floats");
    Value bools = getBools(op.getMask(), rewriter);
    if (!bools)
      return rewriter.notifyMatchFailure(op, "a mask that is not made of bools");
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().assign(bools); });
    return success();
  }
};

struct RaiseAttention : impl::RaiseAttentionBase<RaiseAttention> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AttentionOfMatmuls, AttentionOfFewerHeads, MaskOfBools>(&getContext());
    graph::ReshapeOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilewright
