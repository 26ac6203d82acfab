//===- FormTileKernels.cpp - nests that multiply tiles become kernels -----===//
#include "dialects/Target/Architectures.h"
#include "passes/Marks.h"
#include "passes/ArgumentAlignment.h"
#include "passes/loops-to-gpu/NestedThreads.h"
#include "passes/loops-to-tile/TileEmitter.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DECL_FORMTILEKERNELS
#define GEN_PASS_DEF_FORMTILEKERNELS
#include "passes/loops-to-tile/Passes.h.inc"

namespace {
/// The copy engine takes no other memory.
LogicalResult checkAlignment(Operation *nest, func::FuncOp function, TileProgram &program) {
  for (BlockArgument argument : function.getArguments()) {
    int64_t alignment = getArgumentAlignment(function, argument.getArgNumber());
    bool isUsed = llvm::any_of(argument.getUsers(), [&](Operation *user) { return nest->isAncestor(user); });
    if (alignment >= kArgumentAlignment || !isUsed)
      continue;
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), te::kNameAttr);
    return program.wgmmaError() << "expected tensors aligned to " << kArgumentAlignment << " bytes, as the copy engine needs them, got "
                                << (name ? name.getValue() : "one") << ", aligned to " << alignment;
  }
  return success();
}

struct FormTileKernels : impl::FormTileKernelsBase<FormTileKernels> {
  using FormTileKernelsBase::FormTileKernelsBase;

  void runOnOperation() override {
    if (failed(checkMarks(getOperation())))
      return signalPassFailure();
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (failed(checkInstructionMarks(function)))
      return signalPassFailure();
    SmallVector<Operation *> nests;
    for (Operation &op : function.getBody().front())
      if (TileProgram::isWanted(&op))
        nests.push_back(&op);
    for (Operation *nest : nests) {
      TileProgram program(nest, function);
      if (failed(checkNestedThreads(nest, function)) || failed(program.match()))
        return signalPassFailure();
      if (const Architecture *architecture = findArchitecture(arch); !architecture || !architecture->hasWgmma()) {
        program.wgmmaError() << "expected the architecture " << kWgmmaArchitecture << ", which has this instruction, got " << arch;
        return signalPassFailure();
      }
      if (failed(checkAlignment(nest, function, program)))
        return signalPassFailure();
      TileEmitter(program).emit();
    }
  }
};
} // namespace
} // namespace tilewright
