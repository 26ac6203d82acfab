//===- Outputs.h - results that a call allocates and returns --------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_OUTPUTS_H
#define TILEWRIGHT_RUNTIME_HOST_OUTPUTS_H

#include "runtime/host/ABI.h"

namespace tilewright::host {

constexpr int32_t mostRank = 16;

/// Raises a TypeError or a ValueError, as a check found. Returns -1.
int32_t raiseCheck(int32_t found, const char *message);

/// Allocates an argument by the environment's allocator, row-major, on that device. Raises what is wrong.
int32_t allocateOutput(const TilewrightSignature &signature, const TilewrightArgument &argument, int64_t *shape,
                       int32_t deviceType, int32_t deviceId, TilewrightAny &made);

/// The same in this machine's memory, by no allocator of the environment's. Only in a library.
int32_t allocateOnHost(const TilewrightSignature &signature, const TilewrightArgument &argument, const int64_t *shape,
                       TilewrightAny &made);

/// Returns the outputs, which are given away: a tensor, or an ffi.Array where there are several.
int32_t returnOutputs(const TilewrightAny *outputs, int32_t count, TilewrightAny *result);

} // namespace tilewright::host

#endif
