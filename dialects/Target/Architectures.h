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

  /// cp.async: copies from global to shared memory past the registers.
  bool hasAsyncCopies() const { return capability >= 80; }
  /// mma.sync of the shapes that `tile::findMmaSync` knows beyond those of sm_75.
  bool hasMmaSync() const { return capability >= 80; }
  bool hasDependentLaunches() const { return capability >= 90; }
  bool hasClusters() const { return capability >= 90; }
  /// What kernels of asynchronous tiles are made of: wgmma, setmaxnreg, TMA and mbarriers.
  bool hasWgmma() const { return name == kWgmmaArchitecture; }
};

/// Null if `name` is none that is known.
const Architecture *findArchitecture(llvm::StringRef name);

/// "sm_75, sm_80, …", for messages.
std::string knownArchitectures();

} // namespace tilewright

#endif
