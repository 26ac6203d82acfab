//===- RaiseMatmuls.cpp - matmuls of tiles by a warpgroup -----------------===//
#include "dialects/Schedule/MatrixNests.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/TileRaiser.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright {

/// The operand as messages call it.
static StringRef nameOf(schedule::MatrixOperand which) {
  return which == schedule::MatrixOperand::A ? "operand A" : "operand B";
}

FailureOr<TileOperand> TileRaiser::matchOperand(memref::LoadOp load, schedule::MatrixOperand which, scf::ForOp of,
                                                ArrayRef<scf::ForOp> loops, const index::LinearIndex &along,
                                                int64_t extent, index::LinearIndex &summed, int64_t &k) {
  auto refuse = [&] { return error("wgmma of stage '" + getAxisName(of).stage + "'", of.getLoc()); };
  TileOperand operand;
  operand.buffer = load.getMemRef();
  Value held = tiles.lookup(operand.buffer);
  if (held && isa<tile::FragmentType>(held.getType())) {
    if (!isShared(operand.buffer))
      return matchFragment(load, cast<tile::FragmentType>(held.getType()), which, of, loops, along, summed, k);
    if (failed(shareFragments(operand.buffer, of)))
      return failure();
    held = tiles.lookup(operand.buffer);
  }
  if (!held)
    return refuse() << "expected " << nameOf(which) << " in shared memory that its loop's copies fill, got '"
                    << getBufferName(operand.buffer) << "': cache_read it to \"shared\" and copy it by \"tma\"";
  auto place = getRowAndColumn(operand.buffer, load.getIndices());
  if (!place || !areOfLoops({place->first, place->second}, of))
    return refuse() << "expected the loops of one matmul, got indices that are no sums of multiples of loops";
  auto [row, firstRow] = place->first.split(loops);
  auto [column, firstColumn] = place->second.split(loops);
  operand.isMNMajor = column == along;
  if (!operand.isMNMajor && !(row == along))
    return refuse() << "expected rows or columns of " << nameOf(which) << " that lie one behind the other in buffer '"
                    << getBufferName(operand.buffer)
                    << "' as those of the accumulator do: have a stage of its own hold them so";
  summed = operand.isMNMajor ? row : column;
  k = 1;
  for (auto [loop, factor] : summed.terms)
    k *= index::getLoopExtent(loop).value_or(0);
  if (!index::getDigits(summed, k))
    return refuse() << "expected to sum over elements of buffer '" << getBufferName(operand.buffer)
                    << "' that lie one behind the other";
  operand.rows = operand.isMNMajor ? k : extent;
  operand.columns = operand.isMNMajor ? extent : k;
  // A part begins where the swizzle does.
  auto filled = cast<tile::BufferType>(held.getType());
  int64_t panel =
      filled.getSwizzle() / tile::getElementBytes(cast<MemRefType>(operand.buffer.getType()).getElementType());
  if (!firstRow.isMultipleOf(8))
    return refuse() << "expected " << nameOf(which) << " from a multiple of 8 rows of buffer '"
                    << getBufferName(operand.buffer) << "' on";
  if (!firstColumn.isMultipleOf(operand.columns) ||
      (filled.getColumns() != operand.columns && (!panel || operand.columns % panel)))
    return refuse() << "expected " << nameOf(which) << " from a multiple of " << operand.columns
                    << " columns of buffer '" << getBufferName(operand.buffer) << "' on, in whole swizzle spans";
  operand.firstRow = firstRow;
  operand.firstColumn = firstColumn;
  return operand;
}

LogicalResult TileRaiser::shareFragments(Value buffer, scf::ForOp of) {
  auto refuse = [&] { return error("wgmma of stage '" + getAxisName(of).stage + "'", of.getLoc()); };
  auto fragment = cast<tile::FragmentType>(tiles[buffer].getType());
  Type element = fragment.getElementType();
  if (transposed.contains(buffer) || countRows(buffer) != tile::kWgmmaRows * numWarpgroups || numSets > 1)
    return refuse() << "expected an operand of which each of a block's " << numWarpgroups * numSets
                    << " warpgroups computes " << tile::kWgmmaRows << " rows, got stage '" << getBufferName(buffer)
                    << "' of " << countRows(buffer) << " rows";
  int64_t swizzle = std::gcd<int64_t>(fragment.getColumns() * tile::getElementBytes(element), 128);
  auto type = tile::BufferType::get(builder.getContext(), {countRows(buffer), fragment.getColumns()}, element,
                                    swizzle < 32 ? 0 : swizzle, countRows(buffer));
  auto share = tile::ShareOp::create(builder, of.getLoc(), type, tiles[buffer]);
  share->setAttr(te::kStageAttr, builder.getStringAttr(getBufferName(buffer)));
  tiles[buffer] = share;
  return success();
}

FailureOr<TileOperand> TileRaiser::matchFragment(memref::LoadOp load, tile::FragmentType type,
                                                 schedule::MatrixOperand which, scf::ForOp of,
                                                 ArrayRef<scf::ForOp> loops, const index::LinearIndex &along,
                                                 index::LinearIndex &summed, int64_t &k) {
  auto refuse = [&] { return error("wgmma of stage '" + getAxisName(of).stage + "'", of.getLoc()); };
  TileOperand operand;
  operand.buffer = load.getMemRef();
  Type element = type.getElementType();
  bool isTaken = tile::isOperandInRegisters(element) && (!element.isF32() || multipliesF32());
  if (which != schedule::MatrixOperand::A || type.isColumn() || !isTaken)
    return refuse() << "expected operand A of 16-bit elements or of f8E4M3FN in registers, or of f32 with tf32x3, got '"
                    << getBufferName(operand.buffer) << "', " << nameOf(which) << " of " << type.getElementType();
  auto place = getRowAndColumn(operand.buffer, load.getIndices());
  k = type.getColumns();
  if (!place || !(place->first == along) || !place->second.split(loops).second.isZero() ||
      !index::getDigits(place->second, k))
    return refuse() << "expected to sum over all columns of '" << getBufferName(operand.buffer)
                    << "', which is in registers";
  summed = place->second;
  operand.rows = tile::kWgmmaRows;
  operand.columns = k;
  return operand;
}

static schedule::InstructionAttr getInstruction(Operation *matmul) {
  return matmul->getAttrOfType<schedule::InstructionAttr>(schedule::kInstructionAttr);
}

int64_t getPromoted(scf::ForOp matmul) { return getInstruction(matmul).getPromote(); }

bool TileRaiser::multipliesF32() const {
  return nest
      ->walk([](scf::ForOp loop) {
        return isMatmul(loop) && getInstruction(loop).getTf32x3() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult TileRaiser::raiseMatmul(scf::ForOp of, ArrayRef<scf::ForOp> unrolled) {
  auto refuse = [&] { return error("wgmma of stage '" + getAxisName(of).stage + "'", of.getLoc()); };
  int64_t promoted = getPromoted(of);
  if (failed(checkLanes()))
    return failure();
  FailureOr<schedule::MatrixNest> found = schedule::readMatrixNest(of);
  if (failed(found))
    return failure();
  memref::StoreOp store = found->store;
  memref::LoadOp aLoad = found->a, bLoad = found->b;
  Value sum = store.getMemRef();
  if (!isPrivate(sum))
    return refuse() << "expected a stage in local memory, whose elements are in registers, got one in "
                    << (isShared(sum) ? "shared" : "global") << " memory: cache_write it to \"local\"";
  ArrayRef<scf::ForOp> loops = found->loops;
  auto inSum = getRowAndColumn(sum, store.getIndices());
  if (!inSum || !areOfLoops({inSum->first, inSum->second}, of))
    return refuse() << "expected the loops of one matmul, got indices that are no sums of multiples of loops";
  auto type = cast<MemRefType>(sum.getType());
  int64_t rows = countRows(sum), columns = type.getShape().back();
  if (type.getRank() < 2 || rows != tile::kWgmmaRows)
    return refuse() << "expected " << tile::kWgmmaRows << " accumulator rows a warpgroup, got "
                    << (type.getRank() < 2 ? 1 : rows) << ": bind the loop over rows of " << tile::kWgmmaRows
                    << " to threadIdx.y";
  if (columns > tile::kWgmmaMaxColumns || columns % tile::kWgmmaColumnStep)
    return refuse() << "expected a multiple of " << tile::kWgmmaColumnStep << " accumulator columns up to "
                    << tile::kWgmmaMaxColumns << ", got " << columns;
  const auto &[row, column] = *inSum;
  if (!row.split(loops).second.isZero() || !column.split(loops).second.isZero() ||
      !index::getDigits(row, tile::kWgmmaRows) || !index::getDigits(column, columns))
    return refuse() << "expected loops that go through the accumulator, 64 rows and " << columns << " columns";

  index::LinearIndex summed[2];
  int64_t k = 0;
  FailureOr<TileOperand> a =
      matchOperand(aLoad, schedule::MatrixOperand::A, of, loops, row, tile::kWgmmaRows, summed[0], k);
  if (failed(a))
    return failure();
  FailureOr<TileOperand> b = matchOperand(bLoad, schedule::MatrixOperand::B, of, loops, column, columns, summed[1], k);
  if (failed(b))
    return failure();
  if (!(summed[0] == summed[1]))
    return refuse() << "expected the loops of one matmul, got operands that are summed over in different orders";

  auto elementOf = [&](const TileOperand &operand) { return tile::getOperandElement(tiles[operand.buffer].getType()); };
  Type aType = elementOf(*a), bType = elementOf(*b);
  const tile::WgmmaInstruction *instruction = tile::findWgmma(aType, bType, type.getElementType());
  if (!instruction)
    return refuse() << "expected types that it has an instruction for, got " << aType << " and " << bType << " to "
                    << type.getElementType();
  bool isAInWay = a->isMNMajor && !instruction->takesMNMajorA(), isBInWay = b->isMNMajor && !instruction->takesMNMajor;
  if (isAInWay || isBInWay)
    return refuse() << "expected operands of " << aType << " whose rows are summed over along, got '"
                    << getBufferName(isAInWay ? a->buffer : b->buffer) << "', whose columns are summed over";
  if (!instruction->takesColumns(columns))
    return refuse() << "expected a multiple of " << instruction->columnStep << " accumulator columns for " << aType
                    << ", got " << columns;
  if (k % instruction->k)
    return refuse() << "expected steps of a multiple of " << instruction->k << " elements of " << aType << ", got "
                    << k;

  Value accumulator = tiles.lookup(sum);
  if (!accumulator)
    return refuse() << "expected an accumulator that begins at zero, got stage '" << getBufferName(sum)
                    << "' without a value before them";
  // The operands of all matmuls first: those that follow each other are one group of instructions.
  int64_t count = 1;
  for (scf::ForOp around : unrolled)
    count *= *index::getLoopExtent(around.getInductionVar());
  SmallVector<std::pair<Value, Value>> operands;
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number;
    for (scf::ForOp around : llvm::reverse(unrolled)) {
      int64_t extent = *index::getLoopExtent(around.getInductionVar());
      places.map(around.getInductionVar(), arith::ConstantIndexOp::create(builder, of.getLoc(), rest % extent));
      rest /= extent;
    }
    Value left = makeOperand(*a, of.getLoc()), right = makeOperand(*b, of.getLoc());
    operands.push_back({left, right});
  }
  for (auto [left, right] : operands)
    accumulator = tile::MatmulOp::create(builder, of.getLoc(), left, right, accumulator, a->isMNMajor, b->isMNMajor,
                                         promoted ? builder.getI64IntegerAttr(promoted) : IntegerAttr());
  tiles[sum] = accumulator;
  return success();
}

Value TileRaiser::makeOperand(const TileOperand &of, Location loc) {
  Value buffer = tiles[of.buffer];
  if (isa<tile::FragmentType>(buffer.getType()))
    return buffer;
  auto whole = cast<tile::BufferType>(buffer.getType());
  if (of.rows == whole.getRows() && of.columns == whole.getColumns())
    return buffer;
  tile::BufferType part = getPartType(whole, of.rows, of.columns);
  bool isCounted = whole.getRows() % of.rows == 0 && of.firstRow.isMultipleOf(of.rows);
  Value row = of.firstRow.dividedBy(isCounted ? of.rows : 8).materialize(builder, loc, places);
  Value column = of.firstColumn.dividedBy(of.columns).materialize(builder, loc, places);
  return tile::PartOp::create(builder, loc, part, buffer, row, column,
                              isCounted ? IntegerAttr() : builder.getI64IntegerAttr(8));
}
} // namespace tilewright
