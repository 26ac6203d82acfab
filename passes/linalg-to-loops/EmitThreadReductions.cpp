//===- EmitThreadReductions.cpp - reductions over axes bound to threads ---===//
//
// The loop over such an axis carries 2n values for a reduction of n: what is reduced so far, and the part of the latest
// iteration. Run in sequence, it combines the parts one after the other; mapped to threads, each thread has one part.
//
//===----------------------------------------------------------------------===//
#include "passes/linalg-to-loops/LoopEmitter.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright {

SmallVector<Value> LoopEmitter::emitCombine(const ScheduledStage &stage, ValueRange reduced, ValueRange elements) {
  IRMapping mapping;
  linalg::GenericOp op = stage.op;
  for (auto [argument, value] : llvm::zip_equal(op.getRegionOutputArgs(), reduced))
    mapping.map(argument, value);
  SmallVector<Value> results;
  Operation *yield = op.getBody()->getTerminator();
  for (Operation &inner : op.getBody()->without_terminator()) {
    auto numbers = inner.getAttrOfType<DenseI64ArrayAttr>(te::kCombineAttr);
    if (!numbers)
      continue;
    Operation *copy = builder.clone(inner, mapping);
    copy->removeAttr(te::kCombineAttr);
    for (auto [operand, number] : llvm::enumerate(numbers.asArrayRef()))
      if (number >= 0)
        copy->setOperand(operand, elements[number]);
  }
  for (auto [i, value] : llvm::enumerate(yield->getOperands()))
    // A reducer may return one of its operands as it is.
    results.push_back(mapping.contains(value) ? mapping.lookup(value) : elements[i]);
  return results;
}

FailureOr<SmallVector<Value>> LoopEmitter::emitParts(const ScheduledStage &stage, ArrayRef<const Axis *> threads,
                                                     ArrayRef<const Axis *> serial) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = stage.getLoc();
  if (!threads.empty()) {
    auto identity = emitIdentity(stage);
    if (failed(identity))
      return failure();
    SmallVector<Value> inits(*identity);
    llvm::append_range(inits, *identity);
    scf::ForOp loop = openLoop(threads.front(), inits);
    for (const ScheduledStage *attached : stage.attached)
      if (attached->attachAxis == threads.front() && failed(emitStage(*attached)))
        return failure();
    auto parts = emitParts(stage, threads.drop_front(), serial);
    if (failed(parts))
      return failure();
    SmallVector<Value> yielded = emitCombine(stage, loop.getRegionIterArgs().take_front(parts->size()), *parts);
    llvm::append_range(yielded, *parts);
    scf::YieldOp::create(builder, loc, yielded);
    return SmallVector<Value>(loop.getResults().take_front(parts->size()));
  }
  Destination part;
  part.indices.push_back(builder.getAffineConstantExpr(0));
  part.buffers = createPrivateBuffers(stage, {1}, ".part");
  auto identity = emitIdentity(stage);
  if (failed(identity))
    return failure();
  store(part, *identity, loc);
  auto update = [&]() -> LogicalResult {
    auto values = emitBody(stage, load(part, loc));
    if (failed(values))
      return failure();
    store(part, *values, loc);
    return success();
  };
  if (failed(emitLoops(serial, true, [&] { return emitGuarded(stage, true, update); })))
    return failure();
  return load(part, loc);
}

LogicalResult LoopEmitter::emitThreadReduction(const ScheduledStage &stage, unsigned firstReduce) {
  ArrayRef<const Axis *> loops(bounds[stage].loops);
  SmallVector<const Axis *> spatial, threads, serial;
  for (const Axis *loop : loops.drop_front(firstReduce))
    (!loop->isReduce ? spatial : loop->bind ? threads : serial).push_back(loop);
  OpBuilder::InsertionGuard guard(builder);
  // What is around the loops of threads is of their kernel, which a loop holds together.
  auto isOpened = [&](const Axis *loop) {
    return loop->bind || bounds[loop].extent != getAffineConstantExpr(1, bounds[loop].extent.getContext());
  };
  if (isa<func::FuncOp>(builder.getInsertionBlock()->getParentOp()) &&
      llvm::none_of(llvm::concat<const Axis *const>(loops.take_front(firstReduce), spatial), isOpened)) {
    Location loc = NameLoc::get(builder.getStringAttr("singleton"), stage.getLoc());
    auto loop = scf::ForOp::create(builder, loc, getConstant(0), getConstant(1), getConstant(1));
    loop->setAttr(schedule::kAxisAttr, schedule::AxisAttr::get(builder.getContext(), "singleton", stage.name));
    markKernel(stage, loop);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
  }
  return emitLoops(loops.take_front(firstReduce), /*withAttached=*/true, [&] {
    return emitLoops(spatial, /*withAttached=*/true, [&]() -> LogicalResult {
      auto reduced = emitParts(stage, threads, serial);
      if (failed(reduced))
        return failure();
      return emitGuarded(stage, false, [&] {
        store(getResult(stage), *reduced, stage.getLoc());
        return success();
      });
    });
  });
}
} // namespace tilewright
