//===- AssignTileRoles.cpp - who loads tiles, and who computes with them --===//
#include "dialects/Tile/Instructions.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/TileGrid.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_ASSIGNTILEROLES
#include "passes/loops-to-tile/Passes.h.inc"

namespace {
/// Loads of one block whose tiles are first needed by the same op: they go by way of one ring.
struct LoadGroup {
  SmallVector<tile::LoadOp> loads;
  Operation *user;     // in the same block
  scf::ForOp pipeline; // around them, whose depth the ring has; null where there is none
  tile::RingOp ring;
};

struct AssignTileRoles : impl::AssignTileRolesBase<AssignTileRoles> {
  void runOnOperation() override {
    SmallVector<tile::KernelOp> kernels;
    getOperation().walk([&](tile::KernelOp kernel) { kernels.push_back(kernel); });
    for (tile::KernelOp kernel : kernels) {
      if (kernel.getOrder()) {
        orderError(kernel) << "expected a kernel without an order, which persist-tiles leaves, got "
                           << kernel.getOrderAttr();
        return signalPassFailure();
      }
      SmallVector<LoadGroup> groups = findGroups(kernel);
      makeRings(kernel, groups);
      if (failed(kernel.getRegisters() ? splitRoles(kernel, groups) : loadAhead(kernel, groups)))
        return signalPassFailure();
    }
  }

  static SmallVector<LoadGroup> findGroups(tile::KernelOp kernel);
  static void makeRings(tile::KernelOp kernel, MutableArrayRef<LoadGroup> groups);
  static LogicalResult splitRoles(tile::KernelOp kernel, MutableArrayRef<LoadGroup> groups);
  static LogicalResult alternate(tile::KernelOp kernel, tile::RoleOp role, Value set,
                                 MutableArrayRef<LoadGroup> groups);
  static LogicalResult loadAhead(tile::KernelOp kernel, MutableArrayRef<LoadGroup> groups);
};

/// The first op of the tile's block that needs the tile or a part of it.
Operation *findUser(tile::LoadOp load) {
  Operation *first = nullptr;
  SmallVector<Value> values = {load};
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      Operation *here = load->getBlock()->findAncestorOpInBlock(*user);
      if (auto part = dyn_cast<tile::PartOp>(user); part && here == user)
        values.push_back(part);
      else if (!first || here->isBeforeInBlock(first))
        first = here;
    }
  return first;
}

scf::ForOp getPipelineAround(Operation *op) {
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop; loop = loop->getParentOfType<scf::ForOp>())
    if (loop->hasAttr(schedule::kPipelineAttr))
      return loop;
  return nullptr;
}
} // namespace

SmallVector<LoadGroup> AssignTileRoles::findGroups(tile::KernelOp kernel) {
  SmallVector<LoadGroup> groups;
  kernel.walk([&](tile::LoadOp load) {
    Operation *user = findUser(load);
    auto *known = llvm::find_if(groups, [&](LoadGroup &group) {
      return group.user == user && group.loads.front()->getBlock() == load->getBlock();
    });
    if (known == groups.end()) {
      groups.push_back({{}, user, getPipelineAround(load), nullptr});
      known = &groups.back();
    }
    known->loads.push_back(load);
  });
  return groups;
}

void AssignTileRoles::makeRings(tile::KernelOp kernel, MutableArrayRef<LoadGroup> groups) {
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  for (LoadGroup &group : groups) {
    SmallVector<tile::BufferType> buffers;
    for (tile::LoadOp load : group.loads)
      buffers.push_back(load.getTile().getType());
    int64_t depth =
        group.pipeline ? group.pipeline->getAttrOfType<schedule::PipelineAttr>(schedule::kPipelineAttr).getStages() : 1;
    auto type = tile::RingType::get(kernel.getContext(), depth, buffers);
    Location loc = group.pipeline ? group.pipeline.getLoc() : group.loads.front().getLoc();
    group.ring = tile::RingOp::create(builder, loc, type, kernel.getWarpgroups(), IntegerAttr(), IntegerAttr());
  }
}

//===----------------------------------------------------------------------===//
// A producer beside the consumer warpgroups
//===----------------------------------------------------------------------===//

namespace {
/// Clones loads, and what says when and of what they are, to a producer.
class LoadCloner {
public:
  LoadCloner(tile::KernelOp kernel, MutableArrayRef<LoadGroup> groups, OpBuilder &builder)
      : kernel(kernel), groups(groups), builder(builder) {}

  LogicalResult clone() {
    for (LoadGroup &group : groups)
      for (tile::LoadOp load : group.loads)
        if (failed(need(load)))
          return failure();
    cloneBlock(kernel.getBody().front());
    return success();
  }

private:
  LogicalResult needValue(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (loop && loop.getInductionVar() != value)
        return emitError(value.getLoc())
               << "wgmma: expected tiles whose places do not depend on what the kernel computes";
      return success();
    }
    Operation *op = value.getDefiningOp();
    if (!kernel->isProperAncestor(op) || isa<tile::RingOp, gpu::ClusterBlockIdOp>(op))
      return success();
    if (isa<scf::ForOp>(op) || op->getParentOfType<tile::MapOp>())
      return op->emitError() << "wgmma: expected tiles whose places do not depend on what the kernel computes";
    return need(op);
  }

  LogicalResult need(Operation *op) {
    if (!needed.insert(op))
      return success();
    for (Value operand : op->getOperands())
      if (failed(needValue(operand)))
        return failure();
    // Of a condition that gives a value all is needed.
    if (!isa<scf::ForOp>(op))
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Operation &inner : block)
            for (Value operand : inner.getOperands())
              if (!op->isAncestor(operand.getParentBlock()->getParentOp()) && failed(needValue(operand)))
                return failure();
    for (Operation *around = op->getParentOp(); around != kernel; around = around->getParentOp()) {
      if (!isa<scf::ForOp>(around))
        return around->emitError() << "wgmma: expected tiles that are loaded in loops, got a condition around one";
      if (!needed.insert(around))
        break;
      for (Value bound : {cast<scf::ForOp>(around).getLowerBound(), cast<scf::ForOp>(around).getUpperBound(),
                          cast<scf::ForOp>(around).getStep()})
        if (failed(needValue(bound)))
          return failure();
    }
    return success();
  }

  void cloneBlock(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (!needed.contains(&op))
        continue;
      auto loop = dyn_cast<scf::ForOp>(op);
      if (!loop) {
        Operation *made = builder.clone(op, mapping);
        if (auto load = dyn_cast<tile::LoadOp>(op))
          put(load, made);
        continue;
      }
      auto made =
          scf::ForOp::create(builder, loop.getLoc(), mapping.lookupOrDefault(loop.getLowerBound()),
                             mapping.lookupOrDefault(loop.getUpperBound()), mapping.lookupOrDefault(loop.getStep()));
      made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
      mapping.map(loop.getInductionVar(), made.getInductionVar());
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(made.getBody());
      cloneBlock(*loop.getBody());
    }
  }

  /// What a group loads goes to its ring together.
  void put(tile::LoadOp load, Operation *made) {
    for (LoadGroup &group : groups)
      if (group.loads.back() == load) {
        SmallVector<Value> tiles;
        for (tile::LoadOp one : group.loads)
          tiles.push_back(mapping.lookup(one.getTile()));
        tile::PutOp::create(builder, group.ring.getLoc(), tiles, group.ring);
      }
  }

  tile::KernelOp kernel;
  MutableArrayRef<LoadGroup> groups;
  OpBuilder &builder;
  llvm::SetVector<Operation *> needed;
  IRMapping mapping;
};

/// Where loads were computed nobody asks any more.
void eraseDead(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (op != root && op->getNumRegions() == 0 && isOpTriviallyDead(op))
      op->erase();
}

/// Takes the tiles of a group from its ring.
void takeTiles(LoadGroup &group) {
  OpBuilder builder(group.loads.front());
  auto taken = tile::GetOp::create(builder, group.ring.getLoc(), group.ring);
  for (auto [load, tile] : llvm::zip(group.loads, taken.getTiles())) {
    load.getTile().replaceAllUsesWith(tile);
    tile::LoadOp(load).erase();
  }
}
} // namespace

LogicalResult AssignTileRoles::splitRoles(tile::KernelOp kernel, MutableArrayRef<LoadGroup> groups) {
  Block *body = &kernel.getBody().front();
  SmallVector<Operation *> ops;
  for (Operation &op : *body)
    if (!isa<gpu::ClusterBlockIdOp, tile::RingOp>(op))
      ops.push_back(&op);
  Location loc = groups.empty() ? kernel.getLoc() : groups.front().ring.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(body);
  int64_t warpgroups = kernel.getWarpgroups(), sets = kernel.getPingpong();
  auto number = [&](int64_t value) { return builder.getI64IntegerAttr(value); };
  auto roles = tile::RolesOp::create(builder, loc);
  builder.createBlock(&roles.getBody());
  auto producer = tile::RoleOp::create(builder, loc, "producer", tile::kWarpgroupWarps,
                                       number((*kernel.getRegisters())[0]), IntegerAttr());
  auto consumer = tile::RoleOp::create(builder, loc, "consumer", tile::kWarpgroupWarps * warpgroups * sets,
                                       number((*kernel.getRegisters())[1]), sets > 1 ? number(sets) : IntegerAttr());
  builder.createBlock(&producer.getBody());
  auto elect = tile::ElectOp::create(builder, loc, tile::ElectScope::Role);
  builder.createBlock(&elect.getBody());
  if (failed(LoadCloner(kernel, groups, builder).clone()))
    return failure();

  Block *consumers = builder.createBlock(&consumer.getBody());
  Value warpgroup = consumers->addArgument(builder.getIndexType(), loc), set;
  if (sets > 1) {
    Value all = warpgroup, each = arith::ConstantIndexOp::create(builder, loc, warpgroups);
    set = warpgroups == 1 ? all : arith::DivUIOp::create(builder, loc, all, each).getResult();
    warpgroup = warpgroups == 1 ? arith::ConstantIndexOp::create(builder, loc, 0).getResult()
                                : arith::RemUIOp::create(builder, loc, all, each).getResult();
  }
  for (Operation *op : ops)
    op->moveBefore(consumers, consumers->end());
  kernel.getWarpgroup().replaceAllUsesWith(warpgroup);
  for (LoadGroup &group : groups)
    takeTiles(group);
  LogicalResult assigned = sets > 1 ? alternate(kernel, consumer, set, groups) : success();
  eraseDead(consumer);
  return assigned;
}

/// The sets of consumer warpgroups take the block's tiles alternately: one computes while another stores.
LogicalResult AssignTileRoles::alternate(tile::KernelOp kernel, tile::RoleOp role, Value set,
                                         MutableArrayRef<LoadGroup> groups) {
  SmallVector<scf::ForOp> pipelines = getPipelines(role);
  scf::ForOp pipeline = pipelines.size() == 1 ? pipelines[0] : scf::ForOp();
  auto tiles = pipeline ? dyn_cast<scf::ForOp>(pipeline->getParentOp()) : scf::ForOp();
  std::optional<int64_t> iterations = pipeline ? getConstantIntValue(pipeline.getUpperBound()) : std::nullopt;
  if (!tiles || tiles->getParentOp() != role || !iterations || groups.size() != 1)
    return emitError(role.getLoc()) << "specialize: expected one loop with one matmul for " << kernel.getPingpong()
                                    << " sets of consumer warpgroups, which take tiles alternately";
  Location loc = role.getLoc();
  int64_t sets = kernel.getPingpong();
  OpBuilder builder(tiles);
  Numbers numbers{builder, loc};
  tile::RingOp ring = groups.front().ring;
  Value first = tiles.getLowerBound(), stride = tiles.getStep();
  // A set begins as many tiles, and their slots, later as there are sets before it.
  tiles.setLowerBound(numbers.add(first, numbers.multiply(set, stride)));
  tile::SkipOp::create(builder, loc, ring, *iterations, set, builder.getI64IntegerAttr(sets - 1));
  tiles.setStep(numbers.multiply(stride, sets));
  builder.setInsertionPointToStart(tiles.getBody());
  Value tile = tiles.getInductionVar();
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, tile, first);
  Value next = numbers.add(tile, stride);
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, next, tiles.getUpperBound());
  auto emitTurn = [&](Value isLeftOut, auto make) {
    Value isThere = arith::XOrIOp::create(builder, loc, isLeftOut, arith::ConstantIntOp::create(builder, loc, 1, 1));
    OpBuilder inner = scf::IfOp::create(builder, loc, isThere, /*withElseRegion=*/false).getThenBodyBuilder();
    make(inner);
  };
  builder.setInsertionPoint(pipeline);
  emitTurn(isFirst, [&](OpBuilder &inner) { tile::TakeTurnOp::create(inner, loc, set, sets, kernel.getWarpgroups()); });
  builder.setInsertionPointAfter(pipeline);
  emitTurn(isLast, [&](OpBuilder &inner) { tile::PassTurnOp::create(inner, loc, set, sets, kernel.getWarpgroups()); });
  builder.setInsertionPoint(tiles.getBody()->getTerminator());
  tile::SkipOp::create(builder, loc, ring, (sets - 1) * *iterations, Value(), IntegerAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// No producer: one thread of those that compute loads ahead
//===----------------------------------------------------------------------===//

/// Loads and puts what a group needs in an iteration of its loop.
static void putTiles(OpBuilder &builder, LoadGroup &group, Value iteration) {
  IRMapping mapping;
  mapping.map(group.pipeline.getInductionVar(), iteration);
  std::function<void(Value)> remake = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (mapping.contains(value) || !op || !scf::ForOp(group.pipeline)->isProperAncestor(op))
      return;
    for (Value operand : op->getOperands())
      remake(operand);
    builder.clone(*op, mapping);
  };
  SmallVector<Value> tiles;
  for (tile::LoadOp load : group.loads) {
    remake(load.getTile());
    tiles.push_back(mapping.lookup(load.getTile()));
  }
  tile::PutOp::create(builder, group.ring.getLoc(), tiles, group.ring);
}

/// Loads and puts what a group needs where it is loaded, outside of pipelined loops.
static void putHere(LoadGroup &group) {
  tile::LoadOp last = group.loads.back();
  OpBuilder builder(last->getNextNode());
  auto elect = tile::ElectOp::create(builder, last.getLoc(), tile::ElectScope::Role);
  builder.createBlock(&elect.getBody());
  SmallVector<Value> tiles;
  for (tile::LoadOp load : group.loads)
    tiles.push_back(cast<tile::LoadOp>(builder.clone(*load)).getTile());
  tile::PutOp::create(builder, group.ring.getLoc(), tiles, group.ring);
  builder.setInsertionPointAfter(elect);
  auto taken = tile::GetOp::create(builder, group.ring.getLoc(), group.ring);
  for (auto [load, tile] : llvm::zip(group.loads, taken.getTiles())) {
    load.getTile().replaceAllUsesWith(tile);
    tile::LoadOp(load).erase();
  }
}

LogicalResult AssignTileRoles::loadAhead(tile::KernelOp kernel, MutableArrayRef<LoadGroup> groups) {
  for (LoadGroup &group : groups) {
    if (!group.pipeline && llvm::all_of(group.loads, [&](tile::LoadOp load) {
          return load->getBlock() == group.user->getBlock() && !load->getParentOfType<scf::IfOp>();
        })) {
      putHere(group);
      continue;
    }
    if (!group.pipeline || group.loads.front()->getBlock() != scf::ForOp(group.pipeline).getBody() ||
        !isa<tile::MatmulOp>(group.user))
      return emitError(group.loads.front().getLoc())
             << "software_pipeline: expected roles for tiles that are loaded outside of a pipelined loop";
    scf::ForOp loop = group.pipeline;
    Location loc = loop.getLoc();
    int64_t depth = group.ring.getRing().getType().getDepth();
    std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound()),
                           end = getConstantIntValue(loop.getUpperBound());
    bool isKnown = first && end;
    int64_t count = isKnown ? std::min(depth, *end - *first) : depth;
    OpBuilder builder(loop);
    auto elect = tile::ElectOp::create(builder, loc, tile::ElectScope::Role);
    builder.createBlock(&elect.getBody());
    for (int64_t number = 0; number < count; ++number) {
      OpBuilder::InsertionGuard inner(builder);
      Numbers numbers{builder, loc};
      Value iteration = numbers.add(loop.getLowerBound(), number);
      if (!isKnown && number > 0)
        builder.setInsertionPointToStart(
            scf::IfOp::create(builder, loc, numbers.isLess(iteration, loop.getUpperBound()), /*withElseRegion=*/false)
                .thenBlock());
      putTiles(builder, group, iteration);
    }
    // The matmuls of the iteration before are done: its slot is for the one that comes as many later as there are
    // slots.
    Operation *last = group.user;
    while (isa<tile::MatmulOp>(last->getNextNode()))
      last = last->getNextNode();
    builder.setInsertionPointAfter(last);
    Value isLater =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, loop.getInductionVar(), loop.getLowerBound());
    builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, isLater, /*withElseRegion=*/false).thenBlock());
    auto again = tile::ElectOp::create(builder, loc, tile::ElectScope::Role);
    builder.createBlock(&again.getBody());
    Value later = arith::AddIOp::create(builder, loc, loop.getInductionVar(),
                                        arith::ConstantIndexOp::create(builder, loc, depth - 1));
    Value isThere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, later, loop.getUpperBound());
    builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, isThere, /*withElseRegion=*/false).thenBlock());
    putTiles(builder, group, later);
    takeTiles(group);
  }
  return success();
}
} // namespace tilewright
