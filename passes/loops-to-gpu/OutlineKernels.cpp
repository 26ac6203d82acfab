//===- OutlineKernels.cpp - launches become kernels of one module ---------===//
#include "dialects/Program/Program.h"
#include "passes/ArgumentAlignment.h"
#include "passes/PassSupport.h"

#include "mlir/Dialect/GPU/Utils/GPUUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "passes/loops-to-gpu/Passes.h.inc"

namespace {
struct OutlineKernels : impl::OutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (failed(outline(function, symbols)))
        return signalPassFailure();
  }

  LogicalResult outline(func::FuncOp function, SymbolTable &symbols);
};
} // namespace

/// Cheap enough to compute in every thread rather than to pass, where their operands are in the kernel anyway.
static bool isCheap(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() || isa<affine::AffineApplyOp, memref::DimOp>(op);
}

/// The arguments of the function that the kernel uses come first, in the function's order; the rest as used.
static SmallVector<Value> getFunctionArguments(gpu::LaunchOp launch, func::FuncOp function) {
  SmallVector<Value> used;
  for (BlockArgument argument : function.getArguments())
    if (llvm::any_of(argument.getUsers(), [&](Operation *user) { return launch->isProperAncestor(user); }))
      used.push_back(argument);
  return used;
}

/// `name` in PTX's characters: the bytes of others become `$` and two hexadecimal digits. A name that Python takes has
/// no `$`, so two names stay two.
static std::string kernelSymbol(StringRef name) {
  std::string symbol;
  for (char c : name) {
    symbol += llvm::isASCII(c) ? std::string(1, c) : "$" + llvm::utohexstr(static_cast<unsigned char>(c), true);
  }
  return symbol;
}

LogicalResult OutlineKernels::outline(func::FuncOp function, SymbolTable &symbols) {
  SmallVector<gpu::LaunchOp> launches;
  function.walk([&](gpu::LaunchOp launch) { launches.push_back(launch); });
  // A program of tensors without elements has no kernel, and is a program all the same.
  bool isProgram = llvm::any_of(llvm::seq<unsigned>(0, function.getNumArguments()),
                                [&](unsigned i) { return function.getArgAttr(i, te::kOutputAttr); });
  if (launches.empty() && !isProgram)
    return success();

  OpBuilder builder(function);
  std::string moduleName = (function.getSymName() + "_kernels").str();
  if (Operation *taken = symbols.lookup(moduleName)) {
    InFlightDiagnostic diagnostic = function.emitError() << "expected the name @" << moduleName
                                                         << " to be free for the kernels of @" << function.getSymName();
    diagnostic.attachNote(taken->getLoc()) << "it is used here";
    return diagnostic;
  }
  auto kernels = gpu::GPUModuleOp::create(builder, function.getLoc(), moduleName);
  symbols.insert(kernels, Block::iterator(function));
  getOperation()->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), builder.getUnitAttr());

  for (auto [number, launch] : llvm::enumerate(launches)) {
    if (failed(sinkOperationsIntoLaunchOp(launch, isCheap)))
      return failure();
    SmallVector<Value> operands = getFunctionArguments(launch, function);
    std::string name = (kernelSymbol(function.getSymName()) + "_kernel" + Twine(number)).str();
    gpu::GPUFuncOp kernel = outlineKernelFunc(launch, name, operands);
    kernels.getBody()->push_back(kernel);
    if (Attribute minBlocks = launch->getAttr(schedule::kMinBlocksAttr))
      kernel->setAttr(schedule::kMinBlocksAttr, minBlocks);
    if (auto attributes = function->getAttrOfType<DictionaryAttr>(kLaunchAttr)) {
      kernel->setAttr(kLaunchAttr, attributes);
      if (auto cluster = attributes.getAs<DenseI32ArrayAttr>(kCluster))
        kernel.setKnownClusterSizeAttr(cluster);
    }
    if (Attribute isExtern = launch->getAttr(te::kExternAttr))
      kernel->setAttr(te::kExternAttr, isExtern);
    // Names of tensors go along, for the messages of later stages, and how far their memory is aligned.
    for (auto [i, operand] : llvm::enumerate(operands))
      if (auto argument = dyn_cast<BlockArgument>(operand);
          argument && argument.getOwner() == &function.getBody().front())
        for (StringRef name : {StringRef(te::kNameAttr), StringRef(te::kAlignAttr)})
          if (Attribute known = function.getArgAttr(argument.getArgNumber(), name))
            kernel.setArgAttr(i, name, known);

    builder.setInsertionPoint(launch);
    std::optional<gpu::KernelDim3> cluster;
    if (launch.hasClusterSize())
      cluster = launch.getClusterSizeOperandValues();
    auto call =
        gpu::LaunchFuncOp::create(builder, launch.getLoc(), kernel, launch.getGridSizeOperandValues(),
                                  launch.getBlockSizeOperandValues(), launch.getDynamicSharedMemorySize(), operands,
                                  /*asyncTokenType=*/Type(), /*asyncDependencies=*/ValueRange(), cluster);
    if (cluster) {
      SmallVector<int32_t> sizes;
      for (Value size : {cluster->x, cluster->y, cluster->z})
        sizes.push_back(*getConstantIntValue(size));
      kernel.setKnownClusterSizeAttr(builder.getDenseI32ArrayAttr(sizes));
    }
    if (Attribute origin = launch->getAttr(kLaunchOriginAttr))
      call->setAttr(kLaunchOriginAttr, origin);
    if (Attribute isNonEmpty = launch->getAttr(kNonEmptyAttr))
      call->setAttr(kNonEmptyAttr, isNonEmpty);
    launch.erase();
  }
  return success();
}
} // namespace tilewright
