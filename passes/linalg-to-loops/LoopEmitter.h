//===- LoopEmitter.h - the loops of a function with bounds known ----------===//
#ifndef TILEWRIGHT_PASSES_LINALGTOLOOPS_LOOPEMITTER_H
#define TILEWRIGHT_PASSES_LINALGTOLOOPS_LOOPEMITTER_H

#include "passes/linalg-to-loops/StageModel.h"
#include "passes/linalg-to-loops/Tensorize.h"

#include "mlir/IR/IRMapping.h"

namespace tilewright {

/// Accumulators beyond this many elements would not be registers: the stage then accumulates in its own buffer.
inline constexpr int64_t kMaxAccumulators = 1024;

/// The third of three phases of apply-schedule: emits the stages of a model as loops on memrefs into a function that
/// takes the place of the model's.
class LoopEmitter {
public:
  LoopEmitter(const StageModel &model, const LoopBounds &bounds, mlir::func::FuncOp target);
  mlir::LogicalResult emit();

private:
  /// A condition on a stage's loops under which its element exists.
  struct Predicate {
    mlir::AffineExpr expr, bound; // expr < bound; without bound, expr >= 0
    bool onReduction;
  };
  /// Where the elements of a stage go while it is computed: its buffers, or private accumulators beside them.
  struct Destination {
    llvm::SmallVector<mlir::Value> buffers;
    llvm::SmallVector<mlir::AffineExpr> indices;
    const ScheduledStage *stage = nullptr; // whose layout they have; none of private accumulators
  };
  using Leaf = llvm::function_ref<mlir::LogicalResult()>;

  mlir::LogicalResult emitStage(const ScheduledStage &stage);
  mlir::LogicalResult emitReduction(const ScheduledStage &stage, unsigned firstReduce);
  /// A reduction with axes bound to threads: each iteration of their loops reduces a part; the loops combine the parts.
  mlir::LogicalResult emitThreadReduction(const ScheduledStage &stage, unsigned firstReduce);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  emitParts(const ScheduledStage &stage, llvm::ArrayRef<const Axis *> threads, llvm::ArrayRef<const Axis *> serial);
  /// Of a sum to which blocks add their parts: a kernel that fills the result with zeros.
  void emitZeros(const ScheduledStage &stage);
  /// The element that the stage adds to its result, where each block adds one.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> emitAddend(const ScheduledStage &stage);
  /// A stage whose loops from one on are an intrinsic.
  mlir::LogicalResult emitTensorized(const ScheduledStage &stage);
  mlir::LogicalResult emitIdentityWithoutIterations(const ScheduledStage &stage, llvm::ArrayRef<const Axis *> around,
                                                    llvm::ArrayRef<const Axis *> tile);
  mlir::LogicalResult checkTileIsWhole(const ScheduledStage &stage, llvm::ArrayRef<const Axis *> tile);
  /// Clones statements on buffers, the arguments of their block, that stand for parts of tensors. Returns the clones.
  llvm::SmallVector<mlir::Operation *> emitStatements(const ScheduledStage &stage,
                                                      llvm::iterator_range<mlir::Block::iterator> statements,
                                                      llvm::ArrayRef<TileArgument> arguments);
  mlir::LogicalResult emitExtern(const ScheduledStage &stage);
  /// Loops over the threads that the stage's kernel has though no loop is bound to them, with the insertion point in
  /// them.
  void openEnvThreads(const ScheduledStage &stage);
  /// The requests for what later iterations of a loop read.
  void emitPrefetches(const Axis *axis);
  /// The stage's reducer applied to values reduced so far and to others.
  llvm::SmallVector<mlir::Value> emitCombine(const ScheduledStage &stage, mlir::ValueRange reduced,
                                             mlir::ValueRange elements);
  /// A loop over `axis`, with the insertion point in it.
  mlir::scf::ForOp openLoop(const Axis *axis, mlir::ValueRange inits = {});
  /// Opens `loops`, outermost first; `withAttached` emits the stages attached to them as they open, and those that
  /// follow as they close.
  mlir::LogicalResult emitLoops(llvm::ArrayRef<const Axis *> loops, bool withAttached, Leaf leaf);
  /// Runs `leaf` under the predicates of the stage: all of them, or those on spatial axes alone.
  mlir::LogicalResult emitGuarded(const ScheduledStage &stage, bool withReduction, Leaf leaf);
  llvm::SmallVector<Predicate> getPredicates(const ScheduledStage &stage);

  mlir::LogicalResult allocate(const ScheduledStage &stage);
  llvm::SmallVector<mlir::Value> placeWithin(const ScheduledStage *stage, llvm::ArrayRef<mlir::AffineExpr> indices,
                                             mlir::Location loc);
  llvm::SmallVector<mlir::Value> placeWithin(const ScheduledStage *stage, llvm::ArrayRef<mlir::Value> indices,
                                             mlir::Location loc);
  /// Where in its buffer an element of the stage lies that has these indices there; of an argument (null) as they are.
  llvm::SmallVector<mlir::Value> place(const ScheduledStage *stage, llvm::ArrayRef<mlir::AffineExpr> indices,
                                       mlir::Location loc);
  llvm::SmallVector<mlir::Value> place(const ScheduledStage *stage, llvm::ArrayRef<mlir::Value> indices,
                                       mlir::Location loc);
  /// Whether an element was not computed by an earlier iteration, of a stage with a rolling buffer; null of others.
  mlir::Value emitIsNew(const ScheduledStage &stage);
  /// A thread's own buffers, one for each of the stage's.
  llvm::SmallVector<mlir::Value> createPrivateBuffers(const ScheduledStage &stage, llvm::ArrayRef<int64_t> shape,
                                                      llvm::StringRef suffix);
  Destination getAccumulators(const ScheduledStage &stage, llvm::ArrayRef<const Axis *> inner);
  Destination getResult(const ScheduledStage &stage);
  /// The elements that the stage computes at the current point; `carried` are those reduced so far.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> emitBody(const ScheduledStage &stage, mlir::ValueRange carried);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> emitIdentity(const ScheduledStage &stage);
  llvm::SmallVector<mlir::Value> load(const Destination &from, mlir::Location loc);
  void store(const Destination &to, mlir::ValueRange values, mlir::Location loc);
  /// What the schedule says of the kernel of a stage stands on its outermost loop, of who copies a stage on its store.
  void markKernel(const ScheduledStage &stage, mlir::scf::ForOp loop);
  void markCopy(const ScheduledStage &stage, mlir::Operation *store);

  /// The buffer that holds a tensor, and where its first element stands in it.
  mlir::Value getBuffer(mlir::Value tensor);
  llvm::ArrayRef<mlir::AffineExpr> getOrigin(mlir::Value tensor);
  llvm::SmallVector<mlir::Value> materialize(llvm::ArrayRef<mlir::AffineExpr> exprs, mlir::Location loc);
  mlir::Value materialize(mlir::AffineExpr expr, mlir::Location loc);
  mlir::Value expand(mlir::AffineExpr expr, mlir::Location loc);
  mlir::Value getConstant(int64_t value);
  mlir::Value getSymbol(unsigned position);
  mlir::Value onBuffers(mlir::Value index);
  /// `onBuffers` of what a body mentions, once for all bodies.
  mlir::Value getCaptured(mlir::Value value);
  /// Marks loops to be unrolled, innermost first, as long as each makes `maxSteps` stores at most.
  static void markUnrolled(mlir::scf::ForOp loop, int64_t maxSteps);

  const StageModel &model;
  const LoopBounds &bounds;
  mlir::func::FuncOp target;
  mlir::OpBuilder builder;
  llvm::DenseMap<unsigned, mlir::Value> loopValues; // by Axis::dim
  /// Of each stage the buffers, one a result.
  llvm::DenseMap<const ScheduledStage *, llvm::SmallVector<mlir::Value>> buffers;
  llvm::DenseMap<int64_t, mlir::Value> constants;
  llvm::DenseMap<unsigned, mlir::Value> symbolValues;
  llvm::DenseMap<mlir::Value, mlir::Value> capturedValues;
  llvm::SmallVector<std::pair<mlir::scf::ForOp, int64_t>> autoUnrolled; // with their number of steps
  mlir::Operation *lastAtTop = nullptr; // constants, extents and temporaries stand at the top, in order of need
};

} // namespace tilewright

#endif
