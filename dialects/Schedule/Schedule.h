#ifndef TILEWRIGHT_DIALECTS_SCHEDULE_SCHEDULE_H
#define TILEWRIGHT_DIALECTS_SCHEDULE_SCHEDULE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
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

//===----------------------------------------------------------------------===//
// Attributes that a pass leaves for another; the dialect's verifier says on which ops each may stand
//===----------------------------------------------------------------------===//

/// On a loop: the axis that it came from, and the axis's stage (AxisAttr).
inline constexpr llvm::StringLiteral kAxisAttr = "schedule.axis";
/// On a loop: the block or thread index that it is bound to (ThreadTagAttr).
inline constexpr llvm::StringLiteral kBindAttr = "schedule.bind";
/// On a loop: its iterations are to become lanes or to be unrolled (UnitAttr).
inline constexpr llvm::StringLiteral kVectorizeAttr = "schedule.vectorize";
inline constexpr llvm::StringLiteral kUnrollAttr = "schedule.unroll";
/// On a loop: its iterations are for the threads of a CPU (UnitAttr).
inline constexpr llvm::StringLiteral kParallelAttr = "schedule.parallel";
/// On a loop: the iterations that need no predicates become a loop of their own (UnitAttr).
inline constexpr llvm::StringLiteral kPartitionAttr = "schedule.partition";
/// On the outermost loop of a kernel, and on the kernel: how many of its blocks an SM is to hold at least (i64).
inline constexpr llvm::StringLiteral kMinBlocksAttr = "schedule.min_blocks";
/// On a shared buffer: lanes of a warp exchange its elements; which threads have their own, 2 along y and 4 along z
/// (i64).
inline constexpr llvm::StringLiteral kWarpAttr = "schedule.warp";
/// On a schedule (schedule.of): the layouts that callers' arrays have, by the names of inputs (dictionary of affine
/// maps).
inline constexpr llvm::StringLiteral kInputLayoutsAttr = "schedule.input_layouts";
/// On a primitive that says a scope: the fragment of TVM that it is, for those who read the schedule
/// (FragmentAttr).
inline constexpr llvm::StringLiteral kFragmentAttr = "schedule.fragment";
/// On a loop: it is a software pipeline (PipelineAttr).
inline constexpr llvm::StringLiteral kPipelineAttr = "schedule.pipeline";
/// On the allocation of a shared buffer in such a loop: the buffer gets a place for each of the pipeline's stages
/// (UnitAttr).
inline constexpr llvm::StringLiteral kPipelinedAttr = "schedule.pipelined";
/// On a store: what it stores was loaded for it alone, and is copied by cp.async (UnitAttr).
inline constexpr llvm::StringLiteral kAsyncAttr = "schedule.async";
/// On the outermost of the loops that multiply a tile of matrices: the instruction that does it (InstructionAttr).
inline constexpr llvm::StringLiteral kInstructionAttr = "schedule.instruction";
/// On each loop of such a nest: the axis of the matmul that it runs over (MatrixAxisAttr).
inline constexpr llvm::StringLiteral kMatrixAxisAttr = "schedule.matrix_axis";
/// On each load and on the store of such a nest: the operand that its buffer is (MatrixOperandAttr).
inline constexpr llvm::StringLiteral kOperandAttr = "schedule.operand";
/// On a store: the engine that copies the tile that it is of (CopyAttr).
inline constexpr llvm::StringLiteral kCopyAttr = "schedule.copy";
/// On a pipelined loop: the registers of producers and consumers (SpecializeAttr).
inline constexpr llvm::StringLiteral kSpecializeAttr = "schedule.specialize";
/// On a loop on a block index: how many of the blocks along it are a cluster (i64).
inline constexpr llvm::StringLiteral kClusterAttr = "schedule.cluster";
/// On the outermost loop of a kernel: how its blocks go through the tiles (PersistentAttr).
inline constexpr llvm::StringLiteral kPersistentAttr = "schedule.persistent";
/// On a store: what it stores is added to the element, atomically, as other blocks add to it (UnitAttr).
inline constexpr llvm::StringLiteral kReduceAddAttr = "schedule.reduce_add";
/// On a pipelined loop: the stage whose result the loop's reductions follow, as rolling_update says (RollingAttr).
inline constexpr llvm::StringLiteral kRollingAttr = "schedule.rolling";

/// The parameters of an attribute of this dialect by name: integers, booleans, strings and arrays of integers. What the
/// bindings of other languages read; null of another attribute.
mlir::DictionaryAttr getParameters(mlir::Attribute attribute);
} // namespace tilewright::schedule

#endif
