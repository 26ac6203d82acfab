//===- TileOps.cpp - buffers, rings and TMA copies ------------------------===//
#include "dialects/Tile/Instructions.h"
#include "dialects/Tile/TensorSize.h"
#include "dialects/Tile/Tile.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilewright::tile;

#define GET_OP_CLASSES
#include "dialects/Tile/TileOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void AllocOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getBuffer(), "buffer"); }

static LogicalResult verifyPlace(Operation *op, StringRef what, std::optional<uint64_t> place, int64_t alignment) {
  if (place && *place % alignment)
    return op->emitOpError("expected ") << what << " at a multiple of " << alignment << " bytes, got " << *place;
  return success();
}

LogicalResult AllocOp::verify() {
  if (getBuffer().getType().getPanelRows() != getBuffer().getType().getRows())
    return emitOpError("expected a whole buffer, got a part: ") << getBuffer().getType();
  return verifyPlace(*this, "the buffer", getOffset(), getBuffer().getType().getAlignment());
}

LogicalResult PartOp::verify() {
  BufferType source = getSource().getType(), part = getPart().getType();
  if (source.getElementType() != part.getElementType() || source.getSwizzle() != part.getSwizzle())
    return emitOpError("expected a part with the elements and the swizzle of ") << source << ", got " << part;
  if (std::optional<uint64_t> every = getEvery()) {
    if (part.getRows() > source.getRows())
      return emitOpError("expected at most ") << source.getRows() << " rows, got " << part.getRows();
    if (source.getSwizzle() && *every % 8)
      return emitOpError("expected parts that begin every multiple of 8 rows with a swizzle, got ") << *every;
  } else if (source.getRows() % part.getRows()) {
    return emitOpError("expected a number of rows that divides ") << source.getRows() << ", got " << part.getRows();
  }
  if (source.getColumns() % part.getColumns() || (!source.getSwizzle() && source.getColumns() != part.getColumns()))
    return emitOpError("expected ") << (source.getSwizzle() ? "a number of columns that divides " : "whole rows of ")
                                    << source.getColumns() << " columns, got " << part.getColumns();
  // Where there is one panel nothing lies between it and the next.
  int64_t panelRows = part.getColumns() > part.getPanelColumns() ? source.getPanelRows() : part.getRows();
  if (part.getPanelRows() != panelRows)
    return emitOpError("expected a part with panel_rows of ") << panelRows << ", got " << part.getPanelRows();
  return success();
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

void RingOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getRing(), "ring"); }

LogicalResult RingOp::verify() {
  if (failed(verifyPlace(*this, "the slots", getOffset(), getRing().getType().getAlignment())))
    return failure();
  return verifyPlace(*this, "the barriers", getBarriers(), 8);
}

/// What a ring is used for needs the ring's barriers, whose places are on the op that made it.
static LogicalResult verifyRing(Operation *op, Value ring) {
  if (ring.getDefiningOp<RingOp>())
    return success();
  return op->emitOpError("expected a ring that tile.ring made");
}

static LogicalResult inferBuffers(ValueRange operands, SmallVectorImpl<Type> &types) {
  auto ring = dyn_cast<RingType>(operands[0].getType());
  if (!ring)
    return failure();
  llvm::append_range(types, ring.getBuffers());
  return success();
}

LogicalResult AcquireOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  return inferBuffers(operands, types);
}
LogicalResult WaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                       OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  return inferBuffers(operands, types);
}

LogicalResult AcquireOp::verify() { return verifyRing(*this, getRing()); }
LogicalResult WaitOp::verify() { return verifyRing(*this, getRing()); }
LogicalResult CommitOp::verify() { return verifyRing(*this, getRing()); }
LogicalResult ReleaseOp::verify() { return verifyRing(*this, getRing()); }
LogicalResult InitOp::verify() { return verifyRing(*this, getRing()); }

//===----------------------------------------------------------------------===//
// TMA copies
//===----------------------------------------------------------------------===//

/// Whether boxes of `map`, side by side, make up `buffer`.
static LogicalResult verifyCopy(Operation *op, TensorMapType map, BufferType buffer, size_t coordinates) {
  ArrayRef<int64_t> box = map.getBox();
  if (coordinates != box.size())
    return op->emitOpError("expected ") << box.size() << " coordinates, one for each dimension of the box, got "
                                        << coordinates;
  if (map.getElementType() != buffer.getElementType() || map.getSwizzle() != buffer.getSwizzle())
    return op->emitOpError("expected a map with the elements and the swizzle of ") << buffer << ", got " << map;
  if (box.back() != buffer.getPanelColumns())
    return op->emitOpError("expected a box as wide as the buffer's panels, ")
           << buffer.getPanelColumns() << " columns, got " << box.back();
  int64_t rows = map.getBoxRows();
  if (buffer.getRows() % rows)
    return op->emitOpError("expected a box with a number of rows that divides the buffer's ")
           << buffer.getRows() << ", got " << rows;
  if (buffer.getSwizzle() && rows % 8)
    return op->emitOpError("expected a box with a multiple of 8 rows with a swizzle, got ") << rows;
  // Boxes lie side by side along the last two dimensions.
  if (buffer.getRows() != rows && (box.size() < 2 || rows != box[box.size() - 2]))
    return op->emitOpError("expected one box for all ")
           << buffer.getRows() << " rows, as they go along several dimensions, got " << map;
  return success();
}

LogicalResult TMALoadOp::verify() {
  if (failed(verifyRing(*this, getRing())))
    return failure();
  if (auto gathered = getGathered(); gathered && *gathered >= getCoordinates().size())
    return emitOpError("expected one of the ") << getCoordinates().size() << " dimensions gathered, got " << *gathered;
  return verifyCopy(*this, getMap().getType(), getBuffer().getType(), getCoordinates().size());
}

LogicalResult tilewright::tile::verifyReduceAdd(Operation *op, Type element) {
  if (element.isF32() || element.isSignlessInteger(32))
    return success();
  return op->emitOpError("expected elements of f32 or i32 for reduce_add, got ") << element;
}

LogicalResult TMAStoreOp::verify() {
  if (getReduceAdd() && failed(verifyReduceAdd(*this, getMap().getType().getElementType())))
    return failure();
  return verifyCopy(*this, getMap().getType(), getBuffer().getType(), getCoordinates().size());
}

LogicalResult tilewright::tile::verifyCount(Operation *op, MemRefType tensor) {
  int64_t elements = 1;
  for (int64_t extent : tensor.getShape())
    if (!ShapedType::isDynamic(extent) && llvm::MulOverflow(elements, extent, elements))
      return op->emitOpError("expected a tensor of fewer than 2^63 elements, got ") << tensor;
  return success();
}

void EncodeOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getMap(), "map"); }

LogicalResult EncodeOp::verify() {
  auto tensor = cast<MemRefType>(getTensor().getType());
  TensorMapType map = getMap().getType();
  if (failed(verifyCount(*this, tensor)))
    return failure();
  bool isRowMajor = tensor.getLayout().isIdentity();
  if (tensor.getRank() == 0 || !tensor.isStrided() || tensor.getMemorySpace() ||
      tensor.getStridesAndOffset().second != 0 || tensor.getStridesAndOffset().first.back() != 1)
    return emitOpError("expected a tensor in global memory with rows of elements side by side, got ") << tensor;
  Type stored = map.getElementType();
  // The tensor cores read f32 as tf32.
  if (isa<FloatTF32Type>(stored))
    stored = Float32Type::get(getContext());
  int64_t bytes = getElementBytes(stored), rank = map.getBox().size();
  if (getExtents())
    return verifyDimensions(tensor, stored, bytes);
  if (tensor.getElementType() != stored || tensor.getRank() != rank)
    return emitOpError("expected a map of ")
           << tensor.getRank() << " dimensions with elements of " << tensor.getElementType() << ", got " << map;
  int64_t stride = bytes;
  for (int64_t dimension = tensor.getRank() - 1; dimension > 0; --dimension) {
    int64_t own = isRowMajor ? tensor.getDimSize(dimension) : tensor.getStridesAndOffset().first[dimension - 1];
    if (ShapedType::isDynamic(own) && !isRowMajor)
      continue;
    if (ShapedType::isDynamic(own))
      break; // the launcher sees to it
    stride = isRowMajor ? stride * own : bytes * own;
    if (stride % kTensorStrideBytes)
      return emitOpError("expected strides of multiples of ")
             << kTensorStrideBytes << " bytes, got " << stride << " in dimension " << dimension - 1 << " of " << tensor;
  }
  return success();
}

LogicalResult EncodeOp::verifyDimensions(MemRefType tensor, Type stored, int64_t bytes) {
  ArrayRef<int64_t> extents = *getExtents(), strides = *getStrides(), steps = *getSteps();
  size_t rank = getMap().getType().getBox().size();
  if (tensor.getElementType() != stored)
    return emitOpError("expected a map with elements of ") << tensor.getElementType() << ", got " << getMap().getType();
  if (extents.size() != rank || strides.size() != rank || steps.size() != rank)
    return emitOpError("expected an extent, a stride and a step for each of ")
           << rank << " dimensions, got " << extents.size() << ", " << strides.size() << " and " << steps.size();
  if (strides.back() != 1 || steps.back() != 1)
    return emitOpError("expected elements that lie together along the last dimension, got a stride of ")
           << strides.back() << " and a step of " << steps.back();
  int64_t last = 0;
  for (auto [dimension, extent] : llvm::enumerate(extents)) {
    int64_t stride = strides[dimension], step = steps[dimension];
    if (extent < 1 || stride < 1)
      return emitOpError("expected positive extents and strides, got ")
             << extent << " and " << stride << " in dimension " << dimension;
    int64_t inBytes, own;
    if (llvm::MulOverflow(stride, bytes, inBytes) || llvm::MulOverflow(extent - 1, stride, own) ||
        llvm::AddOverflow(last, own, last))
      return emitOpError("expected dimensions of fewer than 2^63 elements, got an extent of ")
             << extent << " and a stride of " << stride << " in dimension " << dimension;
    if (dimension + 1 < rank && inBytes % kTensorStrideBytes)
      return emitOpError("expected strides of multiples of ")
             << kTensorStrideBytes << " bytes, got " << inBytes << " in dimension " << dimension;
    if (step < 1 || step > kMaxTensorStep)
      return emitOpError("expected steps of 1 to ")
             << kMaxTensorStep << ", got " << step << " in dimension " << dimension;
  }
  if (tensor.hasStaticShape() && tensor.getLayout().isIdentity() && last >= tensor.getNumElements())
    return emitOpError("expected dimensions within the ")
           << tensor.getNumElements() << " elements of " << tensor << ", got a last element " << last;
  return success();
}
