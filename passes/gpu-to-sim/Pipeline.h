//===- Pipeline.h - from the gpu stage to what the simulator calls --------===//
#ifndef TILEWRIGHT_PASSES_GPU_TO_SIM_PIPELINE_H
#define TILEWRIGHT_PASSES_GPU_TO_SIM_PIPELINE_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace tilewright {

struct SimPipelineOptions : public mlir::PassPipelineOptions<SimPipelineOptions> {
  PassOptions::Option<bool> checks{*this, "checks", llvm::cl::desc("check every access to memory"),
                                   llvm::cl::init(false)};
  PassOptions::Option<bool> gpuIndices{
      *this, "gpu-indices", llvm::cl::desc("compute indices in as many bits as a GPU does"), llvm::cl::init(false)};
};

/// From the gpu stage to the LLVM dialect: a function a kernel, for the simulator's run time to call.
void buildGPUToSimPipeline(mlir::OpPassManager &pm, const SimPipelineOptions &options);

void registerSimPipeline();

} // namespace tilewright

#endif
