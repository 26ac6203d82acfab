//===- NVPTXArchitectures.h - the GPU architectures that can be compiled for ===//
#ifndef TILEWRIGHT_PASSES_GPUTONVVM_NVPTXARCHITECTURES_H
#define TILEWRIGHT_PASSES_GPUTONVVM_NVPTXARCHITECTURES_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace tilewright {

/// One architecture that LLVM's NVPTX back end and CUDA 13's linker both know.
struct NVPTXArchitecture {
  llvm::StringLiteral name;
  /// The compute capability times ten: 90 for sm_90 and sm_90a.
  unsigned capability;
  /// LLVM's feature of the PTX ISA that kernels for it are written in.
  llvm::StringLiteral features;
  /// Bytes of shared memory that a block may have, when it asks for as much as it can get.
  int64_t sharedLimit;
};

/// Null if `name` is none that is known.
const NVPTXArchitecture *findArchitecture(llvm::StringRef name);

/// "sm_75, sm_80, …", for messages.
std::string knownArchitectures();

} // namespace tilewright

#endif
