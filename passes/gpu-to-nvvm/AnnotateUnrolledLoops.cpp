//===- AnnotateUnrolledLoops.cpp - which loops LLVM is to write out -------===//
//
// Loops stay loops down to LLVM, which writes them out faster than it could be done here, and in time to keep in
// registers what the loops index.
//
//===----------------------------------------------------------------------===//
#include "passes/AddressSpaces.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_ANNOTATEUNROLLEDLOOPS
#include "passes/gpu-to-nvvm/Passes.h.inc"

/// Past this a loop stays one, whatever it indexes: the code would no longer fit the instruction cache.
static constexpr int64_t kMaxOps = 4096;

/// Whether `index` is computed from `variable`.
static bool dependsOn(Value index, Value variable) {
  if (index == variable)
    return true;
  auto apply = index.getDefiningOp<affine::AffineApplyOp>();
  return apply && llvm::any_of(apply.getMapOperands(), [&](Value operand) { return dependsOn(operand, variable); });
}

/// Whether the loop's variable picks an element of a thread's own memory. Registers have no addresses: such a buffer
/// stays in registers only where the loop is written out.
static bool indexesRegisters(scf::ForOp loop) {
  auto moves = [&](Value memref, ValueRange indices) {
    return isPrivateMemory(memref.getType()) &&
           llvm::any_of(indices, [&](Value index) { return dependsOn(index, loop.getInductionVar()); });
  };
  return loop
      .walk([&](Operation *op) {
        bool found = llvm::TypeSwitch<Operation *, bool>(op)
                         .Case<memref::LoadOp, memref::StoreOp>([&](auto access) { return moves(access.getMemRef(), access.getIndices()); })
                         .Case<vector::LoadOp, vector::StoreOp>([&](auto access) { return moves(access.getBase(), access.getIndices()); })
                         .Default(false);
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool isSmallEnough(scf::ForOp loop, int64_t trips) {
  int64_t ops = 0;
  loop.walk([&](Operation *) { ++ops; });
  return ops * trips <= kMaxOps;
}

namespace {
struct AnnotateUnrolledLoops : impl::AnnotateUnrolledLoopsBase<AnnotateUnrolledLoops> {
  void runOnOperation() override {
    Builder builder(&getContext());
    auto unroll = LLVM::LoopUnrollAttr::get(&getContext(), /*disable=*/nullptr, /*count=*/nullptr,
                                            /*runtimeDisable=*/nullptr, /*full=*/builder.getBoolAttr(true),
                                            /*followupUnrolled=*/nullptr, /*followupRemainder=*/nullptr,
                                            /*followupAll=*/nullptr);
    auto annotation = LLVM::LoopAnnotationAttr::get(&getContext(), {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {},
                                                    {}, {}, {});
    getOperation().walk([&](scf::ForOp loop) {
      auto trips = getConstantIntValue(loop.getUpperBound());
      bool isMarked = static_cast<bool>(loop->removeAttr(schedule::kUnrollAttr));
      if (isMarked || (trips && isSmallEnough(loop, *trips) && indexesRegisters(loop)))
        loop->setAttr("llvm.loop_annotation", annotation);
    });
  }
};
} // namespace
} // namespace tilewright
