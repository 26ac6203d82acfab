//===- PlanWorkspace.cpp - temporaries between kernels share one buffer ---===//
#include "dialects/Tile/Tile.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/UserNames.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Analysis/TopologicalSortUtils.h"

#include <limits>

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_PLANWORKSPACE
#include "passes/loops-to-gpu/Passes.h.inc"

namespace {
/// What cudaMalloc guarantees: a temporary is aligned as an allocation of its own would be.
constexpr int64_t kAlignment = 256;
/// More than any machine has, so that sums of sizes stay in 64 bits.
constexpr int64_t kMostBytes = int64_t(1) << 50;

struct PlanWorkspace : impl::PlanWorkspaceBase<PlanWorkspace> {
  void runOnOperation() override;
};

struct Temporary {
  memref::AllocOp alloc;
  host::ArenaBuffer plan;
  Value offset, bytes; // bytes only where they are not constant
};

class WorkspacePlanner {
public:
  WorkspacePlanner(func::FuncOp function, ArrayRef<memref::AllocOp> allocs)
      : function(function), entry(function.getBody().front()), builder(function.getContext()) {
    for (memref::AllocOp alloc : allocs)
      temporaries.push_back({alloc, {}, {}, {}});
  }
  LogicalResult run();

private:
  /// From the first op at the top of the function that uses the buffer to the last one.
  void setLifetime(Temporary &temporary);
  /// Moves what the sizes are computed from to the top, and the builder behind it.
  LogicalResult hoistSizes();
  int64_t placeConstant();
  void placeDynamic(int64_t offset);

  func::FuncOp function;
  Block &entry;
  OpBuilder builder;
  SmallVector<Temporary> temporaries;
};
} // namespace

void WorkspacePlanner::setLifetime(Temporary &temporary) {
  llvm::DenseMap<Operation *, int64_t> order;
  for (auto [i, op] : llvm::enumerate(entry))
    order[&op] = i;
  host::ArenaBuffer &plan = temporary.plan;
  plan.first = std::numeric_limits<int64_t>::max();
  plan.last = 0;
  SmallVector<Value> views = {temporary.alloc};
  while (!views.empty())
    for (Operation *user : views.pop_back_val().getUsers()) {
      // Who has a tensor map reaches the tensor.
      if (isa<ViewLikeOpInterface, tile::EncodeOp>(user))
        views.append(user->result_begin(), user->result_end());
      if (isa<memref::DeallocOp>(user))
        continue;
      int64_t time = order.lookup(entry.findAncestorOpInBlock(*user));
      plan.first = std::min(plan.first, time);
      plan.last = std::max(plan.last, time);
    }
  plan.first = std::min(plan.first, plan.last);
}

LogicalResult WorkspacePlanner::hoistSizes() {
  llvm::SetVector<Operation *> all;
  BackwardSliceOptions options;
  options.inclusive = true;
  for (Temporary &temporary : temporaries) {
    llvm::SetVector<Operation *> slice;
    for (Value size : temporary.alloc.getDynamicSizes())
      (void)getBackwardSlice(size, &slice, options);
    for (Operation *op : slice)
      if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
        return temporary.alloc.emitError() << "expected the size of temporary '" << getBufferName(temporary.alloc)
                                           << "' to follow from the extents of the arguments";
    all.insert(slice.begin(), slice.end());
  }
  builder.setInsertionPointToStart(&entry);
  for (Operation *op : topologicalSort(all)) {
    if (builder.getInsertionPoint() != op->getIterator())
      op->moveBefore(&entry, builder.getInsertionPoint());
    builder.setInsertionPointAfter(op);
  }
  return success();
}

int64_t WorkspacePlanner::placeConstant() {
  SmallVector<host::ArenaBuffer> plans;
  for (Temporary &temporary : temporaries)
    if (!temporary.bytes)
      plans.push_back(temporary.plan);
  int64_t total = placeBuffers(plans);
  host::ArenaBuffer *plan = plans.begin();
  for (Temporary &temporary : temporaries)
    if (!temporary.bytes) {
      temporary.plan = *plan++;
      temporary.offset = arith::ConstantIndexOp::create(builder, temporary.alloc.getLoc(), temporary.plan.offset);
    }
  return total;
}

void WorkspacePlanner::placeDynamic(int64_t offset) {
  // Sizes cannot be compared: buffers that never live together share a slot of the largest one's size.
  SmallVector<SmallVector<Temporary *>> slots;
  for (Temporary &temporary : temporaries) {
    if (!temporary.bytes)
      continue;
    auto fits = [&](ArrayRef<Temporary *> slot) {
      return llvm::none_of(slot, [&](Temporary *other) { return other->plan.livesWith(temporary.plan); });
    };
    auto slot = llvm::find_if(slots, fits);
    if (slot == slots.end())
      slots.push_back({&temporary});
    else
      slot->push_back(&temporary);
  }
  AffineExpr begin, bytes;
  bindSymbols(builder.getContext(), begin, bytes);
  auto next = AffineMap::get(0, 2, begin + bytes.ceilDiv(kAlignment) * kAlignment);
  Value position;
  for (auto [i, slot] : llvm::enumerate(slots)) {
    Location loc = slot.front()->alloc.getLoc();
    if (!position)
      position = arith::ConstantIndexOp::create(builder, loc, llvm::alignTo(offset, kAlignment));
    Value size;
    for (Temporary *temporary : slot) {
      temporary->offset = position;
      size = size ? arith::MaxSIOp::create(builder, loc, size, temporary->bytes).getResult() : temporary->bytes;
    }
    if (i + 1 < slots.size())
      position = affine::makeComposedAffineApply(builder, loc, next, {position, size});
  }
}

LogicalResult WorkspacePlanner::run() {
  Location loc = function.getLoc();
  auto type = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  if (failed(function.insertArgument(function.getNumArguments(), type, DictionaryAttr(),
                                     NameLoc::get(builder.getStringAttr("workspace"), loc))))
    return failure();
  Value workspace = entry.getArguments().back();
  for (Temporary &temporary : temporaries)
    setLifetime(temporary);

  if (failed(hoistSizes()))
    return failure();
  bool allConstant = true;
  for (Temporary &temporary : temporaries) {
    MemRefType shape = temporary.alloc.getType();
    int64_t constant = getElementBytes(shape.getElementType());
    for (int64_t extent : shape.getShape())
      if (!ShapedType::isDynamic(extent) && (llvm::MulOverflow(constant, extent, constant) || constant > kMostBytes))
        return temporary.alloc.emitError() << "temporary '" << getBufferName(temporary.alloc) << "': expected at most "
                                           << kMostBytes << " bytes, got " << shape;
    temporary.plan.bytes = constant;
    temporary.plan.alignment = kAlignment;
    if (shape.hasStaticShape())
      continue;
    allConstant = false;
    temporary.bytes = arith::ConstantIndexOp::create(builder, temporary.alloc.getLoc(), constant);
    for (Value extent : temporary.alloc.getDynamicSizes())
      temporary.bytes = arith::MulIOp::create(builder, temporary.alloc.getLoc(), temporary.bytes, extent);
  }
  int64_t constantBytes = placeConstant();
  placeDynamic(constantBytes);
  if (allConstant)
    function->setAttr(kWorkspaceBytesAttr, builder.getI64IntegerAttr(constantBytes));

  for (Temporary &temporary : temporaries)
    replaceByView(builder, temporary.alloc, workspace, temporary.offset);
  // Not before: the builder may stand in front of one.
  for (Temporary &temporary : temporaries)
    temporary.alloc.erase();
  return success();
}

void PlanWorkspace::runOnOperation() {
  func::FuncOp function = getOperation();
  SmallVector<memref::AllocOp> allocs;
  function.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
  if (allocs.empty())
    return;
  for (memref::AllocOp alloc : allocs)
    if (alloc->getParentOp() != function || alloc.getType().getMemorySpace() ||
        !alloc.getType().getLayout().isIdentity()) {
      alloc.emitError() << "expected temporary '" << getBufferName(alloc) << "' to stand at the top of @"
                        << function.getSymName() << " in global memory, got " << alloc.getType();
      return signalPassFailure();
    }
  if (failed(WorkspacePlanner(function, allocs).run()))
    signalPassFailure();
}
} // namespace tilewright
