//===- MatrixOps.cpp - tensor cores ---------------------------------------===//
#include "dialects/Tile/Instructions.h"
#include "dialects/Tile/Tile.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilewright::tile;

ParseResult WgmmaOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand a, b, accumulator;
  Type aType;
  BufferType bType;
  AccumulatorType accumulatorType;
  auto parseMajor = [&](StringRef name) {
    if (succeeded(parser.parseOptionalKeyword("mn_major")))
      result.addAttribute(name, parser.getBuilder().getUnitAttr());
  };
  if (parser.parseOperand(a))
    return failure();
  parseMajor("mnMajorA");
  if (parser.parseComma() || parser.parseOperand(b))
    return failure();
  parseMajor("mnMajorB");
  bool accumulates = succeeded(parser.parseOptionalKeyword("into"));
  if (accumulates && parser.parseOperand(accumulator))
    return failure();
  if (int64_t columns; succeeded(parser.parseOptionalKeyword("columns"))) {
    if (parser.parseInteger(columns))
      return failure();
    result.addAttribute("columns", parser.getBuilder().getI64IntegerAttr(columns));
  }
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() || parser.parseType(aType) ||
      parser.parseComma() || parser.parseType(bType) || parser.parseArrow() || parser.parseType(accumulatorType) ||
      parser.resolveOperand(a, aType, result.operands) || parser.resolveOperand(b, bType, result.operands) ||
      (accumulates && parser.resolveOperand(accumulator, accumulatorType, result.operands)))
    return failure();
  result.addTypes(accumulatorType);
  return success();
}

void WgmmaOp::print(OpAsmPrinter &printer) {
  printer << " " << getA() << (getMnMajorA() ? " mn_major, " : ", ") << getB() << (getMnMajorB() ? " mn_major" : "");
  if (getAccumulator())
    printer << " into " << getAccumulator();
  if (getColumns())
    printer << " columns " << *getColumns();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"mnMajorA", "mnMajorB", "columns"});
  printer << " : " << getA().getType() << ", " << getB().getType() << " -> " << getResult().getType();
}

Type tilewright::tile::getOperandElement(Type operand) {
  auto buffer = dyn_cast<BufferType>(operand);
  return buffer ? buffer.getElementType() : cast<FragmentType>(operand).getElementType();
}

LogicalResult tilewright::tile::verifyWgmmaOperands(Operation *op, Type aType, bool mnMajorA, BufferType b,
                                                    bool mnMajorB, AccumulatorType result) {
  auto a = dyn_cast<BufferType>(aType);
  auto fragment = dyn_cast<FragmentType>(aType);
  Type element = getOperandElement(aType);
  const WgmmaInstruction *instruction = findWgmma(element, b.getElementType(), result.getElementType());
  if (!instruction)
    return op->emitOpError("expected types that wgmma has an instruction for, got ")
           << element << " and " << b.getElementType() << " to " << result.getElementType();
  for (BufferType operand : {a, b})
    if (operand && !operand.getSwizzle())
      return op->emitOpError("expected operands with a swizzle, got ") << operand;
  if ((mnMajorA && !instruction->takesMNMajorA()) || (mnMajorB && !instruction->takesMNMajor))
    return op->emitOpError(
               "expected both operands with the dimension that is summed over as their columns, as wgmma wants it of ")
           << element;
  if (fragment && (mnMajorA || !isOperandInRegisters(element)))
    return op->emitOpError(
               "expected operand A in registers of 16-bit elements, of f8E4M3FN or of f32, whose columns are summed "
               "over, got ")
           << fragment << (mnMajorA ? " mn_major" : "");
  ArrayRef<int64_t> shape = a ? a.getShape() : fragment.getShape();
  int64_t rows = shape[mnMajorA], k = shape[!mnMajorA];
  int64_t columns = mnMajorB ? b.getColumns() : b.getRows(), kOfB = mnMajorB ? b.getRows() : b.getColumns();
  if (rows != result.getRows())
    return op->emitOpError("expected operand A to have the result's ") << result.getRows() << " rows, got " << rows;
  if (columns != result.getColumns())
    return op->emitOpError("expected operand B to have the result's ")
           << result.getColumns() << " columns, got " << columns;
  if (k != kOfB)
    return op->emitOpError("expected operands that agree in the dimension that is summed over, got ")
           << k << " and " << kOfB;
  if (k % instruction->k)
    return op->emitOpError("expected to sum over a multiple of ") << instruction->k << " elements, got " << k;
  return success();
}

LogicalResult WgmmaOp::verify() {
  Type a = getA().getType();
  BufferType b = getB().getType();
  AccumulatorType result = getResult().getType();
  if (getAccumulator() && getAccumulator().getType() != result)
    return emitOpError("expected an accumulator of the result's type ")
           << result << ", got " << getAccumulator().getType();
  if (failed(verifyWgmmaOperands(*this, a, getMnMajorA(), b, getMnMajorB(), result)))
    return failure();
  int64_t columns = result.getColumns();
  if (getColumns() && (*getColumns() < 1 || int64_t(*getColumns()) > columns || *getColumns() % kWgmmaColumnStep))
    return emitOpError("expected a multiple of ")
           << kWgmmaColumnStep << " columns up to the result's " << columns << ", got " << *getColumns();
  const WgmmaInstruction *instruction = findWgmma(getOperandElement(a), b.getElementType(), result.getElementType());
  if (!instruction->takesColumns(countColumns()))
    return emitOpError("expected a multiple of ")
           << instruction->columnStep << " columns of " << getOperandElement(a) << ", got " << countColumns();
  return success();
}

LogicalResult ToAccumulatorOp::verify() {
  AccumulatorType accumulator = getAccumulator().getType();
  FragmentType fragment = getFragment().getType();
  if (accumulator.getShape() != fragment.getShape() || accumulator.getElementType() != fragment.getElementType())
    return emitOpError("expected an accumulator like ") << fragment << ", got " << accumulator;
  return success();
}

LogicalResult WgmmaWaitOp::verify() {
  if (!getAccumulator())
    return success();
  AccumulatorType accumulator = getAccumulator().getType();
  FragmentType fragment = getFragment().getType();
  if (accumulator.getShape() != fragment.getShape() || accumulator.getElementType() != fragment.getElementType())
    return emitOpError("expected a fragment like ") << accumulator << ", got " << fragment;
  return success();
}

LogicalResult StoreFragmentOp::verify() {
  FragmentType fragment = getFragment().getType();
  BufferType buffer = getBuffer().getType();
  int64_t rows = buffer.getRows(), columns = buffer.getColumns();
  if (getTransposed())
    std::swap(rows, columns);
  if (fragment.getRows() != rows)
    return emitOpError("expected a buffer of the fragment's rows")
           << (getTransposed() ? " as its columns" : "") << ", got " << buffer << " for " << fragment;
  int64_t first = getFrom();
  if (first < 0 || first % kStoredColumns || first + columns > fragment.getColumns())
    return emitOpError("expected columns of the fragment, from a multiple of 16 on, got ")
           << columns << " from " << first << " of " << fragment.getColumns();
  Type from = fragment.getElementType(), to = buffer.getElementType();
  if (!areStoredAs(from, to))
    return emitOpError(
               "expected a buffer of the fragment's elements, of f32 one of f16 or bf16, or of i8 one of 8 bits, "
               "got ")
           << to << " for " << from;
  if (getElementBytes(to) == 1 && getTransposed())
    return emitOpError("expected transposed elements of 16 or 32 bits, got ") << to;
  return success();
}

LogicalResult StoreRowsOp::verify() {
  auto tensor = cast<MemRefType>(getTensor().getType());
  ArrayRef<int64_t> box = getBox();
  size_t rank = getExtents() ? getExtents()->size() : tensor.getRank();
  if (box.size() != getCoordinates().size() || box.size() != rank || rank < 2)
    return emitOpError("expected a coordinate for each dimension of a box like the tensor, of at least two, got ")
           << getCoordinates().size() << " coordinates and a box of " << box.size() << " dimensions of " << rank;
  if (getStrides() && getStrides()->size() != rank)
    return emitOpError("expected a stride for each of ") << rank << " dimensions, got " << getStrides()->size();
  if (tensor.getMemorySpace() || (getExtents() && !tensor.getLayout().isIdentity()))
    return emitOpError("expected a tensor in global memory, row-major if it has other dimensions, got ") << tensor;
  BufferType buffer = getBuffer().getType();
  if (llvm::product_of(box.drop_back()) != buffer.getRows() || box.back() != buffer.getColumns())
    return emitOpError("expected a box of the buffer's ")
           << buffer.getRows() << " rows and " << buffer.getColumns() << " columns, got [" << box << "]";
  if (buffer.getElementType() != tensor.getElementType())
    return emitOpError("expected a tensor of the buffer's elements, got ") << tensor << " for " << buffer;
  return success();
}

LogicalResult ReadElementOp::verify() {
  if (getElement().getType() != getBuffer().getType().getElementType())
    return emitOpError("expected an element of ") << getBuffer().getType() << ", got " << getElement().getType();
  return success();
}

/// A row of the buffer has the fragment's elements.
static LogicalResult verifySaved(Operation *op, FragmentType fragment, MemRefType buffer) {
  int64_t elements = fragment.getRows() * fragment.getColumns();
  if (buffer.getMemorySpace() || !buffer.getLayout().isIdentity() ||
      buffer.getElementType() != fragment.getElementType() || buffer.getShape().back() != elements)
    return op->emitOpError("expected a buffer in global memory with rows of ")
           << elements << " elements of " << fragment.getElementType() << ", got " << buffer;
  return success();
}

LogicalResult SaveFragmentOp::verify() { return verifySaved(*this, getFragment().getType(), getBuffer().getType()); }

LogicalResult RestoreFragmentOp::verify() { return verifySaved(*this, getFragment().getType(), getBuffer().getType()); }

//===----------------------------------------------------------------------===//
// Elements of fragments
//===----------------------------------------------------------------------===//

LogicalResult MapOp::verifyRegions() {
  FragmentType to = getResult().getType();
  if (getInterleaved() != isa<Float8E4M3FNType>(to.getElementType()))
    return emitOpError("expected a result of f8E4M3FN to be interleaved, and no other, got ") << to;
  SmallVector<Type> arguments;
  for (Value fragment : getFragments()) {
    auto from = cast<FragmentType>(fragment.getType());
    if (from.getShape() != to.getShape() && !from.isColumn())
      return emitOpError("expected a result of the size of ") << from << ", got " << to;
    arguments.push_back(from.getElementType());
  }
  arguments.append(2, IndexType::get(getContext()));
  Block &body = getBody().front();
  if (body.getArgumentTypes() != ArrayRef<Type>(arguments))
    return emitOpError("expected a region with the arguments ") << arguments;
  auto yield = dyn_cast<YieldOp>(body.back());
  if (!yield || yield.getElement().getType() != to.getElementType())
    return emitOpError("expected a region that ends in tile.yield of ") << to.getElementType();
  return success();
}

LogicalResult PackOp::verify() {
  FragmentType from = getFragment().getType(), to = getResult().getType();
  if (!from.getElementType().isF32() || !isa<Float8E4M3FNType>(to.getElementType()) || from.getShape() != to.getShape())
    return emitOpError("expected a fragment of f32, and one of f8E4M3FN of its size, got ") << from << " and " << to;
  return success();
}

LogicalResult ExtractOp::verify() {
  FragmentType fragment = getFragment().getType();
  if (getElement().getType() != fragment.getElementType() || int64_t(getNumber()) >= fragment.getElementsPerThread())
    return emitOpError("expected one of the ")
           << fragment.getElementsPerThread() << " elements of " << fragment.getElementType()
           << " that a thread holds, got number " << getNumber() << " of " << getElement().getType();
  return success();
}

ParseResult AssembleOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> elements;
  Type element;
  FragmentType fragment;
  if (parser.parseOperandList(elements) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(element) || parser.parseArrow() || parser.parseType(fragment) ||
      parser.resolveOperands(elements, element, result.operands))
    return failure();
  result.addTypes(fragment);
  return success();
}

void AssembleOp::print(OpAsmPrinter &printer) {
  printer << " " << getElements();
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getFragment().getType().getElementType() << " -> " << getFragment().getType();
}

LogicalResult AssembleOp::verify() {
  FragmentType fragment = getFragment().getType();
  if (int64_t(getElements().size()) != fragment.getElementsPerThread())
    return emitOpError("expected the ") << fragment.getElementsPerThread() << " elements that a thread holds, got "
                                        << getElements().size();
  for (Type type : getElements().getTypes())
    if (type != fragment.getElementType())
      return emitOpError("expected elements of ") << fragment.getElementType() << ", got " << type;
  return success();
}
