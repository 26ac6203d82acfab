//===- StageModel.h - a function's stages with their schedules ------------===//
//
// What apply-schedule knows of a function: its stages in order, each with its axes, the relations between them, the
// loops that are left, and where the stage is computed. Filled from linalg ops and a schedule, completed by bound
// inference, read by the emission of loops.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_PASSES_LINALGTOLOOPS_STAGEMODEL_H
#define TILEWRIGHT_PASSES_LINALGTOLOOPS_STAGEMODEL_H

#include "passes/PassSupport.h"
#include "passes/index/Bounds.h"

namespace tilewright {

using index::ExtentFn;
using index::getInterval;
using index::Interval;
using index::isProvablyLess;
using index::isProvablyNonNegative;
using index::simplify;

struct ScheduledStage;
struct Access;

/// An axis of a stage: a root axis of its op, or one made by split or fuse.
struct Axis {
  std::string name;
  ScheduledStage *stage = nullptr;
  mlir::Location loc;
  bool isReduce = false;
  bool isOrdered = false; // of a scan: its iterations come one after the other

  // What made it. A root axis has none.
  enum class Origin { Root, Split, Fuse } origin = Origin::Root;
  // The other direction: what it was made into.
  Axis *outer = nullptr, *inner = nullptr; // by split
  int64_t factor = 0, nparts = 0;          // one of them, of the split,
  std::string factorName, npartsName;      // or one of these, the name of a symbol
  mlir::AffineExpr given;                  // and what that stands for
  Axis *fused = nullptr;                   // by fuse
  llvm::SmallVector<Axis *> parts;         // of a fused axis

  // How the loop runs.
  std::optional<schedule::ThreadTag> bind;
  std::optional<int64_t> bindExtent; // as the user said it
  bool vectorize = false, unroll = false, parallel = false, partition = false;
  std::optional<int64_t> autoUnroll;        // stores that the loops from here on may be written out to
  std::optional<mlir::Location> exactSplit; // of the split that must not need predicates
  bool isSharedOut = false;                 // by no primitive: the threads of the block share its iterations
  int64_t pipelineDepth = 0;                // what is attached here is computed that many iterations less one ahead
  bool pipelineAsync = false;
  schedule::SpecializeAttr specialized;
  int64_t cluster = 0; // blocks along it in a cluster

  // Filled by bound inference.
  mlir::AffineExpr extent; // a constant or an expression of symbols
  unsigned dim = 0;        // of a loop: its number among all loops of the function
  mlir::AffineExpr index;  // its value, of the loops of its stage

  bool isLoop() const { return !outer && !fused; }
  /// How its iterations run: what is said last counts.
  void runAs(bool Axis::*how, mlir::Location where) {
    vectorize = unroll = parallel = false;
    this->*how = true;
    loc = where;
  }
  /// Of an axis that is no loop: why, to be said after "which".
  std::string whyNoLoop() const;
  Axis(std::string name, ScheduledStage *stage, mlir::Location loc, bool isReduce)
      : name(std::move(name)), stage(stage), loc(loc), isReduce(isReduce) {}
};

/// One result of a stage: the tensor, and once loops are emitted the buffer that holds the part that is computed.
struct ScheduledStage {
  std::string name;
  mlir::linalg::GenericOp op; // null of an extern
  /// Statements in place of axes: such a stage has none, nor loops, and is computed whole, at the root.
  te::ExternOp externOp;
  llvm::SmallVector<Axis *> roots; // spatial, then reduction axes
  unsigned numSpatial = 0;
  llvm::SmallVector<Axis *> singletons; // loops of one iteration, of no axis
  /// An axis has extent 0: nothing is computed. To the schedule the extent is 1, by which anything can be divided.
  bool isEmpty = false;
  llvm::SmallVector<Axis *> loops; // outermost first
  // As the user said, or as follows from the loops around: local inside threads, shared inside blocks.
  std::optional<schedule::Scope> scope;
  bool isWarp = false;   // in shared memory, unless the lanes of a warp can exchange it
  unsigned warpRows = 0; // the thread indices, 2 for y and 4 for z, along which each thread has one of its own

  std::optional<mlir::Location> doubleBuffer; // where the schedule says so
  std::optional<int64_t> minBlocks;           // of its kernel on a multiprocessor, where it is computed at the root
  /// Neighbours along a spatial axis lie `offset` more than a multiple of `factor` elements apart.
  struct Alignment {
    unsigned dimension;
    int64_t factor, offset;
    mlir::Location loc;
  };
  llvm::SmallVector<Alignment> alignments;

  // Where it is computed: at the root, or in a loop of its consumer.
  ScheduledStage *attachStage = nullptr;
  Axis *attachAxis = nullptr;
  std::optional<mlir::Location> attachLoc;
  llvm::SmallVector<ScheduledStage *> attached; // in order of computation
  // In the steps of a scan: the scan's first update, at whose ordered loop or inside of it the stage is computed.
  ScheduledStage *scan = nullptr;
  bool isUpdate = false;                       // an update of that scan, but its first
  bool hasSteps = false;                       // the first update of a scan whose steps have other stages in them
  llvm::SmallVector<ScheduledStage *> updates; // of that: the other updates, in order of computation
  // By reverse_compute_at it is attached to a stage that it reads, and computed after what it reads.
  bool follows = false;
  llvm::SmallVector<ScheduledStage *> followers; // in order of computation

  /// Of a reduction: the loop before which the elements are set to its identity, where the schedule says.
  Axis *decomposeAt = nullptr;
  std::optional<mlir::Location> decomposeLoc;
  /// The loop from which on an intrinsic computes the stage, with the primitive that says so.
  Axis *tensorizeAt = nullptr;
  schedule::TensorizeOp tensorize;

  /// Where the elements of its buffer lie: at the places of a map, in rows with exchanged granules, in a circle.
  struct Layout {
    mlir::AffineMap map;
    int64_t granule = 0;
    std::optional<mlir::Location> mapLoc, swizzleLoc, rollingLoc;
    std::optional<unsigned> rollingDim; // found by bound inference, as is by how much a window moves
    int64_t rollingStep = 0;
  } layout;

  /// What copies its elements, and how they lie in shared memory.
  struct CopiedBy {
    schedule::CopyAttr how;
    mlir::Location loc;
  };
  std::optional<CopiedBy> copiedBy;
  /// The stage whose result its reduction follows in the loop over tiles, and where the schedule says so.
  std::optional<std::pair<std::string, mlir::Location>> rolling;
  /// Of a stage at the root: how many blocks go through its tiles, and in which order.
  struct Persistent {
    schedule::PersistentAttr how;
    mlir::Location loc;
  };
  std::optional<Persistent> persistent;

  /// What an iteration of a loop asks for ahead of time.
  struct Prefetch {
    std::string tensor;
    Axis *axis;
    int64_t offset;
    mlir::Location loc;
  };
  llvm::SmallVector<Prefetch> prefetches;
  /// Indices that its kernel has threads along, whether a loop is bound to them or not.
  struct EnvThread {
    schedule::ThreadTag thread;
    int64_t extent;
    mlir::Location loc;
  };
  llvm::SmallVector<EnvThread> envThreads;

  /// The threads of an index that are to store, and where the schedule says so.
  struct StoredBy {
    schedule::ThreadTag thread;
    int64_t from, to;
    mlir::Location loc;
  };
  llvm::SmallVector<StoredBy> storedBy;

  // Filled by bound inference: the first element of each spatial axis that is computed, in terms of the loops around.
  llvm::SmallVector<mlir::AffineExpr> mins;
  llvm::SmallVector<mlir::AffineExpr> wholeExtents; // of the spatial axes, before bounds narrowed them
  // Its buffer: the position in the tensor of the first element, the extents, and the loop of its own that it lives in.
  llvm::SmallVector<mlir::AffineExpr> origin, bufferExtents;
  Axis *bufferAxis = nullptr;
  /// Of a stage that is attached in global memory: the loops around it whose iterations run at once. Each has a part of
  /// the buffer.
  llvm::SmallVector<Axis *> instances;

  // Filled by emission.
  llvm::SmallVector<mlir::Value> buffers; // one a result

  mlir::Operation *getOperation() const {
    auto &self = const_cast<ScheduledStage &>(*this);
    return self.externOp ? self.externOp.getOperation() : self.op.getOperation();
  }
  mlir::Location getLoc() const { return getOperation()->getLoc(); }
  ScheduledStage &root() { return attachStage ? attachStage->root() : *this; }
  /// True where a pipelined loop fills the stage's buffer.
  bool isFilledAhead() const {
    return attachAxis && attachAxis->pipelineDepth && !follows && scope == schedule::Scope::Shared;
  }
  bool isOutput() const;
  /// Of a scan: the loop that gives the order.
  Axis *getOrdered() const { return !roots.empty() && roots.front()->isOrdered ? roots.front() : nullptr; }
  /// The place among the loops of the first that is in a reduction: what is around it runs once an element.
  unsigned getFirstReduce() const;
};

/// What a symbol stands for: a dimension of an argument in units of `unit`, or any other `index` value of the function.
struct Symbol {
  std::string name; // the user's, where there is one
  mlir::BlockArgument argument;
  int64_t dimension = 0;
  int64_t unit = 1;
  mlir::Value value;
};

class StageModel {
public:
  explicit StageModel(mlir::func::FuncOp function) : function(function) {}

  /// Collects the stages of the function; fails with a diagnostic where an op is no stage.
  mlir::LogicalResult collect();
  /// Applies what is left of the schedule, if there is one: everything but the dataflow.
  mlir::LogicalResult apply(schedule::OfOp of);
  /// Finds for every stage which part of it is computed, and the extents of its loops.
  mlir::LogicalResult inferBounds();

  ScheduledStage *getStage(llvm::StringRef name);
  /// The stage that computes a tensor, or null for an argument.
  ScheduledStage *getProducer(mlir::Value tensor);
  /// The scan that writes into a tensor, the argument of an output or a te.state; null of any other.
  ScheduledStage *getScanInto(mlir::Value tensor);
  /// The extent of a dimension of a tensor: a constant or an expression of symbols.
  mlir::AffineExpr getExtent(mlir::Value tensor, int64_t dimension);
  llvm::SmallVector<mlir::AffineExpr> getExtents(mlir::Value tensor);
  /// The loop with number `dim`.
  Axis &getLoop(unsigned dim) { return *dims[dim]; }
  unsigned getNumLoops() const { return dims.size(); }

  /// The tensor of this name that a stage reads, or null.
  mlir::Value getReadTensor(ScheduledStage &stage, llvm::StringRef name);
  /// The part of a tensor that an iteration of a prefetch's loop reads of it.
  std::optional<Interval> getPrefetchRegion(ScheduledStage &stage, const ScheduledStage::Prefetch &prefetch,
                                            mlir::Value tensor, unsigned dimension);
  /// The loops of a root stage's kernel that are bound to an index.
  llvm::SmallVector<Axis *> getLoopsOn(ScheduledStage &root, schedule::ThreadTag thread);

  mlir::func::FuncOp function;
  std::vector<std::unique_ptr<ScheduledStage>> stages; // producers first
  llvm::SmallVector<Symbol> symbols;

private:
  mlir::AffineExpr getExpr(mlir::Value index);
  mlir::AffineExpr getSymbol(Symbol symbol);
  Axis *createAxis(std::string name, ScheduledStage *stage, mlir::Location loc, bool isReduce);
  std::pair<Axis *, Axis *> split(Axis *axis, int64_t factor, int64_t nparts, mlir::Location loc);
  /// The number by which a split is said by name: that of the call, or 1 where it is less; null where nothing is called
  /// so.
  mlir::AffineExpr getSplitNumber(llvm::StringRef name);
  Axis *fuse(llvm::ArrayRef<Axis *> axes, mlir::Location loc);
  void reorder(llvm::ArrayRef<Axis *> axes);
  Axis *createSingleton(ScheduledStage &stage, mlir::Location loc);
  mlir::LogicalResult attach(schedule::ComputeAtOp op, Axis *axis);
  mlir::LogicalResult follow(schedule::ReverseComputeAtOp op, Axis *axis);
  /// Notes that a primitive leaves on a loop or a stage; failure where it is none of those.
  mlir::LogicalResult applyMark(mlir::Operation *op, llvm::DenseMap<mlir::Value, Axis *> &axes);
  mlir::LogicalResult applyAsynchronous(mlir::Operation *op, llvm::DenseMap<mlir::Value, Axis *> &axes);
  mlir::LogicalResult applyPrimitive(mlir::Operation *op, llvm::DenseMap<mlir::Value, Axis *> &axes);
  mlir::LogicalResult verifyPlaces();
  /// Puts the stages of scans in the loops that give the order.
  mlir::LogicalResult placeScans();
  mlir::LogicalResult placeScan(llvm::ArrayRef<ScheduledStage *> updates, llvm::ArrayRef<ScheduledStage *> inner);
  /// What a scan needs is computed before it.
  mlir::LogicalResult orderBefore(ScheduledStage &scan, llvm::ArrayRef<ScheduledStage *> inner);
  mlir::LogicalResult verifyInStep(ScheduledStage &stage);
  /// Whether each loop around the steps reads what it wrote alone.
  mlir::LogicalResult verifySteps();
  llvm::SmallVector<Axis *> getLoopsAroundSteps(ScheduledStage &scan);
  mlir::LogicalResult inferUpdateDomain(ScheduledStage &stage);
  mlir::LogicalResult verifyFollower(ScheduledStage &stage);
  mlir::LogicalResult verifyLayout(ScheduledStage &stage);
  mlir::LogicalResult verifyEnvThreads(ScheduledStage &stage);
  mlir::LogicalResult verifyStoredBy(ScheduledStage &stage);
  mlir::LogicalResult verifyPrefetches(ScheduledStage &stage);
  mlir::LogicalResult verifyAsynchronous(ScheduledStage &stage);
  mlir::LogicalResult verifyMarks();

  /// The loops around a stage, outermost first, its own not counted.
  llvm::SmallVector<Axis *> getLoopsAround(ScheduledStage &stage);
  mlir::LogicalResult inferDomain(ScheduledStage &stage);
  /// The part of its producer's tensor that an iteration around a follower computes, a pair of first element and
  /// extent.
  std::optional<llvm::SmallVector<std::pair<mlir::AffineExpr, mlir::AffineExpr>>> getProduced(ScheduledStage &producer,
                                                                                              Axis *loop);
  mlir::LogicalResult inferFollowerDomain(ScheduledStage &stage);
  /// Which part of the tensor the stage's buffer holds, and where it lives.
  mlir::LogicalResult placeBuffer(ScheduledStage &stage);
  /// Finds the dimension along which the windows of a stage's rolling buffer move.
  mlir::LogicalResult roll(ScheduledStage &stage);
  std::optional<Interval> getRegion(ScheduledStage &stage, unsigned dimension, const llvm::DenseSet<Axis *> &around);
  /// What the accesses that `isOf` picks need of a dimension while the loops run for which `runs` holds.
  std::optional<Interval> getRegion(llvm::function_ref<bool(ScheduledStage &, Access &)> isOf, unsigned dimension,
                                    llvm::function_ref<bool(unsigned)> runs, ScheduledStage *inSteps = nullptr);
  /// The values of an access of `reader` where its axes run over what it computes, whatever its loops run over the end
  /// of that. Of all other loops those run for which `runs` holds.
  std::optional<Interval> getIntervalOfAxes(ScheduledStage &reader, mlir::AffineExpr expr,
                                            llvm::function_ref<bool(unsigned)> runs);
  void shareAmongThreads(ScheduledStage &stage);
  bool keepsExtent(Axis *axis);
  mlir::LogicalResult inferExtents(ScheduledStage &stage);

  std::vector<std::unique_ptr<Axis>> axes; // each after those it was made of
  std::vector<Axis *> dims;
};

/// The expression of an access of `reader`, over the loops of the function.
mlir::AffineExpr overLoops(ScheduledStage &reader, mlir::AffineExpr expr);
/// True where a stage reads what the steps of a scan hand on: the loops of such a scan are those of apply-schedule.
bool hasScanOfStages(mlir::func::FuncOp function);
/// The memory space of buffers in a scope.
mlir::Attribute getMemorySpace(mlir::MLIRContext *context, schedule::Scope scope);

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// What a read or write of a tensor says of its indices: an affine expression of the root axes a dimension, or null.
struct Access {
  mlir::Value tensor;
  llvm::SmallVector<mlir::AffineExpr> indices;
};
/// The expression behind an index value of a body, in terms of AffineDims counting its axes; null where there is none.
mlir::AffineExpr getIndexExpr(mlir::linalg::GenericOp op, mlir::Value value);
/// Every access of a stage to tensors that it reads, in terms of AffineDims counting its root axes.
llvm::SmallVector<Access> getReads(ScheduledStage &stage);

} // namespace tilewright

#endif
