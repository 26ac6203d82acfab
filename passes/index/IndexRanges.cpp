//===- IndexRanges.cpp - which values the indices of a kernel take ---------===//
#include "passes/index/IndexRanges.h"

#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"
#include "passes/tile-to-nvvm/TileKernel.h"

#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"

using namespace mlir;

namespace tilewright::index {

static constexpr unsigned kStorageBits = 64; // of the ranges of an index

static APInt number(int64_t value) { return APInt(kStorageBits, value, /*isSigned=*/true); }

static ConstantIntRanges between(const APInt &least, const APInt &most) {
  return ConstantIntRanges::fromSigned(least, most);
}

static bool fits32(const ConstantIntRanges &range) {
  return range.smin().isSignedIntN(32) && range.smax().isSignedIntN(32);
}

/// The hardware's limits, which are below those of the type of an index.
static int64_t getLargest(gpu::Dimension dimension, bool isOfGrid) {
  if (isOfGrid)
    return dimension == gpu::Dimension::x ? kMaxGridX : kMaxGridYZ;
  return dimension == gpu::Dimension::z ? kMaxBlockThreadsZ : kMaxBlockThreads;
}

static std::optional<int64_t> getLargest(Operation *op) {
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
    return getLargest(id.getDimension(), false) - 1;
  if (auto id = dyn_cast<gpu::BlockIdOp>(op))
    return getLargest(id.getDimension(), true) - 1;
  if (auto dim = dyn_cast<gpu::BlockDimOp>(op))
    return getLargest(dim.getDimension(), false);
  if (auto dim = dyn_cast<gpu::GridDimOp>(op))
    return getLargest(dim.getDimension(), true);
  if (isa<gpu::ClusterIdOp, gpu::ClusterDimOp>(op))
    return kMaxGridX - 1;
  if (isa<gpu::ClusterBlockIdOp, gpu::ClusterDimBlocksOp>(op))
    return kMaxClusterBlocks;
  return std::nullopt;
}

bool isIndexLike(Type type) { return getElementTypeOrSelf(type).isIndex(); }

bool isIndexArithmetic(Operation *op) {
  return isa<arith::ArithDialect>(op->getDialect()) && op->getNumResults() == 1 &&
         (llvm::any_of(op->getOperandTypes(), isIndexLike) || isIndexLike(op->getResult(0).getType()));
}

IndexRanges::IndexRanges(gpu::GPUFuncOp kernel) : isOfTiles(hasTileOps(kernel)) {
  for (Block &block : kernel.getBody())
    visit(block);
}

ConstantIntRanges IndexRanges::of(Value value) const {
  auto found = ranges.find(value);
  return found != ranges.end() ? found->second
                               : ConstantIntRanges::maxRange(ConstantIntRanges::getStorageBitwidth(value.getType()));
}

bool IndexRanges::fits(Value value) const { return !isIndexLike(value.getType()) || fits32(of(value)); }

void IndexRanges::setMax(Value value) { ranges.erase(value); }

/// Whether `op` is the compiler's own choice of a tile in a kernel of asynchronous tiles. It knows that its numbers are
/// small: tiles of a static program are counted. Ranges do not show it, for it computes places on both sides of a
/// select, of unsigned numbers that would be negative on the other side. What is computed of data, and for the elements
/// of a tile, is the program's.
bool IndexRanges::isOfScheduler(Operation *op) const {
  if (!isOfTiles || op->getParentOfType<tile::MapOp>() || op->hasTrait<OpTrait::ConstantLike>())
    return false;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return !fromData.contains(loop.getInductionVar());
  return (isIndexArithmetic(op) || isa<affine::AffineDialect>(op->getDialect())) &&
         !fromData.contains(op->getResult(0));
}

void IndexRanges::visit(Block &block) {
  for (Operation &op : block)
    visit(&op);
}

void IndexRanges::visit(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visit(loop);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      // The number of a warpgroup, or the place of an element in its tile, which shared memory or registers hold.
      if (isa<tile::TileDialect>(op->getDialect()))
        for (BlockArgument argument : block.getArguments())
          if (argument.getType().isIndex())
            ranges.insert_or_assign(argument, between(number(0), number(UINT16_MAX)));
      visit(block);
    }
  auto choice = dyn_cast<scf::IfOp>(op);
  if (!choice || choice.getNumResults() == 0)
    return infer(op);
  for (auto [result, first, second] :
       llvm::zip(choice.getResults(), choice.thenYield().getOperands(), choice.elseYield().getOperands()))
    if (result.getType().isIntOrIndex()) {
      ranges.insert_or_assign(result, of(first).rangeUnion(of(second)));
      if (fromData.contains(first) || fromData.contains(second))
        fromData.insert(result);
    }
}

void IndexRanges::visit(scf::ForOp loop) {
  Value counter = loop.getInductionVar();
  ConstantIntRanges least = of(loop.getLowerBound()), end = of(loop.getUpperBound());
  if (counter.getType().isIndex()) {
    // Where the end is below the beginning there is no iteration.
    APInt most = end.smax().isMinSignedValue() ? end.smax() : end.smax() - 1;
    ranges.insert_or_assign(counter, between(least.smin(), llvm::APIntOps::smax(least.smin(), most)));
  } else {
    setMax(counter);
  }
  auto isCarried = [](Value value) { return value.getType().isIndex(); };
  // What a loop carries may first be anything. What the body makes of anything (`(x + 1) mod 3`) is then all that it
  // hands on.
  for (Value carried : loop.getRegionIterArgs())
    setMax(carried);
  if (fromData.contains(loop.getLowerBound()) || fromData.contains(loop.getUpperBound()))
    fromData.insert(counter);
  visit(*loop.getBody());
  for (auto [carried, result, initial, handedOn] :
       llvm::zip(loop.getRegionIterArgs(), loop.getResults(), loop.getInitArgs(), loop.getYieldedValues()))
    if (fromData.contains(initial) || fromData.contains(handedOn)) {
      fromData.insert(carried);
      fromData.insert(result);
    }
  if (llvm::any_of(loop.getRegionIterArgs(), isCarried)) {
    for (auto [carried, initial, handedOn] :
         llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getYieldedValues()))
      if (isCarried(carried))
        ranges.insert_or_assign(carried, of(initial).rangeUnion(of(handedOn)));
    visit(*loop.getBody());
  }
  for (auto [result, initial, handedOn] : llvm::zip(loop.getResults(), loop.getInitArgs(), loop.getYieldedValues()))
    if (isCarried(result))
      ranges.insert_or_assign(result, of(initial).rangeUnion(of(handedOn)));
}

void IndexRanges::infer(Operation *op) {
  // Data is what is read of buffers, and numbers that a call gives.
  bool isOfData = llvm::any_of(op->getOperands(), [&](Value operand) {
    auto argument = dyn_cast<BlockArgument>(operand);
    return fromData.contains(operand) || isa<MemRefType>(operand.getType()) ||
           (argument && isa<gpu::GPUFuncOp>(argument.getOwner()->getParentOp()));
  });
  for (Value result : op->getResults()) {
    setMax(result);
    if (isOfData)
      fromData.insert(result);
  }
  bool fits;
  if (isa<affine::AffineMinOp, affine::AffineMaxOp>(op)) {
    auto map = cast<AffineMapAttr>(op->getAttr("map")).getValue();
    ConstantIntRanges all = evaluate(map.getResult(0), map, op->getOperands(), fits);
    for (AffineExpr expr : map.getResults().drop_front()) {
      ConstantIntRanges each = evaluate(expr, map, op->getOperands(), fits);
      all = isa<affine::AffineMinOp>(op) ? intrange::inferMinS({all, each}) : intrange::inferMaxS({all, each});
    }
    ranges.insert_or_assign(op->getResult(0), all);
  } else if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    ranges.insert_or_assign(apply.getResult(), evaluate(map.getResult(0), map, op->getOperands(), fits));
  } else if (auto inferable = dyn_cast<InferIntRangeInterface>(op)) {
    auto given = llvm::map_to_vector(op->getOperands(), [&](Value operand) {
      return ConstantIntRanges::getStorageBitwidth(operand.getType()) == 0 ? IntegerValueRange()
                                                                           : IntegerValueRange(of(operand));
    });
    inferable.inferResultRangesFromOptional(given, [&](Value value, const IntegerValueRange &range) {
      if (!range.isUninitialized() &&
          range.getValue().smin().getBitWidth() == ConstantIntRanges::getStorageBitwidth(value.getType()))
        ranges.insert_or_assign(value, range.getValue());
    });
  }
  if (isOfScheduler(op) && isIndexLike(op->getResult(0).getType()) && !fits32(of(op->getResult(0))))
    ranges.insert_or_assign(op->getResult(0), between(number(INT32_MIN), number(INT32_MAX)));
  if (std::optional<int64_t> most = getLargest(op))
    ranges.insert_or_assign(op->getResult(0), of(op->getResult(0)).intersection(between(number(0), number(*most))));
}

/// The terms of a sum, which may be added up in any order.
static void collectTerms(AffineExpr expr, SmallVectorImpl<AffineExpr> &terms) {
  if (expr.getKind() != AffineExprKind::Add)
    return terms.push_back(expr);
  collectTerms(cast<AffineBinaryOpExpr>(expr).getLHS(), terms);
  collectTerms(cast<AffineBinaryOpExpr>(expr).getRHS(), terms);
}

ConstantIntRanges IndexRanges::evaluate(AffineExpr expr, AffineMap map, ValueRange operands, bool &fits) const {
  auto made = [&](ConstantIntRanges range) {
    fits &= fits32(range);
    return range;
  };
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return made(ConstantIntRanges::constant(number(cast<AffineConstantExpr>(expr).getValue())));
  case AffineExprKind::DimId:
    return made(of(operands[cast<AffineDimExpr>(expr).getPosition()]));
  case AffineExprKind::SymbolId:
    return made(of(operands[map.getNumDims() + cast<AffineSymbolExpr>(expr).getPosition()]));
  case AffineExprKind::Add: {
    // Later passes take sums apart and put them together: each sum of some of the terms has to fit.
    SmallVector<AffineExpr> terms;
    collectTerms(expr, terms);
    ConstantIntRanges zero = ConstantIntRanges::constant(number(0)), lowest = zero, highest = zero, sum = zero;
    for (AffineExpr term : terms) {
      ConstantIntRanges each = evaluate(term, map, operands, fits);
      sum = intrange::inferAdd({sum, each});
      lowest = intrange::inferAdd({lowest, between(llvm::APIntOps::smin(each.smin(), number(0)), number(0))});
      highest = intrange::inferAdd({highest, between(number(0), llvm::APIntOps::smax(each.smax(), number(0)))});
      fits &= fits32(lowest) && fits32(highest);
    }
    return made(sum);
  }
  default:
    break;
  }
  auto both = cast<AffineBinaryOpExpr>(expr);
  ConstantIntRanges left = evaluate(both.getLHS(), map, operands, fits),
                    right = evaluate(both.getRHS(), map, operands, fits);
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    return made(intrange::inferMul({left, right}));
  case AffineExprKind::FloorDiv:
    return made(intrange::inferFloorDivS({left, right}));
  case AffineExprKind::CeilDiv:
    fits &= !left.smin().isSignedIntN(32) || left.smin().sgt(number(INT32_MIN)); // it is negated on the way
    return made(intrange::inferCeilDivS({left, right}));
  default: // Mod, of what is positive
    if (left.smin().isNonNegative() && left.smax().slt(right.smin()))
      return made(left);
    if (right.smin().isStrictlyPositive())
      return made(between(number(0), right.smax() - 1));
    return made(ConstantIntRanges::maxRange(kStorageBits));
  }
}

bool IndexRanges::fitsAffine(AffineMap map, ValueRange operands) const {
  bool fits = true;
  for (AffineExpr expr : map.getResults())
    evaluate(expr, map, operands, fits);
  return fits;
}

bool IndexRanges::needs64Bits(Operation *op) const {
  auto doesFit = [&](Value value) { return fits(value); };
  if (!llvm::all_of(op->getOperands(), doesFit) || !llvm::all_of(op->getResults(), doesFit))
    return true;
  if (isOfScheduler(op))
    return false;
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return !fitsAffine(apply.getAffineMap(), op->getOperands());
  if (isa<affine::AffineMinOp, affine::AffineMaxOp>(op))
    return !fitsAffine(cast<AffineMapAttr>(op->getAttr("map")).getValue(), op->getOperands());
  if (auto loop = dyn_cast<scf::ForOp>(op))
    // The counter goes beyond the end by up to a step.
    return loop.getInductionVar().getType().isIndex() &&
           !fits32(intrange::inferAdd({of(loop.getUpperBound()), of(loop.getStep())}));
  if (!isIndexArithmetic(op))
    return false;
  auto isNegative = [&](Value value) { return isIndexLike(value.getType()) && !of(value).smin().isNonNegative(); };
  if (isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp, arith::ShRUIOp>(op) ||
      (isa<arith::IndexCastUIOp>(op) && isIndexLike(op->getOperand(0).getType())))
    if (llvm::any_of(op->getOperands(), isNegative))
      return true;
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    return of(op->getOperand(1)).umax().uge(32);
  return false;
}

} // namespace tilewright::index
