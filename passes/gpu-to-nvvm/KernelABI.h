//===- KernelABI.h - a kernel's arguments, as docs/stages.md has them -----===//
#ifndef TILEWRIGHT_PASSES_GPUTONVVM_KERNELABI_H
#define TILEWRIGHT_PASSES_GPUTONVVM_KERNELABI_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tilewright {

/// Makes an llvm.func of a gpu.func: each memref becomes a pointer followed by an i64 for each dynamic dimension, each
/// `index` an i64. The body is taken over as it is; at its start the arguments are made from the new ones, through
/// unrealized casts that the conversion of the body resolves. Fails, with a diagnostic, on types that have no such
/// form.
llvm::FailureOr<mlir::LLVM::LLVMFuncOp> lowerKernelSignature(mlir::gpu::GPUFuncOp kernel,
                                                             const mlir::LLVMTypeConverter &converter);

/// Whether a kernel comes up while the one before it in the stream still runs.
bool isDependent(mlir::gpu::GPUFuncOp kernel);
/// Whether blocks of the kernel read what others wrote.
bool hasArrivals(mlir::gpu::GPUFuncOp kernel);

} // namespace tilewright

#endif
