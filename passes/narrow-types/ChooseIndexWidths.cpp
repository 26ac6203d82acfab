//===- ChooseIndexWidths.cpp - 32 or 64 bits for the indices of kernels ----===//
#include "dialects/Program/KernelInterfaces.h"
#include "passes/ArgumentLayouts.h"
#include "passes/PassSupport.h"
#include "passes/index/AccessForm.h"
#include "passes/narrow-types/IndexWidths.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/DLTI/DLTI.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_CHOOSEINDEXWIDTHS
#include "passes/narrow-types/Passes.h.inc"

namespace {

/// Whether all buffers are static, and 32 bits number their elements.
bool haveShortBuffers(gpu::GPUModuleOp module) {
  auto isShort = [](Type type) {
    auto memref = dyn_cast<MemRefType>(type);
    return !memref || hasShortIndices(memref);
  };
  return !module
              .walk([&](Operation *op) {
                for (Region &region : op->getRegions())
                  for (Block &block : region)
                    if (!llvm::all_of(block.getArgumentTypes(), isShort))
                      return WalkResult::interrupt();
                return llvm::all_of(op->getResultTypes(), isShort) ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Whether the indices among the operands of `op` pick elements of buffers. Where the access is made they are within
/// the buffer, so that the low 32 bits say it all; where one overshoots, a predicate keeps the access from being made.
bool isAccess(Operation *op) {
  if (auto read = dyn_cast<vector::TransferReadOp>(op))
    return !read.hasOutOfBoundsDim();
  if (auto write = dyn_cast<vector::TransferWriteOp>(op))
    return !write.hasOutOfBoundsDim();
  auto ofKernel = dyn_cast<KernelOpInterface>(op);
  return index::getElementAccess(op) || (ofKernel && ofKernel.picksElements());
}

/// What is affine becomes ops of arith where a number in it has more than 32 bits.
void expandWideAffineOps(gpu::GPUFuncOp kernel) {
  index::IndexRanges ranges(kernel);
  SmallVector<Operation *> wide;
  kernel.walk([&](Operation *op) {
    if (isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(op) && ranges.needs64Bits(op))
      wide.push_back(op);
  });
  for (Operation *op : wide) {
    OpBuilder builder(op);
    auto apply = dyn_cast<affine::AffineApplyOp>(op);
    AffineMap map = apply ? apply.getAffineMap() : cast<AffineMapAttr>(op->getAttr("map")).getValue();
    ValueRange operands = op->getOperands();
    Value all;
    for (AffineExpr expr : map.getResults()) {
      Value each = affine::expandAffineExpr(builder, op->getLoc(), expr, operands.take_front(map.getNumDims()),
                                            operands.drop_front(map.getNumDims()));
      if (!all)
        all = each;
      else if (isa<affine::AffineMinOp>(op))
        all = arith::MinSIOp::create(builder, op->getLoc(), all, each);
      else
        all = arith::MaxSIOp::create(builder, op->getLoc(), all, each);
    }
    op->getResult(0).replaceAllUsesWith(all);
    op->erase();
  }
}

/// The ops of arith that have to be done in 64 bits; nothing where an index of more than 32 bits goes elsewhere than to
/// arithmetic and accesses.
std::optional<SmallVector<Operation *>> findWideOps(gpu::GPUFuncOp kernel) {
  index::IndexRanges ranges(kernel);
  SmallVector<Operation *> wide;
  WalkResult result = kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == kernel || !ranges.needs64Bits(op))
      return WalkResult::advance();
    if (index::isIndexArithmetic(op))
      wide.push_back(op);
    else if (!isAccess(op))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return result.wasInterrupted() ? std::nullopt : std::optional(std::move(wide));
}

/// Does ops of arith in 64 bits, with a cast for each index that comes in or goes out.
void widen(ArrayRef<Operation *> ops) {
  if (ops.empty())
    return;
  OpBuilder builder(ops.front()->getContext());
  auto i64 = builder.getI64Type();
  DenseMap<Value, Value> wide;
  auto inWide = [&](Value value) {
    Value &made = wide[value];
    if (!made) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointAfterValue(value);
      auto vector = dyn_cast<VectorType>(value.getType());
      if (auto constant = value.getDefiningOp<arith::ConstantOp>())
        return made = computeInIntegers(builder, constant, i64, nullptr);
      made = arith::IndexCastOp::create(builder, value.getLoc(), vector ? Type(vector.clone(i64)) : Type(i64), value);
    }
    return made;
  };
  SmallVector<Operation *> casts;
  for (Operation *op : ops) {
    builder.setInsertionPoint(op);
    Value made = computeInIntegers(builder, op, i64, inWide), result = op->getResult(0);
    if (index::isIndexLike(result.getType())) {
      auto cast = arith::IndexCastOp::create(builder, op->getLoc(), result.getType(), made);
      casts.push_back(cast);
      wide[cast] = made;
      made = cast;
    }
    result.replaceAllUsesWith(made);
    op->erase();
  }
  for (Operation *cast : casts)
    if (cast->use_empty())
      cast->erase();
}

struct ChooseIndexWidths : impl::ChooseIndexWidthsBase<ChooseIndexWidths> {
  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    module->removeAttr(DLTIDialect::kDataLayoutAttrName); // what was said before may hold no more
    if (!haveShortBuffers(module))
      return;
    SmallVector<Operation *> wide;
    for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
      expandWideAffineOps(kernel);
      std::optional<SmallVector<Operation *>> found = findWideOps(kernel);
      if (!found)
        return;
      llvm::append_range(wide, *found);
    }
    widen(wide);
    MLIRContext *context = &getContext();
    auto width = DataLayoutEntryAttr::get(IndexType::get(context), IntegerAttr::get(IntegerType::get(context, 64), 32));
    module->setAttr(DLTIDialect::kDataLayoutAttrName, DataLayoutSpecAttr::get(context, {width}));
  }
};

} // namespace
} // namespace tilewright
