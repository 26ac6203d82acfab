//===- ConvertGPUToSim.cpp - kernels as functions of one simulated thread -===//
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/PassSupport.h"

#include "dialects/Program/KernelInterfaces.h"
#include "dialects/Tile/Tile.h"
#include "passes/gpu-to-sim/KernelConverter.h"
#include "passes/gpu-to-sim/SimSupport.h"
#include "runtime/sim/ABI.h"

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace tilewright {
#define GEN_PASS_DEF_CONVERTGPUTOSIM
#include "passes/gpu-to-sim/Passes.h.inc"

using namespace mlir;

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
    // What a thread writes at a time: two elements that lie beside each other, or, transposed, in two rows.
    if (int64_t bytes = getElementBytes(store.getBuffer().getType().getElementType()); bytes != 2)
      lookAt(store.getTransposed() ? bytes : 2 * bytes);
  } else if (auto read = dyn_cast<tile::ReadElementOp>(op)) {
    lookAt(getElementBytes(read.getElement().getType()));
  } else if (auto ofKernel = dyn_cast<KernelOpInterface>(op); ofKernel && ofKernel.ordersTiles()) {
    // convert-tile-to-sim converts it.
    synchronizes = isAsynchronous = 1;
  } else if (isa_and_present<gpu::GPUDialect, nvgpu::NVGPUDialect, NVVM::NVVMDialect>(op->getDialect())) {
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
