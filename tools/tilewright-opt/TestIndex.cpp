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
//   "test.never_equal"(%i, %j)       whether they differ, each with variables of its own
//   "test.different"(%i, %j)         whether they differ, for all that the values that both are made of can be
//   "test.simplify"(%i)              %i over loops (d0, …) and extents (s0, …), simplified
//   "test.interval"(%i, %loops…)     where %i begins and how far it reaches while these loops run
//   "test.less"(%i, %j)              whether %i < %j in all iterations
//
// In the last three all numbers that are no loops' are extents, which are 1 at least.
//
//===----------------------------------------------------------------------===//
#include "TestIndex.h"

#include "passes/index/Bounds.h"
#include "passes/index/IndexSpace.h"
#include "passes/index/LinearForm.h"
#include "passes/index/Stride.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// What is asked of one function.
class Questions {
public:
  explicit Questions(func::FuncOp function) : context(function.getContext()), space(context) {}

  void answer(Operation *op);

private:
  SmallVector<index::Range> getRanges();
  /// An expression of loops, the dimensions, and extents, the symbols.
  AffineExpr overLoops(Value value);
  AffineExpr getExtent(unsigned loop) { return overLoops(loops[loop].getUpperBound()); }
  void answerOfBounds(Operation *op, StringRef question);

  MLIRContext *context;
  index::IndexSpace space;
  SmallVector<scf::ForOp> loops;
  SmallVector<AffineExpr> kinds;
  SmallVector<std::optional<int64_t>> least;
};

struct TestIndex : PassWrapper<TestIndex, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestIndex)
  StringRef getArgument() const override { return "test-index"; }
  StringRef getDescription() const override {
    return "Says with remarks what the index library knows of marked values";
  }
  void runOnOperation() override {
    Questions questions(getOperation());
    getOperation().walk([&](Operation *op) {
      if (op->getName().getStringRef().starts_with("test."))
        questions.answer(op);
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

void Questions::answer(Operation *op) {
  StringRef question = op->getName().getStringRef();
  question.consume_front("test.");
  if (llvm::is_contained({"simplify", "interval", "less"}, question))
    return answerOfBounds(op, question);
  std::string text;
  llvm::raw_string_ostream out(text);
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
