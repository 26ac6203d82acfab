//===- StageModel.h - a function's stages with their schedules ------------===//
//
// The first of three phases of apply-schedule: `resolve` makes of linalg ops and a schedule the stages of a function in
// order, each with its axes, the relations between them, its loops, and where it is computed. Bound inference
// (LoopBounds.h) and the emission of loops (LoopEmitter.h) read that: they have a const model, all of which is const.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_PASSES_LINALGTOLOOPS_STAGEMODEL_H
#define TILEWRIGHT_PASSES_LINALGTOLOOPS_STAGEMODEL_H

#include "passes/PassSupport.h"
#include "passes/index/Bounds.h"
#include "passes/linalg-to-loops/Links.h"

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
  Link<ScheduledStage> stage;
  mlir::Location loc;
  bool isReduce = false;
  bool isOrdered = false; // of a scan: its iterations come one after the other

  // What made it. A root axis has none.
  enum class Origin { Root, Split, Fuse } origin = Origin::Root;
  // The other direction: what it was made into.
  Link<Axis> outer, inner;               // by split
  int64_t factor = 0, nparts = 0;        // one of them, of the split,
  std::string factorName, npartsName;    // or one of these, the name of a symbol
  mlir::AffineExpr given;                // and what that stands for
  Link<Axis> fused;                      // by fuse
  llvm::SmallVector<const Axis *> parts; // of a fused axis

  // How the loop runs.
  std::optional<schedule::ThreadTag> bind;
  std::optional<int64_t> bindExtent; // as the user said it
  bool reduceAdd = false;            // blocks add their parts to the result
  bool vectorize = false, unroll = false, parallel = false, partition = false;
  std::optional<int64_t> autoUnroll;        // stores that the loops from here on may be unrolled to
  std::optional<mlir::Location> exactSplit; // of the split that must not need predicates
  int64_t pipelineDepth = 0;                // what is attached here is computed that many iterations less one ahead
  bool pipelineAsync = false;
  schedule::SpecializeAttr specialized;
  int64_t cluster = 0; // blocks along it in a cluster

  /// Of a root axis and of a loop of one iteration: how far the tensor goes, a constant or an expression of symbols.
  mlir::AffineExpr wholeExtent;

  bool isLoop() const { return !outer && !fused; }
  /// How its iterations run: what is said last counts.
  void runAs(bool Axis::*how, mlir::Location where) {
    vectorize = unroll = parallel = false;
    this->*how = true;
    loc = where;
  }
  Axis(std::string name, ScheduledStage *stage, mlir::Location loc, bool isReduce)
      : name(std::move(name)), stage(stage), loc(loc), isReduce(isReduce) {}
  /// One of the same stage.
  Axis(std::string name, const Axis &beside, mlir::Location loc)
      : name(std::move(name)), stage(beside.stage), loc(loc), isReduce(beside.isReduce) {}
};

/// A te.compute or te.extern with what the schedule says of it.
struct ScheduledStage {
  std::string name;
  mlir::linalg::GenericOp op; // null of an extern
  /// Statements in place of axes: such a stage has none, nor loops, and is computed whole, at the root.
  te::ExternOp externOp;
  llvm::SmallVector<Link<Axis>> roots; // spatial, then reduction axes
  unsigned numSpatial = 0;
  llvm::SmallVector<Link<Axis>> singletons; // loops of one iteration, of no axis
  /// An axis has extent 0: nothing is computed. To the schedule the extent is 1, by which anything can be divided.
  bool isEmpty = false;
  llvm::SmallVector<Link<Axis>> loops; // outermost first
  // As the user said it; what follows otherwise is in the bounds.
  std::optional<schedule::Scope> scope;
  bool isWarp = false; // in shared memory, unless the lanes of a warp can exchange it

  std::optional<mlir::Location> doubleBuffer; // where the schedule says so
  std::optional<int64_t> minBlocks;           // of its kernel on an SM, where it is computed at the root
  /// Neighbours along a spatial axis lie `offset` more than a multiple of `factor` elements apart.
  struct Alignment {
    unsigned dimension;
    int64_t factor, offset;
    mlir::Location loc;
  };
  llvm::SmallVector<Alignment> alignments;

  // Where it is computed: at the root, or in a loop of its consumer.
  Link<ScheduledStage> attachStage;
  Link<Axis> attachAxis;
  std::optional<mlir::Location> attachLoc;
  llvm::SmallVector<Link<ScheduledStage>> attached; // in order of computation
  // In the steps of a scan: the scan's first update, at whose ordered loop or inside of it the stage is computed.
  Link<ScheduledStage> scan;
  bool isUpdate = false;                           // an update of that scan, but its first
  bool hasSteps = false;                           // the first update of a scan whose steps have other stages in them
  llvm::SmallVector<Link<ScheduledStage>> updates; // of that: the other updates, in order of computation
  // By reverse_compute_at it is attached to a stage that it reads, and computed after what it reads.
  bool follows = false;
  llvm::SmallVector<Link<ScheduledStage>> followers; // in order of computation

  /// Of a reduction: the loop before which the elements are set to its identity, where the schedule says.
  Link<Axis> decomposeAt;
  std::optional<mlir::Location> decomposeLoc;
  /// The loop from which on an intrinsic computes the stage, with the primitive that says so.
  Link<Axis> tensorizeAt;
  schedule::TensorizeOp tensorize;

  /// Where the elements of its buffer lie: at the places of a map, in rows with exchanged granules, in a circle.
  struct Layout {
    mlir::AffineMap map;
    int64_t granule = 0;
    std::optional<mlir::Location> mapLoc, swizzleLoc, rollingLoc;
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
    Link<Axis> axis;
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

  mlir::Operation *getOperation() const {
    auto &self = const_cast<ScheduledStage &>(*this);
    return self.externOp ? self.externOp.getOperation() : self.op.getOperation();
  }
  mlir::Location getLoc() const { return getOperation()->getLoc(); }
  const ScheduledStage &root() const { return attachStage ? attachStage->root() : *this; }
  bool isOutput() const;
  /// Whether blocks add up what they computed, and the loop that is bound to them.
  const Axis *getReduceAdd() const {
    auto found = llvm::find_if(loops, [](const Axis *loop) { return loop->reduceAdd; });
    return found == loops.end() ? nullptr : static_cast<const Axis *>(*found);
  }
  /// Of a scan: the loop that gives the order.
  const Axis *getOrdered() const { return !roots.empty() && roots.front()->isOrdered ? roots.front() : nullptr; }
  Axis *getOrdered() { return !roots.empty() && roots.front()->isOrdered ? roots.front() : nullptr; }
};
/// The place among loops of the first that is in a reduction by a block: what is around it runs once an element.
template <typename Loops> unsigned getFirstReduce(const Loops &loops) {
  return llvm::find_if(loops, [](const Axis *loop) { return loop->isReduce && !loop->reduceAdd; }) - loops.begin();
}

/// What a symbol stands for: a dimension of an argument in units of `unit`, or any other `index` value of the function.
struct Symbol {
  std::string name; // the user's, where there is one
  mlir::BlockArgument argument;
  int64_t dimension = 0;
  int64_t unit = 1;
  mlir::Value value;
};

/// The stages of a function with what a schedule says of them. `resolve` makes one; afterwards it is only read.
class StageModel {
public:
  /// Collects the stages of the function and applies what is left of the schedule, everything but the dataflow: that
  /// may be null. Fails with a diagnostic where an op is no stage, or the schedule is not one of these stages.
  static mlir::FailureOr<StageModel> resolve(mlir::func::FuncOp function, schedule::OfOp of);

  const ScheduledStage *getStage(llvm::StringRef name) const;
  /// The stage that computes a tensor, or null for an argument.
  const ScheduledStage *getProducer(mlir::Value tensor) const;
  /// The scan that writes into a tensor, the argument of an output or a te.state; null of any other.
  const ScheduledStage *getScanInto(mlir::Value tensor) const;
  /// The extents of an argument, or of a tensor that a stage reads or writes: constants or expressions of symbols.
  llvm::ArrayRef<mlir::AffineExpr> getExtents(mlir::Value tensor) const { return extents.find(tensor)->second; }
  llvm::ArrayRef<Symbol> getSymbols() const { return symbols; }

  /// The tensor of this name that a stage reads, or null.
  mlir::Value getReadTensor(const ScheduledStage &stage, llvm::StringRef name) const;

  mutable mlir::func::FuncOp function;       // a handle, whose methods are not const
  std::vector<Owned<ScheduledStage>> stages; // producers first
  std::vector<Owned<Axis>> axes;             // each after those it was made of

private:
  explicit StageModel(mlir::func::FuncOp function) : function(function) {}

  ScheduledStage *getStage(llvm::StringRef name);
  ScheduledStage *getProducer(mlir::Value tensor);
  ScheduledStage *getScanInto(mlir::Value tensor);
  mlir::LogicalResult collect();
  mlir::LogicalResult apply(schedule::OfOp of);
  void collectExtents();
  mlir::AffineExpr findExtent(mlir::Value tensor, int64_t dimension);
  mlir::AffineExpr getExpr(mlir::Value index);
  /// The symbol that stands for this; one that is not known is added.
  mlir::AffineExpr getSymbol(const Symbol &symbol);
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
  mlir::LogicalResult verifyFollower(ScheduledStage &stage);
  mlir::LogicalResult verifyReduceAdd(ScheduledStage &stage);

  llvm::SmallVector<Symbol> symbols; // by their number
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::AffineExpr>> extents;
};

/// The functions that apply-schedule makes loops of, each with its schedule or null. With `onProcessor` those alone
/// that have a schedule, or scans that need its loops.
llvm::SmallVector<std::pair<mlir::func::FuncOp, schedule::OfOp>> getScheduledFunctions(mlir::ModuleOp module,
                                                                                       bool onProcessor);
/// True where a stage reads what the steps of a scan hand on: the loops of such a scan are those of apply-schedule.
bool hasScanOfStages(mlir::func::FuncOp function);
/// The memory space of buffers in a scope.
mlir::Attribute getMemorySpace(mlir::MLIRContext *context, schedule::Scope scope);
bool isThread(schedule::ThreadTag tag);

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
llvm::SmallVector<Access> getReads(const ScheduledStage &stage);

} // namespace tilewright

#endif
