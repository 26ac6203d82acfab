//===- LinearForm.cpp - indices as sums of multiples ----------------------===//
#include "passes/index/LinearForm.h"
#include "passes/index/DigitExpr.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace tilewright::index {

static void collect(AffineExpr expr, int64_t factor, LinearForm &form) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    form.constant += factor * constant.getValue();
    return;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && expr.getKind() == AffineExprKind::Add) {
    collect(binary.getLHS(), factor, form);
    collect(binary.getRHS(), factor, form);
    return;
  }
  auto right = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
  if (right && expr.getKind() == AffineExprKind::Mul)
    return collect(binary.getLHS(), factor * right.getValue(), form);
  form.add(expr, factor);
}

LinearForm LinearForm::get(AffineExpr expr) {
  LinearForm form;
  collect(expr, 1, form);
  return form;
}

void LinearForm::add(AffineExpr expr, int64_t factor) {
  auto *known = llvm::find_if(terms, [&](const Term &term) { return term.expr == expr; });
  if (known == terms.end())
    known = &terms.emplace_back(Term{expr, 0});
  known->coefficient += factor;
  if (known->coefficient == 0)
    terms.erase(known);
}

void LinearForm::add(const LinearForm &other, int64_t factor) {
  constant += other.constant * factor;
  for (const Term &term : other.terms)
    add(term.expr, term.coefficient * factor);
}

AffineExpr LinearForm::getExpr(MLIRContext *context) const {
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (const Term &term : terms)
    sum = sum + term.expr * term.coefficient;
  return sum + constant;
}

int64_t LinearForm::getCoefficient(AffineExpr expr) const {
  const auto *found = llvm::find_if(terms, [&](const Term &term) { return term.expr == expr; });
  return found == terms.end() ? 0 : found->coefficient;
}

int64_t LinearForm::getCommonFactor() const {
  int64_t factor = 0;
  for (const Term &term : terms)
    factor = std::gcd(factor, term.coefficient);
  return factor;
}

Range LinearForm::getRange(const OperandRanges &operands) const {
  Range sum = Range::constant(constant);
  for (const Term &term : terms)
    sum = sum + index::getRange(term.expr, operands) * term.coefficient;
  return sum;
}

std::pair<LinearForm, LinearForm> LinearForm::divide(int64_t divisor) const {
  LinearForm quotient, rest;
  quotient.constant = llvm::divideFloorSigned(constant, divisor);
  rest.constant = llvm::mod(constant, divisor);
  for (const Term &term : terms)
    if (term.coefficient % divisor == 0)
      quotient.terms.push_back({term.expr, term.coefficient / divisor});
    else
      rest.terms.push_back(term);
  return {quotient, rest};
}

bool areNeverEqual(const LinearForm &a, const OperandRanges &operandsOfA, const LinearForm &b,
                   const OperandRanges &operandsOfB) {
  Range rangeOfA = a.getRange(operandsOfA), rangeOfB = b.getRange(operandsOfB);
  if (rangeOfA.isBelow(rangeOfB) || rangeOfB.isBelow(rangeOfA))
    return true;
  int64_t factor = std::gcd(a.getCommonFactor(), b.getCommonFactor());
  return factor > 1 && (a.constant - b.constant) % factor != 0;
}

std::optional<LinearForm> removeDigit(const LinearForm &form, AffineExpr digit, int64_t extent,
                                      const OperandRanges &operands) {
  int64_t coefficient = form.getCoefficient(digit), place = std::abs(coefficient), span = place * extent;
  if (span <= 0)
    return std::nullopt;
  LinearForm others = form;
  others.add(digit, -coefficient);
  // A digit that counts backwards is the complement of one that counts forwards.
  if (coefficient < 0)
    others.constant -= place * (extent - 1);
  auto [above, below] = others.divide(span);
  Range carry = below.getRange(operands);
  if (!carry.min || !carry.max || *carry.min < 0 || *carry.max >= place)
    return std::nullopt;
  LinearForm rest = below;
  rest.add(above, place);
  return rest;
}

static bool hasOperand(AffineExpr expr, llvm::function_ref<bool(AffineExpr)> isSought) {
  bool found = false;
  expr.walk([&](AffineExpr inner) { found |= isa<AffineDimExpr, AffineSymbolExpr>(inner) && isSought(inner); });
  return found;
}

/// The form in which remainders of a number are differences with quotients, and quotients of its quotients its own.
static LinearForm getQuotients(const LinearForm &form, AffineExpr number) {
  LinearForm result;
  result.constant = form.constant;
  for (const LinearForm::Term &term : form.terms) {
    auto digit = getDigit(term.expr);
    if (!digit || digit->first != number) {
      result.add(term.expr, term.coefficient);
      continue;
    }
    auto [stride, extent] = digit->second;
    result.add(number.floorDiv(stride), term.coefficient);
    if (extent)
      result.add(number.floorDiv(stride * *extent), -term.coefficient * *extent);
  }
  return result;
}

bool isDetermined(AffineExpr variable, ArrayRef<AffineExpr> exprs, llvm::function_ref<bool(AffineExpr)> varies,
                  const OperandRanges &operands) {
  auto isOf = [&](const LinearForm::Term &term) {
    return hasOperand(term.expr, [&](AffineExpr operand) { return operand == variable; });
  };
  // How far apart two values of a sum can be, but for what the variable adds; nothing where that is not known.
  auto getWidth = [&](const LinearForm &form) -> std::optional<int64_t> {
    LinearForm varying;
    for (const LinearForm::Term &term : form.terms)
      if (hasOperand(term.expr, varies))
        varying.terms.push_back(term);
    Range range = varying.getRange(operands);
    int64_t width;
    if (!range.min || !range.max || __builtin_sub_overflow(*range.max, *range.min, &width))
      return std::nullopt;
    return width;
  };
  SmallVector<LinearForm> forms;
  for (AffineExpr expr : exprs) {
    LinearForm form = getQuotients(LinearForm::get(expr), variable);
    // With a number, its quotient is known, too, where nothing carries into that.
    int64_t factor = 0;
    for (const LinearForm::Term &term : form.terms)
      if (isOf(term))
        factor = std::gcd(factor, term.coefficient);
    if (factor > 1) {
      auto [quotient, rest] = form.divide(factor);
      if (auto width = getWidth(rest); width && *width < factor)
        form = quotient;
    }
    forms.push_back(form);
  }
  // What is divided or a remainder of the variable in one form is taken out of the others.
  for (size_t i = 0; i < forms.size(); ++i)
    for (const LinearForm::Term &term : forms[i].terms)
      for (size_t j = 0; j < forms.size(); ++j)
        if (int64_t times = forms[j].getCoefficient(term.expr);
            j != i && term.expr != variable && isOf(term) && times % term.coefficient == 0)
          forms[j].add(forms[i], -times / term.coefficient);
  return llvm::any_of(forms, [&](const LinearForm &form) {
    int64_t slope = form.getCoefficient(variable);
    bool isLinear = llvm::all_of(form.terms, [&](auto &term) { return term.expr == variable || !isOf(term); });
    std::optional<int64_t> width = getWidth(form);
    return slope != 0 && isLinear && width && *width < std::abs(slope);
  });
}

std::optional<int64_t> getSlope(AffineExpr expr, AffineExpr variable, unsigned numDims, unsigned numSymbols) {
  AffineExpr step = simplifyAffineExpr(expr.replace(variable, variable + 1) - expr, numDims, numSymbols);
  auto constant = dyn_cast<AffineConstantExpr>(step);
  return constant ? std::optional(constant.getValue()) : std::nullopt;
}

/// Steps of a value that are looked at one by one.
static constexpr int64_t kMaxPeriod = 4096;

bool areDifferentEverywhere(AffineExpr here, AffineExpr there, unsigned numDims) {
  if (auto difference = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(here - there, numDims, 0)))
    return difference.getValue() != 0;
  SmallVector<unsigned> used;
  for (unsigned dim = 0; dim < numDims; ++dim)
    if (here.isFunctionOfDim(dim) || there.isFunctionOfDim(dim))
      used.push_back(dim);
  if (used.size() != 1)
    return false;
  // What is divided by c grows by a constant every c steps of what it is divided from; so after as many steps as the
  // product of all divisors, all has grown by a constant.
  int64_t period = 1;
  bool isKnown = true;
  for (AffineExpr expr : {here, there})
    expr.walk([&](AffineExpr inner) {
      auto binary = dyn_cast<AffineBinaryOpExpr>(inner);
      if (!binary || inner.getKind() == AffineExprKind::Add || inner.getKind() == AffineExprKind::Mul)
        return;
      auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
      isKnown &= divisor && divisor.getValue() > 0 && divisor.getValue() <= kMaxPeriod;
      if (isKnown)
        period = std::min(period * divisor.getValue(), kMaxPeriod + 1);
    });
  if (!isKnown || period > kMaxPeriod)
    return false;
  auto at = [&](AffineExpr expr, int64_t step) {
    AffineExpr value =
        expr.replace(getAffineDimExpr(used[0], expr.getContext()), getAffineConstantExpr(step, expr.getContext()));
    return cast<AffineConstantExpr>(simplifyAffineExpr(value, numDims, 0)).getValue();
  };
  if (at(here, period) != at(here, 0) || at(there, period) != at(there, 0))
    return false;
  return llvm::all_of(llvm::seq<int64_t>(period), [&](int64_t step) { return at(here, step) != at(there, step); });
}

} // namespace tilewright::index
