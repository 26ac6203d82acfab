//===- InjectVirtualThreads.cpp - one thread runs some, side by side ------===//
//
// A loop on virtual threads is distributed over the ops of its body: each op for all of them, then the next. What does
// not depend on the virtual thread is done once; a buffer whose contents depend on it gets a place for each.
//
//===----------------------------------------------------------------------===//
#include "dialects/TE/BufferAllocation.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/UserNames.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_INJECTVIRTUALTHREADS
#include "passes/loops-to-gpu/Passes.h.inc"

namespace {
class Injector {
public:
  Injector(scf::ForOp loop, int64_t count) : loop(loop), builder(loop), copies(count) {}

  LogicalResult run() {
    while (findVarying())
      ;
    for (auto [i, copy] : llvm::enumerate(copies))
      copy.map(loop.getInductionVar(), arith::ConstantIndexOp::create(builder, loop.getLoc(), i));
    if (failed(distribute(*loop.getBody())))
      return failure();
    loop.erase();
    return success();
  }

private:
  bool isVarying(Value value) const { return varying.contains(value); }
  bool hasVaryingOperand(Operation *op) const {
    return llvm::any_of(op->getOperands(),
                        [&](Value operand) { return isVarying(operand) || varyingBuffers.contains(operand); });
  }
  /// Whether `op` runs under a condition or bounds that vary.
  bool hasVaryingControl(Operation *op) const {
    for (Operation *around = op->getParentOp(); around != loop; around = around->getParentOp())
      if (llvm::any_of(around->getOperands(), [&](Value operand) { return isVarying(operand); }))
        return true;
    return false;
  }
  bool isVaryingOp(Operation *op) const { return hasVaryingOperand(op) || hasVaryingControl(op); }

  /// One round over the body; true where it found something new.
  bool findVarying() {
    size_t before = varying.size() + varyingBuffers.size();
    varying.insert(loop.getInductionVar());
    loop.getBody()->walk([&](Operation *op) {
      bool varies = isVaryingOp(op);
      if (!varies && op->getNumRegions() && op->getNumResults())
        op->walk([&](Operation *inner) { varies |= inner != op && isVaryingOp(inner); });
      if (!varies)
        return;
      if (auto store = dyn_cast<memref::StoreOp>(op))
        if (Operation *allocation = store.getMemRef().getDefiningOp(); allocation && loop->isProperAncestor(allocation))
          varyingBuffers.insert(store.getMemRef());
      varying.insert_range(op->getResults());
      for (Region &region : op->getRegions())
        varying.insert_range(region.getArguments());
    });
    return varying.size() + varyingBuffers.size() != before;
  }

  LogicalResult distribute(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (allocatesBuffer(&op) && varyingBuffers.contains(op.getResult(0))) {
        expand(&op);
        continue;
      }
      bool anyVaries = isVaryingOp(&op);
      op.walk([&](Operation *inner) { anyVaries |= isVaryingOp(inner); });
      if (!anyVaries) {
        Operation *copy = builder.clone(op, copies[0]);
        for (IRMapping &mapping : llvm::drop_begin(copies))
          mapping.map(op.getResults(), copy->getResults());
        continue;
      }
      bool plain =
          op.getNumResults() == 0 && llvm::none_of(op.getOperands(), [&](Value operand) { return isVarying(operand); });
      if (plain && isa<scf::ForOp, scf::IfOp>(op)) {
        if (failed(distributeRegions(&op)))
          return failure();
        continue;
      }
      for (auto [i, mapping] : llvm::enumerate(copies))
        if (failed(copyFor(&op, i, mapping)))
          return failure();
    }
    return success();
  }

  /// The same loop or branch, around what was distributed.
  LogicalResult distributeRegions(Operation *op) {
    Operation *copy = op->cloneWithoutRegions(copies[0]);
    builder.insert(copy);
    for (auto [from, to] : llvm::zip_equal(op->getRegions(), copy->getRegions())) {
      if (from.empty())
        continue;
      Block *block = new Block;
      to.push_back(block);
      for (BlockArgument argument : from.getArguments()) {
        Value made = block->addArgument(argument.getType(), argument.getLoc());
        for (IRMapping &mapping : copies)
          mapping.map(argument, made);
      }
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(block);
      if (failed(distribute(from.front())))
        return failure();
      builder.clone(*from.front().getTerminator(), copies[0]);
    }
    return success();
  }

  /// A buffer with a place for each virtual thread.
  void expand(Operation *op) {
    auto type = cast<MemRefType>(op->getResult(0).getType());
    SmallVector<Value> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value v) { return copies[0].lookupOrDefault(v); });
    OperationState state(op->getLoc(), op->getName(), operands, {withPlaces(type, copies.size())}, op->getAttrs());
    expanded[op->getResult(0)] = builder.create(state)->getResult(0);
  }

  LogicalResult copyFor(Operation *op, int64_t number, IRMapping &mapping) {
    Operation *copy = builder.clone(*op, mapping);
    // Accesses of expanded buffers still name the old ones.
    SmallVector<Operation *> accesses;
    copy->walk([&](Operation *inner) {
      if (llvm::any_of(inner->getOperands(), [&](Value operand) { return expanded.contains(operand); }))
        accesses.push_back(inner);
    });
    for (Operation *access : accesses) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(access);
      auto place = [&](ValueRange indices) {
        SmallVector<Value> all = {copies[number].lookup(loop.getInductionVar())};
        llvm::append_range(all, indices);
        return all;
      };
      if (auto load = dyn_cast<memref::LoadOp>(access)) {
        auto value =
            memref::LoadOp::create(builder, load.getLoc(), expanded[load.getMemRef()], place(load.getIndices()));
        value->setDiscardableAttrs(load->getDiscardableAttrDictionary());
        load.replaceAllUsesWith(value.getResult());
        if (access == copy)
          mapping.map(op->getResult(0), value.getResult());
      } else if (auto store = dyn_cast<memref::StoreOp>(access)) {
        auto made = memref::StoreOp::create(builder, store.getLoc(), store.getValue(), expanded[store.getMemRef()],
                                            place(store.getIndices()));
        made->setDiscardableAttrs(store->getDiscardableAttrDictionary());
      } else {
        return op->emitError() << "expected loads and stores of a buffer in a loop on vthread, got "
                               << access->getName();
      }
      access->erase();
    }
    return success();
  }

  scf::ForOp loop;
  OpBuilder builder;
  SmallVector<IRMapping> copies; // one a virtual thread
  llvm::SetVector<Value> varying;
  llvm::SmallDenseSet<Value> varyingBuffers;
  llvm::SmallDenseMap<Value, Value> expanded;
};

/// Whether a loop is one of blocks or threads, which together make a kernel.
bool isOfKernel(Operation *op) {
  auto bind = op->getAttrOfType<schedule::ThreadTagAttr>(schedule::kBindAttr);
  return bind && bind.getValue() != schedule::ThreadTag::VThread;
}

/// What a kernel's outermost loop is distributed over would stand outside of the kernel.
LogicalResult checkBuffers(scf::ForOp loop) {
  for (Operation *around = loop->getParentOp(); around; around = around->getParentOp())
    if (isOfKernel(around))
      return success();
  bool isKernel =
      loop.walk([](scf::ForOp inner) { return isOfKernel(inner) ? WalkResult::interrupt() : WalkResult::advance(); })
          .wasInterrupted();
  if (!isKernel)
    return success();
  WalkResult found = loop.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isOfKernel(op))
      return WalkResult::skip();
    if (!allocatesBuffer(op))
      return WalkResult::advance();
    auto function = loop->getParentOfType<func::FuncOp>();
    op->emitError()
        << "vthread: expected stage '" << getBufferName(op->getResult(0))
        << "' to be computed inside of a loop of blocks or threads, which have memory of their own, got it in "
        << getAxisName(loop).quoted() << " on vthread, outside of them: reorder the loops";
    return WalkResult::interrupt();
  });
  return failure(found.wasInterrupted());
}

struct InjectVirtualThreads : impl::InjectVirtualThreadsBase<InjectVirtualThreads> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    // Inner loops first: an outer one then copies what is already distributed.
    getOperation()->walk([&](scf::ForOp loop) {
      auto bind = loop->getAttrOfType<schedule::ThreadTagAttr>(schedule::kBindAttr);
      if (bind && bind.getValue() == schedule::ThreadTag::VThread)
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      if (failed(checkBuffers(loop)))
        return signalPassFailure();
    for (scf::ForOp loop : loops) {
      auto extent = getConstantIntValue(loop.getUpperBound());
      if (!extent) {
        loop.emitError("vthread: expected an axis of constant extent, got one that is symbolic");
        return signalPassFailure();
      }
      if (*extent < 1 || *extent > kMaxVirtualThreads) {
        loop.emitError() << "vthread: expected an axis of extent "
                         << (*extent < 1 ? "at least 1" : "at most " + std::to_string(kMaxVirtualThreads)) << ", got "
                         << *extent;
        return signalPassFailure();
      }
      if (failed(Injector(loop, *extent).run()))
        return signalPassFailure();
    }
  }
  /// Each costs a copy of the code.
  static constexpr int64_t kMaxVirtualThreads = 64;
};
} // namespace
} // namespace tilewright
