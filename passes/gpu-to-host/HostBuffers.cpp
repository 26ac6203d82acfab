//===- HostBuffers.cpp - the memrefs of a host function as pointers -------===//
#include "passes/gpu-to-host/HostBuffers.h"
#include "dialects/Tile/Tile.h"
#include "passes/ArgumentLayouts.h"

using namespace mlir;
using namespace tilewright;

static bool isRowMajor(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.getLayout().isIdentity() && !memref.getMemorySpace();
}

/// Row-major, or with strides of its own, as only an argument may be.
static bool isArray(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && hasArgumentLayout(memref) && !memref.getMemorySpace();
}

static bool isNumber(Type type) { return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64; }

static bool isWorkspace(func::FuncOp function, unsigned i) {
  auto memref = dyn_cast<MemRefType>(function.getArgumentTypes()[i]);
  return memref && i + 1 == function.getNumArguments() && memref.getRank() == 1 && memref.isDynamicDim(0) &&
         memref.getElementType().isInteger(8) && !function.getArgAttr(i, te::kNameAttr);
}

FailureOr<HostSignature> HostSignature::of(func::FuncOp function) {
  if (function.getNumResults())
    return function.emitOpError("expected no results of the host function, got ") << function.getNumResults();
  HostSignature signature;
  int64_t extents = 0;
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    if (!isArray(argument.getType()) && !isNumber(argument.getType()))
      return function.emitOpError("expected argument #")
             << i << " to be a memref without offset and memory space or a number of at most 64 bits, got "
             << argument.getType();
    if (isWorkspace(function, i)) {
      signature.workspace = argument;
      break;
    }
    signature.arguments.push_back(argument);
    signature.firstExtents.push_back(extents);
    auto memref = dyn_cast<MemRefType>(argument.getType());
    extents += !memref ? 1 : memref.getLayout().isIdentity() ? memref.getRank() : 2 * memref.getRank();
  }
  return signature;
}

Value HostSignature::createNumber(OpBuilder &builder, Location loc, Value shape, unsigned argument) const {
  Type type = arguments[argument].getType();
  Value place = LLVM::GEPOp::create(builder, loc, shape.getType(), builder.getI64Type(), shape,
                                    ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(firstExtents[argument])});
  if (!type.isInteger(1))
    return LLVM::LoadOp::create(builder, loc, type, place);
  Value byte = LLVM::LoadOp::create(builder, loc, builder.getI8Type(), place);
  return LLVM::TruncOp::create(builder, loc, type, byte);
}

/// An extent or a stride: the number that it is known to be, or what is at that place of `shape`.
static Value createWord(OpBuilder &builder, Location loc, Value shape, int64_t known, int64_t at) {
  if (!ShapedType::isDynamic(known))
    return arith::ConstantIndexOp::create(builder, loc, known);
  Type i64 = builder.getI64Type();
  Value place =
      LLVM::GEPOp::create(builder, loc, shape.getType(), i64, shape, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(at)});
  Value word = LLVM::LoadOp::create(builder, loc, i64, place);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), word);
}

Value HostSignature::createExtent(OpBuilder &builder, Location loc, Value shape, unsigned argument, int64_t dim) const {
  auto type = cast<MemRefType>(arguments[argument].getType());
  return createWord(builder, loc, shape, type.getDimSize(dim), firstExtents[argument] + dim);
}

Value HostSignature::createStride(OpBuilder &builder, Location loc, Value shape, unsigned argument, int64_t dim) const {
  auto type = cast<MemRefType>(arguments[argument].getType());
  int64_t known = type.getStridesAndOffset().first[dim];
  return createWord(builder, loc, shape, known, firstExtents[argument] + type.getRank() + dim);
}

HostBuffers::HostBuffers(const HostSignature &signature, OpBuilder &builder, Value data, Value shape, Value workspace) {
  Type pointer = data.getType();
  for (auto [i, argument] : llvm::enumerate(signature.arguments)) {
    Location loc = argument.getLoc();
    if (!isa<MemRefType>(argument.getType())) {
      if (!argument.use_empty())
        Value(argument).replaceAllUsesWith(signature.createNumber(builder, loc, shape, i));
      continue;
    }
    HostBuffer buffer;
    Value place =
        LLVM::GEPOp::create(builder, loc, pointer, pointer, data, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    buffer.pointer = LLVM::LoadOp::create(builder, loc, pointer, place);
    auto type = cast<MemRefType>(argument.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      buffer.extents.push_back(signature.createExtent(builder, loc, shape, i, dim));
    for (int64_t dim = 0; !type.getLayout().isIdentity() && dim < type.getRank(); ++dim)
      buffer.strides.push_back(signature.createStride(builder, loc, shape, i, dim));
    buffers[argument] = std::move(buffer);
  }
  if (signature.workspace)
    buffers[signature.workspace] = HostBuffer{workspace, {}, {}};
}

LogicalResult HostBuffers::convertUses(LLVM::LLVMFuncOp function) {
  auto isMemRef = [](Type type) { return isa<BaseMemRefType>(type); };
  auto resolve = [&](Operation *op) -> LogicalResult {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    if (auto view = dyn_cast<memref::ViewOp>(op); view && buffers.contains(view.getSource())) {
      HostBuffer buffer;
      Value shift = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), view.getByteShift());
      Value base = of(view.getSource()).pointer;
      buffer.pointer =
          LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{shift});
      unsigned dynamic = 0;
      for (int64_t extent : view.getType().getShape())
        buffer.extents.push_back(ShapedType::isDynamic(extent)
                                     ? view.getSizes()[dynamic++]
                                     : arith::ConstantIndexOp::create(builder, loc, extent).getResult());
      buffers[view.getResult()] = std::move(buffer);
      resolved.push_back(op);
      return success();
    }
    if (auto cast = dyn_cast<memref::CastOp>(op);
        cast && buffers.contains(cast.getSource()) && isRowMajor(cast.getType())) {
      HostBuffer buffer = of(cast.getSource());
      buffers[cast.getResult()] = std::move(buffer);
      resolved.push_back(op);
      return success();
    }
    if (auto dim = dyn_cast<memref::DimOp>(op);
        dim && dim.getConstantIndex() && buffers.contains(dim.getSource()) &&
        uint64_t(*dim.getConstantIndex()) < of(dim.getSource()).extents.size()) {
      dim.getResult().replaceAllUsesWith(of(dim.getSource()).extents[*dim.getConstantIndex()]);
      resolved.push_back(op);
      return success();
    }
    bool launches = isa<gpu::LaunchFuncOp, tile::EncodeOp>(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
                      return !isMemRef(operand.getType()) || buffers.contains(operand);
                    });
    if (!launches && (llvm::any_of(op->getOperandTypes(), isMemRef) || llvm::any_of(op->getResultTypes(), isMemRef)))
      return op->emitOpError("expected a buffer of the host function to be viewed, measured at a constant dimension or "
                             "passed to a kernel only");
    return success();
  };
  // Preorder: a view is resolved before what uses it.
  WalkResult walked = function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    return op == function || succeeded(resolve(op)) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

void HostBuffers::erase() {
  for (Operation *op : llvm::reverse(resolved))
    op->erase();
  resolved.clear();
}
