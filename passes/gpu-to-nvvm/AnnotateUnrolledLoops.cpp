//===- AnnotateUnrolledLoops.cpp - which loops LLVM is to write out -------===//
//
// Loops stay loops down to LLVM, which writes them out faster than it could be done here, and in time to keep in
// registers what the loops index.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tile/Tile.h"
#include "passes/AddressSpaces.h"
#include "passes/gpu-to-nvvm/UnrolledLoops.h"
#include "passes/index/AccessForm.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_ANNOTATEUNROLLEDLOOPS
#include "passes/gpu-to-nvvm/Passes.h.inc"

/// Past this a loop stays one, whatever it indexes: the code would no longer fit the instruction cache, and take LLVM
/// minutes.
static constexpr int64_t kMaxOps = 4096;
/// The same of all copies that the schedule's own unrolled loops around it make of it, of a loop that is marked, and of
/// all loops of a kernel: virtual threads make copies of loops beside each other.
static constexpr int64_t kMaxOpsOfCopies = 4 * kMaxOps;

/// Whether `index` is computed from `variable`.
static bool dependsOn(Value index, Value variable) {
  if (index == variable)
    return true;
  auto apply = index.getDefiningOp<affine::AffineApplyOp>();
  return apply && llvm::any_of(apply.getMapOperands(), [&](Value operand) { return dependsOn(operand, variable); });
}

/// Whether the loop's variable picks an element of a thread's own memory. Registers have no addresses: such a buffer
/// stays in registers only where the loop is unrolled.
static bool indexesRegisters(scf::ForOp loop) {
  auto moves = [&](Value memref, ValueRange indices) {
    return isPrivateMemory(memref.getType()) &&
           llvm::any_of(indices, [&](Value index) { return dependsOn(index, loop.getInductionVar()); });
  };
  return loop
      .walk([&](Operation *op) {
        auto access = index::getElementAccess(op);
        return access && moves(access->buffer->get(), OperandRange(access->indices)) ? WalkResult::interrupt()
                                                                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether these are the steps of a tile's matmuls while threads hold a result of the tile before. Unrolled, each
/// step has a slot of the ring, and the descriptors of all slots, computed before the loop over tiles, take the
/// registers that are left.
static bool multipliesBesideHeld(scf::ForOp loop) {
  auto tiles = loop->getParentOfType<scf::ForOp>();
  auto holds = [](Value carried) { return llvm::any_of(carried.getUsers(), llvm::IsaPred<tile::StoreFragmentOp>); };
  return tiles && llvm::any_of(tiles.getRegionIterArgs(), holds) &&
         llvm::any_of(loop.getBody()->getOperations(), [](Operation &op) { return isa<tile::WgmmaOp>(op); });
}

/// What LLVM unrolls by itself, roughly (its threshold of unrolling).
static constexpr int64_t kMaxOpsByItself = 300;

/// How often the code of `loop` is copied for loops around it that are marked.
static int64_t countCopies(scf::ForOp loop) {
  int64_t copies = 1;
  for (auto around = loop->getParentOfType<scf::ForOp>(); around; around = around->getParentOfType<scf::ForOp>())
    if (around->hasAttr(schedule::kUnrollAttr))
      copies *= getConstantIntValue(around.getUpperBound()).value_or(1);
  return copies;
}

namespace {
/// How many ops there are once the loops that were annotated so far are unrolled, and small ones by LLVM.
class Sizes {
public:
  /// Of the loop's body once.
  int64_t getBody(scf::ForOp loop) const {
    int64_t ops = 0;
    for (Operation &op : loop.getBody()->getOperations())
      ops += get(&op);
    return ops;
  }
  /// The loop is unrolled; inner loops come before those around them.
  void setWrittenOut(scf::ForOp loop, int64_t trips) { writtenOut[loop] = trips * getBody(loop); }

private:
  int64_t get(Operation *op) const {
    if (auto found = writtenOut.find(op); found != writtenOut.end())
      return found->second;
    int64_t ops = 1;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        ops += get(&inner);
    auto loop = dyn_cast<scf::ForOp>(op);
    int64_t trips = loop ? getConstantIntValue(loop.getUpperBound()).value_or(1) : 1;
    return ops * trips <= kMaxOpsByItself ? ops * trips : ops;
  }

  llvm::DenseMap<Operation *, int64_t> writtenOut;
};
} // namespace

namespace {
struct AnnotateUnrolledLoops : impl::AnnotateUnrolledLoopsBase<AnnotateUnrolledLoops> {
  void runOnOperation() override {
    Sizes sizes;
    int64_t opsOfKernel = 0;
    getOperation().walk([&](scf::ForOp loop) {
      auto trips = getConstantIntValue(loop.getUpperBound());
      if (multipliesBesideHeld(loop)) {
        loop->setAttr(kLoopAnnotationAttr, getUnrollAnnotation(&getContext(), /*isWrittenOut=*/false));
        return;
      }
      bool isMarked = static_cast<bool>(loop->removeAttr(schedule::kUnrollAttr));
      int64_t once = sizes.getBody(loop);
      int64_t ops = trips.value_or(1) * once;
      bool isSmall = trips && ops <= kMaxOps && ops * countCopies(loop) <= kMaxOpsOfCopies;
      if (isMarked ? ops > kMaxOpsOfCopies : !isSmall || !indexesRegisters(loop))
        return;
      if (opsOfKernel + ops - once > kMaxOpsOfCopies)
        return;
      opsOfKernel += ops - once;
      loop->setAttr(kLoopAnnotationAttr, getUnrollAnnotation(&getContext(), /*isWrittenOut=*/true));
      sizes.setWrittenOut(loop, trips.value_or(1));
    });
  }
};
} // namespace
} // namespace tilewright
