//===- BoundInference.h - how bounds are inferred, and what must hold of them ===//
#ifndef TILEWRIGHT_PASSES_LINALGTOLOOPS_BOUNDINFERENCE_H
#define TILEWRIGHT_PASSES_LINALGTOLOOPS_BOUNDINFERENCE_H

#include "passes/linalg-to-loops/LoopBounds.h"

namespace tilewright {

/// The bit of threadIdx.y or threadIdx.z, along which other warps lie; 0 of any other index.
unsigned getWarpRow(schedule::ThreadTag tag);

class BoundInference {
public:
  BoundInference(const StageModel &model, bool onProcessor);
  mlir::LogicalResult run();

  LoopBounds bounds;

private:
  // InferBounds.cpp
  mlir::LogicalResult inferDomain(const ScheduledStage &stage);
  std::optional<Interval> getRegion(const ScheduledStage &stage, unsigned dimension,
                                    const llvm::DenseSet<const Axis *> &around);
  mlir::LogicalResult verifyBinds(const ScheduledStage &stage);
  bool keepsExtent(const Axis *axis);
  mlir::LogicalResult inferExtents(const ScheduledStage &stage);
  // DistributeLoops.cpp
  void distributeAmongThreads(const ScheduledStage &stage);
  Axis *createAxis(std::string name, const Axis *from, mlir::Location loc);
  const Axis *fuse(llvm::ArrayRef<const Axis *> parts, mlir::Location loc);
  /// Splits an axis by `factor`, with the inner loop bound to `tag`, and returns the outer one.
  const Axis *split(const Axis *axis, int64_t factor, schedule::ThreadTag tag, mlir::Location loc);
  void replaceLoops(const ScheduledStage &stage, llvm::ArrayRef<const Axis *> old, llvm::ArrayRef<const Axis *> made);
  // Scans.cpp
  llvm::SmallVector<const Axis *> getLoopsAroundSteps(const ScheduledStage &scan);
  mlir::LogicalResult inferUpdateDomain(const ScheduledStage &stage);
  /// Whether each loop around the steps of a scan reads what it wrote alone.
  mlir::LogicalResult verifySteps();
  // Followers.cpp
  /// The part of its producer's tensor that an iteration around a follower computes, a pair of first element and
  /// extent. If it is not clipped it may be larger than the tensor.
  std::optional<llvm::SmallVector<std::pair<mlir::AffineExpr, mlir::AffineExpr>>>
  getProduced(const ScheduledStage &producer, const Axis *loop, bool isClipped = true);
  mlir::LogicalResult inferFollowerDomain(const ScheduledStage &stage);
  /// Which part of the tensor the stage's buffer holds, and where it lives.
  mlir::LogicalResult placeBuffer(const ScheduledStage &stage);
  // Layouts.cpp
  /// Finds the dimension along which the windows of a stage's rolling buffer move.
  mlir::LogicalResult roll(const ScheduledStage &stage);
  mlir::LogicalResult verifyLayout(const ScheduledStage &stage);
  mlir::LogicalResult verifyMap(const ScheduledStage &stage);
  mlir::LogicalResult verifySwizzle(const ScheduledStage &stage);
  // The others: what needs bounds to be checked
  mlir::LogicalResult verifyEnvThreads(const ScheduledStage &stage);
  mlir::LogicalResult verifyStoredBy(const ScheduledStage &stage);
  mlir::LogicalResult verifyPrefetches(const ScheduledStage &stage);
  mlir::LogicalResult verifyAsynchronous(const ScheduledStage &stage);
  mlir::LogicalResult verifyDecomposition(const ScheduledStage &stage);
  mlir::LogicalResult verifyPipeline(const ScheduledStage &stage);
  mlir::LogicalResult verifyMarks();

  const StageModel &model;
  mlir::func::FuncOp function;
  bool onProcessor;
};

} // namespace tilewright

#endif
