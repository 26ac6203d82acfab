//===- Intervals.cpp - ranges of index expressions over loops -------------===//
#include "passes/linalg-to-loops/StageModel.h"

#include "mlir/IR/AffineExprVisitor.h"

#include <numeric>

using namespace mlir;

namespace tilewright {

static std::optional<int64_t> getConstant(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Simplification
//===----------------------------------------------------------------------===//

namespace {
/// An expression as a constant plus multiples of terms that are no sums. Upstream's simplification writes a mod as a
/// difference with a floordiv, of which no tight interval is known; here a mod stays one.
class Sum {
public:
  explicit Sum(AffineExpr expr, ExtentFn extent) : context(expr.getContext()), extent(extent) { add(expr, 1); }
  AffineExpr get();
  /// The part that is a multiple of `divisor`, divided, and the rest.
  std::pair<AffineExpr, AffineExpr> divide(int64_t divisor);

private:
  void add(AffineExpr expr, int64_t factor);
  void addTerm(AffineExpr term, int64_t factor);
  AffineExpr simplifyDivision(AffineBinaryOpExpr expr);

  MLIRContext *context;
  ExtentFn extent;
  SmallVector<std::pair<AffineExpr, int64_t>> terms;
  int64_t constant = 0;
};
} // namespace

void Sum::addTerm(AffineExpr term, int64_t factor) {
  for (auto &[known, count] : terms)
    if (known == term) {
      count += factor;
      return;
    }
  terms.push_back({term, factor});
}

void Sum::add(AffineExpr expr, int64_t factor) {
  if (auto value = getConstant(expr)) {
    constant += factor * *value;
    return;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return addTerm(expr, factor);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    add(binary.getLHS(), factor);
    return add(binary.getRHS(), factor);
  case AffineExprKind::Mul:
    if (auto value = getConstant(binary.getRHS()))
      return add(binary.getLHS(), factor * *value);
    return addTerm(simplify(binary.getLHS(), extent) * simplify(binary.getRHS(), extent), factor);
  default:
    AffineExpr simplified = simplifyDivision(binary);
    return simplified.getKind() == expr.getKind() ? addTerm(simplified, factor) : add(simplified, factor);
  }
}

std::pair<AffineExpr, AffineExpr> Sum::divide(int64_t divisor) {
  AffineExpr quotient = getAffineConstantExpr(llvm::divideFloorSigned(constant, divisor), context);
  AffineExpr rest = getAffineConstantExpr(llvm::mod(constant, divisor), context);
  for (auto [term, factor] : terms)
    if (factor % divisor == 0)
      quotient = quotient + term * (factor / divisor);
    else
      rest = rest + term * factor;
  return {quotient, rest};
}

AffineExpr Sum::simplifyDivision(AffineBinaryOpExpr expr) {
  AffineExpr lhs = simplify(expr.getLHS(), extent), rhs = simplify(expr.getRHS(), extent);
  auto divisor = getConstant(rhs);
  if (expr.getKind() == AffineExprKind::CeilDiv)
    return lhs.ceilDiv(rhs);
  bool isMod = expr.getKind() == AffineExprKind::Mod;
  if (!divisor || *divisor <= 0)
    return isMod ? lhs % rhs : lhs.floorDiv(rhs);
  auto [quotient, rest] = Sum(lhs, extent).divide(*divisor);
  // An extent is rounded up in one way, that of splits.
  if (!isMod && *divisor > 1 && rest.isSymbolicOrConstant() && Sum(rest, extent).constant == *divisor - 1)
    return quotient + simplify(rest - (*divisor - 1), extent).ceilDiv(rhs);
  bool small = extent && isProvablyNonNegative(rest, extent) && isProvablyLess(rest, rhs, extent);
  if (small)
    return isMod ? rest : quotient;
  // Multiples of g beside something below g: (g a + b) mod (g c) is g (a mod c) + b, and b is gone from the quotient.
  for (auto [term, factor] : Sum(rest, extent).terms) {
    int64_t g = std::abs(factor);
    if (!extent || g <= 1 || *divisor % g)
      continue;
    auto [coarse, fine] = Sum(rest, extent).divide(g);
    AffineExpr step = getAffineConstantExpr(g, context);
    if (!isProvablyNonNegative(fine, extent) || !isProvablyLess(fine, step, extent))
      continue;
    AffineExpr whole = isMod ? coarse % (*divisor / g) : coarse.floorDiv(*divisor / g);
    return isMod ? whole * g + fine : quotient + whole;
  }
  return isMod ? rest % rhs : quotient + rest.floorDiv(rhs);
}

AffineExpr Sum::get() {
  // x mod c + (x floordiv c) * c is x.
  for (auto &[term, factor] : terms) {
    auto mod = dyn_cast<AffineBinaryOpExpr>(term);
    auto divisor = mod && mod.getKind() == AffineExprKind::Mod ? getConstant(mod.getRHS()) : std::nullopt;
    if (!divisor || !factor)
      continue;
    AffineExpr division = mod.getLHS().floorDiv(mod.getRHS());
    for (auto &[other, count] : terms)
      if (other == division && count == factor * *divisor) {
        int64_t times = factor;
        factor = count = 0;
        Sum whole(*this);
        whole.add(mod.getLHS(), times);
        return whole.get();
      }
  }
  AffineExpr expr = getAffineConstantExpr(0, context);
  for (auto [term, factor] : terms)
    if (factor)
      expr = expr + term * factor;
  return expr + constant;
}

AffineExpr simplify(AffineExpr expr, ExtentFn extent) { return Sum(expr, extent).get(); }

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

static bool mentions(AffineExpr expr, llvm::function_ref<bool(unsigned)> runs) {
  bool found = false;
  expr.walk([&](AffineExpr e) {
    if (auto dim = dyn_cast<AffineDimExpr>(e))
      found |= runs(dim.getPosition());
  });
  return found;
}

static std::optional<Interval> getDivision(AffineExpr expr, AffineExpr lhs, AffineExpr rhs,
                                           llvm::function_ref<bool(unsigned)> runs,
                                           ExtentFn extent) {
  auto divisor = getConstant(rhs);
  auto of = getInterval(lhs, runs, extent);
  if (!divisor || *divisor <= 0 || !of)
    return std::nullopt;
  MLIRContext *context = expr.getContext();
  auto width = getConstant(of->width);
  bool aligned = of->min.isMultipleOf(*divisor);
  auto constantMin = getConstant(of->min);
  AffineExpr zero = getAffineConstantExpr(0, context);
  // What begins at a multiple of g and ends before the next one stays between two multiples of the divisor, if g divides that.
  int64_t granule = std::gcd(std::abs(of->min.getLargestKnownDivisor()), *divisor);
  if (!constantMin && width && *width < granule)
    return expr.getKind() == AffineExprKind::Mod ? Interval{simplify(of->min % *divisor), of->width}
                                                 : Interval{simplify(of->min.floorDiv(*divisor)), zero};
  if (expr.getKind() == AffineExprKind::Mod) {
    if (aligned && width && *width < *divisor)
      return Interval{zero, of->width};
    if (constantMin && width && *constantMin >= 0 && (*constantMin % *divisor) + *width < *divisor)
      return Interval{getAffineConstantExpr(*constantMin % *divisor, context), of->width};
    return Interval{zero, getAffineConstantExpr(*divisor - 1, context)};
  }
  AffineExpr min = simplify(of->min.floorDiv(*divisor));
  if (aligned)
    return Interval{min, simplify(of->width.floorDiv(*divisor))};
  if (constantMin && width)
    return Interval{min, getAffineConstantExpr(llvm::divideFloorSigned(*constantMin + *width, *divisor) -
                                                   llvm::divideFloorSigned(*constantMin, *divisor),
                                               context)};
  // Unaligned: one more than the aligned case at most.
  return Interval{min, simplify((of->width + (*divisor - granule)).floorDiv(*divisor))};
}

std::optional<Interval> getInterval(AffineExpr expr, llvm::function_ref<bool(unsigned)> runs,
                                    ExtentFn extent) {
  MLIRContext *context = expr.getContext();
  AffineExpr zero = getAffineConstantExpr(0, context);
  if (!mentions(expr, runs))
    return Interval{expr, zero};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return Interval{zero, simplify(extent(dim.getPosition()) - 1)};
  auto binary = cast<AffineBinaryOpExpr>(expr);
  AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
  switch (expr.getKind()) {
  case AffineExprKind::Add: {
    auto a = getInterval(lhs, runs, extent), b = getInterval(rhs, runs, extent);
    if (!a || !b)
      return std::nullopt;
    return Interval{simplify(a->min + b->min), simplify(a->width + b->width)};
  }
  case AffineExprKind::Mul: {
    auto of = getInterval(lhs, runs, extent);
    if (!of || mentions(rhs, runs))
      return std::nullopt;
    if (auto factor = getConstant(rhs); factor && *factor < 0)
      return Interval{simplify((of->min + of->width) * rhs), simplify(of->width * -*factor)};
    // A symbol is an extent, hence positive.
    return Interval{simplify(of->min * rhs), simplify(of->width * rhs)};
  }
  case AffineExprKind::FloorDiv:
  case AffineExprKind::Mod:
    return getDivision(expr, lhs, rhs, runs, extent);
  default:
    return std::nullopt;
  }
}

static bool always(unsigned) { return true; }

/// The least value of `factor` times an expression of symbols.
static std::optional<int64_t> getLeast(AffineExpr expr, int64_t factor, ExtentFn extent) {
  if (auto value = getConstant(expr))
    return factor * *value;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    auto least = extent.getLeast(symbol.getPosition());
    return least && factor > 0 ? std::optional<int64_t>(factor * *least) : std::nullopt;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  auto divisor = getConstant(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Add) {
    auto a = getLeast(binary.getLHS(), factor, extent), b = getLeast(binary.getRHS(), factor, extent);
    return a && b ? std::optional<int64_t>(*a + *b) : std::nullopt;
  }
  if (!divisor)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Mul)
    return getLeast(binary.getLHS(), factor * *divisor, extent);
  if (expr.getKind() == AffineExprKind::Mod)
    return factor > 0 ? 0 : factor * (*divisor - 1);
  auto of = factor > 0 ? getLeast(binary.getLHS(), 1, extent) : std::nullopt;
  if (!of || *divisor <= 0)
    return std::nullopt;
  bool isUp = expr.getKind() == AffineExprKind::CeilDiv;
  return factor * (isUp ? llvm::divideCeilSigned(*of, *divisor) : llvm::divideFloorSigned(*of, *divisor));
}

bool isProvablyLess(AffineExpr expr, AffineExpr bound, ExtentFn extent) {
  auto interval = getInterval(simplify(expr), always, extent);
  if (!interval)
    return false;
  auto room = getLeast(simplify(bound - interval->min - interval->width), 1, extent);
  return room && *room > 0;
}

bool isProvablyNonNegative(AffineExpr expr, ExtentFn extent) {
  auto interval = getInterval(simplify(expr), always, extent);
  if (!interval)
    return false;
  auto min = getLeast(simplify(interval->min), 1, extent);
  return min && *min >= 0;
}

AffineExpr getIndexExpr(linalg::GenericOp op, Value value) {
  if (auto index = value.getDefiningOp<linalg::IndexOp>())
    return getAffineDimExpr(index.getDim(), op.getContext());
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return getAffineConstantExpr(constant.getSExtValue(), op.getContext());
  auto apply = value.getDefiningOp<affine::AffineApplyOp>();
  if (!apply)
    return nullptr;
  SmallVector<AffineExpr> dims, symbols;
  for (auto [i, operand] : llvm::enumerate(apply.getMapOperands())) {
    AffineExpr expr = getIndexExpr(op, operand);
    if (!expr)
      return nullptr;
    (i < apply.getAffineMap().getNumDims() ? dims : symbols).push_back(expr);
  }
  return simplify(apply.getAffineMap().getResult(0).replaceDimsAndSymbols(dims, symbols));
}

SmallVector<Access> getReads(ScheduledStage &stage) {
  SmallVector<Access> reads;
  // Statements may read any element of what an extern reads.
  if (stage.externOp) {
    for (Value tensor : stage.externOp.getInputs())
      reads.push_back({tensor, SmallVector<AffineExpr>(cast<RankedTensorType>(tensor.getType()).getRank())});
    return reads;
  }
  linalg::GenericOp op = stage.op;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (isa<RankedTensorType>(operand->get().getType()) && op.payloadUsesValueFromOperand(operand))
      reads.push_back({operand->get(), SmallVector<AffineExpr>(op.getMatchingIndexingMap(operand).getResults())});
  op.getBody()->walk([&](tensor::ExtractOp extract) {
    Access access{extract.getTensor(), {}};
    for (Value index : extract.getIndices())
      access.indices.push_back(getIndexExpr(op, index));
    reads.push_back(access);
  });
  return reads;
}
} // namespace tilewright
