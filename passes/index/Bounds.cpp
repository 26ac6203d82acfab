//===- Bounds.cpp - bounds of index expressions over loops ----------------===//
#include "passes/index/Bounds.h"
#include "passes/index/LinearForm.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace tilewright::index {

static std::optional<int64_t> getConstant(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Simplification
//===----------------------------------------------------------------------===//

namespace {
/// Makes the linear form of an expression whose terms are simplified.
class Simplifier {
public:
  explicit Simplifier(AffineExpr expr, ExtentFn extent) : context(expr.getContext()), extent(extent) { add(expr, 1); }
  AffineExpr get();
  const LinearForm &getForm() const { return form; }

private:
  void add(AffineExpr expr, int64_t factor);
  AffineExpr simplifyDivision(AffineBinaryOpExpr expr);

  MLIRContext *context;
  ExtentFn extent;
  LinearForm form;
};
} // namespace

void Simplifier::add(AffineExpr expr, int64_t factor) {
  LinearForm whole = LinearForm::get(expr);
  form.constant += factor * whole.constant;
  for (const LinearForm::Term &term : whole.terms) {
    int64_t coefficient = factor * term.coefficient;
    auto binary = dyn_cast<AffineBinaryOpExpr>(term.expr);
    if (!binary) {
      form.add(term.expr, coefficient);
    } else if (term.expr.getKind() == AffineExprKind::Mul) {
      form.add(LinearForm::get(simplify(binary.getLHS(), extent) * simplify(binary.getRHS(), extent)), coefficient);
    } else {
      AffineExpr simplified = simplifyDivision(binary);
      if (simplified.getKind() == term.expr.getKind())
        form.add(simplified, coefficient);
      else
        add(simplified, coefficient);
    }
  }
}

AffineExpr Simplifier::simplifyDivision(AffineBinaryOpExpr expr) {
  AffineExpr lhs = simplify(expr.getLHS(), extent), rhs = simplify(expr.getRHS(), extent);
  auto divisor = getConstant(rhs);
  if (expr.getKind() == AffineExprKind::CeilDiv)
    return lhs.ceilDiv(rhs);
  bool isMod = expr.getKind() == AffineExprKind::Mod;
  if (!divisor || *divisor <= 0)
    return isMod ? lhs % rhs : lhs.floorDiv(rhs);
  auto parts = Simplifier(lhs, extent).getForm().divide(*divisor);
  AffineExpr quotient = parts.first.getExpr(context), rest = parts.second.getExpr(context);
  // An extent is rounded up in one way, that of splits.
  if (!isMod && *divisor > 1 && rest.isSymbolicOrConstant() &&
      Simplifier(rest, extent).getForm().constant == *divisor - 1)
    return quotient + simplify(rest - (*divisor - 1), extent).ceilDiv(rhs);
  bool small = extent && isProvablyNonNegative(rest, extent) && isProvablyLess(rest, rhs, extent);
  if (small)
    return isMod ? rest : quotient;
  // Multiples of g beside something below g: (g a + b) mod (g c) is g (a mod c) + b, and b is gone from the quotient.
  LinearForm restForm = Simplifier(rest, extent).getForm();
  for (const LinearForm::Term &term : restForm.terms) {
    int64_t g = std::abs(term.coefficient);
    if (!extent || g <= 1 || *divisor % g)
      continue;
    auto [coarseForm, fineForm] = restForm.divide(g);
    AffineExpr coarse = coarseForm.getExpr(context), fine = fineForm.getExpr(context);
    AffineExpr step = getAffineConstantExpr(g, context);
    if (!isProvablyNonNegative(fine, extent) || !isProvablyLess(fine, step, extent))
      continue;
    AffineExpr whole = isMod ? coarse % (*divisor / g) : coarse.floorDiv(*divisor / g);
    return isMod ? whole * g + fine : quotient + whole;
  }
  return isMod ? rest % rhs : quotient + rest.floorDiv(rhs);
}

AffineExpr Simplifier::get() {
  // x mod c + (x floordiv c) * c is x.
  for (const LinearForm::Term &term : form.terms) {
    auto mod = dyn_cast<AffineBinaryOpExpr>(term.expr);
    auto divisor = mod && mod.getKind() == AffineExprKind::Mod ? getConstant(mod.getRHS()) : std::nullopt;
    if (!divisor)
      continue;
    AffineExpr division = mod.getLHS().floorDiv(mod.getRHS());
    int64_t times = term.coefficient;
    if (form.getCoefficient(division) != times * *divisor)
      continue;
    Simplifier whole(*this);
    whole.form.add(mod, -times);
    whole.form.add(division, -times * *divisor);
    whole.add(mod.getLHS(), times);
    return whole.get();
  }
  // And x - (x floordiv c) * c, as upstream writes it, is x mod c.
  for (const LinearForm::Term &term : form.terms) {
    auto division = dyn_cast<AffineBinaryOpExpr>(term.expr);
    auto divisor =
        division && division.getKind() == AffineExprKind::FloorDiv ? getConstant(division.getRHS()) : std::nullopt;
    int64_t times = divisor && *divisor > 1 && term.coefficient % *divisor == 0 ? -(term.coefficient / *divisor) : 0;
    if (times <= 0)
      continue;
    LinearForm dividend = LinearForm::get(division.getLHS());
    if (!llvm::all_of(dividend.terms, [&](const LinearForm::Term &part) {
          return form.getCoefficient(part.expr) == times * part.coefficient;
        }))
      continue;
    Simplifier whole(*this);
    whole.form.add(division, -term.coefficient);
    whole.form.add(dividend, -times);
    whole.add(division.getLHS() % division.getRHS(), times);
    return whole.get();
  }
  return form.getExpr(context);
}

AffineExpr simplify(AffineExpr expr, ExtentFn extent) { return Simplifier(expr, extent).get(); }

bool isMultipleOf(AffineExpr expr, int64_t factor) { return expr.getLargestKnownDivisor() % factor == 0; }

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
                                           llvm::function_ref<bool(unsigned)> runs, ExtentFn extent) {
  auto divisor = getConstant(rhs);
  auto of = getInterval(lhs, runs, extent);
  if (!divisor || *divisor <= 0 || !of)
    return std::nullopt;
  MLIRContext *context = expr.getContext();
  auto width = getConstant(of->width);
  bool aligned = isMultipleOf(of->min, *divisor);
  auto constantMin = getConstant(of->min);
  AffineExpr zero = getAffineConstantExpr(0, context);
  // What begins at a multiple of g and ends before the next one stays between two multiples of the divisor, if g
  // divides that.
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

std::optional<Interval> getInterval(AffineExpr expr, llvm::function_ref<bool(unsigned)> runs, ExtentFn extent) {
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

} // namespace tilewright::index
