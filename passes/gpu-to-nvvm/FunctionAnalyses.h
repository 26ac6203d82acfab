//===- FunctionAnalyses.h - LLVM's analyses, as its passes ask for them ---===//
#ifndef TILEWRIGHT_PASSES_GPU_TO_NVVM_FUNCTIONANALYSES_H
#define TILEWRIGHT_PASSES_GPU_TO_NVVM_FUNCTIONANALYSES_H

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"

namespace tilewright {

/// The managers of LLVM's analyses, which know each other.
struct FunctionAnalyses {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;

  explicit FunctionAnalyses(llvm::PassBuilder &builder) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }
};

} // namespace tilewright

#endif
