//===- Pipeline.cpp - from the gpu stage to what the simulator calls ------===//
#include "passes/gpu-to-sim/Pipeline.h"

#include "passes/Passes.h"
#include "passes/Pipelines.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tilewright;

/// From memrefs, loops and vectors to the LLVM dialect.
static void addLoweringToLLVM(OpPassManager &pm) {
  pm.addPass(createLowerAffinePass());
  // Narrow floats are computed in f32, which rounds once an operation, as a GPU does.
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16"};
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  pm.addPass(createKeepNarrowRounding());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertTileToSim());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCarryBF16AsI16());
}

void tilewright::buildGPUToSimPipeline(OpPassManager &pm, const SimPipelineOptions &options) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  if (options.gpuIndices)
    kernels.addPass(createChooseIndexWidths());
  kernels.addPass(createSynchronizeCopies());
  buildLegalizeKernelsPipeline(kernels);
  kernels.addNestedPass<gpu::GPUFuncOp>(createCheckTileKernels());
  kernels.addNestedPass<gpu::GPUFuncOp>(createExpandTileMaps());
  kernels.addNestedPass<gpu::GPUFuncOp>(createExpandTileRoles());
  if (options.gpuIndices) {
    kernels.addPass(createLowerAffinePass());
    kernels.addPass(createCutIndices());
  }
  // Transfers become plain loads and stores, which can be checked.
  pm.addPass(createConvertVectorToSCFPass());
  pm.addPass(createConvertGPUToSim());
  if (options.checks)
    pm.addPass(createInsertSimChecks());
  pm.addPass(createGuardIntegerOps());
  pm.addPass(createHoistLocalArrays());
  pm.addPass(createEraseAddressSpaces());
  addLoweringToLLVM(pm);
}

void tilewright::registerSimPipeline() {
  PassPipelineRegistration<SimPipelineOptions>("gpu-to-sim", "From the gpu stage to functions that the simulator runs",
                                               buildGPUToSimPipeline);
}
