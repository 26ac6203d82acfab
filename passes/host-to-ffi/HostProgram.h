//===- HostProgram.h - a program of the host stage, as its checks see it --===//
#ifndef TILEWRIGHT_PASSES_HOSTTOFFI_HOSTPROGRAM_H
#define TILEWRIGHT_PASSES_HOSTTOFFI_HOSTPROGRAM_H

#include "passes/PassSupport.h"
#include "passes/Pipelines.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <string>

namespace tilewright {

/// An extent of an argument: a number, or a symbol with what is known of it. Symbols of one name have one extent, and
/// arguments that are numbers of that name have it, too.
struct HostExtent {
  int64_t number = -1;
  std::string symbol;
  int64_t divisibleBy = 1, minimum = 0, maximum = INT64_MAX;

  bool isSymbol() const { return number < 0; }
};

struct HostArgument {
  std::string name, dtypeName;
  /// DLPack's: code, bits << 8, lanes << 16.
  int32_t dtype = 0;
  bool output = false;
  /// Of a number the one symbol that it stands for, or none.
  llvm::SmallVector<HostExtent> extents;
  bool isNumber = false, isOptional = false;

  bool isFloat() const { return (dtype & 0xff) == 2 || (dtype & 0xff) == 4; }
  bool isBool() const { return (dtype & 0xff) == 6; }
  bool isUnsigned() const { return (dtype & 0xff) == 1; }
  int32_t bits() const { return dtype >> 8 & 0xff; }
  /// How many of the program's extents it takes: its dimensions, or one for the number.
  size_t numExtents() const { return isNumber ? 1 : extents.size(); }

  int64_t itemBytes() const { return bits() / 8; }
  /// "A: float32[n, 4]", "alpha: float32"
  std::string text() const;
};

/// What `tilewright.arguments` says of a function of the host stage.
struct HostProgram {
  mlir::LLVM::LLVMFuncOp function;
  llvm::SmallVector<HostArgument> arguments;
  /// Of the arguments that are optional: as many of the function's follow its arguments.
  unsigned numOptional = 0;

  /// Reads the function's attributes, or says what is wrong with them.
  static mlir::FailureOr<HostProgram> of(mlir::LLVM::LLVMFuncOp function);

  llvm::StringRef name() const { return mlir::LLVM::LLVMFuncOp(function).getSymName(); }
  /// "add(A: float32[n], B: float32[n])"
  std::string text() const;
  /// For `mod.get_function_metadata`: tvm-ffi's type schema, and what the arguments must be.
  std::string metadata(TargetKind target) const;
  /// For `mod.get_function_doc`.
  std::string documentation(TargetKind target, bool managed) const;
};

/// The alignment in bytes that the kernel ABI asks of every argument (docs/stages.md, nvvm).
inline constexpr int64_t kHostAlignment = 16;

} // namespace tilewright

#endif
