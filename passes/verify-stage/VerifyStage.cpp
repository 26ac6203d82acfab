//===- VerifyStage.cpp - what may stand together at a stage ---------------===//
#include "passes/Pipelines.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/verify-stage/Passes.h"

#include "dialects/Schedule/BoundIndices.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_VERIFYSTAGE
#include "passes/verify-stage/Passes.h.inc"

namespace {
/// An attribute that a pass takes away, with the pass and the first stage that the attribute may not be at.
struct Leftover {
  StringLiteral attribute, pass;
  Stage from;
};
} // namespace

static constexpr Leftover kLeftovers[] = {
    {te::kAxesAttr, "apply-schedule", Stage::Loops},
    {te::kCombineAttr, "apply-schedule", Stage::Loops},
    {schedule::kPartitionAttr, "partition-loops", Stage::Loops},
    {schedule::kBoundAttr, "map-loops-to-gpu", Stage::GPU},
    {schedule::kBindAttr, "map-loops-to-gpu", Stage::GPU},
    {schedule::kParallelAttr, "map-loops-to-gpu", Stage::GPU},
    {schedule::kPipelineAttr, "pipeline-loops", Stage::GPU},
    {schedule::kPipelinedAttr, "pipeline-loops", Stage::GPU},
    {schedule::kAsyncAttr, "convert-copies-to-async", Stage::GPU},
    {schedule::kInstructionAttr, "distribute-fragments", Stage::GPU},
    {schedule::kWarpAttr, "lower-warp-buffers", Stage::GPU},
    {schedule::kVectorizeAttr, "vectorize-scheduled-loops", Stage::GPU},
    {schedule::kCopyAttr, "raise-to-tile-ops", Stage::GPU},
    {schedule::kReduceAddAttr, "make-stores-atomic", Stage::GPU},
    {schedule::kSpecializeAttr, "raise-to-tile-ops", Stage::GPU},
    {schedule::kPersistentAttr, "raise-to-tile-ops", Stage::GPU},
    {schedule::kClusterAttr, "raise-to-tile-ops", Stage::GPU},
    {schedule::kRollingAttr, "roll-reductions", Stage::GPU},
};

static StringRef getStageName(Stage stage) {
  static constexpr StringLiteral names[] = {"te", "linalg", "loops", "gpu", "nvvm", "host"};
  return names[unsigned(stage)];
}

namespace {
struct VerifyStage : impl::VerifyStageBase<VerifyStage> {
  using Base::Base;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    WalkResult walked = getOperation()->walk<WalkOrder::PreOrder>(
        [&](Operation *op) { return WalkResult(success(succeeded(verifyLeftovers(op)) && succeeded(verifyOp(op)))); });
    if (walked.wasInterrupted())
      signalPassFailure();
  }

private:
  InFlightDiagnostic refuse(Operation *op) {
    return op->emitError() << "stage " << getStageName(stage) << ": expected ";
  }

  LogicalResult verifyLeftovers(Operation *op) {
    for (const Leftover &leftover : kLeftovers)
      if (stage >= leftover.from && op->hasAttr(leftover.attribute) && !isOnTensors(op))
        return refuse(op) << "no '" << leftover.attribute << "', got it on '" << op->getName() << "': run "
                          << leftover.pass << " before";
    return success();
  }

  LogicalResult verifyOp(Operation *op) {
    // Upstream lets such an op be, for it is undefined only where it runs.
    if (auto dim = dyn_cast<ShapedDimOpInterface>(op)) {
      auto type = dyn_cast<ShapedType>(dim.getShapedValue().getType());
      std::optional<int64_t> dimension = getConstantIntValue(dim.getDimension());
      if (type && type.hasRank() && dimension && (*dimension < 0 || *dimension >= type.getRank()))
        return refuse(op) << "one of the " << type.getRank() << " dimensions of " << type << ", got dimension "
                          << *dimension;
    }
    if (stage == Stage::TE && isa<linalg::LinalgOp>(op))
      return refuse(op) << "tensor expressions, got '" << op->getName() << "'";
    if (stage >= Stage::Linalg && isa<te::ComputeOp>(op))
      return refuse(op) << "no tensor expressions, got '" << op->getName() << "': run convert-te-to-linalg before";
    if (stage >= Stage::Loops && isa<schedule::OfOp>(op))
      return refuse(op) << "no schedule, got one: run apply-schedule before";
    if (auto function = dyn_cast<func::FuncOp>(op); function && stage == Stage::Loops)
      return verifyBound(function);
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && stage == Stage::Loops && loop->hasAttr(schedule::kBindAttr))
      if (getConstantIntValue(loop.getLowerBound()) != 0 || getConstantIntValue(loop.getStep()) != 1)
        return refuse(op) << "a bound loop to run from 0 by 1, got another";
    if (stage == Stage::GPU && isa<gpu::LaunchOp>(op))
      return refuse(op) << "kernels in modules of their own, got '" << op->getName() << "': run outline-kernels before";
    if (auto kernel = dyn_cast<gpu::GPUFuncOp>(op); kernel && stage == Stage::GPU)
      return verifyLocalMemory(kernel);
    if (stage == Stage::GPU)
      return verifyBuffers(op);
    if (stage == Stage::NVVM && op->getParentOfType<gpu::GPUModuleOp>() &&
        !isa_and_present<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
      return refuse(op) << "ops of the dialects llvm and nvvm in a module of kernels, got '" << op->getName() << "'";
    return success();
  }

  /// For target cpu a function without a schedule is one of linalg on tensors until it is bufferized.
  static bool isOnTensors(Operation *op) {
    auto isTensor = llvm::IsaPred<TensorType>;
    return llvm::any_of(op->getResultTypes(), isTensor) ||
           (op->getParentOp() && llvm::any_of(op->getParentOp()->getResultTypes(), isTensor));
  }

  /// Loops that were simplified too early took what they are bound to with them.
  LogicalResult verifyBound(func::FuncOp function) {
    auto said = function->getAttrOfType<ArrayAttr>(schedule::kBoundAttr);
    if (!said)
      return success();
    SmallVector<schedule::ThreadTag> bound = schedule::getBoundIndices(function);
    for (auto thread : said.getAsRange<schedule::ThreadTagAttr>())
      if (!llvm::is_contained(bound, thread.getValue()))
        return refuse(function) << "a loop bound to " << schedule::stringifyThreadTag(thread.getValue()) << ", as '"
                                << schedule::kBoundAttr
                                << "' says, got none: loops may not be simplified before map-loops-to-gpu";
    return success();
  }

  /// A launch would fail. What of it may come to be in registers is too little to count.
  LogicalResult verifyLocalMemory(gpu::GPUFuncOp kernel) {
    uint64_t total = 0;
    std::string list;
    kernel.walk([&](memref::AllocaOp alloca) {
      MemRefType type = alloca.getType();
      if (!type.hasStaticShape())
        return;
      uint64_t bytes =
          llvm::SaturatingMultiply<uint64_t>(type.getNumElements(), getElementBytes(type.getElementType()));
      total = llvm::SaturatingAdd(total, bytes);
      list += (list.empty() ? "" : ", ") + getBufferName(alloca) + " (" + std::to_string(bytes) + " bytes)";
    });
    if (total <= kThreadLocalBytes)
      return success();
    return kernel.emitError() << "expected at most " << kThreadLocalBytes << " bytes of local memory a thread, got "
                              << total << ": " << list;
  }

  /// Loads of several bools would become vectors of bits.
  LogicalResult verifyBuffers(Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto memref = dyn_cast<MemRefType>(type); memref && memref.getElementType().isInteger(1))
        return refuse(op) << "bools as bytes, got a buffer of type " << type << ": run store-bools-as-bytes before";
    return success();
  }
};
} // namespace
} // namespace tilewright
