//===- RollingUpdate.cpp - a reduction that needs another one's result ----===//
//
// T = (+)_j g(x, c_j) reads the result x of another reduction over j, M, and so needs a loop of its own behind M's.
// With a repair (passes/Repair.h) one loop does both: it reduces pairs, of what is reduced so far with the x that it
// was computed by, and repairs either side of a combination to the x of both.
//
//===----------------------------------------------------------------------===//
#include "dialects/Schedule/Handles.h"
#include "passes/Repair.h"
#include "passes/te-to-te/Dataflow.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tilewright {
namespace {

static bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()); }

/// Builds one rolling update.
class Rolling {
public:
  Rolling(schedule::RollingUpdateOp op, te::ComputeOp stage, te::ComputeOp followed)
      : op(op), stage(stage), followed(followed), builder(stage),
        repair(stage, stage.getName(), followed.getName(), [followed](Value value) mutable {
          auto read = value.getDefiningOp<te::ReadOp>();
          return read && read.getTensor() == followed.getResult(0);
        }) {}
  LogicalResult check();
  void rewrite();

private:
  LogicalResult findRepair();
  void createElement(te::ComputeOp merged);
  void createCombiner(te::ComputeOp merged);
  void replaceFollowed(te::ComputeOp merged);
  /// Whether a value of the type that `followed` reduces is its identity.
  Value isIdentity(Location loc, Value value);

  schedule::RollingUpdateOp op;
  te::ComputeOp stage, followed;
  OpBuilder builder;
  Repair repair;
  /// Where the stage reads the followed one.
  std::optional<AxisPlaces> place;
};

LogicalResult Rolling::findRepair() {
  Value element = cast<te::YieldOp>(stage.getBody().front().getTerminator()).getValues()[0];
  switch (*stage.getReducer()) {
  case te::ReducerKind::Sum:
    return repair.findOfSum(element);
  case te::ReducerKind::Max:
  case te::ReducerKind::Min:
    return repair.findOfExtremum(element);
  default:
    repair.reason = ("a reduction by sum, max or min, got one by " + te::stringifyReducerKind(*stage.getReducer()) +
                     " in '" + stage.getName() + "'")
                        .str();
    return failure();
  }
}

LogicalResult Rolling::check() {
  StringRef name = stage.getName(), of = followed.getName();
  for (te::ComputeOp each : {stage, followed}) {
    if (!each.getNumReduce() || each.getScan() || each.getNumResults() != 1 ||
        *each.getReducer() == te::ReducerKind::Custom)
      return op.emitOpError() << "expected a reduction by a named combiner, got stage '" << each.getName() << "'";
    if (!isa<FloatType>(getElementTypeOrSelf(each.getResult(0).getType())))
      return op.emitOpError() << "expected a reduction of floats, got stage '" << each.getName() << "'";
  }
  WalkResult walked = stage.getBody().walk([&](te::ReadOp each) {
    if (each.getTensor() != followed.getResult(0))
      return WalkResult::advance();
    AxisPlaces found{each.getMap(), SmallVector<Value>(each.getIndices())};
    affine::canonicalizeMapAndOperands(&found.map, &found.operands);
    if (place && (place->map != found.map || place->operands != found.operands))
      return WalkResult::interrupt();
    place = std::move(found);
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return op.emitOpError() << "expected stage '" << name << "' to read '" << of << "' at one place, got two";
  if (!place)
    return op.emitOpError() << "expected stage '" << name << "' to read '" << of
                            << "' itself, got no such read: inline the stages between";
  ArrayRef<BlockArgument> axes = stage.getBody().getArguments();
  for (Value index : place->operands)
    if (!llvm::is_contained(axes.take_front(stage.getNumSpatial()), index))
      return op.emitOpError() << "expected stage '" << name << "' to read '" << of << "' at its spatial axes alone";
  SmallVector<OpFoldResult> ours = stage.getMixedExtents(), theirs = followed.getMixedExtents();
  if (!isEqualConstantIntOrValueArray(ArrayRef(ours).drop_front(stage.getNumSpatial()),
                                      ArrayRef(theirs).drop_front(followed.getNumSpatial())))
    return op.emitOpError() << "expected stage '" << name << "' to reduce over as many elements as '" << of << "'";
  if (succeeded(findRepair()))
    return success();
  InFlightDiagnostic told = op.emitOpError() << "expected " << repair.reason;
  if (repair.culprit)
    told << ", got " << repair.culprit->getName() << " in its way";
  return told;
}

Value Rolling::isIdentity(Location loc, Value value) {
  Value identity = arith::ConstantOp::create(builder, loc, followed.getIdentities()[0]);
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, value, identity);
}

/// Merges equal operations of a block, and takes a value from itself away: what is reduced is often what x is.
static void simplifyDifferences(Block &block) {
  SmallVector<Operation *> kept;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (op.getNumRegions() || op.hasTrait<OpTrait::IsTerminator>())
      continue;
    auto isSame = [&](Operation *other) {
      return OperationEquivalence::isEquivalentTo(other, &op, OperationEquivalence::IgnoreLocations);
    };
    if (auto found = llvm::find_if(kept, isSame); found != kept.end()) {
      op.replaceAllUsesWith(*found);
      op.erase();
      continue;
    }
    kept.push_back(&op);
  }
  OpBuilder builder(block.getParentOp()->getContext());
  for (Operation &op : llvm::make_early_inc_range(block)) {
    builder.setInsertionPoint(&op);
    Type type = op.getNumResults() == 1 ? op.getResult(0).getType() : Type();
    auto replace = [&](double value) {
      op.replaceAllUsesWith(
          ValueRange(arith::ConstantOp::create(builder, op.getLoc(), builder.getFloatAttr(type, value)).getResult()));
      op.erase();
    };
    bool isDifference = isa<arith::SubFOp>(op) && op.getOperand(0) == op.getOperand(1);
    bool isScaled = isa<arith::MulFOp>(op) && llvm::any_of(op.getOperands(), isZero) &&
                    llvm::all_of(op.getOperands(), [](Value each) { return matchPattern(each, m_Constant()); });
    if (isDifference || isScaled ||
        (isa<arith::DivFOp>(op) && isZero(op.getOperand(0)) && matchPattern(op.getOperand(1), m_Constant())))
      replace(0);
    else if (isa<math::ExpOp, math::Exp2Op>(op) && isZero(op.getOperand(0)))
      replace(1);
    else if (isa<arith::MulFOp>(op))
      for (unsigned i : {0u, 1u})
        if (matchPattern(op.getOperand(i), m_OneFloat())) {
          op.replaceAllUsesWith(ValueRange(op.getOperand(1 - i)));
          op.erase();
          break;
        }
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void Rolling::createElement(te::ComputeOp merged) {
  Location loc = stage.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  Block &block = merged.getBody().front();
  builder.setInsertionPointToEnd(&block);
  // x_j, at the axes at which the stage reads the followed one; its reduction axes are the stage's.
  unsigned numSpatial = stage.getNumSpatial(), numAxes = block.getNumArguments();
  SmallVector<AffineExpr> places, dims;
  for (Value index : place->operands)
    dims.push_back(builder.getAffineDimExpr(cast<BlockArgument>(index).getArgNumber()));
  AffineMap map = place->map;
  unsigned numDims = map.getNumDims();
  for (AffineExpr place : map.getResults())
    places.push_back(
        place.replaceDimsAndSymbols(ArrayRef(dims).take_front(numDims), ArrayRef(dims).drop_front(numDims)));
  for (unsigned i = numSpatial; i < numAxes; ++i)
    places.push_back(builder.getAffineDimExpr(i));
  SmallVector<Value> axes(block.getArguments());
  Value x = cloneBodyAt(builder, loc, followed, {AffineMap::get(numAxes, 0, places, builder.getContext()), axes})[0];

  SmallVector<AffineExpr> same;
  for (unsigned i = 0; i < numAxes; ++i)
    same.push_back(builder.getAffineDimExpr(i));
  Value element = cloneBodyAt(builder, loc, stage, {AffineMap::get(numAxes, 0, same, builder.getContext()), axes})[0];
  merged.getBody().walk([&](te::ReadOp each) {
    if (each.getTensor() != followed.getResult(0))
      return;
    if (element == each.getElement())
      element = x;
    each.replaceAllUsesWith(x);
    each.erase();
  });
  // An element whose x is the identity of its reduction (a score that is masked away) adds nothing.
  Value none = arith::ConstantOp::create(builder, loc, stage.getIdentities()[0]);
  Value kept = arith::SelectOp::create(builder, loc, isIdentity(loc, x), none, element);
  te::YieldOp::create(builder, loc, ValueRange{kept, x});
  simplifyDifferences(block);
}

void Rolling::createCombiner(te::ComputeOp merged) {
  Location loc = stage.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  Type type = getElementTypeOrSelf(stage.getResult(0).getType()),
       xType = getElementTypeOrSelf(followed.getResult(0).getType());
  Block *block = builder.createBlock(&merged.getCombiner());
  block->addArguments({type, xType, type, xType}, SmallVector<Location>(4, loc));
  Value a = block->getArgument(0), xa = block->getArgument(1), b = block->getArgument(2), xb = block->getArgument(3);
  Value x = followed.buildCombine(builder, loc, xa, xb)[0];
  auto repaired = [&](Value value, Value from) {
    // h(r, x, x) = r, also where x is infinite, and what nothing was reduced to stays that.
    Value isSame = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, from, x);
    Value keeps = arith::OrIOp::create(builder, loc, isSame, isIdentity(loc, from));
    return arith::SelectOp::create(builder, loc, keeps, value, repair.build(builder, loc, value, from, x)).getResult();
  };
  Value lhs = repaired(a, xa), rhs = repaired(b, xb);
  Value both = stage.buildCombine(builder, loc, lhs, rhs)[0];
  te::YieldOp::create(builder, loc, ValueRange{both, x});
}

void Rolling::rewrite() {
  Location loc = stage.getLoc();
  auto type = cast<RankedTensorType>(stage.getResult(0).getType());
  Type xType = type.clone(getElementTypeOrSelf(followed.getResult(0).getType()));
  auto identity = builder.getArrayAttr({stage.getIdentities()[0], followed.getIdentities()[0]});
  auto merged = te::ComputeOp::create(builder, loc, TypeRange{type, xType}, stage.getNameAttr(), stage.getAxes(),
                                      stage.getReduceAxes(), stage.getStaticExtentsAttr(), stage.getExtents(),
                                      te::ReducerKindAttr::get(builder.getContext(), te::ReducerKind::Custom), identity,
                                      /*is_unsigned=*/nullptr, /*scan=*/UnitAttr());
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&merged.getBody());
    for (unsigned i = 0; i < stage.getNumAxes(); ++i)
      block->addArgument(builder.getIndexType(), loc);
  }
  createElement(merged);
  createCombiner(merged);
  stage.getResult(0).replaceAllUsesWith(merged.getResult(0));
  bool isWhole = place->map.isIdentity() &&
                 llvm::equal(place->operands, stage.getBody().getArguments().take_front(stage.getNumSpatial()));
  stage.erase();
  if (isWhole)
    replaceFollowed(merged);
}

/// Where x has a place an element, whoever else reads it reads it here.
void Rolling::replaceFollowed(te::ComputeOp merged) {
  llvm::SetVector<Operation *> needed;
  (void)getBackwardSlice(merged.getOperation(), &needed, [] {
    BackwardSliceOptions options;
    options.inclusive = true;
    options.omitUsesFromAbove = false;
    return options;
  }());
  // Readers that stand before the merged stage move behind it, with all that reads them.
  llvm::SetVector<Operation *> later;
  for (Operation *op = followed->getNextNode(); op != merged; op = op->getNextNode()) {
    bool reads = false;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *made = operand.getDefiningOp();
        reads |= made && (made == followed || later.contains(made));
      }
    });
    if (!reads)
      continue;
    if (needed.contains(op))
      return; // the merged stage needs it
    later.insert(op);
  }
  Operation *after = merged;
  for (Operation *op : later) {
    op->moveAfter(after);
    after = op;
  }
  followed.getResult(0).replaceAllUsesWith(merged.getResult(1));
}
} // namespace

/// What the stage reads of stages that are inlined stands in it before it is looked at.
static void inlineReads(schedule::RollingUpdateOp op, te::ComputeOp stage, Dataflow &dataflow) {
  llvm::StringSet<> inlined;
  for (auto each : op->getBlock()->getOps<schedule::ComputeInlineOp>())
    if (each->isBeforeInBlock(op))
      inlined.insert(schedule::stageName(each.getStage()));
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<te::ReadOp> reads;
    stage.getBody().walk([&](te::ReadOp read) { reads.push_back(read); });
    for (te::ReadOp read : reads) {
      auto made = read.getTensor().getDefiningOp<te::ComputeOp>();
      if (!made || !inlined.contains(made.getName()) || made.getNumReduce() || made.getScan())
        continue;
      inlineRead(read, made);
      changed = true;
    }
  }
}

LogicalResult applyRollingUpdate(schedule::RollingUpdateOp op, Dataflow &dataflow) {
  FailureOr<te::ComputeOp> updated = dataflow.findStage(op, op.getStage());
  FailureOr<te::ComputeOp> other = dataflow.findStage(op, op.getOf());
  if (failed(updated) || failed(other))
    return failure();
  te::ComputeOp stage = *updated, followed = *other;
  // What has a pipelined loop over tiles of its own stays a stage: roll-reductions makes one of both loops.
  bool hasOwnLoop =
      llvm::any_of(op->getBlock()->getOps<schedule::SoftwarePipelineOp>(), [&](schedule::SoftwarePipelineOp pipeline) {
        return schedule::isSameStage(schedule::axisStage(pipeline.getAxis()), op.getOf());
      });
  if (hasOwnLoop)
    return success();
  inlineReads(op, stage, dataflow);
  Rolling rolling(op, stage, followed);
  if (failed(rolling.check()))
    return failure();
  rolling.rewrite();
  Operation *handle = op.getOf().getDefiningOp();
  op.erase();
  if (!followed->use_empty())
    return success();
  followed.erase();
  return eraseHandle(handle, "is reduced together with another");
}
} // namespace tilewright
