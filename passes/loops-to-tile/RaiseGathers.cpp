//===- RaiseGathers.cpp - tiles of rows that an index tensor names --------===//
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/TileRaiser.h"

using namespace mlir;

namespace tilewright {

/// The divisor of a value that is the quotient, or the remainder, of a loop's number and a constant; 0 for others.
static int64_t getDivisor(Value value, scf::ForOp loop, AffineExprKind kind) {
  auto apply = value.getDefiningOp<affine::AffineApplyOp>();
  if (!apply || apply.getMapOperands().size() != 1 || apply.getMapOperands()[0] != loop.getInductionVar())
    return 0;
  AffineExpr expr = apply.getAffineMap().getResult(0);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto divisor = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : nullptr;
  bool isOfLoop = binary && isa<AffineDimExpr, AffineSymbolExpr>(binary.getLHS());
  return binary && divisor && isOfLoop && expr.getKind() == kind ? divisor.getValue() : 0;
}

/// Whether a value stays the same while the loops of the copy run, and the loop over rows goes through one page.
static bool isOfPage(Value value, Operation *of, ArrayRef<scf::ForOp> loops, const GatheredDimension &gathered) {
  if (isa<BlockArgument>(value))
    return llvm::none_of(loops, [&](scf::ForOp loop) { return loop.getInductionVar() == value; });
  Operation *op = value.getDefiningOp();
  if (!of->isAncestor(op))
    return true;
  if (isa<affine::AffineApplyOp>(op)) {
    auto linear = LinearIndex::get(value);
    return linear && llvm::all_of(linear->split(loops).first.terms, [&](auto term) {
             int64_t divisor =
                 gathered.rows ? getDivisor(term.first, gathered.rows, AffineExprKind::FloorDiv) : int64_t(0);
             return divisor && divisor % gathered.each == 0;
           });
  }
  auto load = dyn_cast<memref::LoadOp>(op);
  if (load ? !isInGlobalMemory(load.getMemRef()) : !isOnlyComputed(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) { return isOfPage(operand, of, loops, gathered); });
}

LogicalResult TileRaiser::matchGathered(Operation *of, TileCopy &copy, MutableArrayRef<LinearIndex> indices) {
  auto refuse = [&] { return error("copy_by", copy.getLoc()) << "stage '" << getBufferName(copy.buffer) << "': "; };
  auto isRead = [&](const LinearIndex &index) {
    return index.constant == 0 && index.terms.size() == 1 && index.terms.begin()->second == 1 &&
           index.terms.begin()->first.getDefiningOp<arith::IndexCastOp>() &&
           nest->isAncestor(index.terms.begin()->first.getDefiningOp());
  };
  auto *found = llvm::find_if(indices, isRead);
  if (found == indices.end())
    return success();
  SmallVector<scf::ForOp> loops = getLoopsAround(copy.store, of);
  GatheredDimension gathered{unsigned(found - indices.begin()), found->terms.begin()->first, nullptr, {}};
  // Rows that go through several pages.
  for (auto [number, index] : llvm::enumerate(indices))
    for (auto [value, factor] : index.terms)
      for (scf::ForOp loop : loops) {
        int64_t each = getDivisor(value, loop, AffineExprKind::Mod);
        std::optional<int64_t> extent = getLoopExtent(loop.getInductionVar());
        if (each && factor == 1 && extent && *extent % each == 0 && number != gathered.number && !gathered.rows) {
          gathered.rows = loop;
          gathered.each = each;
          gathered.count = *extent / each;
          gathered.inner = number;
        }
      }
  if (!isOfPage(gathered.index, of, loops, gathered))
    return refuse() << "expected one index read from memory for each of so many rows that follow one another, got "
                       "indices of other elements in dimension "
                    << gathered.number << " of " << getBufferName(copy.tensor);
  if (gathered.rows) {
    if (gathered.each % 8)
      return refuse() << "expected a multiple of 8 rows for each index read from memory, got " << gathered.each;
    LinearIndex &inner = indices[gathered.inner];
    Value rest;
    for (auto [value, factor] : inner.terms)
      if (getDivisor(value, gathered.rows, AffineExprKind::Mod))
        rest = value;
    inner.terms.erase(rest);
    inner.terms[gathered.rows.getInductionVar()] = 1;
  }
  for (scf::ForOp loop : loops)
    gathered.loops.push_back(loop.getInductionVar());
  indices[gathered.number] = LinearIndex();
  copy.gathered = gathered;
  return success();
}

SmallVector<Value> TileRaiser::getGatheredCoordinates(const TileCopy &copy) {
  SmallVector<Value> coordinates;
  for (int64_t number = 0; number < copy.gathered->count; ++number) {
    IRMapping mapping = places;
    for (Value loop : copy.gathered->loops) {
      bool isOfRows = copy.gathered->rows && scf::ForOp(copy.gathered->rows).getInductionVar() == loop;
      int64_t first = isOfRows ? number * copy.gathered->each : 0;
      mapping.map(loop, arith::ConstantIndexOp::create(builder, copy.getLoc(), first).getResult());
    }
    coordinates.push_back(remake(copy.gathered->index, mapping));
  }
  return coordinates;
}
} // namespace tilewright
