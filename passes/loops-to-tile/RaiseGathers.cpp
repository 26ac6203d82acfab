//===- RaiseGathers.cpp - tiles of rows that an index tensor names --------===//
#include "passes/index/DigitExpr.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/TileRaiser.h"

using namespace mlir;

namespace tilewright {

/// The digit of a loop's number that a value is, where it is one.
static std::optional<index::DigitExpr> getDigitOf(scf::ForOp loop, Value value) {
  auto digit = index::getDigit(value);
  return digit && digit->first == loop.getInductionVar() ? std::optional(digit->second) : std::nullopt;
}

/// The rows of a page, where a value is a row's number in its page.
static int64_t getRowsOfPage(scf::ForOp rows, Value value) {
  auto digit = getDigitOf(rows, value);
  return digit && digit->isRemainder() ? *digit->extent : 0;
}

/// Whether a value stays the same while the loops of the copy run, and the loop over rows goes through one page.
static bool isOfPage(Value value, Operation *of, ArrayRef<scf::ForOp> loops, const GatheredDimension &gathered) {
  if (isa<BlockArgument>(value))
    return llvm::none_of(loops, [&](scf::ForOp loop) { return loop.getInductionVar() == value; });
  Operation *op = value.getDefiningOp();
  if (!of->isAncestor(op))
    return true;
  if (isa<affine::AffineApplyOp>(op)) {
    auto linear = index::LinearIndex::get(value);
    return linear && llvm::all_of(linear->split(loops).first.terms, [&](auto term) {
             auto digit = gathered.rows ? getDigitOf(gathered.rows, term.first) : std::nullopt;
             return digit && digit->isQuotient() && digit->stride % gathered.each == 0;
           });
  }
  auto load = dyn_cast<memref::LoadOp>(op);
  if (load ? !isInGlobalMemory(load.getMemRef()) : !isOnlyComputed(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) { return isOfPage(operand, of, loops, gathered); });
}

LogicalResult TileRaiser::matchGathered(Operation *of, TileCopy &copy, MutableArrayRef<index::LinearIndex> indices) {
  auto refuse = [&] { return error("copy_by", copy.getLoc()) << "stage '" << getBufferName(copy.buffer) << "': "; };
  auto isRead = [&](const index::LinearIndex &index) {
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
        int64_t each = getRowsOfPage(loop, value);
        std::optional<int64_t> extent = index::getLoopExtent(loop.getInductionVar());
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
    index::LinearIndex &inner = indices[gathered.inner];
    Value rest;
    for (auto [value, factor] : inner.terms)
      if (getRowsOfPage(gathered.rows, value))
        rest = value;
    inner.terms.erase(rest);
    inner.terms[gathered.rows.getInductionVar()] = 1;
  }
  for (scf::ForOp loop : loops)
    gathered.loops.push_back(loop.getInductionVar());
  indices[gathered.number] = index::LinearIndex();
  copy.gathered = gathered;
  return success();
}

void TileRaiser::findRead(Operation *of, TileCopy &copy, ArrayRef<index::LinearIndex> indices) {
  SmallVector<scf::ForOp> loops = getLoopsAround(copy.store, of);
  GatheredDimension none{0, nullptr, nullptr, {}};
  for (const index::LinearIndex &index : indices)
    for (auto [value, factor] : index.terms)
      if (auto cast = value.getDefiningOp<arith::IndexCastOp>(); cast && cast.getIn().getDefiningOp<memref::LoadOp>() &&
                                                                 of->isAncestor(cast) &&
                                                                 isOfPage(value, of, loops, none))
        copy.read.push_back(value);
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
