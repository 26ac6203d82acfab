//===- PipelineChains.cpp - a chain of matmuls over two iterations --------===//
//
// Where an iteration multiplies what it computed of another matmul's accumulator, the second matmul goes to the next
// iteration, behind the first one of that: it is under way while the next elements are computed.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tile/Instructions.h"
#include "dialects/Tile/Tile.h"
#include "passes/PassSupport.h"
#include "passes/loops-to-tile/Numbers.h"
#include "passes/loops-to-tile/TileGrid.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_PIPELINECHAINS
#include "passes/loops-to-tile/Passes.h.inc"

namespace {
/// A loop whose last matmul is delayed.
class ChainPipeliner {
public:
  ChainPipeliner(scf::ForOp loop, int64_t registers) : loop(loop), registers(registers) {}
  /// Whether there is a chain, and a thread has the registers for what is under way.
  bool match();
  void pipeline();

private:
  bool matchDelayed(unsigned number);
  bool usesAny(Operation *op, llvm::function_ref<bool(Value)> isWanted);
  /// Clones ops of the body, those that are delayed or the others, up to `last` or from behind it on.
  void clone(OpBuilder &builder, IRMapping &mapping, bool areDelayed, Operation *first, Operation *end);

  scf::ForOp loop;
  int64_t registers;
  unsigned carried = 0; // the accumulator that the delayed matmul adds to
  llvm::SetVector<Operation *> delayed;
  llvm::SetVector<Value> handed; // to the next iteration
  tile::MatmulOp first;          // of those that are not delayed
};

bool ChainPipeliner::usesAny(Operation *op, llvm::function_ref<bool(Value)> isWanted) {
  bool found = false;
  op->walk([&](Operation *inner) { found |= llvm::any_of(inner->getOperands(), isWanted); });
  return found;
}

bool ChainPipeliner::matchDelayed(unsigned number) {
  delayed.clear();
  handed.clear();
  first = nullptr;
  Value accumulator = loop.getRegionIterArg(number);
  Block *body = loop.getBody();
  bool hasMatmul = false;
  for (Operation &op : body->without_terminator()) {
    auto isOfIt = [&](Value value) { return value == accumulator || delayed.contains(value.getDefiningOp()); };
    auto matmul = dyn_cast<tile::MatmulOp>(op);
    if (!usesAny(&op, isOfIt)) {
      if (matmul && !first)
        first = matmul;
      continue;
    }
    delayed.insert(&op);
    hasMatmul |= matmul && isa<tile::FragmentType>(matmul.getA().getType());
  }
  if (!hasMatmul || !first || !delayed.contains(body->getTerminator()->getOperand(number).getDefiningOp()))
    return false;
  // Tiles that nobody else needs are taken later, too.
  for (Operation &op : llvm::reverse(body->without_terminator()))
    if (isa<tile::GetOp, tile::PartOp>(op) && llvm::all_of(op.getUsers(), [&](Operation *user) {
          return delayed.contains(body->findAncestorOpInBlock(*user));
        }))
      delayed.insert(&op);
  for (Operation &op : *body) {
    bool isDelayed = delayed.contains(&op);
    bool fits = true;
    op.walk([&](Operation *inner) {
      for (auto [index, value] : llvm::enumerate(inner->getOperands())) {
        Operation *made = value.getDefiningOp();
        bool isOfDelayed = value == accumulator || delayed.contains(made);
        if (!isDelayed) {
          fits &= !isOfDelayed || (inner == body->getTerminator() && index == number);
          continue;
        }
        auto argument = dyn_cast<BlockArgument>(value);
        if (isOfDelayed || (argument && op.isAncestor(argument.getOwner()->getParentOp())) ||
            (made && op.isProperAncestor(made)))
          continue;
        fits &= !argument || argument.getOwner() != body;
        if (made && made->getBlock() == body) {
          fits &= isa<tile::FragmentType>(value.getType());
          handed.insert(value);
        }
      }
    });
    if (!fits)
      return false;
  }
  return true;
}

bool ChainPipeliner::match() {
  bool isFound = false;
  for (carried = 0; carried < loop.getNumRegionIterArgs() && !isFound; ++carried)
    isFound = matchDelayed(carried);
  if (!isFound)
    return false;
  --carried;
  // The accumulators of the iteration's own matmuls, all that goes to the next iteration, and addresses with what is
  // computed in between.
  constexpr int64_t kOthers = 40;
  int64_t held = kOthers;
  auto count = [&](Type type) {
    if (auto fragment = dyn_cast<tile::FragmentType>(type))
      held += fragment.getElementsPerThread() * tile::getElementBytes(fragment.getElementType()) / 4;
  };
  for (auto matmul : loop.getBody()->getOps<tile::MatmulOp>())
    if (!delayed.contains(matmul) && !llvm::is_contained(loop.getRegionIterArgs(), matmul.getAccumulator()))
      count(matmul.getResult().getType());
  for (Value value : loop.getRegionIterArgs())
    count(value.getType());
  for (Value value : handed)
    count(value.getType());
  return held <= registers;
}

void ChainPipeliner::clone(OpBuilder &builder, IRMapping &mapping, bool areDelayed, Operation *begin, Operation *end) {
  for (Operation *op = begin; op != end; op = op->getNextNode())
    if (delayed.contains(op) == areDelayed)
      builder.clone(*op, mapping);
}

void ChainPipeliner::pipeline() {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Block *body = loop.getBody();
  Operation *begin = &body->front(), *terminator = body->getTerminator(), *behind = first->getNextNode();
  // The first iteration without what is delayed.
  IRMapping before;
  before.map(loop.getInductionVar(), loop.getLowerBound());
  before.map(loop.getRegionIterArgs(), loop.getInitArgs());
  clone(builder, before, /*areDelayed=*/false, begin, terminator);
  SmallVector<Value> inits;
  for (auto [number, value] : llvm::enumerate(terminator->getOperands()))
    inits.push_back(number == carried ? loop.getInitArgs()[number] : before.lookupOrDefault(value));
  for (Value value : handed)
    inits.push_back(before.lookup(value));
  Value second = Numbers{builder, loc}.add(loop.getLowerBound(), loop.getStep());
  auto made = scf::ForOp::create(builder, loc, second, loop.getUpperBound(), loop.getStep(), inits);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  unsigned count = loop.getNumRegionIterArgs();
  auto mapDelayed = [&](IRMapping &mapping, ValueRange values) {
    mapping.map(loop.getRegionIterArg(carried), values[carried]);
    for (auto [value, given] : llvm::zip(handed, values.drop_front(count)))
      mapping.map(value, given);
  };
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(made.getBody());
    IRMapping now, late;
    now.map(loop.getInductionVar(), made.getInductionVar());
    now.map(loop.getRegionIterArgs(), made.getRegionIterArgs().take_front(count));
    mapDelayed(late, made.getRegionIterArgs());
    clone(builder, now, /*areDelayed=*/false, begin, behind);
    clone(builder, late, /*areDelayed=*/true, begin, terminator);
    clone(builder, now, /*areDelayed=*/false, behind, terminator);
    SmallVector<Value> yielded;
    for (auto [number, value] : llvm::enumerate(terminator->getOperands()))
      yielded.push_back((number == carried ? late : now).lookupOrDefault(value));
    for (Value value : handed)
      yielded.push_back(now.lookup(value));
    scf::YieldOp::create(builder, loc, yielded);
  }
  // What is left of the last.
  IRMapping after;
  mapDelayed(after, made.getResults());
  clone(builder, after, /*areDelayed=*/true, begin, terminator);
  SmallVector<Value> results(made.getResults().take_front(count));
  results[carried] = after.lookup(terminator->getOperand(carried));
  loop.replaceAllUsesWith(results);
  loop.erase();
}

struct PipelineChains : impl::PipelineChainsBase<PipelineChains> {
  void runOnOperation() override {
    SmallVector<std::pair<scf::ForOp, int64_t>> loops;
    getOperation().walk([&](tile::RoleOp role) {
      for (scf::ForOp loop : getPipelines(role))
        if (role.getRegisters() && loop->getParentOfType<tile::RoleOp>() == role &&
            !loop->getParentOfType<tile::ElectOp>())
          loops.push_back({loop, *role.getRegisters()});
    });
    for (auto [loop, registers] : loops)
      if (ChainPipeliner pipeliner(loop, registers); pipeliner.match())
        pipeliner.pipeline();
  }
};
} // namespace
} // namespace tilewright
