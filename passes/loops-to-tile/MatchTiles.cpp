//===- MatchTiles.cpp - products and functions of tiles -------------------===//
#include "passes/loops-to-gpu/InstructionMarks.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/TileProgram.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

/// The row and the column of an element of a buffer: all of its dimensions but the last are rows.
static std::optional<std::pair<LinearIndex, LinearIndex>> getPlace(Value buffer, ValueRange indices) {
  std::optional<SmallVector<LinearIndex>> each = getLinearIndices(indices);
  if (!each || each->empty())
    return std::nullopt;
  ArrayRef<int64_t> shape = cast<MemRefType>(buffer.getType()).getShape();
  LinearIndex row;
  for (auto [dimension, index] : llvm::enumerate(ArrayRef(*each).drop_back())) {
    LinearIndex above;
    row = above.plus(row, shape[dimension]).plus(index);
  }
  return std::pair{row, each->back()};
}

static int64_t countRows(Value buffer) { return llvm::product_of(cast<MemRefType>(buffer.getType()).getShape().drop_back()); }

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

LogicalResult TileProgram::matchOperand(memref::LoadOp load, TileOperand &operand, ArrayRef<scf::ForOp> loops,
                                        const LinearIndex &along, int64_t extent, LinearIndex &summed) {
  operand.buffer = load.getMemRef();
  StringRef which = &operand == &a ? "first" : "second";
  const TileCopy *filled = llvm::find_if(loads, [&](const TileCopy &copy) { return copy.buffer == operand.buffer; });
  if (filled == loads.end())
    return wgmmaError() << "expected a " << which << " operand in shared memory that its loop's copies fill, got '"
                        << getBufferName(operand.buffer) << "': cache_read it to \"shared\" and copy it by \"tma\"";
  auto place = getPlace(operand.buffer, load.getIndices());
  if (!place || !areOfLoops({place->first, place->second}, product))
    return wgmmaError() << "expected the loops of one product, got indices that are no sums of multiples of loops";
  auto [row, firstRow] = place->first.split(loops);
  auto [column, firstColumn] = place->second.split(loops);
  operand.isMNMajor = column == along;
  if (!operand.isMNMajor && !(row == along))
    return wgmmaError() << "expected a " << which << " operand whose rows, or columns, lie one behind the other in buffer '"
                        << getBufferName(operand.buffer) << "' as those of the sums do: have a stage of its own hold them so";
  summed = operand.isMNMajor ? row : column;
  k = 1;
  for (auto [loop, factor] : summed.terms)
    k *= getLoopExtent(loop).value_or(0);
  if (!getDigits(summed, k))
    return wgmmaError() << "expected to sum over elements of buffer '" << getBufferName(operand.buffer) << "' that lie one behind the other";
  operand.rows = operand.isMNMajor ? k : extent;
  operand.columns = operand.isMNMajor ? extent : k;
  // A part begins where the swizzle does.
  int64_t panel = filled->swizzle / tile::getElementBytes(cast<MemRefType>(operand.buffer.getType()).getElementType());
  if (!firstRow.isMultipleOf(8))
    return wgmmaError() << "expected a " << which << " operand from a multiple of 8 rows of buffer '"
                        << getBufferName(operand.buffer) << "' on";
  if (!firstColumn.isMultipleOf(operand.columns) || (filled->columns != operand.columns && operand.columns % panel))
    return wgmmaError() << "expected a " << which << " operand from a multiple of " << operand.columns << " columns of buffer '"
                        << getBufferName(operand.buffer) << "' on, in whole swizzle spans";
  operand.firstRow = firstRow;
  operand.firstColumn = firstColumn;
  return success();
}

LogicalResult TileProgram::matchProduct() {
  FailureOr<MultiplyAdd> found = readMultiplyAdd(product, [&] { return wgmmaError(); });
  if (failed(found))
    return failure();
  memref::StoreOp store = found->store;
  memref::LoadOp aLoad = found->a, bLoad = found->b;
  sum = store.getMemRef();
  if (!isPrivate(sum))
    return wgmmaError() << "expected a stage in local memory, whose elements are in registers, got one in "
                        << (isShared(sum) ? "shared" : "global") << " memory: cache_write it to \"local\"";
  ArrayRef<scf::ForOp> loops = found->loops;
  auto inSum = getPlace(sum, store.getIndices());
  if (!inSum || !areOfLoops({inSum->first, inSum->second}, product))
    return wgmmaError() << "expected the loops of one product, got indices that are no sums of multiples of loops";
  auto type = cast<MemRefType>(sum.getType());
  int64_t rows = countRows(sum), columns = type.getShape().back();
  if (type.getRank() < 2 || rows != tile::kWgmmaRows)
    return wgmmaError() << "expected " << tile::kWgmmaRows << " rows of sums a warpgroup, got " << (type.getRank() < 2 ? 1 : rows)
                        << ": bind the loop over rows of " << tile::kWgmmaRows << " to threadIdx.y";
  if (columns > tile::kWgmmaMaxColumns || columns % tile::kWgmmaColumnStep)
    return wgmmaError() << "expected a multiple of " << tile::kWgmmaColumnStep << " columns of sums up to "
                        << tile::kWgmmaMaxColumns << ", got " << columns;
  const auto &[row, column] = *inSum;
  if (!row.split(loops).second.isZero() || !column.split(loops).second.isZero() || !getDigits(row, tile::kWgmmaRows) ||
      !getDigits(column, columns))
    return wgmmaError() << "expected loops that go through all sums, 64 rows and " << columns << " columns";

  LinearIndex summed[2];
  if (failed(matchOperand(aLoad, a, loops, row, tile::kWgmmaRows, summed[0])) ||
      failed(matchOperand(bLoad, b, loops, column, columns, summed[1])))
    return failure();
  if (!(summed[0] == summed[1]))
    return wgmmaError() << "expected the loops of one product, got operands that are summed over in different orders";

  auto elementOf = [&](Value buffer) -> Type {
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    return element.isF32() ? FloatTF32Type::get(element.getContext()) : element;
  };
  aType = elementOf(a.buffer);
  bType = elementOf(b.buffer);
  instruction = tile::findWgmma(aType, bType, type.getElementType());
  if (!instruction)
    return wgmmaError() << "expected types that it has an instruction for, got " << aType << " and " << bType << " to "
                        << type.getElementType();
  if ((a.isMNMajor || b.isMNMajor) && !instruction->takesMNMajor)
    return wgmmaError() << "expected operands of " << aType << " whose rows are summed over along, got '"
                        << getBufferName(a.isMNMajor ? a.buffer : b.buffer) << "', whose columns are summed over";
  if (!instruction->takesColumns(columns))
    return wgmmaError() << "expected a multiple of " << instruction->columnStep << " columns of sums of " << aType << ", got " << columns;
  if (k % instruction->k)
    return wgmmaError() << "expected steps of a multiple of " << instruction->k << " elements of " << aType << ", got " << k;
  return success();
}

//===----------------------------------------------------------------------===//
// Functions of the sums
//===----------------------------------------------------------------------===//

LogicalResult TileProgram::matchFunction(Operation *of, memref::StoreOp store) {
  auto refuse = [&] {
    return error("wgmma", store.getLoc()) << "stage '" << getBufferName(store.getMemRef()) << "' of the sums of '" << getStage() << "': ";
  };
  for (Operation *around = store->getParentOp(); around != of->getParentOp(); around = around->getParentOp()) {
    auto guard = dyn_cast<scf::IfOp>(around);
    if (!guard)
      continue;
    if (isInElse(store, guard))
      return refuse() << "expected elements that are stored where a condition holds, got a store where one does not";
    // In registers there is no element that is left as it was.
    size_t stores = llvm::count_if(store.getMemRef().getUsers(), llvm::IsaPred<memref::StoreOp>);
    if (!isInGlobalMemory(store.getMemRef()) && stores > 1)
      return refuse() << "expected elements that are stored anew everywhere, got a condition under which they stay as they were: "
                         "compute both by te.if_then_else";
  }
  TileFunction function{of, store, {}, {}};
  SmallVector<scf::ForOp> loops = getLoopsAround(store, of);
  int64_t columns = cast<MemRefType>(sum.getType()).getShape().back();
  // All that is read of fragments is the element at the same place.
  std::optional<LinearIndex> row, column;
  bool isElementwise = true;
  of->walk([&](memref::LoadOp load) {
    if (isShared(load.getMemRef()))
      isElementwise = false;
    if (!isPrivate(load.getMemRef()))
      return;
    bool isKnown = load.getMemRef() == sum || llvm::any_of(functions, [&](TileFunction &known) {
                     return known.store.getMemRef() == load.getMemRef();
                   });
    auto place = getPlace(load.getMemRef(), load.getIndices());
    if (!isKnown || !place || (row && (!(*row == place->first) || !(*column == place->second)))) {
      isElementwise = false;
      return;
    }
    row = place->first;
    column = place->second;
  });
  if (!isElementwise || !row)
    return refuse() << "expected elements that are computed each of the sum at its own place, and of what is in global memory";
  auto rowDigits = getDigits(*row, tile::kWgmmaRows), columnDigits = getDigits(*column, columns);
  size_t numLoops = llvm::count_if(loops, [](scf::ForOp loop) { return getConstantIntValue(loop.getUpperBound()) != 1; });
  if (!rowDigits || !columnDigits || rowDigits->size() + columnDigits->size() != numLoops)
    return refuse() << "expected loops that go through all " << tile::kWgmmaRows << " rows and " << columns
                    << " columns of a warpgroup's sums";
  function.rows = *rowDigits;
  function.columns = *columnDigits;
  if (!isInGlobalMemory(store.getMemRef())) {
    Type element = store.getValue().getType();
    if (!element.isF32() && !element.isF16() && !element.isBF16() && !element.isSignlessInteger(32))
      return refuse() << "expected elements of f32, f16, bf16 or i32, which fragments have, got " << element;
    auto place = getPlace(store.getMemRef(), store.getIndices());
    // Of a buffer that they share each warpgroup has its rows, or columns where these are rows of the sums.
    auto isAt = [&](const LinearIndex &acrossWarpgroups, const LinearIndex &other) {
      auto [inner, first] = acrossWarpgroups.split(loops);
      LinearIndex wanted;
      if (isShared(store.getMemRef()) && numWarpgroups > 1)
        wanted.terms[warpgroups.getInductionVar()] = tile::kWgmmaRows;
      return inner == *row && first == wanted && other == *column;
    };
    if (place && isShared(store.getMemRef()) && isAt(place->second, place->first))
      isTransposed = true;
    else if (!place || !isAt(place->first, place->second))
      return refuse() << "expected elements that are stored at the place of the sum that they are computed of";
  }
  functions.push_back(function);
  return success();
}
} // namespace tilewright
