//===- ExternOp.cpp - te.extern: assembly and verifier --------------------===//
#include "dialects/Schedule/Schedule.h"
#include "dialects/TE/BufferAllocation.h"
#include "dialects/TE/TE.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::te;

MemRefType ExternOp::getBufferType(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getShape(), type.getElementType());
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void ExternOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (BlockArgument buffer : region.getArguments())
    setName(buffer, isa<NameLoc>(buffer.getLoc())                ? cast<NameLoc>(buffer.getLoc()).getName().getValue()
                    : buffer.getArgNumber() < getInputs().size() ? "in"
                                                                 : "out");
}

void ExternOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getNumResults())
    setName(getResult(0), getName());
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

/// `(` (%buffer `=` %tensor `:` type)* `)`
static ParseResult parseBuffers(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::Argument> &buffers,
                                SmallVectorImpl<Value> &operands, SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
    OpAsmParser::Argument buffer;
    OpAsmParser::UnresolvedOperand tensor;
    RankedTensorType type;
    if (parser.parseArgument(buffer) || parser.parseEqual() || parser.parseOperand(tensor) ||
        parser.parseColonType(type) || parser.resolveOperand(tensor, type, operands))
      return failure();
    buffer.type = ExternOp::getBufferType(type);
    buffers.push_back(buffer);
    types.push_back(type);
    return success();
  });
}

ParseResult ExternOp::parse(OpAsmParser &parser, OperationState &result) {
  Properties &props = result.getOrAddProperties<Properties>();
  SmallVector<OpAsmParser::Argument> buffers;
  SmallVector<Type> inputs, outputs;
  if (parser.parseAttribute(props.name))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("ins")) && parseBuffers(parser, buffers, result.operands, inputs))
    return failure();
  if (parser.parseKeyword("outs") || parseBuffers(parser, buffers, result.operands, outputs) ||
      parser.parseRegion(*result.addRegion(), buffers) || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  if (result.regions[0]->empty()) {
    Block &block = result.regions[0]->emplaceBlock();
    for (const OpAsmParser::Argument &buffer : buffers)
      block.addArgument(buffer.type, parser.getEncodedSourceLoc(buffer.ssaName.location));
  }
  props.operandSegmentSizes = {static_cast<int32_t>(inputs.size()), static_cast<int32_t>(outputs.size())};
  result.addTypes(outputs);
  return success();
}

void ExternOp::print(OpAsmPrinter &p) {
  p << ' ';
  p.printAttributeWithoutType(getNameAttr());
  auto printBuffers = [&](StringRef keyword, OperandRange tensors, unsigned first) {
    if (tensors.empty())
      return;
    p << ' ' << keyword << '(';
    llvm::interleaveComma(llvm::enumerate(tensors), p, [&](auto tensor) {
      p.printRegionArgument(getBuffer(first + tensor.index()), {}, /*omitType=*/true);
      p << " = " << tensor.value() << " : " << tensor.value().getType();
    });
    p << ')';
  };
  printBuffers("ins", getInputs(), 0);
  printBuffers("outs", getOutputs(), getInputs().size());
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  p.printOptionalAttrDict((*this)->getAttrs(), {"name", "operandSegmentSizes"});
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

LogicalResult ExternOp::verify() {
  if (getOutputs().empty())
    return emitOpError("expected at least one result");
  return success();
}

/// Elements of buffers are loaded and stored one by one, and what is read is not stored to.
static LogicalResult verifyAccesses(ExternOp op, Value buffer, bool isInput) {
  for (Operation *user : buffer.getUsers()) {
    if (!isa<memref::LoadOp, memref::StoreOp>(user))
      return user->emitOpError("expected loads and stores of the elements of te.extern's buffers, got another use");
    if (isInput && isa<memref::StoreOp>(user))
      return user->emitOpError() << "expected stores to the results of te.extern '" << op.getName()
                                 << "' and to its own buffers, got one to a tensor that it reads";
  }
  return success();
}

/// Thread axes stand in no other loops, each index once.
static LogicalResult verifyThreadAxis(ExternOp op, scf::ForOp loop) {
  auto thread = loop->getAttrOfType<schedule::ThreadTagAttr>(schedule::kBindAttr);
  for (Operation *around = loop->getParentOp(); around != op; around = around->getParentOp()) {
    auto outer = around->getAttrOfType<schedule::ThreadTagAttr>(schedule::kBindAttr);
    if (!outer)
      return loop.emitOpError() << "expected a thread axis outside of the loops and choices of te.extern '"
                                << op.getName() << "', got one in '" << around->getName() << "'";
    if (outer == thread && thread.getValue() != schedule::ThreadTag::VThread)
      return loop.emitOpError() << "expected each thread index once around a statement of te.extern '" << op.getName()
                                << "', got " << schedule::stringifyThreadTag(thread.getValue()) << " twice";
  }
  return success();
}

LogicalResult ExternOp::verifyRegions() {
  SmallVector<Type> expected;
  for (Type type : getOperandTypes())
    expected.push_back(getBufferType(type));
  if (!llvm::equal(expected, getBody().getArgumentTypes())) {
    InFlightDiagnostic diagnostic = emitOpError() << "expected a buffer for each tensor, (";
    llvm::interleaveComma(expected, diagnostic);
    diagnostic << "), got (";
    llvm::interleaveComma(getBody().getArgumentTypes(), diagnostic);
    return diagnostic << ")";
  }
  for (BlockArgument buffer : getBody().getArguments())
    if (failed(verifyAccesses(*this, buffer, buffer.getArgNumber() < getInputs().size())))
      return failure();
  WalkResult result = getBody().walk([&](Operation *inner) -> WalkResult {
    if (allocatesBuffer(inner))
      return verifyAccesses(*this, inner->getResult(0), /*isInput=*/false);
    if (auto loop = dyn_cast<scf::ForOp>(inner);
        loop && loop->hasAttrOfType<schedule::ThreadTagAttr>(schedule::kBindAttr))
      return verifyThreadAxis(*this, loop);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
