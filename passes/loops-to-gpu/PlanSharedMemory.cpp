//===- PlanSharedMemory.cpp - shared buffers become parts of one symbol ---===//
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/Passes.h"
#include "passes/loops-to-gpu/UserNames.h"

#include <limits>

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_PLANSHAREDMEMORY
#include "passes/loops-to-gpu/Passes.h.inc"

namespace {
/// What a vector of four floats needs, and what TMA needs.
constexpr int64_t kSmallAlignment = 16, kLargeAlignment = 128;
constexpr int64_t kLargeBytes = 1024;

struct PlanSharedMemory : impl::PlanSharedMemoryBase<PlanSharedMemory> {
  using PlanSharedMemoryBase::PlanSharedMemoryBase;

  void runOnOperation() override {
    for (auto kernels : getOperation().getOps<gpu::GPUModuleOp>())
      for (auto kernel : kernels.getOps<gpu::GPUFuncOp>())
        if (failed(plan(kernel)))
          return signalPassFailure();
    getOperation().walk([&](gpu::LaunchFuncOp launch) { setSize(launch); });
  }

  LogicalResult plan(gpu::GPUFuncOp kernel);
  void setSize(gpu::LaunchFuncOp launch);

  struct Needs {
    int64_t bytes;
    std::string origin;
  };
  llvm::DenseMap<StringAttr, llvm::DenseMap<StringAttr, Needs>> needs; // by module and kernel
};

/// The program's order in numbers: an op of a kernel begins before the ops in it and ends after them.
class Timeline {
public:
  explicit Timeline(gpu::GPUFuncOp kernel) { number(kernel); }

  /// From the first use of a buffer to its last. Where a loop uses a buffer that lives around it, the next iteration
  /// may read what this one wrote: the buffer lives as long as the loop. A buffer also lives until what was read from
  /// it is written to another one: threads go from reading the one to writing the other without a barrier, which the
  /// two at one place would need.
  void setLifetime(memref::AllocOp alloc, host::ArenaBuffer &buffer) const {
    buffer.first = std::numeric_limits<int64_t>::max();
    buffer.last = begins.lookup(alloc);
    auto outermostLoop = [&](Operation *op) {
      for (Operation *parent = op->getParentOp(); parent != alloc->getParentOp(); parent = parent->getParentOp())
        if (isa<LoopLikeOpInterface>(parent))
          op = parent;
      return op;
    };
    SmallVector<Value> views = {alloc}, read;
    while (!views.empty())
      for (Operation *user : views.pop_back_val().getUsers()) {
        llvm::append_range(isa<ViewLikeOpInterface>(user) ? views : read, user->getResults());
        if (isa<memref::DeallocOp>(user))
          continue;
        Operation *op = outermostLoop(user);
        buffer.first = std::min(buffer.first, begins.lookup(op));
        buffer.last = std::max(buffer.last, ends.lookup(op));
      }
    for (Operation *writer : getSharedWriters(read, alloc->getParentOp()))
      buffer.last = std::max(buffer.last, ends.lookup(outermostLoop(writer)));
    buffer.first = std::min(buffer.first, buffer.last);
  }

private:
  /// The ops inside `scope` that write to shared memory and for which `values` are needed.
  static SmallVector<Operation *> getSharedWriters(SmallVector<Value> values, Operation *scope) {
    SmallVector<Operation *> writers;
    llvm::SmallPtrSet<Operation *, 16> seen;
    while (!values.empty())
      for (Operation *user : values.pop_back_val().getUsers()) {
        if (isa<scf::YieldOp>(user))
          user = user->getParentOp();
        if (user == scope || !seen.insert(user).second)
          continue;
        if (llvm::any_of(getMemoryAccesses(user), [](MemoryAccess access) {
              return access.isWrite && access.buffer && isShared(access.buffer);
            }))
          writers.push_back(user);
        llvm::append_range(values, user->getResults());
      }
    return writers;
  }

  void number(Operation *op) {
    begins[op] = next++;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        number(&inner);
    ends[op] = next++;
  }

  int64_t next = 0;
  llvm::DenseMap<Operation *, int64_t> begins, ends;
};
} // namespace

static int64_t getBytes(MemRefType type) { return type.getNumElements() * getElementBytes(type.getElementType()); }

LogicalResult PlanSharedMemory::plan(gpu::GPUFuncOp kernel) {
  SmallVector<memref::AllocOp> allocs;
  WalkResult walked = kernel.walk([&](memref::AllocOp alloc) {
    std::string name = getBufferName(alloc);
    if (!isShared(alloc)) {
      alloc.emitError() << "expected buffers in a kernel to be shared or local, got '" << name << "' in global memory";
      return WalkResult::interrupt();
    }
    if (!alloc.getType().hasStaticShape() || !alloc.getType().getLayout().isIdentity()) {
      alloc.emitError() << "expected shared buffer '" << name << "' to have a constant size, got " << alloc.getType();
      return WalkResult::interrupt();
    }
    allocs.push_back(alloc);
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  if (allocs.empty())
    return success();

  Timeline timeline(kernel);
  SmallVector<host::ArenaBuffer> buffers;
  std::string list;
  for (memref::AllocOp alloc : allocs) {
    host::ArenaBuffer &buffer = buffers.emplace_back();
    buffer.bytes = getBytes(alloc.getType());
    buffer.alignment = std::max<int64_t>(alloc.getAlignment().value_or(1),
                                         buffer.bytes >= kLargeBytes ? kLargeAlignment : kSmallAlignment);
    timeline.setLifetime(alloc, buffer);
    list += (list.empty() ? "" : ", ") + getBufferName(alloc) + " (" + std::to_string(buffer.bytes) + " bytes)";
  }
  int64_t total = placeBuffers(buffers);
  if (total > sharedLimit) {
    InFlightDiagnostic diagnostic = kernel.emitError()
                                    << "expected at most " << sharedLimit.getValue()
                                    << " bytes of shared memory a block, got " << total << ": " << list;
    for (memref::AllocOp alloc : allocs)
      diagnostic.attachNote(alloc.getLoc()) << "'" << getBufferName(alloc) << "' is allocated here";
    return diagnostic;
  }

  auto kernels = kernel->getParentOfType<gpu::GPUModuleOp>();
  MemRefType type = getSharedMemorySymbol(kernels).getType();
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  auto memory = memref::GetGlobalOp::create(builder, kernel.getLoc(), type, kSharedMemorySymbol);
  for (auto [alloc, buffer] : llvm::zip_equal(allocs, buffers)) {
    // At the top: one view serves all iterations of the loop in which the buffer was allocated.
    Value offset = arith::ConstantIndexOp::create(builder, alloc.getLoc(), buffer.offset);
    replaceByView(builder, alloc, memory, offset);
  }
  // Not before: the builder may stand in front of one.
  for (memref::AllocOp alloc : allocs)
    alloc.erase();
  needs[kernels.getSymNameAttr()][kernel.getNameAttr()] = {total, list};
  return success();
}

void PlanSharedMemory::setSize(gpu::LaunchFuncOp launch) {
  auto inModule = needs.find(launch.getKernelModuleName());
  if (inModule == needs.end())
    return;
  auto need = inModule->second.find(launch.getKernelName());
  if (need == inModule->second.end())
    return;
  OpBuilder builder(launch);
  auto bytes = arith::ConstantIntOp::create(builder, launch.getLoc(), builder.getI32Type(), need->second.bytes);
  launch.getDynamicSharedMemorySizeMutable().assign(bytes);
  NamedAttrList origin(launch->getAttrOfType<DictionaryAttr>(kLaunchOriginAttr));
  origin.set("shared", builder.getStringAttr(need->second.origin));
  launch->setAttr(kLaunchOriginAttr, origin.getDictionary(&getContext()));
}
} // namespace tilewright
