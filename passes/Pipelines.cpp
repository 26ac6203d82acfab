//===- Pipelines.cpp - the way down, as named builders --------------------===//
#include "passes/Pipelines.h"

#include "dialects/Target/Architectures.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace tilewright;

void tilewright::buildTEToLinalgPipeline(OpPassManager &pm, const PipelineOptions &options) {
  // Of a schedule for a GPU the stages stay as they are, too.
  if (options.target == TargetKind::CPU)
    pm.addPass(createDropSchedules());
  pm.addPass(createRewriteScheduledDataflow());
  pm.addPass(createFillEmptyReductions());
  pm.addPass(createConvertTEToLinalg());
  pm.addPass(createVerifyStage({Stage::Linalg}));
  // What was inlined or cached alone leaves loops of which the schedule says nothing.
  if (options.target == TargetKind::CPU)
    pm.addPass(createDropSchedules());
}

void tilewright::buildLinalgToLoopsPipeline(OpPassManager &pm, const PipelineOptions &options) {
  bool isOnProcessor = options.target == TargetKind::CPU;
  if (isOnProcessor)
    pm.addPass(createDropSchedules());
  pm.addPass(createApplySchedule(ApplyScheduleOptions{/*onProcessor=*/isOnProcessor}));
  pm.addNestedPass<func::FuncOp>(createFoldKnownConditions());
  pm.addNestedPass<func::FuncOp>(createPartitionLoops());
  pm.addPass(createCSEPass());
  pm.addPass(createVerifyStage({Stage::Loops}));
}

void tilewright::buildLoopsToTilePipeline(OpPassManager &functions, const PipelineOptions &options) {
  functions.addPass(createRaiseToTileOps({options.arch}));
  functions.addPass(createRollReductions());
  functions.addPass(createSkipMaskedTiles());
  // The order of tiles.
  functions.addPass(createNarrowTiles());
  functions.addPass(createRasterTiles());
  functions.addPass(createShareIterations());
  functions.addPass(createPersistTiles());
  // Who does what, and what waits for what.
  functions.addPass(createAssignTileRoles());
  functions.addPass(createPipelineChains());
  functions.addPass(createSplitAccumulations());
  functions.addPass(createDeferStores());
  functions.addPass(createPlaceTileBarriers());
  functions.addPass(createGuardMasks());
  functions.addPass(createLoadWithinBounds());
  functions.addPass(createPackFragments());
  functions.addPass(createLaunchTileKernels());
}

/// Where threads exchange values by shared memory, a barrier can only stand between two `scf.if` that depend on thread
/// indices. Until barriers are there, upstream's pattern must not make one of two with the same condition. Its name is
/// that which the compiler of MLIR gives to its class.
static std::unique_ptr<Pass> createCanonicalizerBeforeBarriers() {
  GreedyRewriteConfig config; // what the pass has by default
  config.setUseTopDownTraversal().setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
  return createCanonicalizerPass(config, {"{anonymous}::CombineIfs", "(anonymous namespace)::CombineIfs"});
}

void tilewright::buildLoopsToGPUPipeline(OpPassManager &pm, const PipelineOptions &options) {
  // The loops may come from elsewhere, or have been edited.
  pm.addPass(createVerifyStage({Stage::Loops}));
  pm.addPass(createStoreBoolsAsBytes());
  buildLoopsToTilePipeline(pm.nest<func::FuncOp>(), options);
  pm.addNestedPass<func::FuncOp>(createMakeStoresAtomic());
  pm.addNestedPass<func::FuncOp>(createDistributePrivateBuffers());
  pm.addNestedPass<func::FuncOp>(createInjectVirtualThreads());
  pm.addPass(createMapLoopsToGPU());
  pm.addNestedPass<func::FuncOp>(createPipelineLoops());
  pm.addNestedPass<func::FuncOp>(createDistributeFragments({options.arch}));
  pm.addNestedPass<func::FuncOp>(createVectorizeScheduledLoops());
  pm.addNestedPass<func::FuncOp>(createConvertCopiesToAsync({options.arch}));
  pm.addPass(createCanonicalizerBeforeBarriers());
  pm.addPass(createCSEPass());
  pm.addPass(createOutlineKernels());
  pm.nest<gpu::GPUModuleOp>().addNestedPass<gpu::GPUFuncOp>(createLowerWarpBuffers());
  pm.nest<gpu::GPUModuleOp>().addNestedPass<gpu::GPUFuncOp>(createElectWriterThreads());
  pm.addPass(createCanonicalizerBeforeBarriers());
  pm.addPass(createCSEPass());
  // A builder cannot fail: what is no architecture is refused where the options are read, and by
  // convert-kernels-to-nvvm.
  const Architecture *architecture = findArchitecture(options.arch);
  pm.addPass(createPlanSharedMemory(architecture ? PlanSharedMemoryOptions{architecture->sharedLimit}
                                                 : PlanSharedMemoryOptions()));
  pm.addPass(
      createPlanTileMemory(architecture ? PlanTileMemoryOptions{architecture->sharedLimit} : PlanTileMemoryOptions()));
  pm.nest<gpu::GPUModuleOp>().addNestedPass<gpu::GPUFuncOp>(createInsertBarriers());
  pm.addNestedPass<func::FuncOp>(createPlanWorkspace());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createVerifyStage({Stage::GPU}));
}

void tilewright::buildLegalizeKernelsPipeline(OpPassManager &kernels) {
  kernels.addPass(createExpandMath());
  // Types of 8 bits are stored and converted; arithmetic on them is that of f32, rounded after every op.
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"f8E4M3FN", "f8E5M2"};
  kernels.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  kernels.addPass(createLegalizeNarrowFloats(LegalizeNarrowFloatsOptions{/*f64ThroughF32=*/true}));
}

void tilewright::buildGPUToNVVMPipeline(OpPassManager &pm, const PipelineOptions &options) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createChooseIndexWidths());
  buildLegalizeKernelsPipeline(kernels);
  kernels.addPass(createGuardIntegerOps());
  kernels.addPass(createCheckKernelOps());
  kernels.addNestedPass<gpu::GPUFuncOp>(createCheckTileKernels());
  kernels.addNestedPass<gpu::GPUFuncOp>(createExpandTileMaps());
  kernels.addNestedPass<gpu::GPUFuncOp>(createShareConversions());
  kernels.addNestedPass<gpu::GPUFuncOp>(createExpandTileRoles({options.arch}));
  kernels.addNestedPass<gpu::GPUFuncOp>(createAnnotateUnrolledLoops());
  kernels.addNestedPass<gpu::GPUFuncOp>(createSplitSharedAddresses());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createSCFToControlFlowPass());
  ConvertKernelsToNVVMOptions conversion;
  conversion.arch = options.arch;
  kernels.addPass(createConvertKernelsToNVVM(conversion));
  kernels.addPass(createReconcileUnrealizedCastsPass());
  // Of NVVM's ops those that LLVM has no intrinsics for become inline PTX.
  kernels.addPass(createConvertNVVMToLLVMPass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  pm.addPass(createVerifyStage({Stage::NVVM}));
}

void tilewright::buildGPUToHostPipeline(OpPassManager &pm, const PipelineOptions &options) {
  // The launches may stand in structured control flow, which cannot be left in the middle when one of them fails.
  OpPassManager &function = pm.nest<func::FuncOp>();
  function.addPass(createLowerAffinePass());
  function.addPass(createSCFToControlFlowPass());
  function.addPass(createGuardIntegerOps());
  function.addPass(arith::createArithExpandOpsPass());
  pm.addPass(createConvertGPUToHost());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  // Numbers are handed on; on a processor that has no bf16 LLVM would call a function to move one.
  pm.addPass(createCarryBF16AsI16());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void tilewright::buildTilewrightPipeline(OpPassManager &pm, const PipelineOptions &options) {
  auto passes = [&](Stage before, Stage after) { return options.from <= before && options.to >= after; };
  if (passes(Stage::TE, Stage::Linalg))
    buildTEToLinalgPipeline(pm, options);
  if (passes(Stage::Linalg, Stage::Loops))
    buildLinalgToLoopsPipeline(pm, options);
  if (options.target == TargetKind::CPU) {
    if (passes(Stage::Loops, Stage::Host))
      buildLoopsToCPUPipeline(pm, CPUPipelineOptions());
    return;
  }
  if (passes(Stage::Loops, Stage::GPU))
    buildLoopsToGPUPipeline(pm, options);
  // The lowering path forks here: the kernels go on to nvvm, the launches to host.
  if (options.from > Stage::GPU)
    return;
  if (options.to == Stage::NVVM)
    buildGPUToNVVMPipeline(pm, options);
  if (options.to == Stage::Host)
    buildGPUToHostPipeline(pm, options);
}

void tilewright::registerTilewrightPipelines() {
  // Not PassPipelineRegistration: its builder cannot fail, and wrong options must be refused.
  registerPassPipeline(
      "tilewright-pipeline", "The whole way down, from any stage to any later one",
      [](OpPassManager &pm, StringRef text, llvm::function_ref<LogicalResult(const Twine &)> error) -> LogicalResult {
        PipelineOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        if (!findArchitecture(options.arch))
          return error("expected an architecture from sm_75 to sm_120, got '" + options.arch + "'");
        if (options.from > options.to || (options.from == Stage::NVVM && options.to == Stage::Host))
          return error("expected 'to' to be a stage after 'from': te, linalg, loops, gpu, then nvvm or host");
        auto isOfGPU = [](Stage stage) { return stage > Stage::Loops && stage < Stage::Host; };
        if (options.target == TargetKind::CPU && (isOfGPU(options.from) || isOfGPU(options.to)))
          return error("expected a stage of target cpu: te, linalg, loops or host");
        buildTilewrightPipeline(pm, options);
        return success();
      },
      [](llvm::function_ref<void(const mlir::detail::PassOptions &)> visit) { visit(PipelineOptions()); });
  PassPipelineRegistration<>("loops-to-tile", "Loops with matmuls by warpgroups to launches of tile ops, on functions",
                             [](OpPassManager &pm) { buildLoopsToTilePipeline(pm, PipelineOptions()); });
}
