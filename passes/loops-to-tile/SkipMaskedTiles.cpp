//===- SkipMaskedTiles.cpp - tiles that a mask leaves nothing of ----------===//
//
// A mask chooses a constant where a condition on an element's place does not hold. Where it holds for no element of a
// tile, the iteration computes of constants; if it then carries on what it was given, it is left out. Causal attention
// ends its loop over the keys at the diagonal so, and attention to a window begins it with the window's first key.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tile/Instructions.h"
#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"
#include "passes/loops-to-tile/Masks.h"
#include "passes/loops-to-tile/Numbers.h"
#include "passes/loops-to-tile/TileGrid.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_SKIPMASKEDTILES
#include "passes/loops-to-tile/Passes.h.inc"

namespace {
/// What is known of a value in an iteration of which all is masked: it is a number, or what the loop carries.
struct Known {
  std::optional<double> number;
  std::optional<unsigned> carried;
  bool isNumber(double value) const { return number == value; }
  bool isSame(const Known &other) const { return carried && carried == other.carried; }
  static Known of(double value) { return std::isnan(value) ? Known() : Known{value, std::nullopt}; }
};

/// Whether a number is positive whatever it is computed of: it is the larger of one that is.
static bool isPositive(Value value) {
  auto larger = value.getDefiningOp<arith::MaximumFOp>();
  return larger && llvm::any_of(larger->getOperands(), [](Value operand) {
           FloatAttr number;
           return matchPattern(operand, m_Constant(&number)) && number.getValueAsDouble() > 0;
         });
}

/// One loop over tiles.
class MaskedLoop {
public:
  MaskedLoop(tile::KernelOp kernel, scf::ForOp loop) : kernel(kernel), loop(loop) {}
  /// Ends the loop behind the last tile of which the mask leaves something. Says which tiles have more to do, as an
  /// index.
  std::optional<index::LinearIndex> end();
  /// Begins the loop with the first tile of which the mask leaves something.
  void begin();

private:
  /// A compared number that is read from memory, once for all iterations.
  std::optional<index::LinearIndex> getLoaded(memref::LoadOp load);
  /// Such a number, read before the loop, as an index.
  Value readBefore(OpBuilder &builder, Value value);
  /// The value of a sum, before the loop.
  Value materialize(OpBuilder &builder, const index::LinearIndex &sum);
  bool isRead(Value value) const { return llvm::is_contained(read, value); }
  /// For a condition in a map: a number that is at least 0 where it holds for some element of the tile. It falls with
  /// the iteration and grows with the tile's place, or the other way round.
  std::optional<index::LinearIndex> getReach(tile::MapOp map, Value condition, bool falls);
  /// The reach of masks after which an iteration carries on what it was given.
  std::optional<index::LinearIndex> findReach(bool falls);
  Known evaluate(Value value, DenseMap<Value, Known> &known);
  Known evaluateElement(Operation *op, DenseMap<Value, Known> &known);

  tile::KernelOp kernel;
  scf::ForOp loop;
  llvm::SmallPtrSet<Operation *, 4> masks;
  SmallVector<Value> read;
};

std::optional<index::LinearIndex> MaskedLoop::getLoaded(memref::LoadOp load) {
  // This kernel does not write there, and the place is one that is known before the loop.
  bool isWritten = llvm::any_of(load.getMemRef().getUsers(), [&](Operation *user) {
    return hasEffect<MemoryEffects::Write>(user, load.getMemRef()) && kernel->isAncestor(user);
  });
  auto isKnown = [&](Value index) { return !loop->isAncestor(index.getParentBlock()->getParentOp()); };
  if (isWritten || loop->isAncestor(load.getMemRef().getParentBlock()->getParentOp()) ||
      !llvm::all_of(load.getIndices(), isKnown))
    return std::nullopt;
  // One number may be read in several maps.
  auto *found = llvm::find_if(read, [&](Value other) {
    auto one = other.getDefiningOp<memref::LoadOp>();
    return one.getMemRef() == load.getMemRef() && one.getIndices() == load.getIndices();
  });
  if (found == read.end()) {
    read.push_back(load);
    found = &read.back();
  }
  index::LinearIndex sum;
  sum.terms[*found] = 1;
  return sum;
}

Value MaskedLoop::readBefore(OpBuilder &builder, Value value) {
  Operation *load = builder.clone(*value.getDefiningOp());
  return arith::IndexCastOp::create(builder, value.getLoc(), builder.getIndexType(), load->getResult(0));
}

Value MaskedLoop::materialize(OpBuilder &builder, const index::LinearIndex &sum) {
  IRMapping mapping;
  for (auto [value, factor] : sum.terms)
    if (isRead(value))
      mapping.map(value, readBefore(builder, value));
  return sum.materialize(builder, loop.getLoc(), mapping);
}

std::optional<index::LinearIndex> MaskedLoop::getReach(tile::MapOp map, Value condition, bool falls) {
  auto margin = getMargin(condition, [&](memref::LoadOp load) { return getLoaded(load); });
  if (!margin)
    return std::nullopt;
  index::LinearIndex reach = *margin;
  // The element that it holds for first.
  Block &body = map.getBody().front();
  unsigned count = map.getFragments().size();
  std::pair<Value, int64_t> extents[] = {{body.getArgument(count), tile::kWgmmaRows},
                                         {body.getArgument(count + 1), map.getResult().getType().getColumns()},
                                         {kernel.getWarpgroup(), kernel.getWarpgroups()}};
  for (auto [value, extent] : extents) {
    reach.constant += std::max<int64_t>(reach.terms.lookup(value), 0) * (extent - 1);
    reach.terms.erase(value);
  }
  int64_t each = reach.terms.lookup(loop.getInductionVar());
  // Of a loop that ends earlier at least the first iteration is left.
  bool isOfRead = llvm::any_of(reach.terms, [&](auto term) { return isRead(term.first); });
  if (falls ? each >= 0 || (reach.constant < 0 && !isOfRead) : each <= 0)
    return std::nullopt;
  for (auto [value, factor] : reach.terms) {
    if (isRead(value))
      continue;
    bool isPlace = llvm::is_contained(kernel.getBody().front().getArguments(), value);
    if (value != loop.getInductionVar() && (!isPlace || (falls ? factor < 0 : factor > 0)))
      return std::nullopt;
  }
  return reach;
}

Known MaskedLoop::evaluateElement(Operation *op, DenseMap<Value, Known> &known) {
  auto operand = [&](unsigned number) { return evaluate(op->getOperand(number), known); };
  auto mask = matchMask(op);
  if (mask && masks.contains(op))
    return evaluate(mask->first, known);
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Known condition = operand(0);
    if (condition.number)
      return operand(condition.isNumber(0) ? 2 : 1);
    Known yes = operand(1), no = operand(2);
    return (yes.number && yes.number == no.number) || yes.isSame(no) ? yes : Known();
  }
  if (isa<arith::TruncFOp, arith::ExtFOp>(op))
    return Known{operand(0).number, std::nullopt};
  if (isa<math::ExpOp, math::Exp2Op>(op)) {
    Known x = operand(0);
    return !x.number ? Known() : Known::of(isa<math::ExpOp>(op) ? std::exp(*x.number) : std::exp2(*x.number));
  }
  if (op->getNumOperands() != 2)
    return Known();
  Known a = operand(0), b = operand(1);
  bool areNumbers = a.number && b.number;
  if (auto compare = dyn_cast<arith::CmpFOp>(op); compare && compare.getPredicate() == arith::CmpFPredicate::OEQ)
    return a.isSame(b) ? Known::of(1) : areNumbers ? Known::of(*a.number == *b.number) : Known();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (isa<arith::MulFOp>(op)) {
    // A score of minus infinity stays one, whatever its scale.
    if ((a.isNumber(-kInfinity) && isPositive(op->getOperand(1))) ||
        (b.isNumber(-kInfinity) && isPositive(op->getOperand(0))))
      return Known::of(-kInfinity);
    return areNumbers ? Known::of(*a.number * *b.number) : a.isNumber(1) ? b : b.isNumber(1) ? a : Known();
  }
  if (isa<arith::AddFOp>(op))
    return areNumbers ? Known::of(*a.number + *b.number) : a.isNumber(0) ? b : b.isNumber(0) ? a : Known();
  if (isa<arith::SubFOp>(op)) {
    // Of what is reduced something is left in an earlier tile, so that it is finite.
    return areNumbers ? Known::of(*a.number - *b.number) : a.isNumber(-kInfinity) ? a : b.isNumber(0) ? a : Known();
  }
  return Known();
}

Known MaskedLoop::evaluate(Value value, DenseMap<Value, Known> &known) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  FloatAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return Known::of(number.getValueAsDouble());
  Operation *op = value.getDefiningOp();
  if (!op)
    return Known();
  Known made;
  if (auto fill = dyn_cast<tile::FillOp>(op)) {
    made = evaluate(fill.getValue(), known);
  } else if (auto map = dyn_cast<tile::MapOp>(op)) {
    Block &body = map.getBody().front();
    for (auto [argument, fragment] : llvm::zip(body.getArguments(), map.getFragments()))
      known[argument] = evaluate(fragment, known);
    made = evaluate(cast<tile::YieldOp>(body.getTerminator()).getElement(), known);
  } else if (auto reduce = dyn_cast<tile::RowReduceOp>(op)) {
    Known elements = evaluate(reduce.getFragment(), known);
    double infinity = std::numeric_limits<double>::infinity();
    double identity = reduce.getKind() == tile::Reduction::Sum   ? 0
                      : reduce.getKind() == tile::Reduction::Max ? -infinity
                                                                 : infinity;
    if (elements.isNumber(identity))
      made = evaluate(reduce.getInit(), known);
  } else if (auto matmul = dyn_cast<tile::MatmulOp>(op)) {
    if (evaluate(matmul.getA(), known).isNumber(0) || evaluate(matmul.getB(), known).isNumber(0))
      made = evaluate(matmul.getAccumulator(), known);
  } else if (auto share = dyn_cast<tile::ShareOp>(op)) {
    made = evaluate(share.getFragment(), known);
  } else if (op->getParentOfType<tile::MapOp>() && kernel->isAncestor(op)) {
    made = evaluateElement(op, known);
  }
  known[value] = made;
  return made;
}

std::optional<index::LinearIndex> MaskedLoop::findReach(bool falls) {
  if (getConstantIntValue(loop.getLowerBound()) != 0 || getConstantIntValue(loop.getStep()) != 1)
    return std::nullopt;
  std::optional<index::LinearIndex> reach;
  masks.clear();
  loop.getBody()->walk([&](Operation *op) {
    auto mask = matchMask(op);
    auto map = op->getParentOfType<tile::MapOp>();
    if (!mask || !map || op->getParentOp() != map)
      return;
    auto found = getReach(map, mask->second, falls);
    if (!found || (reach && !(*reach == *found)))
      return;
    reach = found;
    masks.insert(op);
  });
  if (!reach)
    return std::nullopt;
  DenseMap<Value, Known> known;
  for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs()))
    known[argument] = Known{std::nullopt, number};
  for (auto [number, yielded] : llvm::enumerate(loop.getBody()->getTerminator()->getOperands()))
    if (evaluate(yielded, known).carried != number)
      return std::nullopt;
  // What an iteration stores it may add zero to.
  bool stores = false;
  WalkResult walked = loop.getBody()->walk([&](Operation *op) -> WalkResult {
    auto tile = dyn_cast<tile::StoreOp>(op);
    if (!tile && !isa<memref::StoreOp>(op))
      return WalkResult::advance();
    stores = true;
    if (auto map = op->getParentOfType<tile::MapOp>())
      evaluate(map.getResult(), known);
    bool adds = tile ? tile.getReduceAdd() : op->hasAttr(schedule::kReduceAddAttr);
    return WalkResult(success(adds && evaluate(op->getOperand(0), known).isNumber(0)));
  });
  if (walked.wasInterrupted() || (!stores && loop.getNumRegionIterArgs() == 0))
    return std::nullopt;
  return reach;
}

std::optional<index::LinearIndex> MaskedLoop::end() {
  auto reach = findReach(/*falls=*/true);
  if (!reach)
    return std::nullopt;
  OpBuilder builder(loop);
  Numbers numbers{builder, loop.getLoc()};
  int64_t each = -reach->terms.lookup(loop.getInductionVar());
  reach->terms.erase(loop.getInductionVar());
  Value most = materialize(builder, *reach);
  if (llvm::any_of(reach->terms, [&](auto term) { return isRead(term.first); }))
    most = builder.createOrFold<arith::MaxSIOp>(loop.getLoc(), most, numbers.constant(0));
  Value last = numbers.divide(most, each);
  loop.setUpperBound(numbers.least(numbers.add(last, 1), loop.getUpperBound()));
  return reach;
}

void MaskedLoop::begin() {
  auto reach = findReach(/*falls=*/false);
  if (!reach)
    return;
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Numbers numbers{builder, loc};
  int64_t each = reach->terms.lookup(loop.getInductionVar());
  reach->terms.erase(loop.getInductionVar());
  // The first iteration t with each * t + reach >= 0. One iteration is left.
  index::LinearIndex distance = index::LinearIndex().plus(*reach, -1);
  distance.constant += each - 1;
  Value zero = numbers.constant(0);
  Value ahead = builder.createOrFold<arith::MaxSIOp>(loc, materialize(builder, distance), zero);
  Value first = numbers.least(numbers.divide(ahead, each), numbers.subtract(loop.getUpperBound(), 1));
  loop.setUpperBound(numbers.subtract(loop.getUpperBound(), first));
  builder.setInsertionPointToStart(loop.getBody());
  Value moved = numbers.add(loop.getInductionVar(), first);
  loop.getInductionVar().replaceAllUsesExcept(moved, moved.getDefiningOp());
}

struct SkipMaskedTiles : impl::SkipMaskedTilesBase<SkipMaskedTiles> {
  void runOnOperation() override {
    SmallVector<tile::KernelOp> kernels;
    getOperation().walk([&](tile::KernelOp kernel) { kernels.push_back(kernel); });
    for (tile::KernelOp kernel : kernels) {
      bool grows = false;
      for (scf::ForOp loop : getPipelines(kernel)) {
        auto reach = MaskedLoop(kernel, loop).end();
        MaskedLoop(kernel, loop).begin();
        grows |= reach && reach->terms.contains(kernel.getPlace(0));
      }
      if (grows && !kernel.getOrder() && getClusterBlocks(kernel) == 1)
        reverse(kernel);
    }
  }

  /// The tiles with the most to do first.
  static void reverse(tile::KernelOp kernel) {
    OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
    Numbers numbers{builder, kernel.getLoc()};
    Value place = kernel.getPlace(0), last = numbers.subtract(kernel.getX(), 1);
    Value reversed = arith::SubIOp::create(builder, kernel.getLoc(), last, place);
    place.replaceAllUsesExcept(reversed, reversed.getDefiningOp());
  }
};
} // namespace
} // namespace tilewright
