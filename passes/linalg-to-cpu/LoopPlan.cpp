//===- LoopPlan.cpp - which axes of a linalg op become vectors and tiles --===//
#include "passes/linalg-to-cpu/LoopPlan.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/ArgumentLayouts.h"
#include "passes/linalg-to-cpu/LanesBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

namespace {

/// How a value changes from one iteration of an axis to the next.
enum class Step { None, One, Other };

Step add(Step a, Step b) { return a == Step::None ? b : b == Step::None ? a : Step::Other; }

/// The memory accesses and the values of an op's body, as one axis sees them.
class AxisView {
public:
  AxisView(linalg::GenericOp op, unsigned axis) : op(op), axis(axis) {}

  /// What one access at `indices` costs, of which the last is the fastest: each by how it steps.
  Step getStep(Value value);
  Step getStep(AffineExpr expr, ValueRange dims, ValueRange symbols);
  Step getAccessStep(ArrayRef<Step> indices, Value memref);
  /// How each access moves: those of the operands that the body uses, those in the body, then the outputs.
  SmallVector<Step> getAccesses();

private:
  linalg::GenericOp op;
  unsigned axis;
  DenseMap<Value, Step> steps;
};

Step AxisView::getStep(AffineExpr expr, ValueRange dims, ValueRange symbols) {
  if (isa<AffineConstantExpr>(expr))
    return Step::None;
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims.empty() ? (dim.getPosition() == axis ? Step::One : Step::None) : getStep(dims[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return getStep(symbols[symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Step both = add(getStep(binary.getLHS(), dims, symbols), getStep(binary.getRHS(), dims, symbols));
  return expr.getKind() == AffineExprKind::Add || both == Step::None ? both : Step::Other;
}

Step AxisView::getAccessStep(ArrayRef<Step> indices, Value memref) {
  if (llvm::all_of(indices, [](Step step) { return step == Step::None; }))
    return Step::None;
  bool isContiguous = indices.back() == Step::One && hasUnitRows(cast<MemRefType>(memref.getType())) &&
                      llvm::all_of(indices.drop_back(), [](Step step) { return step == Step::None; });
  return isContiguous ? Step::One : Step::Other;
}

Step AxisView::getStep(Value value) {
  auto known = steps.find(value);
  if (known != steps.end())
    return known->second;
  Step step = Step::None;
  Operation *def = value.getDefiningOp();
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    if (arg.getOwner() == op.getBody()) {
      AffineMap map = op.getMatchingIndexingMap(op.getMatchingOpOperand(arg));
      bool isSame = llvm::all_of(map.getResults(), [&](AffineExpr e) { return getStep(e, {}, {}) == Step::None; });
      step = isSame ? Step::None : Step::Other;
    }
  } else if (auto index = dyn_cast<linalg::IndexOp>(def)) {
    step = index.getDim() == axis ? Step::One : Step::None;
  } else if (auto apply = dyn_cast<affine::AffineApplyOp>(def)) {
    AffineMap map = apply.getAffineMap();
    step = getStep(map.getResult(0), apply.getDimOperands(), apply.getSymbolOperands());
  } else if (op->isProperAncestor(def)) {
    for (Value operand : def->getOperands())
      step = add(step, getStep(operand));
    for (Region &region : def->getRegions())
      for (Value yielded : region.empty() ? ValueRange() : ValueRange(region.front().getTerminator()->getOperands()))
        step = add(step, getStep(yielded));
    // A difference of axes steps backwards; anything but a sum steps as it likes.
    if (step != Step::None && (!isa<arith::AddIOp>(def) || !value.getType().isIndex()))
      step = Step::Other;
  }
  return steps[value] = step;
}

SmallVector<Step> AxisView::getAccesses() {
  SmallVector<Step> accesses;
  auto addOperand = [&](OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto steps = llvm::map_to_vector(map.getResults(), [&](AffineExpr e) { return getStep(e, {}, {}); });
    accesses.push_back(isa<MemRefType>(operand.get().getType()) ? getAccessStep(steps, operand.get()) : Step::None);
  };
  for (OpOperand *operand : op.getDpsInputOperands())
    if (!op.getMatchingBlockArgument(operand).use_empty())
      addOperand(*operand);
  op.getBody()->walk([&](memref::LoadOp load) {
    accesses.push_back(
        getAccessStep(llvm::map_to_vector(load.getIndices(), [&](Value v) { return getStep(v); }), load.getMemRef()));
  });
  for (OpOperand &operand : op.getDpsInitsMutable())
    addOperand(operand);
  return accesses;
}

/// The bits of the widest element that the op computes with; the vectors hold as many lanes as fit.
int64_t getWidestElement(linalg::GenericOp op) {
  int64_t bits = 8;
  auto look = [&](Type type) {
    // Narrow floats are computed with as f32.
    if (type.isIntOrFloat())
      bits = std::max<int64_t>({bits, type.getIntOrFloatBitWidth(), isa<FloatType>(type) ? 32 : 8});
  };
  for (BlockArgument arg : op.getBody()->getArguments())
    if (!arg.use_empty() || arg.getArgNumber() >= op.getNumDpsInputs())
      look(arg.getType());
  op.getBody()->walk([&](Operation *inner) {
    for (Type type : inner->getResultTypes())
      look(type);
  });
  return bits;
}

} // namespace

Operation *tilewright::getCombiner(linalg::GenericOp op, unsigned i) {
  BlockArgument out = op.getRegionOutputArgs()[i];
  Operation *combiner = op.getBody()->getTerminator()->getOperand(i).getDefiningOp();
  if (!combiner || !out.hasOneUse() || *out.user_begin() != combiner)
    return nullptr;
  bool isKnown = linalg::getCombinerOpKind(combiner) && arith::getNeutralElement(combiner);
  return isKnown ? combiner : nullptr;
}

/// Whether an op is at least so much work: ops on vectors, of the extents that are known. A loop of that many takes as
/// long as it takes to wake other threads.
static constexpr int64_t kOpsForThreads = 1 << 14;
/// So many ops one function of math is.
static constexpr int64_t kOpsOfMath = 16;

static bool isWorthThreads(linalg::GenericOp op, int64_t lanes) {
  int64_t ops = op->getNumOperands();
  op.getBody()->walk([&](Operation *inner) { ops += isa<math::MathDialect>(inner->getDialect()) ? kOpsOfMath : 1; });
  for (int64_t extent : op.getStaticLoopRanges())
    if (!ShapedType::isDynamic(extent) && llvm::MulOverflow(ops, extent, ops))
      return true;
  return ops / lanes >= kOpsForThreads;
}

/// The tile in registers.
static LoopPlan planTile(linalg::GenericOp op, int64_t vectorBits) {
  LoopPlan plan;
  if (op.getNumLoops() == 0 || !canVectorize(op))
    return plan;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  auto iterators = op.getIteratorTypesArray();
  int64_t widest = getWidestElement(op), fullLanes = std::max<int64_t>(4, vectorBits / widest);
  int64_t numOps = std::distance(op.getBody()->begin(), op.getBody()->end());
  bool isReduction = op.getNumReductionLoops() > 0;
  bool canReorder =
      llvm::all_of(llvm::seq<unsigned>(op.getNumDpsInits()), [&](unsigned i) { return getCombiner(op, i); });

  // The axis that costs the least an element. A gather is dear, and so are lanes without work.
  double scalarCost = numOps, best = 0;
  SmallVector<SmallVector<Step>> accesses;
  for (unsigned axis = 0; axis < op.getNumLoops(); ++axis)
    accesses.push_back(AxisView(op, axis).getAccesses());
  scalarCost += accesses[0].size();
  best = scalarCost;
  for (unsigned axis = op.getNumLoops(); axis-- > 0;) {
    if (iterators[axis] == utils::IteratorType::reduction && !canReorder)
      continue;
    int64_t lanes = fullLanes, extent = extents[axis];
    if (!ShapedType::isDynamic(extent) && extent < lanes)
      lanes = std::max<int64_t>(2, llvm::PowerOf2Ceil(extent));
    if (extent == 1)
      continue;
    double used = ShapedType::isDynamic(extent) ? 1 : double(extent) / llvm::alignTo(extent, lanes);
    double cost = double(numOps) / lanes;
    for (auto [i, step] : llvm::enumerate(accesses[axis])) {
      // An output is written once a reduction.
      bool isOutput = i >= accesses[axis].size() - op.getNumDpsInits();
      double weight = isOutput && isReduction ? 1.0 / 16 : 1;
      cost += weight * (step == Step::Other ? 1.5 : 1.0 / lanes);
    }
    cost /= used;
    if (cost < best) {
      best = cost;
      plan.vectorAxis = axis;
      plan.lanes = lanes;
    }
  }
  if (!plan.vectorAxis || !isReduction)
    return plan;

  // Rows share what does not depend on them; the axis that shares the most vectors is best.
  unsigned vectorAxis = *plan.vectorAxis, mostShared = 0;
  for (unsigned axis = 0; axis < op.getNumLoops(); ++axis) {
    if (axis == vectorAxis || iterators[axis] != utils::IteratorType::parallel || extents[axis] == 1)
      continue;
    unsigned shared = 0;
    for (unsigned i = 0, e = accesses[axis].size() - op.getNumDpsInits(); i < e; ++i)
      if (accesses[axis][i] == Step::None && accesses[vectorAxis][i] != Step::None)
        ++shared;
    if (shared > mostShared) {
      mostShared = shared;
      plan.rowAxis = axis;
    }
  }
  auto largestDivisor = [](int64_t extent, int64_t low, int64_t high) {
    for (int64_t factor = high; factor >= low && !ShapedType::isDynamic(extent); --factor)
      if (extent % factor == 0)
        return factor;
    return ShapedType::isDynamic(extent) ? high : std::min(extent, high);
  };
  // 32 vector registers with 512 bits, 16 without.
  bool isWide = vectorBits >= 512;
  int64_t vectors = plan.rowAxis ? 2 : 4;
  if (plan.rowAxis)
    plan.rows = largestDivisor(extents[*plan.rowAxis], isWide ? 7 : 4, isWide ? 12 : 6);
  plan.vectors = vectors;
  if (!ShapedType::isDynamic(extents[vectorAxis]))
    plan.vectors = std::clamp<int64_t>(extents[vectorAxis] / plan.lanes, 1, vectors);
  return plan;
}

LoopPlan tilewright::planLoops(linalg::GenericOp op, int64_t vectorBits) {
  LoopPlan plan = planTile(op, vectorBits);
  plan.isLong = op.getNumParallelLoops() > 0 && isWorthThreads(op, plan.lanes);
  return plan;
}
