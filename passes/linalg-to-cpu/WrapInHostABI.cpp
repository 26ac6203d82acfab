//===- WrapInHostABI.cpp - programs on memrefs behind the host's signature ===//
#include "passes/PassSupport.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_WRAPINHOSTABI
#include "passes/linalg-to-cpu/Passes.h.inc"

namespace {

struct WrapInHostABI : impl::WrapInHostABIBase<WrapInHostABI> {
  void runOnOperation() override;
  LogicalResult wrap(func::FuncOp func);
};

/// The memref that begins at `pointer`, row-major, with its shape at `shape[firstDim]` and after.
Value buildMemRef(ImplicitLocOpBuilder &builder, const LLVMTypeConverter &types, MemRefType type, Value pointer, Value shape,
                  unsigned firstDim) {
  auto descriptor = MemRefDescriptor::poison(builder, builder.getLoc(), types.convertType(type));
  descriptor.setAllocatedPtr(builder, builder.getLoc(), pointer);
  descriptor.setAlignedPtr(builder, builder.getLoc(), pointer);
  auto i64 = builder.getI64Type();
  auto constant = [&](int64_t value) -> Value { return LLVM::ConstantOp::create(builder, i64, builder.getI64IntegerAttr(value)); };
  descriptor.setOffset(builder, builder.getLoc(), constant(0));
  Value stride = constant(1);
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    Value size;
    if (type.isDynamicDim(dim)) {
      Value place = LLVM::GEPOp::create(builder, shape.getType(), i64, shape, LLVM::GEPArg(int32_t(firstDim + dim)));
      size = LLVM::LoadOp::create(builder, i64, place);
    } else {
      size = constant(type.getDimSize(dim));
    }
    descriptor.setSize(builder, builder.getLoc(), dim, size);
    descriptor.setStride(builder, builder.getLoc(), dim, stride);
    stride = LLVM::MulOp::create(builder, stride, size);
  }
  return UnrealizedConversionCastOp::create(builder, TypeRange{Type(type)}, ValueRange{Value(descriptor)}).getResult(0);
}

/// The number whose bits are at that place of the shapes.
Value loadNumber(ImplicitLocOpBuilder &builder, Type type, Value shape, unsigned at) {
  Value place = LLVM::GEPOp::create(builder, shape.getType(), builder.getI64Type(), shape, LLVM::GEPArg(int32_t(at)));
  if (!type.isInteger(1))
    return LLVM::LoadOp::create(builder, type, place);
  return LLVM::TruncOp::create(builder, type, LLVM::LoadOp::create(builder, builder.getI8Type(), place));
}

LogicalResult WrapInHostABI::wrap(func::FuncOp func) {
  SmallVector<Value> outputs;
  for (BlockArgument argument : func.getArguments())
    if (func.getArgAttr(argument.getArgNumber(), te::kOutputAttr))
      outputs.push_back(argument);
  if (func.getNumResults() != 0 && func.getNumResults() != outputs.size())
    return func.emitOpError() << "expected a function that returns its " << outputs.size() << " outputs or nothing, got "
                              << func.getNumResults() << " results";
  for (Type type : func.getArgumentTypes())
    if (auto memref = dyn_cast<MemRefType>(type);
        memref ? !memref.getLayout().isIdentity() : !type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 64)
      return func.emitOpError() << "expected row-major memrefs and numbers of at most 64 bits as arguments, got " << type;
  MLIRContext *context = &getContext();
  LLVMTypeConverter types(context);
  ImplicitLocOpBuilder builder(func.getLoc(), context);
  auto pointer = LLVM::LLVMPointerType::get(context);
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();

  // Results that are no outputs already are copied there; temporaries are freed where the program ends.
  Block &entry = func.getBody().front();
  Operation *ret = entry.getTerminator();
  builder.setInsertionPoint(ret);
  for (auto [result, output] : llvm::zip(ret->getOperands(), outputs))
    if (result != output)
      memref::CopyOp::create(builder, result, output);
  for (auto alloc : entry.getOps<memref::AllocOp>())
    memref::DeallocOp::create(builder, alloc.getMemref());
  func::ReturnOp::create(builder, Value(arith::ConstantIntOp::create(builder, 0, 32)));
  ret->erase();

  // What the functions that check the arguments want to know of them (convert-host-to-ffi).
  SmallVector<Attribute> described;
  for (BlockArgument argument : entry.getArguments()) {
    NamedAttrList attributes(func.getArgAttrDict(argument.getArgNumber()));
    attributes.set("type", TypeAttr::get(argument.getType()));
    described.push_back(attributes.getDictionary(context));
  }

  SmallVector<Value> arguments(entry.getArguments());
  Value abi[4];
  for (Value &value : abi)
    value = entry.addArgument(pointer, func.getLoc());
  builder.setInsertionPointToStart(&entry);
  unsigned numDims = 0;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type) {
      argument.replaceAllUsesWith(loadNumber(builder, argument.getType(), abi[1], numDims++));
      continue;
    }
    Value place = LLVM::GEPOp::create(builder, pointer, pointer, abi[0], LLVM::GEPArg(int32_t(i)));
    Value data = LLVM::LoadOp::create(builder, pointer, place);
    argument.replaceAllUsesWith(buildMemRef(builder, types, type, data, abi[1], numDims));
    numDims += type.getRank();
  }
  entry.eraseArguments(0, arguments.size());
  func.setFunctionType(builder.getFunctionType({pointer, pointer, pointer, pointer}, {i32}));
  func->setAttr("tilewright.arguments", builder.getArrayAttr(described));
  func->setAttr("tilewright.kernels", builder.getArrayAttr({}));
  func.setAllArgAttrs(ArrayRef<DictionaryAttr>(SmallVector<DictionaryAttr>(4, builder.getDictionaryAttr({}))));
  func.setPublic();

  builder.setInsertionPointAfter(func);
  auto bytes = func::FuncOp::create(builder, (func.getName() + "_workspace_bytes").str(), builder.getFunctionType({pointer}, {i64}));
  builder.setInsertionPointToStart(bytes.addEntryBlock());
  func::ReturnOp::create(builder, Value(arith::ConstantIntOp::create(builder, 0, 64)));
  return success();
}

void WrapInHostABI::runOnOperation() {
  SmallVector<func::FuncOp> programs(getOperation().getOps<func::FuncOp>());
  for (func::FuncOp program : programs)
    if (!program.isExternal() && failed(wrap(program)))
      return signalPassFailure();
}

} // namespace
} // namespace tilewright
