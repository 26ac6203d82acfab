//===- CUDAPrelude.h - what printed kernels need --------------------------===//
#ifndef TILEWRIGHT_PASSES_GPUTOSOURCE_CUDAPRELUDE_H
#define TILEWRIGHT_PASSES_GPUTOSOURCE_CUDAPRELUDE_H

#include <set>
#include <string>

namespace tilewright::source {

/// The headers and helper functions that stand before kernels which need these.
std::string preludeOf(const std::set<std::string> &needed);

} // namespace tilewright::source

#endif
