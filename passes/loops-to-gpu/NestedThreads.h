//===- NestedThreads.h - loops on one index inside of each other ----------===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOGPU_NESTEDTHREADS_H
#define TILEWRIGHT_PASSES_LOOPSTOGPU_NESTEDTHREADS_H

#include "passes/PassSupport.h"

namespace tilewright {

/// Refuses a loop on a block or thread index inside of another loop on the same index, where mapping both to one index
/// would change what is computed. Threads may share work out: then the inner loop does the same for each iteration of
/// the outer loop.
mlir::LogicalResult checkNestedThreads(mlir::Operation *nest, mlir::func::FuncOp function);

} // namespace tilewright

#endif
