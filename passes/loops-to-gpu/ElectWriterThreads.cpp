//===- ElectWriterThreads.cpp - what all threads would write, one writes --===//
#include "dialects/TE/BufferAllocation.h"
#include "passes/loops-to-gpu/SharedAccess.h"
#include "passes/tile-to-nvvm/TileKernel.h"

#include "mlir/Analysis/SliceAnalysis.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_ELECTWRITERTHREADS
#include "passes/loops-to-gpu/Passes.h.inc"

namespace {
struct ElectWriterThreads : impl::ElectWriterThreadsBase<ElectWriterThreads> {
  void runOnOperation() override;
};

/// Finds the work in a kernel that does not depend on some thread index, and leaves it to thread 0 of that index.
class Election {
public:
  explicit Election(gpu::GPUFuncOp kernel) : kernel(kernel), dependence(kernel) {
    for (auto [d, extent] : llvm::enumerate(getBlockSize(kernel)))
      if (extent > 1)
        blockThreads |= 1u << d;
  }

  void run(Block &block);

private:
  /// The thread indices along which all threads would do what `op` does, if that is the same for all that it writes
  /// and `op` can be left to one of them as a whole. Nothing if it writes to no memory that threads share.
  unsigned getElected(Operation *op);
  unsigned getElectedLeaf(Operation *op);
  /// True if the threads that are left would exchange values among `ops`: they would need a barrier there, which all
  /// threads of the block must reach.
  bool exchangesValues(ArrayRef<Operation *> ops, unsigned elected);
  void guard(ArrayRef<Operation *> run, unsigned elected);

  gpu::GPUFuncOp kernel;
  ThreadDependence dependence;
  unsigned blockThreads = 0;
};
} // namespace

unsigned Election::getElectedLeaf(Operation *op) {
  bool writes = llvm::any_of(getMemoryAccesses(op), [](MemoryAccess access) {
    return access.isWrite && access.buffer && !isPrivate(access.buffer);
  });
  return writes ? blockThreads & ~(dependence.ofOperands(op) | dependence.ofControl(op->getBlock())) : 0;
}

unsigned Election::getElected(Operation *op) {
  if (!op->use_empty())
    return 0;
  unsigned elected = 0;
  bool found = false, whole = true;
  op->walk([&](Operation *inner) {
    if (isa<memref::AllocOp, gpu::BarrierOp>(inner) || isWarpCollective(inner))
      whole = false;
    bool writes = false;
    for (MemoryAccess access : getMemoryAccesses(inner)) {
      if (!access.buffer) {
        whole = false;
      } else if (isPrivate(access.buffer)) {
        // What a thread keeps for later must be kept by every thread.
        Operation *allocation = getRootBuffer(access.buffer).getDefiningOp();
        if (access.isWrite && !(allocation && op->isProperAncestor(allocation)))
          whole = false;
      } else {
        writes |= access.isWrite;
      }
    }
    if (!writes)
      return;
    unsigned threads = getElectedLeaf(inner);
    whole &= !found || threads == elected;
    elected = threads;
    found = true;
  });
  return found && whole && elected && !exchangesValues(op, elected) ? elected : 0;
}

/// True if the buffer that `reader` reads last may be at the same place as the one that `writer` writes first: they are
/// apart where both stand in one op, and where one needs what the other reads (plan-shared-memory).
static bool mayShareAPlace(ArrayRef<Operation *> ops, Operation *reader, Operation *writer) {
  auto getMember = [&](Operation *inner) {
    return *llvm::find_if(ops, [&](Operation *op) { return op->isAncestor(inner); });
  };
  if (getMember(reader) == getMember(writer) || getMember(writer)->isBeforeInBlock(getMember(reader)))
    return false;
  llvm::SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.omitUsesFromAbove = false;
  (void)getBackwardSlice(getMember(writer), &needed, options);
  return !needed.contains(reader);
}

bool Election::exchangesValues(ArrayRef<Operation *> ops, unsigned elected) {
  if (elected == blockThreads)
    return false;
  std::array<int64_t, 3> left = getBlockSize(kernel);
  for (unsigned d = 0; d < 3; ++d)
    if (elected & (1u << d))
      left[d] = 1;
  SmallVector<SharedAccess> accesses;
  for (Operation *op : ops)
    op->walk([&](Operation *inner) {
      for (MemoryAccess access : getMemoryAccesses(inner))
        if (access.buffer && isShared(access.buffer))
          accesses.emplace_back(inner, access.buffer, access.isWrite, left);
    });
  auto exchange = [&](const SharedAccess &a, const SharedAccess &b) {
    if (getRootBuffer(a.buffer) != getRootBuffer(b.buffer))
      return !b.isWrite && mayShareAPlace(ops, b.op, a.op);
    // Executed once, an op has no order among threads.
    return a.conflictsWith(b) && !(&a == &b && llvm::is_contained(ops, a.op));
  };
  return llvm::any_of(accesses, [&](const SharedAccess &a) {
    return a.isWrite && llvm::any_of(accesses, [&](const SharedAccess &b) { return exchange(a, b); });
  });
}

void Election::guard(ArrayRef<Operation *> run, unsigned elected) {
  Location loc = run.back()->getLoc();
  OpBuilder builder(run.back());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0), isElected;
  for (unsigned d = 0; d < 3; ++d) {
    if (!(elected & (1u << d)))
      continue;
    Value id = gpu::ThreadIdOp::create(builder, loc, static_cast<gpu::Dimension>(d));
    Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, id, zero);
    isElected = isElected ? arith::AndIOp::create(builder, loc, isElected, isFirst).getResult() : isFirst;
  }
  auto branch = scf::IfOp::create(builder, loc, isElected, /*withElseRegion=*/false);
  for (Operation *op : run)
    op->moveBefore(branch.thenBlock()->getTerminator());
}

void Election::run(Block &block) {
  // Backwards, so that what only the run uses, such as the loads before a store, joins it.
  for (Operation *last = block.empty() ? nullptr : &block.back(); last;) {
    unsigned elected = getElected(last);
    if (!elected) {
      for (Region &region : last->getRegions())
        for (Block &inner : region)
          run(inner);
      last = last->getPrevNode();
      continue;
    }
    SmallVector<Operation *> members = {last};
    llvm::SmallPtrSet<Operation *, 8> inRun = {last};
    Operation *op = last->getPrevNode();
    for (; op; op = op->getPrevNode()) {
      bool onlyReads = op->getNumRegions() == 0 &&
                       llvm::none_of(getMemoryAccesses(op), [](MemoryAccess access) { return access.isWrite; }) &&
                       !allocatesBuffer(op) && !isWarpCollective(op);
      bool isOnlyUsedInRun = llvm::all_of(
          op->getUsers(), [&](Operation *user) { return inRun.contains(block.findAncestorOpInBlock(*user)); });
      bool joins = getElected(op) == elected || (onlyReads && !op->use_empty() && isOnlyUsedInRun);
      members.push_back(op);
      if (joins && !exchangesValues(members, elected)) {
        inRun.insert(op);
        continue;
      }
      members.pop_back();
      if (!isMemoryEffectFree(op))
        break;
    }
    std::reverse(members.begin(), members.end());
    guard(members, elected);
    last = op;
  }
}

void ElectWriterThreads::runOnOperation() {
  // Which threads do an op on tiles follows from the op.
  if (!hasTileOps(getOperation()))
    Election(getOperation()).run(getOperation().getBody().front());
}
} // namespace tilewright
