//===- LinalgToCPUPipeline.cpp - linalg on tensors to LLVM for the CPU ----===//
#include "passes/Passes.h"
#include "passes/Pipelines.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace tilewright;

/// Results are written in place into the arguments; temporaries become allocations.
static void addBufferization(OpPassManager &pm) {
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
}

/// Arithmetic on types that the processor only stores is done in f32, rounded after every op.
static void addFloatLegalization(OpPassManager &pm) {
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  for (StringRef type : {"f16", "bf16", "f8E4M3FN", "f8E5M2"})
    emulate.sourceTypeStrs.push_back(type.str());
  pm.addPass(math::createMathExtendToSupportedTypes());
  pm.addPass(createExpandMath(ExpandMathOptions{/*onProcessor=*/true}));
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  pm.addPass(createLegalizeNarrowFloats(LegalizeNarrowFloatsOptions{/*f64ThroughF32=*/true}));
  // A truncation that an extension follows rounds all the same.
  pm.addPass(createKeepNarrowRounding());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  // Before a division that rounds down becomes one that rounds towards zero and more.
  pm.addPass(createGuardIntegerOps());
  pm.addPass(arith::createArithExpandOpsPass(expand));
}

static void addCPULoweringToLLVM(OpPassManager &pm) {
  // The rows of a scan are parts of buffers.
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createKeepOuterLoops());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createAttachLoopAnnotations());
  pm.addPass(createCarryBF16AsI16());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void tilewright::buildLinalgToCPUPipeline(OpPassManager &pm, const CPUPipelineOptions &options) {
  PipelineOptions loops;
  loops.target = TargetKind::CPU;
  buildLinalgToLoopsPipeline(pm, loops);
  buildLoopsToCPUPipeline(pm, options);
}

void tilewright::buildLoopsToCPUPipeline(OpPassManager &pm, const CPUPipelineOptions &options) {
  int64_t vectorBits = options.vectorBits;
  if (vectorBits == 0)
    vectorBits = llvm::sys::getHostCPUFeatures().lookup("avx512f") ? 512 : 256;
  pm.addNestedPass<func::FuncOp>(createLegalizeScheduledLoops());
  pm.addPass(createLegalizeExterns());
  pm.addPass(createCSEPass());
  // Not before: the rows of two states, both empty at first, would become one.
  pm.addPass(createSerializeScans());
  addBufferization(pm);
  pm.addPass(createApplyArgumentStrides());
  pm.addPass(createStoreBoolsAsBytes());
  pm.addPass(createVectorizeLinalgLoops(VectorizeLinalgLoopsOptions{vectorBits}));
  pm.addNestedPass<func::FuncOp>(createVectorizeScheduledLoops(VectorizeScheduledLoopsOptions{/*onProcessor=*/true}));
  pm.addPass(createEraseAddressSpaces());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createOutlineLoopNests());
  pm.addNestedPass<func::FuncOp>(createPlaceLoopBuffers());
  pm.addNestedPass<func::FuncOp>(createUnrollScheduledLoops());
  addFloatLegalization(pm);
  pm.addPass(createWrapInHostABI());
  addCPULoweringToLLVM(pm);
}

void tilewright::registerLinalgToCPUPipeline() {
  PassPipelineRegistration<CPUPipelineOptions>(
      "linalg-to-cpu", "From linalg on tensors, with a schedule or not, to loops in the LLVM dialect",
      buildLinalgToCPUPipeline);
}
