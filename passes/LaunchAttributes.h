//===- LaunchAttributes.h - what is noted of launches ---------------------===//
#ifndef TILEWRIGHT_PASSES_LAUNCHATTRIBUTES_H
#define TILEWRIGHT_PASSES_LAUNCHATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace tilewright {
/// On a launch: its grid has blocks whatever the extents are (UnitAttr).
inline constexpr llvm::StringLiteral kNonEmptyAttr = "tilewright.nonempty";

/// On a schedule: how the program's kernels are launched, a dictionary of the names below.
inline constexpr llvm::StringLiteral kScheduleLaunchAttr = "schedule.launch";
/// The same on the program's function from the loops stage on, and on its kernels.
inline constexpr llvm::StringLiteral kLaunchAttr = "tilewright.launch";
/// A kernel's blocks may come up while the kernel before it in the stream ends (UnitAttr).
inline constexpr llvm::StringLiteral kDependent = "dependent";
/// All blocks of a kernel run at once, or the launch is refused (UnitAttr).
inline constexpr llvm::StringLiteral kCooperative = "cooperative";
/// The blocks of a cluster along x, y and z (DenseI32ArrayAttr).
inline constexpr llvm::StringLiteral kCluster = "cluster";
} // namespace tilewright

#endif
