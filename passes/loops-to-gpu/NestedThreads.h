//===- NestedThreads.h - loops on one index inside of each other ----------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOGPU_NESTEDTHREADS_H
#define TILEWRIGHT_PASSES_LOOPSTOGPU_NESTEDTHREADS_H

#include "passes/PassSupport.h"

namespace tilewright {

/// Refuses a loop on a block or thread index inside of another loop on the same index, where mapping both to one index
/// would change what is computed. Threads may share work out: then the inner loop does the same for each iteration of
/// the outer loop.
mlir::LogicalResult checkNestedThreads(mlir::Operation *nest, mlir::func::FuncOp function);

/// Refuses a store to an element that the iterations of a loop on a block or thread index share, of a value that each
/// of them has another of: run in sequence the last one counts, run at once any of them.
mlir::LogicalResult checkThreadRaces(mlir::Operation *nest, mlir::func::FuncOp function);

} // namespace tilewright

#endif
