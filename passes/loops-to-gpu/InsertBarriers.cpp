//===- InsertBarriers.cpp - barriers where threads exchange values --------===//
//
// Works from the inside out. A block of ops is a line of items; each item, an access or an op with regions, says what
// it touches before any barrier in it and what it touches after the last one. Along the line, a barrier goes before
// the first item that would touch what an earlier one, with no barrier since, touches in another thread: as late as
// possible, which needs the fewest. The line of a loop's body is a circle. Hazards between iterations of an outer loop
// are only looked for once the inner ones are settled, since their barriers often serve for both.
//
//===----------------------------------------------------------------------===//
#include "passes/loops-to-gpu/SharedAccess.h"
#include "passes/loops-to-gpu/UserNames.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include "passes/tile-to-nvvm/TileKernel.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_INSERTBARRIERS
#include "passes/loops-to-gpu/Passes.h.inc"

namespace {
struct InsertBarriers : impl::InsertBarriersBase<InsertBarriers> {
  void runOnOperation() override;
};

constexpr size_t kMaxItemsForAllStarts = 64;

using Accesses = SmallVector<const SharedAccess *, 4>;

/// What matters of a piece of code to what stands around it.
struct Summary {
  Accesses first;            // that run before any barrier inside
  Accesses last;             // that no barrier inside comes after
  bool synchronizes = false; // every way through has a barrier

  bool isEmpty() const { return first.empty() && last.empty() && !synchronizes; }
  void append(const Summary &next) {
    if (!synchronizes)
      llvm::append_range(first, next.first);
    if (next.synchronizes)
      last.clear();
    llvm::append_range(last, next.last);
    synchronizes |= next.synchronizes;
  }
};

struct Item {
  Operation *op;
  Summary summary;
};

struct Conflict {
  const SharedAccess *before = nullptr, *after = nullptr;
  explicit operator bool() const { return before; }
};

class BarrierInserter {
public:
  explicit BarrierInserter(gpu::GPUFuncOp kernel)
      : kernel(kernel), dependence(kernel), blockSize(getBlockSize(kernel)) {
    // What is known of the loops of stages is not of statements that a user wrote.
    isExtern = kernel->hasAttr(te::kExternAttr);
    findExchanged();
  }

  LogicalResult run() {
    (void)solve(kernel.getBody().front(), /*isLoopBody=*/false);
    return success(!failed);
  }

private:
  Summary solve(Block &block, bool isLoopBody);
  Summary summarize(Operation *op);
  /// The items, by number, that need a barrier before them when the line is run from `start` once around or, where it
  /// is no circle, to its end. For a circle, the barrier before `start` is counted in.
  SmallVector<size_t> placeBarriers(ArrayRef<Item> items, size_t start, bool isCircle);
  SmallVector<size_t> placeInCircle(ArrayRef<Item> items);
  /// Whether all threads see one `value` at all of `item`'s and its neighbours' block in one iteration.
  bool isSameInIteration(const Item &item, Value value) const;
  void refuse(Block &block, Conflict conflict);
  /// Finds the global buffers by which the threads of a block may exchange values.
  void findExchanged();

  /// The stage whose loop has `item` in its body, if the loop says so.
  StringRef getFilling(const Item &item) const;

  gpu::GPUFuncOp kernel;
  ThreadDependence dependence;
  std::array<int64_t, 3> blockSize;
  llvm::SmallDenseSet<Value> exchanged; // global buffers
  std::vector<std::unique_ptr<SharedAccess>> accesses;
  bool isExtern = false, failed = false;
};
} // namespace

/// True if what `load` reads is changed and stored again at its place: a thread's own sum.
static bool isOfASum(memref::LoadOp load) {
  return llvm::any_of(load.getMemRef().getUsers(), [&](Operation *user) {
    auto store = dyn_cast<memref::StoreOp>(user);
    return store && store->getBlock() == load->getBlock() && store.getMemRef() == load.getMemRef() &&
           llvm::equal(store.getIndices(), load.getIndices());
  });
}

void BarrierInserter::findExchanged() {
  llvm::SmallDenseSet<Value> written, read;
  kernel.walk([&](Operation *op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    if (load && !isExtern && isOfASum(load))
      return;
    for (MemoryAccess access : getMemoryAccesses(op))
      if (access.buffer && !isShared(access.buffer) && !isPrivate(access.buffer))
        (access.isWrite ? written : read).insert(access.buffer);
  });
  for (Value buffer : written)
    if (read.contains(buffer))
      exchanged.insert(buffer);
}

static Conflict findConflict(const Accesses &pending, const Accesses &next,
                             llvm::function_ref<bool(Value)> isSame = nullptr, StringRef filling = "") {
  // The loops that fill a buffer store the same whenever they store to an element again.
  auto stores = [&](const SharedAccess *access) {
    Operation *buffer = access->buffer ? access->buffer.getDefiningOp() : nullptr;
    auto stage = buffer ? buffer->getAttrOfType<StringAttr>(te::kStageAttr) : nullptr;
    return access->isWrite && !filling.empty() && stage && stage.getValue() == filling;
  };
  for (const SharedAccess *after : next)
    for (const SharedAccess *before : pending)
      if (!(before->buffer == after->buffer && stores(before) && stores(after)) &&
          before->conflictsWith(*after, isSame))
        return {before, after};
  return {};
}

Summary BarrierInserter::summarize(Operation *op) {
  Summary summary;
  if (isa<NVVM::CpAsyncCommitGroupOp>(op))
    return summary;
  // Each thread waits for its own copies: other threads may read them after a barrier. What they overwrite must have
  // been read before the copies are begun.
  if (isa<NVVM::CpAsyncWaitGroupOp>(op)) {
    accesses.push_back(std::make_unique<SharedAccess>(op, Value(), /*isWrite=*/true, blockSize));
    summary.last.push_back(accesses.back().get());
    return summary;
  }
  if (isa<gpu::BarrierOp>(op)) {
    summary.synchronizes = true;
    return summary;
  }
  for (MemoryAccess access : getMemoryAccesses(op)) {
    if (access.buffer && !isShared(access.buffer) && !exchanged.contains(access.buffer))
      continue;
    accesses.push_back(std::make_unique<SharedAccess>(op, access.buffer, access.isWrite, blockSize));
    summary.first.push_back(accesses.back().get());
    summary.last.push_back(accesses.back().get());
  }
  if (op->getNumRegions() == 0)
    return summary;

  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    Summary taken = solve(*branch.thenBlock(), false);
    Summary other = branch.elseBlock() ? solve(*branch.elseBlock(), false) : Summary();
    llvm::append_range(taken.first, other.first);
    llvm::append_range(taken.last, other.last);
    taken.synchronizes &= other.synchronizes;
    summary.append(taken);
    return summary;
  }
  // Loops; and ops that are not known, which may do with their regions what loops do.
  SmallVector<std::pair<Block *, Summary>> parts;
  Accesses allFirst, allLast;
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      parts.push_back({&block, solve(block, /*isLoopBody=*/true)});
      llvm::append_range(allFirst, parts.back().second.first);
      llvm::append_range(allLast, parts.back().second.last);
    }
  // Parts may follow one another in any order.
  if (parts.size() > 1)
    if (Conflict conflict = findConflict(allLast, allFirst)) {
      for (auto &[block, summary] : parts) {
        if (dependence.ofControl(block) != 0 && !failed)
          refuse(*block, conflict);
        OpBuilder builder = OpBuilder::atBlockBegin(block);
        gpu::BarrierOp::create(builder, op->getLoc());
        summary.first.clear();
        summary.synchronizes = true;
      }
    }
  Summary inside;
  for (auto &[block, summary] : parts) {
    llvm::append_range(inside.first, summary.first);
    llvm::append_range(inside.last, summary.last);
  }
  inside.synchronizes = llvm::all_of(parts, [](auto &part) { return part.second.synchronizes; });
  auto loop = dyn_cast<scf::ForOp>(op);
  std::optional<int64_t> lower, upper;
  if (loop) {
    lower = getConstantIntValue(loop.getLowerBound());
    upper = getConstantIntValue(loop.getUpperBound());
  }
  // A loop that may run no time at all keeps nothing apart.
  inside.synchronizes &= lower && upper && *lower < *upper;
  summary.append(inside);
  return summary;
}

bool BarrierInserter::isSameInIteration(const Item &item, Value value) const {
  return dependence.of(value) == 0 && value.getParentRegion()->isAncestor(item.op->getParentRegion());
}

StringRef BarrierInserter::getFilling(const Item &item) const {
  auto axis = item.op->getParentOp()->getAttrOfType<schedule::AxisAttr>(schedule::kAxisAttr);
  return axis && !isExtern ? axis.getStage() : "";
}

SmallVector<size_t> BarrierInserter::placeBarriers(ArrayRef<Item> items, size_t start, bool isCircle) {
  SmallVector<size_t> barriers;
  if (isCircle)
    barriers.push_back(start);
  Summary before, soFar; // of the iteration before, and of this one
  for (size_t step = 0; step < items.size(); ++step) {
    size_t i = (start + step) % items.size();
    if (i == 0)
      std::swap(before, soFar);
    const Accesses &next = items[i].summary.first;
    auto isSame = [&](Value value) { return isSameInIteration(items[i], value); };
    if (step != 0 &&
        (findConflict(before.last, next, nullptr, getFilling(items[i])) || findConflict(soFar.last, next, isSame))) {
      barriers.push_back(i);
      before.last.clear();
      soFar.last.clear();
    }
    if (items[i].summary.synchronizes)
      before.last.clear();
    soFar.append(items[i].summary);
  }
  return barriers;
}

SmallVector<size_t> BarrierInserter::placeInCircle(ArrayRef<Item> items) {
  // Along the line alone, and then once more with what the last iteration leaves behind.
  SmallVector<size_t> best = placeBarriers(items, 0, /*isCircle=*/false);
  Summary iteration;
  for (auto [i, item] : llvm::enumerate(items)) {
    if (llvm::is_contained(best, i))
      iteration.last.clear();
    iteration.append(item.summary);
  }
  std::optional<size_t> missing;
  for (auto [i, item] : llvm::enumerate(items)) {
    if (llvm::is_contained(best, i))
      break;
    if (findConflict(iteration.last, item.summary.first, nullptr, getFilling(item))) {
      missing = i;
      break;
    }
    if (item.summary.synchronizes)
      break;
  }
  if (!missing)
    return best;
  // A circle with one barrier given is a line again: try where the first could be. Long bodies, such as unrolled ones,
  // are not worth the square of their length. Ties go to the earliest, which also serves what comes before the loop.
  SmallVector<size_t> starts = best;
  starts.push_back(*missing);
  if (items.size() <= kMaxItemsForAllStarts)
    starts = llvm::to_vector(llvm::seq<size_t>(items.size()));
  llvm::sort(starts);
  best.clear();
  for (size_t start : starts) {
    SmallVector<size_t> barriers = placeBarriers(items, start, /*isCircle=*/true);
    if (!items[start].summary.first.empty() && (best.empty() || barriers.size() < best.size()))
      best = barriers;
  }
  return best;
}

/// The first two accesses that have to be kept apart.
static Conflict findFirstConflict(ArrayRef<Item> items, bool isCircle) {
  Summary soFar;
  for (unsigned lap = 0; lap < (isCircle ? 2 : 1); ++lap)
    for (const Item &item : items) {
      if (Conflict conflict = findConflict(soFar.last, item.summary.first))
        return conflict;
      soFar.append(item.summary);
    }
  return {};
}

/// No barrier can stand in the block: not all threads come by.
void BarrierInserter::refuse(Block &block, Conflict conflict) {
  failed = true;
  Operation *divergent = block.getParentOp();
  while (dependence.ofControl(divergent->getBlock()) != 0)
    divergent = divergent->getParentOp();
  const SharedAccess &after = *conflict.after, &before = *conflict.before;
  Value buffer = after.buffer ? after.buffer : before.buffer;
  std::string name =
      buffer ? (isShared(buffer) ? "shared buffer '" : "buffer '") + getBufferName(buffer) + "'" : "shared memory";
  InFlightDiagnostic diagnostic = after.op->emitError()
                                  << "expected all threads of a block to reach this access of " << name
                                  << ": it needs a barrier before it, but stands in control flow that depends on "
                                     "thread indices";
  diagnostic.attachNote(before.op->getLoc()) << "other threads access the same memory here";
  diagnostic.attachNote(divergent->getLoc()) << "not all threads execute what is in here";
}

Summary BarrierInserter::solve(Block &block, bool isLoopBody) {
  SmallVector<Item> items;
  for (Operation &op : block) {
    Summary summary = summarize(&op);
    if (!summary.isEmpty())
      items.push_back({&op, std::move(summary)});
  }
  SmallVector<size_t> barriers = isLoopBody ? placeInCircle(items) : placeBarriers(items, 0, /*isCircle=*/false);
  if (!barriers.empty() && dependence.ofControl(&block) != 0) {
    if (!failed)
      refuse(block, findFirstConflict(items, isLoopBody));
    barriers.clear();
  }
  Summary summary;
  for (auto [i, item] : llvm::enumerate(items)) {
    if (llvm::is_contained(barriers, i)) {
      OpBuilder builder(item.op);
      gpu::BarrierOp::create(builder, item.op->getLoc());
      Summary barrier;
      barrier.synchronizes = true;
      summary.append(barrier);
    }
    summary.append(item.summary);
  }
  return summary;
}

void InsertBarriers::runOnOperation() {
  // A kernel of tiles has barriers of its own.
  if (!hasTileOps(getOperation()) && failed(BarrierInserter(getOperation()).run()))
    signalPassFailure();
}
} // namespace tilewright
