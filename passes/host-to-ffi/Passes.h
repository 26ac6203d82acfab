#ifndef TILEWRIGHT_PASSES_HOST_TO_FFI_PASSES_H
#define TILEWRIGHT_PASSES_HOST_TO_FFI_PASSES_H

#include "passes/PassSupport.h"
#include "passes/Pipelines.h"

namespace tilewright {
#define GEN_PASS_DECL
#include "passes/host-to-ffi/Passes.h.inc"
} // namespace tilewright

#endif
