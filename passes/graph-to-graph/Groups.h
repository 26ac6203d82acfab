//===- Groups.h - what passes on groups share -----------------------------===//
#ifndef TILEWRIGHT_PASSES_GRAPHTOGRAPH_GROUPS_H
#define TILEWRIGHT_PASSES_GRAPHTOGRAPH_GROUPS_H

#include "dialects/Graph/Graph.h"

namespace tilewright {

/// The name of a group of operators: their names, at most three and the last.
std::string getGroupName(llvm::ArrayRef<mlir::Operation *> operators);

/// Whether the result is row-major memory of the operand's, and aligned as programs need it: a reshape, or a slice
/// whose elements lie together.
bool isView(mlir::Operation *op);

} // namespace tilewright

#endif
