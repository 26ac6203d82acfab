//===- ValueUses.h - when what is computed is used ------------------------===//
#ifndef TILEWRIGHT_PASSES_GPU_TO_SIM_VALUEUSES_H
#define TILEWRIGHT_PASSES_GPU_TO_SIM_VALUEUSES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace tilewright::sim {

/// Conditions of which all hold, or do not hold.
using Conjunction = llvm::SmallVector<std::pair<mlir::Value, bool>, 2>;

/// When a value is used: where all of one of the conjunctions is so, or always, where there are none.
struct ValueUse {
  std::optional<llvm::SmallVector<Conjunction>> conjunctions;
};

/// When `value`, of `block`, is used: not where a select, a condition that another has decided or a branch discards it.
ValueUse findUse(mlir::Value value, mlir::Block *block);

} // namespace tilewright::sim

#endif
