//===- KernelMemory.cpp - who touches which memory in a kernel ------------===//
#include "passes/loops-to-gpu/KernelMemory.h"
#include "dialects/Program/KernelInterfaces.h"
#include "passes/AddressSpaces.h"
#include "passes/index/AccessForm.h"

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <limits>

using namespace mlir;

namespace tilewright {

memref::GlobalOp getSharedMemorySymbol(gpu::GPUModuleOp kernels) {
  if (auto symbol = SymbolTable(kernels).lookup<memref::GlobalOp>(kSharedMemorySymbol))
    return symbol;
  OpBuilder builder = OpBuilder::atBlockBegin(kernels.getBody());
  auto space = gpu::AddressSpaceAttr::get(kernels.getContext(), gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({0}, builder.getI8Type(), MemRefLayoutAttrInterface(), space);
  return memref::GlobalOp::create(builder, kernels.getLoc(), kSharedMemorySymbol, /*sym_visibility=*/StringAttr(), type,
                                  /*initial_value=*/Attribute(), /*constant=*/false,
                                  builder.getI64IntegerAttr(kSharedAlignment));
}

SmallVector<MemoryAccess> getMemoryAccesses(Operation *op) {
  SmallVector<MemoryAccess> accesses;
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (auto ofKernel = dyn_cast<KernelOpInterface>(op))
    ofKernel.getKernelEffects(effects);
  else if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
    interface.getEffects(effects);
  else if (!op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() && !op->hasTrait<OpTrait::IsTerminator>())
    accesses.push_back({Value(), /*isWrite=*/true});
  for (const MemoryEffects::EffectInstance &effect : effects)
    if (isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect()))
      accesses.push_back({effect.getValue(), isa<MemoryEffects::Write>(effect.getEffect())});
  return accesses;
}

bool mayWrite(Operation *op) {
  return llvm::any_of(getMemoryAccesses(op), [](const MemoryAccess &access) { return access.isWrite; });
}

bool onlyReads(Operation *op) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects = getEffectsRecursively(op);
  return effects && llvm::all_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
           return isa<MemoryEffects::Read>(effect.getEffect());
         });
}

bool isOnlyRead(OpOperand &buffer) {
  Operation *op = buffer.getOwner();
  SmallVector<MemoryAccess> accesses = getMemoryAccesses(op);
  if (isa<ShapedDimOpInterface>(op) || (isa<KernelOpInterface>(op) && accesses.empty()))
    return true;
  return !accesses.empty() && llvm::none_of(op->getResultTypes(), llvm::IsaPred<BaseMemRefType>) &&
         llvm::none_of(accesses, [&](const MemoryAccess &access) {
           return access.isWrite && (!access.buffer || access.buffer == buffer.get());
         });
}

Value getRootBuffer(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

void replaceByView(OpBuilder &builder, memref::AllocOp alloc, Value memory, Value offset) {
  auto view = memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(), memory, offset, alloc.getDynamicSizes());
  if (Attribute stage = alloc->getAttr(te::kStageAttr))
    view->setAttr(te::kStageAttr, stage);
  for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
    if (isa<memref::DeallocOp>(user))
      user->erase();
  alloc.replaceAllUsesWith(view.getResult());
}

CopiedElements getCopied(Value value) {
  CopiedElements copied;
  copied.choice = value.getDefiningOp<scf::IfOp>();
  if (copied.choice) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    Value other = copied.choice.elseYield().getOperand(number);
    if (auto broadcast = other.getDefiningOp<vector::BroadcastOp>())
      other = broadcast.getSource();
    Attribute constant;
    // All bits of it are zero, so not -0.0.
    if (!matchPattern(other, m_Constant(&constant)) ||
        constant != Builder(value.getContext()).getZeroAttr(other.getType()))
      return {};
    value = copied.choice.thenYield().getOperand(number);
    if (value.getParentBlock() != copied.choice.thenBlock())
      return {};
  }
  Operation *load = value.getDefiningOp();
  auto access = load ? index::getElementAccess(load) : std::nullopt;
  return access && !access->stored ? CopiedElements{load, copied.choice} : CopiedElements();
}

bool isWarpCollective(Operation *op) {
  auto ofKernel = dyn_cast<KernelOpInterface>(op);
  return ofKernel && ofKernel.isWarpCollective();
}

int64_t placeBuffers(MutableArrayRef<host::ArenaBuffer> buffers) {
  SmallVector<host::ArenaBuffer *> order(buffers.size()), placed(buffers.size());
  int64_t bytes = host::placeBuffers(buffers.data(), buffers.size(), order.data(), placed.data());
  return bytes < 0 ? std::numeric_limits<int64_t>::max() : bytes;
}

bool isShared(Value buffer) { return isSharedMemory(buffer.getType()); }

bool isPrivate(Value buffer) {
  return isPrivateMemory(buffer.getType()) || getRootBuffer(buffer).getDefiningOp<memref::AllocaOp>();
}

std::array<int64_t, 3> getBlockSize(gpu::GPUFuncOp kernel) {
  // Not known: a block may be as large as blocks can be.
  std::array<int64_t, 3> size = {kMaxBlockThreads, kMaxBlockThreads, kMaxBlockThreadsZ};
  if (std::optional<ArrayRef<int32_t>> known = kernel.getKnownBlockSize())
    llvm::copy(*known, size.begin());
  return size;
}

MemRefType withPlaces(MemRefType type, int64_t count) {
  SmallVector<int64_t> shape = {count};
  llvm::append_range(shape, type.getShape());
  return MemRefType::get(shape, type.getElementType(), MemRefLayoutAttrInterface(), type.getMemorySpace());
}

//===----------------------------------------------------------------------===//
// ThreadDependence
//===----------------------------------------------------------------------===//

ThreadDependence::ThreadDependence(gpu::GPUFuncOp kernel) : kernel(kernel) {
  // Values carried by loops and contents of private memory depend on what comes after them.
  do {
    changed = false;
    kernel.getBody().walk<WalkOrder::PreOrder>([this](Operation *op) { visit(op); });
  } while (changed);
}

void ThreadDependence::add(Value value, unsigned threads) {
  unsigned &known = values[value];
  changed |= (known | threads) != known;
  known |= threads;
}

unsigned ThreadDependence::ofOperands(Operation *op) const {
  unsigned threads = 0;
  for (Value operand : op->getOperands())
    threads |= of(operand);
  return threads;
}

unsigned ThreadDependence::ofControl(Block *block) const {
  unsigned threads = 0;
  for (Operation *op = block->getParentOp(); op != kernel; op = op->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      threads |= of(loop.getLowerBound()) | of(loop.getUpperBound()) | of(loop.getStep());
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      threads |= of(loop.getConditionOp().getCondition());
    else
      threads |= ofOperands(op);
  }
  return threads;
}

void ThreadDependence::visit(Operation *op) {
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
    return add(id, 1u << static_cast<unsigned>(id.getDimension()));
  if (auto id = dyn_cast<gpu::GlobalIdOp>(op))
    return add(id, 1u << static_cast<unsigned>(id.getDimension()));

  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    unsigned bounds = of(loop.getLowerBound()) | of(loop.getUpperBound()) | of(loop.getStep());
    add(loop.getInductionVar(), of(loop.getLowerBound()) | of(loop.getStep()));
    for (auto [init, carried, yielded, result] :
         llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getYieldedValues(), loop.getResults())) {
      add(carried, of(init) | of(yielded));
      // Threads that leave a loop at different times leave with different values.
      add(result, of(carried) | bounds);
    }
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (OpResult result : branch.getResults())
      add(result, of(branch.getCondition()) | of(branch.thenYield().getOperand(result.getResultNumber())) |
                      of(branch.elseYield().getOperand(result.getResultNumber())));
    return;
  }

  unsigned threads = ofOperands(op);
  if (op->getNumRegions() != 0) {
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        threads |= ofOperands(block.getTerminator());
        for (BlockArgument argument : block.getArguments())
          add(argument, threads);
      }
  } else {
    SmallVector<MemoryAccess> accesses = getMemoryAccesses(op);
    for (MemoryAccess access : accesses) {
      if (!access.buffer) {
        threads = kAll;
      } else if (isPrivate(access.buffer)) {
        unsigned &content = contents[getRootBuffer(access.buffer)];
        unsigned stored = access.isWrite ? content | threads | ofControl(op->getBlock()) : content;
        changed |= stored != content;
        content = stored;
        threads |= content;
      }
    }
    // What an atomic update returns depends on who came first, and what a warp op returns on the lane.
    if (op->getNumResults() != 0 &&
        (accesses.size() > 1 || isWarpCollective(op) || isa<gpu::LaneIdOp, gpu::SubgroupIdOp>(op)))
      threads = op->hasAttr(kUniformAttr) ? of(op->getOperand(0)) & ~1u : kAll;
  }
  for (Value result : op->getResults())
    add(result, threads);
}

} // namespace tilewright
