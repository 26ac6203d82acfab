//===- IndexMagnitudes.cpp - how large indices get ------------------------===//
#include "passes/gpu-to-source/IndexMagnitudes.h"

#include "passes/PassSupport.h"

using namespace mlir;

namespace tilewright::source {

std::optional<llvm::APInt> Magnitudes::of(Value value) {
  auto [found, isNew] = known.try_emplace(value);
  if (!isNew)
    return found->second;
  std::optional<llvm::APInt> made = compute(value);
  return known[value] = made;
}

std::optional<llvm::APInt> Magnitudes::of(AffineExpr expr, ValueRange operands, unsigned numDims) {
  auto number = [](int64_t value) { return llvm::APInt(128, static_cast<uint64_t>(value), /*isSigned=*/true).abs(); };
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return number(cast<AffineConstantExpr>(expr).getValue());
  case AffineExprKind::DimId:
    return of(operands[cast<AffineDimExpr>(expr).getPosition()]);
  case AffineExprKind::SymbolId:
    return of(operands[numDims + cast<AffineSymbolExpr>(expr).getPosition()]);
  default:
    break;
  }
  auto both = cast<AffineBinaryOpExpr>(expr);
  std::optional<llvm::APInt> left = of(both.getLHS(), operands, numDims), right = of(both.getRHS(), operands, numDims);
  // What is between needs an int, too.
  if (!left || !right || left->getActiveBits() > 31 || right->getActiveBits() > 31)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return *left + *right;
  case AffineExprKind::Mul:
    return *left * *right;
  case AffineExprKind::Mod:
    return *right;
  default:
    return *left;
  }
}

std::optional<llvm::APInt> Magnitudes::compute(Value value) {
  auto number = [](uint64_t value) { return std::optional(llvm::APInt(128, value)); };
  if (llvm::APInt constant; matchPattern(value, m_ConstantInt(&constant)))
    return constant.sext(128).abs();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return std::nullopt;
    // The last comparison looks at a step past the end.
    auto first = of(loop.getLowerBound()), end = of(loop.getUpperBound()), step = of(loop.getStep());
    if (!first || !end || !step)
      return std::nullopt;
    return llvm::APIntOps::umax(*first, *end) + *step;
  }
  Operation *op = value.getDefiningOp();
  // A grid has less than 2^31 blocks along each axis, a block 1,024 threads.
  if (isa<gpu::BlockIdOp, gpu::GridDimOp>(op)) {
    auto grid = op->getParentOfType<gpu::GPUFuncOp>().getKnownGridSize();
    auto dimension = isa<gpu::BlockIdOp>(op) ? cast<gpu::BlockIdOp>(op).getDimension() : cast<gpu::GridDimOp>(op).getDimension();
    return number(grid ? (*grid)[static_cast<int>(dimension)] : INT32_MAX);
  }
  if (isa<gpu::ThreadIdOp, gpu::BlockDimOp>(op))
    return number(1024);
  if (auto dim = dyn_cast<memref::DimOp>(op))
    if (std::optional<int64_t> index = dim.getConstantIndex(); index && !cast<MemRefType>(dim.getSource().getType()).isDynamicDim(*index))
      return number(cast<MemRefType>(dim.getSource().getType()).getDimSize(*index));
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return of(apply.getAffineMap().getResult(0), op->getOperands(), apply.getAffineMap().getNumDims());
  if (isa<affine::AffineMinOp, affine::AffineMaxOp>(op)) {
    AffineMap map = isa<affine::AffineMinOp>(op) ? cast<affine::AffineMinOp>(op).getMap() : cast<affine::AffineMaxOp>(op).getMap();
    llvm::APInt most(128, 0);
    for (AffineExpr expr : map.getResults()) {
      std::optional<llvm::APInt> found = of(expr, op->getOperands(), map.getNumDims());
      if (!found)
        return std::nullopt;
      most = llvm::APIntOps::umax(most, *found);
    }
    return most;
  }
  // A number from the data: of two bytes and less it is small.
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) && op->getOperand(0).getType().getIntOrFloatBitWidth() <= 16)
    return number(uint64_t(1) << 16);
  bool isArithmetic = isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp,
                          arith::FloorDivSIOp, arith::CeilDivSIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op);
  if (!isArithmetic && !isa<arith::SelectOp>(op))
    return std::nullopt;
  auto left = of(op->getOperand(op->getNumOperands() - 2)), right = of(op->getOperand(op->getNumOperands() - 1));
  if (!left || !right || left->getActiveBits() > 31 || right->getActiveBits() > 31)
    return std::nullopt;
  if (isa<arith::MulIOp>(op))
    return *left * *right;
  return isa<arith::AddIOp, arith::SubIOp>(op) ? *left + *right : llvm::APIntOps::umax(*left, *right);
}

} // namespace tilewright::source
