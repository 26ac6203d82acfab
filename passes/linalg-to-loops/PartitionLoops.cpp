//===- PartitionLoops.cpp - loops without predicates, and what is left ----===//
#include "passes/PassSupport.h"
#include "passes/index/IndexSpace.h"

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
  explicit Partitioner(scf::ForOp loop) : loop(loop), loc(loop.getLoc()), builder(loop), space(loop.getContext()) {}
  void run();

private:
  /// Notes from which iteration on, and up to which, `condition` always holds.
  void collect(arith::CmpIOp condition);
  /// The least that `expr` can be while all loops but this one run; none where it is not linear in them.
  std::optional<AffineExpr> getLeast(AffineExpr expr);
  void emitPart(Value from, Value to, bool holds);

  scf::ForOp loop;
  Location loc;
  OpBuilder builder;
  index::IndexSpace space;
  llvm::SmallPtrSet<Operation *, 8> conditions; // that hold in the middle
  Value from, to;                               // the middle
};

struct PartitionLoops : impl::PartitionLoopsBase<PartitionLoops> {
  void runOnOperation() override {
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

static bool isOutsideLoops(Value value) { return isa<func::FuncOp>(value.getParentRegion()->getParentOp()); }

std::optional<AffineExpr> Partitioner::getLeast(AffineExpr expr) {
  for (Value value : space.getValues(expr)) {
    scf::ForOp other = scf::getForInductionVarOwner(value);
    if (!other) {
      // What is known before all loops is the same for all threads.
      if (isOutsideLoops(value))
        continue;
      return std::nullopt;
    }
    std::optional<int64_t> slope = space.getSlope(expr, value);
    if (!slope)
      return std::nullopt;
    AffineExpr extreme = builder.getAffineConstantExpr(0);
    if (*slope < 0) {
      Value extent = other.getUpperBound();
      if (!getConstantIntValue(extent) && !isOutsideLoops(extent))
        return std::nullopt;
      extreme = space.get(extent) - 1;
    }
    expr = space.simplify(expr.replace(space.get(value), extreme));
  }
  return expr;
}

void Partitioner::collect(arith::CmpIOp condition) {
  if (!condition.getLhs().getType().isIndex())
    return;
  // As an expression that is to be at least 0.
  AffineExpr lhs = space.get(condition.getLhs()), rhs = space.get(condition.getRhs()), margin;
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
  margin = space.simplify(margin);
  std::optional<int64_t> slope = space.getSlope(margin, loop.getInductionVar());
  if (!slope || *slope == 0)
    return;
  AffineExpr zero = builder.getAffineConstantExpr(0);
  std::optional<AffineExpr> least = getLeast(margin.replace(space.get(loop.getInductionVar()), zero));
  if (!least)
    return;
  conditions.insert(condition);
  if (*slope > 0) {
    Value first = space.materialize(builder, loc, (zero - *least).ceilDiv(*slope));
    from = builder.createOrFold<arith::MaxSIOp>(loc, from, first);
  } else {
    Value end = space.materialize(builder, loc, least->floorDiv(-*slope) + 1);
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
  Value extent = space.materialize(builder, loc, space.get(end) - space.get(begin));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto part = scf::ForOp::create(builder, loc, zero, extent, loop.getStep());
  part->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(part.getBody());
  IRMapping mapping;
  Value iteration = first == 0 ? part.getInductionVar()
                               : space.materialize(builder, loc, space.get(part.getInductionVar()) + space.get(begin));
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
    branch.getElseRegion().walk([&](Operation *op) { known.erase(op); }); // which goes with the branch
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
