//===- Registration.cpp - the plug-in's entry points ----------------------===//
#include "passes/Registration.h"

#include "mlir/CAPI/IR.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "passes/gpu-to-sim/Pipeline.h"

using namespace mlir;

void tilewright::registerDialects(DialectRegistry &registry) {
  registry.insert<te::TEDialect, schedule::ScheduleDialect>();
}

extern "C" void tilewrightRegisterDialects(MlirDialectRegistry registry) { tilewright::registerDialects(*unwrap(registry)); }

extern "C" void tilewrightRegisterPasses() {
  tilewright::registerTilewrightTEToTEPasses();
  tilewright::registerTilewrightTEToLinalgPasses();
  tilewright::registerTilewrightLinalgToCPUPasses();
  tilewright::registerTilewrightNarrowTypesPasses();
  tilewright::registerTilewrightLinalgToLoopsPasses();
  tilewright::registerTilewrightLoopsToGPUPasses();
  tilewright::registerTilewrightKernelMathPasses();
  tilewright::registerTilewrightGPUToNVVMPasses();
  tilewright::registerTilewrightGPUToHostPasses();
  tilewright::registerTilewrightGPUToSimPasses();
  tilewright::registerTilewrightPipelines();
  tilewright::registerLinalgToCPUPipeline();
  tilewright::registerSimPipeline();
}
