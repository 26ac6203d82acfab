//===- ArgumentChecks.h - whether a call's arguments fit, compiled --------===//
#ifndef TILEWRIGHT_PASSES_HOSTTOFFI_ARGUMENTCHECKS_H
#define TILEWRIGHT_PASSES_HOSTTOFFI_ARGUMENTCHECKS_H

#include "passes/host-to-ffi/HostProgram.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {

/// What the checks have read of an argument that fits.
struct CheckedArgument {
  mlir::Value address, bytes, deviceId;
  llvm::SmallVector<mlir::Value> extents;
};

/// Emits the checks of one call; wherever one fails, control goes to `refuse`.
class ArgumentChecks {
public:
  ArgumentChecks(mlir::ImplicitLocOpBuilder &builder, const HostProgram &program, TargetKind target, mlir::Block *refuse)
      : builder(builder), program(program), target(target), refuse(refuse) {}

  /// Emits all checks where `builder` stands, and leaves it where they have all been passed.
  void emit(mlir::Value args, mlir::Value count);

  llvm::ArrayRef<CheckedArgument> arguments() const { return checked; }

private:
  void require(mlir::Value condition);
  mlir::Value loadTensor(mlir::Value args, unsigned position);
  void checkArgument(mlir::Value tensor, const HostArgument &argument);
  void checkRowMajor(mlir::Value strides, const CheckedArgument &argument, mlir::Value empty);
  mlir::Value checkExtents(const HostArgument &argument, CheckedArgument &found);
  void checkOverlap();

  mlir::Value constant(mlir::Type type, int64_t value);
  mlir::Value i64(int64_t value) { return constant(builder.getI64Type(), value); }
  mlir::Value i32(int64_t value) { return constant(builder.getI32Type(), value); }
  mlir::Value equal(mlir::Value a, mlir::Value b);
  mlir::Value load(mlir::Type type, mlir::Value base, int64_t offset);
  mlir::Value conjoin(mlir::Value a, mlir::Value b);

  mlir::ImplicitLocOpBuilder &builder;
  const HostProgram &program;
  TargetKind target;
  mlir::Block *refuse;
  llvm::SmallVector<CheckedArgument> checked;
  llvm::StringMap<mlir::Value> symbols;
};

} // namespace tilewright

#endif
