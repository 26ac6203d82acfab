//===- FormTileKernels.cpp - nests that multiply tiles become kernels -----===//
#include "passes/loops-to-tile/TileEmitter.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DECL_FORMTILEKERNELS
#define GEN_PASS_DEF_FORMTILEKERNELS
#include "passes/loops-to-tile/Passes.h.inc"

namespace {
struct FormTileKernels : impl::FormTileKernelsBase<FormTileKernels> {
  using FormTileKernelsBase::FormTileKernelsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    SmallVector<Operation *> nests;
    for (Operation &op : function.getBody().front())
      if (TileProgram::isWanted(&op))
        nests.push_back(&op);
    for (Operation *nest : nests) {
      TileProgram program(nest, function);
      if (failed(program.match()))
        return signalPassFailure();
      if (arch != "sm_90a") {
        program.wgmmaError() << "expected the architecture sm_90a, which has this instruction, got " << arch;
        return signalPassFailure();
      }
      TileEmitter(program).emit();
    }
  }
};
} // namespace
} // namespace tilewright
