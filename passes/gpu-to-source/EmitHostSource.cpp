//===- EmitHostSource.cpp - the host program as readable C++ --------------===//
#include "passes/ArgumentAlignment.h"
#include "passes/LaunchAttributes.h"
#include "passes/gpu-to-source/CWriter.h"
#include "passes/gpu-to-source/HostPrelude.h"

namespace tilewright {
#define GEN_PASS_DECL_EMITHOSTSOURCE
#define GEN_PASS_DEF_EMITHOSTSOURCE
#include "passes/gpu-to-source/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::source;

namespace {

std::string replaceAll(std::string text, StringRef from, StringRef to) {
  for (size_t at = 0; (at = text.find(from.data(), at, from.size())) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// What the program calls the kind of a dtype, and its bits, by NumPy's name.
std::optional<std::pair<StringRef, int>> kindOf(StringRef dtype) {
  int bits;
  if (dtype == "bool")
    return std::pair("Bool", 8);
  if (dtype == "bfloat16")
    return std::pair("BFloat", 16);
  if (dtype == "float8_e4m3fn")
    return std::pair("Float8E4M3FN", 8);
  if (dtype == "float8_e5m2")
    return std::pair("Float8E5M2", 8);
  for (auto [prefix, kind] : {std::pair("int", "Int"), std::pair("uint", "UInt"), std::pair("float", "Float")})
    if (StringRef digits = dtype; digits.consume_front(prefix) && !digits.getAsInteger(10, bits))
      return std::pair(kind, bits);
  return std::nullopt;
}

std::string dtypeOf(Type element) {
  if (element.isInteger(1))
    return "bool";
  if (element.isInteger())
    return "int" + std::to_string(element.getIntOrFloatBitWidth());
  return element.isBF16() ? "bfloat16" : "float" + std::to_string(element.getIntOrFloatBitWidth());
}

class HostWriter : public CWriter {
public:
  HostWriter(func::FuncOp function, bool isManaged) : CWriter("C++"), function(function), isManaged(isManaged) {
    indexType = "long long";
  }
  std::string write();

protected:
  bool writeOwnOp(Operation *op) override;
  std::string functionName(StringRef name) override { return "std::" + name.str(); }

private:
  struct Parameter {
    std::string tensor, data, what;
    /// Its entry in `arguments`, of an array.
    std::string self;
    Value value;
    unsigned number;
    bool isOutput, isArray;
  };
  struct Temporary {
    std::string name, offset, bytes;
    Operation *view;
  };

  void writeHead();
  void writeChecks();
  void writeNumber(const Parameter &parameter, llvm::StringMap<std::string> &known);
  void writeBuffers();
  void writeArena();
  void writeLaunch(gpu::LaunchFuncOp launch);
  void writeCopiesBack();
  std::string launchCall();
  unsigned numberOf(gpu::LaunchFuncOp launch);
  std::string lifetimeOf(Operation *view);

  func::FuncOp function;
  bool isManaged;
  SmallVector<Parameter> parameters;
  SmallVector<Temporary> temporaries;
  SmallVector<std::string> kernels;
  Value workspace;
  bool hasArena = false;
};

} // namespace

/// The type in C++ of a number, or nothing: narrow floats have none.
static std::string typeOfNumber(StringRef dtype) {
  if (dtype == "bool")
    return "bool";
  if (dtype == "float32" || dtype == "float64")
    return dtype == "float32" ? "float" : "double";
  return dtype.contains("float") ? "" : dtype.str() + "_t";
}

void HostWriter::writeHead() {
  std::string signature;
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    auto given = function.getArgAttrOfType<StringAttr>(i, te::kNameAttr);
    if (function.getArgAttr(i, te::kStridesAttr))
      return fail(function, "expected row-major arguments, got " + (given ? given.getValue() : StringRef("one")) + ", which has strides");
    if (type ? !type.getLayout().isIdentity() || type.getMemorySpace() : !argument.getType().isIntOrFloat())
      return fail(function, "expected arguments that are numbers or row-major memrefs without memory space");
    if (type && !given && i + 1 == function.getNumArguments() && type.getRank() == 1 && type.isDynamicDim(0) &&
        type.getElementType().isInteger(8)) {
      workspace = argument;
      continue;
    }
    if (function.getArgAttr(i, "te.optional"))
      return fail(function, "expected arguments that every call gives, got " + (given ? given.getValue() : StringRef("one")) +
                                ", which is optional");
    if (int64_t alignment = getArgumentAlignment(function, i); alignment != kArgumentAlignment)
      return fail(function, "expected arguments aligned to " + std::to_string(kArgumentAlignment) + " bytes, got " +
                                (given ? given.getValue() : StringRef("one")) + ", aligned to " + std::to_string(alignment));
    Parameter parameter;
    parameter.value = argument;
    parameter.number = i;
    parameter.isArray = type != nullptr;
    parameter.tensor = unique(given ? given.getValue() : "array");
    parameter.isOutput = function.getArgAttr(i, te::kOutputAttr) != nullptr;
    auto dtype = function.getArgAttrOfType<StringAttr>(i, "te.dtype");
    auto symbols = function.getArgAttrOfType<ArrayAttr>(i, te::kSymbolsAttr);
    parameter.what = dtype ? dtype.str() : dtypeOf(type ? type.getElementType() : argument.getType());
    parameter.what += type ? "[" : "";
    for (unsigned dim = 0; type && dim < type.getRank(); ++dim) {
      std::string symbol = symbols ? cast<StringAttr>(symbols[dim]).str() : "";
      parameter.what += (dim ? ", " : "") + (!type.isDynamicDim(dim) ? std::to_string(type.getDimSize(dim)) : symbol.empty() ? "?" : symbol);
    }
    parameter.what += type ? "]" : "";
    signature += (signature.empty() ? "" : ", ") + parameter.tensor + ": " + parameter.what;
    parameters.push_back(parameter);
  }
  std::string name = identifier(function.getName());
  line() << "\n/// " << function.getName() << "(" << signature << "), on arrays in the memory of "
         << (isManaged ? "this machine, which wait for the results" : "a GPU; it does not wait for the kernels") << ".\n";
  stream << "void " << name << "(";
  for (auto &parameter : parameters) {
    if (parameter.isArray) {
      stream << "const Tensor &" << parameter.tensor << ", ";
      continue;
    }
    std::string type = typeOfNumber(parameter.what);
    if (type.empty())
      return fail(function, "expected numbers of types that C++ has on every machine, got " + parameter.what);
    bind(parameter.value, parameter.tensor);
    stream << type << " " << parameter.tensor << ", ";
  }
  stream << "CUstream stream = nullptr) {\n";
  ++depth;
  line() << "const char *const function = \"" << function.getName() << "(" << signature << ")\";\n";
  std::string list;
  unsigned count = 0;
  for (auto &parameter : parameters) {
    if (!parameter.isArray)
      continue;
    parameter.self = "arguments[" + std::to_string(count++) + "]";
    list += std::string(list.empty() ? "" : ", ") + "{function, " + std::to_string(parameter.number) + ", \"" + parameter.tensor +
            "\", " + parameter.tensor + "}";
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
  line() << "// " << parameter.tensor << ": " << parameter.what << "\n";
  line() << "const long long " << given << " = " << parameter.tensor << ";\n";
  auto expect = [&](const std::string &condition, const std::string &what) {
    line() << "if (!(" << condition << ")) refuse(function, " << parameter.number << ", \"" << parameter.tensor << "\", \"expected "
           << symbol << what << ", got \" + std::to_string(" << given << "));\n";
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
  if (auto least = bound("te.minimum"))
    expect(given + " >= " + std::to_string(*least), " to be at least " + std::to_string(*least));
  if (auto most = bound("te.maximum"))
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
    auto minima = function.getArgAttrOfType<DenseI64ArrayAttr>(number, "te.minimum");
    auto maxima = function.getArgAttrOfType<DenseI64ArrayAttr>(number, "te.maximum");
    std::string dtype = StringRef(parameter.what).split('[').first.str(), self = parameter.self;
    auto kind = kindOf(dtype);
    if (!kind)
      return fail(function, "expected arguments of dtypes that DLPack has");
    line() << "// " << parameter.tensor << ": " << parameter.what << (parameter.isOutput ? ", written" : "") << "\n";
    line() << self << ".expect(" << kind->first << ", " << kind->second << ", \"" << dtype << "\", /*dimensions=*/" << type.getRank()
           << ", " << (isManaged ? "ThisMachine" : "GPU") << ");\n";
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
        line() << self << ".expect_extent(" << dim << ", " << found->second << ", \"" << symbol << " = \" + std::to_string("
               << found->second << "));\n";
        extents[parameter.value].push_back(found->second);
        continue;
      }
      std::string variable = unique(symbol.empty() || !llvm::all_of(symbol, [](char c) { return llvm::isAlnum(c) || c == '_'; })
                                        ? parameter.tensor + "_extent" + place
                                        : symbol);
      line() << "const long long " << variable << " = " << given << ";\n";
      if (!symbol.empty())
        known[symbol] = variable;
      std::string shown = symbol.empty() ? variable : symbol;
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

void HostWriter::writeBuffers() {
  stream << "\n";
  if (isManaged)
    line() << "use_first_gpu_if_none();\n";
  for (auto &parameter : parameters) {
    if (!parameter.isArray)
      continue;
    std::string self = parameter.self, data = name(parameter.value, parameter.tensor + "_data");
    parameter.data = data;
    if (!isManaged) {
      line() << "CUdeviceptr " << data << " = reinterpret_cast<CUdeviceptr>(" << self << ".data());\n";
      continue;
    }
    std::string memory = unique(parameter.tensor + "_memory");
    line() << "const Memory " << memory << "(" << self << ".bytes(), stream);\n";
    line() << "CUdeviceptr " << data << " = " << memory << ".address;\n";
    if (!parameter.isOutput)
      line() << "if (" << self << ".bytes()) check(cuMemcpyHtoDAsync(" << data << ", " << self << ".data(), size_t(" << self
             << ".bytes()), stream), \"cuMemcpyHtoDAsync of " << parameter.tensor << "\");\n";
  }
}

unsigned HostWriter::numberOf(gpu::LaunchFuncOp launch) {
  std::string kernel = launch.getKernelName().str();
  auto found = llvm::find(kernels, kernel);
  return found - kernels.begin();
}

/// "from f_kernel0 to f_kernel2".
std::string HostWriter::lifetimeOf(Operation *view) {
  std::string first, last;
  function.walk([&](gpu::LaunchFuncOp launch) {
    if (!llvm::is_contained(launch.getKernelOperands(), view->getResult(0)))
      return;
    last = launch.getKernelName().str();
    if (first.empty())
      first = last;
  });
  if (first.empty())
    return "never used";
  return first == last ? "in " + first : "from " + first + " to " + last;
}

/// Before the first launch: the temporaries with their places and lives, and the memory for them all.
void HostWriter::writeArena() {
  if (hasArena)
    return;
  hasArena = true;
  if (temporaries.empty())
    return;
  line() << "// The temporaries share one arena: those that are not alive at the same time share memory.\n";
  std::string ends;
  for (Temporary &temporary : temporaries) {
    std::string at = unique(temporary.name + "_at"), bytes = unique(temporary.name + "_bytes");
    line() << "const long long " << at << " = " << temporary.offset << ", " << bytes << " = " << temporary.bytes << ";  // alive "
           << lifetimeOf(temporary.view) << "\n";
    ends += (ends.empty() ? "" : ", ") + at + " + " + bytes;
    temporary.offset = at;
  }
  auto known = function->getAttrOfType<IntegerAttr>(kWorkspaceBytesAttr);
  line() << "const Memory arena("
         << (known ? std::to_string(known.getInt()) : temporaries.size() == 1 ? ends : "std::max({" + ends + "})") << ", stream);\n";
  for (Temporary &temporary : temporaries)
    line() << "CUdeviceptr " << temporary.name << " = arena.address + " << temporary.offset << ";\n";
}

bool HostWriter::writeOwnOp(Operation *op) {
  if (isa<func::ReturnOp>(op)) {
    writeArena();
    return true;
  }
  if (auto view = dyn_cast<memref::ViewOp>(op)) {
    if (view.getSource() != workspace || !workspace)
      return fail(op, "expected a view of the workspace"), true;
    auto stage = op->getAttrOfType<StringAttr>(te::kStageAttr);
    Temporary temporary;
    temporary.view = op;
    temporary.name = name(view.getResult(), stage ? stage.getValue() : "temporary");
    llvm::APInt number;
    temporary.offset =
        matchPattern(view.getByteShift(), m_ConstantInt(&number)) ? std::to_string(number.getZExtValue()) : use(view.getByteShift());
    int64_t fixed = llvm::divideCeil(view.getType().getElementTypeBitWidth(), 8);
    std::string product;
    unsigned dynamic = 0;
    for (int64_t extent : view.getType().getShape()) {
      if (!ShapedType::isDynamic(extent)) {
        fixed *= extent;
        extents[view.getResult()].push_back(std::to_string(extent));
        continue;
      }
      std::string text = use(view.getSizes()[dynamic++], Binding::Unary);
      product += " * " + text;
      extents[view.getResult()].push_back(text);
    }
    temporary.bytes = std::to_string(fixed) + (product.empty() ? "" : "LL") + product;
    temporaries.push_back(std::move(temporary));
    return true;
  }
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
    return writeArena(), writeLaunch(launch), true;
  if (op->getNumRegions())
    writeArena(); // what is in there may launch
  return false;
}

void HostWriter::writeLaunch(gpu::LaunchFuncOp launch) {
  std::string kernel = launch.getKernelName().str();
  if (!llvm::is_contained(kernels, kernel))
    kernels.push_back(kernel);
  auto origins = launch->getAttrOfType<DictionaryAttr>(kLaunchOriginAttr);
  auto origin = [&](StringRef what) {
    auto found = origins ? origins.getAs<StringAttr>(what) : StringAttr();
    return found ? "  // " + what.str() + ": " + found.str() : std::string();
  };
  stream << "\n";
  line() << "{\n";
  ++depth;
  auto numbers = [&](StringRef name, gpu::KernelDim3 dims) {
    line() << "const unsigned " << name << "[3] = {\n";
    for (auto [axis, value] : {std::pair("x", dims.x), std::pair("y", dims.y), std::pair("z", dims.z)}) {
      llvm::APInt number;
      std::string text = matchPattern(value, m_ConstantInt(&number)) ? std::to_string(number.getSExtValue())
                                                                     : "unsigned(" + use(value) + ")";
      line() << "    " << text << "," << origin((name + "." + axis).str()) << "\n";
    }
    line() << "};\n";
  };
  numbers("grid", launch.getGridSizeOperandValues());
  numbers("block", launch.getBlockSizeOperandValues());
  std::string shared = launch.getDynamicSharedMemorySize() ? use(launch.getDynamicSharedMemorySize()) : "0";
  line() << "const unsigned shared_bytes = " << shared << ";" << origin("shared") << "\n";
  SmallVector<std::string> addresses;
  auto add = [&](Type type, const std::string &wanted, const std::string &value) {
    std::string variable = unique(wanted);
    line() << (type ? typeName(type) : "long long") << " " << variable << " = " << value << ";\n";
    addresses.push_back("&" + variable);
  };
  size_t outer = enter();
  for (Value operand : launch.getKernelOperands()) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type) {
      if (typeName(operand.getType()).empty())
        return fail(launch, "expected arguments of kernels that C++ has types for");
      add(operand.getType(), "value", use(operand));
      continue;
    }
    addresses.push_back("&" + use(operand, Binding::Primary));
    // As the kernel calls them.
    StringRef buffer = addresses.back();
    buffer.consume_front("&");
    buffer.consume_back("_data");
    std::string prefix = buffer.str() + "_extent";
    for (unsigned dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        add(Type(), prefix + std::to_string(dim), extent(launch, operand, dim));
  }
  line() << "void *parameters[] = {";
  for (auto [i, address] : llvm::enumerate(addresses))
    stream << (i ? ", " : "") << address;
  stream << (addresses.empty() ? "nullptr};\n" : "};\n");
  line() << "launch(" << numberOf(launch) << ", \"" << kernel << "\", grid, block, shared_bytes, stream, parameters);\n";
  leave(outer);
  close();
}

/// The driver's call that launches a kernel, as the schedule wants it.
std::string HostWriter::launchCall() {
  auto wanted = function->getAttrOfType<DictionaryAttr>(kLaunchAttr);
  bool isDependent = wanted && wanted.contains(kDependent), isCooperative = wanted && wanted.contains(kCooperative);
  if (!isDependent && !isCooperative)
    return R"(  check(cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared_bytes, stream, parameters, nullptr),
        std::string("cuLaunchKernel of ") + name);
)";
  std::string text = "  CUlaunchAttribute attributes[2] = {};\n";
  int count = 0;
  auto add = [&](StringRef id, StringRef field, StringRef why) {
    std::string attribute = "  attributes[" + std::to_string(count++) + "].";
    text += attribute + "id = " + id.str() + ";  // " + why.str() + "\n" + attribute + "value." + field.str() + " = 1;\n";
  };
  if (isDependent)
    add("CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION", "programmaticStreamSerializationAllowed",
        "its blocks come up while the kernel before it ends, and wait for it");
  if (isCooperative)
    add("CU_LAUNCH_ATTRIBUTE_COOPERATIVE", "cooperative", "all blocks run at once");
  return text + "  const CUlaunchConfig config = {grid[0], grid[1], grid[2], block[0], block[1], block[2], shared_bytes, stream, attributes, " +
         std::to_string(count) + R"(};
  check(cuLaunchKernelEx(&config, function, parameters, nullptr), std::string("cuLaunchKernelEx of ") + name);
)";
}

void HostWriter::writeCopiesBack() {
  if (!isManaged)
    return;
  stream << "\n";
  for (auto &parameter : parameters) {
    const std::string &self = parameter.self;
    if (parameter.isOutput)
      line() << "if (" << self << ".bytes()) check(cuMemcpyDtoHAsync(" << self << ".data(), " << parameter.data << ", size_t(" << self
             << ".bytes()), stream), \"cuMemcpyDtoHAsync of " << parameter.tensor << "\");\n";
  }
  line() << "check(cuStreamSynchronize(stream), \"cuStreamSynchronize\");\n";
}

std::string HostWriter::write() {
  if (!llvm::hasSingleElement(function.getBody())) {
    fail(function, "expected a host function of one block");
    return "";
  }
  // The names that the helpers have.
  for (StringRef name : {"arguments", "function", "stream", "grid", "block", "shared_bytes", "parameters", "arena", "launch", "kernels",
                         "check", "refuse", "Tensor", "Argument", "Memory", "Kernels", "ceil_div", "floor_div", "floor_mod", "use_first_gpu_if_none", "Kind", "Int", "UInt", "Float", "BFloat",
                         "Bool", "Float8E4M3FN", "Float8E5M2", "Place", "ThisMachine", "GPU", "ThisMachinePinned", "GPUManaged"})
    unique(name);
  unique(function.getName());
  writeHead();
  if (!hasFailed())
    writeChecks();
  if (hasFailed())
    return "";
  writeBuffers();
  writeBlock(function.getBody().front());
  writeCopiesBack();
  close();
  std::string names;
  for (auto [i, kernel] : llvm::enumerate(kernels))
    names += (i ? ", \"" : "\"") + kernel + "\"";
  std::string cubin = identifier((function.getName() + "_cubin").str());
  std::string prelude = replaceAll(hostPrelude, "@COUNT@", std::to_string(std::max<size_t>(kernels.size(), 1)));
  prelude = replaceAll(prelude, "@NAMES@", kernels.empty() ? "\"\"" : names);
  prelude = replaceAll(prelude, "@CUBIN@", cubin);
  prelude = replaceAll(prelude, "@LAUNCH@", launchCall());
  size_t at = prelude.find("/// An array, laid out");
  prelude.insert(at, "extern const unsigned char " + cubin + "[];  // the kernels' machine code, at the end of this file\n\n");
  return prelude + text;
}

namespace tilewright {
namespace {

struct EmitHostSource : impl::EmitHostSourceBase<EmitHostSource> {
  using EmitHostSourceBase::EmitHostSourceBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isPrivate() || function.isDeclaration())
        continue;
      HostWriter writer(function, isManaged);
      std::string text = writer.write();
      if (writer.hasFailed())
        return signalPassFailure();
      function->setAttr("tilewright.cpp", StringAttr::get(&getContext(), text));
    }
  }
};

} // namespace
} // namespace tilewright
