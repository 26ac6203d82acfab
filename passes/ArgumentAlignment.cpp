//===- ArgumentAlignment.cpp - how far the memory of arguments is aligned -===//
#include "passes/ArgumentAlignment.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

int64_t tilewright::getBufferAlignment(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto function = argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()) : nullptr;
  if (!function || !argument.getOwner()->isEntryBlock())
    return std::numeric_limits<int64_t>::max();
  return getArgumentAlignment(function, argument.getArgNumber());
}
