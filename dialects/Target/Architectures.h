//===- Architectures.h - the GPU architectures that can be compiled for ---===//
//
// The one place that knows what an architecture has. A pass asks for a feature, not for a name.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_DIALECTS_TARGET_ARCHITECTURES_H
#define TILEWRIGHT_DIALECTS_TARGET_ARCHITECTURES_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace tilewright {

/// What is compiled for where nobody says.
inline constexpr llvm::StringLiteral kDefaultArchitecture = "sm_90a";

/// The only architecture with wgmma and setmaxnreg: no older one has them, and no newer one.
inline constexpr llvm::StringLiteral kWgmmaArchitecture = "sm_90a";

/// One architecture that LLVM's NVPTX back end and CUDA 13's linker both know.
struct Architecture {
  llvm::StringLiteral name;
  /// The compute capability times ten: 90 for sm_90 and sm_90a.
  unsigned capability;
  /// LLVM's feature of the PTX ISA that kernels for it are written in.
  llvm::StringLiteral ptx;
  /// Bytes of shared memory that a block may have, when it asks for as much as it can get.
  int64_t sharedLimit;

  /// The first that has cp.async, which copies from global to shared memory past the registers, and mma.sync of the
  /// shapes that `tile::findMmaSync` knows.
  static constexpr llvm::StringLiteral kAmpere = "sm_80";
  /// The first that has clusters of blocks and launches that depend on others.
  static constexpr llvm::StringLiteral kHopper = "sm_90";

  bool hasAsyncCopies() const { return isFrom(kAmpere); }
  bool hasMmaSync() const { return isFrom(kAmpere); }
  bool hasDependentLaunches() const { return isFrom(kHopper); }
  bool hasClusters() const { return isFrom(kHopper); }
  /// Copies by tensor maps. Without it threads copy tiles by cp.async.
  bool hasTMA() const { return isFrom(kHopper); }
  /// Matmuls of warpgroups, and setmaxnreg. Without it the warps of a warpgroup multiply by mma.sync.
  bool hasWgmma() const { return name == kWgmmaArchitecture; }

private:
  bool isFrom(llvm::StringRef first) const;
};

/// Null if `name` is none that is known.
const Architecture *findArchitecture(llvm::StringRef name);

/// "sm_75, sm_80, …", for messages.
std::string knownArchitectures();

} // namespace tilewright

#endif
