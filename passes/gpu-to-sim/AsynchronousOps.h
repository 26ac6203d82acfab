//===- AsynchronousOps.h - ops of NVVM as calls of the simulator ----------===//
#ifndef TILEWRIGHT_PASSES_GPU_TO_SIM_ASYNCHRONOUSOPS_H
#define TILEWRIGHT_PASSES_GPU_TO_SIM_ASYNCHRONOUSOPS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace tilewright::sim {

/// Makes calls of the run time in a kernel of the LLVM dialect.
class RuntimeCalls {
public:
  RuntimeCalls(mlir::OpBuilder &builder, mlir::LLVM::LLVMFuncOp kernel, mlir::Location loc)
      : builder(builder), kernel(kernel), loc(loc) {}

  mlir::Value i32(int64_t value);
  mlir::Value i64(int64_t value);
  /// The thread's state.
  mlir::Value state() { return kernel.getArgument(0); }
  mlir::Value site(llvm::StringRef name);
  /// The lower 32 bits of a word of the state.
  mlir::Value word(int number);
  /// Local memory of so many bytes, at the top of the kernel.
  mlir::Value slot(int64_t bytes);
  /// Values of one type, one behind the other in local memory.
  mlir::Value spill(mlir::ValueRange values);
  /// A call of the run time, and what it returns, if anything.
  mlir::Value create(llvm::StringRef callee, mlir::ValueRange operands, mlir::Type result = {});

private:
  mlir::OpBuilder &builder;
  mlir::LLVM::LLVMFuncOp kernel;
  mlir::Location loc;
};

/// Puts calls of the run time in the place of what the patterns for tiles make of them on the way to a GPU.
mlir::LogicalResult convertAsynchronousOps(mlir::LLVM::LLVMFuncOp kernel);

} // namespace tilewright::sim

#endif
