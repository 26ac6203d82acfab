//===- ApplyArgumentStrides.cpp - arguments get the strides that they have ===//
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "passes/ArgumentLayouts.h"
#include "passes/PassSupport.h"
#include "passes/linalg-to-cpu/ScheduledLoops.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_APPLYARGUMENTSTRIDES
#include "passes/linalg-to-cpu/Passes.h.inc"

namespace {

struct ApplyArgumentStrides : impl::ApplyArgumentStridesBase<ApplyArgumentStrides> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !function->hasAttr(kScheduledAttr) && failed(apply(function)))
        return signalPassFailure();
  }

  LogicalResult apply(func::FuncOp function);
};

/// The type of a part of a memref that has got another layout.
MemRefType inferType(memref::SubViewOp subview) {
  return memref::SubViewOp::inferRankReducedResultType(subview.getType().getShape(), subview.getSourceType(),
                                                       subview.getMixedOffsets(), subview.getMixedSizes(),
                                                       subview.getMixedStrides());
}

LogicalResult ApplyArgumentStrides::apply(func::FuncOp function) {
  SmallVector<Value> changed;
  SetVector<Operation *> copies;
  for (auto [position, argument] : llvm::enumerate(function.getArguments()))
    if (auto type = dyn_cast<MemRefType>(argument.getType()); type && isStridedArgument(function, position)) {
      argument.setType(getArgumentMemRef(function, position, type));
      changed.push_back(argument);
    }
  auto types = llvm::to_vector(function.getBody().front().getArgumentTypes());
  function.setFunctionType(FunctionType::get(&getContext(), types, function.getResultTypes()));
  while (!changed.empty()) {
    Value buffer = changed.pop_back_val();
    for (Operation *user : llvm::make_early_inc_range(buffer.getUsers())) {
      if (auto copy = dyn_cast<memref::CopyOp>(user)) {
        // Between layouts it is a call of a run time that is not there.
        OpBuilder builder(copy);
        if (copies.insert(copy))
          linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
        continue;
      }
      auto setType = [&](Value value, MemRefType type) {
        if (value.getType() != type)
          changed.push_back(value);
        value.setType(type);
      };
      if (auto subview = dyn_cast<memref::SubViewOp>(user)) {
        setType(subview, inferType(subview));
        continue;
      }
      // What the steps of a scan hand on is the output that they write.
      if (auto loop = dyn_cast<scf::ForOp>(user)) {
        auto type = cast<MemRefType>(buffer.getType());
        for (auto [init, argument, result] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getResults()))
          if (init == buffer)
            setType(argument, type), setType(result, type);
        continue;
      }
      // Everything else takes memrefs of any layout. What is returned is looked at by wrap-in-host-abi.
      if (llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
        return user->emitOpError("expected a part of an argument with strides, got another view of it");
    }
  }
  for (Operation *copy : copies)
    copy->erase();
  // The results are those of the outputs.
  auto results = llvm::to_vector(function.getBody().front().getTerminator()->getOperandTypes());
  function.setFunctionType(FunctionType::get(&getContext(), types, results));
  return success();
}

} // namespace
} // namespace tilewright
