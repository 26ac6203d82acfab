//===- TensorMap.h - what a tensor map takes -----------------------------===//
#ifndef TILEWRIGHT_DIALECTS_TARGET_TENSORMAP_H
#define TILEWRIGHT_DIALECTS_TARGET_TENSORMAP_H

#include <cstdint>

namespace tilewright {

/// Of a CUtensorMap, which the driver encodes and a kernel takes by value.
inline constexpr int64_t kTensorMapBytes = 128, kTensorMapAlignment = 64;

} // namespace tilewright

#endif
