//===- KernelMemory.h - who touches which memory in a kernel --------------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOGPU_KERNELMEMORY_H
#define TILEWRIGHT_PASSES_LOOPSTOGPU_KERNELMEMORY_H

#include "passes/PassSupport.h"
#include "runtime/host/Arena.h"

namespace tilewright {

/// The name of the symbol that all shared memory of a gpu.module is part of.
inline constexpr llvm::StringLiteral kSharedMemorySymbol = "shared_memory";

/// The symbol that stands for the shared memory of a launch, made where there is none. The driver decides how much of
/// it there is.
mlir::memref::GlobalOp getSharedMemorySymbol(mlir::gpu::GPUModuleOp kernels);

/// What an op itself, not the ops in its regions, reads or writes. `buffer` is null for memory that is not known.
struct MemoryAccess {
  mlir::Value buffer;
  bool isWrite;
};
llvm::SmallVector<MemoryAccess> getMemoryAccesses(mlir::Operation *op);

/// Whether an op itself, not the ops in its regions, may write to memory.
bool mayWrite(mlir::Operation *op);
/// Whether an op, and each op in its regions, has known effects and does nothing to memory but read it.
bool onlyReads(mlir::Operation *op);
/// Whether the op only reads a buffer that it is given, and hands it to no other one.
bool isOnlyRead(mlir::OpOperand &buffer);

/// The allocation, argument or symbol behind views.
mlir::Value getRootBuffer(mlir::Value buffer);

/// Where a value comes from that is an element of memory, or several, or zero where there are none: the load, null for
/// any other value, and the choice between the two where there is one.
struct CopiedElements {
  mlir::Operation *load = nullptr;
  mlir::scf::IfOp choice;
};
CopiedElements getCopied(mlir::Value value);

/// A buffer becomes a view of `memory` that begins `offset` bytes on. The allocation is left, without users.
void replaceByView(mlir::OpBuilder &builder, mlir::memref::AllocOp alloc, mlir::Value memory, mlir::Value offset);

/// Whether all lanes of a warp do the op together, whoever uses its result.
bool isWarpCollective(mlir::Operation *op);

/// Places buffers by host::placeBuffers. Returns the bytes needed in all, the most that 63 bits count where they are
/// more.
int64_t placeBuffers(llvm::MutableArrayRef<host::ArenaBuffer> buffers);

bool isShared(mlir::Value buffer);
/// Memory of one thread alone.
bool isPrivate(mlir::Value buffer);

/// Threads of a block along x, y and z, from `known_block_size`.
std::array<int64_t, 3> getBlockSize(mlir::gpu::GPUFuncOp kernel);

/// On which thread indices the values of a kernel depend. Sets of indices are bits: 1 for x, 2 for y, 4 for z.
class ThreadDependence {
public:
  static constexpr unsigned kAll = 7;

  explicit ThreadDependence(mlir::gpu::GPUFuncOp kernel);

  /// The thread indices that a value may differ along.
  unsigned of(mlir::Value value) const { return values.lookup(value); }
  unsigned ofOperands(mlir::Operation *op) const;
  /// The thread indices that decide whether, or how often, an op in this block is executed.
  unsigned ofControl(mlir::Block *block) const;

private:
  void visit(mlir::Operation *op);
  void add(mlir::Value value, unsigned threads);

  mlir::gpu::GPUFuncOp kernel;
  llvm::DenseMap<mlir::Value, unsigned> values;
  /// What was stored into each private buffer.
  llvm::DenseMap<mlir::Value, unsigned> contents;
  bool changed = false;
};

/// The type of a buffer with `count` places for what `type` holds.
mlir::MemRefType withPlaces(mlir::MemRefType type, int64_t count);

} // namespace tilewright

#endif
