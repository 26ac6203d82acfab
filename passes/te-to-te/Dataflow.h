//===- Dataflow.h - rewrites of tensor expressions that a schedule asks for ===//
//
// The primitives that change which stages there are, a file a family. Each finds its stages by name, rewrites them, and
// leaves in the schedule the handles of the stages that now exist.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_PASSES_TETOTE_DATAFLOW_H
#define TILEWRIGHT_PASSES_TETOTE_DATAFLOW_H

#include "passes/PassSupport.h"

namespace tilewright {

/// The stages and tensors of one function, by name.
class Dataflow {
public:
  explicit Dataflow(mlir::func::FuncOp function) : function(function) {}

  te::ComputeOp getStage(llvm::StringRef name);
  /// The stage that `handle` of a primitive names; an error on `op` where there is none.
  mlir::FailureOr<te::ComputeOp> findStage(mlir::Operation *op, mlir::Value handle);
  te::ExternOp getExtern(llvm::StringRef name);
  /// The tensor called `name`: what a stage computes, else an input.
  mlir::Value getTensor(llvm::StringRef name);

private:
  mlir::func::FuncOp function;
};

/// The places of a stage's axes in terms of other values: a result of the map an axis, over `operands`.
struct AxisPlaces {
  mlir::AffineMap map;
  llvm::SmallVector<mlir::Value> operands;
};

/// Clones the body of `stage` without its terminator, its axes at `places`. Returns the elements that it yields.
llvm::SmallVector<mlir::Value> cloneBodyAt(mlir::OpBuilder &builder, mlir::Location loc, te::ComputeOp stage,
                                           const AxisPlaces &places);

/// The parts of a te.compute that say what its axes are.
struct AxisList {
  llvm::SmallVector<mlir::Attribute> spatial, reduce;
  llvm::SmallVector<mlir::OpFoldResult> extents; // spatial axes first
};

/// A te.compute without a body, which reduces as `like` does where it has axes to reduce over.
te::ComputeOp createCompute(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name, te::ComputeOp like,
                            mlir::TypeRange types, const AxisList &axes);

/// A stage that copies `sources`, tensors of one shape, element by element.
te::ComputeOp createCopy(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name, mlir::ValueRange sources,
                         mlir::ArrayAttr axisNames);
/// Replaces one read of `stage` by what the stage computes there.
void inlineRead(te::ReadOp read, te::ComputeOp stage);
/// Erases the handle of a stage that is no more; `what` says what became of it where primitives still want its loops.
mlir::LogicalResult eraseHandle(mlir::Operation *handle, llvm::StringRef what);
/// What a cache primitive leaves in the schedule: the handle of the stage that now exists, and its memory.
void replaceByStage(mlir::Operation *op, llvm::StringRef name, schedule::ScopeAttr scope);

mlir::LogicalResult applyCacheWrite(schedule::CacheWriteOp op, Dataflow &dataflow);
mlir::LogicalResult applyPadEinsum(schedule::PadEinsumOp op, Dataflow &dataflow);
mlir::LogicalResult applyRfactor(schedule::RfactorOp op, Dataflow &dataflow);
mlir::LogicalResult applyRollingUpdate(schedule::RollingUpdateOp op, Dataflow &dataflow);

/// Handles find stages by name.
template <typename Op> mlir::LogicalResult checkIsFree(Op op, Dataflow &dataflow) {
  if (dataflow.getTensor(op.getName()))
    return op.emitOpError() << "expected a name of its own, got '" << op.getName() << "', which another tensor has";
  return mlir::success();
}

} // namespace tilewright

#endif
