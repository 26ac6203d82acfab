//===- EmitHostSource.cpp - the host program as readable C++ --------------===//
#include "dialects/Program/Program.h"
#include "dialects/Target/ElementBytes.h"
#include "passes/gpu-to-source/CText.h"
#include "passes/gpu-to-source/HostPrelude.h"
#include "passes/gpu-to-source/HostWriter.h"
#include "passes/gpu-to-source/Passes.h"

namespace tilewright {
#define GEN_PASS_DEF_EMITHOSTSOURCE
#include "passes/gpu-to-source/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::source;

static std::string replaceAll(std::string text, StringRef from, StringRef to) {
  for (size_t at = 0; (at = text.find(from.data(), at, from.size())) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

void HostWriter::writeBuffers() {
  stream << "\n";
  if (isManaged)
    line() << "use_first_gpu_if_none();\n";
  for (auto &parameter : parameters) {
    if (!parameter.isArray)
      continue;
    std::string self = parameter.self, data = name(parameter.value, parameter.tensor + "_data");
    tensors[parameter.value] = parameter.tensor;
    parameter.data = data;
    if (!isManaged) {
      line() << "CUdeviceptr " << data << " = reinterpret_cast<CUdeviceptr>(" << self << ".data());\n";
      continue;
    }
    std::string memory = unique(parameter.tensor + "_memory");
    line() << "const Memory " << memory << "(" << self << ".bytes(), stream);\n";
    line() << "CUdeviceptr " << data << " = " << memory << ".address;\n";
    if (!parameter.isOutput)
      line() << "if (" << self << ".bytes()) check(cuMemcpyHtoDAsync(" << data << ", " << self << ".data(), size_t("
             << self << ".bytes()), stream), \"cuMemcpyHtoDAsync of " << parameter.tensor << "\");\n";
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
    if (llvm::none_of(launch.getKernelOperands(), [&](Value operand) {
          auto map = operand.getDefiningOp<tile::EncodeOp>();
          return (map ? map.getTensor() : operand) == view->getResult(0);
        }))
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
    line() << "const long long " << at << " = " << temporary.offset << ", " << bytes << " = " << temporary.bytes
           << ";  // alive " << inComment(lifetimeOf(temporary.view)) << "\n";
    ends += (ends.empty() ? "" : ", ") + at + " + " + bytes;
    temporary.offset = at;
  }
  auto known = function->getAttrOfType<IntegerAttr>(kWorkspaceBytesAttr);
  line() << "const Memory arena("
         << (known                     ? std::to_string(known.getInt())
             : temporaries.size() == 1 ? ends
                                       : "std::max({" + ends + "})")
         << ", stream);\n";
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
    temporary.offset = matchPattern(view.getByteShift(), m_ConstantInt(&number)) ? std::to_string(number.getZExtValue())
                                                                                 : use(view.getByteShift());
    int64_t fixed = getElementBytes(view.getType().getElementType());
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
  if (auto encode = dyn_cast<tile::EncodeOp>(op))
    return writeArena(), writeTensorMap(encode), true;
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
    return writeArena(), writeLaunch(launch), true;
  if (op->getNumRegions())
    writeArena(); // what is in there may launch
  return false;
}

std::string HostWriter::tensorName(Value buffer) {
  auto found = tensors.find(buffer);
  return found == tensors.end() ? use(buffer, Binding::Primary) : found->second;
}

void HostWriter::writeLaunch(gpu::LaunchFuncOp launch) {
  std::string kernel = launch.getKernelName().str();
  if (!llvm::is_contained(kernels, kernel))
    kernels.push_back(kernel);
  auto origins = launch->getAttrOfType<DictionaryAttr>(kLaunchOriginAttr);
  auto origin = [&](StringRef what) {
    auto found = origins ? origins.getAs<StringAttr>(what) : StringAttr();
    return found ? "  // " + inComment(what.str() + ": " + found.str()) : std::string();
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
    if (isa<tile::TensorMapType>(operand.getType())) {
      addresses.push_back("&" + use(operand, Binding::Primary));
      continue;
    }
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type) {
      if (typeName(operand.getType()).empty())
        return fail(launch, "expected arguments of kernels that C++ has types for");
      add(operand.getType(), "value", use(operand));
      continue;
    }
    addresses.push_back("&" + use(operand, Binding::Primary));
    // As the kernel calls them.
    std::string prefix = tensorName(operand) + "_extent";
    for (unsigned dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        add(Type(), prefix + std::to_string(dim), extent(launch, operand, dim));
  }
  line() << "void *parameters[] = {";
  for (auto [i, address] : llvm::enumerate(addresses))
    stream << (i ? ", " : "") << address;
  stream << (addresses.empty() ? "nullptr};\n" : "};\n");
  line() << "launch(" << numberOf(launch) << ", " << quoted(kernel)
         << ", grid, block, shared_bytes, stream, parameters);\n";
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
    text +=
        attribute + "id = " + id.str() + ";  // " + why.str() + "\n" + attribute + "value." + field.str() + " = 1;\n";
  };
  if (isDependent)
    add("CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION", "programmaticStreamSerializationAllowed",
        "its blocks come up while the kernel before it ends, and wait for it");
  if (isCooperative)
    add("CU_LAUNCH_ATTRIBUTE_COOPERATIVE", "cooperative", "all blocks run at once");
  return text +
         "  const CUlaunchConfig config = {grid[0], grid[1], grid[2], block[0], block[1], block[2], shared_bytes, "
         "stream, attributes, " +
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
      line() << "if (" << self << ".bytes()) check(cuMemcpyDtoHAsync(" << self << ".data(), " << parameter.data
             << ", size_t(" << self << ".bytes()), stream), \"cuMemcpyDtoHAsync of " << parameter.tensor << "\");\n";
  }
  line() << "check(cuStreamSynchronize(stream), \"cuStreamSynchronize\");\n";
}

std::string HostWriter::write() {
  if (!llvm::hasSingleElement(function.getBody())) {
    fail(function, "expected a host function of one block");
    return "";
  }
  // The names that the helpers have.
  for (StringRef name : {"arguments",    "function",
                         "stream",       "grid",
                         "block",        "shared_bytes",
                         "parameters",   "arena",
                         "launch",       "kernels",
                         "check",        "refuse",
                         "Tensor",       "Argument",
                         "Memory",       "Kernels",
                         "ceil_div",     "floor_div",
                         "floor_mod",    "use_first_gpu_if_none",
                         "Kind",         "Int",
                         "UInt",         "Float",
                         "BFloat",       "Bool",
                         "Float8E4M3FN", "Float8E5M2",
                         "Place",        "ThisMachine",
                         "GPU",          "ThisMachinePinned",
                         "GPUManaged",   "encode_tensor_map"})
    unique(name);
  unique(function.getName());
  current = function;
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
    names += (i ? ", " : "") + quoted(kernel);
  std::string cubin = identifier((function.getName() + "_cubin").str());
  prelude = replaceAll(hostPrelude, "@COUNT@", std::to_string(std::max<size_t>(kernels.size(), 1)));
  prelude = replaceAll(prelude, "@NAMES@", kernels.empty() ? "\"\"" : names);
  prelude = replaceAll(prelude, "@CUBIN@", cubin);
  prelude = replaceAll(prelude, "@LAUNCH@", launchCall());
  size_t at = prelude.find("/// An array, laid out");
  prelude.insert(at, "extern const unsigned char " + cubin +
                         "[];  // the kernels' machine code, at the end of this file\n\n");
  if (needed.count("encode_tensor_map"))
    prelude.insert(prelude.find("/// Memory of the GPU"), tensorMapPrelude);
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
      function->setAttr(kHostSourceAttr, StringAttr::get(&getContext(), text));
      if (hasLines)
        function->setAttr(kHostLinesAttr, writer.lineLocations(&getContext(), writer.prelude));
    }
  }
};

} // namespace
} // namespace tilewright
