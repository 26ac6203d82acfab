//===- PlaceTileBarriers.cpp - what waits for what, role by role ----------===//
#include "dialects/Tile/Instructions.h"
#include "passes/loops-to-tile/FragmentAccumulation.h"
#include "passes/loops-to-tile/Numbers.h"
#include "passes/loops-to-tile/TileBarriers.h"
#include "passes/loops-to-tile/TileBox.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_PLACETILEBARRIERS
#include "passes/loops-to-tile/Passes.h.inc"

/// Whether something holds for `op`, or for an op in it.
static bool has(Operation *op, function_ref<bool(Operation *)> holds) {
  return op->walk([&](Operation *inner) { return WalkResult(failure(holds(inner))); }).wasInterrupted();
}

static bool fillsSlots(Operation *op) {
  auto user = dyn_cast<tile::RingUserOpInterface>(op);
  return user && user.fillsSlots();
}

bool BarrierPlacer::readsShared() const {
  return llvm::any_of(groups, [](const Group &group) { return group.readsShared; });
}

LogicalResult BarrierPlacer::placeRole() {
  top = &role;
  for (Operation &op : role)
    getsTiles |= has(&op, [](Operation *inner) { return isa<tile::GetOp>(inner); });
  if (failed(place(role)))
    return failure();
  stores.finish();
  return success();
}

LogicalResult BarrierPlacer::place(Block &block) {
  Operation *lastPut = nullptr;
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  llvm::SmallPtrSet<Operation *, 8> done;
  for (Operation *op : ops) {
    if (done.contains(op))
      continue;
    // What goes on elsewhere waits for all. What an iteration stores goes by way of a buffer that no matmul reads, and
    // what it shares by way of one that its matmuls read later.
    bool isBeside =
        isa<scf::ForOp>(op->getParentOp()) && (isa<tile::StoreOp>(op) || (isa<tile::ShareOp>(op) && !readsShared()));
    waitBefore(op, /*forAll=*/isa<RegionBranchOpInterface>(op) || op->hasTrait<OpTrait::IsTerminator>() ||
                       (op->hasTrait<tile::AfterMatmuls>() && !isBeside));
    LogicalResult placed = success();
    if (auto get = dyn_cast<tile::GetOp>(op)) {
      placeGet(get);
    } else if (auto put = dyn_cast<tile::PutOp>(op)) {
      Value ring = put.getRing();
      for (Value tile : put.getTiles())
        done.insert(tile.getDefiningOp());
      lastPut = placePut(put, lastPut, getState(ring));
      builder.setInsertionPointAfter(lastPut);
      states[ring] = advance(ring, states[ring]);
      lastPut = states[ring].slot.getDefiningOp();
    } else if (auto skip = dyn_cast<tile::SkipOp>(op)) {
      placeSkip(skip);
    } else if (auto matmul = dyn_cast<tile::MatmulOp>(op)) {
      for (tile::MatmulOp one : getMatmulGroup(matmul))
        done.insert(one);
      placed = placeMatmuls(matmul);
    } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
      placed = stores.place(store);
    } else if (auto share = dyn_cast<tile::ShareOp>(op)) {
      stores.place(share);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      placed = placeLoop(loop);
    } else if (auto choice = dyn_cast<scf::IfOp>(op)) {
      placed = placeIf(choice);
    } else if (auto elect = dyn_cast<tile::ElectOp>(op)) {
      placed = placeElect(elect);
    }
    if (failed(placed))
      return failure();
  }
  return success();
}

LogicalResult BarrierPlacer::placeLoop(scf::ForOp loop) {
  if (isAccumulation(loop))
    return placeAccumulation(loop);
  llvm::SetVector<Value> rings;
  loop->walk([&](tile::RingUserOpInterface user) {
    if (!getsTiles || !user.fillsSlots())
      rings.insert(user.getUsedRing());
  });
  builder.setInsertionPoint(loop);
  advanceTaken();
  SmallVector<Value> carried;
  for (Value ring : rings)
    carried.append({getState(ring).slot, getState(ring).phase});
  // The slots that are filled ahead of those that are read. Behind the loop all that was put has been read.
  llvm::SetVector<Value> filled;
  for (auto elect : loop.getOps<tile::ElectOp>())
    elect->walk([&](tile::PutOp put) { filled.insert(put.getRing()); });
  for (auto choice : loop.getOps<scf::IfOp>())
    choice->walk([&](tile::PutOp put) { filled.insert(put.getRing()); });
  filled.remove_if([&](Value ring) { return !getsTiles || !ahead.contains(ring); });
  for (Value ring : filled)
    carried.append({ahead[ring].slot, ahead[ring].phase});
  unsigned count = carried.size();
  llvm::append_range(carried, loop.getInitArgs());
  auto made =
      scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), carried);
  for (NamedAttribute attribute : loop->getDiscardableAttrs())
    if (attribute.getName() != schedule::kPipelineAttr)
      made->setAttr(attribute.getName(), attribute.getValue());
  if (carried.empty())
    made.getBody()->getTerminator()->erase();
  Block *body = made.getBody();
  loop.getInductionVar().replaceAllUsesWith(made.getInductionVar());
  for (auto [old, now] : llvm::zip(loop.getRegionIterArgs(), made.getRegionIterArgs().drop_front(count)))
    old.replaceAllUsesWith(now);
  for (auto [old, now] : llvm::zip(loop.getResults(), made.getResults().drop_front(count)))
    old.replaceAllUsesWith(now);
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  auto setStates = [&](ValueRange values) {
    for (auto [number, ring] : llvm::enumerate(rings))
      states[ring] = {values[2 * number], values[2 * number + 1]};
    for (auto [number, ring] : llvm::enumerate(filled))
      ahead[ring] = {values[2 * (rings.size() + number)], values[2 * (rings.size() + number) + 1]};
  };
  setStates(made.getRegionIterArgs());
  Operation *old = loop;
  if (failed(place(*body)))
    return failure();
  builder.setInsertionPoint(body->getTerminator());
  advanceTaken();
  SmallVector<Value> yielded;
  for (Value ring : rings)
    yielded.append({states[ring].slot, states[ring].phase});
  for (Value ring : filled)
    yielded.append({ahead[ring].slot, ahead[ring].phase});
  llvm::append_range(yielded, body->getTerminator()->getOperands());
  body->getTerminator()->setOperands(yielded);
  setStates(made.getResults());
  for (Value ring : filled)
    ahead.erase(ring);
  builder.setInsertionPointAfter(made);
  releaseReadUpTo([&](Operation *last) { return last == old; });
  loop.erase();
  return success();
}

LogicalResult BarrierPlacer::placeIf(scf::IfOp choice) {
  if (has(choice, [](Operation *op) { return op->hasTrait<tile::Unconditional>(); }))
    return choice.emitError() << "wgmma: expected matmuls everywhere in a kernel, got a condition around one";
  if (!has(choice, fillsSlots)) {
    for (Region &region : choice->getRegions())
      for (Block &block : region)
        if (failed(place(block)))
          return failure();
    return success();
  }
  // Where nothing is put the next slot stays the same.
  builder.setInsertionPoint(choice);
  auto before = ahead;
  SmallVector<Type> types(2 * ahead.size(), builder.getI32Type());
  auto made = scf::IfOp::create(builder, choice.getLoc(), types, choice.getCondition(), /*withElseRegion=*/true);
  Block *then = made.thenBlock();
  then->getOperations().splice(then->begin(), choice.thenBlock()->getOperations(), choice.thenBlock()->begin(),
                               choice.thenBlock()->getTerminator()->getIterator());
  auto yield = [&](Block *block) {
    builder.setInsertionPointToEnd(block);
    SmallVector<Value> values;
    for (auto &[ring, state] : ahead)
      values.append({state.slot, state.phase});
    scf::YieldOp::create(builder, choice.getLoc(), values);
  };
  if (failed(place(*then)))
    return failure();
  yield(then);
  ahead = before;
  yield(made.elseBlock());
  unsigned number = 0;
  for (auto &[ring, state] : ahead) {
    state = {made.getResult(number), made.getResult(number + 1)};
    number += 2;
  }
  choice.erase();
  return success();
}

LogicalResult BarrierPlacer::placeElect(tile::ElectOp elect) {
  if (!has(elect, fillsSlots))
    return success();
  Block &body = elect.getBody().front();
  if (!getsTiles) {
    top = &body;
    if (failed(place(body)))
      return failure();
    drain(body);
    return success();
  }
  // All threads know the slots that one of them fills.
  SmallVector<tile::PutOp> puts;
  elect.walk([&](tile::PutOp put) { puts.push_back(put); });
  builder.setInsertionPoint(elect);
  bool isInLoop = bool(accumulation);
  SmallVector<RingState> slots;
  for (tile::PutOp put : puts) {
    Value ring = put.getRing();
    RingState &state = ahead[ring];
    if (!state.slot)
      state = getState(ring);
    slots.push_back(state);
    if (!isInLoop)
      state = advance(ring, state);
  }
  SmallVector<Value> rings;
  for (tile::PutOp put : puts)
    rings.push_back(put.getRing());
  Operation *before = nullptr;
  for (auto [put, slot] : llvm::zip(puts, slots)) {
    Block *block = put->getBlock();
    before = placePut(put, before && before->getBlock() == block ? before : nullptr, slot);
  }
  builder.setInsertionPointAfter(elect);
  if (isInLoop)
    for (Value ring : rings)
      ahead[ring] = advance(ring, ahead[ring]);
  return success();
}

namespace {
struct PlaceTileBarriers : impl::PlaceTileBarriersBase<PlaceTileBarriers> {
  void runOnOperation() override {
    SmallVector<tile::KernelOp> kernels;
    getOperation().walk([&](tile::KernelOp kernel) { kernels.push_back(kernel); });
    for (tile::KernelOp kernel : kernels) {
      WalkResult loads = kernel.walk([&](tile::LoadOp load) {
        return failed(verifyLoad(load, kernel)) ? WalkResult::interrupt() : WalkResult::advance();
      });
      if (loads.wasInterrupted())
        return signalPassFailure();
      SmallVector<Block *> bodies;
      for (auto roles : kernel.getBody().getOps<tile::RolesOp>())
        for (auto role : roles.getOps<tile::RoleOp>())
          bodies.push_back(&role.getBody().front());
      if (bodies.empty())
        bodies.push_back(&kernel.getBody().front());
      for (Block *body : bodies)
        if (failed(BarrierPlacer(kernel, *body).placeRole()))
          return signalPassFailure();
    }
  }
};
} // namespace
} // namespace tilewright
