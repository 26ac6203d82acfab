//===- LinearIndex.cpp - indices as sums of multiples of loops ------------===//
#include "passes/index/LinearIndex.h"
#include "passes/index/Range.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright::index {

std::optional<int64_t> getLoopExtent(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : nullptr;
  return loop && loop.getInductionVar() == value ? getConstantIntValue(loop.getUpperBound()) : std::nullopt;
}

/// The loop that a value is the number of, or a part of the number of.
static Value getRoot(Value value) {
  while (auto part = value.getDefiningOp<affine::AffineApplyOp>())
    value = part.getMapOperands()[0];
  return value;
}

/// What an expression of one value is, as the one affine.apply for it right behind that value.
static LinearIndex getPart(AffineExpr expr, Value value) {
  AffineMap map = AffineMap::get(1, 0, simplifyAffineExpr(expr, 1, 0));
  LinearIndex result;
  for (Operation *user : value.getUsers())
    if (auto known = dyn_cast<affine::AffineApplyOp>(user);
        known && known->getBlock() == value.getParentBlock() && known.getAffineMap() == map) {
      result.terms[known] = 1;
      return result;
    }
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  result.terms[affine::AffineApplyOp::create(builder, value.getLoc(), map, ValueRange(value)).getResult()] = 1;
  return result;
}

/// The quotient and the remainder of a division by a positive constant, where each is such a sum.
static std::optional<std::pair<LinearIndex, LinearIndex>> divide(const LinearIndex &index, int64_t by) {
  LinearIndex quotient, rest;
  int64_t largest = 0;
  bool isKnown = true;
  for (auto [value, factor] : index.terms) {
    if (factor % by == 0) {
      quotient.terms[value] = factor / by;
      continue;
    }
    std::optional<int64_t> extent = getLoopExtent(value);
    isKnown &= extent && factor > 0;
    rest.terms[value] = factor;
    largest += isKnown ? factor * (*extent - 1) : 0;
  }
  rest.constant = index.constant % by;
  if (rest.constant < 0)
    rest.constant += by;
  quotient.constant = (index.constant - rest.constant) / by;
  if (isKnown && largest + rest.constant < by)
    return std::pair{quotient, rest};
  // Multiples of a factor of the divisor, and less than that: of the multiples alone.
  for (auto [value, factor] : rest.terms) {
    if (rest.terms.size() < 2 || factor <= 1 || by % factor)
      continue;
    auto [multiples, less] = rest.splitMultiples(factor);
    bool isLess = less.constant >= 0 &&
                  llvm::all_of(less.terms, [](auto term) { return term.second > 0 && getLoopExtent(term.first); });
    int64_t most = less.constant;
    for (auto [one, times] : less.terms)
      most += isLess ? times * (*getLoopExtent(one) - 1) : 0;
    if (!isLess || most >= factor)
      continue;
    if (auto divided = divide(multiples.dividedBy(factor), by / factor))
      return std::pair{quotient.plus(divided->first), less.plus(divided->second, factor)};
  }
  // Of one value alone each is a value of its own.
  if (rest.terms.size() != 1)
    return std::nullopt;
  auto [value, factor] = *rest.terms.begin();
  AffineExpr whole = getAffineDimExpr(0, value.getContext()) * factor + rest.constant;
  return std::pair{quotient.plus(getPart(whole.floorDiv(by), value)), getPart(whole % by, value)};
}

static std::optional<LinearIndex> expand(AffineExpr expr, AffineMap map, ValueRange operands) {
  LinearIndex result;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    result.constant = constant.getValue();
    return result;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return LinearIndex::get(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return LinearIndex::get(operands[map.getNumDims() + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto left = expand(binary.getLHS(), map, operands), right = expand(binary.getRHS(), map, operands);
  if (!left || !right)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return left->plus(*right);
  if (!right->terms.empty())
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Mul)
    return result.plus(*left, right->constant);
  if (right->constant <= 0)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::CeilDiv)
    left->constant += right->constant - 1;
  auto divided = divide(*left, right->constant);
  if (!divided)
    return std::nullopt;
  return expr.getKind() == AffineExprKind::Mod ? divided->second : divided->first;
}

std::optional<LinearIndex> LinearIndex::get(Value index) {
  LinearIndex result;
  if (std::optional<int64_t> constant = getConstantIntValue(index)) {
    result.constant = *constant;
    return result;
  }
  if (auto apply = index.getDefiningOp<affine::AffineApplyOp>())
    return get(apply.getAffineMap(), apply.getMapOperands());
  if (getLoopExtent(index) != 1)
    result.terms[index] = 1;
  return result;
}

std::optional<LinearIndex> LinearIndex::get(AffineMap map, ValueRange operands) {
  return expand(map.getResult(0), map, operands);
}

std::optional<SmallVector<LinearIndex>> getLinearIndices(ValueRange indices) {
  SmallVector<LinearIndex> result;
  for (Value index : indices) {
    auto linear = LinearIndex::get(index);
    if (!linear)
      return std::nullopt;
    result.push_back(*linear);
  }
  return result;
}

std::optional<int64_t> LinearIndex::getMaximum() const {
  Range sum = Range::constant(constant);
  for (auto [value, factor] : terms) {
    if (factor < 0)
      return std::nullopt;
    sum = sum + index::getRange(value) * factor;
  }
  return sum.max;
}

std::pair<LinearIndex, LinearIndex> LinearIndex::splitMultiples(int64_t factor) const {
  LinearIndex multiples, rest;
  for (auto [value, times] : terms)
    (times % factor == 0 ? multiples : rest).terms[value] = times;
  multiples.constant = constant / factor * factor;
  rest.constant = constant - multiples.constant;
  return {multiples, rest};
}

bool LinearIndex::dependsOn(Value loop) const {
  return llvm::any_of(terms, [&](auto term) { return getRoot(term.first) == loop; });
}

bool LinearIndex::isMultipleOf(int64_t factor) const {
  return constant % factor == 0 && llvm::all_of(terms, [&](auto term) { return term.second % factor == 0; });
}

LinearIndex LinearIndex::plus(const LinearIndex &other, int64_t times) const {
  LinearIndex result = *this;
  result.constant += other.constant * times;
  for (auto [value, factor] : other.terms)
    result.terms[value] += factor * times;
  result.terms.remove_if([](auto term) { return term.second == 0; });
  return result;
}

LinearIndex LinearIndex::dividedBy(int64_t factor) const {
  LinearIndex result;
  result.constant = constant / factor;
  for (auto [value, times] : terms)
    result.terms[value] = times / factor;
  return result;
}

std::pair<LinearIndex, LinearIndex> LinearIndex::split(ArrayRef<scf::ForOp> loops) const {
  LinearIndex inner, outer;
  outer.constant = constant;
  for (auto [value, factor] : terms) {
    bool isInner =
        llvm::any_of(loops, [&, root = getRoot(value)](scf::ForOp loop) { return loop.getInductionVar() == root; });
    (isInner ? inner : outer).terms[value] = factor;
  }
  return {inner, outer};
}

static LinearIndex getPartOf(Value value) {
  LinearIndex result;
  result.terms[value] = 1;
  return result;
}

Value LinearIndex::materialize(OpBuilder &builder, Location loc, const IRMapping &mapping) const {
  AffineExpr sum = builder.getAffineConstantExpr(constant);
  SmallVector<OpFoldResult> operands;
  for (auto [value, factor] : terms) {
    sum = sum + builder.getAffineDimExpr(operands.size()) * factor;
    Value known = mapping.lookupOrNull(value);
    if (auto part = value.getDefiningOp<affine::AffineApplyOp>(); part && !known)
      known = affine::makeComposedAffineApply(builder, loc, part.getAffineMap(),
                                              {getPartOf(part.getMapOperands()[0]).materialize(builder, loc, mapping)});
    operands.push_back(known ? known : value);
  }
  if (operands.empty())
    return arith::ConstantIndexOp::create(builder, loc, constant);
  if (operands.size() == 1 && constant == 0 && terms.begin()->second == 1)
    return cast<Value>(operands[0]);
  return affine::makeComposedAffineApply(builder, loc, AffineMap::get(operands.size(), 0, sum), operands);
}

std::optional<SmallVector<Digit>> getDigits(const LinearIndex &index, int64_t extent) {
  SmallVector<Digit> digits;
  if (index.constant != 0)
    return std::nullopt;
  for (auto [value, factor] : index.terms) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : nullptr;
    std::optional<int64_t> count = getLoopExtent(value);
    if (!count)
      return std::nullopt;
    digits.push_back({loop, factor, *count});
  }
  llvm::sort(digits, [](const Digit &a, const Digit &b) { return a.stride < b.stride; });
  int64_t next = 1;
  for (const Digit &digit : digits) {
    if (digit.stride != next)
      return std::nullopt;
    next *= digit.extent;
  }
  if (next != extent)
    return std::nullopt;
  return digits;
}
} // namespace tilewright::index
