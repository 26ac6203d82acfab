//===- RollReductions.cpp - loops over the same tiles that become one -----===//
//
// A loop that reduces what it computes of another loop's result x becomes one with that: what is reduced so far is
// repaired whenever x changes (passes/Repair.h). Of attention's maximum, sum and values it makes one loop.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"
#include "passes/Repair.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/JoinKernels.h"
#include "passes/loops-to-tile/TileGrid.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_ROLLREDUCTIONS
#include "passes/loops-to-tile/Passes.h.inc"

namespace {
/// One loop that follows another.
class LoopRoller {
public:
  LoopRoller(scf::ForOp loop)
      : loop(loop), followed(loop->getAttrOfType<schedule::RollingAttr>(schedule::kRollingAttr).getOf()),
        builder(loop) {}
  LogicalResult roll();

private:
  InFlightDiagnostic refuse() const { return emitError(scf::ForOp(loop).getLoc()) << "rolling_update: expected "; }
  /// The loop that is followed, and which of its results is x. Matmuls have no x that others read.
  LogicalResult findFollowed();
  LogicalResult moveOperandsUp();
  /// Proves how each value that the loop carries follows x.
  LogicalResult findRepairs();
  LogicalResult findRepair(Value carried);
  bool dependsOnX(Value value);
  Value makeMap(ValueRange fragments, tile::FragmentType type, function_ref<Value(Block &)> compute);
  /// x, and 0 in rows of which nothing is reduced yet.
  Value makeFinite(Value x, tile::Reduction kind);
  void merge();

  scf::ForOp loop, first;
  StringRef followed;
  OpBuilder builder;
  Value x;                                      // the followed loop's result
  unsigned number = 0;                          // of x
  SmallVector<std::unique_ptr<Repair>> repairs; // of what the loop carries, null where it does not depend on x
};

/// Whether two values are computed alike of the same values.
static bool isSame(Value a, Value b) {
  if (a == b || isEqualConstantIntOrValue(a, b))
    return true;
  Operation *one = a.getDefiningOp(), *other = b.getDefiningOp();
  return one && other && isPure(one) && cast<OpResult>(a).getResultNumber() == cast<OpResult>(b).getResultNumber() &&
         OperationEquivalence::isEquivalentTo(
             one, other, [](Value x, Value y) { return success(isSame(x, y)); }, /*markEquivalent=*/nullptr,
             OperationEquivalence::IgnoreLocations);
}

LogicalResult LoopRoller::findFollowed() {
  for (auto other : loop->getBlock()->getOps<scf::ForOp>()) {
    if (!other->isBeforeInBlock(loop))
      break;
    for (auto [index, yielded] : llvm::enumerate(other.getBody()->getTerminator()->getOperands())) {
      auto reduce = yielded.getDefiningOp<tile::RowReduceOp>();
      auto name = reduce ? reduce->getAttrOfType<StringAttr>(te::kStageAttr) : StringAttr();
      if (!name || name.getValue() != followed || reduce.getInit() != other.getRegionIterArg(index))
        continue;
      first = other;
      number = index;
      x = other.getResult(index);
    }
    if (!first && other->hasAttr(schedule::kAxisAttr) && getAxisName(other).stage == followed)
      first = other;
  }
  if (!first)
    return refuse() << "'" << followed << "' to be reduced in a loop of the same kernel before it";
  if (!isSame(first.getLowerBound(), loop.getLowerBound()) || !isSame(first.getUpperBound(), loop.getUpperBound()) ||
      !isSame(first.getStep(), loop.getStep()))
    return refuse() << "a loop over as many tiles as that of '" << followed << "'";
  return success();
}

LogicalResult LoopRoller::moveOperandsUp() {
  SmallVector<Operation *> needed;
  llvm::SmallPtrSet<Operation *, 8> seen;
  LogicalResult moved = success();
  std::function<void(Value)> need = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == first->getBlock() && op == first.getOperation() && value != x)
      moved = failure();
    if (!op || op->getBlock() != first->getBlock() || !first->isBeforeInBlock(op) || !seen.insert(op).second)
      return;
    if ((!isPure(op) && !isa<tile::LoadOp>(op)) || op->getNumRegions()) {
      moved = failure();
      return;
    }
    for (Value operand : op->getOperands()) {
      if (operand == x)
        moved = failure();
      need(operand);
    }
    needed.push_back(op);
  };
  for (Value operand : loop.getOperands()) {
    if (operand == x)
      moved = failure();
    need(operand);
  }
  loop.getBody()->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!loop->isAncestor(operand.getParentBlock()->getParentOp()))
        need(operand);
  });
  if (failed(moved))
    return refuse() << "nothing to be computed of '" << followed << "' between its loop and this one";
  for (Operation *op : needed)
    op->moveBefore(first);
  return success();
}

/// Exponentials of differences to a maximum, beside one of 0: what is below 2^-126 does not count.
static void approximate(tile::MapOp map) {
  map.walk([](math::Exp2Op exp) { exp.setFastmath(exp.getFastmath() | arith::FastMathFlags::afn); });
}

bool LoopRoller::dependsOnX(Value value) {
  Operation *op = value.getDefiningOp();
  if (x && value == x)
    return true;
  if (!op || !loop->isProperAncestor(op))
    return false;
  bool found = false;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      found |= !op->isAncestor(operand.getParentBlock()->getParentOp()) && dependsOnX(operand);
  });
  return found;
}

LogicalResult LoopRoller::findRepair(Value carried) {
  repairs.emplace_back();
  Operation *user = carried.hasOneUse() ? *carried.user_begin() : nullptr;
  Value element;
  if (auto reduce = dyn_cast_or_null<tile::RowReduceOp>(user); reduce && reduce.getInit() == carried)
    element = reduce.getFragment();
  else if (auto matmul = dyn_cast_or_null<tile::MatmulOp>(user); matmul && matmul.getAccumulator() == carried)
    element = matmul.getA();
  else
    return refuse() << "a value that each iteration reduces to, got one that is used otherwise";
  if (!x)
    return success();
  // x is read by the map that makes the elements, and nobody else.
  auto map = element.getDefiningOp<tile::MapOp>();
  bool isRead = map && llvm::is_contained(map.getFragments(), x);
  for (Operation *reader : x.getUsers())
    if (loop->isProperAncestor(reader) && !isa<tile::MapOp>(reader))
      return refuse() << "'" << followed << "' to be read element by element";
  bool isReadBefore =
      map ? llvm::any_of(map.getFragments(), [&](Value fragment) { return fragment != x && dependsOnX(fragment); })
          : dependsOnX(element);
  if (isReadBefore || (map && !isRead && dependsOnX(element)))
    return refuse() << "'" << followed << "' to be read where the elements that are reduced are computed";
  if (!isRead)
    return success();
  if (auto reduce = dyn_cast<tile::RowReduceOp>(user); reduce && reduce.getKind() != tile::Reduction::Sum)
    return refuse() << "a sum, got a reduction by " << tile::stringifyReduction(reduce.getKind());
  Block &body = map.getBody().front();
  auto isX = [body = &body, map, x = x](Value value) mutable {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == body && argument.getArgNumber() < map.getFragments().size() &&
           map.getFragments()[argument.getArgNumber()] == x;
  };
  auto stage = map->getAttrOfType<StringAttr>(te::kStageAttr);
  auto repair = std::make_unique<Repair>(map, stage ? stage.getValue() : "", followed, isX);
  if (failed(repair->findOfSum(cast<tile::YieldOp>(body.getTerminator()).getElement()))) {
    InFlightDiagnostic told = refuse() << repair->reason;
    if (repair->culprit)
      told << ", got " << repair->culprit->getName() << " in its way";
    return told;
  }
  approximate(map);
  repairs.back() = std::move(repair);
  return success();
}

LogicalResult LoopRoller::findRepairs() {
  for (Value carried : loop.getRegionIterArgs())
    if (failed(findRepair(carried)))
      return failure();
  return success();
}

Value LoopRoller::makeMap(ValueRange fragments, tile::FragmentType type, function_ref<Value(Block &)> compute) {
  Location loc = loop.getLoc();
  auto map = tile::MapOp::create(builder, loc, type, fragments);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&map.getBody());
  for (Value fragment : fragments)
    body->addArgument(cast<tile::FragmentType>(fragment.getType()).getElementType(), loc);
  body->addArguments({builder.getIndexType(), builder.getIndexType()}, {loc, loc});
  tile::YieldOp::create(builder, loc, compute(*body));
  return map.getResult();
}

/// A mask can leave nothing of a row's first tiles. There x is the infinity that its reduction begins with, and the
/// difference of two infinities is no number.
Value LoopRoller::makeFinite(Value x, tile::Reduction kind) {
  if (kind == tile::Reduction::Sum)
    return x;
  return makeMap(x, cast<tile::FragmentType>(x.getType()), [&](Block &block) -> Value {
    Location loc = loop.getLoc();
    auto type = cast<FloatType>(block.getArgument(0).getType());
    auto constant = [&](const APFloat &value) -> Value {
      return arith::ConstantOp::create(builder, loc, FloatAttr::get(type, value));
    };
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    Value infinity = constant(APFloat::getInf(semantics, /*Negative=*/kind == tile::Reduction::Max));
    Value isInfinite = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, block.getArgument(0), infinity);
    return arith::SelectOp::create(builder, loc, isInfinite, constant(APFloat::getZero(semantics)),
                                   block.getArgument(0));
  });
}

void LoopRoller::merge() {
  Location loc = loop.getLoc();
  builder.setInsertionPoint(first);
  SmallVector<Value> inits(first.getInitArgs());
  llvm::append_range(inits, loop.getInitArgs());
  auto merged = scf::ForOp::create(builder, loc, first.getLowerBound(), first.getUpperBound(), first.getStep(), inits);
  merged->setDiscardableAttrs(first->getDiscardableAttrDictionary());
  Block *body = merged.getBody();
  unsigned count = first.getNumResults();
  // The other loop's body as it is.
  first.getInductionVar().replaceAllUsesWith(merged.getInductionVar());
  for (auto [old, now] : llvm::zip(first.getRegionIterArgs(), merged.getRegionIterArgs()))
    old.replaceAllUsesWith(now);
  SmallVector<Value> yielded(first.getBody()->getTerminator()->getOperands());
  body->getOperations().splice(body->end(), first.getBody()->getOperations(), first.getBody()->begin(),
                               first.getBody()->getTerminator()->getIterator());
  // Behind what gives x, this one's.
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), merged.getInductionVar());
  Value before, now;
  if (x) {
    before = merged.getRegionIterArg(number);
    now = yielded[number];
    auto reduce = cast<tile::RowReduceOp>(now.getDefiningOp());
    builder.setInsertionPointAfter(reduce);
    mapping.map(x, makeFinite(now, reduce.getKind()));
  } else {
    builder.setInsertionPointToEnd(body);
  }
  for (auto [index, carried] : llvm::enumerate(loop.getRegionIterArgs())) {
    Value sum = merged.getRegionIterArg(count + index);
    if (Repair *repair = repairs[index].get()) {
      auto column = cast<tile::FragmentType>(x.getType());
      Value factor = makeMap({before, now}, column, [&](Block &block) -> Value {
        Value from = block.getArgument(0), to = block.getArgument(1);
        // Where x is infinite it may stay so.
        Value isSame = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, from, to);
        Value one = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(column.getElementType(), 1));
        return arith::SelectOp::create(builder, loc, isSame, one, repair->build(builder, loc, one, from, to));
      });
      approximate(factor.getDefiningOp<tile::MapOp>());
      sum = makeMap({sum, factor}, cast<tile::FragmentType>(sum.getType()), [&](Block &block) -> Value {
        return arith::MulFOp::create(builder, loc, block.getArgument(0), block.getArgument(1));
      });
    }
    mapping.map(carried, sum);
  }
  for (Operation &op : loop.getBody()->without_terminator())
    builder.clone(op, mapping);
  for (Value value : loop.getBody()->getTerminator()->getOperands())
    yielded.push_back(mapping.lookupOrDefault(value));
  builder.setInsertionPointToEnd(body);
  scf::YieldOp::create(builder, loc, yielded);
  loop.replaceAllUsesWith(merged.getResults().drop_front(count));
  first.replaceAllUsesWith(merged.getResults().take_front(count));
  loop.erase();
  first.erase();
  // Sums of rounded weights: what is below 2^-126 does not count, either.
  if (!x)
    merged.walk([](tile::MapOp map) { approximate(map); });
}

LogicalResult LoopRoller::roll() {
  if (failed(findFollowed()) || failed(moveOperandsUp()) || failed(findRepairs()))
    return failure();
  merge();
  return success();
}

struct RollReductions : impl::RollReductionsBase<RollReductions> {
  void runOnOperation() override {
    if (failed(joinKernels(getOperation())))
      return signalPassFailure();
    SmallVector<tile::KernelOp> kernels;
    getOperation().walk([&](tile::KernelOp kernel) { kernels.push_back(kernel); });
    for (tile::KernelOp kernel : kernels) {
      SmallVector<scf::ForOp> loops;
      kernel.walk([&](scf::ForOp loop) {
        if (loop->hasAttr(schedule::kRollingAttr))
          loops.push_back(loop);
      });
      if (loops.empty())
        continue;
      for (scf::ForOp loop : loops)
        if (failed(LoopRoller(loop).roll()))
          return signalPassFailure();
      mergeTiles(kernel);
      if (failed(checkResources(kernel)))
        return signalPassFailure();
    }
  }
};
} // namespace
} // namespace tilewright
