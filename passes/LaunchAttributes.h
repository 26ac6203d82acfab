//===- LaunchAttributes.h - what is noted of launches ---------------------===//
#ifndef TILEWRIGHT_PASSES_LAUNCHATTRIBUTES_H
#define TILEWRIGHT_PASSES_LAUNCHATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace tilewright {
/// On a launch: its grid has blocks whatever the extents are (UnitAttr).
inline constexpr llvm::StringLiteral kNonEmptyAttr = "tilewright.nonempty";
} // namespace tilewright

#endif
