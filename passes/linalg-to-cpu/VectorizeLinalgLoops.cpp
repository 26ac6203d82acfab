//===- VectorizeLinalgLoops.cpp - linalg on memrefs as vectorised loops ---===//
#include "dialects/Schedule/Schedule.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "passes/linalg-to-cpu/LanesBuilder.h"
#include "passes/linalg-to-cpu/LoopPlan.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_VECTORIZELINALGLOOPS
#include "passes/linalg-to-cpu/Passes.h.inc"

/// So many iterations of a loop for threads are enough for all of them.
static constexpr int64_t kIterationsForThreads = 64;

namespace {

/// Emits the loops of one op by its plan. All loops over spatial axes come first, the tile innermost among them; the
/// loops over reduction axes run inside with the whole tile in registers.
class LinalgLoopEmitter {
public:
  LinalgLoopEmitter(IRRewriter &rewriter, linalg::GenericOp op, LoopPlan plan)
      : rewriter(rewriter), loc(op.getLoc()), op(op), plan(plan), axes(op.getNumLoops()), isForThreads(plan.isLong) {}

  void emit();

private:
  /// The accumulators of a tile: by row, by vector, by output.
  using Tile = SmallVector<Lanes>;

  void emitSpatial(ArrayRef<unsigned> rest);
  /// How many of the outermost axes are one loop for threads: enough for all of them.
  unsigned countForThreads(ArrayRef<unsigned> rest);
  /// The loop for threads over all of `outer`.
  void emitForThreads(ArrayRef<unsigned> outer, function_ref<void()> body);
  void emitTile();
  SmallVector<Value> emitReduction(ArrayRef<unsigned> rest, SmallVector<Value> accumulators);
  /// One step of the tile: the body for each row and vector.
  Tile emitBodies(const Tile &outs);
  /// A loop over `axis` from `from` to `to`.
  SmallVector<Value> emitLoop(unsigned axis, OpFoldResult from, OpFoldResult to, int64_t step, ValueRange inits,
                              function_ref<SmallVector<Value>(ValueRange)> body);
  /// What of `axis` full steps cover.
  OpFoldResult getMainExtent(unsigned axis, int64_t step);
  /// The iterators for one row and vector of the tile.
  SmallVector<Lanes> getAxes(int64_t row, int64_t vector);
  Lanes combine(unsigned output, Lanes a, Lanes b);
  Lanes combineLanes(unsigned output, Lanes value);
  bool reducesVector() {
    return plan.vectorAxis && op.getIteratorTypesArray()[*plan.vectorAxis] == utils::IteratorType::reduction;
  }
  bool isTileScalar() { return reducesVector() || lanes == 1; }

  IRRewriter &rewriter;
  Location loc;
  linalg::GenericOp op;
  LoopPlan plan;
  SmallVector<OpFoldResult> extents;
  SmallVector<Value> axes;
  // The tile at the place that is being emitted: smaller than the plan's where an extent is no multiple of it.
  int64_t lanes = 1, vectors = 1, rows = 1;
  Value mask;
  // Whether the next loop over spatial axes is the one that threads share.
  bool isForThreads;
};

SmallVector<Value> LinalgLoopEmitter::emitLoop(unsigned axis, OpFoldResult from, OpFoldResult to, int64_t step,
                                               ValueRange inits, function_ref<SmallVector<Value>(ValueRange)> body) {
  std::optional<int64_t> first = getConstantIntValue(from), last = getConstantIntValue(to);
  if (first && last && *first >= *last)
    return inits;
  if (first && last && *first + step >= *last) {
    axes[axis] = getValueOrCreateConstantIndexOp(rewriter, loc, from);
    return body(inits);
  }
  bool forThreads = inits.empty() && std::exchange(isForThreads, false);
  AffineExpr a = rewriter.getAffineSymbolExpr(0), b = rewriter.getAffineSymbolExpr(1);
  Value begin = getValueOrCreateConstantIndexOp(rewriter, loc, from);
  Value bounds[] = {begin, getValueOrCreateConstantIndexOp(rewriter, loc, to),
                    arith::ConstantIndexOp::create(rewriter, loc, step)};
  if (forThreads) {
    // Threads count from 0 by one.
    OpFoldResult trips = affine::makeComposedFoldedAffineApply(rewriter, loc, (b - a).ceilDiv(step), {from, to});
    bounds[0] = arith::ConstantIndexOp::create(rewriter, loc, 0);
    bounds[1] = getValueOrCreateConstantIndexOp(rewriter, loc, trips);
    bounds[2] = arith::ConstantIndexOp::create(rewriter, loc, 1);
  }
  auto loop = scf::ForOp::create(rewriter, loc, bounds[0], bounds[1], bounds[2], inits);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  axes[axis] = loop.getInductionVar();
  if (forThreads) {
    loop->setAttr(schedule::kParallelAttr, rewriter.getUnitAttr());
    axes[axis] = affine::makeComposedAffineApply(rewriter, loc, a + b * step, {begin, axes[axis]});
  }
  SmallVector<Value> results = body(loop.getRegionIterArgs());
  if (!inits.empty())
    scf::YieldOp::create(rewriter, loc, results);
  return loop.getResults();
}

OpFoldResult LinalgLoopEmitter::getMainExtent(unsigned axis, int64_t step) {
  if (step == 1)
    return extents[axis];
  AffineExpr extent = rewriter.getAffineSymbolExpr(0);
  return affine::makeComposedFoldedAffineApply(rewriter, loc, extent.floorDiv(step) * step, {extents[axis]});
}

SmallVector<Lanes> LinalgLoopEmitter::getAxes(int64_t row, int64_t vector) {
  SmallVector<Lanes> all;
  for (unsigned axis = 0; axis < axes.size(); ++axis) {
    Value value = axes[axis];
    int64_t offset = plan.rowAxis == axis ? row : plan.vectorAxis == axis ? vector * lanes : 0;
    if (offset)
      value = arith::AddIOp::create(rewriter, loc, value, arith::ConstantIndexOp::create(rewriter, loc, offset));
    all.push_back({value, plan.vectorAxis == axis && lanes > 1 ? 1 : 0});
  }
  return all;
}

LinalgLoopEmitter::Tile LinalgLoopEmitter::emitBodies(const Tile &outs) {
  Tile results;
  unsigned numOutputs = op.getNumDpsInits();
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t vector = 0; vector < vectors; ++vector) {
      LanesBuilder builder(rewriter, lanes, mask);
      ArrayRef<Lanes> mine = ArrayRef(outs).slice(results.size(), numOutputs);
      SmallVector<Lanes> yielded = builder.build(op, getAxes(row, vector), mine);
      for (auto [value, out] : llvm::zip(yielded, mine)) {
        // Lanes that do not run must not be summed up in the end.
        if (mask && reducesVector())
          value = {arith::SelectOp::create(rewriter, loc, mask, builder.materialize(loc, value), out.value), 0, true};
        results.push_back(value);
      }
    }
  return results;
}

SmallVector<Value> LinalgLoopEmitter::emitReduction(ArrayRef<unsigned> rest, SmallVector<Value> accumulators) {
  if (rest.empty()) {
    Tile outs;
    for (Value value : accumulators)
      outs.push_back({value, 0, isa<VectorType>(value.getType())});
    SmallVector<Value> values;
    for (Lanes result : emitBodies(outs))
      values.push_back(LanesBuilder(rewriter, lanes).materialize(loc, result));
    return values;
  }
  unsigned axis = rest.front();
  auto inner = [&](ValueRange values) { return emitReduction(rest.drop_front(), SmallVector<Value>(values)); };
  OpFoldResult zero = rewriter.getIndexAttr(0);
  if (plan.vectorAxis != axis)
    return emitLoop(axis, zero, extents[axis], 1, accumulators, inner);
  // Whole tiles of vectors, then one vector at a time with what is left masked; all in the same accumulators.
  int64_t tile = vectors;
  OpFoldResult main = getMainExtent(axis, lanes * vectors);
  accumulators = emitLoop(axis, zero, main, lanes * vectors, accumulators, inner);
  unsigned numOutputs = op.getNumDpsInits();
  SmallVector<Value> firsts;
  for (int64_t row = 0; row < rows; ++row)
    llvm::append_range(firsts, ArrayRef(accumulators).slice(row * tile * numOutputs, numOutputs));
  vectors = 1;
  firsts = emitLoop(axis, main, extents[axis], lanes, firsts, [&](ValueRange values) {
    Value left =
        arith::SubIOp::create(rewriter, loc, getValueOrCreateConstantIndexOp(rewriter, loc, extents[axis]), axes[axis]);
    mask = vector::CreateMaskOp::create(rewriter, loc, VectorType::get({lanes}, rewriter.getI1Type()), left);
    SmallVector<Value> results = inner(values);
    mask = {};
    return results;
  });
  vectors = tile;
  for (int64_t row = 0; row < rows; ++row)
    for (unsigned output = 0; output < numOutputs; ++output)
      accumulators[row * tile * numOutputs + output] = firsts[row * numOutputs + output];
  return accumulators;
}

Lanes LinalgLoopEmitter::combine(unsigned output, Lanes a, Lanes b) {
  return LanesBuilder(rewriter, lanes).buildOp(getCombiner(op, output), {a, b}).front();
}

Lanes LinalgLoopEmitter::combineLanes(unsigned output, Lanes value) {
  Operation *combiner = getCombiner(op, output);
  auto kind = linalg::getCombinerOpKind(combiner);
  return {vector::ReductionOp::create(rewriter, loc, *kind, value.value, arith::FastMathFlags::reassoc)};
}

void LinalgLoopEmitter::emitTile() {
  unsigned numOutputs = op.getNumDpsInits();
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  if (reducesVector())
    std::stable_partition(reductions.begin(), reductions.end(),
                          [&](unsigned axis) { return axis != *plan.vectorAxis; });
  // A tile of scalars when the lanes are summed up in the end.
  auto forEach = [&](function_ref<void(ArrayRef<Lanes>, int64_t)> each) {
    int64_t tile = reducesVector() ? 1 : vectors;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t vector = 0; vector < tile; ++vector)
        each(getAxes(row, vector), row * tile + vector);
  };
  LanesBuilder memory(rewriter, lanes, reducesVector() ? Value() : mask);
  auto apply = [&](unsigned output, ArrayRef<Lanes> axes) {
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(output));
    return memory.apply(loc, map, axes);
  };

  if (reducesVector())
    axes[*plan.vectorAxis] = arith::ConstantIndexOp::create(rewriter, loc, 0);
  for (unsigned axis : reductions)
    axes[axis] = axes[axis] ? axes[axis] : arith::ConstantIndexOp::create(rewriter, loc, 0).getResult();

  Tile outs;
  forEach([&](ArrayRef<Lanes> at, int64_t) {
    for (unsigned output = 0; output < numOutputs; ++output)
      outs.push_back(op.getRegionOutputArgs()[output].use_empty() && reductions.empty()
                         ? Lanes{}
                         : memory.load(loc, op.getDpsInits()[output], apply(output, at)));
  });
  Tile results;
  if (reductions.empty()) {
    results = emitBodies(outs);
  } else {
    SmallVector<Value> accumulators;
    if (reducesVector()) {
      for (int64_t i = 0; i < rows * vectors; ++i)
        for (unsigned output = 0; output < numOutputs; ++output) {
          TypedAttr identity = *arith::getNeutralElement(getCombiner(op, output));
          Lanes scalar = {arith::ConstantOp::create(rewriter, loc, identity)};
          accumulators.push_back(LanesBuilder(rewriter, lanes).materialize(loc, scalar));
        }
    } else {
      for (Lanes out : outs)
        accumulators.push_back(LanesBuilder(rewriter, lanes).materialize(loc, out));
    }
    accumulators = emitReduction(reductions, accumulators);
    Tile tile = llvm::map_to_vector(accumulators, [&](Value value) { return Lanes{value, 0, lanes > 1}; });
    if (reducesVector()) {
      for (int64_t row = 0; row < rows; ++row)
        for (unsigned output = 0; output < numOutputs; ++output) {
          Lanes sum = tile[row * vectors * numOutputs + output];
          for (int64_t vector = 1; vector < vectors; ++vector)
            sum = combine(output, sum, tile[(row * vectors + vector) * numOutputs + output]);
          results.push_back(combine(output, outs[row * numOutputs + output], combineLanes(output, sum)));
        }
    } else {
      results = tile;
    }
  }
  forEach([&](ArrayRef<Lanes> at, int64_t i) {
    for (unsigned output = 0; output < numOutputs; ++output)
      memory.store(loc, results[i * numOutputs + output], op.getDpsInits()[output], apply(output, at));
  });
}

unsigned LinalgLoopEmitter::countForThreads(ArrayRef<unsigned> rest) {
  int64_t iterations = 1;
  for (auto [i, axis] : llvm::enumerate(rest)) {
    std::optional<int64_t> extent = getConstantIntValue(extents[axis]);
    bool isOfTile = plan.rowAxis == axis || (plan.vectorAxis == axis && plan.lanes > 1);
    if (iterations >= kIterationsForThreads || isOfTile || !extent)
      return iterations > 1 ? i : 0;
    iterations *= *extent;
  }
  return iterations > 1 ? rest.size() : 0;
}

void LinalgLoopEmitter::emitForThreads(ArrayRef<unsigned> outer, function_ref<void()> body) {
  int64_t iterations = 1;
  for (unsigned axis : outer)
    iterations *= *getConstantIntValue(extents[axis]);
  auto constant = [&](int64_t number) { return arith::ConstantIndexOp::create(rewriter, loc, number); };
  auto loop = scf::ForOp::create(rewriter, loc, constant(0), constant(iterations), constant(1));
  loop->setAttr(schedule::kParallelAttr, rewriter.getUnitAttr());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  AffineExpr place = rewriter.getAffineSymbolExpr(0);
  int64_t inner = iterations;
  for (unsigned axis : outer) {
    int64_t extent = *getConstantIntValue(extents[axis]);
    AffineExpr own = place.floorDiv(inner / extent);
    OpFoldResult digit = affine::makeComposedFoldedAffineApply(rewriter, loc, inner == iterations ? own : own % extent,
                                                               {OpFoldResult(loop.getInductionVar())});
    axes[axis] = getValueOrCreateConstantIndexOp(rewriter, loc, digit);
    inner /= extent;
  }
  body();
}

void LinalgLoopEmitter::emitSpatial(ArrayRef<unsigned> rest) {
  if (rest.empty())
    return emitTile();
  if (unsigned count = isForThreads ? countForThreads(rest) : 0) {
    isForThreads = false;
    return emitForThreads(rest.take_front(count), [&] { emitSpatial(rest.drop_front(count)); });
  }
  unsigned axis = rest.front();
  auto inner = [&](ValueRange) {
    emitSpatial(rest.drop_front());
    return SmallVector<Value>();
  };
  OpFoldResult zero = rewriter.getIndexAttr(0);
  if (plan.rowAxis == axis) {
    OpFoldResult main = getMainExtent(axis, plan.rows);
    rows = plan.rows;
    emitLoop(axis, zero, main, plan.rows, {}, inner);
    std::optional<int64_t> extent = getConstantIntValue(extents[axis]);
    rows = extent && *extent % rows ? *extent % rows : 1;
    emitLoop(axis, main, extents[axis], rows, {}, inner);
    return;
  }
  if (plan.vectorAxis != axis || plan.lanes == 1) {
    emitLoop(axis, zero, extents[axis], 1, {}, inner);
    return;
  }
  lanes = plan.lanes;
  vectors = plan.vectors;
  OpFoldResult main = getMainExtent(axis, lanes * vectors);
  emitLoop(axis, zero, main, lanes * vectors, {}, inner);
  vectors = 1;
  // One lane alone has a mask that says so, for the store of it.
  std::optional<int64_t> extent = getConstantIntValue(extents[axis]);
  bool isOneLeft = extent && *extent % lanes == 1;
  if (isOneLeft) {
    OpFoldResult last = rewriter.getIndexAttr(*extent - 1);
    emitLoop(axis, main, last, lanes, {}, inner);
    main = last;
  }
  emitLoop(axis, main, extents[axis], lanes, {}, [&](ValueRange) {
    Value left = arith::ConstantIndexOp::create(rewriter, loc, 1);
    if (!isOneLeft)
      left = arith::SubIOp::create(rewriter, loc, getValueOrCreateConstantIndexOp(rewriter, loc, extents[axis]),
                                   axes[axis]);
    mask = vector::CreateMaskOp::create(rewriter, loc, VectorType::get({lanes}, rewriter.getI1Type()), left);
    emitSpatial(rest.drop_front());
    mask = {};
    return SmallVector<Value>();
  });
}

void LinalgLoopEmitter::emit() {
  rewriter.setInsertionPoint(op);
  for (Range range : cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(rewriter, loc))
    extents.push_back(range.size);
  // Where the tile has rows they go innermost, so that what they share stays in the cache.
  SmallVector<unsigned> spatial;
  op.getParallelDims(spatial);
  if (plan.rowAxis)
    std::stable_partition(spatial.begin(), spatial.end(), [&](unsigned axis) { return axis != *plan.rowAxis; });
  if (reducesVector()) {
    lanes = plan.lanes;
    vectors = plan.vectors;
  }
  emitSpatial(spatial);
  rewriter.eraseOp(op);
}

struct VectorizeLinalgLoops : impl::VectorizeLinalgLoopsBase<VectorizeLinalgLoops> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      if (!op.hasPureBufferSemantics()) {
        op->emitOpError("expected operands that are memrefs, got tensors");
        return signalPassFailure();
      }
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::GenericOp> generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!*generic)
        generic = linalg::generalizeNamedOp(rewriter, op);
      assert(succeeded(generic) && "every op of this interface on memrefs has a body on scalars");
      LinalgLoopEmitter(rewriter, *generic, planLoops(*generic, vectorBits)).emit();
    }
  }
};

} // namespace
} // namespace tilewright
