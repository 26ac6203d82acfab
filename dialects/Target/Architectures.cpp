//===- Architectures.cpp - the GPU architectures that can be compiled for -===//
#include "dialects/Target/Architectures.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

static constexpr int64_t kKiB = 1024;

// PTX 8.6 has all that kernels for sm_90 and below use (relaxed arrivals among it); every CUDA 13 driver and linker
// takes it. The newer families appeared with later versions; 9.0 is the newest that both LLVM and the linker know.
static constexpr tilewright::Architecture architectures[] = {
    {"sm_75", 75, "+ptx86", 64 * kKiB},     {"sm_80", 80, "+ptx86", 163 * kKiB},
    {"sm_86", 86, "+ptx86", 99 * kKiB},     {"sm_87", 87, "+ptx86", 163 * kKiB},
    {"sm_88", 88, "+ptx90", 99 * kKiB},     {"sm_89", 89, "+ptx86", 99 * kKiB},
    {"sm_90", 90, "+ptx86", 227 * kKiB},    {"sm_90a", 90, "+ptx86", 227 * kKiB},
    {"sm_100", 100, "+ptx86", 227 * kKiB},  {"sm_100a", 100, "+ptx86", 227 * kKiB},
    {"sm_100f", 100, "+ptx88", 227 * kKiB}, {"sm_103", 103, "+ptx88", 227 * kKiB},
    {"sm_103a", 103, "+ptx88", 227 * kKiB}, {"sm_103f", 103, "+ptx88", 227 * kKiB},
    {"sm_110", 110, "+ptx90", 227 * kKiB},  {"sm_110a", 110, "+ptx90", 227 * kKiB},
    {"sm_110f", 110, "+ptx90", 227 * kKiB}, {"sm_120", 120, "+ptx87", 99 * kKiB},
    {"sm_120a", 120, "+ptx87", 99 * kKiB},  {"sm_120f", 120, "+ptx88", 99 * kKiB},
};

const tilewright::Architecture *tilewright::findArchitecture(llvm::StringRef name) {
  const auto *found = llvm::find_if(architectures, [&](const Architecture &known) { return known.name == name; });
  return found == std::end(architectures) ? nullptr : found;
}

bool tilewright::Architecture::isFrom(llvm::StringRef first) const {
  return capability >= findArchitecture(first)->capability;
}

std::string tilewright::knownArchitectures() {
  return llvm::join(llvm::map_range(architectures, [](const Architecture &known) { return known.name.str(); }), ", ");
}
