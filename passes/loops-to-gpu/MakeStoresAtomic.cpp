//===- MakeStoresAtomic.cpp - what blocks add to elements -----------------===//
#include "dialects/Schedule/Schedule.h"
#include "passes/PassSupport.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_MAKESTORESATOMIC
#include "passes/loops-to-gpu/Passes.h.inc"

namespace {
struct MakeStoresAtomic : impl::MakeStoresAtomicBase<MakeStoresAtomic> {
  void runOnOperation() override {
    getOperation().walk([](memref::StoreOp store) {
      if (!store->hasAttr(schedule::kReduceAddAttr))
        return;
      OpBuilder builder(store);
      Value value = store.getValue();
      memref::AtomicRMWOp::create(builder, store.getLoc(),
                                  isa<FloatType>(value.getType()) ? arith::AtomicRMWKind::addf
                                                                  : arith::AtomicRMWKind::addi,
                                  value, store.getMemRef(), store.getIndices());
      store.erase();
    });
  }
};
} // namespace
} // namespace tilewright
