//===- Launches.cpp - launches as calls of the launcher --------------------===//
//
// One launch at a time: its checks, and the arrays and calls that it becomes, as runtime/Launcher.h has them. The
// function around the launches, with its arguments and its workspace, is in ConvertGPUToHost.cpp.
//
//===----------------------------------------------------------------------===//
#include "passes/gpu-to-host/Launches.h"

#include "dialects/Program/Program.h"
#include "dialects/Target/TensorMap.h"
#include "dialects/Tile/Instructions.h"
#include "passes/ArgumentLayouts.h"
#include "runtime/Launcher.h"

using namespace mlir;

namespace tilewright {
namespace {

/// Grid x, y, z, block x, y, z and the bytes of dynamic shared memory.
constexpr int64_t configSize = TilewrightConfigSize;

LogicalResult checkLaunch(gpu::LaunchFuncOp launch) {
  if (launch.getAsyncToken() || !launch.getAsyncDependencies().empty() || launch.getAsyncObject())
    return launch.emitOpError("expected a launch without async token or stream, which the launcher knows");
  if (launch.hasClusterSize()) {
    // The cubin says it, so that no launcher needs to.
    auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(launch, launch.getKernelAttr());
    DenseI32ArrayAttr known = kernel ? kernel.getKnownClusterSizeAttr() : nullptr;
    gpu::KernelDim3 size = launch.getClusterSizeOperandValues();
    Value extents[] = {size.x, size.y, size.z};
    for (auto [i, extent] : llvm::enumerate(extents))
      if (!known || getConstantIntValue(extent) != known[i])
        return launch.emitOpError("expected the cluster size that the kernel's known_cluster_size has");
  }
  for (Value operand : launch.getKernelOperands()) {
    Type type = operand.getType();
    if (isa<tile::TensorMapType>(type)) {
      if (!operand.getDefiningOp<tile::EncodeOp>())
        return launch.emitOpError("expected a tensor map that tile.encode made");
      continue;
    }
    if (!isa<MemRefType>(type) && !type.isIndex() && !(type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64))
      return launch.emitOpError("expected kernel arguments to be memrefs, indices or scalars of at most 64 bits, got ")
             << type;
  }
  return success();
}

/// The number of the parameters in the kernel ABI: a pointer, the dynamic extents and strides, or the scalar.
int64_t countParams(gpu::LaunchFuncOp launch) {
  int64_t count = launch.getNumKernelOperands();
  for (Value operand : launch.getKernelOperands())
    if (auto type = dyn_cast<MemRefType>(operand.getType()))
      count += type.getNumDynamicDims() + getNumDynamicStrides(type);
  return count;
}

/// Whether a kernel takes the parameters just as slots of 8 bytes lie, one after the other.
bool isBlock(gpu::LaunchFuncOp launch) {
  return launch.getNumKernelOperands() != 0 && llvm::all_of(launch.getKernelOperands(), [](Value operand) {
           Type type = operand.getType();
           return isa<MemRefType>(type) || type.isIndex() ||
                  (type.isIntOrFloat() && type.getIntOrFloatBitWidth() == 64);
         });
}

/// Goes on where `status` is 0, and otherwise leaves the function with it.
void continueIfOk(OpBuilder &builder, Location loc, Value status, Block *stop, Block *next) {
  Value ok = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), 0);
  Value failed = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, status, ok);
  LLVM::CondBrOp::create(builder, loc, failed, stop, status, next, ValueRange());
}

} // namespace

FailureOr<KernelNumbers> numberKernels(func::FuncOp function, SymbolTableCollection &symbols) {
  KernelNumbers numbers;
  gpu::GPUModuleOp module;
  WalkResult walked = function.walk([&](gpu::LaunchFuncOp launch) {
    if (failed(checkLaunch(launch)))
      return WalkResult::interrupt();
    auto found = symbols.lookupNearestSymbolFrom<gpu::GPUModuleOp>(function, launch.getKernelModuleName());
    if (module && found != module) {
      launch.emitOpError("expected all kernels of @")
          << function.getSymName() << " in @" << module.getName() << ", got one of @" << found.getName();
      return WalkResult::interrupt();
    }
    module = found;
    numbers.mostParams = std::max(numbers.mostParams, countParams(launch));
    numbers.areBlocks &= isBlock(launch);
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  if (module)
    for (Operation &op : module.getBody()->getOperations())
      if (gpu::GPUDialect::isKernel(&op))
        numbers.names.push_back(SymbolTable::getSymbolName(&op).getValue());
  return numbers;
}

LaunchFrame createFrame(OpBuilder &builder, Location loc, Value launcher, const KernelNumbers &kernels, bool hasMaps) {
  LaunchFrame frame;
  MLIRContext *context = builder.getContext();
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(context);
  auto structure = LLVM::LLVMStructType::getLiteral(context, {pointer, pointer, pointer});
  frame.context = LLVM::LoadOp::create(builder, loc, pointer, launcher);
  auto load = [&](int32_t number) -> Value {
    Value field = LLVM::GEPOp::create(builder, loc, pointer, structure, launcher, ArrayRef<LLVM::GEPArg>{0, number});
    return LLVM::LoadOp::create(builder, loc, pointer, field);
  };
  frame.launch = load(1);
  auto allocate = [&](Type element, int64_t count) -> Value {
    Value size = LLVM::ConstantOp::create(builder, loc, i32, std::max<int64_t>(count, 1));
    return LLVM::AllocaOp::create(builder, loc, pointer, element, size, /*alignment=*/8);
  };
  frame.config = allocate(i64, configSize);
  frame.slots = allocate(i64, kernels.mostParams);
  frame.params = allocate(pointer, kernels.mostParams + 1);
  if (hasMaps) {
    frame.encode = load(2);
    frame.tensor = allocate(i64, TilewrightTensorSize);
  }
  // A parameter is never wider than 8 bytes, so the same slots serve every launch and their addresses are stored once.
  for (int32_t i = 0; i < kernels.mostParams; ++i) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, i64, frame.slots, ArrayRef<LLVM::GEPArg>{i});
    Value param = LLVM::GEPOp::create(builder, loc, pointer, pointer, frame.params, ArrayRef<LLVM::GEPArg>{i});
    LLVM::StoreOp::create(builder, loc, slot, param);
  }
  return frame;
}

Value asI64(OpBuilder &builder, Location loc, Value value) {
  Type i64 = builder.getI64Type();
  if (value.getType() == i64)
    return value;
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, i64, value);
  return LLVM::ZExtOp::create(builder, loc, i64, value);
}

void convertLaunch(gpu::LaunchFuncOp launch, const HostBuffers &buffers, const LaunchFrame &frame,
                   const KernelNumbers &kernels, Block *stop) {
  Location loc = launch.getLoc();
  OpBuilder builder(launch);
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto store = [&](Value value, Value array, int32_t i) {
    Value place = LLVM::GEPOp::create(builder, loc, pointer, i64, array, ArrayRef<LLVM::GEPArg>{i});
    LLVM::StoreOp::create(builder, loc, value, place);
  };

  SmallVector<Value> config;
  Value empty;
  gpu::KernelDim3 grid = launch.getGridSizeOperandValues(), block = launch.getBlockSizeOperandValues();
  for (Value extent : {grid.x, grid.y, grid.z, block.x, block.y, block.z}) {
    config.push_back(asI64(builder, loc, extent));
    if (matchPattern(extent, m_NonZero()) || launch->hasAttr(kNonEmptyAttr))
      continue;
    // The driver refuses an empty grid and an empty block; a program over no elements has nothing to launch.
    Value zero = LLVM::ConstantOp::create(builder, loc, i64, 0);
    Value none = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, config.back(), zero);
    empty = empty ? LLVM::OrOp::create(builder, loc, empty, none).getResult() : none;
  }
  if (Value bytes = launch.getDynamicSharedMemorySize())
    config.push_back(asI64(builder, loc, bytes));
  else
    config.push_back(LLVM::ConstantOp::create(builder, loc, i64, 0));

  Block *before = launch->getBlock();
  Block *next = before->splitBlock(std::next(launch->getIterator()));
  if (empty) {
    Block *run = before->splitBlock(launch);
    builder.setInsertionPointToEnd(before);
    LLVM::CondBrOp::create(builder, loc, empty, next, run);
    builder.setInsertionPoint(launch);
  }
  for (auto [i, value] : llvm::enumerate(config))
    store(value, frame.config, i);
  int32_t count = 0;
  // A map is a parameter where it lies, and other launches have numbers at its place of the array. Where there is none
  // an end is the address that stood there before.
  auto setParam = [&](Value where) {
    Value param = LLVM::GEPOp::create(builder, loc, pointer, pointer, frame.params, ArrayRef<LLVM::GEPArg>{count});
    LLVM::StoreOp::create(builder, loc, where, param);
  };
  if (!kernels.areBlocks)
    for (; count < kernels.mostParams; ++count)
      setParam(LLVM::GEPOp::create(builder, loc, pointer, i64, frame.slots, ArrayRef<LLVM::GEPArg>{count}));
  count = 0;
  for (Value operand : launch.getKernelOperands()) {
    if (auto map = frame.maps.find(operand); map != frame.maps.end()) {
      setParam(map->second);
      ++count;
      continue;
    }
    if (!isa<MemRefType>(operand.getType())) {
      store(operand.getType().isIndex() ? asI64(builder, loc, operand) : operand, frame.slots, count++);
      continue;
    }
    const HostBuffer &buffer = buffers.of(operand);
    store(buffer.pointer, frame.slots, count++);
    auto type = cast<MemRefType>(operand.getType());
    for (auto [d, extent] : llvm::enumerate(buffer.extents))
      if (type.isDynamicDim(d))
        store(asI64(builder, loc, extent), frame.slots, count++);
    for (auto [d, stride] : llvm::enumerate(buffer.strides))
      if (ShapedType::isDynamic(type.getStridesAndOffset().first[d]))
        store(asI64(builder, loc, stride), frame.slots, count++);
  }
  setParam(isBlock(launch)
               ? LLVM::GEPOp::create(builder, loc, pointer, i64, frame.slots, ArrayRef<LLVM::GEPArg>{count}).getResult()
               : LLVM::ZeroOp::create(builder, loc, pointer).getResult());

  StringRef name = launch.getKernelName().getValue();
  Value number = LLVM::ConstantOp::create(builder, loc, i32, kernels.of(name));
  Value paramCount = LLVM::ConstantOp::create(builder, loc, i32, count);
  auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i32, pointer, pointer, i32});
  auto call = LLVM::CallOp::create(builder, loc, type,
                                   {frame.launch, frame.context, number, frame.config, frame.params, paramCount});
  call->setAttr(kKernelAttr, builder.getStringAttr(name));
  if (Attribute origin = launch->getAttr(kLaunchOriginAttr))
    call->setAttr(kLaunchOriginAttr, origin);
  if (auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(launch, launch.getKernelAttr()))
    if (DenseI32ArrayAttr cluster = kernel.getKnownClusterSizeAttr())
      call->setAttr(kLaunchClusterAttr, cluster);
  continueIfOk(builder, loc, call.getResult(), stop, next);
  launch.erase();
}

void convertEncode(tile::EncodeOp encode, const HostBuffers &buffers, LaunchFrame &frame, Block *stop) {
  Location loc = encode.getLoc();
  OpBuilder builder(encode);
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto constant = [&](int64_t value) -> Value { return LLVM::ConstantOp::create(builder, loc, i64, value); };
  auto store = [&](Value value, int32_t i) {
    Value place = LLVM::GEPOp::create(builder, loc, pointer, i64, frame.tensor, ArrayRef<LLVM::GEPArg>{i});
    LLVM::StoreOp::create(builder, loc, value, place);
  };
  const HostBuffer &buffer = buffers.of(encode.getTensor());
  tile::TensorMapType type = encode.getMap().getType();
  int64_t rank = type.getBox().size();
  store(buffer.pointer, TilewrightTensorData);
  store(constant(tile::getTensorMapElement(type.getElementType())), TilewrightTensorElement);
  store(constant(rank), TilewrightTensorRank);
  store(constant(type.getSwizzle()), TilewrightTensorSwizzle);
  int64_t elementBytes = tile::getElementBytes(type.getElementType());
  Value stride = constant(elementBytes);
  for (int64_t i = 0; i < rank; ++i) {
    int64_t dimension = rank - 1 - i;
    store(constant(type.getBox()[dimension]), TilewrightTensorBox + i);
    store(constant(encode.getSteps() ? (*encode.getSteps())[dimension] : 1), TilewrightTensorSteps + i);
    if (encode.getExtents()) {
      store(constant((*encode.getExtents())[dimension]), TilewrightTensorExtents + i);
      store(constant((*encode.getStrides())[dimension] * elementBytes), TilewrightTensorStrides + i);
      continue;
    }
    Value extent = asI64(builder, loc, buffer.extents[dimension]);
    store(extent, TilewrightTensorExtents + i);
    if (!buffer.strides.empty())
      stride =
          LLVM::MulOp::create(builder, loc, asI64(builder, loc, buffer.strides[dimension]), constant(elementBytes));
    store(stride, TilewrightTensorStrides + i);
    if (buffer.strides.empty())
      stride = LLVM::MulOp::create(builder, loc, stride, extent);
  }
  Value &map = frame.maps[encode.getMap()];
  {
    // At the top: a place in a loop would be another one each time.
    OpBuilder top(frame.tensor.getDefiningOp());
    Value count = LLVM::ConstantOp::create(top, loc, i32, kTensorMapBytes);
    map = LLVM::AllocaOp::create(top, loc, pointer, top.getI8Type(), count, kTensorMapAlignment);
  }
  auto callee = LLVM::LLVMFunctionType::get(i32, {pointer, pointer, pointer});
  auto call = LLVM::CallOp::create(builder, loc, callee, {frame.encode, frame.context, map, frame.tensor});
  Block *before = encode->getBlock();
  Block *next = before->splitBlock(std::next(encode->getIterator()));
  builder.setInsertionPointToEnd(before);
  continueIfOk(builder, loc, call.getResult(), stop, next);
}

} // namespace tilewright
