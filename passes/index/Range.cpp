//===- Range.cpp - which values an index takes ----------------------------===//
#include "passes/index/Range.h"
#include "passes/index/LinearForm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;

namespace tilewright::index {

using End = std::optional<int64_t>;

static End add(End a, End b) { return a && b ? llvm::checkedAdd(*a, *b) : std::nullopt; }

static End multiply(End a, int64_t factor) { return a ? llvm::checkedMul(*a, factor) : std::nullopt; }

Range operator+(Range a, Range b) { return {add(a.min, b.min), add(a.max, b.max)}; }

Range operator*(Range range, int64_t factor) {
  if (factor == 0)
    return Range::constant(0);
  if (factor < 0)
    std::swap(range.min, range.max);
  return {multiply(range.min, factor), multiply(range.max, factor)};
}

Range intersect(Range a, Range b) {
  return {a.min && b.min ? std::max(a.min, b.min)
          : a.min        ? a.min
                         : b.min,
          a.max && b.max ? std::min(a.max, b.max)
          : a.max        ? a.max
                         : b.max};
}

static Range mapEnds(Range range, int64_t (*map)(int64_t, int64_t), int64_t divisor) {
  return {range.min ? End(map(*range.min, divisor)) : End(), range.max ? End(map(*range.max, divisor)) : End()};
}

Range floorDiv(Range range, int64_t divisor) { return mapEnds(range, llvm::divideFloorSigned, divisor); }

Range ceilDiv(Range range, int64_t divisor) { return mapEnds(range, llvm::divideCeilSigned, divisor); }

Range mod(Range range, int64_t divisor) {
  // All in one period: the remainders are in the same order.
  if (range.min && range.max &&
      llvm::divideFloorSigned(*range.min, divisor) == llvm::divideFloorSigned(*range.max, divisor))
    return {llvm::mod(*range.min, divisor), llvm::mod(*range.max, divisor)};
  return {0, divisor - 1};
}

Range OperandRanges::of(AffineExpr operand) const {
  auto dim = dyn_cast<AffineDimExpr>(operand);
  unsigned position = dim ? dim.getPosition() : numDims + cast<AffineSymbolExpr>(operand).getPosition();
  return position < ranges.size() ? ranges[position] : Range();
}

/// The range of an expression that is no sum.
static Range getTermRange(AffineExpr term, const OperandRanges &operands) {
  if (isa<AffineDimExpr, AffineSymbolExpr>(term))
    return operands.of(term);
  auto binary = dyn_cast<AffineBinaryOpExpr>(term);
  auto right = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
  if (!right || right.getValue() <= 0)
    return {};
  Range left = getRange(binary.getLHS(), operands);
  switch (term.getKind()) {
  case AffineExprKind::Mod:
    return mod(left, right.getValue());
  case AffineExprKind::FloorDiv:
    return floorDiv(left, right.getValue());
  case AffineExprKind::CeilDiv:
    return ceilDiv(left, right.getValue());
  default:
    return {};
  }
}

Range getRange(AffineExpr expr, const OperandRanges &operands) {
  LinearForm form = LinearForm::get(expr);
  Range sum = Range::constant(form.constant);
  for (const LinearForm::Term &term : form.terms)
    sum = sum + getTermRange(term.expr, operands) * term.coefficient;
  return sum;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static ConstantIntRanges toUpstream(Range range) {
  unsigned bits = IndexType::kInternalStorageBitWidth;
  return ConstantIntRanges::fromSigned(APInt(bits, range.min.value_or(INT64_MIN), /*isSigned=*/true),
                                       APInt(bits, range.max.value_or(INT64_MAX), /*isSigned=*/true));
}

Range fromUpstream(const ConstantIntRanges &range) {
  int64_t min = range.smin().getSExtValue(), max = range.smax().getSExtValue();
  return {min == INT64_MIN ? End() : End(min), max == INT64_MAX ? End() : End(max)};
}

namespace {
/// What has been found out during one question.
class ValueRanges {
public:
  Range get(Value value);

private:
  Range compute(Value value);

  llvm::SmallDenseMap<Value, Range> known;
};
} // namespace

Range ValueRanges::get(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Range range = compute(value);
  known.try_emplace(value, range);
  return range;
}

Range ValueRanges::compute(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return Range::constant(*constant);
  if (!value.getType().isIndex())
    return {};
  if (auto loop = scf::getForInductionVarOwner(value))
    return {get(loop.getLowerBound()).min, add(get(loop.getUpperBound()).max, -1)};
  Operation *op = value.getDefiningOp();
  if (auto apply = dyn_cast_or_null<affine::AffineApplyOp>(op)) {
    SmallVector<Range> operands =
        llvm::map_to_vector(apply.getMapOperands(), [&](Value operand) { return get(operand); });
    return getRange(apply.getAffineMap().getResult(0), {apply.getAffineMap().getNumDims(), operands});
  }
  auto inferable = dyn_cast_or_null<InferIntRangeInterface>(op);
  if (!inferable)
    return {};
  SmallVector<IntegerValueRange> operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) {
    if (operand.getType().isIndex())
      return IntegerValueRange(toUpstream(get(operand)));
    unsigned bits = ConstantIntRanges::getStorageBitwidth(operand.getType());
    return bits ? IntegerValueRange(ConstantIntRanges::maxRange(bits)) : IntegerValueRange();
  });
  Range result;
  inferable.inferResultRangesFromOptional(operands, [&](Value of, const IntegerValueRange &range) {
    if (of == value && !range.isUninitialized())
      result = fromUpstream(range.getValue());
  });
  return result;
}

Range getRange(Value value) { return ValueRanges().get(value); }

} // namespace tilewright::index
