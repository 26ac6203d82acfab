//===- ExpandTileRoles.cpp - roles and elected threads as conditions ------===//
#include "dialects/Target/Architectures.h"
#include "dialects/Tile/Instructions.h"
#include "passes/ArchitectureOption.h"
#include "passes/tile-to-nvvm/Passes.h"
#include "passes/tile-to-nvvm/TileKernel.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_EXPANDTILEROLES
#include "passes/tile-to-nvvm/Passes.h.inc"

namespace {
struct ExpandTileRoles : impl::ExpandTileRolesBase<ExpandTileRoles> {
  using ExpandTileRolesBase::ExpandTileRolesBase;

  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    if (!hasTileOps(kernel))
      return;
    architecture = findArchitectureOption(kernel, arch);
    if (!architecture)
      return signalPassFailure();
    if (!kernel.getKnownBlockSizeAttr()) {
      kernel.emitOpError("expected known_block_size of a kernel with tile ops, got none");
      return signalPassFailure();
    }
    OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
    thread = gpu::ThreadIdOp::create(builder, kernel.getLoc(), gpu::Dimension::x);
    warp = divide(builder, thread, tile::kWarpSize);
    if (failed(startBarriers(kernel)))
      return signalPassFailure();
    SmallVector<tile::ElectOp> elects;
    kernel.walk([&](tile::ElectOp elect) { elects.push_back(elect); });
    for (tile::ElectOp elect : elects)
      expand(elect);
    for (auto roles : llvm::make_early_inc_range(kernel.getOps<tile::RolesOp>()))
      expand(kernel, roles);
  }

private:
  LogicalResult startBarriers(gpu::GPUFuncOp kernel);
  void expand(tile::ElectOp elect);
  void expand(gpu::GPUFuncOp kernel, tile::RolesOp roles);

  Value constant(OpBuilder &builder, int64_t value) {
    return arith::ConstantIndexOp::create(builder, thread.getLoc(), value);
  }
  Value divide(OpBuilder &builder, Value value, int64_t by) {
    return arith::DivUIOp::create(builder, value.getLoc(), value, constant(builder, by));
  }
  Value compare(OpBuilder &builder, arith::CmpIPredicate predicate, Value value, int64_t with) {
    return arith::CmpIOp::create(builder, value.getLoc(), predicate, value, constant(builder, with));
  }

  const Architecture *architecture = nullptr;
  Value thread, warp;
};

/// All threads of the cluster, and what they did to each other's shared memory.
void synchronizeCluster(OpBuilder &builder, Location loc) {
  NVVM::ClusterArriveOp::create(builder, loc, /*aligned=*/builder.getUnitAttr());
  NVVM::ClusterWaitOp::create(builder, loc, /*aligned=*/builder.getUnitAttr());
}

/// The first warp of the role or, outside of roles, of the block.
int64_t getFirstWarp(Operation *op) {
  auto role = op->getParentOfType<tile::RoleOp>();
  int64_t first = 0;
  if (role)
    for (auto before : cast<tile::RolesOp>(role->getParentOp()).getOps<tile::RoleOp>()) {
      if (before == role)
        break;
      first += before.getWarps();
    }
  return first;
}
} // namespace

LogicalResult ExpandTileRoles::startBarriers(gpu::GPUFuncOp kernel) {
  SmallVector<tile::RingOp> rings(kernel.getOps<tile::RingOp>());
  if (rings.empty())
    return success();
  Operation *first = nullptr;
  for (tile::RingOp ring : rings)
    for (Operation *user : ring->getUsers()) {
      Operation *ancestor = kernel.getBody().front().findAncestorOpInBlock(*user);
      if (!first || ancestor->isBeforeInBlock(first))
        first = ancestor;
    }
  if (first && first->isBeforeInBlock(rings.back()))
    return rings.back().emitOpError("expected all rings before the first use of one");
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointAfter(rings.back());
  Location loc = rings.back().getLoc();
  Value isFirst = compare(builder, arith::CmpIPredicate::eq, thread, 0);
  auto start = scf::IfOp::create(builder, loc, isFirst, /*withElseRegion=*/false);
  {
    OpBuilder inner = start.getThenBodyBuilder();
    for (tile::RingOp ring : rings)
      tile::InitOp::create(inner, ring.getLoc(), ring);
    if (architecture->hasTMA())
      NVVM::FenceMbarrierInitOp::create(inner, loc);
    // The first copy would wait for its map.
    auto pointer = LLVM::LLVMPointerType::get(kernel.getContext());
    for (BlockArgument argument : kernel.getArguments())
      if (isa<tile::TensorMapType>(argument.getType()) && architecture->hasTMA()) {
        Value map = UnrealizedConversionCastOp::create(inner, loc, pointer, argument).getResult(0);
        NVVM::PrefetchOp::create(inner, loc, /*cacheLevel=*/nullptr, /*evictPriority=*/nullptr, map,
                                 /*predicate=*/Value(),
                                 /*tensormap=*/inner.getUnitAttr(), /*uniform=*/nullptr, /*in_param_space=*/nullptr);
      }
  }
  DenseI32ArrayAttr cluster = kernel.getKnownClusterSizeAttr();
  if (!cluster || cluster[0] * cluster[1] == 1) {
    gpu::BarrierOp::create(builder, loc);
    return success();
  }
  // What the fence covers is all that others need to know: nothing else was written, and a release would wait for all
  // of memory.
  NVVM::ClusterArriveRelaxedOp::create(builder, loc, /*aligned=*/builder.getUnitAttr());
  NVVM::ClusterWaitOp::create(builder, loc, /*aligned=*/builder.getUnitAttr());
  // Who waits until all slots have been used needs no barrier at the end.
  auto isDrained = [&](tile::RingOp ring) {
    return countPeers(kernel, ring) == 1 || llvm::any_of(ring->getUsers(), [](Operation *user) {
             auto acquire = dyn_cast<tile::AcquireOp>(user);
             return acquire && isDrain(acquire);
           });
  };
  if (llvm::all_of(rings, isDrained))
    return success();
  kernel.walk([&](gpu::ReturnOp op) {
    builder.setInsertionPoint(op);
    synchronizeCluster(builder, op.getLoc());
  });
  return success();
}

void ExpandTileRoles::expand(tile::ElectOp elect) {
  OpBuilder builder(elect);
  Location loc = elect.getLoc();
  if (!architecture->hasTMA()) {
    // All threads copy.
    elect->getBlock()->getOperations().splice(elect->getIterator(), elect.getBody().front().getOperations());
    elect.erase();
    return;
  }
  Value ofWarpgroup = warp;
  int64_t first = getFirstWarp(elect);
  if (elect.getScope() == tile::ElectScope::Warpgroup) {
    ofWarpgroup = arith::RemUIOp::create(builder, loc, warp, constant(builder, tile::kWarpgroupWarps));
    first = 0;
  }
  // The warp's threads come here together, and the hardware knows which of them it elected.
  auto inWarp = scf::IfOp::create(builder, loc, compare(builder, arith::CmpIPredicate::eq, ofWarpgroup, first), false);
  OpBuilder inner = inWarp.getThenBodyBuilder();
  Value elected = NVVM::ElectSyncOp::create(inner, loc, inner.getI1Type(), /*membermask=*/Value());
  auto alone = scf::IfOp::create(inner, loc, elected, /*withElseRegion=*/false);
  Block *body = alone.thenBlock();
  body->getOperations().splice(body->begin(), elect.getBody().front().getOperations());
  elect.erase();
}

/// How many blocks of so many threads the registers of an SM suffice for, where each begins with what its roles hand
/// out.
static int64_t getBlocksOfSM(ArrayRef<tile::RoleOp> roles, int64_t threads) {
  int64_t held = 0;
  for (tile::RoleOp role : roles)
    held += role.getRegisters().value_or(0) * role.getWarps() * tile::kWarpSize;
  int64_t blocks = held ? std::max<int64_t>(kBlockRegisters / held, 1) : 1;
  while (blocks > 1 && threads * tile::getRegistersAtLaunch(blocks * threads) < held)
    --blocks;
  return blocks;
}

void ExpandTileRoles::expand(gpu::GPUFuncOp kernel, tile::RolesOp roles) {
  OpBuilder builder(roles);
  int64_t threads = kernel.getKnownBlockSizeAttr()[0], first = 0;
  SmallVector<tile::RoleOp> all(roles.getOps<tile::RoleOp>());
  int64_t blocks = getBlocksOfSM(all, threads);
  // What each thread has until roles hand out others: the blocks take the whole file.
  int64_t initial = tile::getRegistersAtLaunch(blocks * threads);
  if (all.front().getRegisters())
    kernel->setAttr(schedule::kMinBlocksAttr, builder.getI64IntegerAttr(blocks));
  for (tile::RoleOp role : all) {
    Location loc = role.getLoc();
    Block *body = &role.getBody().front(), *target = builder.getInsertionBlock();
    Block::iterator place = builder.getInsertionPoint();
    OpBuilder next = builder;
    if (role != all.back()) {
      Value isMine = compare(builder, arith::CmpIPredicate::ult, warp, first + role.getWarps());
      auto choice = scf::IfOp::create(builder, loc, isMine, /*withElseRegion=*/true);
      target = choice.thenBlock();
      place = target->begin();
      next = choice.getElseBodyBuilder();
    }
    OpBuilder inner(target, place);
    int64_t registers = role.getRegisters().value_or(initial);
    if (registers != initial)
      NVVM::SetMaxRegisterOp::create(inner, loc, registers,
                                     registers > initial ? NVVM::SetMaxRegisterAction::increase
                                                         : NVVM::SetMaxRegisterAction::decrease);
    if (body->getNumArguments()) {
      Value warpgroup = divide(inner, thread, tile::kWarpgroupSize);
      Value number = arith::SubIOp::create(inner, loc, warpgroup, constant(inner, first / tile::kWarpgroupWarps));
      body->getArgument(0).replaceAllUsesWith(number);
    }
    target->getOperations().splice(inner.getInsertionPoint(), body->getOperations());
    builder = next;
    first += role.getWarps();
  }
  roles.erase();
}
} // namespace tilewright
