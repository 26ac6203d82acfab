//===- BoundIndices.h - the indices that a function's loops are bound to --===//
#ifndef TILEWRIGHT_DIALECTS_SCHEDULE_BOUNDINDICES_H
#define TILEWRIGHT_DIALECTS_SCHEDULE_BOUNDINDICES_H

#include "dialects/Schedule/Schedule.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tilewright::schedule {
/// On a function at the loops stage: the block and thread indices that its loops are bound to (an array of
/// ThreadTagAttr). Where loops are simplified, those of one iteration go with what is said of them; this stays.
inline constexpr llvm::StringLiteral kBoundAttr = "schedule.bound";

/// The indices that loops of `function` with an effect are bound to, each once.
llvm::SmallVector<ThreadTag> getBoundIndices(mlir::FunctionOpInterface function);
/// Notes them on the function, or nothing where there are none.
void noteBoundIndices(mlir::FunctionOpInterface function);
} // namespace tilewright::schedule

#endif
