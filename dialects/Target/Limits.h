//===- Limits.h - what all of NVIDIA's GPUs have in common ----------------===//
#ifndef TILEWRIGHT_DIALECTS_TARGET_LIMITS_H
#define TILEWRIGHT_DIALECTS_TARGET_LIMITS_H

#include <cstdint>

namespace tilewright {

inline constexpr int64_t kWarpSize = 32, kWarpgroupWarps = 4, kWarpgroupSize = kWarpgroupWarps * kWarpSize;

/// Threads of a block, along x and y as in all, and along z.
inline constexpr int64_t kMaxBlockThreads = 1024, kMaxBlockThreadsZ = 64;
/// Blocks of a grid along x, and along y and z.
inline constexpr int64_t kMaxGridX = 0x7fffffff, kMaxGridYZ = 65535;
/// Blocks of a cluster, on GPUs that allow more than the portable 8.
inline constexpr int64_t kMaxClusterBlocks = 16;

/// Registers of 32 bits of a block, and of a thread.
inline constexpr int64_t kBlockRegisters = 65536, kThreadRegisters = 255;
/// Bytes of local memory that a thread can have.
inline constexpr uint64_t kThreadLocalBytes = 512 * 1024;

/// What the swizzle of 128 bytes repeats after: the alignment of a block's shared memory.
inline constexpr int64_t kSharedAlignment = 1024;

} // namespace tilewright

#endif
