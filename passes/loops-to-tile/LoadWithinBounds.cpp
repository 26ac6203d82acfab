//===- LoadWithinBounds.cpp - what lies beyond a result, without branches -===//
//
// The last tiles of a result are cut. What is computed for their elements reads buffers at an element's place, so each
// element has a branch around its loads, and equal loads of a row are not known to be equal. At the last place within
// the bounds every load is allowed: elements beyond are computed from that place, and chosen away.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"
#include "passes/index/Extents.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_LOADWITHINBOUNDS
#include "passes/loops-to-tile/Passes.h.inc"

namespace {
/// A choice by the place of an element: something that loads where indices are below their bounds, else a value.
class BoundedChoice {
public:
  explicit BoundedChoice(scf::IfOp choice) : choice(choice) {}
  /// Whether nothing but the bounds keeps the loads from being executed for each element.
  bool match();
  void computeAlways();

private:
  /// The comparisons that all have to hold. None may be another than that of an index with its bound.
  bool collect(Value condition);
  /// Whether there is a last place below a bound wherever the kernel has work.
  bool isAtLeastOne(Value bound);
  bool isAllowed(Operation &op) { return isa<memref::LoadOp>(op) || isMemoryEffectFree(&op); }
  /// Whether an index is within bounds where those with bounds are.
  bool isKnown(Value index);
  /// Whether an index follows from what those with bounds are sums of.
  bool follows(Value value);

  scf::IfOp choice;
  llvm::SmallMapVector<Value, Value, 2> bounds;
  llvm::SmallPtrSet<Value, 8> places;
};

/// The tensor in global memory that an op stores to, or null.
static Value getStored(Operation &op) {
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return store.getMemRef();
  auto store = dyn_cast<tile::TMAStoreOp>(op);
  auto encode = store ? store.getMap().getDefiningOp<tile::EncodeOp>() : nullptr;
  return encode ? encode.getTensor() : Value();
}

bool BoundedChoice::isAtLeastOne(Value bound) {
  std::optional<index::LinearIndex> extent = index::LinearIndex::get(bound);
  if (!extent)
    return false;
  if (extent->terms.empty())
    return extent->constant >= 1;
  if (std::optional<index::Extent> known = index::Extent::get(bound); known && known->getLeast() >= 1)
    return true;
  // A kernel whose result has no elements has no tiles.
  WalkResult found = choice->getParentOfType<tile::KernelOp>().walk([&](Operation *op) {
    Value stored = getStored(*op);
    auto type = stored ? cast<MemRefType>(stored.getType()) : MemRefType();
    for (int64_t dimension = 0; type && dimension < type.getRank(); ++dimension)
      if (type.isDynamicDim(dimension) && index::isExtent(*extent, stored, dimension))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return found.wasInterrupted();
}

bool BoundedChoice::collect(Value condition) {
  Operation *op = condition.getDefiningOp();
  if (isa_and_nonnull<arith::AndIOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value part) { return collect(part); });
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt || !compare.getLhs().getType().isIndex())
    return false;
  auto sum = index::LinearIndex::get(compare.getLhs());
  if (!sum || !isAtLeastOne(compare.getRhs()) || !bounds.insert({compare.getLhs(), compare.getRhs()}).second)
    return false;
  for (auto [term, count] : sum->terms)
    places.insert(term);
  places.insert(compare.getLhs());
  return true;
}

bool BoundedChoice::follows(Value value) {
  Operation *op = value.getDefiningOp();
  return places.contains(value) || (op && llvm::any_of(op->getOperands(), [&](Value used) { return follows(used); }));
}

bool BoundedChoice::isKnown(Value index) {
  if (bounds.contains(index))
    return true;
  Operation *op = index.getDefiningOp();
  if (op && choice->isAncestor(op))
    return llvm::all_of(op->getOperands(), [&](Value used) { return isKnown(used); });
  return !follows(index);
}

static bool isConstant(Operation &op) { return op.hasTrait<OpTrait::ConstantLike>(); }

bool BoundedChoice::match() {
  if (choice.getElseRegion().empty() || !llvm::all_of(choice.elseBlock()->without_terminator(), isConstant))
    return false;
  bool loads = false;
  for (Operation &op : choice.thenBlock()->without_terminator()) {
    if (op.getNumRegions() != 0 || !isAllowed(op))
      return false;
    loads |= isa<memref::LoadOp>(op);
  }
  return loads && collect(choice.getCondition()) &&
         llvm::all_of(choice.thenBlock()->getOps<memref::LoadOp>(), [&](memref::LoadOp load) {
           return llvm::all_of(load.getIndices(), [&](Value index) { return isKnown(index); });
         });
}

void BoundedChoice::computeAlways() {
  OpBuilder builder(choice);
  Location loc = choice.getLoc();
  IRMapping mapping;
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  for (auto [place, bound] : bounds) {
    Value last = builder.createOrFold<arith::SubIOp>(loc, bound, one);
    mapping.map(place, arith::MinSIOp::create(builder, loc, place, last).getResult());
  }
  for (Block *block : {choice.thenBlock(), choice.elseBlock()})
    for (Operation &op : block->without_terminator())
      builder.clone(op, mapping);
  for (auto [result, within, beyond] :
       llvm::zip_equal(choice.getResults(), choice.thenYield().getOperands(), choice.elseYield().getOperands())) {
    Value computed = mapping.lookupOrDefault(within), other = mapping.lookupOrDefault(beyond);
    result.replaceAllUsesWith(
        arith::SelectOp::create(builder, loc, choice.getCondition(), computed, other).getResult());
  }
  choice.erase();
}

struct LoadWithinBounds : impl::LoadWithinBoundsBase<LoadWithinBounds> {
  void runOnOperation() override {
    SmallVector<scf::IfOp> choices;
    getOperation().walk([&](tile::MapOp map) { llvm::append_range(choices, map.getBody().getOps<scf::IfOp>()); });
    for (scf::IfOp choice : choices)
      if (BoundedChoice bounded(choice); bounded.match())
        bounded.computeAlways();
  }
};
} // namespace
} // namespace tilewright
