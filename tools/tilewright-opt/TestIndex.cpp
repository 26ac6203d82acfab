//===- TestIndex.cpp - what the index library says of marked values -------===//
//
// Tests ask passes/index with unregistered ops, and --test-index answers each with a remark:
//
//   "test.expression"(%i)            the affine expression; d0, d1, … are values in the order in which they are met
//   "test.form"(%i)                  the same as a sum of multiples
//   "test.range"(%i)                 the values that %i takes
//   "test.stride"(%i, %loop)         how %i grows with the loop's variable
//   "test.divisor"(%i, %loop)        the power of two that divides %i where the variable is 0
//   "test.digit"(%i, %j) {extent}    the rest of %i, of which %j is a digit
//   "test.number"(%i)                the value that %i is a digit of, as an expression, and which one
//   "test.whole"(%i…)                whether a number follows from these digits of it
//   "test.determined"(%v, %i…)       whether the value %v follows from %i…, whatever the variables of other loops
//   "test.never_equal"(%i, %j)       whether they differ, each with variables of its own
//   "test.different"(%i, %j)         whether they differ, for all that the values that both are made of can be
//   "test.simplify"(%i)              %i over loops (d0, …) and extents (s0, …), simplified
//   "test.interval"(%i, %loops…)     where %i begins and how far it reaches while these loops run
//   "test.less"(%i, %j)              whether %i < %j in all iterations
//   "test.known_less"(%i, %j) {more} whether %i + more < %j by what the program says of extents (te.minimum)
//   "test.extent"(%i)                of which argument's dimension it is the extent, in which units, and the least of
//   it "test.is_extent"(%i, %m) {dimension}   whether %i is always the extent of %m, and what divides the extent
//   "test.element"(%i…) {weights, length}  the number of the element at these indices, and its range
//   "test.places_apart"(%i, %j, %same…)    whether indices differ whatever the values that are not the same for both
//   "test.kernel_range"(%i)          in a gpu.func: the values that %i takes, and whether its op needs 64 bits
//
// In simplify, interval and less all numbers that are no loops' are extents, which are 1 at least.
//
//===----------------------------------------------------------------------===//
#include "TestIndex.h"

#include "passes/index/AccessForm.h"
#include "passes/index/Bounds.h"
#include "passes/index/DigitExpr.h"
#include "passes/index/Extents.h"
#include "passes/index/IndexRanges.h"
#include "passes/index/IndexSpace.h"
#include "passes/index/KnownValues.h"
#include "passes/index/LinearForm.h"
#include "passes/index/Stride.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// What is asked of one function.
class Questions {
public:
  explicit Questions(FunctionOpInterface function) : context(function->getContext()), space(context) {
    if (auto kernel = dyn_cast<gpu::GPUFuncOp>(function.getOperation()))
      kernelRanges.emplace(kernel);
  }

  void answer(Operation *op);

private:
  SmallVector<index::Range> getRanges();
  /// An expression of loops, the dimensions, and extents, the symbols.
  AffineExpr overLoops(Value value);
  AffineExpr getExtent(unsigned loop) { return overLoops(loops[loop].getUpperBound()); }
  void answerOfBounds(Operation *op, StringRef question);
  /// Whether it was a question about digits.
  bool answerOfDigits(Operation *op, StringRef question, raw_ostream &out);
  /// Whether it was a question about extents, accesses or kernels.
  bool answerOfPrograms(Operation *op, StringRef question, raw_ostream &out);

  MLIRContext *context;
  index::IndexSpace space;
  std::optional<index::IndexRanges> kernelRanges;
  SmallVector<scf::ForOp> loops;
  SmallVector<AffineExpr> kinds;
  SmallVector<std::optional<int64_t>> least;
};

struct TestIndex : PassWrapper<TestIndex, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestIndex)
  StringRef getArgument() const override { return "test-index"; }
  StringRef getDescription() const override {
    return "Says with remarks what the index library knows of marked values";
  }
  void runOnOperation() override {
    getOperation()->walk([](FunctionOpInterface function) {
      Questions questions(function);
      function->walk([&](Operation *op) {
        if (op->getName().getStringRef().starts_with("test."))
          questions.answer(op);
      });
    });
  }
};

raw_ostream &operator<<(raw_ostream &out, const index::Range &range) {
  auto end = [&](std::optional<int64_t> value) { return value ? std::to_string(*value) : std::string("unknown"); };
  return out << end(range.min) << " to " << end(range.max);
}

std::string toString(AffineExpr expr) {
  std::string text;
  llvm::raw_string_ostream(text) << expr;
  return text;
}

/// Quoted, for a test looks for a part of a remark.
void say(Operation *op, StringRef answer) { op->emitRemark() << "'" << answer << "'"; }
} // namespace

SmallVector<index::Range> Questions::getRanges() {
  SmallVector<index::Range> ranges;
  for (unsigned dim = 0; dim < space.getNumDims(); ++dim)
    ranges.push_back(index::getRange(space.getValue(dim)));
  return ranges;
}

AffineExpr Questions::overLoops(Value value) {
  AffineExpr expr = space.compose(value);
  while (kinds.size() < space.getNumDims()) {
    if (scf::ForOp loop = scf::getForInductionVarOwner(space.getValue(kinds.size()))) {
      kinds.push_back(getAffineDimExpr(loops.size(), context));
      loops.push_back(loop);
    } else {
      kinds.push_back(getAffineSymbolExpr(least.size(), context));
      least.push_back(1);
    }
  }
  return expr.replaceDims(kinds);
}

void Questions::answerOfBounds(Operation *op, StringRef question) {
  AffineExpr expr = overLoops(op->getOperand(0));
  SmallVector<AffineExpr> others;
  for (Value operand : op->getOperands().drop_front())
    others.push_back(overLoops(operand));
  SmallVector<AffineExpr> extents;
  for (unsigned loop = 0; loop < loops.size(); ++loop) // grows while the extents are of further loops
    extents.push_back(getExtent(loop));
  auto getExtents = [&](unsigned loop) { return extents[loop]; }; // ExtentFn refers to it
  index::ExtentFn extent(getExtents, least);
  if (question == "simplify")
    return say(op, toString(index::simplify(expr, extent)));
  if (question == "less")
    return say(op, index::isProvablyLess(expr, others[0], extent) ? "yes" : "not known");
  auto runs = [&](unsigned loop) { return llvm::is_contained(others, getAffineDimExpr(loop, context)); };
  std::optional<index::Interval> interval = index::getInterval(expr, runs, extent);
  say(op, interval ? "from " + toString(interval->min) + " by " + toString(interval->width) : "not known");
}

bool Questions::answerOfDigits(Operation *op, StringRef question, raw_ostream &out) {
  if (question == "number") {
    auto digit = index::getDigit(op->getOperand(0));
    if (!digit)
      return out << "no digit", true;
    out << space.get(digit->first) << " by " << digit->second.stride;
    if (digit->second.extent)
      out << " up to " << *digit->second.extent;
  } else if (question == "whole") {
    SmallVector<index::DigitExpr> digits =
        llvm::map_to_vector(op->getOperands(), [](Value digit) { return index::getDigit(digit)->second; });
    out << (index::areWhole(digits) ? "yes" : "not known");
  } else if (question == "determined") {
    SmallVector<AffineExpr> exprs = space.get(op->getOperands());
    auto varies = [&](AffineExpr operand) {
      Value value = space.getValue(cast<AffineDimExpr>(operand).getPosition());
      return operand != exprs[0] && scf::getForInductionVarOwner(value);
    };
    SmallVector<index::Range> ranges = getRanges();
    bool isKnown = index::isDetermined(exprs[0], ArrayRef(exprs).drop_front(), varies, {space.getNumDims(), ranges});
    out << (isKnown ? "yes" : "not known");
  } else {
    return false;
  }
  return true;
}

bool Questions::answerOfPrograms(Operation *op, StringRef question, raw_ostream &out) {
  Value first = op->getOperand(0);
  auto number = [&](StringRef name) { return op->getAttrOfType<IntegerAttr>(name).getInt(); };
  if (question == "known_less") {
    out << (index::KnownValues(context).isLess(first, op->getOperand(1), number("more")) ? "yes" : "not known");
  } else if (question == "extent") {
    if (std::optional<index::Extent> extent = index::Extent::get(first))
      out << "dimension " << extent->dimension << " of #" << cast<BlockArgument>(extent->tensor).getArgNumber()
          << " by " << extent->unit << ", at least " << extent->getLeast();
    else
      out << "none";
  } else if (question == "is_extent") {
    Value tensor = op->getOperand(1);
    unsigned dimension = number("dimension");
    std::optional<index::LinearIndex> sum = index::LinearIndex::get(first);
    out << (sum && index::isExtent(*sum, tensor, dimension) ? "yes" : "not known") << ", a multiple of "
        << index::getKnownDivisor(tensor, dimension);
  } else if (question == "element") {
    index::AccessForm access(op->getOperands(), number("length"), std::equal_to<Value>());
    index::LinearForm form = access.getForm(op->getAttrOfType<DenseI64ArrayAttr>("weights").asArrayRef());
    out << form.getExpr(context) << ": " << form.getRange(access.getRanges());
  } else if (question == "places_apart") {
    index::AccessForm here(first, 1, std::equal_to<Value>()), there(op->getOperand(1), 1, std::equal_to<Value>());
    auto isSame = [&](Value value) { return llvm::is_contained(op->getOperands().drop_front(2), value); };
    auto forms = here.getFormsApart(there, 0, isSame);
    bool isApart = forms && index::areNeverEqual(forms->first, here.getRanges(), forms->second, there.getRanges());
    out << (here.differsFrom(there, isSame) || isApart ? "yes" : "not known");
  } else if (question == "kernel_range") {
    ConstantIntRanges range = kernelRanges->of(first);
    out << range.smin() << " to " << range.smax();
    if (Operation *defining = first.getDefiningOp())
      out << (kernelRanges->needs64Bits(defining) ? ", by 64 bits" : ", by 32 bits");
  } else {
    return false;
  }
  return true;
}

void Questions::answer(Operation *op) {
  StringRef question = op->getName().getStringRef();
  question.consume_front("test.");
  if (llvm::is_contained({"simplify", "interval", "less"}, question))
    return answerOfBounds(op, question);
  std::string text;
  llvm::raw_string_ostream out(text);
  if (answerOfDigits(op, question, out) || answerOfPrograms(op, question, out))
    return say(op, text);
  AffineExpr expr = space.get(op->getOperand(0));
  Value other = op->getNumOperands() > 1 ? op->getOperand(1) : Value();
  if (question == "expression") {
    out << expr;
  } else if (question == "form") {
    auto form = index::LinearForm::get(expr);
    for (const index::LinearForm::Term &term : form.terms)
      out << term.coefficient << " of " << term.expr << ", ";
    out << form.constant;
  } else if (question == "range") {
    out << index::getRange(op->getOperand(0));
  } else if (question == "stride") {
    std::optional<int64_t> stride = index::getStride(op->getOperand(0), other);
    out << (stride ? std::to_string(*stride) : "not known");
  } else if (question == "divisor") {
    out << index::getDivisor(op->getOperand(0), other);
  } else if (question == "digit") {
    AffineExpr digit = space.get(other);
    SmallVector<index::Range> ranges = getRanges();
    auto rest = index::removeDigit(index::LinearForm::get(expr), digit,
                                   op->getAttrOfType<IntegerAttr>("extent").getInt(), {space.getNumDims(), ranges});
    if (rest)
      out << rest->getExpr(context);
    else
      out << "no digit";
  } else if (question == "never_equal") {
    AffineExpr there = space.get(other);
    SmallVector<index::Range> ranges = getRanges();
    index::OperandRanges operands{space.getNumDims(), ranges};
    bool isNever =
        index::areNeverEqual(index::LinearForm::get(expr), operands, index::LinearForm::get(there), operands);
    out << (isNever ? "yes" : "not known");
  } else if (question == "different") {
    AffineExpr there = space.get(other);
    out << (index::areDifferentEverywhere(expr, there, space.getNumDims()) ? "yes" : "not known");
  } else {
    out << "unknown question";
  }
  say(op, text);
}

void tilewright::registerTestIndex() { PassRegistration<TestIndex>(); }
