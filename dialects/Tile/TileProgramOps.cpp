//===- TileProgramOps.cpp - what a kernel computes, one tile at a time ----===//
#include "dialects/Tile/Instructions.h"
#include "dialects/Tile/TensorSize.h"
#include "dialects/Tile/Tile.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilewright::tile;

LogicalResult OrderAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t blocks, Raster, int64_t group,
                                bool streamK, int64_t narrower, bool) {
  if (blocks < 1 || group < 1)
    return emitError() << "expected at least one block and one row of tiles in a group, got " << blocks << " and "
                       << group;
  if (narrower < 0)
    return emitError() << "expected tiles narrower by a positive number of columns, or 0, got " << narrower;
  if (narrower && streamK)
    return emitError() << "expected narrower tiles or stream_k, got both";
  return success();
}

std::string KernelOp::quoteAxis(unsigned dimension) {
  StringRef axis = cast<StringAttr>(getAxes()[dimension]).getValue();
  return axis.empty() ? "a loop" : ("axis '" + axis + "'").str();
}

LogicalResult KernelOp::verifyRegions() {
  Block &body = getBody().front();
  if (body.getNumArguments() != 4 || llvm::any_of(body.getArgumentTypes(), [](Type type) { return !type.isIndex(); }))
    return emitOpError("expected a region with four arguments of type index: x, y, z and the warpgroup");
  ArrayRef<int64_t> cluster = getCluster();
  if (cluster.size() != 3 || cluster[0] < 1 || cluster[1] < 1 || cluster[2] != 1)
    return emitOpError("expected a cluster of three extents, of which the last is 1, got [") << cluster << "]";
  if (std::max(cluster[0], cluster[1]) > tilewright::kMaxClusterBlocks ||
      cluster[0] * cluster[1] > tilewright::kMaxClusterBlocks)
    return emitOpError("expected a cluster of at most ")
           << tilewright::kMaxClusterBlocks << " blocks, got [" << cluster << "]";
  constexpr int64_t kMostWarpgroups = tilewright::kMaxBlockThreads / kWarpgroupSize;
  int64_t sets = getPingpong(), warpgroups = getWarpgroups();
  if (std::max(sets, warpgroups) > kMostWarpgroups || sets * warpgroups > kMostWarpgroups)
    return emitOpError("expected at most ")
           << kMostWarpgroups << " warpgroups in all sets, got " << sets << " of " << warpgroups;
  if (getAxes().size() != 3)
    return emitOpError("expected the names of three axes, got ") << getAxes().size();
  if (getRegisters() && getRegisters()->size() != 2)
    return emitOpError("expected the registers of a producer and of a consumer thread, got ")
           << getRegisters()->size() << " numbers";
  if (getPingpong() > 1 && !getRegisters())
    return emitOpError("expected registers for ") << getPingpong() << " sets of consumer warpgroups";
  return success();
}

/// A box with dimensions of its own has an extent, a stride and a step for each, and one coordinate.
static LogicalResult verifyBox(Operation *op, Value tensor, ArrayRef<int64_t> box, size_t coordinates,
                               std::initializer_list<std::optional<ArrayRef<int64_t>>> own) {
  if (box.size() != coordinates)
    return op->emitOpError("expected a coordinate for each of the box's ")
           << box.size() << " dimensions, got " << coordinates;
  if (box.size() < 2 || llvm::any_of(box, [](int64_t extent) { return extent < 1; }))
    return op->emitOpError("expected a box of rows and columns, at least one of each, got [") << box << "]";
  if (cast<MemRefType>(tensor.getType()).getMemorySpace())
    return op->emitOpError("expected a tensor in global memory, got ") << tensor.getType();
  if (failed(verifyCount(op, cast<MemRefType>(tensor.getType()))))
    return failure();
  bool hasOwn = false;
  for (const std::optional<ArrayRef<int64_t>> &numbers : own) {
    hasOwn |= numbers.has_value();
    if (numbers && numbers->size() != box.size())
      return op->emitOpError("expected an extent, a stride and a step for each of the box's ")
             << box.size() << " dimensions, got " << numbers->size();
  }
  if (int64_t rank = cast<MemRefType>(tensor.getType()).getRank(); !hasOwn && rank != int64_t(box.size()))
    return op->emitOpError("expected a box of the tensor's ") << rank << " dimensions, got " << box.size();
  return success();
}

/// tf32 is stored as f32.
static bool isStoredAs(Type element, Type tensor) {
  return element == tensor || (isa<FloatTF32Type>(element) && tensor.isF32());
}

LogicalResult LoadOp::verify() {
  ArrayRef<int64_t> box = getBox();
  if (auto gathered = getGathered(); gathered && *gathered + 1 >= box.size())
    return emitOpError("expected a gathered dimension of rows, before the last of ")
           << box.size() << ", got " << *gathered;
  if (getGathered() && llvm::any_of(box.take_front(*getGathered()), [](int64_t extent) { return extent != 1; }))
    return emitOpError("expected extents of 1 before the gathered dimension, got [") << box << "]";
  if (getGathered() && getMulticast())
    return emitOpError("expected a load for one block of a gathered dimension, got a multicast");
  // Of a gathered dimension each element has a coordinate.
  size_t coordinates = getCoordinates().size() + 1 - countGathered();
  if (failed(verifyBox(*this, getTensor(), box, coordinates, {getExtents(), getStrides(), getSteps()})))
    return failure();
  BufferType tile = getTile().getType();
  int64_t rows = llvm::product_of(box.drop_back());
  if (rows != tile.getRows() || box.back() != tile.getColumns())
    return emitOpError("expected a tile with the box's ")
           << rows << " rows and " << box.back() << " columns, got " << tile;
  Type stored = cast<MemRefType>(getTensor().getType()).getElementType();
  if (!isStoredAs(tile.getElementType(), stored))
    return emitOpError("expected a tile of the tensor's ") << stored << ", got " << tile;
  return success();
}

LogicalResult StoreOp::verify() {
  ArrayRef<int64_t> box = getBox();
  if (failed(verifyBox(*this, getTensor(), box, getCoordinates().size(), {getExtents(), getStrides(), getSteps()})))
    return failure();
  FragmentType fragment = getFragment().getType();
  int64_t rows = llvm::product_of(box.drop_back()), columns = box.back();
  if (getTransposed())
    std::swap(rows, columns);
  if (rows != fragment.getRows() || columns != fragment.getColumns())
    return emitOpError("expected a box of the fragment's ")
           << fragment.getRows() << " rows and " << fragment.getColumns() << " columns, got " << rows << " and "
           << columns;
  Type stored = cast<MemRefType>(getTensor().getType()).getElementType(), element = fragment.getElementType();
  if (!areStoredAs(element, stored))
    return emitOpError(
               "expected a tensor of the fragment's elements, of f32 one of f16 or bf16, or of i8 one of 8 bits, "
               "got ")
           << stored << " for " << element;
  if (getReduceAdd() && failed(verifyReduceAdd(*this, stored)))
    return failure();
  if (getByThreads() && (getReduceAdd() || getWidth() || getNarrow()))
    return emitOpError("expected TMA to add to a tensor and to store tiles of several widths, got threads");
  if (getByThreads() && getSteps() && llvm::any_of(*getSteps(), [](int64_t step) { return step != 1; }))
    return emitOpError("expected threads to store every element of a box, got steps [") << *getSteps() << "]";
  if (fragment.getColumns() % int64_t(getColumns()))
    return emitOpError("expected columns that divide the fragment's ")
           << fragment.getColumns() << ", got " << getColumns();
  if (getParts() && (getParts()->size() != 2 || (*getParts())[0] < 0 || (*getParts())[1] < 1 ||
                     (*getParts())[0] + (*getParts())[1] > countParts()))
    return emitOpError("expected the first and the number of the ")
           << countParts() << " parts that are stored, got [" << *getParts() << "]";
  if (getNarrow() && getNarrow()->size() % 3)
    return emitOpError("expected a width, a number of tiles and a first column for each narrower width, got ")
           << getNarrow()->size() << " numbers";
  for (auto [place, number] : llvm::enumerate(getNarrow().value_or(ArrayRef<int64_t>())))
    if (number < (place % 3 == 2 ? 0 : 1))
      return emitOpError("expected positive widths and numbers of tiles, and first columns of 0 or more, got [")
             << *getNarrow() << "]";
  if (getWidth() && (!getNarrow() || getNarrow()->empty()))
    return emitOpError("expected the widths of which the tile has one");
  return success();
}

int64_t StoreOp::getPartColumns() {
  Type stored = cast<MemRefType>(getTensor().getType()).getElementType();
  int64_t columns = getColumns(), panel = int64_t(getSwizzle()) / getElementBytes(stored), part = columns;
  if (!panel)
    return columns;
  if (getDeferred() && columns % panel == 0)
    part = panel;
  else if (columns < getFragment().getType().getColumns() && columns % (2 * panel) == 0)
    part = columns / 2;
  return part % kStoredColumns ? columns : part;
}

LogicalResult ShareOp::verify() {
  FragmentType fragment = getFragment().getType();
  BufferType tile = getTile().getType();
  if (tile.getRows() % fragment.getRows() == 0 && tile.getColumns() == fragment.getColumns() &&
      areStoredAs(fragment.getElementType(), tile.getElementType()))
    return success();
  return emitOpError("expected a tile of a multiple of the fragment's ")
         << fragment.getRows() << " rows, with its " << fragment.getColumns() << " columns of "
         << fragment.getElementType() << ", got " << tile;
}

LogicalResult FillOp::verify() {
  if (getValue().getType() != getFragment().getType().getElementType())
    return emitOpError("expected a value of the fragment's ")
           << getFragment().getType().getElementType() << ", got " << getValue().getType();
  return success();
}

LogicalResult MatmulOp::verify() {
  FragmentType result = getResult().getType();
  int64_t widest = 0;
  for (int64_t columns : getWidths().value_or(ArrayRef<int64_t>()))
    widest = std::max(widest, columns);
  if (getWidths().has_value() != bool(getWidth()) || widest > result.getColumns())
    return emitOpError("expected a width and widths up to the result's ")
           << result.getColumns() << " columns, or neither";
  auto accumulator = AccumulatorType::getChecked([&] { return emitOpError(); }, getContext(), result.getShape(),
                                                 result.getElementType());
  return accumulator
             ? verifyWgmmaOperands(*this, getA().getType(), getMnMajorA(), getB().getType(), getMnMajorB(), accumulator)
             : failure();
}

LogicalResult PutOp::verify() {
  ArrayRef<BufferType> buffers = getRing().getType().getBuffers();
  if (!llvm::equal(getTiles().getTypes(), buffers))
    return emitOpError("expected the tiles of ") << getRing().getType() << ", got " << getTiles().getTypes();
  for (Value tile : getTiles())
    if (!tile.getDefiningOp<LoadOp>() || !tile.hasOneUse() || tile.getParentBlock() != (*this)->getBlock())
      return emitOpError("expected tiles that are loaded right before it and that nobody else uses");
  return success();
}

LogicalResult GetOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                      OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  llvm::append_range(types, cast<RingType>(operands[0].getType()).getBuffers());
  return success();
}
