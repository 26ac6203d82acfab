//===- HostBuffers.h - the memrefs of a host function as pointers ---------===//
#ifndef TILEWRIGHT_PASSES_GPUTOHOST_HOSTBUFFERS_H
#define TILEWRIGHT_PASSES_GPUTOHOST_HOSTBUFFERS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/PassSupport.h"

namespace tilewright {

/// The arguments of a host function of the gpu stage: the program's tensors and numbers, then the workspace if there is
/// one.
struct HostSignature {
  mlir::SmallVector<mlir::BlockArgument> arguments;
  mlir::BlockArgument workspace;
  /// Where each argument's extents begin in the ABI's array `shape`.
  mlir::SmallVector<int64_t> firstExtents;

  /// Reads the signature, or says why the function has none.
  static mlir::FailureOr<HostSignature> of(mlir::func::FuncOp function);

  unsigned argumentCount() const { return arguments.size(); }

  /// An argument that is a number: its place in `shape` has its bits.
  mlir::Value createNumber(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value shape, unsigned argument) const;

  /// An extent of an argument, as an index.
  mlir::Value createExtent(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value shape, unsigned argument,
                           int64_t dim) const;

  /// A stride of an argument that is not row-major, in elements, as an index.
  mlir::Value createStride(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value shape, unsigned argument,
                           int64_t dim) const;
};

/// What is left of a memref: its first element's address, its extents as indices, and its strides where it is not
/// row-major.
struct HostBuffer {
  mlir::Value pointer;
  mlir::SmallVector<mlir::Value> extents, strides;
};

/// All memrefs of one host function, read from the arrays of the ABI.
class HostBuffers {
public:
  /// Loads the arguments' pointers and extents where `builder` stands.
  HostBuffers(const HostSignature &signature, mlir::OpBuilder &builder, mlir::Value data, mlir::Value shape,
              mlir::Value workspace);

  const HostBuffer &of(mlir::Value memref) const { return buffers.find(memref)->second; }

  /// Resolves the views, casts and extents in `function`; fails at any other use but a launch.
  mlir::LogicalResult convertUses(mlir::LLVM::LLVMFuncOp function);

  /// Erases what convertUses resolved, once nothing uses it.
  void erase();

private:
  mlir::DenseMap<mlir::Value, HostBuffer> buffers;
  mlir::SmallVector<mlir::Operation *> resolved;
};

} // namespace tilewright

#endif
