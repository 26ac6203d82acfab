//===- ConvertGPUToSim.cpp - kernels as functions of one simulated thread -===//
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/ArgumentLayouts.h"
#include "passes/PassSupport.h"

#include "dialects/Tile/Tile.h"
#include "passes/gpu-to-sim/SimSupport.h"
#include "passes/tile-to-nvvm/TileKernel.h"
#include "runtime/sim/ABI.h"

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"

namespace tilewright {
#define GEN_PASS_DEF_CONVERTGPUTOSIM
#include "passes/gpu-to-sim/Passes.h.inc"

using namespace mlir;
namespace {

/// The names of each kernel's arguments, as the launches in the host function know them.
using ArgumentNames = llvm::StringMap<SmallVector<std::string>>;

/// What the user calls a value that a host function passes to a kernel: `te.name` of the function's argument behind it,
/// or what the buffer's own operation or location says.
std::string nameLaunchOperand(Value value) {
  if (!isa<BaseMemRefType>(value.getType()))
    return "";
  auto argument = dyn_cast<BlockArgument>(value);
  if (auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr)
    if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), te::kNameAttr))
      return name.str();
  return sim::nameBuffer(value);
}

ArgumentNames collectArgumentNames(ModuleOp module) {
  ArgumentNames names;
  module.walk([&](gpu::LaunchFuncOp launch) {
    auto &list = names[launch.getKernelName().getValue()];
    if (list.empty())
      for (Value operand : launch.getKernelOperands())
        list.push_back(nameLaunchOperand(operand));
  });
  return names;
}

/// Makes one kernel's function.
class KernelConverter {
public:
  KernelConverter(gpu::GPUFuncOp kernel, ArrayRef<std::string> names)
      : kernel(kernel), names(names), builder(kernel.getContext()),
        pointer(LLVM::LLVMPointerType::get(kernel.getContext())) {}

  LogicalResult run() {
    if (failed(checkKernel()))
      return failure();
    createFunction();
    if (failed(convertArguments()))
      return failure();
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (failed(convertOp(op)))
        return failure();
    pollInLoops();
    createInfo();
    return success();
  }

private:
  /// Lets the simulator look now and then whether its caller wants an end. Where accesses are checked these do so, too.
  /// A short loop without others in it is left as it is, for LLVM to make vectors of.
  void pollInLoops() {
    constexpr int64_t isLong = 1 << 20;
    function.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        builder.setInsertionPointToStart(loop.getBeforeBody());
      } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
        std::optional<APInt> trips = loop.getStaticTripCount();
        bool hasLoops =
            llvm::any_of(loop.getBody()->getOperations(), [](Operation &inner) { return inner.getNumRegions(); });
        if (!hasLoops && trips && trips->ult(isLong))
          return;
        builder.setInsertionPointToStart(loop.getBody());
      } else {
        return;
      }
      sim::callRuntime(builder, op->getLoc(), sim::pollFunction, {}, {state});
    });
  }

  LogicalResult checkKernel() {
    if (!kernel.isKernel())
      return kernel.emitError("expected every gpu.func to be a kernel");
    if (kernel.getNumWorkgroupAttributions() || kernel.getNumPrivateAttributions())
      return kernel.emitError("expected shared memory to be planned (plan-shared-memory), got attributions");
    return success();
  }

  void createFunction() {
    builder.setInsertionPoint(kernel->getParentOp());
    auto type = builder.getFunctionType({pointer, pointer}, {});
    function = func::FuncOp::create(builder, kernel.getLoc(), kernel.getName(), type);
    function->setAttr(kSimKernelAttr, builder.getUnitAttr());
    // What is left to convert-tile-to-sim asks for it, as on the road to nvvm.
    if (auto size = kernel.getKnownClusterSizeAttr()) {
      function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(), size);
      llvm::copy(size.asArrayRef(), cluster);
    }
    if (hasTileOps(kernel))
      synchronizes = isAsynchronous = 1;
    function.getBody().takeBody(kernel.getBody());
  }

  Value constant(int64_t value) {
    return LLVM::ConstantOp::create(builder, function.getLoc(), builder.getI64IntegerAttr(value));
  }

  /// One word of the thread's state, as an index or a pointer.
  Value loadWord(int word, Type type) {
    Location loc = function.getLoc();
    Value place = LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), state, LLVM::GEPArg(word));
    if (!type.isIndex())
      return LLVM::LoadOp::create(builder, loc, type, place);
    Value loaded = LLVM::LoadOp::create(builder, loc, builder.getI64Type(), place);
    return arith::IndexCastOp::create(builder, loc, type, loaded);
  }

  /// The same, loaded once, at the top of the function.
  Value stateWord(int word) {
    Value &value = words[word];
    if (!value) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointAfterValue(prologueEnd);
      value = loadWord(word, word == sim::SharedBase ? Type(pointer) : builder.getIndexType());
    }
    return value;
  }

  /// A memref over `base`, as the cast of the descriptor that memref's lowering to LLVM uses: row-major where it is
  /// given no strides.
  UnrealizedConversionCastOp createMemRef(MemRefType type, Value base, ArrayRef<Value> extents,
                                          ArrayRef<Value> strides = {}) {
    Location loc = function.getLoc();
    Type i64 = builder.getI64Type();
    SmallVector<Type> fields{pointer, pointer, i64};
    if (type.getRank())
      fields.append(2, LLVM::LLVMArrayType::get(i64, type.getRank()));
    auto descriptorType = LLVM::LLVMStructType::getLiteral(builder.getContext(), fields);
    Value descriptor = LLVM::PoisonOp::create(builder, loc, descriptorType);
    auto insert = [&](Value value, ArrayRef<int64_t> position) {
      descriptor = LLVM::InsertValueOp::create(builder, loc, descriptor, value, position);
    };
    insert(base, {0});
    insert(base, {1});
    insert(constant(0), {2});
    Value stride = constant(1);
    for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
      insert(extents[dim], {3, dim});
      insert(strides.empty() ? stride : strides[dim], {4, dim});
      if (dim)
        stride = LLVM::MulOp::create(builder, loc, stride, extents[dim]);
    }
    return UnrealizedConversionCastOp::create(builder, loc, TypeRange{type}, ValueRange{descriptor});
  }

  /// Takes the arguments from the array of parameters: for a memref a pointer and an i64 for each dynamic extent and
  /// stride.
  LogicalResult convertArguments() {
    Block &entry = function.getBody().front();
    unsigned count = entry.getNumArguments();
    SmallVector<Value> arguments(entry.getArguments());
    Location loc = function.getLoc();
    state = entry.addArgument(pointer, loc);
    Value params = entry.addArgument(pointer, loc);
    builder.setInsertionPointToStart(&entry);
    prologueEnd = constant(0); // state words are loaded here later
    int parameter = 0;
    auto take = [&](Type type) -> Value {
      Value place = LLVM::GEPOp::create(builder, loc, pointer, pointer, params, LLVM::GEPArg(parameter++));
      Value slot = LLVM::LoadOp::create(builder, loc, pointer, place);
      return LLVM::LoadOp::create(builder, loc, type, slot);
    };
    for (auto [number, argument] : llvm::enumerate(arguments)) {
      info.push_back(parameter);
      std::string name = argumentName(number, argument);
      texts += name + '\0';
      if (auto type = dyn_cast<MemRefType>(argument.getType())) {
        if (!hasArgumentLayout(type) || type.getMemorySpace())
          return kernel.emitError("expected arguments without offset and memory space, got ") << type;
        SmallVector<int64_t> known;
        if (!type.getLayout().isIdentity())
          known = type.getStridesAndOffset().first;
        info.append({getElementBytes(type.getElementType()), type.getRank(), int64_t(known.size())});
        Value base = take(pointer);
        auto takeAll = [&](ArrayRef<int64_t> words) {
          return llvm::map_to_vector(words, [&](int64_t word) {
            bool isDynamic = ShapedType::isDynamic(word);
            info.push_back(isDynamic ? -1 : word);
            return isDynamic ? take(builder.getI64Type()) : constant(word);
          });
        };
        SmallVector<Value> extents = takeAll(type.getShape()), strides = takeAll(known);
        auto made = createMemRef(type, base, extents, strides);
        made->setAttr(kSimArgumentAttr, builder.getI64IntegerAttr(number));
        made->setAttr(te::kNameAttr, builder.getStringAttr(name));
        argument.replaceAllUsesWith(made.getResult(0));
      } else if (argument.getType().isIndex()) {
        info.append({0, 0, 0});
        Value taken = take(builder.getI64Type());
        Value index = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), taken);
        argument.replaceAllUsesWith(index);
      } else if (argument.getType().isIntOrFloat()) {
        info.append({0, 0, 0});
        argument.replaceAllUsesWith(take(argument.getType()));
      } else if (isa<tile::TensorMapType>(argument.getType())) {
        // The 128 bytes are the parameter itself.
        info.append({0, 0, 0});
        Value place = LLVM::GEPOp::create(builder, loc, pointer, pointer, params, LLVM::GEPArg(parameter++));
        Value map = LLVM::LoadOp::create(builder, loc, pointer, place);
        auto made = UnrealizedConversionCastOp::create(builder, loc, TypeRange{argument.getType()}, ValueRange{map});
        argument.replaceAllUsesWith(made.getResult(0));
      } else {
        return kernel.emitError("expected arguments that are memrefs, indices, scalars or tensor maps, got ")
               << argument.getType();
      }
    }
    entry.eraseArguments(0, count);
    numArguments = count;
    return success();
  }

  std::string argumentName(size_t number, Value argument) {
    if (number < names.size() && !names[number].empty())
      return names[number];
    auto name = argument.getLoc()->findInstanceOf<NameLoc>();
    return name ? name.getName().str() : "argument " + std::to_string(number);
  }

  LogicalResult convertOp(Operation *op);
  LogicalResult convertShuffle(gpu::ShuffleOp op);
  LogicalResult convertMemory(Operation *op);

  /// Local memory at the top of the function.
  Value createSlot(int64_t bytes) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(prologueEnd);
    privateBytes += bytes;
    return LLVM::AllocaOp::create(builder, function.getLoc(), pointer, builder.getI8Type(), constant(bytes),
                                  /*alignment=*/16);
  }

  void replaceIndex(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  /// A part of shared memory that reports name.
  void addRegion(Operation *op, int64_t offset, int64_t bytes, int64_t slots, int64_t barriers) {
    regions.append({offset, bytes, slots, barriers});
    regionNames += sim::nameTile(op) + '\0';
  }

  /// Shared memory is written or read so many bytes at a time: checks look at no more at once.
  void lookAt(int64_t bytes) { granularity = granularity ? std::min(granularity, bytes) : bytes; }

  /// The constants that tell the run time what this kernel needs, what it takes, and what the user calls that.
  void createInfo() {
    // Fragments go to shared memory 8 bytes at a time or more, unless they are transposed.
    constexpr int64_t tileGranularity = 8;
    if (isAsynchronous)
      lookAt(tileGranularity);
    SmallVector<int64_t> words{synchronizes, granularity ? granularity : 1,
                               privateBytes, isAsynchronous,
                               cluster[0],   cluster[1],
                               cluster[2],   static_cast<int64_t>(regions.size()) / sim::NumRegionWords,
                               numArguments};
    words.append(info);
    words.append(regions);
    texts += regionNames;
    if (texts.empty())
      texts.push_back('\0');
    builder.setInsertionPointAfter(function);
    auto type = RankedTensorType::get({static_cast<int64_t>(words.size())}, builder.getI64Type());
    LLVM::GlobalOp::create(builder, function.getLoc(), LLVM::LLVMArrayType::get(builder.getI64Type(), words.size()),
                           /*isConstant=*/true, LLVM::Linkage::External, (function.getName() + "_info").str(),
                           DenseElementsAttr::get(type, ArrayRef<int64_t>(words)));
    LLVM::GlobalOp::create(builder, function.getLoc(), LLVM::LLVMArrayType::get(builder.getI8Type(), texts.size()),
                           /*isConstant=*/true, LLVM::Linkage::External, (function.getName() + "_arguments").str(),
                           builder.getStringAttr(texts));
  }

  gpu::GPUFuncOp kernel;
  ArrayRef<std::string> names;
  OpBuilder builder;
  LLVM::LLVMPointerType pointer;
  func::FuncOp function;
  Value state, prologueEnd;
  llvm::MapVector<int, Value> words;
  SmallVector<int64_t> info;
  std::string texts;
  int64_t synchronizes = 0, granularity = 0, privateBytes = 0, numArguments = 0, isAsynchronous = 0;
  int64_t cluster[3] = {1, 1, 1};
  SmallVector<int64_t> regions;
  std::string regionNames;
};

LogicalResult KernelConverter::convertOp(Operation *op) {
  builder.setInsertionPoint(op);
  Location loc = op->getLoc();
  auto along = [](int word, gpu::Dimension dimension) { return word + static_cast<int>(dimension); };
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
    replaceIndex(op, stateWord(along(sim::ThreadIdX, id.getDimension())));
  else if (auto id = dyn_cast<gpu::BlockIdOp>(op))
    replaceIndex(op, stateWord(along(sim::BlockIdX, id.getDimension())));
  else if (auto dim = dyn_cast<gpu::BlockDimOp>(op))
    replaceIndex(op, stateWord(along(sim::BlockDimX, dim.getDimension())));
  else if (auto dim = dyn_cast<gpu::GridDimOp>(op))
    replaceIndex(op, stateWord(along(sim::GridDimX, dim.getDimension())));
  else if (auto id = dyn_cast<gpu::ClusterBlockIdOp>(op))
    replaceIndex(op, stateWord(along(sim::BlockInClusterX, id.getDimension())));
  else if (auto dim = dyn_cast<gpu::ClusterDimBlocksOp>(op))
    replaceIndex(op, stateWord(along(sim::ClusterBlocksX, dim.getDimension())));
  else if (auto id = dyn_cast<gpu::ClusterIdOp>(op))
    replaceIndex(op, stateWord(along(sim::ClusterIdX, id.getDimension())));
  else if (auto dim = dyn_cast<gpu::ClusterDimOp>(op))
    replaceIndex(op, stateWord(along(sim::ClusterCountX, dim.getDimension())));
  else if (auto id = dyn_cast<gpu::GlobalIdOp>(op)) {
    Value block = stateWord(along(sim::BlockIdX, id.getDimension()));
    Value scaled = arith::MulIOp::create(builder, loc, block, stateWord(along(sim::BlockDimX, id.getDimension())));
    replaceIndex(op, arith::AddIOp::create(builder, loc, scaled, stateWord(along(sim::ThreadIdX, id.getDimension()))));
  } else if (isa<gpu::LaneIdOp>(op))
    replaceIndex(op, stateWord(sim::LaneId));
  else if (isa<gpu::SubgroupIdOp>(op))
    replaceIndex(op, stateWord(sim::SubgroupId));
  else if (isa<gpu::NumSubgroupsOp>(op))
    replaceIndex(op, stateWord(sim::NumSubgroups));
  else if (isa<gpu::SubgroupSizeOp>(op))
    replaceIndex(op, arith::ConstantIndexOp::create(builder, loc, sim::warpSize));
  else if (isa<gpu::BarrierOp>(op)) {
    synchronizes = 1;
    sim::callRuntime(builder, loc, sim::barrierFunction, {}, {state, sim::createSite(builder, loc, "barrier")});
    op->erase();
  } else if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op)) {
    return convertShuffle(shuffle);
  } else if (isa<nvgpu::LdMatrixOp, nvgpu::MmaSyncOp>(op)) {
    synchronizes = 1;
    FailureOr<vector::LoadOp> load = sim::convertMatrixOp(op, state, [&](int64_t bytes) { return createSlot(bytes); });
    return failed(load) || !*load ? LogicalResult(load) : convertMemory(*load);
  } else if (isa<gpu::ReturnOp>(op)) {
    sim::callRuntime(builder, loc, sim::endFunction, {}, {state, sim::createSite(builder, loc, "end")});
    func::ReturnOp::create(builder, loc);
    op->erase();
  } else if (isa<NVVM::CpAsyncCommitGroupOp>(op)) {
    sim::callRuntime(builder, loc, sim::commitCopiesFunction, {}, {state});
    op->erase();
  } else if (auto wait = dyn_cast<NVVM::CpAsyncWaitGroupOp>(op)) {
    Value underWay = arith::ConstantIntOp::create(builder, loc, wait.getN(), 32);
    sim::callRuntime(builder, loc, sim::waitCopiesFunction, {}, {state, underWay});
    op->erase();
  } else if (auto ring = dyn_cast<tile::RingOp>(op)) {
    tile::RingType type = ring.getRing().getType();
    addRegion(op, *ring.getOffset(), type.getSlotBytes(), type.getDepth(), *ring.getBarriers());
  } else if (auto alloc = dyn_cast<tile::AllocOp>(op)) {
    addRegion(op, *alloc.getOffset(), alloc.getBuffer().getType().getBytes(), 1, -1);
  } else if (auto store = dyn_cast<tile::StoreFragmentOp>(op)) {
    // Transposed, elements that a thread has beside each other lie in two rows.
    if (int64_t bytes = getElementBytes(store.getBuffer().getType().getElementType());
        store.getTransposed() && bytes == 4)
      lookAt(bytes);
  } else if (sim::isLeftToTiles(op)) {
    synchronizes = isAsynchronous = 1;
  } else if (op->getDialect() && llvm::is_contained({"gpu", "nvgpu", "nvvm"}, op->getDialect()->getNamespace())) {
    return op->emitError("expected an operation that the simulator runs, got '") << op->getName() << "'";
  } else {
    return convertMemory(op);
  }
  return success();
}

/// A shuffle exchanges 64 bits; narrower values ride in the low ones.
LogicalResult KernelConverter::convertShuffle(gpu::ShuffleOp op) {
  Location loc = op.getLoc();
  Type type = op.getValue().getType();
  auto vector = dyn_cast<VectorType>(type);
  unsigned width = vector ? vector.getNumElements() * vector.getElementTypeBitWidth() : type.getIntOrFloatBitWidth();
  if (width > 64)
    return op.emitError("expected a value of at most 64 bits, got ") << type;
  synchronizes = 1;
  Type i64 = builder.getI64Type(), narrow = builder.getIntegerType(width);
  Value bits = op.getValue();
  if (type != narrow)
    bits = LLVM::BitcastOp::create(builder, loc, narrow, bits);
  if (width < 64)
    bits = arith::ExtUIOp::create(builder, loc, i64, bits);
  Value mode = arith::ConstantIntOp::create(builder, loc, static_cast<int64_t>(op.getMode()), 32);
  Value site = sim::createSite(builder, loc, "shuffle");
  Value back = sim::callRuntime(builder, loc, sim::shuffleFunction, {i64},
                                {state, site, mode, bits, op.getOffset(), op.getWidth()})
                   .getResult(0);
  if (width < 64)
    back = arith::TruncIOp::create(builder, loc, narrow, back);
  if (type != narrow)
    back = LLVM::BitcastOp::create(builder, loc, type, back);
  Value valid = arith::IndexCastOp::create(builder, loc, i64, loadWord(sim::ShuffleValid, builder.getIndexType()));
  op.getShuffleResult().replaceAllUsesWith(back);
  op.getValid().replaceAllUsesWith(arith::TruncIOp::create(builder, loc, builder.getI1Type(), valid).getResult());
  op.erase();
  return success();
}

LogicalResult KernelConverter::convertMemory(Operation *op) {
  if (auto global = dyn_cast<memref::GetGlobalOp>(op)) {
    MemRefType type = global.getType();
    if (!sim::isShared(type))
      return success();
    Value base = stateWord(sim::SharedBase);
    SmallVector<Value> extents;
    for (int64_t extent : type.getShape())
      extents.push_back(constant(extent));
    replaceIndex(op, createMemRef(type, base, extents).getResult(0));
    return success();
  }
  if (auto alloca = dyn_cast<memref::AllocaOp>(op)) {
    if (!alloca.getType().hasStaticShape())
      return op->emitError("expected a local array of static extents, got ") << alloca.getType();
    privateBytes += alloca.getType().getNumElements() * getElementBytes(alloca.getType().getElementType());
    return success();
  }
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    return op->emitError("expected no allocation inside a kernel (plan-shared-memory), got ") << alloc.getType();
  if (isa<ViewLikeOpInterface>(op))
    return success();
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<MemRefType>(operand.getType()))
      if (auto element = dyn_cast<IntegerType>(type.getElementType()); element && element.getWidth() % 8)
        return op->emitError("expected elements of whole bytes (store-bools-as-bytes), got ") << type;
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<MemRefType>(operand.getType()); type && sim::isShared(type))
      lookAt(getElementBytes(type.getElementType()));
  return success();
}

struct ConvertGPUToSim : impl::ConvertGPUToSimBase<ConvertGPUToSim> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    ArgumentNames names = collectArgumentNames(module);
    for (func::FuncOp host : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      host.erase();
    for (auto kernels : llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>())) {
      for (auto kernel : llvm::make_early_inc_range(kernels.getOps<gpu::GPUFuncOp>()))
        if (failed(KernelConverter(kernel, names[kernel.getName()]).run()))
          return signalPassFailure();
      // Tables of constants stay; the symbol of shared memory has done its work.
      for (auto global : llvm::make_early_inc_range(kernels.getOps<memref::GlobalOp>()))
        if (!sim::isShared(global.getType()))
          global->moveBefore(kernels);
      kernels.erase();
    }
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }
};

} // namespace
} // namespace tilewright
