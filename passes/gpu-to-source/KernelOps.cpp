//===- KernelOps.cpp - the ops of kernels as CUDA C++ ---------------------===//
//
// Ops that kernels alone have, one statement each: places in the grid and in clusters, barriers and shuffles, buffers
// and copies, vectors. A kernel's signature and its types are in EmitCUDASource.cpp.
//
//===----------------------------------------------------------------------===//
#include "dialects/Target/ElementBytes.h"
#include "dialects/Target/Limits.h"
#include "passes/gpu-to-source/CText.h"
#include "passes/gpu-to-source/KernelWriter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::source {

// ------------------------------------------------------------------ places and threads

/// `const int tx = threadIdx.x;  // j.inner of stage C, mmult.py:14`.
void KernelWriter::writePlace(Operation *op, StringRef prefix, gpu::Dimension dimension, StringRef builtin,
                              StringRef what) {
  std::string axis = gpu::stringifyDimension(dimension).str();
  line() << "const " << indexType << " " << name(op->getResult(0), prefix.str() + axis) << " = " << builtin << "."
         << axis << ";";
  auto found = origins.find(currentKernel.getName());
  if (!what.empty() && found != origins.end() && found->second)
    if (auto origin = found->second.getAs<StringAttr>((what + "." + axis).str()))
      stream << "  // " << inComment(origin.getValue());
  stream << "\n";
}

bool KernelWriter::writeOwnOp(Operation *op) {
  if (isa<gpu::ReturnOp, memref::GetGlobalOp>(op))
    return true; // the only global is shared memory's
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
    return writePlace(op, "t", id.getDimension(), "threadIdx", "block"), true;
  if (auto id = dyn_cast<gpu::BlockIdOp>(op))
    return writePlace(op, "b", id.getDimension(), "blockIdx", "grid"), true;
  if (auto id = dyn_cast<gpu::BlockDimOp>(op))
    return writePlace(op, "threads_", id.getDimension(), "blockDim", ""), true;
  if (auto id = dyn_cast<gpu::GridDimOp>(op))
    return writePlace(op, "blocks_", id.getDimension(), "gridDim", ""), true;
  if (isa<gpu::BarrierOp>(op)) {
    line() << "__syncthreads();\n";
    return true;
  }
  if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op)) {
    llvm::APInt width;
    if (!shuffle.getValid().use_empty() || !matchPattern(shuffle.getWidth(), m_ConstantInt(&width)) ||
        !width.isPowerOf2() || width.ugt(kWarpSize))
      return fail(op, "expected a shuffle of 2, 4, 8, 16 or 32 lanes, whose values alone are used"), true;
    StringRef function;
    switch (shuffle.getMode()) {
    case gpu::ShuffleMode::XOR:
      function = "__shfl_xor_sync";
      break;
    case gpu::ShuffleMode::DOWN:
      function = "__shfl_down_sync";
      break;
    case gpu::ShuffleMode::UP:
      function = "__shfl_up_sync";
      break;
    case gpu::ShuffleMode::IDX:
      function = "__shfl_sync";
      break;
    }
    writeOrigin(op);
    Value result = shuffle.getShuffleResult();
    // A block of fewer lanes is the first part of a warp.
    unsigned lanes = width.getZExtValue();
    line() << "const " << typeName(result.getType()) << " " << name(result, "shuffled") << " = " << function << "(0x"
           << llvm::utohexstr(~0u >> (kWarpSize - lanes), /*LowerCase=*/true) << ", " << use(shuffle.getValue()) << ", "
           << use(shuffle.getOffset()) << (lanes < kWarpSize ? ", " + std::to_string(lanes) : "") << ");\n";
    return true;
  }
  return writeMemoryOp(op) || writeMatrixOp(op) || writeVectorOp(op) || writeTileOp(op);
}

/// The ops of NVVM that expand-tile-roles makes, and the places of blocks in clusters.
bool KernelWriter::writeInstruction(Operation *op) {
  auto place = [&](Operation *at, StringRef prefix, StringRef helper, gpu::Dimension dimension) {
    std::string axis = gpu::stringifyDimension(dimension).str(), function = (helper + "_" + axis).str();
    needs(function);
    line() << "const " << indexType << " " << name(at->getResult(0), (prefix + axis).str()) << " = " << function
           << "();\n";
    return true;
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](gpu::ClusterIdOp id) { return place(op, "cluster_", "cluster_id", id.getDimension()); })
      .Case(
          [&](gpu::ClusterBlockIdOp id) { return place(op, "in_cluster_", "block_id_in_cluster", id.getDimension()); })
      .Case([&](NVVM::PrefetchOp prefetch) {
        if (!prefetch.getTensormap())
          return false;
        return call("prefetch_tma_descriptor", "&" + use(prefetch.getAddr())), true;
      })
      .Case([&](NVVM::FenceMbarrierInitOp) { return call("fence_barrier_init"), true; })
      .Case([&](NVVM::ClusterArriveOp) { return call("cluster_arrive"), true; })
      .Case([&](NVVM::ClusterArriveRelaxedOp) { return call("cluster_arrive_relaxed"), true; })
      .Case([&](NVVM::ClusterWaitOp) { return call("cluster_wait"), true; })
      .Case([&](NVVM::ElectSyncOp elect) {
        needs("elect_one_sync");
        line() << "const bool " << name(elect.getResult(), "is_elected") << " = elect_one_sync();\n";
        return true;
      })
      .Case([&](NVVM::SetMaxRegisterOp set) {
        bool isMore = set.getAction() == NVVM::SetMaxRegisterAction::increase;
        return call(isMore ? "warpgroup_reg_alloc" : "warpgroup_reg_dealloc", "", Twine(set.getRegCount())), true;
      })
      .Default(false);
}

// ------------------------------------------------------------------ memory

bool KernelWriter::writeMemoryOp(Operation *op) {
  if (auto view = dyn_cast<memref::ViewOp>(op)) {
    llvm::APInt offset;
    if (!view.getSizes().empty() || !view.getSource().getDefiningOp<memref::GetGlobalOp>() ||
        !matchPattern(view.getByteShift(), m_ConstantInt(&offset)))
      return fail(op, "expected a view at a constant offset in shared memory"), true;
    needs("shared_memory");
    MemRefType type = view.getType();
    auto stage = op->getAttrOfType<StringAttr>(te::kStageAttr);
    std::string reference = name(view.getResult(), stage ? stage.getValue() : "shared");
    line() << declare(op, type, "(&" + reference + ")") << " = *reinterpret_cast<" << declare(op, type, "(*)")
           << ">(shared_memory + " << offset.getZExtValue() << ");\n";
    return true;
  }
  if (auto alloca = dyn_cast<memref::AllocaOp>(op)) {
    if (!alloca.getType().hasStaticShape())
      return fail(op, "expected a buffer of static shape"), true;
    auto stage = op->getAttrOfType<StringAttr>(te::kStageAttr);
    std::string wanted = stage ? stage.str() : "local";
    if (isTaken(wanted)) // by the argument that the buffer accumulates for
      wanted += ".local";
    std::string alignment = alloca.getAlignment() ? "alignas(" + std::to_string(*alloca.getAlignment()) + ") " : "";
    line() << alignment << declare(op, alloca.getType(), name(alloca.getResult(), wanted)) << ";\n";
    return true;
  }
  if (auto atomic = dyn_cast<memref::AtomicRMWOp>(op)) {
    auto kind = atomic.getKind();
    Type type = atomic.getValue().getType();
    if ((kind != arith::AtomicRMWKind::addf && kind != arith::AtomicRMWKind::addi) || !atomic.use_empty())
      return fail(op, "expected an atomic addition whose result is not used"), true;
    writeOrigin(op);
    std::string place = address(op, atomic.getMemref(), atomic.getIndices()), value = use(atomic.getValue());
    // CUDA adds integers of 64 bits without a sign.
    if (type.isInteger(64))
      line() << "atomicAdd(reinterpret_cast<unsigned long long *>(" << place << "), static_cast<unsigned long long>("
             << value << "));\n";
    else
      line() << "atomicAdd(" << place << ", " << value << ");\n";
    return true;
  }
  if (auto copy = dyn_cast<nvgpu::DeviceAsyncCopyOp>(op)) {
    writeOrigin(op);
    int64_t size = getElementBytes(cast<MemRefType>(copy.getDst().getType()).getElementType());
    int64_t bytes = copy.getDstElements().getSExtValue() * size;
    if ((bytes != 4 && bytes != 8 && bytes != 16) || !copy.getAsyncToken().use_empty())
      return fail(op, "expected an asynchronous copy of 4, 8 or 16 bytes without a use of its token"), true;
    needs("copy_async");
    line() << "copy_async<" << bytes << (copy.getBypassL1Attr() ? ", true" : "") << ">("
           << address(op, copy.getDst(), copy.getDstIndices()) << ", "
           << address(op, copy.getSrc(), copy.getSrcIndices());
    if (Value elements = copy.getSrcElements())
      stream << ", int("
             << (size > 1 ? infix(expression(elements), "*", {std::to_string(size)}) : expression(elements)).text
             << ")";
    stream << ");\n";
    return true;
  }
  if (isa<NVVM::CpAsyncCommitGroupOp>(op)) {
    needs("copy_async");
    line() << "commit_copies();\n";
    return true;
  }
  if (auto wait = dyn_cast<NVVM::CpAsyncWaitGroupOp>(op)) {
    needs("copy_async");
    line() << "wait_for_copies<" << wait.getN() << ">();  // but the latest " << wait.getN() << " groups\n";
    return true;
  }
  if (auto prefetch = dyn_cast<memref::PrefetchOp>(op)) {
    needs("prefetch");
    line() << "prefetch(" << address(op, prefetch.getMemref(), prefetch.getIndices()) << ");\n";
    return true;
  }
  return false;
}

// ------------------------------------------------------------------ vectors

/// `load<4>` of the natural alignment, `load<4, 8>` of another.
std::string KernelWriter::accessOf(StringRef function, VectorType type, std::optional<uint64_t> alignment) {
  needs("Vector");
  // Of what is not said, that of an element.
  uint64_t size = getElementBytes(type.getElementType()), natural = size * type.getNumElements();
  uint64_t known = alignment.value_or(size);
  std::string text = function.str() + "<" + std::to_string(type.getNumElements());
  if (known < natural) {
    needs("Chunk");
    return text + ", " + std::to_string(known) + ">";
  }
  needs(function);
  return text + ">";
}

bool KernelWriter::writeVectorOp(Operation *op) {
  if (auto store = dyn_cast<vector::StoreOp>(op)) {
    if (store.getVectorType().getRank() != 1)
      return false;
    writeOrigin(op);
    line() << accessOf("store", store.getVectorType(), store.getAlignment()) << "("
           << address(op, store.getBase(), store.getIndices()) << ", " << use(store.getValueToStore()) << ");\n";
    return true;
  }
  auto define = [&](Value value, const std::string &expression) {
    line() << "const " << typeName(value.getType()) << " " << name(value, "v") << " = " << expression << ";\n";
    return true;
  };
  if (!isa<vector::VectorDialect>(op->getDialect()) || op->getNumResults() != 1)
    return false;
  Value result = op->getResult(0);
  auto type = dyn_cast<VectorType>(result.getType());
  if (type && (type.getRank() != 1 || typeName(type.getElementType()).empty()))
    return false;
  if (auto load = dyn_cast<vector::LoadOp>(op)) {
    writeOrigin(op);
    return define(result, accessOf("load", type, load.getAlignment()) + "(" +
                              address(op, load.getBase(), load.getIndices()) + ")");
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op); broadcast && !isa<VectorType>(broadcast.getSourceType())) {
    needs("Vector"), needs("broadcast");
    std::string scalar = construct(typeName(type.getElementType()), expression(broadcast.getSource())).text;
    return define(result, "broadcast<" + std::to_string(type.getNumElements()) + ">(" + scalar + ")");
  }
  if (auto fromElements = dyn_cast<vector::FromElementsOp>(op)) {
    std::string text = "{{";
    for (auto [i, element] : llvm::enumerate(fromElements.getElements()))
      text += (i ? ", " : "") + use(element);
    line() << "const " << typeName(type) << " " << name(result, "v") << " = " << text << "}};\n";
    return true;
  }
  if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
    if (slice.getSourceVectorType().getRank() != 1)
      return false;
    needs("slice");
    return define(result, "slice<" + std::to_string(type.getNumElements()) + ">(" + use(slice.getSource()) + ", " +
                              std::to_string(cast<IntegerAttr>(slice.getOffsets()[0]).getInt()) + ")");
  }
  if (auto insert = dyn_cast<vector::InsertStridedSliceOp>(op)) {
    if (insert.getSourceVectorType().getRank() != 1 || insert.getDestVectorType().getRank() != 1)
      return false;
    needs("insert");
    return define(result, "insert(" + use(insert.getValueToStore()) + ", " + use(insert.getDest()) + ", " +
                              std::to_string(cast<IntegerAttr>(insert.getOffsets()[0]).getInt()) + ")");
  }
  return false;
}

static bool mayContract(Operation *op) {
  auto math = dyn_cast<arith::ArithFastMathInterface>(op);
  return math && arith::bitEnumContainsAll(math.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::contract);
}

/// The product that becomes one instruction with the sum or difference of it.
static arith::MulFOp productIn(Operation *sum, unsigned operand) {
  auto product = sum->getOperand(operand).getDefiningOp<arith::MulFOp>();
  return product && mayContract(product) ? product : nullptr;
}

/// Sums that are rounded by themselves: nvcc would make one instruction of a product and a sum.
std::optional<Expression> KernelWriter::roundedExpression(Operation *op) {
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op) || mayContract(op) ||
      !scalarOf(op->getResult(0).getType()).isF32())
    return std::nullopt;
  auto isProduct = [](Value value) { return value.getDefiningOp<arith::MulFOp>() != nullptr; };
  bool isProductInSum =
      isa<arith::MulFOp>(op)
          ? llvm::any_of(op->getUsers(),
                         [&](Operation *user) { return isa<arith::AddFOp, arith::SubFOp>(user) && mayContract(user); })
          : llvm::any_of(op->getOperands(), isProduct);
  if (!isProductInSum)
    return std::nullopt;
  StringRef function = isa<arith::AddFOp>(op) ? "__fadd_rn" : isa<arith::SubFOp>(op) ? "__fsub_rn" : "__fmul_rn";
  return Expression{(function + "(" + use(op->getOperand(0)) + ", " + use(op->getOperand(1)) + ")").str()};
}

/// Sums whose product nvcc would not choose as LLVM does: of two products it may round the other one, and a product by
/// a constant it rounds where it moves the multiplication into a selection.
std::optional<Expression> KernelWriter::fusedExpression(Operation *op) {
  Type type = op->getNumResults() == 1 ? op->getResult(0).getType() : Type();
  if (!isa<arith::AddFOp, arith::SubFOp>(op) || !mayContract(op) || !(type.isF32() || type.isF64()))
    return std::nullopt;
  arith::MulFOp left = productIn(op, 0), right = productIn(op, 1);
  bool areBoth = left && right;
  // LLVM rounds the one that others use, too.
  auto numUses = [](arith::MulFOp product) { return std::distance(product->use_begin(), product->use_end()); };
  bool isLeft = areBoth ? numUses(left) <= numUses(right) : bool(left);
  arith::MulFOp product = isLeft ? left : right;
  auto isConstant = [](Value value) { return matchPattern(value, m_Constant()); };
  if (!product || (!areBoth && !llvm::any_of(product->getOperands(), isConstant)))
    return std::nullopt;
  bool isDifference = isa<arith::SubFOp>(op);
  Expression factor = expression(product.getLhs()), other = expression(op->getOperand(isLeft ? 1 : 0));
  if (isDifference)
    (isLeft ? other : factor) = prefix("-", isLeft ? other : factor);
  return Expression{(type.isF32() ? "__fmaf_rn(" : "__fma_rn(") + factor.text + ", " + use(product.getRhs()) + ", " +
                    other.text + ")"};
}

std::optional<Expression> KernelWriter::tileExpression(Operation *op) {
  if (auto part = dyn_cast<tile::PartOp>(op))
    return partOf(part);
  if (auto extract = dyn_cast<tile::ExtractOp>(op))
    return Expression{use(extract.getFragment(), Binding::Primary) + "[" + std::to_string(extract.getNumber()) + "]"};
  if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op))
    if (cast.getInputs().size() == 1 && isa<tile::TensorMapType>(cast.getInputs()[0].getType()))
      return expression(cast.getInputs()[0]);
  auto power = dyn_cast<math::Exp2Op>(op);
  if (power && power.getType().isF32() && arith::bitEnumContainsAll(power.getFastmath(), arith::FastMathFlags::afn)) {
    needs("exp2_approximate");
    return Expression{"exp2_approximate(" + use(power.getOperand()) + ")"};
  }
  return std::nullopt;
}

std::optional<Expression> KernelWriter::ownExpression(Operation *op) {
  if (std::optional<Expression> rounded = roundedExpression(op))
    return rounded;
  if (std::optional<Expression> fused = fusedExpression(op))
    return fused;
  if (std::optional<Expression> made = tileExpression(op))
    return made;
  if (auto extract = dyn_cast<vector::ExtractOp>(op)) {
    auto source = dyn_cast<VectorType>(extract.getSource().getType());
    if (source && source.getRank() == 1 && !isa<VectorType>(extract.getType()) && extract.getNumIndices() == 1) {
      OpFoldResult position = extract.getMixedPosition()[0];
      auto constant = dyn_cast<Attribute>(position);
      std::string index = constant ? std::to_string(cast<IntegerAttr>(constant).getInt()) : use(cast<Value>(position));
      return Expression{use(extract.getSource(), Binding::Primary) + "[" + index + "]"};
    }
  }
  return std::nullopt;
}

} // namespace tilewright::source
