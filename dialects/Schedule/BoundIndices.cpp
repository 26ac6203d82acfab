//===- BoundIndices.cpp - the indices that a function's loops are bound to ===//
#include "dialects/Schedule/BoundIndices.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright::schedule {

SmallVector<ThreadTag> getBoundIndices(FunctionOpInterface function) {
  llvm::SmallSetVector<ThreadTag, 8> tags;
  function->walk([&](scf::ForOp loop) {
    // One without an effect may go.
    if (auto bind = loop->getAttrOfType<ThreadTagAttr>(kBindAttr); bind && !isMemoryEffectFree(loop))
      tags.insert(bind.getValue());
  });
  SmallVector<ThreadTag> sorted(tags.begin(), tags.end());
  llvm::sort(sorted);
  return sorted;
}

void noteBoundIndices(FunctionOpInterface function) {
  SmallVector<Attribute> tags;
  for (ThreadTag tag : getBoundIndices(function))
    tags.push_back(ThreadTagAttr::get(function->getContext(), tag));
  if (tags.empty())
    function->removeDiscardableAttr(kBoundAttr);
  else
    function->setDiscardableAttr(kBoundAttr, ArrayAttr::get(function->getContext(), tags));
}

} // namespace tilewright::schedule
