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

/// Whether `op` reduces the last dimensions, which stay with extent 1, of rows that are not too long.
bool isRowReduction(mlir::Operation *op);

/// Whether it converts elements to a wider type, which several operators read.
bool widensForSeveral(mlir::Operation *op);

/// Whether it makes numbers of a weight in four bits: they are cheaper to make again than to load.
bool isOfFourBits(mlir::Operation *op);

/// Whether it is a constant of one element.
bool isSmallConstant(mlir::Operation *op);

/// Whether attention, or its gradients, is among the operators.
bool hasAttention(llvm::ArrayRef<mlir::Operation *> operators);

/// Whether a producer moves the filters of a convolution, or its image of whole vectors of channels, of 16 bits or of
/// tf32: tensor cores copy both as they are stored. Filters of tf32 are stored along K, before they are transposed.
bool isStoredForConvolution(mlir::Operation *producer, mlir::Operation *user);

/// Whether an instruction or two compute an element of its result, or it moves elements; `op` may be null.
bool isCheap(mlir::Operation *op);

/// Whether it comes to the mask of attention alone, and a few instructions compute it of tables that stay in a cache.
bool isComputedMask(mlir::Operation *op);

} // namespace tilewright

#endif
