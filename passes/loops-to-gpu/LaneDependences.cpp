//===- LaneDependences.cpp - whether lanes may run side by side -----------===//
//
// In sequence one iteration does all its accesses, then the next does its own. As lanes of vectors all iterations do
// the first access, then all do the second. That is the same unless a later access of an earlier iteration touches what
// an earlier access of a later iteration touches, and one of them stores: a sum that goes through memory, for example.
//
//===----------------------------------------------------------------------===//
#include "passes/index/IndexSpace.h"
#include "passes/loops-to-gpu/Lanes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace tilewright {
namespace {
struct LaneAccess {
  Value buffer;
  bool isStore;
  SmallVector<SmallVector<AffineExpr>> places; // by lane, one expression a dimension, null where it is not known
};

/// The allocation or argument that a buffer is, or is a part of; null where that is not known.
Value getRoot(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return isa<BlockArgument>(buffer) || buffer.getDefiningOp<memref::AllocOp>() ||
                 buffer.getDefiningOp<memref::AllocaOp>()
             ? buffer
             : Value();
}

bool mayBeOneElement(const LaneAccess &a, int64_t laneOfA, const LaneAccess &b, int64_t laneOfB,
                     index::IndexSpace &space) {
  if (a.buffer != b.buffer) {
    Value rootOfA = getRoot(a.buffer), rootOfB = getRoot(b.buffer);
    return !rootOfA || !rootOfB || rootOfA == rootOfB;
  }
  for (auto [x, y] : llvm::zip_equal(a.places[laneOfA], b.places[laneOfB])) {
    auto distance = x && y ? dyn_cast<AffineConstantExpr>(space.simplify(x - y)) : AffineConstantExpr();
    if (distance && distance.getValue() != 0)
      return false;
  }
  // Quotients and remainders of one number may differ by no constant, and yet the elements lie a constant apart.
  ArrayRef<int64_t> shape = cast<MemRefType>(a.buffer.getType()).getShape();
  AffineExpr x = index::getRowMajorPlace(a.places[laneOfA], shape);
  AffineExpr y = index::getRowMajorPlace(b.places[laneOfB], shape);
  auto distance = x && y ? dyn_cast<AffineConstantExpr>(space.simplify(x - y)) : AffineConstantExpr();
  return !distance || distance.getValue() == 0;
}
/// Whether a value is the same in all iterations: it stands before the loop, or is computed from such values alone.
bool isUniform(Value value, scf::ForOp loop) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return !loop->isAncestor(value.getParentBlock()->getParentOp());
  return !loop->isAncestor(op) ||
         (op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
          llvm::all_of(op->getOperands(), [&](Value operand) { return isUniform(operand, loop); }));
}
} // namespace

bool isComputed(Value value, scf::ForOp loop) {
  if (value == loop.getInductionVar() || isUniform(value, loop))
    return true;
  // index::IndexSpace sees through operations on indices alone.
  Operation *op = value.getDefiningOp();
  return op && op->getNumRegions() == 0 && op->getNumResults() == 1 && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return operand.getType().isIndex() && isComputed(operand, loop); });
}

bool areLanesIndependent(scf::ForOp loop, int64_t lanes) {
  index::IndexSpace space(loop.getContext());
  SmallVector<LaneAccess> accesses;
  auto add = [&](Value buffer, ValueRange indices, bool isStore) {
    LaneAccess access{buffer, isStore, {}};
    for (int64_t lane = 0; lane < lanes; ++lane) {
      index::IndexSpace::Substitution at;
      at[loop.getInductionVar()] = getAffineConstantExpr(lane, loop.getContext());
      access.places.push_back(llvm::map_to_vector(
          indices, [&](Value index) { return isComputed(index, loop) ? space.get(index, at) : AffineExpr(); }));
    }
    accesses.push_back(std::move(access));
  };
  loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      add(load.getMemRef(), load.getIndices(), /*isStore=*/false);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      add(store.getMemRef(), store.getIndices(), /*isStore=*/true);
  });
  for (auto [number, first] : llvm::enumerate(accesses))
    for (const LaneAccess &second : ArrayRef(accesses).drop_front(number + 1)) {
      if (!first.isStore && !second.isStore)
        continue;
      for (int64_t lane = 1; lane < lanes; ++lane)
        for (int64_t earlier = 0; earlier < lane; ++earlier)
          if (mayBeOneElement(first, lane, second, earlier, space))
            return false;
    }
  return true;
}
} // namespace tilewright
