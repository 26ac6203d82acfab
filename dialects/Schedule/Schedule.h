#ifndef TILEWRIGHT_DIALECTS_SCHEDULE_SCHEDULE_H
#define TILEWRIGHT_DIALECTS_SCHEDULE_SCHEDULE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "dialects/Schedule/ScheduleTraits.h"

#include "dialects/Schedule/ScheduleDialect.h.inc"
#include "dialects/Schedule/ScheduleEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Schedule/ScheduleAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Schedule/ScheduleTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/Schedule/ScheduleOps.h.inc"

namespace tilewright::schedule {
/// The name of an axis as the user knows it: `i`, `i.outer`, `i.outer.j.fused`.
std::string axisName(mlir::Value axis);
/// The handle of the stage that an axis belongs to.
mlir::Value axisStage(mlir::Value axis);
/// True where the axis runs over a reduction.
bool isReduceAxis(mlir::Value axis);
/// The name of the stage behind a handle.
llvm::StringRef stageName(mlir::Value stage);
/// The loops of a stage as the primitives before `op` left them, outermost first. An axis that no primitive before
/// `op` names is not among them.
llvm::SmallVector<mlir::Value> loopsBefore(mlir::Value stage, mlir::Operation *op);
/// What a fusion takes, the outermost first.
llvm::SmallVector<mlir::Value> fusedParts(FuseOp op);

/// On a loop of the loops stage: the axis that it came from, as "stage.axis".
inline constexpr llvm::StringLiteral kAxisAttr = "schedule.axis";
/// On a loop of the loops stage: the block or thread index that it is bound to (ThreadTagAttr).
inline constexpr llvm::StringLiteral kBindAttr = "schedule.bind";
/// On a loop of the loops stage: its iterations are to become lanes or to be written out (UnitAttr).
inline constexpr llvm::StringLiteral kVectorizeAttr = "schedule.vectorize";
inline constexpr llvm::StringLiteral kUnrollAttr = "schedule.unroll";
/// On a loop of the loops stage: its iterations are for the threads of a CPU (UnitAttr).
inline constexpr llvm::StringLiteral kParallelAttr = "schedule.parallel";
/// On a loop of the loops stage: the iterations that need no predicates become a loop of their own (UnitAttr).
inline constexpr llvm::StringLiteral kPartitionAttr = "schedule.partition";
/// On the outermost loop of a kernel: how many of its blocks a multiprocessor is to hold at least (i64).
inline constexpr llvm::StringLiteral kMinBlocksAttr = "schedule.min_blocks";
/// On a shared buffer: lanes of a warp exchange its elements; which threads have their own, 2 along y and 4 along z (i64).
inline constexpr llvm::StringLiteral kWarpAttr = "schedule.warp";
/// On a loop: its depth as a software pipeline (i64), and whether it copies past the registers (UnitAttr).
inline constexpr llvm::StringLiteral kPipelineAttr = "schedule.pipeline";
inline constexpr llvm::StringLiteral kAsyncAttr = "schedule.async";
/// On a loop of the loops stage: the instruction that it and the loops in it are (StringAttr).
inline constexpr llvm::StringLiteral kInstructionAttr = "schedule.instruction";
/// On a store of the loops stage: the engine that copies the tile that it is of (CopierAttr), the swizzle of the buffer
/// in shared memory, the columns that it has at once (i64), and whether it is stored behind the next tile's first products.
inline constexpr llvm::StringLiteral kCopierAttr = "schedule.copy_by";
inline constexpr llvm::StringLiteral kSwizzleAttr = "schedule.swizzle";
inline constexpr llvm::StringLiteral kColumnsAttr = "schedule.columns";
inline constexpr llvm::StringLiteral kDeferredAttr = "schedule.deferred";
/// On a pipelined loop: the registers of a thread that fills buffers, and of one that computes (DenseI64ArrayAttr).
inline constexpr llvm::StringLiteral kSpecializeAttr = "schedule.specialize";
/// On a loop on a block index: how many of the blocks along it are a cluster (i64).
inline constexpr llvm::StringLiteral kClusterAttr = "schedule.cluster";
/// On the outermost loop of a kernel: how many blocks go through its tiles (i64), in which order (RasterAttr), with how
/// many tiles in a group (i64), whether they share out the reductions of the last (UnitAttr), by how many columns some
/// tiles are narrower (i64), and whether the reduction of every second tile begins at its end (UnitAttr).
inline constexpr llvm::StringLiteral kPersistentAttr = "schedule.persistent";
inline constexpr llvm::StringLiteral kRasterAttr = "schedule.raster";
inline constexpr llvm::StringLiteral kGroupAttr = "schedule.group";
inline constexpr llvm::StringLiteral kStreamKAttr = "schedule.stream_k";
inline constexpr llvm::StringLiteral kNarrowerAttr = "schedule.narrower";
inline constexpr llvm::StringLiteral kSerpentineKAttr = "schedule.serpentine_k";
} // namespace tilewright::schedule

#endif
