//===- EmitReduceAdds.cpp - sums to which blocks add their parts ----------===//
#include "passes/linalg-to-loops/LoopEmitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

/// The threads of a block that fills a result with zeros, and how many elements each of them sets.
static constexpr int64_t kZeroThreads = 256, kZerosEach = 4;

/// Whether each result of a reduction is a sum: of its accumulator and of an element, from zero on.
static bool isSum(linalg::GenericOp op) {
  return llvm::all_of(llvm::enumerate(op.getBody()->getTerminator()->getOperands()), [&](auto each) {
    Operation *add = each.value().getDefiningOp();
    Value accumulator = op.getRegionOutputArgs()[each.index()];
    return isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add) && accumulator.hasOneUse() &&
           llvm::is_contained(add->getOperands(), accumulator);
  });
}

LogicalResult StageModel::verifyReduceAdd(ScheduledStage &stage) {
  const Axis *blocks = stage.getReduceAdd();
  if (!blocks)
    return success();
  auto error = [&](const Twine &expected) {
    return emitError(blocks->loc) << "bind: expected " << expected << " for reduce_add, got ";
  };
  if (stage.attachStage)
    return error("a stage that is computed at the root")
           << "stage '" << stage.name << "', which is computed at a loop of stage '" << stage.attachStage->name << "'";
  if (!stage.followers.empty())
    return error("no stage that is computed after it in its loops") << "stage '" << stage.followers[0]->name << "'";
  if (!isSum(stage.op))
    return error("a sum") << "stage '" << stage.name << "', which is reduced in another way";
  for (Type type : stage.op.getResultTypes()) {
    Type element = cast<RankedTensorType>(type).getElementType();
    if (!element.isF32() && !element.isF64() && !element.isInteger(32) && !element.isInteger(64))
      return error("sums of 32 or 64 bits") << "those of " << element << " of stage '" << stage.name << "'";
  }
  return success();
}

void LoopEmitter::emitZeros(const ScheduledStage &stage) {
  Location loc = stage.getLoc();
  for (Value buffer : buffers[&stage]) {
    OpBuilder::InsertionGuard guard(builder);
    auto type = cast<MemRefType>(buffer.getType());
    SmallVector<Value> extents;
    Value total = getConstant(1);
    bool isConstant = type.hasStaticShape();
    for (auto [dimension, extent] : llvm::enumerate(type.getShape())) {
      extents.push_back(ShapedType::isDynamic(extent)
                            ? memref::DimOp::create(builder, loc, buffer, getConstant(dimension)).getResult()
                            : getConstant(extent));
      total = isConstant ? total : arith::MulIOp::create(builder, loc, total, extents.back()).getResult();
    }
    constexpr int64_t ofBlock = kZeroThreads * kZerosEach;
    Value numBlocks = isConstant ? getConstant(llvm::divideCeil(type.getNumElements(), ofBlock))
                                 : arith::CeilDivUIOp::create(builder, loc, total, getConstant(ofBlock)).getResult();
    total = isConstant ? getConstant(type.getNumElements()) : total;
    auto open = [&](Value extent, StringRef name, std::optional<schedule::ThreadTag> tag) {
      auto loop = scf::ForOp::create(builder, NameLoc::get(builder.getStringAttr(name), loc), getConstant(0), extent,
                                     getConstant(1));
      loop->setAttr(schedule::kAxisAttr, schedule::AxisAttr::get(builder.getContext(), name, stage.name));
      if (tag)
        loop->setAttr(schedule::kBindAttr, schedule::ThreadTagAttr::get(builder.getContext(), *tag));
      else
        loop->setAttr(schedule::kUnrollAttr, builder.getUnitAttr());
      builder.setInsertionPoint(loop.getBody()->getTerminator());
      return loop.getInductionVar();
    };
    Value block = open(numBlocks, "zeros.outer", schedule::ThreadTag::BlockIdxX);
    Value thread = open(getConstant(kZeroThreads), "zeros.inner", schedule::ThreadTag::ThreadIdxX);
    Value each = open(getConstant(kZerosEach), "zeros", std::nullopt);
    AffineExpr d0 = builder.getAffineDimExpr(0), d1 = builder.getAffineDimExpr(1), d2 = builder.getAffineDimExpr(2);
    Value number = affine::AffineApplyOp::create(
        builder, loc, AffineMap::get(3, 0, d0 * ofBlock + d1 * kZeroThreads + d2), ValueRange{block, each, thread});
    if (!isConstant || type.getNumElements() % ofBlock != 0) {
      Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, number, total);
      builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, inside, /*withElseRegion=*/false).thenBlock());
    }
    SmallVector<Value> indices(extents.size());
    for (size_t d = extents.size(); d-- > 0;) {
      indices[d] = d == 0 ? number : arith::RemUIOp::create(builder, loc, number, extents[d]).getResult();
      number = d == 0 ? number : arith::DivUIOp::create(builder, loc, number, extents[d]).getResult();
    }
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType()));
    memref::StoreOp::create(builder, loc, zero, buffer, indices);
  }
}

FailureOr<SmallVector<Value>> LoopEmitter::emitAddend(const ScheduledStage &stage) {
  auto identity = emitIdentity(stage);
  if (failed(identity))
    return failure();
  auto values = emitBody(stage, *identity);
  if (failed(values))
    return failure();
  // To add to zero is left out.
  for (auto [value, zero] : llvm::zip_equal(*values, *identity)) {
    Operation *add = value.getDefiningOp();
    value = add->getOperand(add->getOperand(0) == zero ? 1 : 0);
    add->erase();
    zero.getDefiningOp()->erase();
  }
  return values;
}
} // namespace tilewright
