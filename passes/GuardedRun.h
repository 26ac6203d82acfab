//===- GuardedRun.h - what ends a process elsewhere ends a function here ---===//
#ifndef TILEWRIGHT_PASSES_GUARDEDRUN_H
#define TILEWRIGHT_PASSES_GUARDEDRUN_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace llvm {
class LLVMContext;
} // namespace llvm

namespace tilewright {

/// Runs `function`. Where LLVM or MLIR gives up, by a fatal error, an assertion or a signal, the process goes on, this
/// returns false, and `message` has what LLVM said, if anything. What had been allocated is lost then, which is better
/// than the user's session: nothing that `function` was changing may be used again.
bool runGuarded(llvm::function_ref<void()> function, std::string &message);

/// Errors of LLVM's passes go to the end of `message`, which must live as long as the context is used. LLVM's own
/// handler leaves the process.
void collectErrors(llvm::LLVMContext &context, std::string &message);

} // namespace tilewright

#endif
