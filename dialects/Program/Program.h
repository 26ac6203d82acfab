//===- Program.h - attributes on programs, kernels and launches -----------===//
#ifndef TILEWRIGHT_DIALECTS_PROGRAM_PROGRAM_H
#define TILEWRIGHT_DIALECTS_PROGRAM_PROGRAM_H

#include "mlir/IR/Dialect.h"

#include "dialects/Program/ProgramDialect.h.inc"

namespace tilewright {
/// On a schedule, on the program's function from the loops stage on, and on its kernels: how the kernels are launched,
/// a dictionary of the names below.
inline constexpr llvm::StringLiteral kLaunchAttr = "tilewright.launch";
/// A kernel's blocks may come up while the kernel before it in the stream ends (UnitAttr).
inline constexpr llvm::StringLiteral kDependent = "dependent";
/// All blocks of a kernel run at once, or the launch is refused (UnitAttr).
inline constexpr llvm::StringLiteral kCooperative = "cooperative";
/// The blocks of a cluster along x, y and z (DenseI32ArrayAttr).
inline constexpr llvm::StringLiteral kCluster = "cluster";

/// On a launch: its grid has blocks whatever the extents are (UnitAttr).
inline constexpr llvm::StringLiteral kNonEmptyAttr = "tilewright.nonempty";
/// On a launch: where each of its numbers came from, a dictionary from "grid.x", "block.y" or "shared" to a string.
inline constexpr llvm::StringLiteral kLaunchOriginAttr = "tilewright.launch_origin";
/// On the host function of the gpu stage: the size of its workspace, where that is known (i64).
inline constexpr llvm::StringLiteral kWorkspaceBytesAttr = "tilewright.workspace_bytes";
/// On a shuffle: all threads along x that get a value get the same (UnitAttr).
inline constexpr llvm::StringLiteral kUniformAttr = "tilewright.uniform";
/// On a load of a lane's own register: it is for other lanes, and nothing where the lane has stored nothing (UnitAttr).
inline constexpr llvm::StringLiteral kExchangedAttr = "tilewright.exchanged";
/// On an nvgpu.mma.sync: the type of operands A and B that go as bytes, floats of 8 bits (TypeAttr).
inline constexpr llvm::StringLiteral kOperandTypeAttr = "tilewright.operand_type";
/// On a function of target cpu: its loops are those of a schedule (UnitAttr).
inline constexpr llvm::StringLiteral kScheduledAttr = "tilewright.scheduled";

/// On a program's host function: each argument's attributes and type, and the kernels in the order of their numbers.
inline constexpr llvm::StringLiteral kArgumentsAttr = "tilewright.arguments";
inline constexpr llvm::StringLiteral kKernelsAttr = "tilewright.kernels";
/// On a call of the launcher: the kernel's name (StringAttr), and its cluster (DenseI32ArrayAttr).
inline constexpr llvm::StringLiteral kKernelAttr = "tilewright.kernel";
inline constexpr llvm::StringLiteral kLaunchClusterAttr = "tilewright.cluster";
/// On a program's host function: its cubins by architecture, a dictionary of strings.
inline constexpr llvm::StringLiteral kCubinsAttr = "tilewright.cubins";
/// What a module or function was compiled to: PTX, an object file, CUDA C++, C++ (StringAttr).
inline constexpr llvm::StringLiteral kPTXAttr = "tilewright.ptx";
inline constexpr llvm::StringLiteral kObjectAttr = "tilewright.object";
inline constexpr llvm::StringLiteral kCUDASourceAttr = "tilewright.cuda";
inline constexpr llvm::StringLiteral kHostSourceAttr = "tilewright.cpp";

/// Beside such a source: where each of its lines came from (an array of locations).
inline constexpr llvm::StringLiteral kCUDALinesAttr = "tilewright.cuda_lines";
inline constexpr llvm::StringLiteral kHostLinesAttr = "tilewright.cpp_lines";

/// On a function: it is a kernel of the simulator (UnitAttr).
inline constexpr llvm::StringLiteral kSimKernelAttr = "tilewright.sim_kernel";
/// In such a kernel: the number of the argument that a buffer is (i64), and a store that an asynchronous copy makes
/// (UnitAttr).
inline constexpr llvm::StringLiteral kSimArgumentAttr = "tilewright.argument";
inline constexpr llvm::StringLiteral kSimCopyAttr = "tilewright.copy";
/// On a module for the simulator: how many sites of reports it has, which are numbered (i64).
inline constexpr llvm::StringLiteral kSimSitesAttr = "tilewright.sim_sites";
} // namespace tilewright

#endif
