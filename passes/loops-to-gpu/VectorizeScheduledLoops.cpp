//===- VectorizeScheduledLoops.cpp - marked loops become vectors ----------===//
//
// The loops of a schedule compute element by element, so the body of a vectorized loop is scalar code in one variable.
// Each op becomes its vector twin: a load along the last dimension a vector load, one that does not move a scalar, any
// other a gather of elements. A predicate on the lanes leaves the loop as it is where it cannot be hoisted.
//
//===----------------------------------------------------------------------===//
#include "passes/PassSupport.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_VECTORIZESCHEDULEDLOOPS
#include "passes/loops-to-gpu/Passes.h.inc"

/// The widest access of a thread, in bytes.
static constexpr int64_t kMaxBytes = 16;

/// How an index changes from lane to lane: by a constant, or in some other way.
static std::optional<int64_t> getStride(Value index, Value variable) {
  if (index == variable)
    return 1;
  auto apply = index.getDefiningOp<affine::AffineApplyOp>();
  if (!apply) {
    Operation *op = index.getDefiningOp();
    auto loop = cast<BlockArgument>(variable).getOwner()->getParentOp();
    return op && loop->isAncestor(op) ? std::nullopt : std::optional<int64_t>(0);
  }
  int64_t stride = 0;
  AffineExpr expr = apply.getAffineMap().getResult(0);
  for (auto [i, operand] : llvm::enumerate(apply.getMapOperands())) {
    auto inner = getStride(operand, variable);
    if (!inner)
      return std::nullopt;
    if (*inner == 0)
      continue;
    bool isDim = i < apply.getAffineMap().getNumDims();
    AffineExpr unknown = isDim ? getAffineDimExpr(i, index.getContext())
                               : getAffineSymbolExpr(i - apply.getAffineMap().getNumDims(), index.getContext());
    AffineExpr next = expr.replace(unknown, unknown + 1);
    auto difference = dyn_cast<AffineConstantExpr>(
        simplifyAffineExpr(next - expr, apply.getAffineMap().getNumDims(), apply.getAffineMap().getNumSymbols()));
    if (!difference)
      return std::nullopt;
    stride += *inner * difference.getValue();
  }
  return stride;
}

/// The largest power of two known to divide an index while `variable` is 0.
static int64_t getDivisor(Value index, Value variable) {
  if (index == variable)
    return 1 << 30;
  if (auto constant = getConstantIntValue(index))
    return *constant ? *constant & -*constant : 1 << 30;
  auto apply = index.getDefiningOp<affine::AffineApplyOp>();
  if (!apply)
    return 1;
  // Each operand counts with what divides it: as a multiple of that.
  AffineMap map = apply.getAffineMap();
  SmallVector<AffineExpr> dims, symbols;
  for (auto [i, operand] : llvm::enumerate(apply.getMapOperands())) {
    bool isDim = i < map.getNumDims();
    AffineExpr expr = isDim ? getAffineDimExpr(i, index.getContext()) : getAffineSymbolExpr(i - map.getNumDims(), index.getContext());
    expr = operand == variable ? getAffineConstantExpr(0, index.getContext()) : expr * getDivisor(operand, variable);
    (isDim ? dims : symbols).push_back(expr);
  }
  int64_t divisor = map.getResult(0).replaceDimsAndSymbols(dims, symbols).getLargestKnownDivisor();
  return divisor ? divisor & -divisor : 1 << 30;
}

namespace {
/// One loop on its way to vectors.
class LoopVectorizer {
public:
  LoopVectorizer(scf::ForOp loop, int64_t lanes) : loop(loop), lanes(lanes), builder(loop) {}

  /// Whether every op of the body has a vector twin.
  bool canVectorize() {
    return llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &op) {
      if (isa<memref::LoadOp, memref::StoreOp, affine::AffineApplyOp, arith::ConstantOp>(op))
        return true;
      return op.getNumRegions() == 0 && OpTrait::hasElementwiseMappableTraits(&op) &&
             llvm::all_of(op.getResultTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); });
    });
  }

  void run() {
    Value zero = arith::ConstantIndexOp::create(builder, loop.getLoc(), 0);
    first.map(loop.getInductionVar(), zero);
    for (Operation &op : loop.getBody()->without_terminator())
      visit(op);
    loop.erase();
  }

private:
  bool varies(Value value) { return value == loop.getInductionVar() || lane.contains(value); }
  /// The value in lane `i` of something that varies.
  Value extract(Value value, int64_t i, Location loc) {
    if (!varies(value))
      return first.lookupOrDefault(value);
    return vector::ExtractOp::create(builder, loc, asVector(value), i);
  }
  Value asVector(Value value) {
    if (value == loop.getInductionVar() && !lane.contains(value)) {
      SmallVector<Attribute> steps;
      for (int64_t i = 0; i < lanes; ++i)
        steps.push_back(builder.getIndexAttr(i));
      auto type = VectorType::get({lanes}, builder.getIndexType());
      lane.map(value, arith::ConstantOp::create(builder, loop.getLoc(), DenseElementsAttr::get(type, steps)).getResult());
    }
    if (lane.contains(value))
      return lane.lookup(value);
    Value scalar = first.lookupOrDefault(value);
    return vector::BroadcastOp::create(builder, loop.getLoc(), VectorType::get({lanes}, value.getType()), scalar);
  }

  SmallVector<Value> indicesOfLane(ValueRange indices, int64_t i, Location loc) {
    return llvm::map_to_vector(indices, [&](Value index) { return indexOfLane(index, i, loc); });
  }
  Value indexOfLane(Value index, int64_t i, Location loc) {
    if (index == loop.getInductionVar())
      return arith::ConstantIndexOp::create(builder, loc, i);
    auto apply = index.getDefiningOp<affine::AffineApplyOp>();
    if (apply && loop->isAncestor(apply)) {
      SmallVector<Value> operands = indicesOfLane(apply.getMapOperands(), i, loc);
      return affine::AffineApplyOp::create(builder, loc, apply.getAffineMap(), operands);
    }
    return extract(index, i, loc);
  }

  /// How many lanes an access may take at once: all that lie together, as far as the address is aligned.
  int64_t getWidth(MemRefType type, ValueRange indices) {
    if (indices.empty() || !type.getElementType().isIntOrFloat() || type.getElementType().isInteger(1))
      return 1;
    for (Value index : indices.drop_back())
      if (getStride(index, loop.getInductionVar()) != 0)
        return 1;
    if (getStride(indices.back(), loop.getInductionVar()) != 1)
      return 1;
    int64_t width = std::min<int64_t>(lanes, kMaxBytes * 8 / type.getElementTypeBitWidth());
    // Rows must be multiples of the width for an index to say anything of an address.
    width = std::min(width, getDivisor(indices.back(), loop.getInductionVar()));
    if (type.getRank() > 1) {
      int64_t row = type.getShape().back();
      width = std::min(width, ShapedType::isDynamic(row) ? 1 : row & -row);
    }
    while (width > 1 && lanes % width)
      width /= 2;
    return std::max<int64_t>(width, 1);
  }

  void visitLoad(memref::LoadOp load) {
    Location loc = load.getLoc();
    MemRefType type = load.getMemRefType();
    bool moves = llvm::any_of(load.getIndices(), [&](Value index) { return getStride(index, loop.getInductionVar()) != 0; });
    if (!moves) {
      first.map(load.getResult(), memref::LoadOp::create(builder, loc, load.getMemRef(), indicesOfLane(load.getIndices(), 0, loc)).getResult());
      return;
    }
    int64_t width = getWidth(type, load.getIndices());
    auto vectorType = VectorType::get({lanes}, type.getElementType());
    if (width == 1) {
      SmallVector<Value> elements;
      for (int64_t i = 0; i < lanes; ++i)
        elements.push_back(memref::LoadOp::create(builder, loc, load.getMemRef(), indicesOfLane(load.getIndices(), i, loc)));
      lane.map(load.getResult(), vector::FromElementsOp::create(builder, loc, vectorType, elements).getResult());
      return;
    }
    auto partType = VectorType::get({width}, type.getElementType());
    auto align = llvm::MaybeAlign(width * type.getElementTypeBitWidth() / 8);
    Value whole;
    for (int64_t i = 0; i < lanes; i += width) {
      Value part = vector::LoadOp::create(builder, loc, partType, load.getMemRef(), indicesOfLane(load.getIndices(), i, loc),
                                          /*nontemporal=*/false, align);
      if (width == lanes)
        whole = part;
      else {
        if (!whole)
          whole = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(vectorType));
        whole = vector::InsertStridedSliceOp::create(builder, loc, part, whole, ArrayRef<int64_t>{i}, ArrayRef<int64_t>{1});
      }
    }
    lane.map(load.getResult(), whole);
  }

  void visitStore(memref::StoreOp store) {
    Location loc = store.getLoc();
    MemRefType type = store.getMemRefType();
    int64_t width = getWidth(type, store.getIndices());
    if (width == 1) {
      for (int64_t i = 0; i < lanes; ++i)
        memref::StoreOp::create(builder, loc, extract(store.getValueToStore(), i, loc), store.getMemRef(),
                                indicesOfLane(store.getIndices(), i, loc));
      return;
    }
    auto align = llvm::MaybeAlign(width * type.getElementTypeBitWidth() / 8);
    Value whole = asVector(store.getValueToStore());
    for (int64_t i = 0; i < lanes; i += width) {
      Value part = width == lanes ? whole
                                  : vector::ExtractStridedSliceOp::create(builder, loc, whole, ArrayRef<int64_t>{i},
                                                                          ArrayRef<int64_t>{width}, ArrayRef<int64_t>{1})
                                        .getResult();
      vector::StoreOp::create(builder, loc, part, store.getMemRef(), indicesOfLane(store.getIndices(), i, loc),
                              /*nontemporal=*/false, align);
    }
  }

  void visit(Operation &op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      return visitLoad(load);
    if (auto store = dyn_cast<memref::StoreOp>(op))
      return visitStore(store);
    if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
      // Only for uses as a value; addresses are computed where they are used.
      bool isValue = llvm::any_of(op.getUsers(), [](Operation *user) {
        return !isa<memref::LoadOp, memref::StoreOp, affine::AffineApplyOp>(user);
      });
      if (isValue) {
        SmallVector<Value> elements;
        for (int64_t i = 0; i < lanes; ++i)
          elements.push_back(indexOfLane(apply, i, op.getLoc()));
        lane.map(apply.getResult(), vector::FromElementsOp::create(builder, op.getLoc(), VectorType::get({lanes}, builder.getIndexType()), elements).getResult());
      }
      return;
    }
    if (llvm::none_of(op.getOperands(), [&](Value operand) { return varies(operand); })) {
      builder.clone(op, first);
      return;
    }
    OperationState state(op.getLoc(), op.getName());
    for (Value operand : op.getOperands())
      state.addOperands(asVector(operand));
    for (Type type : op.getResultTypes())
      state.addTypes(VectorType::get({lanes}, type));
    state.addAttributes(op.getAttrs());
    Operation *made = builder.create(state);
    for (auto [old, result] : llvm::zip(op.getResults(), made->getResults()))
      lane.map(old, result);
  }

  scf::ForOp loop;
  int64_t lanes;
  OpBuilder builder;
  IRMapping first; // what is the same in all lanes
  IRMapping lane;  // what is not, as vectors
};

struct VectorizeScheduledLoops : impl::VectorizeScheduledLoopsBase<VectorizeScheduledLoops> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (loop->hasAttr(schedule::kVectorizeAttr))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      auto extent = getConstantIntValue(loop.getUpperBound());
      if (!extent || !llvm::isPowerOf2_64(*extent) || *extent > 16) {
        InFlightDiagnostic diag = loop.emitError() << "vectorize: expected an axis of extent 1, 2, 4, 8 or 16, got ";
        if (extent)
          diag << *extent;
        else
          diag << "one that is symbolic";
        return signalPassFailure();
      }
      LoopVectorizer vectorizer(loop, *extent);
      if (*extent > 1 && vectorizer.canVectorize())
        vectorizer.run();
      else
        loop->removeAttr(schedule::kVectorizeAttr);
    }
  }
};
} // namespace
} // namespace tilewright
