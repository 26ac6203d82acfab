//===- KernelWriter.h - kernels as C++ with what CUDA adds ----------------===//
#ifndef TILEWRIGHT_PASSES_GPUTOSOURCE_KERNELWRITER_H
#define TILEWRIGHT_PASSES_GPUTOSOURCE_KERNELWRITER_H

#include "passes/gpu-to-source/CWriter.h"

namespace tilewright::source {

/// Where each number of a launch comes from, by the kernel's name.
using Origins = llvm::StringMap<mlir::DictionaryAttr>;

/// The program that one GPU module becomes. EmitCUDASource.cpp has kernels and types, KernelOps.cpp the ops in them.
class KernelWriter : public CWriter {
public:
  KernelWriter(bool areIndicesShort, const Origins &origins);
  void write(mlir::gpu::GPUFuncOp kernel);
  /// The whole program: what the kernels need, and the kernels.
  std::string finish() { return prelude() + text; }
  std::string prelude();

protected:
  bool writeOwnOp(mlir::Operation *op) override;
  std::optional<Expression> ownExpression(mlir::Operation *op) override;
  std::string floatType(mlir::Type type) override;
  std::string convertFloat(mlir::Operation *op, mlir::Type from, mlir::Type to, const std::string &number) override;

private:
  void writeSignature(mlir::gpu::GPUFuncOp kernel);
  void writePlace(mlir::Operation *op, llvm::StringRef prefix, mlir::gpu::Dimension dimension, llvm::StringRef builtin,
                  llvm::StringRef what);
  bool writeVectorOp(mlir::Operation *op);
  bool writeMemoryOp(mlir::Operation *op);
  bool writeMatrixOp(mlir::Operation *op);
  std::string address(mlir::Operation *op, mlir::Value buffer, mlir::ValueRange indices) {
    return "&" + element(op, buffer, indices);
  }
  std::string accessOf(llvm::StringRef function, mlir::VectorType type, std::optional<uint64_t> alignment);

  const Origins &origins;
  mlir::gpu::GPUFuncOp currentKernel;
};

} // namespace tilewright::source

#endif
