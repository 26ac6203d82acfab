//===- HostProgram.h - a program of the host stage, as its checks see it --===//
#ifndef TILEWRIGHT_PASSES_HOSTTOFFI_HOSTPROGRAM_H
#define TILEWRIGHT_PASSES_HOSTTOFFI_HOSTPROGRAM_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/ArgumentAlignment.h"
#include "passes/Pipelines.h"

#include <optional>
#include <string>
#include <vector>

namespace tilewright {

/// An extent of an argument: a number, or a symbol with what is known of it. Symbols of one name have one extent, and
/// arguments that are numbers of that name have it, too.
struct HostExtent {
  int64_t number = -1;
  std::string symbol;
  int64_t divisibleBy = 1, minimum = 0, maximum = INT64_MAX;

  bool isSymbol() const { return number < 0; }
};

/// A number that an argument is in a call that leaves it out, as a value of tvm-ffi's ABI has it.
struct HostDefault {
  int32_t type;
  uint32_t padding;
  int64_t bits;

  /// As Python writes it.
  std::string text() const;
};

struct HostArgument {
  std::string name, dtypeName;
  /// Which one it is, as messages say it: "1", "1[0]", "1.scale".
  std::string place;
  /// DLPack's: code, bits << 8, lanes << 16.
  int32_t dtype = 0;
  bool output = false;
  /// Of a number the one symbol that it stands for, or none.
  llvm::SmallVector<HostExtent> extents;
  /// Of a tensor that is not row-major, in elements.
  llvm::SmallVector<HostExtent, 0> strides;
  bool isNumber = false, isOptional = false;
  /// Whether it is given by its address.
  bool isPointer = false;
  /// In bytes, of its memory.
  int64_t alignment = kArgumentAlignment;
  std::optional<HostDefault> otherwise;

  bool mayBeLeftOut() const { return isOptional || otherwise; }
  /// Whether a call may leave it out to have it allocated, where it is in no group.
  bool isAllocated() const { return output && !isPointer; }
  bool isFloat() const { return (dtype & 0xff) == 2 || (dtype & 0xff) == 4; }
  bool isBool() const { return (dtype & 0xff) == 6; }
  bool isUnsigned() const { return (dtype & 0xff) == 1; }
  int32_t bits() const { return dtype >> 8 & 0xff; }
  /// How many of the program's extents it takes: its dimensions, with their strides where it has its own, or one for
  /// the number.
  size_t numExtents() const { return isNumber ? 1 : extents.size() + strides.size(); }

  int64_t itemBytes() const { return bits() / 8; }
  /// "A: float32[n, 4]", "B: float32[n, 4] strides (ld, 1)", "alpha: float32 = 1.0"
  std::string text() const;
};

/// What a call gives: an argument, or several of them together.
struct HostParameter {
  std::string name, place;
  /// The number of the argument, where it is one.
  unsigned argument = 0;
  /// Those of a group.
  std::vector<HostParameter> elements;
  /// The attributes that an object has the elements as. Empty where but tuples are taken.
  llvm::SmallVector<std::string> fields;
  bool isShape = false;

  bool isGroup() const { return !elements.empty(); }
};

/// What `tilewright.arguments` says of a function of the host stage.
struct HostProgram {
  mlir::LLVM::LLVMFuncOp function;
  llvm::SmallVector<HostArgument> arguments;
  std::vector<HostParameter> parameters;
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

  bool hasGroups() const {
    return llvm::any_of(parameters, [](const HostParameter &each) { return each.isGroup(); });
  }
};

} // namespace tilewright

#endif
