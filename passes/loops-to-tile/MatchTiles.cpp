//===- MatchTiles.cpp - copies, products and functions of tiles -----------===//
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/TileProgram.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {

static bool isGlobal(Value buffer) { return !cast<MemRefType>(buffer.getType()).getMemorySpace(); }

static bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()); }

/// The indices of an access, or nothing where one is no sum of multiples of loops.
static std::optional<SmallVector<LinearIndex>> getIndices(ValueRange indices) {
  SmallVector<LinearIndex> result;
  for (Value index : indices) {
    auto linear = LinearIndex::get(index);
    if (!linear)
      return std::nullopt;
    result.push_back(*linear);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Whether a condition says that `indices` are within `tensor`, and nothing else. Conjunctions are.
static bool isWithin(Value condition, Value tensor, ArrayRef<LinearIndex> indices) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return isWithin(both.getLhs(), tensor, indices) && isWithin(both.getRhs(), tensor, indices);
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return false;
  auto left = LinearIndex::get(compare.getLhs()), right = LinearIndex::get(compare.getRhs());
  if (!left || !right || !right->terms.empty())
    return false;
  auto type = cast<MemRefType>(tensor.getType());
  for (auto [dimension, index] : llvm::enumerate(indices)) {
    if (!(index == *left))
      continue;
    if (compare.getPredicate() == arith::CmpIPredicate::slt && right->constant == type.getDimSize(dimension))
      return true;
    if (compare.getPredicate() == arith::CmpIPredicate::sge && right->constant == 0)
      return true;
  }
  return false;
}

FailureOr<TileCopy> TileProgram::matchCopy(Operation *of, memref::StoreOp store) {
  TileCopy copy;
  copy.store = store;
  auto refuse = [&] { return error("copy_by", store.getLoc()) << "stage '" << getBufferName(store.getMemRef()) << "': "; };
  bool isLoad = isShared(store.getMemRef());
  // The element, or zero where the tensor has none.
  Value value = store.getValue();
  SmallVector<Value> conditions;
  if (auto choice = value.getDefiningOp<scf::IfOp>(); choice && choice.elseBlock() && isZero(choice.elseYield().getOperand(0))) {
    conditions.push_back(choice.getCondition());
    value = choice.thenYield().getOperand(0);
  } else if (auto select = value.getDefiningOp<arith::SelectOp>(); select && isZero(select.getFalseValue())) {
    conditions.push_back(select.getCondition());
    value = select.getTrueValue();
  }
  // What is not copied nobody reads: it may be zero too.
  for (Operation *around = store->getParentOp(); around != of->getParentOp(); around = around->getParentOp())
    if (auto guard = dyn_cast<scf::IfOp>(around))
      conditions.push_back(guard.getCondition());
  copy.load = value.getDefiningOp<memref::LoadOp>();
  if (!copy.load || (isLoad ? !isGlobal(copy.load.getMemRef()) : !isShared(copy.load.getMemRef()) || !isGlobal(store.getMemRef())))
    return refuse() << (isLoad ? "expected a copy of a tensor in global memory, zero at most where that ends"
                               : "expected a copy of a stage in shared memory");
  copy.tensor = isLoad ? copy.load.getMemRef() : store.getMemRef();
  copy.buffer = isLoad ? store.getMemRef() : copy.load.getMemRef();
  copy.swizzle = store->getAttrOfType<IntegerAttr>(schedule::kSwizzleAttr).getInt();
  if (auto columns = store->getAttrOfType<IntegerAttr>(schedule::kColumnsAttr))
    copy.columnsAtOnce = columns.getInt();
  auto type = cast<MemRefType>(copy.tensor.getType()), bufferType = cast<MemRefType>(copy.buffer.getType());
  if (!type.hasStaticShape())
    return refuse() << "expected a tensor of constant extents, got " << type;
  auto inTensor = getIndices(isLoad ? copy.load.getIndices() : store.getIndices());
  auto inBuffer = getIndices(isLoad ? store.getIndices() : copy.load.getIndices());
  if (!inTensor || !inBuffer)
    return refuse() << "expected a copy of boxes, at indices that are sums of multiples of loops";
  for (Value condition : conditions)
    if (!isWithin(condition, copy.tensor, *inTensor))
      return refuse() << "expected zeros where the tensor ends and nowhere else, as the engine fills them in";

  // Each dimension of the buffer is a dimension of the tensor, from its first element on, in the same order.
  SmallVector<scf::ForOp> loops = getLoopsAround(store, of);
  SmallVector<int64_t> moving;
  for (auto [dimension, index] : llvm::enumerate(*inTensor)) {
    auto [inner, outer] = index.split(loops);
    copy.first.push_back(outer);
    if (!inner.terms.empty())
      moving.push_back(dimension);
  }
  SmallVector<int64_t> extents;
  unsigned next = 0;
  for (auto [dimension, index] : llvm::enumerate(*inBuffer)) {
    int64_t extent = bufferType.getDimSize(dimension);
    if (extent == 1)
      continue;
    auto [inner, outer] = index.split(loops);
    if (!outer.isZero() || !getDigits(inner, extent))
      return refuse() << "expected loops that go through all of the buffer";
    if (next == moving.size() || !((*inTensor)[moving[next]].split(loops).first == inner))
      return refuse() << "expected a copy that keeps the order of rows and columns, which the engine does not change";
    extents.push_back(extent);
    ++next;
  }
  unsigned rank = type.getRank();
  if (next != moving.size() || extents.size() != 2 || moving[0] + 2 != rank || moving[1] + 1 != rank)
    return refuse() << "expected tiles of rows and columns along the last two dimensions of the tensor";
  copy.rows = extents[0];
  copy.columns = extents[1];

  int64_t bytes = tile::getElementBytes(type.getElementType());
  if (bytes == 0)
    return refuse() << "expected elements of whole bytes, got " << type.getElementType();
  int64_t rowBytes = type.getShape().back() * bytes;
  if (rowBytes % tile::kTensorStrideBytes)
    return refuse() << "expected a tensor with rows of a multiple of " << tile::kTensorStrideBytes
                    << " bytes, which the engine can step over, got " << type.getShape().back() << " elements of "
                    << type.getElementType() << ", " << rowBytes << " bytes, of " << getBufferName(copy.tensor);
  if (rank > tile::kMaxTensorRank)
    return refuse() << "expected at most " << tile::kMaxTensorRank << " dimensions, got " << rank;
  int64_t columns = copy.columnsAtOnce.value_or(copy.columns);
  if (copy.columns % columns)
    return refuse() << "expected columns at once that divide the tile's " << copy.columns << ", got " << columns;
  if (columns * bytes % copy.swizzle)
    return refuse() << "expected a tile with rows of whole swizzle spans of " << copy.swizzle << " bytes, got "
                    << columns << " elements of " << type.getElementType() << ", " << columns * bytes << " bytes";
  return copy;
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

static Value skipExtension(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isa<arith::ExtFOp, arith::ExtSIOp>(op) ? op->getOperand(0) : value;
}

LogicalResult TileProgram::matchProduct() {
  auto unexpected = [&] { return wgmmaError() << "expected the loops of one product, got others with schedule.instruction"; };
  SmallVector<memref::StoreOp> stores = getStores(product);
  if (stores.size() != 1)
    return unexpected();
  memref::StoreOp store = stores[0];
  Operation *add = store.getValue().getDefiningOp();
  if (!add || !isa<arith::AddFOp, arith::AddIOp>(add))
    return unexpected();
  auto sumLoad = add->getOperand(0).getDefiningOp<memref::LoadOp>();
  Operation *multiply = add->getOperand(1).getDefiningOp();
  if (!sumLoad || !multiply || !isa<arith::MulFOp, arith::MulIOp>(multiply) || sumLoad.getMemRef() != store.getMemRef() ||
      sumLoad.getIndices() != store.getIndices())
    return unexpected();
  auto aLoad = skipExtension(multiply->getOperand(0)).getDefiningOp<memref::LoadOp>();
  auto bLoad = skipExtension(multiply->getOperand(1)).getDefiningOp<memref::LoadOp>();
  if (!aLoad || !bLoad)
    return unexpected();
  sum = store.getMemRef();
  if (!isPrivate(sum))
    return wgmmaError() << "expected a stage in local memory, whose elements are in registers, got one in "
                        << (isShared(sum) ? "shared" : "global") << " memory: cache_write it to \"local\"";
  SmallVector<scf::ForOp> loops = getLoopsAround(store, steps);
  loops.erase(loops.begin());
  auto inSum = getIndices(store.getIndices());
  if (!inSum)
    return unexpected();
  auto type = cast<MemRefType>(sum.getType());
  ArrayRef<int64_t> shape = type.getShape();
  for (int64_t extent : shape.drop_back(std::min<size_t>(shape.size(), 2)))
    if (extent != 1)
      return wgmmaError() << "expected sums of one tile, got " << type;
  if (shape.size() < 2 || shape[shape.size() - 2] != tile::kWgmmaRows)
    return wgmmaError() << "expected " << tile::kWgmmaRows << " rows of sums a warpgroup, got "
                        << (shape.size() < 2 ? 1 : shape[shape.size() - 2]) << ": bind the loop over rows of " << tile::kWgmmaRows
                        << " to threadIdx.y";
  int64_t columns = shape.back();
  if (columns > tile::kWgmmaMaxColumns || columns % tile::kWgmmaColumnStep)
    return wgmmaError() << "expected a multiple of " << tile::kWgmmaColumnStep << " columns of sums up to "
                        << tile::kWgmmaMaxColumns << ", got " << columns;
  const LinearIndex &row = (*inSum)[shape.size() - 2], &column = inSum->back();
  auto rowDigits = getDigits(row, tile::kWgmmaRows), columnDigits = getDigits(column, columns);
  if (!rowDigits || !columnDigits)
    return wgmmaError() << "expected loops that go through all sums, 64 rows and " << columns << " columns";

  LinearIndex summed[2];
  TileOperand *operands[] = {&a, &b};
  memref::LoadOp operandLoads[] = {aLoad, bLoad};
  for (auto [number, load] : llvm::enumerate(operandLoads)) {
    TileOperand &operand = *operands[number];
    const LinearIndex &along = number == 0 ? row : column;
    operand.extent = number == 0 ? tile::kWgmmaRows : columns;
    operand.buffer = load.getMemRef();
    StringRef which = number == 0 ? "first" : "second";
    const TileCopy *filled = llvm::find_if(loads, [&](const TileCopy &copy) { return copy.buffer == operand.buffer; });
    if (filled == loads.end())
      return wgmmaError() << "expected a " << which << " operand in shared memory that its loop's copies fill, got '"
                          << getBufferName(operand.buffer) << "': cache_read it to \"shared\" and copy it by \"tma\"";
    auto indices = getIndices(load.getIndices());
    if (!indices)
      return unexpected();
    auto bufferShape = cast<MemRefType>(operand.buffer.getType()).getShape();
    bool hasRows = false;
    for (auto [dimension, index] : llvm::enumerate(*indices)) {
      if (bufferShape[dimension] == 1)
        continue;
      auto [inner, outer] = index.split(loops);
      if (inner == along) {
        hasRows = true;
        operand.isMNMajor = dimension + 1 == bufferShape.size();
        if (!outer.isMultipleOf(operand.extent))
          return wgmmaError() << "expected a " << which << " operand from a multiple of " << operand.extent << " on";
        operand.part = outer.dividedBy(operand.extent);
        continue;
      }
      if (!outer.isZero() || !getDigits(inner, bufferShape[dimension]))
        return wgmmaError() << "expected to sum over all " << bufferShape[dimension] << " elements of buffer '"
                            << getBufferName(operand.buffer) << "' in each iteration";
      summed[number] = inner;
      k = bufferShape[dimension];
    }
    if (!hasRows)
      return unexpected();
  }
  if (!(summed[0] == summed[1]))
    return unexpected();

  auto elementOf = [&](Value buffer) -> Type {
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    return element.isF32() ? FloatTF32Type::get(element.getContext()) : element;
  };
  aType = elementOf(a.buffer);
  bType = elementOf(b.buffer);
  const tile::WgmmaInstruction *instruction = tile::findWgmma(aType, bType, type.getElementType());
  if (!instruction)
    return wgmmaError() << "expected types that it has an instruction for, got " << aType << " and " << bType << " to "
                        << type.getElementType();
  if ((a.isMNMajor || b.isMNMajor) && !instruction->takesMNMajor)
    return wgmmaError() << "expected operands of " << aType << " whose rows are summed over along, got '"
                        << getBufferName(a.isMNMajor ? a.buffer : b.buffer) << "', whose columns are summed over";
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
    auto indices = getIndices(load.getIndices());
    if (!isKnown || !indices || indices->size() < 2 || (row && (!(*row == (*indices)[indices->size() - 2]) || !(*column == indices->back())))) {
      isElementwise = false;
      return;
    }
    row = (*indices)[indices->size() - 2];
    column = indices->back();
  });
  if (!isElementwise || !row)
    return refuse() << "expected elements that are computed each of the sum at its own place, and of what is in global memory";
  auto rowDigits = getDigits(*row, tile::kWgmmaRows), columnDigits = getDigits(*column, columns);
  if (!rowDigits || !columnDigits || rowDigits->size() + columnDigits->size() != loops.size())
    return refuse() << "expected loops that go through all " << tile::kWgmmaRows << " rows and " << columns
                    << " columns of a warpgroup's sums";
  function.rows = *rowDigits;
  function.columns = *columnDigits;
  if (!isGlobal(store.getMemRef())) {
    Type element = store.getValue().getType();
    if (!element.isF32() && !element.isF16() && !element.isBF16() && !element.isSignlessInteger(32))
      return refuse() << "expected elements of f32, f16, bf16 or i32, which fragments have, got " << element;
    auto indices = getIndices(store.getIndices());
    bool isAtItsPlace = indices && indices->size() >= 2 && indices->back() == *column;
    if (isAtItsPlace) {
      // Of a buffer that they share each warpgroup has its rows.
      auto [inner, first] = (*indices)[indices->size() - 2].split(loops);
      LinearIndex wanted;
      if (isShared(store.getMemRef()) && numWarpgroups > 1)
        wanted.terms[warpgroups.getInductionVar()] = tile::kWgmmaRows;
      isAtItsPlace = inner == *row && first == wanted;
    }
    if (!isAtItsPlace)
      return refuse() << "expected elements that are stored at the place of the sum that they are computed of";
  }
  functions.push_back(function);
  return success();
}
} // namespace tilewright
