//===- Repair.cpp - how a reduction follows another one's result ----------===//
#include "passes/Repair.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {

LogicalResult Repair::refuse(Operation *op, const Twine &why) {
  reason = why.str();
  culprit = op;
  return failure();
}

bool Repair::depends(Value value) {
  if (isX(value))
    return true;
  if (auto it = known.find(value); it != known.end())
    return it->second;
  bool found = false;
  if (Operation *op = value.getDefiningOp(); op && scope->isProperAncestor(op))
    op->walk([&](Operation *inner) {
      found |= llvm::any_of(inner->getOperands(), [&](Value each) { return depends(each); });
    });
  return known[value] = found;
}

/// Whether a load reads the same for all elements: at one place, in memory that nobody writes to meanwhile.
static bool isOfOnePlace(memref::LoadOp load, llvm::function_ref<bool(Value)> dependsOnRest) {
  return !load.getMemRefType().getMemorySpace() && !llvm::any_of(load.getIndices(), dependsOnRest) &&
         isa<BlockArgument>(load.getMemRef()) &&
         llvm::all_of(load.getMemRef().getUsers(), llvm::IsaPred<memref::LoadOp>);
}

bool Repair::dependsOnRest(Value value) {
  if (isX(value))
    return false;
  if (auto it = knownRest.find(value); it != knownRest.end())
    return it->second;
  bool found = false;
  Operation *op = value.getDefiningOp();
  if (!op) {
    found = scope->isAncestor(cast<BlockArgument>(value).getOwner()->getParentOp());
  } else if (scope->isProperAncestor(op)) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      found = !isOfOnePlace(load, [&](Value index) { return dependsOnRest(index); });
    else if (isa<te::ReadOp>(op))
      found = true;
    else
      op->walk([&](Operation *inner) {
        found |= llvm::any_of(inner->getOperands(), [&](Value each) { return dependsOnRest(each); });
      });
  }
  return knownRest[value] = found;
}

bool Repair::isUniform(Value value) { return !depends(value) && !dependsOnRest(value); }

static bool isZeroTerm(Value value) { return matchPattern(value, m_AnyZeroFloat()); }

/// Goes through a product for the factors exp(a(x)); nothing else in it may depend on x.
LogicalResult Repair::findFactors(Value value) {
  if (!depends(value))
    return success();
  Operation *op = value.getDefiningOp();
  if (isa<arith::MulFOp>(op)) {
    if (failed(findFactors(op->getOperand(0))))
      return failure();
    return findFactors(op->getOperand(1));
  }
  if (isa<arith::DivFOp>(op)) {
    size_t before = exponents.size();
    if (failed(findFactors(op->getOperand(1))))
      return failure();
    for (Exponent &each : MutableArrayRef(exponents).drop_front(before))
      each.isNegative = !each.isNegative;
    return findFactors(op->getOperand(0));
  }
  if (isa<arith::NegFOp, arith::ExtFOp, arith::TruncFOp>(op))
    return findFactors(op->getOperand(0));
  if (isa<math::ExpOp, math::Exp2Op>(op)) {
    exponents.push_back({op->getOperand(0), false, isa<math::Exp2Op>(op)});
    return checkTerms(op->getOperand(0));
  }
  // Where something is masked away, zero stays zero.
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    if (!depends(select.getCondition()) && (isZeroTerm(select.getTrueValue()) || isZeroTerm(select.getFalseValue())))
      return findFactors(isZeroTerm(select.getTrueValue()) ? select.getFalseValue() : select.getTrueValue());
  } else if (auto ifOp = dyn_cast<scf::IfOp>(op); ifOp && ifOp.getNumResults() == 1 && !depends(ifOp.getCondition())) {
    Value yes = ifOp.thenYield().getOperand(0), no = ifOp.elseYield().getOperand(0);
    if (isZeroTerm(yes) || isZeroTerm(no))
      return findFactors(isZeroTerm(yes) ? no : yes);
  }
  return refuse(op, "the element of '" + name + "' as a product with factors exp(x), where x is what it reads of '" +
                        followed + "'");
}

/// A function of x alone, which is cloned.
LogicalResult Repair::checkFunction(Value value) {
  Operation *op = value.getDefiningOp();
  if (!depends(value) || isX(value))
    return success();
  if (op->getNumRegions())
    return refuse(op, "terms without choices between operations");
  for (Value operand : op->getOperands())
    if (failed(checkFunction(operand)))
      return failure();
  return success();
}

/// Goes through a sum: its terms may depend on x alone or not at all.
LogicalResult Repair::checkTerms(Value value) {
  if (!depends(value))
    return success();
  if (!dependsOnRest(value))
    return checkFunction(value);
  Operation *op = value.getDefiningOp();
  if (isa<arith::AddFOp, arith::SubFOp>(op)) {
    if (failed(checkTerms(op->getOperand(0))))
      return failure();
    return checkTerms(op->getOperand(1));
  }
  if (isa<arith::NegFOp, arith::ExtFOp, arith::TruncFOp>(op))
    return checkTerms(op->getOperand(0));
  if (isa<arith::MulFOp>(op)) {
    bool isFirst = depends(op->getOperand(0));
    if (isUniform(op->getOperand(isFirst ? 1 : 0)))
      return checkTerms(op->getOperand(isFirst ? 0 : 1));
  }
  if (isa<arith::DivFOp>(op) && isUniform(op->getOperand(1)))
    return checkTerms(op->getOperand(0));
  return refuse(op, "a sum of terms that depend either on '" + followed + "' or on the rest");
}

LogicalResult Repair::findOfExtremum(Value element) {
  additive = element;
  return checkTerms(element);
}

Value Repair::convert(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (value.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

Value Repair::buildTerms(OpBuilder &builder, Location loc, Value value, Value at) {
  if (!depends(value))
    return nullptr;
  if (isX(value))
    return at;
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned i) { return buildTerms(builder, loc, op->getOperand(i), at); };
  if (isa<arith::AddFOp, arith::SubFOp>(op)) {
    Value lhs = operand(0), rhs = operand(1);
    if (!rhs)
      return lhs;
    if (isa<arith::AddFOp>(op))
      return lhs ? arith::AddFOp::create(builder, loc, lhs, rhs).getResult() : rhs;
    return lhs ? arith::SubFOp::create(builder, loc, lhs, rhs).getResult()
               : arith::NegFOp::create(builder, loc, rhs).getResult();
  }
  // What else there is between depends on x alone, or is linear.
  IRMapping mapping;
  for (Value each : op->getOperands())
    if (depends(each))
      mapping.map(each, buildTerms(builder, loc, each, at));
    else if (Operation *defining = each.getDefiningOp();
             defining && scope->isProperAncestor(defining) && !mapping.contains(each)) {
      // A constant, or what is computed of such.
      std::function<void(Operation *)> clone = [&](Operation *one) {
        for (Value inner : one->getOperands())
          if (Operation *below = inner.getDefiningOp();
              below && scope->isProperAncestor(below) && !mapping.contains(inner))
            clone(below);
        builder.clone(*one, mapping);
      };
      clone(defining);
    }
  return builder.clone(*op, mapping)->getResult(0);
}

Value Repair::build(OpBuilder &builder, Location loc, Value value, Value from, Value to) {
  Type type = value.getType();
  auto difference = [&](Value terms) -> Value {
    Value before = buildTerms(builder, loc, terms, from), after = buildTerms(builder, loc, terms, to);
    auto lhs = after.getDefiningOp<arith::NegFOp>(), rhs = before.getDefiningOp<arith::NegFOp>();
    if (!lhs || !rhs)
      return arith::SubFOp::create(builder, loc, after, before);
    Value difference = arith::SubFOp::create(builder, loc, rhs.getOperand(), lhs.getOperand());
    lhs.erase();
    rhs.erase();
    return difference;
  };
  if (additive)
    return depends(additive)
               ? arith::AddFOp::create(builder, loc, value, convert(builder, loc, difference(additive), type))
                     .getResult()
               : value;
  for (const Exponent &each : exponents) {
    Value exponent = difference(each.value);
    if (each.isNegative)
      exponent = arith::NegFOp::create(builder, loc, exponent);
    Value factor = each.isBaseTwo ? math::Exp2Op::create(builder, loc, exponent).getResult()
                                  : math::ExpOp::create(builder, loc, exponent).getResult();
    value = arith::MulFOp::create(builder, loc, value, convert(builder, loc, factor, type));
  }
  return value;
}
} // namespace tilewright
