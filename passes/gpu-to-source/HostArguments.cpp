//===- HostArguments.cpp - what a printed host program takes --------------===//
//
// The function's head, and the checks of each argument against what the program was compiled for. What the program then
// does with them, memory and launches, is in EmitHostSource.cpp.
//
//===----------------------------------------------------------------------===//
#include "dialects/TE/Dtype.h"
#include "passes/ArgumentAlignment.h"
#include "passes/gpu-to-source/CText.h"
#include "passes/gpu-to-source/HostWriter.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tilewright::source {
namespace {

/// What the program calls the kind of a dtype; nothing where it has none.
StringRef kindOf(const te::Dtype &dtype) {
  return llvm::StringSwitch<StringRef>(dtype.name)
      .Case("bool", "Bool")
      .Case("bfloat16", "BFloat")
      .Case("float8_e4m3fn", "Float8E4M3FN")
      .Case("float8_e5m2", "Float8E5M2")
      .Cases({"float16", "float32", "float64"}, "Float")
      .Default(dtype.code == 0   ? "Int"
               : dtype.code == 1 ? "UInt"
                                 : "");
}

/// The type in C++ of a number, or nothing: narrow floats have none.
std::string typeOfNumber(const te::Dtype &dtype) {
  if (dtype.isBool())
    return "bool";
  if (dtype.isInteger())
    return dtype.name + "_t";
  return dtype.name == "float32" ? "float" : dtype.name == "float64" ? "double" : "";
}

} // namespace

void HostWriter::writeHead() {
  std::string signature;
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    auto given = function.getArgAttrOfType<StringAttr>(i, te::kNameAttr);
    if (function.getArgAttr(i, te::kStridesAttr))
      return fail(function, "expected row-major arguments, got " + (given ? given.getValue() : StringRef("one")) +
                                ", which has strides");
    if (type ? !type.getLayout().isIdentity() || type.getMemorySpace() || !type.getElementType().isIntOrFloat()
             : !argument.getType().isIntOrFloat())
      return fail(function, "expected arguments that are numbers or row-major memrefs without memory space");
    if (type && !given && i + 1 == function.getNumArguments() && type.getRank() == 1 && type.isDynamicDim(0) &&
        type.getElementType().isInteger(8)) {
      workspace = argument;
      continue;
    }
    if (function.getArgAttr(i, te::kOptionalAttr))
      return fail(function, "expected arguments that every call gives, got " +
                                (given ? given.getValue() : StringRef("one")) + ", which is optional");
    if (int64_t alignment = getArgumentAlignment(function, i); alignment != kArgumentAlignment)
      return fail(function, "expected arguments aligned to " + std::to_string(kArgumentAlignment) + " bytes, got " +
                                (given ? given.getValue() : StringRef("one")) + ", aligned to " +
                                std::to_string(alignment));
    Parameter parameter;
    parameter.value = argument;
    parameter.number = i;
    parameter.isArray = type != nullptr;
    parameter.tensor = unique(given ? given.getValue() : "array");
    parameter.isOutput = function.getArgAttr(i, te::kOutputAttr) != nullptr;
    auto dtype = function.getArgAttrOfType<TypeAttr>(i, te::kDtypeAttr);
    auto symbols = function.getArgAttrOfType<ArrayAttr>(i, te::kSymbolsAttr);
    auto known = te::getDtype(dtype ? dtype.getValue() : getElementTypeOrSelf(argument.getType()));
    if (!known)
      return fail(function, "expected arguments of dtypes that DLPack has");
    parameter.dtype = *known;
    parameter.what = known->name + (type ? "[" : "");
    for (unsigned dim = 0; type && dim < type.getRank(); ++dim) {
      std::string symbol = symbols ? cast<StringAttr>(symbols[dim]).str() : "";
      parameter.what += (dim ? ", " : "") + (!type.isDynamicDim(dim) ? std::to_string(type.getDimSize(dim))
                                             : symbol.empty()        ? "?"
                                                                     : symbol);
    }
    parameter.what += type ? "]" : "";
    signature += (signature.empty() ? "" : ", ") + parameter.tensor + ": " + parameter.what;
    parameters.push_back(parameter);
  }
  std::string name = identifier(function.getName());
  line() << "\n/// " << inComment(function.getName().str() + "(" + signature) << "), on arrays in the memory of "
         << (isManaged ? "this machine, which wait for the results" : "a GPU; it does not wait for the kernels")
         << ".\n";
  stream << "void " << name << "(";
  for (auto &parameter : parameters) {
    if (parameter.isArray) {
      stream << "const Tensor &" << parameter.tensor << ", ";
      continue;
    }
    std::string type = typeOfNumber(parameter.dtype);
    if (type.empty())
      return fail(function, "expected numbers of types that C++ has on every machine, got " + parameter.what);
    bind(parameter.value, parameter.tensor);
    stream << type << " " << parameter.tensor << ", ";
  }
  stream << "CUstream stream = nullptr) {\n";
  ++depth;
  line() << "const char *const function = " << quoted(function.getName().str() + "(" + signature + ")") << ";\n";
  std::string list;
  unsigned count = 0;
  for (auto &parameter : parameters) {
    if (!parameter.isArray)
      continue;
    parameter.self = "arguments[" + std::to_string(count++) + "]";
    list += std::string(list.empty() ? "" : ", ") + "{function, " + std::to_string(parameter.number) + ", \"" +
            parameter.tensor + "\", " + parameter.tensor + "}";
  }
  if (count)
    line() << "const Argument arguments[] = {" << list << "};\n";
}

/// A number that stands for a symbol: what is known of that, and its first place among the arguments.
void HostWriter::writeNumber(const Parameter &parameter, llvm::StringMap<std::string> &known) {
  auto symbols = function.getArgAttrOfType<ArrayAttr>(parameter.number, te::kSymbolsAttr);
  if (!symbols)
    return;
  std::string symbol = cast<StringAttr>(symbols[0]).str(), given = unique(parameter.tensor + "_value");
  line() << "// " << inComment(parameter.tensor + ": " + parameter.what) << "\n";
  line() << "const long long " << given << " = " << parameter.tensor << ";\n";
  auto expect = [&](const std::string &condition, const std::string &what) {
    line() << "if (!(" << condition << ")) refuse(function, " << parameter.number << ", \"" << parameter.tensor
           << "\", \"expected " << escaped(symbol) << what << ", got \" + std::to_string(" << given << "));\n";
  };
  auto [first, isFirst] = known.try_emplace(symbol, given);
  if (!isFirst)
    expect(given + " == " + first->second, " = \" + std::to_string(" + first->second + ") + \"");
  auto bound = [&](StringRef attribute) {
    auto found = function.getArgAttrOfType<DenseI64ArrayAttr>(parameter.number, attribute);
    return found ? std::optional(found[0]) : std::nullopt;
  };
  if (auto unit = bound(te::kDivisibleByAttr); unit && *unit > 1)
    expect(given + " % " + std::to_string(*unit) + " == 0", " to be divisible by " + std::to_string(*unit));
  if (auto least = bound(te::kMinimumAttr))
    expect(given + " >= " + std::to_string(*least), " to be at least " + std::to_string(*least));
  if (auto most = bound(te::kMaximumAttr))
    expect(given + " <= " + std::to_string(*most), " to be at most " + std::to_string(*most));
}

void HostWriter::writeChecks() {
  llvm::StringMap<std::string> known; // the symbols, and the variables that have their values
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    unsigned number = parameter.number;
    if (!parameter.isArray) {
      writeNumber(parameter, known);
      continue;
    }
    auto type = cast<MemRefType>(parameter.value.getType());
    auto symbols = function.getArgAttrOfType<ArrayAttr>(number, te::kSymbolsAttr);
    auto units = function.getArgAttrOfType<DenseI64ArrayAttr>(number, te::kDivisibleByAttr);
    auto minima = function.getArgAttrOfType<DenseI64ArrayAttr>(number, te::kMinimumAttr);
    auto maxima = function.getArgAttrOfType<DenseI64ArrayAttr>(number, te::kMaximumAttr);
    std::string self = parameter.self;
    StringRef kind = kindOf(parameter.dtype);
    if (kind.empty())
      return fail(function, "expected arguments of dtypes that a C++ program takes, got " + parameter.dtype.name);
    line() << "// " << inComment(parameter.tensor + ": " + parameter.what + (parameter.isOutput ? ", written" : ""))
           << "\n";
    line() << self << ".expect(" << kind << ", " << parameter.dtype.bits << ", \"" << parameter.dtype.name
           << "\", /*dimensions=*/" << type.getRank() << ", " << (isManaged ? "ThisMachine" : "GPU") << ");\n";
    for (unsigned dim = 0; dim < type.getRank(); ++dim) {
      std::string symbol = symbols ? cast<StringAttr>(symbols[dim]).str() : "";
      std::string place = std::to_string(dim);
      if (!type.isDynamicDim(dim)) {
        std::string extent = std::to_string(type.getDimSize(dim));
        line() << self << ".expect_extent(" << dim << ", " << extent << ", \"" << extent << "\");\n";
        extents[parameter.value].push_back(extent);
        continue;
      }
      std::string given = parameter.tensor + ".shape[" + place + "]";
      if (auto found = known.find(symbol); !symbol.empty() && found != known.end()) {
        line() << self << ".expect_extent(" << dim << ", " << found->second << ", \"" << escaped(symbol)
               << " = \" + std::to_string(" << found->second << "));\n";
        extents[parameter.value].push_back(found->second);
        continue;
      }
      std::string variable =
          unique(symbol.empty() || !llvm::all_of(symbol, [](char c) { return llvm::isAlnum(c) || c == '_'; })
                     ? parameter.tensor + "_extent" + place
                     : symbol);
      line() << "const long long " << variable << " = " << given << ";\n";
      if (!symbol.empty())
        known[symbol] = variable;
      std::string shown = escaped(symbol.empty() ? variable : symbol);
      if (units && units[dim] > 1)
        line() << self << ".expect_multiple(" << dim << ", " << units[dim] << ", \"" << shown << "\");\n";
      if (minima && minima[dim] > 0)
        line() << self << ".expect_at_least(" << dim << ", " << minima[dim] << ", \"" << shown << "\");\n";
      if (maxima && maxima[dim] != INT64_MAX)
        line() << self << ".expect_at_most(" << dim << ", " << maxima[dim] << ", \"" << shown << "\");\n";
      extents[parameter.value].push_back(variable);
    }
    for (unsigned other = 0; other < i; ++other)
      if (parameters[other].isArray && (parameter.isOutput || parameters[other].isOutput))
        line() << self << ".expect_apart(" << parameters[other].self << ");\n";
  }
}

} // namespace tilewright::source
