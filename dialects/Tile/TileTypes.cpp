//===- TileTypes.cpp - tiles in shared memory and registers ---------------===//
#include "dialects/Tile/Instructions.h"
#include "dialects/Tile/Tile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright::tile;
using EmitError = llvm::function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Syntax: shape and element type, then what is not as usual
//===----------------------------------------------------------------------===//

static ParseResult parseShape(AsmParser &parser, SmallVectorImpl<int64_t> &shape, Type &element) {
  return failure(parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
                 parser.parseType(element));
}

static void printShape(AsmPrinter &printer, ArrayRef<int64_t> shape, Type element) {
  printer << "<";
  for (int64_t extent : shape)
    printer << extent << "x";
  printer << element;
}

/// `, keyword = number`, if it is there.
static ParseResult parseNumber(AsmParser &parser, StringRef keyword, int64_t &number) {
  return failure(parser.parseKeyword(keyword) || parser.parseEqual() || parser.parseInteger(number));
}

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  int64_t swizzle = 0, panelRows = 0;
  if (parseShape(parser, shape, element))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef keyword;
    if (parser.parseKeyword(&keyword) || parser.parseEqual())
      return {};
    if (keyword != "swizzle" && keyword != "panel_rows") {
      parser.emitError(parser.getNameLoc(), "expected swizzle or panel_rows, got '") << keyword << "'";
      return {};
    }
    if (parser.parseInteger(keyword == "swizzle" ? swizzle : panelRows))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<BufferType>(parser.getContext(), ArrayRef<int64_t>(shape), element, swizzle,
                                       panelRows || shape.empty() ? panelRows : shape[0]);
}

void BufferType::print(AsmPrinter &printer) const {
  printShape(printer, getShape(), getElementType());
  if (getSwizzle())
    printer << ", swizzle = " << getSwizzle();
  if (getPanelRows() != getRows())
    printer << ", panel_rows = " << getPanelRows();
  printer << ">";
}

Type TensorMapType::parse(AsmParser &parser) {
  SmallVector<int64_t> box;
  Type element;
  int64_t swizzle = 0;
  if (parseShape(parser, box, element) ||
      (succeeded(parser.parseOptionalComma()) && parseNumber(parser, "swizzle", swizzle)) || parser.parseGreater())
    return {};
  return parser.getChecked<TensorMapType>(parser.getContext(), ArrayRef<int64_t>(box), element, swizzle);
}

void TensorMapType::print(AsmPrinter &printer) const {
  printShape(printer, getBox(), getElementType());
  if (getSwizzle())
    printer << ", swizzle = " << getSwizzle();
  printer << ">";
}

int64_t TensorMapType::getBoxRows() const { return llvm::product_of(getBox().drop_back()); }

template <typename T> static Type parseRegisterTile(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  if (parseShape(parser, shape, element) || parser.parseGreater())
    return {};
  return parser.getChecked<T>(parser.getContext(), ArrayRef<int64_t>(shape), element);
}

Type AccumulatorType::parse(AsmParser &parser) { return parseRegisterTile<AccumulatorType>(parser); }
Type FragmentType::parse(AsmParser &parser) { return parseRegisterTile<FragmentType>(parser); }
void AccumulatorType::print(AsmPrinter &printer) const {
  printShape(printer, getShape(), getElementType()), printer << ">";
}
void FragmentType::print(AsmPrinter &printer) const {
  printShape(printer, getShape(), getElementType()), printer << ">";
}

//===----------------------------------------------------------------------===//
// What works
//===----------------------------------------------------------------------===//

static LogicalResult verifySwizzle(EmitError emitError, int64_t swizzle) {
  if (swizzle == 0 || swizzle == 32 || swizzle == 64 || swizzle == 128)
    return success();
  return emitError() << "expected a swizzle of 32, 64 or 128 bytes, got " << swizzle;
}

static LogicalResult verifyElement(EmitError emitError, Type element) {
  if (isTileElement(element))
    return success();
  return emitError() << "expected elements of whole bytes, got " << element;
}

LogicalResult BufferType::verify(EmitError emitError, ArrayRef<int64_t> shape, Type element, int64_t swizzle,
                                 int64_t panelRows) {
  if (failed(verifyElement(emitError, element)) || failed(verifySwizzle(emitError, swizzle)))
    return failure();
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1)
    return emitError() << "expected a buffer of rows and columns, got " << shape.size() << " dimensions";
  int64_t rowBytes = shape[1] * getElementBytes(element);
  if (rowBytes % 16)
    return emitError() << "expected rows of a multiple of 16 bytes, got " << rowBytes;
  if (swizzle && rowBytes % swizzle)
    return emitError() << "expected rows of whole swizzle spans of " << swizzle << " bytes, got " << rowBytes
                       << " bytes";
  if (swizzle && (shape[0] % 8 || panelRows % 8))
    return emitError() << "expected a multiple of 8 rows with a swizzle, got " << (shape[0] % 8 ? shape[0] : panelRows);
  if (panelRows < shape[0])
    return emitError() << "expected panels of at least the buffer's " << shape[0] << " rows, got " << panelRows;
  return success();
}

LogicalResult TensorMapType::verify(EmitError emitError, ArrayRef<int64_t> box, Type element, int64_t swizzle) {
  if (failed(verifyElement(emitError, element)) || failed(verifySwizzle(emitError, swizzle)))
    return failure();
  if (!findElement(element) && !element.isInteger())
    return emitError() << "expected elements that TMA knows, got " << element;
  if (box.empty() || int64_t(box.size()) > kMaxTensorRank)
    return emitError() << "expected a box of 1 to " << kMaxTensorRank << " dimensions, got " << box.size();
  for (auto [dimension, extent] : llvm::enumerate(box))
    if (extent < 1 || extent > kMaxBoxExtent)
      return emitError() << "expected at most " << kMaxBoxExtent << " elements in dimension " << dimension
                         << " of the box, got " << extent;
  int64_t inner = box.back() * getElementBytes(element);
  if (inner % 16)
    return emitError() << "expected the box's innermost dimension to have a multiple of 16 bytes, got " << inner;
  if (swizzle && inner > swizzle)
    return emitError() << "expected the box's innermost dimension to be within the swizzle's span of " << swizzle
                       << " bytes, got " << inner;
  return success();
}

LogicalResult RingType::verify(EmitError emitError, int64_t depth, ArrayRef<BufferType> buffers) {
  if (depth < 1 || buffers.empty())
    return emitError() << "expected a ring of at least one slot of at least one buffer, got " << depth << " of "
                       << buffers.size();
  for (BufferType buffer : buffers)
    if (buffer.getPanelRows() != buffer.getRows())
      return emitError() << "expected a ring of whole buffers, got a part: " << buffer;
  return success();
}

static LogicalResult verifyRegisterTile(EmitError emitError, ArrayRef<int64_t> shape, Type element) {
  if (shape.size() != 2 || shape[0] != kWgmmaRows)
    return emitError() << "expected a tile of " << kWgmmaRows << " rows, as one warpgroup holds";
  if (shape[1] < 1 || shape[1] > kWgmmaMaxColumns || shape[1] % kWgmmaColumnStep)
    return emitError() << "expected a multiple of " << kWgmmaColumnStep << " columns up to " << kWgmmaMaxColumns
                       << ", got " << shape[1];
  if (!element.isF32() && !element.isF16() && !element.isBF16() && !element.isSignlessInteger(32))
    return emitError() << "expected elements of f32, f16, bf16 or i32, got " << element;
  return success();
}

LogicalResult AccumulatorType::verify(EmitError emitError, ArrayRef<int64_t> shape, Type element) {
  if (element.isBF16())
    return emitError() << "expected elements of f32, f16 or i32, got " << element;
  return verifyRegisterTile(emitError, shape, element);
}

LogicalResult FragmentType::verify(EmitError emitError, ArrayRef<int64_t> shape, Type element) {
  if (isa<Float8E4M3FNType>(element)) {
    if (shape.size() != 2 || shape[1] % kPackedColumns)
      return emitError() << "expected a multiple of " << kPackedColumns << " columns of f8E4M3FN";
    return verifyRegisterTile(emitError, shape, Float32Type::get(element.getContext()));
  }
  // What goes to shared memory may have 8 bits.
  if (element.isSignlessInteger(8))
    return verifyRegisterTile(emitError, shape, IntegerType::get(element.getContext(), 32));
  // One element a row.
  if (shape.size() == 2 && shape[1] == 1)
    return verifyRegisterTile(emitError, {shape[0], kWgmmaColumnStep}, element);
  return verifyRegisterTile(emitError, shape, element);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

int64_t BufferType::getPanelRowBytes() const {
  return getSwizzle() ? getSwizzle() : getColumns() * getElementBytes(getElementType());
}

int64_t BufferType::getPanelColumns() const { return getPanelRowBytes() / getElementBytes(getElementType()); }

int64_t BufferType::getBytes() const { return getRows() * getColumns() * getElementBytes(getElementType()); }

int64_t BufferType::getAlignment() const { return getSwizzle() ? 8 * getSwizzle() : 128; }

int64_t RingType::getAlignment() const {
  int64_t alignment = 1;
  for (BufferType buffer : getBuffers())
    alignment = std::max(alignment, buffer.getAlignment());
  return alignment;
}

int64_t RingType::getBufferOffset(unsigned buffer) const {
  int64_t offset = 0;
  for (unsigned i = 0;; ++i) {
    offset = llvm::alignTo(offset, getBuffers()[i].getAlignment());
    if (i == buffer)
      return offset;
    offset += getBuffers()[i].getBytes();
  }
}

int64_t RingType::getSlotBytes() const {
  unsigned last = getBuffers().size() - 1;
  return llvm::alignTo(getBufferOffset(last) + getBuffers()[last].getBytes(), getAlignment());
}

int64_t RingType::getDataBytes() const {
  int64_t bytes = 0;
  for (BufferType buffer : getBuffers())
    bytes += buffer.getBytes();
  return bytes;
}
