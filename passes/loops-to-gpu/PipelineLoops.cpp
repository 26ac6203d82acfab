//===- PipelineLoops.cpp - shared buffers are filled iterations ahead -----===//
//
// A pipelined loop fills shared buffers and computes with them. Each buffer gets `depth` places, which the iterations
// take in turn. Before the loop the first `depth - 1` iterations fill theirs; in the loop, iteration k computes with
// its place while that of iteration k + depth - 1 is on its way.
//
//===----------------------------------------------------------------------===//
#include "passes/AddressSpaces.h"
#include "passes/loops-to-gpu/KernelMemory.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_PIPELINELOOPS
#include "passes/loops-to-gpu/Passes.h.inc"

namespace {
class Pipeliner {
public:
  Pipeliner(scf::ForOp loop, int64_t depth, bool isAsync)
      : loop(loop), depth(depth), isAsync(isAsync), loc(loop.getLoc()), builder(loop) {}

  LogicalResult run();

private:
  bool isBuffer(Value memref) const { return places.contains(memref); }
  bool isBufferAlloc(Operation *op) const { return isa<memref::AllocOp>(op) && isBuffer(op->getResult(0)); }
  LogicalResult collect();
  llvm::SmallSetVector<Operation *, 8> getNeeded(ArrayRef<Operation *> ops);
  LogicalResult checkReads();
  LogicalResult checkStore(memref::StoreOp store);
  /// What producers do for an iteration: all of it, or the half before or after the registers.
  enum class Part { Whole, ToRegisters, FromRegisters };
  void emitProducers(Value k, Part part);
  void useRegisters(memref::StoreOp store, Operation *nest, Part part, unsigned number);
  /// `emit` if there is an iteration `k`.
  void emitIfInside(Value k, llvm::function_ref<void()> emit);
  /// Loads and stores of the buffers below `root` go to the place of iteration `k`.
  void usePlace(Operation *root, Value k);
  Value add(Value k, int64_t distance);

  scf::ForOp loop, pipelined;
  int64_t depth;
  bool isAsync;
  Location loc;
  OpBuilder builder;
  llvm::SmallMapVector<Value, Value, 4> places;   // by buffer: the one with places for `depth` of it
  llvm::SmallSetVector<Operation *, 8> nests;     // of the loop's body: those that fill buffers
  llvm::SmallSetVector<Operation *, 8> producers; // the nests and what they need
  llvm::SmallSetVector<Operation *, 8> consumers; // the others and what they need
  SmallVector<Value> registers;                   // one a store of the producers
};
} // namespace

LogicalResult Pipeliner::collect() {
  if (loop.getNumResults())
    return loop.emitError("software_pipeline: expected a loop that carries no values");
  for (auto alloc : loop.getBody()->getOps<memref::AllocOp>())
    if (alloc->hasAttr(schedule::kPipelinedAttr))
      places[alloc] = nullptr;
  if (places.empty())
    return loop.emitError("software_pipeline: expected a loop that fills shared buffers, got one that fills none");

  for (Operation &op : loop.getBody()->without_terminator()) {
    LogicalResult valid = success();
    op.walk([&](memref::StoreOp store) {
      if (!isBuffer(store.getMemRef()))
        return;
      nests.insert(&op);
      if (succeeded(valid))
        valid = checkStore(store);
    });
    if (failed(valid))
      return failure();
  }
  producers = getNeeded(nests.getArrayRef());
  SmallVector<Operation *> rest;
  for (Operation &op : loop.getBody()->without_terminator())
    if (!producers.contains(&op) && !isBufferAlloc(&op))
      rest.push_back(&op);
  consumers = getNeeded(rest);
  return checkReads();
}

/// In the order of the body: `ops`, what they need, and what fills the arrays of a thread's own that they read.
llvm::SmallSetVector<Operation *, 8> Pipeliner::getNeeded(ArrayRef<Operation *> ops) {
  Block *body = loop.getBody();
  SmallVector<Operation *> pending(ops);
  llvm::SmallDenseSet<Operation *> needed(ops.begin(), ops.end());
  auto add = [&](Operation *op) {
    if (op && !isBufferAlloc(op) && needed.insert(op).second)
      pending.push_back(op);
  };
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *def = operand.getDefiningOp(); def && def->getBlock() == body)
          add(def);
    });
    if (isa<memref::AllocaOp>(op))
      for (Operation *user : op->getUsers())
        if (auto store = dyn_cast<memref::StoreOp>(user); store && store.getMemRef() == op->getResult(0))
          add(body->findAncestorOpInBlock(*store));
  }
  llvm::SmallSetVector<Operation *, 8> inOrder;
  for (Operation &op : *body)
    if (needed.contains(&op))
      inOrder.insert(&op);
  return inOrder;
}

/// Producers run ahead: they may read what they compute themselves, but nothing else that the loop computes.
LogicalResult Pipeliner::checkReads() {
  auto isOwn = [&](Value memref) {
    Operation *alloca = memref.getDefiningOp<memref::AllocaOp>();
    return alloca && loop->isProperAncestor(alloca);
  };
  llvm::SmallDenseSet<Value> written;
  bool writesMore = false;
  loop.getBody()->walk([&](memref::StoreOp store) {
    if (isOwn(store.getMemRef()))
      return;
    written.insert(store.getMemRef());
    writesMore |= !isBuffer(store.getMemRef()) && producers.contains(loop.getBody()->findAncestorOpInBlock(*store));
  });
  for (Operation *op : producers)
    if (writesMore || op->walk([&](memref::LoadOp load) {
                          return written.contains(load.getMemRef()) ? WalkResult::interrupt() : WalkResult::advance();
                        }).wasInterrupted())
      return op->emitError(
          "software_pipeline: expected a stage that reads what is there before the loop, got one that reads "
          "what the same iteration computes");
  return success();
}

LogicalResult Pipeliner::checkStore(memref::StoreOp store) {
  auto load = dyn_cast_or_null<memref::LoadOp>(getCopied(store.getValue()).load);
  if (isAsync && (!load || isShared(load.getMemRef()) || isPrivate(load.getMemRef())))
    return store.emitError(
        "software_pipeline: expected a stage that copies a global tensor, which can be done asynchronously, "
        "got one that computes its elements");
  for (Operation *around = store->getParentOp(); around != loop; around = around->getParentOp())
    if (auto inner = dyn_cast<scf::ForOp>(around); inner && !isAsync && !getConstantIntValue(inner.getUpperBound()))
      return inner.emitError(
          "software_pipeline: expected a loop of constant extent, as its elements are held in registers, got "
          "one that is symbolic");
  return success();
}

Value Pipeliner::add(Value k, int64_t distance) {
  AffineExpr next = builder.getAffineDimExpr(0) + distance;
  return getValueOrCreateConstantIndexOp(
      builder, loc, affine::makeComposedFoldedAffineApply(builder, loc, AffineMap::get(1, 0, next), OpFoldResult(k)));
}

void Pipeliner::usePlace(Operation *root, Value k) {
  OpBuilder::InsertionGuard guard(builder);
  Value place;
  auto indicesOf = [&](ValueRange old) {
    if (!place) {
      builder.setInsertionPoint(root);
      AffineExpr turn = builder.getAffineDimExpr(0) % depth;
      place = getValueOrCreateConstantIndexOp(
          builder, loc,
          affine::makeComposedFoldedAffineApply(builder, loc, AffineMap::get(1, 0, turn), OpFoldResult(k)));
    }
    SmallVector<Value> indices = {place};
    llvm::append_range(indices, old);
    return indices;
  };
  root->walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op); load && isBuffer(load.getMemRef())) {
      SmallVector<Value> indices = indicesOf(load.getIndices());
      load.getIndicesMutable().assign(indices);
      load.getMemrefMutable().assign(places[load.getMemRef()]);
    } else if (auto store = dyn_cast<memref::StoreOp>(op); store && isBuffer(store.getMemRef())) {
      SmallVector<Value> indices = indicesOf(store.getIndices());
      store.getIndicesMutable().assign(indices);
      store.getMemrefMutable().assign(places[store.getMemRef()]);
      if (isAsync)
        store->setAttr(schedule::kAsyncAttr, builder.getUnitAttr());
    }
  });
}

/// Splits a store of a producer's copy: what it stores goes to registers, or comes from them.
void Pipeliner::useRegisters(memref::StoreOp store, Operation *nest, Part part, unsigned number) {
  SmallVector<Value> indices;
  SmallVector<int64_t> shape;
  for (Operation *op = store; op != nest; op = op->getParentOp())
    if (auto around = dyn_cast<scf::ForOp>(op->getParentOp())) {
      indices.push_back(around.getInductionVar());
      shape.push_back(*getConstantIntValue(around.getUpperBound()));
    }
  std::reverse(indices.begin(), indices.end());
  std::reverse(shape.begin(), shape.end());
  OpBuilder::InsertionGuard guard(builder);
  if (number == registers.size()) {
    builder.setInsertionPoint(pipelined);
    Operation *buffer = store.getMemRef().getDefiningOp();
    registers.push_back(createPrivateBuffer(builder, store.getLoc(), shape, store.getValue().getType(),
                                            buffer ? buffer->getAttr(te::kStageAttr) : Attribute()));
  }
  builder.setInsertionPoint(store);
  if (part == Part::ToRegisters) {
    memref::StoreOp::create(builder, store.getLoc(), store.getValue(), registers[number], indices);
    store.erase();
  } else {
    store.getValueMutable().assign(memref::LoadOp::create(builder, store.getLoc(), registers[number], indices));
  }
}

void Pipeliner::emitProducers(Value k, Part part) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), k);
  unsigned number = 0;
  llvm::SmallDenseSet<Operation *> fetched;
  for (Operation *producer : producers) {
    bool isNest = nests.contains(producer);
    // What was fetched is not fetched again, nor is computed what was computed of it.
    bool isFetched = !isMemoryEffectFree(producer);
    producer->walk([&](Operation *op) {
      isFetched |=
          llvm::any_of(op->getOperands(), [&](Value value) { return fetched.contains(value.getDefiningOp()); });
    });
    if (part == Part::FromRegisters && !isNest && isFetched) {
      fetched.insert(producer);
      continue;
    }
    Operation *copy = builder.clone(*producer, mapping);
    if (!isNest)
      continue;
    SmallVector<memref::StoreOp> stores, others;
    copy->walk([&](memref::StoreOp store) { (isBuffer(store.getMemRef()) ? stores : others).push_back(store); });
    if (part != Part::Whole)
      for (memref::StoreOp store : stores)
        useRegisters(store, copy, part, number++);
    if (part == Part::FromRegisters) {
      for (memref::StoreOp store : others)
        store.erase();
      copy->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
        if (op != copy && isOpTriviallyDead(op))
          op->erase();
      });
    }
    // A store without a loop around it is gone once its value is in a register.
    if (part != Part::ToRegisters || !isa<memref::StoreOp>(producer))
      usePlace(copy, k);
  }
}

void Pipeliner::emitIfInside(Value k, llvm::function_ref<void()> emit) {
  auto number = getConstantIntValue(k), trips = getConstantIntValue(loop.getUpperBound());
  if (number && trips) {
    if (*number < *trips)
      emit();
    return;
  }
  OpBuilder::InsertionGuard guard(builder);
  Value isInside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, k, loop.getUpperBound());
  builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, isInside, /*withElseRegion=*/false).thenBlock());
  emit();
}

LogicalResult Pipeliner::run() {
  if (failed(collect()))
    return failure();
  for (auto &[buffer, made] : places) {
    auto alloc = buffer.getDefiningOp<memref::AllocOp>();
    made = memref::AllocOp::create(builder, alloc.getLoc(), withPlaces(alloc.getType(), depth));
    made.getDefiningOp()->setDiscardableAttrs(alloc->getDiscardableAttrDictionary());
    made.getDefiningOp()->removeDiscardableAttr(schedule::kPipelinedAttr);
  }
  auto commit = [&] {
    if (isAsync)
      NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  };
  for (int64_t k = 0; k < depth - 1; ++k) {
    Value number = arith::ConstantIndexOp::create(builder, loc, k);
    emitIfInside(number, [&] { emitProducers(number, Part::Whole); });
    commit();
  }

  pipelined = scf::ForOp::create(builder, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
  pipelined->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  pipelined->removeDiscardableAttr(schedule::kPipelineAttr);
  builder.setInsertionPointToStart(pipelined.getBody());
  Value k = pipelined.getInductionVar(), ahead = add(k, depth - 1);
  if (isAsync) {
    // All but the latest groups are there: that of this iteration is.
    NVVM::CpAsyncWaitGroupOp::create(builder, loc, depth - 2);
    emitIfInside(ahead, [&] { emitProducers(ahead, Part::Whole); });
    commit();
  } else {
    emitIfInside(ahead, [&] { emitProducers(ahead, Part::ToRegisters); });
  }
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), k);
  for (Operation *op : consumers)
    usePlace(builder.clone(*op, mapping), k);
  if (!isAsync)
    emitIfInside(ahead, [&] { emitProducers(ahead, Part::FromRegisters); });
  loop.erase();
  return success();
}

namespace {
struct PipelineLoops : impl::PipelineLoopsBase<PipelineLoops> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (loop->hasAttr(schedule::kPipelineAttr))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      auto pipeline = loop->getAttrOfType<schedule::PipelineAttr>(schedule::kPipelineAttr);
      if (failed(Pipeliner(loop, pipeline.getStages(), pipeline.getAsync()).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
} // namespace tilewright
