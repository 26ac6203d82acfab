//===- LowerKernelABI.cpp - kernels take pointers and extents -------------===//
//
// A memref argument says more than a kernel must be told: buffers are row-major and start where their pointer points.
// The upstream convention passes the whole descriptor, and its bare one knows static shapes alone, so the kernel's ABI
// is our own, and the descriptor is built again at the kernel's entry, where it folds away.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_LOWERKERNELABI
#include "passes/Passes.h.inc"

/// The descriptor of a row-major memref that starts at `pointer`.
static Value buildDescriptor(OpBuilder &builder, Location loc, const LLVMTypeConverter &converter, MemRefType type,
                             Value pointer, ValueRange dynamicSizes) {
  auto descriptor = MemRefDescriptor::poison(builder, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(builder, loc, pointer);
  descriptor.setAlignedPtr(builder, loc, pointer);
  descriptor.setConstantOffset(builder, loc, 0);
  Type indexType = converter.getIndexType();
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, indexType, builder.getIntegerAttr(indexType, value));
  };
  Value stride;
  unsigned next = dynamicSizes.size();
  for (int64_t d = type.getRank() - 1; d >= 0; --d) {
    Value size = type.isDynamicDim(d) ? dynamicSizes[--next] : constant(type.getDimSize(d));
    if (!stride)
      stride = constant(1);
    descriptor.setSize(builder, loc, d, size);
    descriptor.setStride(builder, loc, d, stride);
    if (d)
      stride = LLVM::MulOp::create(builder, loc, stride, size);
  }
  return UnrealizedConversionCastOp::create(builder, loc, type, Value(descriptor)).getResult(0);
}

/// True where no op of the kernel writes through the argument.
static bool isOnlyRead(BlockArgument argument) {
  return llvm::all_of(argument.getUsers(), [](Operation *user) { return isa<memref::LoadOp, vector::LoadOp>(user); });
}

namespace {
struct LowerKernelABI : impl::LowerKernelABIBase<LowerKernelABI> {
  using LowerKernelABIBase::LowerKernelABIBase;

  void runOnOperation() override {
    if (!getOperation().isKernel())
      return;
    LowerToLLVMOptions options(&getContext());
    options.overrideIndexBitwidth(64);
    LLVMTypeConverter converter(&getContext(), options);
    gpu::GPUFuncOp kernel = getOperation();
    Block &entry = kernel.getBody().front();
    OpBuilder builder(&entry, entry.begin());
    unsigned numArguments = kernel.getFunctionType().getNumInputs();
    auto pointerType = LLVM::LLVMPointerType::get(&getContext());
    for (unsigned i = 0, position = 0; i < numArguments; ++i, ++position) {
      BlockArgument argument = entry.getArgument(position);
      auto type = dyn_cast<MemRefType>(argument.getType());
      if (!type)
        continue;
      if (!type.getLayout().isIdentity() || type.getMemorySpace()) {
        kernel.emitOpError() << "expected row-major global buffers as arguments, got " << type;
        return signalPassFailure();
      }
      Location loc = argument.getLoc();
      DictionaryAttr attrs;
      NamedAttrList list;
      // Distinct arrays do not overlap: the runtime refuses an output that does.
      list.set(LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
      if (isOnlyRead(argument))
        list.set(LLVM::LLVMDialect::getReadonlyAttrName(), builder.getUnitAttr());
      list.set(LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(16));
      attrs = list.getDictionary(&getContext());
      if (failed(kernel.insertArgument(position, pointerType, attrs, loc)))
        return signalPassFailure();
      Value pointer = entry.getArgument(position);
      SmallVector<Value> sizes;
      for (int64_t d = 0; d < type.getRank(); ++d)
        if (type.isDynamicDim(d)) {
          if (failed(kernel.insertArgument(++position, builder.getI64Type(), nullptr, loc)))
            return signalPassFailure();
          sizes.push_back(entry.getArgument(position));
        }
      argument = entry.getArgument(position + 1);
      argument.replaceAllUsesWith(buildDescriptor(builder, loc, converter, type, pointer, sizes));
      if (failed(kernel.eraseArgument(position + 1)))
        return signalPassFailure();
    }
  }
};
} // namespace
} // namespace tilewright
