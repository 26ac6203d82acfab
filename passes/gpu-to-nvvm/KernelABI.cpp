//===- KernelABI.cpp - a kernel's arguments, as docs/stages.md has them ---===//
#include "passes/gpu-to-nvvm/KernelABI.h"
#include "dialects/Program/Program.h"
#include "dialects/Target/Limits.h"
#include "dialects/Target/TensorMap.h"
#include "passes/ArgumentAlignment.h"
#include "passes/ArgumentLayouts.h"
#include "passes/loops-to-gpu/KernelMemory.h"

#include "dialects/Schedule/Schedule.h"
#include "dialects/Tile/Tile.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace tilewright;

/// Whether nothing is done with `buffer` but to load from it, here or through views of it.
static bool isOnlyLoaded(Value buffer) {
  return llvm::all_of(buffer.getUses(), [&](OpOperand &use) {
    // A select or a branch takes the buffer elsewhere; only views are followed. Behind one may come its strides.
    if (isa<ViewLikeOpInterface>(use.getOwner()))
      return isOnlyLoaded(use.getOwner()->getResult(0));
    return tilewright::isOnlyRead(use);
  });
}

bool tilewright::isDependent(gpu::GPUFuncOp kernel) {
  auto launch = kernel->getAttrOfType<DictionaryAttr>(kLaunchAttr);
  return launch && launch.contains(kDependent);
}

bool tilewright::hasArrivals(gpu::GPUFuncOp kernel) {
  return kernel.walk([](tile::ArriveOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// The descriptor of a memref from its pointer, its dynamic extents and behind them its dynamic strides (all in the
/// converter's index type).
static Value buildDescriptor(OpBuilder &builder, Location loc, const LLVMTypeConverter &converter, MemRefType type,
                             Value pointer, ValueRange dynamicSizes) {
  // Upstream has no strides of what has no elements.
  if (type.hasStaticShape() && type.getNumElements() != 0 && !tilewright::getNumDynamicStrides(type))
    return MemRefDescriptor::fromStaticShape(builder, loc, converter, type, pointer);
  auto descriptor = MemRefDescriptor::poison(builder, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(builder, loc, pointer);
  descriptor.setAlignedPtr(builder, loc, pointer);
  descriptor.setConstantOffset(builder, loc, 0);
  Type indexType = converter.getIndexType();
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, indexType, builder.getIntegerAttr(indexType, value));
  };
  bool isRowMajor = type.getLayout().isIdentity();
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  Value stride = constant(1);
  unsigned dynamic = type.getNumDynamicDims(), dynamicStride = dynamicSizes.size();
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    Value size = type.isDynamicDim(dim) ? dynamicSizes[--dynamic] : constant(type.getDimSize(dim));
    descriptor.setSize(builder, loc, dim, size);
    if (!isRowMajor)
      stride = ShapedType::isDynamic(strides[dim]) ? dynamicSizes[--dynamicStride] : constant(strides[dim]);
    descriptor.setStride(builder, loc, dim, stride);
    if (isRowMajor && dim > 0)
      stride = LLVM::MulOp::create(builder, loc, stride, size);
  }
  return descriptor;
}

namespace {
/// The new signature, and for each argument of the old one how many of the new ones stand for it.
struct Signature {
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
};
} // namespace

static LogicalResult addArgument(gpu::GPUFuncOp kernel, BlockArgument argument, const LLVMTypeConverter &converter,
                                 Signature &signature) {
  MLIRContext *context = kernel.getContext();
  Builder builder(context);
  auto add = [&](Type type, ArrayRef<NamedAttribute> attributes = {}) {
    signature.types.push_back(type);
    signature.attributes.push_back(builder.getDictionaryAttr(attributes));
  };
  if (auto type = dyn_cast<MemRefType>(argument.getType())) {
    if (!tilewright::hasArgumentLayout(type) || type.getMemorySpace() || !converter.convertType(type))
      return kernel.emitOpError("expected a memref without offset and memory space as argument #")
             << argument.getArgNumber() << ", got " << type;
    // The run time checks the caller's arrays, and the workspace's temporaries are placed so.
    int64_t alignment = tilewright::getArgumentAlignment(kernel, argument.getArgNumber());
    SmallVector<NamedAttribute> attributes = {
        builder.getNamedAttr(LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(alignment))};
    bool isLoaded = isOnlyLoaded(argument);
    // Blocks that meet write what others read meanwhile.
    if (isLoaded || !hasArrivals(kernel))
      attributes.push_back(builder.getNamedAttr(LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr()));
    // Loads through the read-only cache are not ordered after griddepcontrol.wait, and of this LLVM makes them.
    if (isLoaded && !isDependent(kernel))
      attributes.push_back(builder.getNamedAttr(LLVM::LLVMDialect::getReadonlyAttrName(), builder.getUnitAttr()));
    add(LLVM::LLVMPointerType::get(context), attributes);
    for (int64_t i = 0; i < type.getNumDynamicDims() + tilewright::getNumDynamicStrides(type); ++i)
      add(builder.getI64Type());
    return success();
  }
  if (argument.getType().isIndex()) {
    add(builder.getI64Type());
    return success();
  }
  if (argument.getType().isIntOrFloat() && converter.convertType(argument.getType())) {
    add(converter.convertType(argument.getType()));
    return success();
  }
  if (isa<tilewright::tile::TensorMapType>(argument.getType())) {
    // TMA reads it where the driver put the parameters.
    auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), kTensorMapBytes);
    add(LLVM::LLVMPointerType::get(context),
        {builder.getNamedAttr(LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes)),
         builder.getNamedAttr(LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(kTensorMapAlignment)),
         builder.getNamedAttr(NVVM::NVVMDialect::getGridConstantAttrName(), builder.getUnitAttr())});
    return success();
  }
  return kernel.emitOpError("expected a memref, an index, a scalar or a tensor map as argument #")
         << argument.getArgNumber() << ", got " << argument.getType();
}

FailureOr<LLVM::LLVMFuncOp> tilewright::lowerKernelSignature(gpu::GPUFuncOp kernel,
                                                             const LLVMTypeConverter &converter) {
  if (kernel.getNumWorkgroupAttributions() || kernel.getNumPrivateAttributions())
    return kernel.emitOpError("expected no attributions: shared memory is a global of the module, private memory an "
                              "alloca");
  if (kernel.getFunctionType().getNumResults())
    return kernel.emitOpError("expected no results, got ") << kernel.getFunctionType().getNumResults();
  Signature signature;
  Block &body = kernel.getBody().front();
  for (BlockArgument argument : body.getArguments())
    if (failed(addArgument(kernel, argument, converter, signature)))
      return failure();

  IRRewriter rewriter(kernel);
  Location loc = kernel.getLoc();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(kernel.getContext()), signature.types);
  auto function = LLVM::LLVMFuncOp::create(rewriter, loc, kernel.getName(), type);
  if (kernel.isKernel()) {
    function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), rewriter.getUnitAttr());
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), rewriter.getUnitAttr());
  }
  if (auto size = kernel.getKnownBlockSizeAttr())
    function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), size);
  else if (kernel.isKernel()) // as many as there may be: registers suffice for them
    function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(), rewriter.getDenseI32ArrayAttr({kMaxBlockThreads}));
  if (auto size = kernel.getKnownClusterSizeAttr())
    function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(), size);
  if (auto blocks = kernel->getAttrOfType<IntegerAttr>(schedule::kMinBlocksAttr))
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), rewriter.getI32IntegerAttr(blocks.getInt()));
  // The symbol's name is a discardable attribute of a gpu.func too; only other dialects' are carried over.
  for (NamedAttribute attribute : kernel->getDiscardableAttrs())
    if (attribute.getNameDialect() && attribute.getName() != gpu::GPUDialect::getKernelFuncAttrName() &&
        attribute.getName() != schedule::kMinBlocksAttr && attribute.getName() != kLaunchAttr)
      function->setDiscardableAttr(attribute.getName(), attribute.getValue());
  function.setAllArgAttrs(signature.attributes);

  // The old arguments, made from the new ones in front of the body.
  function.getBody().takeBody(kernel.getBody());
  Block *entry = rewriter.createBlock(&function.getBody(), function.getBody().begin());
  for (Type argumentType : signature.types)
    entry->addArgument(argumentType, loc);
  rewriter.setInsertionPointToStart(entry);
  if (isDependent(kernel)) {
    // Whatever the kernels before wrote is there from here on, and all that they read has been read. Who comes after
    // may come up at once: it waits here too.
    NVVM::GriddepcontrolOp::create(rewriter, loc, NVVM::GridDepActionKind::wait);
    NVVM::GriddepcontrolOp::create(rewriter, loc, NVVM::GridDepActionKind::launch_dependents);
  }
  auto toIndex = [&](Value value) -> Value {
    if (converter.getIndexType() == value.getType())
      return value;
    return LLVM::TruncOp::create(rewriter, loc, converter.getIndexType(), value);
  };
  unsigned next = 0;
  for (BlockArgument argument : body.getArguments()) {
    Value made = entry->getArgument(next++);
    Type wanted = argument.getType();
    if (auto memref = dyn_cast<MemRefType>(wanted)) {
      SmallVector<Value> sizes;
      for (int64_t i = 0; i < memref.getNumDynamicDims() + tilewright::getNumDynamicStrides(memref); ++i)
        sizes.push_back(toIndex(entry->getArgument(next++)));
      made = buildDescriptor(rewriter, loc, converter, memref, made, sizes);
    } else if (wanted.isIndex()) {
      made = toIndex(made);
    }
    if (made.getType() != wanted)
      made = UnrealizedConversionCastOp::create(rewriter, loc, wanted, made).getResult(0);
    argument.replaceAllUsesWith(made);
  }
  body.eraseArguments(0, body.getNumArguments());
  rewriter.mergeBlocks(&body, entry);
  function.walk([&](gpu::ReturnOp op) {
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<LLVM::ReturnOp>(op, ValueRange());
  });
  rewriter.eraseOp(kernel);
  return function;
}
