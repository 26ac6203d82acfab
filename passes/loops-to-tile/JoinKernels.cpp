//===- JoinKernels.cpp - kernels and loops that become one ----------------===//
#include "passes/loops-to-tile/JoinKernels.h"
#include "dialects/Tile/Instructions.h"
#include "passes/loops-to-gpu/KernelMemory.h"
#include "passes/loops-to-gpu/UserNames.h"
#include "passes/loops-to-tile/TileGrid.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright {

/// Of a thread, for addresses and places.
static constexpr int64_t kAddressRegisters = 24;

/// The loop of a kernel over the tiles of a stage, or null.
static scf::ForOp findLoopOf(tile::KernelOp kernel, StringRef stage) {
  scf::ForOp found;
  kernel.walk([&](scf::ForOp loop) {
    if (loop->hasAttr(schedule::kPipelineAttr) && getAxisName(loop).stage == stage)
      found = loop;
  });
  return found;
}

/// Whether what `first` leaves in memory is needed before `second` is done, or what it needs changes until then.
static bool isOrdered(tile::KernelOp first, tile::KernelOp second) {
  llvm::SmallPtrSet<Operation *, 4> later;
  for (Operation *op = first->getNextNode(); op && op->isBeforeInBlock(second); op = op->getNextNode())
    later.insert(op);
  llvm::SetVector<Value> used, written;
  first.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (isa<MemRefType>(operand.getType()) && !first->isAncestor(operand.getParentBlock()->getParentOp()))
        (hasEffect<MemoryEffects::Write>(op, operand) ? written : used).insert(operand);
  });
  auto getTopLevel = [&](Operation *user) { return first->getBlock()->findAncestorOpInBlock(*user); };
  auto isUsed = [&](Value buffer) {
    return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
      return getTopLevel(user) == second || later.contains(getTopLevel(user));
    });
  };
  auto isChanged = [&](Value buffer) {
    return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
      return later.contains(getTopLevel(user)) && hasEffect<MemoryEffects::Write>(user, buffer);
    });
  };
  return llvm::any_of(written, isUsed) || llvm::any_of(used, isChanged);
}

/// Whether two operations cannot change places: one uses the other's results, or memory that the other changes.
static bool keepOrder(Operation *before, Operation *after) {
  auto isUsedBy = [&](Operation *user) { return after->isAncestor(user); };
  if (llvm::any_of(before->getUsers(), isUsedBy))
    return true;
  auto findAccesses = [](Operation *op, llvm::SetVector<Value> &used, llvm::SetVector<Value> &changed) {
    op->walk([&](Operation *nested) {
      for (Value buffer : nested->getOperands()) {
        if (!isa<MemRefType>(buffer.getType()) || isMemoryEffectFree(nested))
          continue;
        used.insert(buffer);
        SmallVector<MemoryEffects::EffectInstance> effects;
        if (auto interface = dyn_cast<MemoryEffectOpInterface>(nested))
          interface.getEffectsOnValue(buffer, effects);
        bool onlyReads = llvm::all_of(effects, [](const MemoryEffects::EffectInstance &one) {
          return isa<MemoryEffects::Read>(one.getEffect());
        });
        if (effects.empty() || !onlyReads)
          changed.insert(buffer);
      }
    });
  };
  llvm::SetVector<Value> used[2], changed[2];
  findAccesses(before, used[0], changed[0]);
  findAccesses(after, used[1], changed[1]);
  auto isIn = [](const llvm::SetVector<Value> &one, const llvm::SetVector<Value> &other) {
    return llvm::any_of(one, [&](Value buffer) { return other.contains(buffer); });
  };
  return isIn(changed[0], used[1]) || isIn(used[0], changed[1]);
}

/// Moves what goes on with results of `first` behind `second`, if it may come there.
static void moveUsersBehind(tile::KernelOp first, tile::KernelOp second) {
  SmallVector<Operation *> users{first};
  for (Operation *op = first->getNextNode(); op && op->isBeforeInBlock(second); op = op->getNextNode())
    if (llvm::any_of(users, [&](Operation *user) { return keepOrder(user, op); }))
      users.push_back(op);
  ArrayRef<Operation *> moved = ArrayRef(users).drop_front();
  if (llvm::any_of(moved, [&](Operation *user) { return keepOrder(user, second); }))
    return;
  for (Operation *user : llvm::reverse(moved))
    user->moveAfter(second);
}

static LogicalResult joinKernel(tile::KernelOp first, tile::KernelOp second, scf::ForOp loop, StringRef followed) {
  auto isSame = [](Value a, Value b) { return a == b || isEqualConstantIntOrValue(a, b); };
  auto isAlone = [](tile::KernelOp kernel) {
    return getClusterBlocks(kernel) == 1 && kernel.getPingpong() == 1 && !kernel.getOrder();
  };
  auto refuse = [&] { return emitError(loop.getLoc()) << "rolling_update: expected "; };
  if (!isAlone(first) || !isAlone(second) || !isSame(first.getX(), second.getX()) ||
      !isSame(first.getY(), second.getY()) || !isSame(first.getZ(), second.getZ()) ||
      first.getWarpgroups() != second.getWarpgroups() || first.getRegisters() != second.getRegisters())
    return refuse() << "a kernel with the blocks, the warpgroups and the registers of that of '" << followed
                    << "', one tile for each block, got another";
  moveUsersBehind(first, second);
  if (isOrdered(first, second))
    return refuse() << "a stage that can be computed together with '" << followed
                    << "', got one with results of that kernel between them";
  Block &body = second.getBody().front();
  for (auto [old, now] : llvm::zip(first.getBody().getArguments(), body.getArguments()))
    old.replaceAllUsesWith(now);
  body.getOperations().splice(body.begin(), first.getBody().front().getOperations());
  second.setAxesAttr(first.getAxesAttr());
  second->setDiscardableAttrs(first->getDiscardableAttrDictionary());
  first.erase();
  return success();
}

LogicalResult joinKernels(func::FuncOp function) {
  SmallVector<tile::KernelOp> kernels(function.getOps<tile::KernelOp>());
  for (auto [number, kernel] : llvm::enumerate(kernels)) {
    SmallVector<scf::ForOp> loops;
    kernel.walk([&](scf::ForOp loop) {
      if (loop->hasAttr(schedule::kRollingAttr))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      StringRef followed = loop->getAttrOfType<schedule::RollingAttr>(schedule::kRollingAttr).getOf();
      if (findLoopOf(kernel, followed))
        continue;
      for (tile::KernelOp &other : MutableArrayRef(kernels).take_front(number))
        if (other && findLoopOf(other, followed)) {
          if (failed(joinKernel(other, kernel, loop, followed)))
            return failure();
          other = nullptr;
        }
    }
  }
  return success();
}

namespace {
/// Whether a value is computed of loads and constants of a block, and of what is there before; collects their ops.
bool isOfLoads(Operation *op, Block &block, llvm::SetVector<Operation *> &needed) {
  needed.insert(op);
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *made = operand.getDefiningOp();
    if (!made)
      return operand == cast<scf::ForOp>(block.getParentOp()).getInductionVar() ||
             cast<BlockArgument>(operand).getOwner() != &block;
    return made->getBlock() != &block ||
           (!isa<tile::MapOp, tile::RowReduceOp>(made) && !made->getNumRegions() && isOfLoads(made, block, needed));
  });
}

/// Matmuls of loaded tiles alone begin together, before anything is computed of the first of them.
void multiplyEarly(Block &block) {
  Operation *last = nullptr;
  for (auto matmul : llvm::make_early_inc_range(block.getOps<tile::MatmulOp>())) {
    llvm::SetVector<Operation *> needed;
    if (!isOfLoads(matmul, block, needed))
      continue;
    SmallVector<Operation *> moved = needed.takeVector();
    llvm::sort(moved, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *op : moved)
      if (last && last->isBeforeInBlock(op)) {
        op->moveAfter(last);
        last = op;
      }
    last = matmul;
  }
}

/// What warpgroups share is multiplied before they go on with it: others' parts are there while they do.
void shareEarly(Block &block) {
  for (auto share : llvm::make_early_inc_range(block.getOps<tile::ShareOp>())) {
    Operation *last = share.getFragment().getDefiningOp();
    if (!last || last->getBlock() != &block)
      continue;
    share->moveAfter(last);
    last = share;
    // Of what is shared, too, a warpgroup may multiply a part.
    SmallVector<Operation *> users(share->getUsers());
    for (size_t number = 0; number < users.size(); ++number)
      if (isPure(users[number]) && !isa<tile::MatmulOp>(users[number]))
        llvm::append_range(users, users[number]->getUsers());
    for (Operation *user : users) {
      llvm::SetVector<Operation *> needed;
      std::function<bool(Operation *)> canMove = [&](Operation *op) {
        if (op->getBlock() != &block || op->isBeforeInBlock(last) || op == last)
          return true;
        needed.insert(op);
        return isPure(op) && !op->getNumRegions() && llvm::all_of(op->getOperands(), [&](Value operand) {
                 return !operand.getDefiningOp() || canMove(operand.getDefiningOp());
               });
      };
      if (!isa<tile::MatmulOp>(user) || !canMove(user))
        continue;
      SmallVector<Operation *> moved = needed.takeVector();
      llvm::sort(moved, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
      for (Operation *op : moved) {
        op->moveAfter(last);
        last = op;
      }
    }
  }
}

/// How many registers of a thread a fragment takes: a warpgroup's threads share 64 rows of it.
int64_t countRegisters(Value fragment) {
  auto type = dyn_cast<tile::FragmentType>(fragment.getType());
  if (!type)
    return 0;
  int64_t columns = type.getShape().back();
  return columns * tile::kWgmmaRows * type.getElementType().getIntOrFloatBitWidth() / (32 * 128);
}

/// What two maps read and one of them only rounds is rounded behind the other one, where the registers do not hold both
/// of them and what else the other reads: rounded, it takes the place of what is read.
void roundLate(scf::ForOp loop, int64_t registers) {
  Block &block = *loop.getBody();
  int64_t sums = 0;
  for (Value sum : loop.getRegionIterArgs())
    sums += countRegisters(sum);
  for (auto rounding : llvm::make_early_inc_range(block.getOps<tile::MapOp>())) {
    if (rounding.getFragments().size() != 1 || !rounding->hasOneUse())
      continue;
    auto matmul = dyn_cast<tile::MatmulOp>(*rounding->user_begin());
    tile::MapOp other;
    for (Operation *user : rounding.getFragments()[0].getUsers())
      if (auto map = dyn_cast<tile::MapOp>(user); map && rounding->isBeforeInBlock(map))
        other = map;
    if (!matmul || !other || matmul->getBlock() != &block || other->isBeforeInBlock(matmul))
      continue;
    int64_t held = sums + countRegisters(rounding.getResult());
    for (Value fragment : other.getFragments())
      held += countRegisters(fragment);
    bool isUsedBefore = llvm::any_of(matmul->getUsers(), [&](Operation *user) {
      Operation *own = block.findAncestorOpInBlock(*user);
      return own && own->isBeforeInBlock(other);
    });
    if (isUsedBefore || held + kAddressRegisters <= registers)
      continue;
    rounding->moveAfter(other);
    matmul->moveAfter(rounding);
  }
}
} // namespace

/// Tiles that both loops had are loaded, and multiplied, once.
void mergeTiles(tile::KernelOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
  kernel.walk([](Block *block) {
    SmallVector<tile::LoadOp> loads;
    for (auto load : llvm::make_early_inc_range(block->getOps<tile::LoadOp>())) {
      // They are of different stages.
      auto *found = llvm::find_if(loads, [&](tile::LoadOp one) {
        return one->getOperands() == load->getOperands() && one.getTile().getType() == load.getTile().getType() &&
               one.getProperties() == load.getProperties();
      });
      if (found == loads.end()) {
        loads.push_back(load);
        continue;
      }
      load.getTile().replaceAllUsesWith(found->getTile());
      load.erase();
    }
  });
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
  // What warpgroups share is also in registers for the other loop.
  bool shares = kernel.walk([](tile::ShareOp) { return WalkResult::interrupt(); }).wasInterrupted();
  kernel.walk([&](Block *block) {
    SmallVector<tile::MapOp> maps;
    for (auto map : llvm::make_early_inc_range(block->getOps<tile::MapOp>())) {
      auto *found = llvm::find_if(maps, [&](tile::MapOp one) {
        return shares && onlyReads(map) &&
               OperationEquivalence::isEquivalentTo(
                   one, map, OperationEquivalence::IgnoreLocations | OperationEquivalence::IgnoreDiscardableAttrs);
      });
      if (found == maps.end()) {
        maps.push_back(map);
        continue;
      }
      map.getResult().replaceAllUsesWith(found->getResult());
      map.erase();
    }
  });
  kernel.walk([&](scf::ForOp loop) {
    multiplyEarly(*loop.getBody());
    shareEarly(*loop.getBody());
    if (std::optional<ArrayRef<int64_t>> registers = kernel.getRegisters())
      roundLate(loop, registers->back());
  });
}
} // namespace tilewright
