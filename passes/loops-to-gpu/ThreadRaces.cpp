//===- ThreadRaces.cpp - iterations that leave different values in one place ===//
#include "passes/loops-to-gpu/ThreadRaces.h"

#include "passes/index/IndexSpace.h"
#include "passes/index/LinearForm.h"
#include "passes/loops-to-gpu/KernelMemory.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tilewright {
namespace {
/// So many iterations are tried of one store, so many of a loop that has loops in it, and so many of those.
constexpr int64_t kMostTried = 1024, kMostOfLoop = 64, kMostOfInner = 8;

/// The statements of an extern are those of threads that run at the same time, not of loops in sequence.
bool isOfExtern(Operation *op) {
  for (; op; op = op->getParentOp())
    if (op->hasAttr(te::kExternAttr))
      return true;
  return false;
}

bool isBoundToIndex(scf::ForOp loop) { return loop->hasAttr(schedule::kBindAttr); }

/// The values of a program in one iteration, as far as they are constants there.
class Iteration {
public:
  void set(Value value, int64_t number) { known[value] = IntegerAttr::get(IndexType::get(value.getContext()), number); }
  Attribute get(Value value);
  /// Whether the op is executed; nothing where that is data.
  std::optional<bool> reaches(Operation *op, Operation *until);

private:
  Attribute compute(Value value);

  llvm::SmallDenseMap<Value, Attribute, 8> known;
};

Attribute Iteration::get(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Attribute constant = compute(value);
  known[value] = constant;
  return constant;
}

Attribute Iteration::compute(Value value) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() == 0 || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return {};
  SmallVector<Attribute> operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) { return get(operand); });
  SmallVector<OpFoldResult> results;
  if (llvm::is_contained(operands, Attribute()) || failed(op->fold(operands, results)) || results.empty())
    return {};
  OpFoldResult result = results[cast<OpResult>(value).getResultNumber()];
  if (auto same = dyn_cast<Value>(result))
    return same == value ? Attribute() : get(same);
  return cast<Attribute>(result);
}

/// One store in one iteration of the loop and of the loops in it.
struct Write {
  memref::StoreOp store;
  int64_t number;
  Iteration iteration;
};

enum class Sameness { Same, Unknown, Different };

/// Compares what two iterations of a loop compute.
class Comparison {
public:
  Comparison(scf::ForOp loop, Write &here, Write &there) : loop(loop), here(here), there(there) {}

  /// Whether both are executed, as far as that is no data, or the same data for both.
  bool areReached();
  bool isSamePlace();
  Sameness compareStored() { return compare(here.store.getValue(), there.store.getValue()); }

private:
  Sameness compare(Value ofHere, Value ofThere);
  Sameness compute(Value ofHere, Value ofThere);
  Sameness compareOperands(Operation *ofHere, Operation *ofThere);
  Sameness compareOfLoop(BlockArgument argument);
  /// Whether the loop has the iteration of the write, as far as that is no data, or the same data for both.
  bool isEntered(scf::ForOp inner, Write &write);

  scf::ForOp loop;
  Write &here, &there;
  llvm::DenseMap<std::pair<Value, Value>, Sameness> known;
};

Sameness Comparison::compare(Value ofHere, Value ofThere) {
  // What is asked about again while it is looked at comes around a loop: what else it is made of decides.
  if (auto [entry, isNew] = known.try_emplace({ofHere, ofThere}, Sameness::Same); !isNew)
    return entry->second;
  Sameness found = compute(ofHere, ofThere);
  known[{ofHere, ofThere}] = found;
  return found;
}

Sameness Comparison::compareOperands(Operation *ofHere, Operation *ofThere) {
  Sameness all = Sameness::Same;
  for (auto [a, b] : llvm::zip_equal(ofHere->getOperands(), ofThere->getOperands()))
    all = std::max(all, compare(a, b));
  return all;
}

Sameness Comparison::compute(Value ofHere, Value ofThere) {
  Attribute a = here.iteration.get(ofHere), b = there.iteration.get(ofThere);
  if (a && b)
    return a == b ? Sameness::Same : Sameness::Different;
  if (ofHere == ofThere && !loop->isAncestor(ofHere.getParentBlock()->getParentOp()))
    return Sameness::Same;
  auto isInLoop = [&](Value value) { return loop->isAncestor(value.getParentBlock()->getParentOp()); };
  for (Value value : {ofHere, ofThere}) {
    if (isa<BlockArgument>(value) && isInLoop(value))
      return ofHere == ofThere ? compareOfLoop(cast<BlockArgument>(value)) : Sameness::Unknown;
    auto load = value.getDefiningOp<memref::LoadOp>();
    if (load && (isPrivate(load.getMemRef()) || isInLoop(load.getMemRef())))
      return Sameness::Unknown;
  }
  Operation *op = ofHere.getDefiningOp(), *other = ofThere.getDefiningOp();
  if (!op || !other)
    return Sameness::Different;
  if (auto select = dyn_cast<arith::SelectOp>(op); select && op == other)
    if (auto condition = dyn_cast_or_null<BoolAttr>(here.iteration.get(select.getCondition()));
        condition && condition == there.iteration.get(select.getCondition())) {
      Value chosen = condition.getValue() ? select.getTrueValue() : select.getFalseValue();
      return compare(chosen, chosen);
    }
  if (op != other) {
    bool isAlike = op->getName() == other->getName() && op->getNumRegions() == 0 &&
                   op->getNumOperands() == other->getNumOperands() && ofHere.getType() == ofThere.getType() &&
                   op->getPropertiesAsAttribute() == other->getPropertiesAsAttribute();
    return isAlike ? compareOperands(op, other) : Sameness::Different;
  }
  if (!isa<memref::LoadOp>(op) && op->getNumRegions() == 0 && !isMemoryEffectFree(op))
    return Sameness::Unknown;
  Sameness all = compareOperands(op, op);
  op->walk([&](Operation *inner) {
    if (inner != op)
      all = std::max(all, compareOperands(inner, inner));
  });
  return all;
}

Sameness Comparison::compareOfLoop(BlockArgument argument) {
  auto inner = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!inner)
    return Sameness::Unknown;
  // The same iteration of a loop whose iterations are not told apart, if both begin alike; or what it carries.
  unsigned number = argument.getArgNumber();
  Value begin = number == 0 ? inner.getLowerBound() : inner.getInitArgs()[number - 1];
  Value next = number == 0 ? inner.getStep() : inner.getYieldedValues()[number - 1];
  return std::max(compare(begin, begin), compare(next, next));
}

bool Comparison::isEntered(scf::ForOp inner, Write &write) {
  auto get = [&](Value value) { return dyn_cast_or_null<IntegerAttr>(write.iteration.get(value)); };
  IntegerAttr begin = get(inner.getLowerBound()), end = get(inner.getUpperBound());
  if (IntegerAttr now = get(inner.getInductionVar()))
    begin = now;
  if (begin && end)
    return begin.getInt() < end.getInt();
  return compare(inner.getUpperBound(), inner.getUpperBound()) == Sameness::Same;
}

bool Comparison::areReached() {
  auto isReached = [&](Write &write, Write &another) {
    for (Operation *op = write.store; op != loop.getOperation(); op = op->getParentOp()) {
      auto choice = dyn_cast<scf::IfOp>(op->getParentOp());
      if (!choice) {
        auto inner = dyn_cast<scf::ForOp>(op->getParentOp());
        if (!inner || !isEntered(inner, write))
          return false;
        continue;
      }
      if (auto condition = dyn_cast_or_null<BoolAttr>(write.iteration.get(choice.getCondition()))) {
        if (condition.getValue() != choice.getThenRegion().isAncestor(op->getParentRegion()))
          return false;
      } else if (!choice->isAncestor(another.store) ||
                 compare(choice.getCondition(), choice.getCondition()) != Sameness::Same) {
        return false;
      }
    }
    return true;
  };
  return isReached(here, there) && isReached(there, here);
}

bool Comparison::isSamePlace() {
  return llvm::all_of(llvm::zip_equal(here.store.getIndices(), there.store.getIndices()), [&](auto indices) {
    return compare(std::get<0>(indices), std::get<1>(indices)) == Sameness::Same;
  });
}

/// A loop around a store whose iterations are told apart.
struct TriedLoop {
  Value variable;
  int64_t begin, step, count;
  bool isSerial;
};

/// The races of the iterations of one loop.
class RaceSearch {
public:
  explicit RaceSearch(scf::ForOp loop) : loop(loop), space(loop.getContext()) {}

  std::optional<ThreadRace> find(Value buffer, ArrayRef<memref::StoreOp> stores);

private:
  /// Whether no two iterations of the loop store to one place.
  bool isApart(memref::StoreOp store);
  std::optional<SmallVector<TriedLoop>> getTried(memref::StoreOp store, int64_t most);
  std::optional<ThreadRace> add(Write write, size_t key);

  scf::ForOp loop;
  index::IndexSpace space;
  llvm::MapVector<size_t, SmallVector<Write, 1>> writes;
};

bool RaceSearch::isApart(memref::StoreOp store) {
  AffineExpr variable = space.get(loop.getInductionVar());
  SmallVector<AffineExpr> places = space.get(store.getIndices());
  SmallVector<index::Range> ranges;
  for (unsigned dim = 0; dim < space.getNumDims(); ++dim)
    ranges.push_back(index::getRange(space.getValue(dim)));
  auto varies = [&](AffineExpr operand) {
    Value value = space.getValue(cast<AffineDimExpr>(operand).getPosition());
    return operand != variable && loop->isAncestor(value.getParentBlock()->getParentOp());
  };
  return index::isDetermined(variable, places, varies, {space.getNumDims(), ranges});
}

std::optional<SmallVector<TriedLoop>> RaceSearch::getTried(memref::StoreOp store, int64_t most) {
  SmallVector<scf::ForOp> around;
  for (auto inner = store->getParentOfType<scf::ForOp>(); inner != loop; inner = inner->getParentOfType<scf::ForOp>())
    around.push_back(inner);
  around.push_back(loop);
  SmallVector<TriedLoop> tried;
  int64_t product = 1;
  for (scf::ForOp each : llvm::reverse(around)) {
    std::optional<int64_t> begin = getConstantIntValue(each.getLowerBound()),
                           step = getConstantIntValue(each.getStep());
    std::optional<int64_t> end = getConstantIntValue(each.getUpperBound());
    // The iterations of a symbolic number, as many as it may be.
    if (!end && each == loop)
      end = index::getRange(each.getUpperBound()).max.value_or(kMostOfLoop);
    if (!begin || !step || !end || *step < 1)
      continue;
    if (*end <= *begin)
      return std::nullopt;
    int64_t count = (*end - *begin - 1) / *step + 1;
    int64_t limit = each != loop ? kMostOfInner : around.size() == 1 ? most : kMostOfLoop;
    count = std::max<int64_t>(std::min({count, limit, most / product}), 1);
    product *= count;
    tried.push_back({each.getInductionVar(), *begin, *step, count, !isBoundToIndex(each)});
  }
  return tried;
}

std::optional<ThreadRace> RaceSearch::add(Write write, size_t key) {
  SmallVector<Write, 1> &others = writes[key];
  for (Write &other : others) {
    if (other.number == write.number)
      continue;
    Comparison comparison(loop, other, write);
    if (comparison.isSamePlace() && comparison.areReached() && comparison.compareStored() == Sameness::Different)
      return ThreadRace{write.store, other.number, write.number};
  }
  // The next one is compared with a few.
  if (others.size() < 4)
    others.push_back(std::move(write));
  return std::nullopt;
}

std::optional<ThreadRace> RaceSearch::find(Value buffer, ArrayRef<memref::StoreOp> stores) {
  auto reads = [&](Operation *user) { return loop->isAncestor(user) && !isa<memref::StoreOp>(user); };
  bool isRead = isOfExtern(loop) || llvm::any_of(buffer.getUsers(), reads);
  if ((isRead || stores.size() == 1) && llvm::all_of(stores, [&](memref::StoreOp store) { return isApart(store); }))
    return std::nullopt;
  Iteration outside;
  for (auto outer = loop->getParentOfType<scf::ForOp>(); outer; outer = outer->getParentOfType<scf::ForOp>())
    if (std::optional<int64_t> begin = getConstantIntValue(outer.getLowerBound()))
      outside.set(outer.getInductionVar(), *begin);
  for (auto [position, store] : llvm::enumerate(stores)) {
    int64_t most = std::max<int64_t>(kMostTried / stores.size(), kMostOfLoop);
    std::optional<SmallVector<TriedLoop>> tried = getTried(store, most);
    if (!tried || tried->empty() || tried->front().variable != loop.getInductionVar())
      continue;
    int64_t product = 1;
    for (const TriedLoop &each : *tried)
      product *= each.count;
    for (int64_t number = 0; number < product; ++number) {
      Write write{store, 0, outside};
      llvm::hash_code key = llvm::hash_value(isRead ? position : 0);
      int64_t rest = number;
      for (const TriedLoop &each : llvm::reverse(*tried)) {
        int64_t value = each.begin + rest % each.count * each.step;
        rest /= each.count;
        write.iteration.set(each.variable, value);
        if (each.variable == loop.getInductionVar())
          write.number = value;
        if (isRead && each.isSerial)
          key = llvm::hash_combine(key, value);
      }
      for (Value place : write.store.getIndices())
        key = llvm::hash_combine(key, write.iteration.get(place).getAsOpaquePointer());
      if (std::optional<ThreadRace> race = add(std::move(write), key))
        return race;
    }
    // Where threads may wait between two stores, each is compared with itself.
    if (isRead)
      writes.clear();
  }
  return std::nullopt;
}
} // namespace

std::optional<ThreadRace> findThreadRace(scf::ForOp loop) {
  llvm::MapVector<Value, SmallVector<memref::StoreOp>> buffers;
  loop->walk([&](memref::StoreOp store) {
    // The lanes of an instruction store together.
    if (!store->hasAttr(schedule::kOperandAttr) && !isPrivate(store.getMemRef()) &&
        !loop->isAncestor(store.getMemRef().getParentBlock()->getParentOp()))
      buffers[store.getMemRef()].push_back(store);
  });
  for (auto &[buffer, stores] : buffers)
    if (std::optional<ThreadRace> race = RaceSearch(loop).find(buffer, stores))
      return race;
  return std::nullopt;
}
} // namespace tilewright
