//===- Pipelines.h - the way down, as named builders ----------------------===//
//
// The pipeline is te -> linalg -> loops -> gpu -> nvvm, with host made from gpu. Each edge is one builder function;
// `--tilewright-pipeline="from=STAGE to=STAGE arch=sm_90a target=cuda"` chains them, and Python's driver uses the same
// strings, so that what Python does can be done again with the opt tool.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_PASSES_PIPELINES_H
#define TILEWRIGHT_PASSES_PIPELINES_H

#include "mlir/Pass/PassOptions.h"

#include "dialects/Target/Architectures.h"

#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace tilewright {

/// The stages that the pipeline starts and stops at, in order; docs/stages.md says what each guarantees. The schedule
/// is not among them: it stands beside `te` and `linalg`.
enum class Stage { TE, Linalg, Loops, GPU, NVVM, Host };

enum class TargetKind { CUDA, CPU, Sim };

struct PipelineOptions : public mlir::PassPipelineOptions<PipelineOptions> {
  PassOptions::Option<Stage> from{*this, "from", llvm::cl::desc("the stage that the input is at"),
                                  llvm::cl::init(Stage::TE), getStageValues()};
  PassOptions::Option<Stage> to{*this, "to", llvm::cl::desc("the stage to stop at"), llvm::cl::init(Stage::NVVM),
                                getStageValues()};
  PassOptions::Option<TargetKind> target{
      *this, "target", llvm::cl::desc("what the program is compiled for"), llvm::cl::init(TargetKind::CUDA),
      llvm::cl::values(clEnumValN(TargetKind::CUDA, "cuda", "an NVIDIA GPU"),
                       clEnumValN(TargetKind::CPU, "cpu", "this machine's processor"),
                       clEnumValN(TargetKind::Sim, "sim", "the GPU simulator"))};
  PassOptions::Option<std::string> arch{*this, "arch", llvm::cl::desc("the GPU architecture, sm_75 to sm_120"),
                                        llvm::cl::init(kDefaultArchitecture.str())};

private:
  static llvm::cl::ValuesClass getStageValues() {
    return llvm::cl::values(clEnumValN(Stage::TE, "te", "tensor expressions and their schedule"),
                            clEnumValN(Stage::Linalg, "linalg", "linalg on tensors, the schedule beside it"),
                            clEnumValN(Stage::Loops, "loops", "scheduled loops on memrefs"),
                            clEnumValN(Stage::GPU, "gpu", "kernels and their launches"),
                            clEnumValN(Stage::NVVM, "nvvm", "kernels in the LLVM and NVVM dialects"),
                            clEnumValN(Stage::Host, "host", "the host function in the LLVM dialect"));
  }
};

/// One builder an edge, in pipeline order.
void buildTEToLinalgPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);
void buildLinalgToLoopsPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);
/// Passes on functions, each of which leaves alone what is no kernel of tiles.
void buildLoopsToTilePipeline(mlir::OpPassManager &functions, const PipelineOptions &options);
void buildLoopsToGPUPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);
void buildGPUToNVVMPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);
void buildGPUToHostPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);

/// What the paths from the gpu stage to a GPU and to the simulator have in common, on a `gpu.module`: functions of math
/// and arithmetic on narrow floats become what both have. What the simulator runs is therefore what a GPU computes.
void buildLegalizeKernelsPipeline(mlir::OpPassManager &kernels);

/// All edges between `options.from` and `options.to`, which must be reachable from it.
void buildTilewrightPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);

void registerTilewrightPipelines();

struct CPUPipelineOptions : public mlir::PassPipelineOptions<CPUPipelineOptions> {
  PassOptions::Option<int64_t> vectorBits{
      *this, "vector-bits", llvm::cl::desc("the width of the vectors; 0 for this machine's"), llvm::cl::init(0)};
};

/// From the loops stage to a module of the LLVM dialect with the host ABI, for the CPU. Functions without a schedule
/// that a processor follows are still on tensors.
void buildLoopsToCPUPipeline(mlir::OpPassManager &pm, const CPUPipelineOptions &options);
/// The same from the linalg stage.
void buildLinalgToCPUPipeline(mlir::OpPassManager &pm, const CPUPipelineOptions &options);
void registerLinalgToCPUPipeline();

} // namespace tilewright

#endif
