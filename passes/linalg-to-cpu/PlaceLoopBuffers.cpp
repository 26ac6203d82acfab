//===- PlaceLoopBuffers.cpp - the buffers of loops, on the stack or the heap //
#include "dialects/TE/BufferAllocation.h"
#include "passes/PassSupport.h"
#include "passes/linalg-to-cpu/ScheduledLoops.h"
#include "passes/loops-to-gpu/KernelMemory.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_PLACELOOPBUFFERS
#include "passes/linalg-to-cpu/Passes.h.inc"

/// A buffer beyond this many bytes is on the heap: a stack that grows by more than a page at once may miss its guard,
/// and threads have small ones.
static constexpr int64_t kMaxStackBytes = 64 << 10;
/// The same of all buffers of a function.
static constexpr int64_t kMaxStackBytesOfAll = 256 << 10;
/// A line of the cache, and a vector: one that lies across two lines takes two accesses.
static constexpr int64_t kBufferAlignment = 64;

namespace {

struct PlaceLoopBuffers : impl::PlaceLoopBuffersBase<PlaceLoopBuffers> {
  void runOnOperation() override;
};

/// The bytes of a buffer whose extents are constants, and which the stack has room for.
std::optional<int64_t> getStackBytes(MemRefType type) {
  if (!type.hasStaticShape() || !type.getLayout().isIdentity())
    return std::nullopt;
  int64_t bytes = getElementBytes(type.getElementType());
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(bytes, extent, bytes) || bytes > kMaxStackBytes)
      return std::nullopt;
  return bytes;
}

/// Allocates on the heap for as long as the block runs.
void placeOnHeap(Operation *buffer) {
  OpBuilder builder(buffer);
  auto type = cast<MemRefType>(buffer->getResult(0).getType());
  auto made = memref::AllocOp::create(builder, buffer->getLoc(), type, buffer->getOperands(),
                                      builder.getI64IntegerAttr(kBufferAlignment));
  // The program's own end frees what is at its top (wrap-in-host-abi).
  if (!isa<func::FuncOp>(buffer->getParentOp())) {
    builder.setInsertionPoint(buffer->getBlock()->getTerminator());
    memref::DeallocOp::create(builder, buffer->getLoc(), made);
  }
  buffer->getResult(0).replaceAllUsesWith(made);
  buffer->erase();
}

void PlaceLoopBuffers::runOnOperation() {
  func::FuncOp function = getOperation();
  if (!function->hasAttr(kScheduledAttr))
    return;
  Block &entry = function.getBody().front();
  SmallVector<Operation *> buffers;
  function.walk([&](Operation *op) {
    if (allocatesBuffer(op))
      buffers.push_back(op);
  });
  int64_t onStack = 0;
  for (Operation *buffer : buffers) {
    auto type = cast<MemRefType>(buffer->getResult(0).getType());
    // Temporaries of the whole program stay on the heap.
    bool isTemporary = isa<memref::AllocOp>(buffer) && buffer->getBlock() == &entry;
    std::optional<int64_t> bytes = isTemporary ? std::nullopt : getStackBytes(type);
    if (!bytes || onStack + *bytes > kMaxStackBytesOfAll) {
      placeOnHeap(buffer);
      continue;
    }
    onStack += *bytes;
    // At the top: in a loop the stack would grow with every iteration.
    OpBuilder builder = OpBuilder::atBlockBegin(&entry);
    auto made = memref::AllocaOp::create(builder, buffer->getLoc(), type, builder.getI64IntegerAttr(kBufferAlignment));
    buffer->getResult(0).replaceAllUsesWith(made);
    buffer->erase();
  }
}

} // namespace
} // namespace tilewright
