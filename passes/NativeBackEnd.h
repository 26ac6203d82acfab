//===- NativeBackEnd.h - LLVM's back end for this machine's processor ------===//
#ifndef TILEWRIGHT_PASSES_NATIVEBACKEND_H
#define TILEWRIGHT_PASSES_NATIVEBACKEND_H

namespace tilewright {
/// Registers it with LLVM. Calls after the first do nothing.
void initializeNativeBackEnd();
} // namespace tilewright

#endif
