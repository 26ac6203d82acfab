//===- ThreadRaces.h - iterations that leave different values in one place ===//
#ifndef TILEWRIGHT_PASSES_LOOPSTOGPU_THREADRACES_H
#define TILEWRIGHT_PASSES_LOOPSTOGPU_THREADRACES_H

#include "passes/PassSupport.h"

namespace tilewright {

/// Two iterations of a loop of which one stores another value than the other, at one place.
struct ThreadRace {
  mlir::memref::StoreOp store;
  int64_t first, second;
};

/// Looks for a race by trying iterations: the first ones of the loop, and of the loops in it. None is found where
/// places or conditions are data, or where the values come from memory of the thread itself. Between iterations of a
/// serial loop threads may wait for each other for the sake of a read, so a buffer that is read in the loop is compared
/// within one iteration of each serial loop alone, and one store with itself.
std::optional<ThreadRace> findThreadRace(mlir::scf::ForOp loop);

} // namespace tilewright

#endif
