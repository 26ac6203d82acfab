//===- GuardedRun.h - what ends a process elsewhere ends a function here ---===//
#ifndef TILEWRIGHT_PASSES_GUARDEDRUN_H
#define TILEWRIGHT_PASSES_GUARDEDRUN_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace tilewright {

/// Runs `function`. Where LLVM or MLIR gives up, by a fatal error, an assertion or a signal, the process goes on, this
/// returns false, and `message` has what LLVM said, if anything. What had been allocated is lost then, which is better
/// than the user's session: nothing that `function` was changing may be used again.
bool runGuarded(llvm::function_ref<void()> function, std::string &message);

} // namespace tilewright

#endif
