//===- FillEmptyReductions.cpp - sums of nothing --------------------------===//
#include "passes/PassSupport.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_FILLEMPTYREDUCTIONS
#include "passes/te-to-te/Passes.h.inc"

namespace {

struct FillEmptyReductions : impl::FillEmptyReductionsBase<FillEmptyReductions> {
  void runOnOperation() override {
    getOperation()->walk([](te::ComputeOp compute) {
      fill(compute);
      if (!llvm::is_contained(compute.getStaticExtents(), 0))
        compute.walk([](te::ReadOp read) { replaceEmpty(read); });
    });
  }

  /// A read of a tensor without elements never happens: the axes that would get there are symbolic, and 0.
  static void replaceEmpty(te::ReadOp read) {
    if (!llvm::is_contained(cast<ShapedType>(read.getTensor().getType()).getShape(), 0))
      return;
    OpBuilder builder(read);
    Type element = read.getElement().getType();
    read.getElement().replaceAllUsesWith(
        arith::ConstantOp::create(builder, read.getLoc(), builder.getZeroAttr(element)).getResult());
    read.erase();
  }

  static void fill(te::ComputeOp compute) {
    SmallVector<int64_t> extents(compute.getStaticExtents());
    auto reduced = MutableArrayRef(extents).drop_front(compute.getNumSpatial());
    if (!llvm::is_contained(reduced, 0))
      return;
    llvm::replace(reduced, int64_t(0), int64_t(1));
    compute.setStaticExtents(extents);
    Block &body = compute.getBody().front();
    auto yield = cast<te::YieldOp>(body.getTerminator());
    OpBuilder builder(yield);
    for (auto [operand, identity] : llvm::zip(yield->getOpOperands(), compute.getIdentities()))
      operand.set(arith::ConstantOp::create(builder, yield.getLoc(), identity));
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (isOpTriviallyDead(&op) || (&op != yield && op.use_empty()))
        op.erase();
  }
};

} // namespace
} // namespace tilewright
