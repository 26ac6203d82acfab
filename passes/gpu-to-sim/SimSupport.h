//===- SimSupport.h - what the passes to the simulator share --------------===//
#ifndef TILEWRIGHT_PASSES_GPU_TO_SIM_SIMSUPPORT_H
#define TILEWRIGHT_PASSES_GPU_TO_SIM_SIMSUPPORT_H

#include "dialects/Program/Program.h"
#include "dialects/TE/TE.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tilewright::sim {

/// `file:line` of the user's program inside a location, or "an unknown line".
std::string describeLocation(mlir::Location location);

/// What the user calls the buffer behind a memref, looked for through views, attributes and locations.
std::string nameBuffer(mlir::Value memref);

/// The same of a ring or a buffer of tiles, by the op that makes it.
std::string nameTile(mlir::Operation *op);

/// The value that a memref is a view of, all the way up.
mlir::Value traceViews(mlir::Value memref);

bool isShared(mlir::BaseMemRefType type);
bool isPrivate(mlir::BaseMemRefType type);

/// A call of a function of the simulator's run time, which is declared at the first call.
mlir::func::CallOp callRuntime(mlir::OpBuilder &builder, mlir::Location location, llvm::StringRef callee,
                               mlir::TypeRange results, mlir::ValueRange operands);

/// A pointer to a new site: a constant that holds a name and the source line of `location`.
mlir::Value createSite(mlir::OpBuilder &builder, mlir::Location location, llvm::StringRef name);

/// Puts a call of the run time in the place of an `nvgpu.ldmatrix` or `nvgpu.mma.sync`. Returns what the thread itself
/// loads, if anything. `createSlot` makes so many bytes of local memory.
mlir::FailureOr<mlir::vector::LoadOp> convertMatrixOp(mlir::Operation *op, mlir::Value state,
                                                      llvm::function_ref<mlir::Value(int64_t)> createSlot);

} // namespace tilewright::sim

#endif
