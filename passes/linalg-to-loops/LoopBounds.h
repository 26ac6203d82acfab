//===- LoopBounds.h - which part of each stage is computed, and by which loops ===//
//
// The second of three phases of apply-schedule. `inferBounds` makes the bounds of a model's axes and stages; nothing
// changes them, or the model, afterwards.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_PASSES_LINALGTOLOOPS_LOOPBOUNDS_H
#define TILEWRIGHT_PASSES_LINALGTOLOOPS_LOOPBOUNDS_H

#include "passes/linalg-to-loops/StageModel.h"

#include <unordered_map>

namespace tilewright {

struct AxisBounds {
  mlir::AffineExpr extent; // a constant or an expression of symbols
  unsigned dim = 0;        // of a loop: its number among all loops of the function
  mlir::AffineExpr index;  // its value, of the loops of its stage
  /// What it was made into, by the schedule or where its iterations are distributed among threads: two by a split, the
  /// inner of `factor` iterations where that is said; one by a fusion.
  const Axis *outer = nullptr, *inner = nullptr, *fused = nullptr;
  int64_t factor = 0;
  bool isDistributed = false; // by no primitive: the threads of the block share its iterations

  bool isLoop() const { return !outer && !fused; }
};

struct StageBounds {
  /// The loops that are emitted, outermost first: the schedule's, or those that distribute them among threads.
  llvm::SmallVector<const Axis *> loops;
  /// As the user said, or as follows from the loops around: local inside threads, shared inside blocks.
  std::optional<schedule::Scope> scope;
  /// In warp memory: the thread indices, 2 for y and 4 for z, along which each thread has one of its own.
  unsigned warpRows = 0;
  /// The first element of each spatial axis that is computed, in terms of the loops around.
  llvm::SmallVector<mlir::AffineExpr> mins;
  /// Of its buffer: the position in the tensor of the first element, the extents, and the loop of its own that it lives
  /// in.
  llvm::SmallVector<mlir::AffineExpr> origin, bufferExtents;
  const Axis *bufferAxis = nullptr;
  /// Of a stage that is attached in global memory: the loops around it whose iterations run at once. Each has a part of
  /// the buffer.
  llvm::SmallVector<const Axis *> instances;
  /// The dimension along which the windows of a rolling buffer move, and by how much.
  std::optional<unsigned> rollingDim;
  int64_t rollingStep = 0;
};

class LoopBounds {
public:
  const AxisBounds &operator[](const Axis *axis) const { return axes.at(axis); }
  const StageBounds &operator[](const ScheduledStage &stage) const { return stages.at(&stage); }

  /// The loop with number `dim`, and how many there are.
  const Axis *getLoop(unsigned dim) const { return loops[dim]; }
  unsigned getNumLoops() const { return loops.size(); }
  mlir::AffineExpr getExtent(unsigned dim) const { return (*this)[loops[dim]].extent; }
  /// The axes of a stage, each after those that it was made of.
  llvm::SmallVector<const Axis *> getAxes(const ScheduledStage &stage) const;
  /// The loops around a stage, outermost first, its own not counted.
  llvm::SmallVector<const Axis *> getLoopsAround(const ScheduledStage &stage) const;
  /// The loops of a root stage's kernel that are bound to an index.
  llvm::SmallVector<const Axis *> getLoopsOn(const ScheduledStage &root, schedule::ThreadTag thread) const;
  /// Of an axis that is no loop: why, to be said after "which".
  std::string whyNoLoop(const Axis *axis) const;

  /// True where a pipelined loop fills the stage's buffer.
  bool isFilledAhead(const ScheduledStage &stage) const;
  /// The expression of an access of `reader`, over the loops of the function.
  mlir::AffineExpr overLoops(const ScheduledStage &reader, mlir::AffineExpr expr) const;
  /// What the accesses that `isOf` picks need of a dimension while the loops run for which `runs` holds.
  std::optional<Interval> getRegion(llvm::function_ref<bool(const ScheduledStage &, const Access &)> isOf,
                                    unsigned dimension, llvm::function_ref<bool(unsigned)> runs,
                                    const ScheduledStage *inSteps = nullptr) const;
  /// The values of an access of `reader` where its axes run over what it computes, whatever its loops run over the end
  /// of that. Of all other loops those run for which `runs` holds.
  std::optional<Interval> getIntervalOfAxes(const ScheduledStage &reader, mlir::AffineExpr expr,
                                            llvm::function_ref<bool(unsigned)> runs) const;
  /// The part of a tensor that an iteration of a prefetch's loop reads of it.
  std::optional<Interval> getPrefetchRegion(const ScheduledStage &stage, const ScheduledStage::Prefetch &prefetch,
                                            mlir::Value tensor, unsigned dimension) const;
  /// The shape of the stage's buffer as it lies in memory; failure where an index can be below 0.
  mlir::FailureOr<llvm::SmallVector<mlir::AffineExpr>> getPlacedShape(const ScheduledStage &stage) const;

  /// Of each stage the memory, the part that is computed, the buffer and the loops.
  void print(llvm::raw_ostream &stream) const;

private:
  friend class BoundInference;
  explicit LoopBounds(const StageModel &model) : model(&model) {}
  AxisBounds &operator[](const Axis *axis) { return axes[axis]; }
  StageBounds &operator[](const ScheduledStage &stage) { return stages[&stage]; }
  /// Gives a loop the next number.
  void number(const Axis *loop);

  const StageModel *model;
  // By address: what inference holds a reference to stays where it is.
  std::unordered_map<const Axis *, AxisBounds> axes;
  std::unordered_map<const ScheduledStage *, StageBounds> stages;
  std::vector<Owned<Axis>> distributed;  // axes of no primitive, that distribute others among threads
  llvm::SmallVector<const Axis *> loops; // by number
};

/// Finds for every stage which part of it is computed, and the extents of its loops; fails with a diagnostic where what
/// the schedule says does not fit these. With `onProcessor` what is computed at a loop is the loop's own. The model
/// must outlive the bounds.
mlir::FailureOr<LoopBounds> inferBounds(const StageModel &model, bool onProcessor);

} // namespace tilewright

#endif
