//===- ConvertGPUToHost.cpp - gpu.launch_func through a launcher ----------===//
//
// The host function of the gpu stage becomes a function of the host ABI (docs/stages.md): pointers and extents come in
// as two arrays, each launch goes out through a function pointer. What computes the extents (arith, cf) is left in
// place; upstream's conversions take it to the LLVM dialect afterwards.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tile/Instructions.h"
#include "dialects/Tile/Tile.h"
#include "passes/ArgumentLayouts.h"
#include "passes/LaunchAttributes.h"
#include "passes/gpu-to-host/HostBuffers.h"
#include "runtime/Launcher.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_CONVERTGPUTOHOST
#include "passes/gpu-to-host/Passes.h.inc"

namespace {
/// Grid x, y, z, block x, y, z and the bytes of dynamic shared memory.
constexpr int64_t configSize = TilewrightConfigSize;
/// A CUtensorMap.
constexpr int64_t mapBytes = 128, mapAlignment = 64;

/// What the program's launches call, in the order in which they are numbered.
struct KernelNumbers {
  SmallVector<StringRef> names;
  int64_t mostParams = 0;
  /// Whether each kernel takes its parameters as one block of slots.
  bool areBlocks = true;

  int64_t of(StringRef name) const { return llvm::find(names, name) - names.begin(); }
};

/// The arrays that every launch of one function fills anew.
struct LaunchFrame {
  Value context, launch, config, slots, params;
  /// Only where there are tensor maps: each has a place of its own, which is the kernel's parameter.
  Value encode, tensor;
  DenseMap<Value, Value> maps;
};

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
           return isa<MemRefType>(type) || type.isIndex() || (type.isIntOrFloat() && type.getIntOrFloatBitWidth() == 64);
         });
}

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

struct ConvertGPUToHost : impl::ConvertGPUToHostBase<ConvertGPUToHost> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTableCollection symbols;
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (function.isExternal())
        continue;
      FailureOr<KernelNumbers> kernels = numberKernels(function, symbols);
      if (failed(kernels) || failed(convert(function, *kernels)))
        return signalPassFailure();
    }
    for (auto gpuModule : llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>()))
      gpuModule.erase();
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }

private:
  LogicalResult convert(func::FuncOp function, const KernelNumbers &kernels);
  void convertEncode(tile::EncodeOp encode, const HostBuffers &buffers, LaunchFrame &frame, Block *stop);
  void convertLaunch(gpu::LaunchFuncOp launch, const HostBuffers &buffers, const LaunchFrame &frame,
                     const KernelNumbers &kernels, Block *stop);
  LLVM::LLVMFuncOp createWorkspaceBytes(OpBuilder builder, func::FuncOp function, const HostSignature &signature);
};

/// What a reader of the host stage, and Python, want to know of the arguments that the ABI has made into arrays.
ArrayAttr describeArguments(func::FuncOp function, unsigned count) {
  SmallVector<Attribute> described;
  Builder builder(function.getContext());
  for (unsigned i = 0; i < count; ++i) {
    NamedAttrList entry(function.getArgAttrDict(i));
    entry.set("type", TypeAttr::get(function.getArgumentTypes()[i]));
    described.push_back(entry.getDictionary(function.getContext()));
  }
  return builder.getArrayAttr(described);
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

/// Goes on where `status` is 0, and otherwise leaves the function with it.
void continueIfOk(OpBuilder &builder, Location loc, Value status, Block *stop, Block *next) {
  Value ok = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), 0);
  Value failed = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, status, ok);
  LLVM::CondBrOp::create(builder, loc, failed, stop, status, next, ValueRange());
}

Value asI64(OpBuilder &builder, Location loc, Value value) {
  Type i64 = builder.getI64Type();
  if (value.getType() == i64)
    return value;
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, i64, value);
  return LLVM::ZExtOp::create(builder, loc, i64, value);
}

void ConvertGPUToHost::convertLaunch(gpu::LaunchFuncOp launch, const HostBuffers &buffers, const LaunchFrame &frame,
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
  for (Value extent : {grid.x, grid.y, grid.z}) {
    config.push_back(asI64(builder, loc, extent));
    if (matchPattern(extent, m_NonZero()) || launch->hasAttr(kNonEmptyAttr))
      continue;
    // The driver refuses an empty grid; a program over no elements has nothing to launch.
    Value zero = LLVM::ConstantOp::create(builder, loc, i64, 0);
    Value none = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, config.back(), zero);
    empty = empty ? LLVM::OrOp::create(builder, loc, empty, none).getResult() : none;
  }
  for (Value extent : {block.x, block.y, block.z})
    config.push_back(asI64(builder, loc, extent));
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
  call->setAttr("tilewright.kernel", builder.getStringAttr(name));
  if (Attribute origin = launch->getAttr("tilewright.launch_origin"))
    call->setAttr("tilewright.launch_origin", origin);
  if (auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(launch, launch.getKernelAttr()))
    if (DenseI32ArrayAttr cluster = kernel.getKnownClusterSizeAttr())
      call->setAttr("tilewright.cluster", cluster);
  continueIfOk(builder, loc, call.getResult(), stop, next);
  launch.erase();
}

void ConvertGPUToHost::convertEncode(tile::EncodeOp encode, const HostBuffers &buffers, LaunchFrame &frame, Block *stop) {
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
      stride = LLVM::MulOp::create(builder, loc, asI64(builder, loc, buffer.strides[dimension]), constant(elementBytes));
    store(stride, TilewrightTensorStrides + i);
    if (buffer.strides.empty())
      stride = LLVM::MulOp::create(builder, loc, stride, extent);
  }
  Value &map = frame.maps[encode.getMap()];
  {
    // At the top: a place in a loop would be another one each time.
    OpBuilder top(frame.tensor.getDefiningOp());
    Value count = LLVM::ConstantOp::create(top, loc, i32, mapBytes);
    map = LLVM::AllocaOp::create(top, loc, pointer, top.getI8Type(), count, mapAlignment);
  }
  auto callee = LLVM::LLVMFunctionType::get(i32, {pointer, pointer, pointer});
  auto call = LLVM::CallOp::create(builder, loc, callee, {frame.encode, frame.context, map, frame.tensor});
  Block *before = encode->getBlock();
  Block *next = before->splitBlock(std::next(encode->getIterator()));
  builder.setInsertionPointToEnd(before);
  continueIfOk(builder, loc, call.getResult(), stop, next);
}

/// The end of the furthest view into the workspace.
LLVM::LLVMFuncOp ConvertGPUToHost::createWorkspaceBytes(OpBuilder builder, func::FuncOp function,
                                                        const HostSignature &signature) {
  Location loc = function.getLoc();
  Type i64 = builder.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(i64, {LLVM::LLVMPointerType::get(builder.getContext())});
  auto result = LLVM::LLVMFuncOp::create(builder, loc, (function.getSymName() + "_workspace_bytes").str(), type);
  builder.setInsertionPointToStart(result.addEntryBlock(builder));
  if (auto bytes = function->getAttrOfType<IntegerAttr>("tilewright.workspace_bytes"); bytes || !signature.workspace) {
    Value value = LLVM::ConstantOp::create(builder, loc, i64, bytes ? bytes.getInt() : 0);
    LLVM::ReturnOp::create(builder, loc, value);
    return result;
  }

  SetVector<Operation *> slice;
  SmallVector<memref::ViewOp> views;
  for (Operation *user : signature.workspace.getUsers())
    if (auto view = dyn_cast<memref::ViewOp>(user))
      views.push_back(view);
  // The users of a value come last first.
  std::reverse(views.begin(), views.end());
  BackwardSliceOptions options;
  options.inclusive = true;
  for (memref::ViewOp view : views)
    for (Value operand : view->getOperands().drop_front())
      (void)getBackwardSlice(operand, &slice, options);
  IRMapping mapping;
  Block &entry = function.getBody().front();
  auto mapNumber = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == &entry && !isa<MemRefType>(argument.getType()) && !mapping.contains(value))
      mapping.map(value, signature.createNumber(builder, value.getLoc(), result.getArgument(0), argument.getArgNumber()));
  };
  for (Operation *op : topologicalSort(slice)) {
    if (op->getBlock() != &entry) {
      op->emitOpError("expected what the workspace's size depends on to stand at the top of @")
          << function.getSymName();
      result.erase();
      return nullptr;
    }
    if (auto dim = dyn_cast<memref::DimOp>(op)) {
      auto argument = dyn_cast<BlockArgument>(dim.getSource());
      std::optional<int64_t> dimension = dim.getConstantIndex();
      if (!argument || argument == signature.workspace || !dimension ||
          uint64_t(*dimension) >= uint64_t(cast<MemRefType>(argument.getType()).getRank())) {
        op->emitOpError("expected an extent of an argument");
        result.erase();
        return nullptr;
      }
      mapping.map(dim.getResult(), signature.createExtent(builder, dim.getLoc(), result.getArgument(0),
                                                          argument.getArgNumber(), *dimension));
      continue;
    }
    for (Value operand : op->getOperands())
      mapNumber(operand);
    builder.clone(*op, mapping);
  }
  Value most = arith::ConstantIndexOp::create(builder, loc, 0);
  for (memref::ViewOp view : views) {
    MemRefType viewed = view.getType();
    Value size = arith::ConstantIndexOp::create(builder, loc, bytesOfElement(viewed.getElementType()));
    unsigned dynamic = 0;
    for (int64_t extent : viewed.getShape()) {
      Value factor = ShapedType::isDynamic(extent)
                         ? mapping.lookupOrDefault(view.getSizes()[dynamic++])
                         : arith::ConstantIndexOp::create(builder, view.getLoc(), extent).getResult();
      size = arith::MulIOp::create(builder, view.getLoc(), size, factor);
    }
    Value end = arith::AddIOp::create(builder, view.getLoc(), mapping.lookupOrDefault(view.getByteShift()), size);
    most = arith::MaxSIOp::create(builder, view.getLoc(), most, end);
  }
  LLVM::ReturnOp::create(builder, loc, asI64(builder, loc, most));
  return result;
}

LogicalResult ConvertGPUToHost::convert(func::FuncOp function, const KernelNumbers &kernels) {
  FailureOr<HostSignature> signature = HostSignature::of(function);
  if (failed(signature))
    return failure();
  Location loc = function.getLoc();
  OpBuilder builder(function);
  LLVM::LLVMFuncOp bytes = createWorkspaceBytes(builder, function, *signature);
  if (!bytes)
    return failure();

  Type i32 = builder.getI32Type();
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  auto type = LLVM::LLVMFunctionType::get(i32, {pointer, pointer, pointer, pointer});
  SmallVector<NamedAttribute> attributes;
  SmallVector<StringRef> names(kernels.names);
  attributes.emplace_back("tilewright.arguments", describeArguments(function, signature->argumentCount()));
  attributes.emplace_back("tilewright.kernels", builder.getStrArrayAttr(names));
  if (Attribute launch = function->getAttr(kLaunchAttr))
    attributes.emplace_back(kLaunchAttr, launch);
  builder.setInsertionPoint(bytes);
  // Both functions have one name until the old one goes, which nothing refers to.
  auto host = LLVM::LLVMFuncOp::create(builder, loc, function.getSymName(), type, LLVM::Linkage::External,
                                       /*dsoLocal=*/false, LLVM::CConv::C, /*comdat=*/{}, attributes);
  host.getBody().takeBody(function.getBody());
  Block &entry = host.getBody().front();
  SmallVector<Value> abi;
  for (unsigned i = 0; i < 4; ++i)
    abi.push_back(entry.insertArgument(i, pointer, loc));
  builder.setInsertionPointToStart(&entry);
  HostBuffers buffers(*signature, builder, /*data=*/abi[0], /*shape=*/abi[1], /*workspace=*/abi[2]);
  SmallVector<tile::EncodeOp> encodes;
  host.walk([&](tile::EncodeOp encode) { encodes.push_back(encode); });
  LaunchFrame frame = createFrame(builder, loc, /*launcher=*/abi[3], kernels, !encodes.empty());
  if (failed(buffers.convertUses(host)))
    return failure();

  Block *stop = builder.createBlock(&host.getBody(), host.getBody().end(), {i32}, {loc});
  LLVM::ReturnOp::create(builder, loc, stop->getArgument(0));
  for (tile::EncodeOp encode : encodes)
    convertEncode(encode, buffers, frame, stop);
  SmallVector<gpu::LaunchFuncOp> launches;
  host.walk([&](gpu::LaunchFuncOp launch) { launches.push_back(launch); });
  for (gpu::LaunchFuncOp launch : launches)
    convertLaunch(launch, buffers, frame, kernels, stop);
  host.walk([&](func::ReturnOp op) {
    builder.setInsertionPoint(op);
    Value ok = LLVM::ConstantOp::create(builder, op.getLoc(), i32, 0);
    LLVM::ReturnOp::create(builder, op.getLoc(), ok);
    op.erase();
  });
  for (tile::EncodeOp encode : encodes)
    encode.erase();
  buffers.erase();
  entry.eraseArguments(4, entry.getNumArguments() - 4);
  if (launches.empty() && encodes.empty())
    stop->erase();
  function.erase();
  return success();
}
} // namespace
} // namespace tilewright
