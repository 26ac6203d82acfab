//===- HostProgram.cpp - a program of the host stage, as its checks see it ===//
#include "passes/host-to-ffi/HostProgram.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tilewright;

/// DLPack's code and bits for a name of NumPy's.
static std::optional<std::pair<int32_t, int32_t>> dlpackType(StringRef name) {
  static constexpr std::pair<StringLiteral, int32_t> families[] = {
      {"uint", 1}, {"int", 0}, {"float", 2}, {"bfloat", 4}, {"complex", 5}};
  static constexpr std::pair<StringLiteral, int32_t> narrow[] = {
      {"float8_e3m4", 7},    {"float8_e4m3", 8},      {"float8_e4m3b11fnuz", 9}, {"float8_e4m3fn", 10}, {"float8_e4m3fnuz", 11},
      {"float8_e5m2", 12}, {"float8_e5m2fnuz", 13}, {"float8_e8m0fnu", 14}};
  if (name == "bool")
    return std::pair(6, 8);
  for (auto [known, code] : narrow)
    if (name == known)
      return std::pair(code, 8);
  for (auto [family, code] : families) {
    StringRef rest = name;
    int32_t bits = 0;
    if (rest.consume_front(family) && !rest.getAsInteger(10, bits) && bits >= 8 && bits % 8 == 0 && bits <= 128)
      return std::pair(code, bits);
  }
  return std::nullopt;
}

/// NumPy's name for an element type that came without one.
static std::string nameOfElement(Type type) {
  if (type.isInteger(1))
    return "bool";
  if (type.isIndex())
    return "int64";
  if (type.isInteger())
    return "int" + std::to_string(type.getIntOrFloatBitWidth());
  if (isa<BFloat16Type>(type))
    return "bfloat16";
  if (isa<Float8E4M3FNType>(type))
    return "float8_e4m3fn";
  if (isa<Float8E5M2Type>(type))
    return "float8_e5m2";
  return "float" + std::to_string(type.getIntOrFloatBitWidth());
}

static FailureOr<HostArgument> readArgument(LLVM::LLVMFuncOp function, unsigned position, Attribute attribute) {
  auto fail = [&](const Twine &expected) {
    return function.emitOpError("expected ") << expected << " in entry " << position << " of tilewright.arguments";
  };
  auto entry = dyn_cast<DictionaryAttr>(attribute);
  auto typeAttr = entry ? entry.getAs<TypeAttr>("type") : nullptr;
  auto type = typeAttr ? dyn_cast<ShapedType>(typeAttr.getValue()) : nullptr;
  HostArgument argument;
  argument.isNumber = typeAttr && typeAttr.getValue().isIntOrFloat();
  if (!argument.isNumber && (!type || !type.hasRank()))
    return fail("a ranked 'type' or that of a number");
  auto name = entry.getAs<StringAttr>(te::kNameAttr), dtype = entry.getAs<StringAttr>(te::kDtypeAttr);
  argument.name = name ? name.str() : "arg" + std::to_string(position);
  argument.dtypeName = dtype ? dtype.str() : nameOfElement(type ? type.getElementType() : typeAttr.getValue());
  auto code = dlpackType(argument.dtypeName);
  if (!code)
    return fail("a dtype that DLPack has, got '" + argument.dtypeName + "',");
  argument.dtype = code->first | code->second << 8 | 1 << 16;
  argument.output = entry.contains(te::kOutputAttr);
  argument.isOptional = entry.contains("te.optional");
  auto symbols = entry.getAs<ArrayAttr>(te::kSymbolsAttr);
  auto units = entry.getAs<DenseI64ArrayAttr>(te::kDivisibleByAttr), minima = entry.getAs<DenseI64ArrayAttr>("te.minimum"),
       maxima = entry.getAs<DenseI64ArrayAttr>("te.maximum");
  auto readSymbol = [&](int64_t dim) {
    HostExtent extent;
    auto symbol = symbols && dim < int64_t(symbols.size()) ? dyn_cast<StringAttr>(symbols[dim]) : nullptr;
    extent.symbol = symbol && !symbol.empty() ? symbol.str()
                                              : "arg" + std::to_string(position) + "_" + std::to_string(dim);
    if (units && dim < units.size())
      extent.divisibleBy = std::max<int64_t>(units[dim], 1);
    if (minima && dim < minima.size())
      extent.minimum = minima[dim];
    if (maxima && dim < maxima.size())
      extent.maximum = maxima[dim];
    return extent;
  };
  if (argument.isNumber) {
    if (symbols) {
      argument.extents.push_back(readSymbol(0));
      if (!minima)
        argument.extents[0].minimum = INT64_MIN;
    }
    return argument;
  }
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    HostExtent extent;
    extent.number = type.getDimSize(dim);
    argument.extents.push_back(type.isDynamicDim(dim) ? readSymbol(dim) : extent);
  }
  return argument;
}

std::string HostArgument::text() const {
  if (isNumber)
    return name + ": " + dtypeName;
  std::string result = name + ": " + dtypeName + "[";
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    result += dim ? ", " : "";
    result += extent.isSymbol() ? extent.symbol : std::to_string(extent.number);
  }
  return result + (isOptional ? "] or None" : "]");
}

FailureOr<HostProgram> HostProgram::of(LLVM::LLVMFuncOp function) {
  auto entries = function->getAttrOfType<ArrayAttr>("tilewright.arguments");
  if (!entries)
    return function.emitOpError("expected tilewright.arguments to be an array");
  HostProgram program{function, {}, 0};
  for (auto [position, entry] : llvm::enumerate(entries)) {
    // Whether an optional argument is given is not given by itself.
    if (auto attributes = dyn_cast<DictionaryAttr>(entry); attributes && attributes.contains("te.given")) {
      ++program.numOptional;
      continue;
    }
    FailureOr<HostArgument> argument = readArgument(function, position, entry);
    if (failed(argument))
      return failure();
    program.arguments.push_back(std::move(*argument));
  }
  int64_t wanted = llvm::count_if(program.arguments, [](const HostArgument &argument) { return argument.isOptional; });
  if (wanted != program.numOptional)
    return function.emitOpError("expected an argument with te.given for each of ")
           << wanted << " with te.optional, got " << program.numOptional;
  return program;
}

std::string HostProgram::text() const {
  std::string result = name().str() + "(";
  for (auto [position, argument] : llvm::enumerate(arguments))
    result += (position ? ", " : "") + argument.text();
  return result + ")";
}

static StringRef nameOfTarget(TargetKind target) {
  return target == TargetKind::CUDA ? "cuda" : target == TargetKind::CPU ? "cpu" : "sim";
}

std::string HostProgram::metadata(TargetKind target) const {
  llvm::json::Array types, described;
  types.push_back(llvm::json::Object{{"type", "None"}});
  for (const HostArgument &argument : arguments) {
    llvm::json::Object type{{"type", !argument.isNumber    ? "DLTensor*"
                                     : argument.isFloat() ? "float"
                                     : argument.isBool()  ? "bool"
                                                          : "int"}};
    if (argument.isOptional)
      type = llvm::json::Object{{"type", "Optional"}, {"args", llvm::json::Array{std::move(type)}}};
    types.push_back(std::move(type));
    llvm::json::Array shape;
    llvm::json::Object symbols;
    for (const HostExtent &extent : argument.extents) {
      if (!extent.isSymbol()) {
        shape.push_back(extent.number);
        continue;
      }
      shape.push_back(extent.symbol);
      bool isBounded = extent.maximum != INT64_MAX, isNegative = extent.minimum < 0;
      if (extent.divisibleBy == 1 && extent.minimum <= 0 && !isBounded)
        continue;
      llvm::json::Object known{{"divisible_by", extent.divisibleBy}};
      if (!isNegative)
        known["minimum"] = extent.minimum;
      if (isBounded)
        known["maximum"] = extent.maximum;
      symbols[extent.symbol] = std::move(known);
    }
    llvm::json::Object entry{{"name", argument.name}, {"dtype", argument.dtypeName}};
    if (!argument.isNumber) {
      entry["shape"] = std::move(shape);
      entry["output"] = argument.output;
      entry["alignment"] = kHostAlignment;
      if (argument.isOptional)
        entry["optional"] = true;
    }
    if (!symbols.empty())
      entry["symbols"] = std::move(symbols);
    described.push_back(std::move(entry));
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
  std::string result = text() + "\n\nRow-major arrays on " + (target == TargetKind::CUDA ? "one GPU" : "the cpu") +
                       ", aligned to " + std::to_string(kHostAlignment) + " bytes" +
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
