//===- WrapInHostABI.cpp - programs on memrefs behind the host's signature ===//
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/ArgumentLayouts.h"
#include "passes/PassSupport.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_WRAPINHOSTABI
#include "passes/linalg-to-cpu/Passes.h.inc"

namespace {

struct WrapInHostABI : impl::WrapInHostABIBase<WrapInHostABI> {
  void getDependentDialects(DialectRegistry &registry) const override {
    WrapInHostABIBase::getDependentDialects(registry);
    registry.insert<cf::ControlFlowDialect>(); // for programs that end early
  }
  void runOnOperation() override;
  LogicalResult wrap(func::FuncOp func);
};

/// The memref that begins at `pointer`, with its shape at `shape[firstDim]` and after, and behind it the strides of one
/// that is not row-major.
Value buildMemRef(ImplicitLocOpBuilder &builder, const LLVMTypeConverter &types, MemRefType type, Value pointer,
                  Value shape, unsigned firstDim) {
  auto descriptor = MemRefDescriptor::poison(builder, builder.getLoc(), types.convertType(type));
  descriptor.setAllocatedPtr(builder, builder.getLoc(), pointer);
  descriptor.setAlignedPtr(builder, builder.getLoc(), pointer);
  auto i64 = builder.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, i64, builder.getI64IntegerAttr(value));
  };
  descriptor.setOffset(builder, builder.getLoc(), constant(0));
  auto read = [&](int64_t known, unsigned at) -> Value {
    if (!ShapedType::isDynamic(known))
      return constant(known);
    Value place = LLVM::GEPOp::create(builder, shape.getType(), i64, shape, LLVM::GEPArg(int32_t(at)));
    return LLVM::LoadOp::create(builder, i64, place);
  };
  bool isRowMajor = type.getLayout().isIdentity();
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  Value stride = constant(1);
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    Value size = read(type.getDimSize(dim), firstDim + dim);
    descriptor.setSize(builder, builder.getLoc(), dim, size);
    descriptor.setStride(builder, builder.getLoc(), dim,
                         isRowMajor ? stride : read(strides[dim], firstDim + type.getRank() + dim));
    if (isRowMajor)
      stride = LLVM::MulOp::create(builder, stride, size);
  }
  return UnrealizedConversionCastOp::create(builder, TypeRange{Type(type)}, ValueRange{Value(descriptor)}).getResult(0);
}

/// The temporaries of a program, from the run time, which says so where there is no memory for them.
class Temporaries {
public:
  Temporaries(func::FuncOp func, const LLVMTypeConverter &types)
      : func(func), types(types), builder(func.getLoc(), func.getContext()),
        pointer(LLVM::LLVMPointerType::get(func.getContext())) {}

  void allocate(memref::AllocOp alloc);
  /// Frees them all where the program ends.
  void free(OpBuilder &builder, Location loc) {
    for (Value made : llvm::reverse(pointers))
      LLVM::CallOp::create(builder, loc, declare("free", LLVM::LLVMVoidType::get(func.getContext()), {pointer}), made);
  }

private:
  LLVM::LLVMFuncOp declare(StringRef name, Type result, ArrayRef<Type> arguments) {
    auto module = func->getParentOfType<ModuleOp>();
    if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
      return known;
    auto top = OpBuilder::atBlockBegin(module.getBody());
    return LLVM::LLVMFuncOp::create(top, func.getLoc(), name, LLVM::LLVMFunctionType::get(result, arguments));
  }
  Value getName();
  Value constant(int64_t value) { return arith::ConstantIntOp::create(builder, value, 64); }
  Value isProductTooLarge(Value size);
  Value countBytes(MemRefType type, ArrayRef<Value> sizes, Value isTooMuch);

  func::FuncOp func;
  const LLVMTypeConverter &types;
  ImplicitLocOpBuilder builder;
  Type pointer;
  SmallVector<Value> pointers;
};

/// The name of the program, as a string of C's.
Value Temporaries::getName() {
  auto module = func->getParentOfType<ModuleOp>();
  std::string symbol = (func.getName() + "_name_of_temporaries").str(), text = func.getName().str() + '\0';
  auto global = module.lookupSymbol<LLVM::GlobalOp>(symbol);
  if (!global) {
    auto top = OpBuilder::atBlockBegin(module.getBody());
    global = LLVM::GlobalOp::create(top, func.getLoc(), LLVM::LLVMArrayType::get(builder.getI8Type(), text.size()),
                                    /*isConstant=*/true, LLVM::Linkage::Internal, symbol, builder.getStringAttr(text));
  }
  return LLVM::AddressOfOp::create(builder, global);
}

/// Whether a product that a size is made of has more bits than an index. Sums of what fits show by their sign.
Value Temporaries::isProductTooLarge(Value size) {
  Operation *made = size.getDefiningOp();
  Value found;
  if (!made || !isa<arith::MulIOp, arith::AddIOp, arith::SubIOp, affine::AffineApplyOp>(made))
    return found;
  auto either = [&](Value other) {
    if (other)
      found = found ? Value(arith::OrIOp::create(builder, found, other)) : other;
  };
  for (Value operand : made->getOperands())
    either(isProductTooLarge(operand));
  if (isa<arith::MulIOp>(made)) {
    auto asNumber = [&](Value value) {
      return arith::IndexCastOp::create(builder, builder.getI64Type(), value).getResult();
    };
    auto product =
        arith::MulSIExtendedOp::create(builder, asNumber(made->getOperand(0)), asNumber(made->getOperand(1)));
    Value sign = arith::ShRSIOp::create(builder, product.getLow(), constant(63));
    either(arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, product.getHigh(), sign));
  }
  return found;
}

/// The bytes of a buffer, or -1 where they are more than 63 bits can say.
Value Temporaries::countBytes(MemRefType type, ArrayRef<Value> sizes, Value isTooMuch) {
  Value bytes = constant(getElementBytes(type.getElementType())), zero = constant(0);
  for (Value size : sizes) {
    auto product = arith::MulSIExtendedOp::create(builder, bytes, size);
    bytes = product.getLow();
    Value isLong = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, product.getHigh(), zero);
    Value isNegative = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, bytes, zero);
    isTooMuch = arith::OrIOp::create(builder, isTooMuch, arith::OrIOp::create(builder, isLong, isNegative));
  }
  return arith::SelectOp::create(builder, isTooMuch, constant(-1), bytes);
}

void Temporaries::allocate(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  builder.setLoc(alloc.getLoc());
  builder.setInsertionPoint(alloc);
  SmallVector<Value> sizes;
  auto dynamic = alloc.getDynamicSizes().begin();
  for (int64_t size : type.getShape())
    sizes.push_back(ShapedType::isDynamic(size)
                        ? Value(arith::IndexCastOp::create(builder, builder.getI64Type(), *dynamic++))
                        : constant(size));
  Value isTooMuch = arith::ConstantIntOp::create(builder, 0, 1);
  for (Value size : alloc.getDynamicSizes())
    if (Value isLarge = isProductTooLarge(size))
      isTooMuch = arith::OrIOp::create(builder, isTooMuch, isLarge);
  Value bytes = countBytes(type, sizes, isTooMuch);
  auto call = LLVM::CallOp::create(builder, declare("tilewrightHostAllocate", pointer, {pointer, builder.getI64Type()}),
                                   ValueRange{getName(), bytes});
  Value made = call.getResult();
  Value isMissing =
      LLVM::ICmpOp::create(builder, LLVM::ICmpPredicate::eq, made, LLVM::ZeroOp::create(builder, pointer));

  // Without the memory the program ends here.
  Block *before = alloc->getBlock(), *after = before->splitBlock(alloc), *fail = builder.createBlock(after);
  free(builder, alloc.getLoc());
  func::ReturnOp::create(builder, Value(arith::ConstantIntOp::create(builder, -1, 32)));
  builder.setInsertionPointToEnd(before);
  cf::CondBranchOp::create(builder, isMissing, fail, after);

  builder.setInsertionPoint(alloc);
  auto descriptor = MemRefDescriptor::poison(builder, alloc.getLoc(), types.convertType(type));
  descriptor.setAllocatedPtr(builder, alloc.getLoc(), made);
  descriptor.setAlignedPtr(builder, alloc.getLoc(), made);
  descriptor.setOffset(builder, alloc.getLoc(),
                       LLVM::ConstantOp::create(builder, builder.getI64Type(), builder.getI64IntegerAttr(0)));
  Value stride = LLVM::ConstantOp::create(builder, builder.getI64Type(), builder.getI64IntegerAttr(1));
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    descriptor.setSize(builder, alloc.getLoc(), dim, sizes[dim]);
    descriptor.setStride(builder, alloc.getLoc(), dim, stride);
    if (dim)
      stride = LLVM::MulOp::create(builder, stride, sizes[dim]);
  }
  alloc.replaceAllUsesWith(
      UnrealizedConversionCastOp::create(builder, TypeRange{Type(type)}, ValueRange{Value(descriptor)}).getResult(0));
  alloc.erase();
  pointers.push_back(made);
}

/// The number whose bits are at that place of the shapes.
Value loadNumber(ImplicitLocOpBuilder &builder, Type type, Value shape, unsigned at) {
  Value place = LLVM::GEPOp::create(builder, shape.getType(), builder.getI64Type(), shape, LLVM::GEPArg(int32_t(at)));
  if (!type.isInteger(1))
    return LLVM::LoadOp::create(builder, type, place);
  return LLVM::TruncOp::create(builder, type, LLVM::LoadOp::create(builder, builder.getI8Type(), place));
}

/// Copies a result. Between layouts memref.copy is a call of a run time that is not there.
void copy(ImplicitLocOpBuilder &builder, Value from, Value to) {
  auto isRowMajor = [](Value buffer) { return cast<MemRefType>(buffer.getType()).getLayout().isIdentity(); };
  if (isRowMajor(from) && isRowMajor(to)) {
    memref::CopyOp::create(builder, from, to);
    return;
  }
  SmallVector<Value> begins, ends, steps;
  for (int64_t dim = 0; dim < cast<MemRefType>(to.getType()).getRank(); ++dim) {
    begins.push_back(arith::ConstantIndexOp::create(builder, 0));
    steps.push_back(arith::ConstantIndexOp::create(builder, 1));
    ends.push_back(memref::DimOp::create(builder, to, dim));
  }
  scf::buildLoopNest(builder, builder.getLoc(), begins, ends, steps,
                     [&](OpBuilder &inner, Location loc, ValueRange indices) {
                       Value element = memref::LoadOp::create(inner, loc, from, indices);
                       memref::StoreOp::create(inner, loc, element, to, indices);
                     });
}

LogicalResult WrapInHostABI::wrap(func::FuncOp func) {
  SmallVector<Value> outputs;
  for (BlockArgument argument : func.getArguments())
    if (func.getArgAttr(argument.getArgNumber(), te::kOutputAttr))
      outputs.push_back(argument);
  if (func.getNumResults() != 0 && func.getNumResults() != outputs.size())
    return func.emitOpError() << "expected a function that returns its " << outputs.size()
                              << " outputs or nothing, got " << func.getNumResults() << " results";
  for (Type type : func.getArgumentTypes())
    if (auto memref = dyn_cast<MemRefType>(type);
        memref ? !hasArgumentLayout(memref) || memref.getMemorySpace() || !memref.getElementType().isIntOrFloat()
               : !type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 64)
      return func.emitOpError() << "expected memrefs without offset and numbers of at most 64 bits as arguments, got "
                                << type;
  for (auto alloc : func.getBody().front().getOps<memref::AllocOp>()) {
    MemRefType type = alloc.getType();
    if (type.getMemorySpace())
      return alloc.emitOpError() << "expected a buffer of the host's memory, got " << type;
    if (isTooLarge(type))
      return alloc.emitOpError() << "expected a buffer of less than 2^63 elements, got " << type;
  }
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
      copy(builder, result, output);
  SmallVector<memref::AllocOp> allocs;
  for (auto alloc : entry.getOps<memref::AllocOp>())
    if (alloc.getType().getLayout().isIdentity() && alloc.getType().getElementType().isIntOrFloat())
      allocs.push_back(alloc);
    else
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
    numDims += type.getRank() * (type.getLayout().isIdentity() ? 1 : 2);
  }
  entry.eraseArguments(0, arguments.size());
  Temporaries temporaries(func, types);
  for (memref::AllocOp alloc : allocs)
    temporaries.allocate(alloc);
  if (!allocs.empty()) {
    OpBuilder atEnd(func.getBody().back().getTerminator());
    temporaries.free(atEnd, func.getLoc());
  }
  func.setFunctionType(builder.getFunctionType({pointer, pointer, pointer, pointer}, {i32}));
  func->setAttr(kArgumentsAttr, builder.getArrayAttr(described));
  func->setAttr(kKernelsAttr, builder.getArrayAttr({}));
  func.setAllArgAttrs(ArrayRef<DictionaryAttr>(SmallVector<DictionaryAttr>(4, builder.getDictionaryAttr({}))));
  func.setPublic();

  builder.setInsertionPointAfter(func);
  auto bytes = func::FuncOp::create(builder, (func.getName() + "_workspace_bytes").str(),
                                    builder.getFunctionType({pointer}, {i64}));
  builder.setInsertionPointToStart(bytes.addEntryBlock());
  func::ReturnOp::create(builder, Value(arith::ConstantIntOp::create(builder, 0, 64)));
  return success();
}

void WrapInHostABI::runOnOperation() {
  SmallVector<func::FuncOp> programs(getOperation().getOps<func::FuncOp>());
  for (func::FuncOp program : programs)
    if (!program.isExternal() && !program.isPrivate() && failed(wrap(program)))
      return signalPassFailure();
}

} // namespace
} // namespace tilewright
