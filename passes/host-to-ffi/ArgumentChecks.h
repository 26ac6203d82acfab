//===- ArgumentChecks.h - whether a call's arguments fit, compiled --------===//
#ifndef TILEWRIGHT_PASSES_HOSTTOFFI_ARGUMENTCHECKS_H
#define TILEWRIGHT_PASSES_HOSTTOFFI_ARGUMENTCHECKS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/host-to-ffi/HostProgram.h"

namespace tilewright {

/// Where the checks leave what the program takes: an address an argument, and the extents of all arguments in order.
struct ArgumentSlots {
  mlir::Value data, shape;
};

/// Emits the checks of one call that decide whether it is a plain one, and take it apart. Wherever it is not, control
/// goes to `otherwise`.
class ArgumentChecks {
public:
  ArgumentChecks(mlir::ImplicitLocOpBuilder &builder, const HostProgram &program, TargetKind target,
                 ArgumentSlots slots, mlir::Block *otherwise)
      : builder(builder), program(program), target(target), slots(slots), otherwise(otherwise) {}

  /// Emits all checks where `builder` stands, and leaves it where they have all been passed. Returns the device's
  /// number, or null where no call is a plain one: then control goes to `otherwise` always.
  mlir::Value emit(mlir::Value args, mlir::Value count);

private:
  /// Of a tensor, what the overlaps are found by.
  struct Range {
    size_t position;
    mlir::Value begin, end;
  };

  void branch();
  void branchIfMany();
  void expectEqual(mlir::Value value, mlir::Value expected);
  void expectNonNegative(mlir::Value value);
  void checkGroups(mlir::Value args);
  void checkNumber(mlir::Value any, unsigned position, int64_t firstExtent);
  void checkPointer(mlir::Value any, unsigned position, int64_t firstExtent);
  mlir::Value checkKind(mlir::Value any);
  void checkHeader(mlir::Value tensor, const HostArgument &argument);
  void checkMemory(mlir::Value tensor, unsigned position, int64_t firstExtent);
  mlir::Value checkStrides(mlir::Value strides, const HostArgument &argument, mlir::ArrayRef<mlir::Value> extents,
                           int64_t firstStride);
  void checkExtent(const HostExtent &extent, mlir::Value value, bool isNumber = false);
  void checkOverlap();

  mlir::Value constant(mlir::Type type, int64_t value);
  mlir::Value i64(int64_t value) { return constant(builder.getI64Type(), value); }
  mlir::Value i32(int64_t value) { return constant(builder.getI32Type(), value); }
  mlir::Value place(mlir::Value base, int64_t offset);
  mlir::Value load(mlir::Type type, mlir::Value base, int64_t offset);
  void store(mlir::Value value, mlir::Value array, int64_t index);

  mlir::ImplicitLocOpBuilder &builder;
  const HostProgram &program;
  TargetKind target;
  ArgumentSlots slots;
  mlir::Block *otherwise;
  /// Since the last branch: conditions that must hold, bits of which none must be set, numbers that must not be
  /// negative.
  llvm::SmallVector<mlir::Value> conditions, bits, numbers;
  llvm::DenseMap<std::pair<mlir::Type, int64_t>, mlir::Value> constants;
  /// Where the value of each argument is.
  llvm::SmallVector<mlir::Value> places;
  mlir::Value device;
  llvm::SmallVector<Range> ranges;
  llvm::StringMap<mlir::Value> symbols;
};

} // namespace tilewright

#endif
