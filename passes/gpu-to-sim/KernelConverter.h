//===- KernelConverter.h - one kernel as a function of the simulator ------===//
#ifndef TILEWRIGHT_PASSES_GPU_TO_SIM_KERNELCONVERTER_H
#define TILEWRIGHT_PASSES_GPU_TO_SIM_KERNELCONVERTER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/MapVector.h"

#include <string>

namespace tilewright {

/// Makes one kernel's function.
class KernelConverter {
public:
  KernelConverter(mlir::gpu::GPUFuncOp kernel, llvm::ArrayRef<std::string> names)
      : kernel(kernel), names(names), builder(kernel.getContext()),
        pointer(mlir::LLVM::LLVMPointerType::get(kernel.getContext())) {}

  mlir::LogicalResult run();

private:
  /// Lets the simulator look now and then whether its caller wants an end. Where accesses are checked these do so, too.
  /// A short loop without others in it is left as it is, for LLVM to make vectors of.
  void pollInLoops();
  mlir::LogicalResult checkKernel();
  void createFunction();
  mlir::Value constant(int64_t value);
  /// One word of the thread's state, as an index or a pointer.
  mlir::Value loadWord(int word, mlir::Type type);
  /// The same, loaded once, at the top of the function.
  mlir::Value stateWord(int word);
  /// A memref over `base`, as the cast of the descriptor that memref's lowering to LLVM uses: row-major where it is
  /// given no strides.
  mlir::UnrealizedConversionCastOp createMemRef(mlir::MemRefType type, mlir::Value base,
                                                llvm::ArrayRef<mlir::Value> extents,
                                                llvm::ArrayRef<mlir::Value> strides = {});
  /// Takes the arguments from the array of parameters: for a memref a pointer and an i64 for each dynamic extent and
  /// stride.
  mlir::LogicalResult convertArguments();
  std::string argumentName(size_t number, mlir::Value argument);
  mlir::LogicalResult convertOp(mlir::Operation *op);
  mlir::LogicalResult convertShuffle(mlir::gpu::ShuffleOp op);
  mlir::LogicalResult convertMemory(mlir::Operation *op);
  /// Local memory at the top of the function.
  mlir::Value createSlot(int64_t bytes);
  void replaceIndex(mlir::Operation *op, mlir::Value value);
  /// A part of shared memory that reports name.
  void addRegion(mlir::Operation *op, int64_t offset, int64_t bytes, int64_t slots, int64_t barriers);
  /// Shared memory is written or read so many bytes at a time: checks look at no more at once.
  void lookAt(int64_t bytes) { granularity = granularity ? std::min(granularity, bytes) : bytes; }
  /// The constants that tell the run time what this kernel needs, what it takes, and what the user calls that.
  void createInfo();

  mlir::gpu::GPUFuncOp kernel;
  llvm::ArrayRef<std::string> names;
  mlir::OpBuilder builder;
  mlir::LLVM::LLVMPointerType pointer;
  mlir::func::FuncOp function;
  mlir::Value state, prologueEnd;
  llvm::MapVector<int, mlir::Value> words;
  llvm::SmallVector<int64_t> info;
  std::string texts;
  int64_t synchronizes = 0, granularity = 0, privateBytes = 0, numArguments = 0, isAsynchronous = 0;
  int64_t cluster[3] = {1, 1, 1};
  llvm::SmallVector<int64_t> regions;
  std::string regionNames;
};

} // namespace tilewright

#endif
