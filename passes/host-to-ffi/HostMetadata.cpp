//===- HostMetadata.cpp - what a library tells of a program ---------------===//
#include "passes/host-to-ffi/HostProgram.h"

#include "runtime/host/ABI.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

static StringRef nameOfTarget(TargetKind target) {
  return target == TargetKind::CUDA ? "cuda" : target == TargetKind::CPU ? "cpu" : "sim";
}

/// What an argument is in tvm-ffi's schema.
static llvm::json::Value schemaOf(const HostArgument &argument) {
  llvm::json::Object type{{"type", argument.isPointer   ? "void*"
                                   : !argument.isNumber ? "DLTensor*"
                                   : argument.isFloat() ? "float"
                                   : argument.isBool()  ? "bool"
                                                        : "int"}};
  if (argument.isOptional)
    return llvm::json::Object{{"type", "Optional"}, {"args", llvm::json::Array{std::move(type)}}};
  return type;
}

static llvm::json::Value schemaOf(const HostProgram &program, const HostParameter &parameter) {
  if (!parameter.isGroup())
    return schemaOf(program.arguments[parameter.argument]);
  if (parameter.isShape)
    return llvm::json::Object{{"type", "ffi.Shape"}};
  llvm::json::Array elements;
  for (const HostParameter &element : parameter.elements)
    elements.push_back(schemaOf(program, element));
  return llvm::json::Object{{"type", "Tuple"}, {"args", std::move(elements)}};
}

/// What is known of an argument's symbols.
static llvm::json::Object describeSymbols(const HostArgument &argument) {
  llvm::json::Object symbols;
  for (const HostExtent &extent : llvm::concat<const HostExtent>(argument.extents, argument.strides)) {
    bool isBounded = extent.maximum != INT64_MAX, isNegative = extent.minimum < 0;
    if (!extent.isSymbol() || (extent.divisibleBy == 1 && extent.minimum <= 0 && !isBounded))
      continue;
    llvm::json::Object known{{"divisible_by", extent.divisibleBy}};
    if (!isNegative)
      known["minimum"] = extent.minimum;
    if (isBounded)
      known["maximum"] = extent.maximum;
    symbols[extent.symbol] = std::move(known);
  }
  return symbols;
}

/// As JSON has it, which has neither infinity nor 64 bits without sign: such numbers are texts.
static llvm::json::Value valueOf(const HostDefault &number) {
  double real = llvm::bit_cast<double>(number.bits);
  if (number.type == TilewrightTypeBool)
    return number.bits != 0;
  if (number.type == TilewrightTypeFloat ? !std::isfinite(real) : number.padding != 0)
    return number.text();
  if (number.type == TilewrightTypeFloat)
    return real;
  return number.bits;
}

static llvm::json::Object describe(const HostArgument &argument) {
  llvm::json::Object entry{{"name", argument.name}, {"dtype", argument.dtypeName}};
  if (!argument.isNumber) {
    auto list = [](ArrayRef<HostExtent> extents) {
      llvm::json::Array result;
      for (const HostExtent &extent : extents)
        result.push_back(extent.isSymbol() ? llvm::json::Value(extent.symbol) : llvm::json::Value(extent.number));
      return result;
    };
    entry["shape"] = list(argument.extents);
    if (!argument.strides.empty())
      entry["strides"] = list(argument.strides);
    entry["output"] = argument.output;
    entry["alignment"] = argument.alignment;
  }
  if (argument.isOptional)
    entry["optional"] = true;
  if (argument.isPointer)
    entry["pointer"] = true;
  if (argument.otherwise)
    entry["default"] = valueOf(*argument.otherwise);
  if (llvm::json::Object symbols = describeSymbols(argument); !symbols.empty())
    entry["symbols"] = std::move(symbols);
  return entry;
}

static llvm::json::Object describe(const HostProgram &program, const HostParameter &parameter) {
  if (!parameter.isGroup())
    return describe(program.arguments[parameter.argument]);
  llvm::json::Array elements;
  for (const HostParameter &element : parameter.elements)
    elements.push_back(describe(program, element));
  llvm::json::Object entry{
      {"name", parameter.name}, {"kind", parameter.isShape ? "shape" : "tuple"}, {"elements", std::move(elements)}};
  if (!parameter.fields.empty())
    entry["fields"] = llvm::json::Array(parameter.fields);
  return entry;
}

std::string HostProgram::metadata(TargetKind target) const {
  llvm::json::Array types, described;
  types.push_back(llvm::json::Object{{"type", "None"}});
  for (const HostParameter &parameter : parameters) {
    types.push_back(schemaOf(*this, parameter));
    described.push_back(describe(*this, parameter));
  }
  // tvm-ffi's schema is JSON in a string.
  std::string schema, result;
  llvm::raw_string_ostream(schema) << llvm::json::Value(
      llvm::json::Object{{"type", "ffi.Function"}, {"args", std::move(types)}});
  llvm::raw_string_ostream(result) << llvm::json::Value(llvm::json::Object{{"type_schema", schema},
                                                                           {"name", name()},
                                                                           {"signature", text()},
                                                                           {"target", nameOfTarget(target)},
                                                                           {"arguments", std::move(described)}});
  return result;
}

std::string HostProgram::documentation(TargetKind target, bool managed) const {
  bool isStrided = llvm::any_of(arguments, [](const HostArgument &argument) { return !argument.strides.empty(); });
  bool isUsual = llvm::all_of(arguments, [](const HostArgument &argument) {
    return argument.isNumber || argument.alignment == kArgumentAlignment;
  });
  std::string result =
      text() + (isStrided ? "\n\nArrays, row-major where they have no strides here, on " : "\n\nRow-major arrays on ") +
      (target == TargetKind::CUDA ? "one GPU" : "the cpu") + ", aligned to " + std::to_string(kArgumentAlignment) +
      " bytes" + (isUsual ? "" : " where nothing else is said") +
      (managed ? ", which are copied to a GPU and back" : "") + ". Writes ";
  llvm::ListSeparator separator;
  llvm::raw_string_ostream stream(result);
  bool any = false;
  for (const HostArgument &argument : arguments)
    if (argument.output) {
      stream << separator << argument.name;
      any = true;
    }
  stream << (any ? "." : "nothing.");
  return result;
}
