//===- Launches.h - launches as calls of the launcher ----------------------===//
#ifndef TILEWRIGHT_PASSES_GPUTOHOST_LAUNCHES_H
#define TILEWRIGHT_PASSES_GPUTOHOST_LAUNCHES_H

#include "dialects/Tile/Tile.h"
#include "passes/gpu-to-host/HostBuffers.h"

namespace tilewright {

/// What the program's launches call, in the order in which they are numbered.
struct KernelNumbers {
  mlir::SmallVector<llvm::StringRef> names;
  int64_t mostParams = 0;
  /// Whether each kernel takes its parameters as one block of slots.
  bool areBlocks = true;

  int64_t of(llvm::StringRef name) const { return llvm::find(names, name) - names.begin(); }
};

/// The arrays that every launch of one function fills anew.
struct LaunchFrame {
  mlir::Value context, launch, config, slots, params;
  /// Only where there are tensor maps: each has a place of its own, which is the kernel's parameter.
  mlir::Value encode, tensor;
  mlir::DenseMap<mlir::Value, mlir::Value> maps;
};

/// Numbers the kernels that a function launches; fails at a launch that the launcher does not know.
mlir::FailureOr<KernelNumbers> numberKernels(mlir::func::FuncOp function, mlir::SymbolTableCollection &symbols);

/// Allocates the arrays where `builder` stands, and reads from the launcher what it calls.
LaunchFrame createFrame(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value launcher,
                        const KernelNumbers &kernels, bool hasMaps);

/// A number, which may be an index, as one of 64 bits.
mlir::Value asI64(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

/// Encodes a tensor map at a place of its own, noted in `frame`; goes to `stop` with the status where that fails.
void convertEncode(tile::EncodeOp encode, const HostBuffers &buffers, LaunchFrame &frame, mlir::Block *stop);

/// Fills the arrays and calls the launcher in the launch's place; goes to `stop` with the status where that fails.
void convertLaunch(mlir::gpu::LaunchFuncOp launch, const HostBuffers &buffers, const LaunchFrame &frame,
                   const KernelNumbers &kernels, mlir::Block *stop);

} // namespace tilewright

#endif
