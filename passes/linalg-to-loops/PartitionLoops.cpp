//===- PartitionLoops.cpp - loops without predicates, and what is left ----===//
#include "passes/Marks.h"
#include "passes/PassSupport.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_PARTITIONLOOPS
#include "passes/linalg-to-loops/Passes.h.inc"

namespace {
/// A loop in parts: its first iterations, those in which predicates hold whatever the other loops do, and its last.
class Partitioner {
public:
  explicit Partitioner(scf::ForOp loop) : loop(loop), loc(loop.getLoc()), builder(loop) {}
  void run();

private:
  /// Notes from which iteration on, and up to which, `condition` always holds.
  void collect(arith::CmpIOp condition);
  /// The least that `expr` can be while all loops but this one run; none where it is not linear in them.
  std::optional<AffineExpr> getLeast(AffineExpr expr, SmallVectorImpl<Value> &operands);
  Value materialize(AffineExpr expr, ValueRange operands);
  void emitPart(Value from, Value to, bool holds);

  scf::ForOp loop;
  Location loc;
  OpBuilder builder;
  llvm::SmallPtrSet<Operation *, 8> conditions; // that hold in the middle
  Value from, to;                               // the middle
};

struct PartitionLoops : impl::PartitionLoopsBase<PartitionLoops> {
  void runOnOperation() override {
    if (failed(checkMarks(getOperation())))
      return signalPassFailure();
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (loop->removeAttr(schedule::kPartitionAttr))
        loops.push_back(loop);
    });
    // Innermost first, as they are walked: a loop around takes along the parts.
    for (scf::ForOp loop : loops)
      Partitioner(loop).run();
  }
};
} // namespace

/// How much `expr` grows with the dimension, where that is always the same.
static std::optional<int64_t> getSlope(AffineExpr expr, unsigned dim, unsigned numDims) {
  AffineExpr variable = getAffineDimExpr(dim, expr.getContext());
  AffineExpr step = simplifyAffineExpr(expr.replace(variable, variable + 1) - expr, numDims, 0);
  auto constant = dyn_cast<AffineConstantExpr>(step);
  return constant ? std::optional(constant.getValue()) : std::nullopt;
}

static bool isOutsideLoops(Value value) { return isa<func::FuncOp>(value.getParentRegion()->getParentOp()); }

/// The loop that counts `value`, if one does.
static scf::ForOp getCountedLoop(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto counting = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  return counting && counting.getInductionVar() == value ? counting : scf::ForOp();
}

std::optional<AffineExpr> Partitioner::getLeast(AffineExpr expr, SmallVectorImpl<Value> &operands) {
  for (unsigned d = 0; d < operands.size(); ++d) {
    if (!expr.isFunctionOfDim(d) || operands[d] == loop.getInductionVar())
      continue;
    AffineExpr variable = getAffineDimExpr(d, expr.getContext());
    scf::ForOp other = getCountedLoop(operands[d]);
    if (!other) {
      // What is known before all loops is the same for all threads.
      if (isOutsideLoops(operands[d]))
        continue;
      return std::nullopt;
    }
    std::optional<int64_t> slope = getSlope(expr, d, operands.size());
    if (!slope)
      return std::nullopt;
    AffineExpr extreme = getAffineConstantExpr(0, expr.getContext());
    if (*slope < 0) {
      if (auto extent = getConstantIntValue(other.getUpperBound())) {
        extreme = getAffineConstantExpr(*extent - 1, expr.getContext());
      } else {
        if (!isOutsideLoops(other.getUpperBound()))
          return std::nullopt;
        extreme = getAffineDimExpr(operands.size(), expr.getContext()) - 1;
        operands.push_back(other.getUpperBound());
      }
    }
    expr = simplifyAffineExpr(expr.replace(variable, extreme), operands.size(), 0);
  }
  return expr;
}

Value Partitioner::materialize(AffineExpr expr, ValueRange operands) {
  return getValueOrCreateConstantIndexOp(
      builder, loc, affine::makeComposedFoldedAffineApply(builder, loc, AffineMap::get(operands.size(), 0, expr),
                                                          getAsOpFoldResult(operands)));
}

void Partitioner::collect(arith::CmpIOp condition) {
  if (!condition.getLhs().getType().isIndex())
    return;
  // As an expression that is to be at least 0.
  AffineExpr lhs = builder.getAffineDimExpr(0), rhs = builder.getAffineDimExpr(1), margin;
  switch (condition.getPredicate()) {
  case arith::CmpIPredicate::slt:
    margin = rhs - lhs - 1;
    break;
  case arith::CmpIPredicate::sle:
    margin = rhs - lhs;
    break;
  case arith::CmpIPredicate::sgt:
    margin = lhs - rhs - 1;
    break;
  case arith::CmpIPredicate::sge:
    margin = lhs - rhs;
    break;
  default:
    return;
  }
  AffineMap map = AffineMap::get(2, 0, margin);
  SmallVector<Value> operands(condition.getOperands());
  affine::fullyComposeAffineMapAndOperands(&map, &operands);
  affine::canonicalizeMapAndOperands(&map, &operands);
  // Dimensions alone: what is a symbol matters to affine loops only.
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < operands.size(); ++d)
    dims.push_back(builder.getAffineDimExpr(d));
  ArrayRef<AffineExpr> all(dims);
  AffineExpr expr = map.getResult(0).replaceDimsAndSymbols(all.take_front(map.getNumDims()), all.drop_front(map.getNumDims()));

  auto *own = llvm::find(operands, loop.getInductionVar());
  if (own == operands.end())
    return;
  unsigned d = own - operands.begin();
  std::optional<int64_t> slope = getSlope(expr, d, operands.size());
  if (!slope || *slope == 0)
    return;
  std::optional<AffineExpr> least = getLeast(expr.replace(dims[d], builder.getAffineConstantExpr(0)), operands);
  if (!least)
    return;
  conditions.insert(condition);
  AffineExpr zero = builder.getAffineConstantExpr(0);
  if (*slope > 0) {
    Value first = materialize((zero - *least).ceilDiv(*slope), operands);
    from = builder.createOrFold<arith::MaxSIOp>(loc, from, first);
  } else {
    Value end = materialize(least->floorDiv(-*slope) + 1, operands);
    to = builder.createOrFold<arith::MinSIOp>(loc, to, end);
  }
}

/// Whether `condition` holds where all of `known` do.
static bool holdsWith(Value condition, const llvm::SmallPtrSetImpl<Operation *> &known) {
  Operation *op = condition.getDefiningOp();
  if (auto both = dyn_cast_or_null<arith::AndIOp>(op))
    return holdsWith(both.getLhs(), known) && holdsWith(both.getRhs(), known);
  return op && (known.contains(op) || matchPattern(op, m_One()));
}

void Partitioner::emitPart(Value begin, Value end, bool holds) {
  auto first = getConstantIntValue(begin), last = getConstantIntValue(end);
  if (first && last && *first >= *last)
    return;
  // Counted from 0, as all loops are here.
  AffineExpr d0 = builder.getAffineDimExpr(0), d1 = builder.getAffineDimExpr(1);
  Value extent = materialize(d1 - d0, {begin, end});
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto part = scf::ForOp::create(builder, loc, zero, extent, loop.getStep());
  part->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(part.getBody());
  IRMapping mapping;
  Value iteration = first == 0 ? part.getInductionVar() : materialize(d0 + d1, {part.getInductionVar(), begin});
  mapping.map(loop.getInductionVar(), iteration);
  for (Operation &op : loop.getBody()->without_terminator())
    builder.clone(op, mapping);
  if (!holds)
    return;

  llvm::SmallPtrSet<Operation *, 8> known;
  for (Operation *condition : conditions)
    known.insert(mapping.lookup(condition->getResult(0)).getDefiningOp());
  IRRewriter rewriter(builder);
  part.walk<WalkOrder::PostOrder>([&](scf::IfOp branch) {
    if (!holdsWith(branch.getCondition(), known))
      return;
    Block *block = branch.thenBlock();
    Operation *yield = block->getTerminator();
    SmallVector<Value> results(yield->getOperands());
    rewriter.inlineBlockBefore(block, branch);
    rewriter.replaceOp(branch, results);
    rewriter.eraseOp(yield);
  });
  for (Operation *condition : known) {
    rewriter.setInsertionPoint(condition);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(condition, rewriter.getBoolAttr(true));
  }
}

void Partitioner::run() {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  from = zero;
  to = loop.getUpperBound();
  loop.walk([&](arith::CmpIOp condition) { collect(condition); });
  if (conditions.empty())
    return;
  // All three in order and within the loop, whatever the extents turn out to be.
  if (getConstantIntValue(from) != 0)
    from = builder.createOrFold<arith::MinSIOp>(loc, from, loop.getUpperBound());
  to = builder.createOrFold<arith::MaxSIOp>(loc, to, from);
  emitPart(zero, from, /*holds=*/false);
  emitPart(from, to, /*holds=*/true);
  emitPart(to, loop.getUpperBound(), /*holds=*/false);
  loop.erase();
}
} // namespace tilewright
