//===- InstructionMarks.cpp - loops that name a matrix instruction --------===//
#include "passes/loops-to-gpu/InstructionMarks.h"

#include "passes/loops-to-gpu/Fragments.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright {

/// The element that an operand of the multiplication is, before it is extended.
static memref::LoadOp getElement(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && isa<arith::ExtFOp, arith::ExtSIOp>(op))
    value = op->getOperand(0);
  return value.getDefiningOp<memref::LoadOp>();
}

bool isComputedFrom(Value value, scf::ForOp loop) {
  if (value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  return op && loop->isAncestor(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return isComputedFrom(operand, loop); });
}

FailureOr<MultiplyAdd> readMultiplyAdd(scf::ForOp nest, function_ref<InFlightDiagnostic()> refuse) {
  auto fail = [&](Operation *at, const Twine &got) -> LogicalResult {
    InFlightDiagnostic diag = refuse() << "expected the loops of one product, got " << got;
    if (at != nest)
      diag.attachNote(at->getLoc()) << "this is in them";
    return diag;
  };
  MultiplyAdd found;
  SmallVector<memref::LoadOp> loads;
  for (scf::ForOp loop = nest, inner; loop; loop = std::exchange(inner, scf::ForOp())) {
    if (getConstantIntValue(loop.getLowerBound()) != 0 || getConstantIntValue(loop.getStep()) != 1 ||
        !getConstantIntValue(loop.getUpperBound()))
      return fail(loop, "one that does not run from 0 by 1 to a constant");
    if (loop.getNumResults())
      return fail(loop, "one that carries values");
    found.loops.push_back(loop);
    for (Operation &op : loop.getBody()->without_terminator()) {
      auto store = dyn_cast<memref::StoreOp>(op);
      auto next = dyn_cast<scf::ForOp>(op);
      if ((store || next) && (found.store || inner))
        return fail(&op, "more than one statement");
      if (store)
        found.store = store;
      else if (next)
        inner = next;
      else if (auto load = dyn_cast<memref::LoadOp>(op))
        loads.push_back(load);
      else if (op.getNumRegions() || !isMemoryEffectFree(&op))
        return fail(&op, isa<scf::IfOp>(op) ? Twine("a condition") : "'" + op.getName().getStringRef() + "'");
    }
  }
  if (!found.store)
    return fail(nest, "none that store");
  memref::StoreOp store = found.store;
  Operation *add = store.getValue().getDefiningOp();
  if (!add || !isa<arith::AddFOp, arith::AddIOp>(add))
    return fail(store, "a store of something else than a sum");
  index::IndexSpace space(nest.getContext());
  Operation *multiply = nullptr;
  for (unsigned number : {0, 1}) {
    auto load = add->getOperand(number).getDefiningOp<memref::LoadOp>();
    // The element as it is before the store: of the same iteration.
    if (found.sum || !load || load.getMemRef() != store.getMemRef() || load->getBlock() != store->getBlock() ||
        space.get(load.getIndices()) != space.get(store.getIndices()))
      continue;
    found.sum = load;
    multiply = add->getOperand(1 - number).getDefiningOp();
  }
  if (!found.sum)
    return fail(store, "a sum that is stored elsewhere than where it was loaded from");
  if (!multiply || !isa<arith::MulFOp, arith::MulIOp>(multiply))
    return fail(add, "a sum with something else than a product");
  found.a = getElement(multiply->getOperand(0));
  found.b = getElement(multiply->getOperand(1));
  if (!found.a || !found.b)
    return fail(multiply, "a product of something else than two elements");
  if (found.a.getMemRef() == store.getMemRef() || found.b.getMemRef() == store.getMemRef())
    return fail(multiply, "a product of the sums themselves");
  if (loads.size() != 3 || found.a == found.b)
    return fail(multiply, "loads of other elements than the sum and the two that are multiplied");
  return found;
}
} // namespace tilewright
