//===- Marks.h - what a schedule left on loops is of the type that it is --===//
#ifndef TILEWRIGHT_PASSES_MARKS_H
#define TILEWRIGHT_PASSES_MARKS_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace tilewright {

/// IR that was edited or comes from elsewhere may have any attribute under the name of a mark. Says what is wrong with
/// the first of those on `root` and within that is of another type than docs/stages.md says, or too large a number.
mlir::LogicalResult checkMarks(mlir::Operation *root);

} // namespace tilewright

#endif
