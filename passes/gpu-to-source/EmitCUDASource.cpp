//===- EmitCUDASource.cpp - kernels as readable CUDA C++ ------------------===//
#include "dialects/Program/Program.h"
#include "dialects/Target/Limits.h"
#include "passes/ArgumentLayouts.h"
#include "passes/gpu-to-nvvm/KernelABI.h"
#include "passes/gpu-to-source/CUDAPrelude.h"
#include "passes/gpu-to-source/KernelWriter.h"
#include "passes/gpu-to-source/Passes.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/narrow-types/IndexWidths.h"
#include "passes/tile-to-nvvm/TileKernel.h"

#include "dialects/Tile/Tile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tilewright {
#define GEN_PASS_DEF_EMITCUDASOURCE
#include "passes/gpu-to-source/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::source;

namespace {

/// Whether a kernel never writes to an argument, nor hands it to what might.
bool isConst(Value argument) { return llvm::all_of(argument.getUses(), tilewright::isOnlyRead); }

/// What the tensors of the launches' maps are called.
MapNames findMapNames(ModuleOp module) {
  MapNames names;
  module.walk([&](gpu::LaunchFuncOp launch) {
    SmallVector<std::string> &own = names[launch.getKernelName().getValue()];
    own.clear();
    for (Value operand : launch.getKernelOperands()) {
      own.emplace_back();
      auto encode = operand.getDefiningOp<tile::EncodeOp>();
      if (!encode)
        continue;
      StringAttr name;
      if (auto argument = dyn_cast<BlockArgument>(encode.getTensor())) {
        if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
          name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), te::kNameAttr);
      } else {
        name = encode.getTensor().getDefiningOp()->getAttrOfType<StringAttr>(te::kStageAttr);
      }
      own.back() = name ? name.str() : "";
    }
  });
  return names;
}

} // namespace

KernelWriter::KernelWriter(bool areIndicesShort, const Origins &origins, const MapNames &mapNames)
    : CWriter("CUDA C++"), origins(origins), mapNames(mapNames) {
  indexType = areIndicesShort ? "int" : "long long";
  // A tensor of such a name would hide what is called.
  for (StringRef helper : {"load",
                           "store",
                           "broadcast",
                           "slice",
                           "insert",
                           "copy_async",
                           "commit_copies",
                           "wait_for_copies",
                           "prefetch",
                           "wait_for_kernels_before",
                           "bit_cast",
                           "to_fp8",
                           "load_matrices",
                           "mma_m16n8k8",
                           "mma_m16n8k16",
                           "mma_m16n8k32",
                           "mma_m16n8k32_e4m3",
                           "mma_m16n8k32_e5m2",
                           "memcpy",
                           "maximum",
                           "minimum",
                           "floor_div",
                           "floor_mod",
                           "ceil_div",
                           "ceil_div_unsigned",
                           "absolute",
                           "count_ones",
                           "leading_zeros",
                           "trailing_zeros",
                           "integer_power",
                           "Vector",
                           "Chunk",
                           "shared_memory",
                           "lane",
                           "isnan",
                           "isinf",
                           "isfinite"})
    unique(helper);
  for (StringRef helper : tileHelpers())
    unique(helper);
  for (StringRef function : mathFunctions()) {
    unique(function);
    unique((function + "f").str());
  }
}

std::string KernelWriter::floatType(Type type) {
  std::string known = CWriter::floatType(type);
  if (!known.empty())
    return known;
  StringRef name, header;
  if (type.isF16())
    name = "__half", header = "cuda_fp16.h";
  else if (type.isBF16())
    name = "__nv_bfloat16", header = "cuda_bf16.h";
  else if (isa<Float8E4M3FNType>(type))
    name = "__nv_fp8_e4m3", header = "cuda_fp8.h";
  else if (isa<Float8E5M2Type>(type))
    name = "__nv_fp8_e5m2", header = "cuda_fp8.h";
  else
    return "";
  needs(header);
  return name.str();
}

std::string KernelWriter::convertFloat(Operation *op, Type from, Type to, const std::string &number) {
  bool isToF8 = isa<Float8E4M3FNType, Float8E5M2Type>(to), isFromF8 = isa<Float8E4M3FNType, Float8E5M2Type>(from);
  if (isToF8) {
    // The types' own constructors saturate; what is too large becomes NaN, or infinity where there is one.
    needs("to_fp8");
    std::string kind = isa<Float8E4M3FNType>(to) ? "__NV_E4M3" : "__NV_E5M2";
    return "to_fp8<" + floatType(to) + ", " + kind + ">(" + (from.isF64() ? number : "float(" + number + ")") + ")";
  }
  bool isToWide = to.isF32() || to.isF64(), isFromWide = from.isF32() || from.isF64();
  if (isFromF8 && !to.isF32())
    return convertFloat(op, Float32Type::get(op->getContext()), to, "float(" + number + ")");
  if (isa<FloatType>(from) && !isFromWide && !isToWide) // between f16 and bf16
    return floatType(to) + "(float(" + number + "))";
  if (from.isInteger() && !isToWide) {
    // From 32 bits and more there are two roundings otherwise.
    return from.getIntOrFloatBitWidth() > 16 ? floatType(to) + "(" + "double(" + number + "))"
                                             : floatType(to) + "(float(" + number + "))";
  }
  if (!isFromWide && isa<FloatType>(from) && to.isF64())
    return "double(float(" + number + "))";
  return floatType(to) + "(" + number + ")";
}

// ------------------------------------------------------------------ kernels

void KernelWriter::writeSignature(gpu::GPUFuncOp kernel) {
  auto text = [](ArrayRef<int32_t> numbers) {
    return std::to_string(numbers[0]) + " x " + std::to_string(numbers[1]) + " x " + std::to_string(numbers[2]);
  };
  auto block = kernel.getKnownBlockSize(), grid = kernel.getKnownGridSize();
  if (grid || block)
    line() << "// " << (grid ? text(*grid) + " blocks" : "blocks") << (block ? " of " + text(*block) + " threads" : "")
           << "\n";
  line() << "extern \"C\" __global__ void ";
  if (auto cluster = kernel.getKnownClusterSize())
    stream << "__cluster_dims__(" << (*cluster)[0] << ", " << (*cluster)[1] << ", " << (*cluster)[2] << ") ";
  if (block) {
    stream << "__launch_bounds__(" << int64_t((*block)[0]) * (*block)[1] * (*block)[2];
    if (auto minBlocks = kernel->getAttrOfType<IntegerAttr>(schedule::kMinBlocksAttr))
      stream << ", " << minBlocks.getInt();
    stream << ") ";
  } else {
    stream << "__launch_bounds__(" << kMaxBlockThreads << ") ";
  }
  stream << identifier(kernel.getName()) << "(";
  // From pointers that are alone nvcc loads through the read-only cache, which waits for no other kernel.
  // Nor is what other blocks wrote before they arrived theirs alone.
  std::string restrict = isDependent(kernel) || hasArrivals(kernel) ? "" : "__restrict__ ";
  SmallVector<std::string> parameters;
  for (auto [i, argument] : llvm::enumerate(kernel.getArguments())) {
    auto given = kernel.getArgAttrOfType<StringAttr>(i, te::kNameAttr);
    auto type = dyn_cast<MemRefType>(argument.getType());
    std::string wanted = given ? given.str() : type ? "buffer" : "n";
    if (isa<tile::TensorMapType>(argument.getType())) {
      needs("cuda.h");
      parameters.push_back("const __grid_constant__ CUtensorMap " + name(argument, nameOfTensor(argument) + "_map"));
      continue;
    }
    if (!type) {
      std::string declared = argument.getType().isIndex() ? "long long" : typeName(argument.getType());
      if (declared.empty())
        return fail(kernel, "expected arguments of types that CUDA C++ has");
      parameters.push_back(declared + " " + name(argument, wanted));
      continue;
    }
    std::string pointer = name(argument, wanted);
    std::string elementType = typeName(type.getElementType());
    if (elementType.empty() || type.getMemorySpace())
      return fail(kernel, "expected arguments of types that CUDA C++ has");
    std::string form = (isConst(argument) ? "const " : "") + elementType + " ";
    bool hasStrides = !type.getLayout().isIdentity() && hasArgumentLayout(type);
    bool areRowsStatic =
        !hasStrides && llvm::none_of(type.getShape().drop_front(type.getRank() ? 1 : 0), ShapedType::isDynamic);
    if (type.getRank() == 0) {
      form = (isConst(argument) ? "const " : "") + elementType + " &" + restrict + pointer;
    } else if (areRowsStatic && type.getRank() > 1) {
      form += "(*" + restrict + pointer + ")";
      for (int64_t extent : type.getShape().drop_front())
        form += "[" + std::to_string(extent) + "]";
    } else {
      form += "*" + restrict + pointer;
      flat.insert(argument);
    }
    parameters.push_back(form);
    SmallVector<std::string> &dims = extents[argument];
    for (unsigned dim = 0; dim < type.getRank(); ++dim) {
      dims.push_back("");
      if (type.isDynamicDim(dim)) {
        dims.back() = unique(pointer + "_extent" + std::to_string(dim));
        parameters.push_back("long long " + dims.back());
      }
    }
    for (auto [dim, stride] : llvm::enumerate(type.getStridesAndOffset().first)) {
      if (!hasStrides)
        break;
      strides[argument].push_back(std::to_string(stride));
      if (ShapedType::isDynamic(stride)) {
        strides[argument].back() = unique(pointer + "_stride" + std::to_string(dim));
        parameters.push_back("long long " + strides[argument].back());
      }
    }
  }
  for (auto [i, parameter] : llvm::enumerate(parameters))
    stream << (i ? "," : "") << "\n    " << parameter;
  stream << ") {\n";
}

void KernelWriter::write(gpu::GPUFuncOp kernel) {
  currentKernel = kernel;
  current = kernel;
  stream << "\n";
  hasTiles = hasTileOps(kernel);
  if (!kernel.isKernel() || kernel.getNumWorkgroupAttributions() || kernel.getNumPrivateAttributions() ||
      !llvm::hasSingleElement(kernel.getBody()))
    return fail(kernel, "expected a kernel of one block, whose memory is allocated in its body");
  size_t outer = enter();
  writeSignature(kernel);
  ++depth;
  if (isDependent(kernel)) {
    needs("wait_for_kernels_before");
    line() << "wait_for_kernels_before();\n";
  }
  writeBlock(kernel.getBody().front());
  close();
  leave(outer);
}

std::string KernelWriter::prelude() {
  std::string made = preludeOf(needed) + tilePreludeOf(needed);
  for (const auto &[name, function] : instructions)
    made += function;
  return made;
}

namespace tilewright {
namespace {

struct EmitCUDASource : impl::EmitCUDASourceBase<EmitCUDASource> {
  using EmitCUDASourceBase::EmitCUDASourceBase;

  void runOnOperation() override {
    Origins origins;
    getOperation().walk([&](gpu::LaunchFuncOp launch) {
      origins[launch.getKernelName().getValue()] = launch->getAttrOfType<DictionaryAttr>(kLaunchOriginAttr);
    });
    MapNames mapNames = findMapNames(getOperation());
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>()) {
      unsigned indexBits = getIndexBits(module);
      if (indexBits != 32 && indexBits != 64) {
        module.emitError("expected an index of 32 or 64 bits in the data layout, got ") << indexBits;
        return signalPassFailure();
      }
      KernelWriter writer(indexBits == 32, origins, mapNames);
      for (Operation &op : *module.getBody()) {
        if (auto kernel = dyn_cast<gpu::GPUFuncOp>(op))
          writer.write(kernel);
        else if (!isa<memref::GlobalOp>(op)) {
          op.emitError() << op.getName() << " has no form in CUDA C++";
          return signalPassFailure();
        }
      }
      if (writer.hasFailed())
        return signalPassFailure();
      module->setAttr(kCUDASourceAttr, StringAttr::get(&getContext(), writer.finish()));
      if (hasLines)
        module->setAttr(kCUDALinesAttr, writer.lineLocations(&getContext(), writer.prelude()));
    }
  }
};

} // namespace
} // namespace tilewright
