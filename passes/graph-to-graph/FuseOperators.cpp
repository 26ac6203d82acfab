//===- FuseOperators.cpp - operators that are computed together ------------===//
#include "dialects/Graph/Graph.h"
#include "passes/graph-to-graph/Definitions.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DECL_FUSEOPERATORS
#define GEN_PASS_DEF_FUSEOPERATORS
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

/// Operators that are computed together. The last one is the only one that others read.
struct Cluster {
  SmallVector<Operation *> operators;
  bool reduces = false, onlyMoves = true;
};

class Fusion {
public:
  Fusion(func::FuncOp function, SymbolTable &symbols, int64_t maxOperators)
      : function(function), symbols(symbols), maxOperators(maxOperators) {}

  void run();

private:
  const Definition *getDefinition(Operation *op);
  /// Why the cluster of `producer` cannot be in that of its only user; empty where it can.
  std::string getObstacle(Operation *producer, Operation *user);
  void join(Operation *user);
  std::string getEnd(Value result);
  void makeGroup(Cluster &cluster);

  func::FuncOp function;
  SymbolTable &symbols;
  int64_t maxOperators;
  llvm::MapVector<Operation *, Cluster> clusters; // by the last operator
  DenseMap<Operation *, std::optional<Definition>> definitions;
  DenseMap<Operation *, std::string> obstacles;
};

} // namespace

static bool isOperator(Operation *op) {
  return isa_and_nonnull<graph::GraphDialect>(op->getDialect()) &&
         !isa<graph::ConstantOp, graph::WeightOp, graph::GroupOp>(op);
}

static bool isSmallConstant(Operation *op) {
  auto constant = dyn_cast_or_null<graph::ConstantOp>(op);
  return constant && cast<RankedTensorType>(constant.getType()).getNumElements() == 1;
}

const Definition *Fusion::getDefinition(Operation *op) {
  auto [it, isNew] = definitions.try_emplace(op);
  if (isNew)
    if (auto name = op->getAttrOfType<FlatSymbolRefAttr>(graph::kDefinitionAttr))
      if (auto defined = symbols.lookup<func::FuncOp>(name.getValue()))
        it->second = readDefinition(defined);
  return it->second ? &*it->second : nullptr;
}

std::string Fusion::getObstacle(Operation *producer, Operation *user) {
  auto name = [](Operation *op) { return op->getName().stripDialect().str(); };
  if (maxOperators > 0 && int64_t(clusters[producer].operators.size() + clusters[user].operators.size()) > maxOperators)
    return "a group has " + std::to_string(maxOperators) + " operators at most";
  const Definition *reader = getDefinition(user);
  if (!reader || !getDefinition(producer))
    return "nothing is known of " + name(reader ? producer : user);
  if (isa<graph::AttentionOp>(producer) || isa<graph::AttentionOp>(user))
    return "attention is a group of its own";
  if (producer->getNumResults() != 1)
    return name(producer) + " has several results";
  const Cluster &cluster = clusters[producer];
  bool isReadOnce = true, isElementwise = true;
  unsigned numOperands = 0;
  for (auto [i, operand] : llvm::enumerate(user->getOperands())) {
    if (operand.getDefiningOp() != producer)
      continue;
    ++numOperands;
    isReadOnce &= reader->operands[i].isReadOnce;
    isElementwise &= reader->operands[i].isElementwise;
  }
  if (!cluster.reduces) {
    if (cluster.onlyMoves || (isReadOnce && numOperands == 1) || (isElementwise && !reader->reduces))
      return "";
    return name(user) + " reads its elements several times";
  }
  if (reader->reduces)
    return name(user) + " reduces, too";
  if (clusters[user].reduces)
    return name(user) + " is in the group of another reduction";
  return isElementwise ? "" : name(user) + " reads it at other places";
}

void Fusion::join(Operation *user) {
  Cluster own{{user}, true, false};
  if (const Definition *definition = getDefinition(user))
    own = {{user}, definition->reduces, definition->onlyMoves};
  clusters.insert({user, own});
  for (Value operand : user->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (!producer || !clusters.count(producer))
      continue;
    bool isOnlyUser = llvm::all_of(producer->getUsers(), [&](Operation *other) { return other == user; });
    if (!isOnlyUser)
      continue;
    std::string obstacle = getObstacle(producer, user);
    if (!obstacle.empty()) {
      obstacles[producer] = obstacle;
      continue;
    }
    Cluster joined = clusters[producer];
    clusters.erase(producer);
    Cluster &into = clusters[user];
    into.operators.insert(into.operators.begin(), joined.operators.begin(), joined.operators.end());
    into.reduces |= joined.reduces;
    into.onlyMoves &= joined.onlyMoves;
  }
}

std::string Fusion::getEnd(Value result) {
  if (llvm::any_of(result.getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user); }))
    return "an output of the model";
  DenseSet<Operation *> users(result.getUsers().begin(), result.getUsers().end());
  if (users.size() != 1)
    return std::to_string(users.size()) + " operators use it";
  auto found = obstacles.find(result.getDefiningOp());
  return found == obstacles.end() ? "its operator has several results" : found->second;
}

void Fusion::makeGroup(Cluster &cluster) {
  llvm::sort(cluster.operators, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  Operation *last = cluster.operators.back();
  OpBuilder builder(last);
  SmallVector<std::string> names;
  for (Operation *op : cluster.operators)
    names.push_back(op->getName().stripDialect().str());
  if (names.size() > 4) {
    std::string more = "and" + std::to_string(names.size() - 3) + "more";
    names.erase(names.begin() + 3, names.end() - 1);
    names.insert(names.end() - 1, more);
  }
  SmallVector<std::string> ends;
  for (Value result : last->getResults())
    ends.push_back(getEnd(result));
  SmallVector<StringRef> endRefs(ends.begin(), ends.end());
  auto group = graph::GroupOp::create(builder, last->getLoc(), last->getResultTypes(), llvm::join(names, "_"),
                                      builder.getStrArrayAttr(endRefs), DenseI64ArrayAttr());
  last->replaceAllUsesWith(group);
  Block *body = builder.createBlock(&group.getBody());
  for (Operation *op : cluster.operators) {
    op->moveBefore(body, body->end());
    for (OpOperand &operand : op->getOpOperands())
      if (Operation *constant = operand.get().getDefiningOp();
          constant && isSmallConstant(constant) && constant->getBlock() != body) {
        builder.setInsertionPoint(op);
        operand.set(builder.clone(*constant)->getResult(0));
      }
  }
  builder.setInsertionPointToEnd(body);
  graph::YieldOp::create(builder, last->getLoc(), last->getResults());
}

void Fusion::run() {
  SmallVector<Operation *> operators;
  for (Operation &op : function.getBody().front())
    if (isOperator(&op))
      operators.push_back(&op);
  for (Operation *op : operators)
    join(op);
  for (auto &[last, cluster] : clusters)
    makeGroup(cluster);
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front()))
    if (isSmallConstant(&op) && op.use_empty())
      op.erase();
}

namespace {

struct FuseOperators : impl::FuseOperatorsBase<FuseOperators> {
  using FuseOperatorsBase::FuseOperatorsBase;
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() &&
          llvm::any_of(function.getBody().front(), [](Operation &op) { return isOperator(&op); }))
        Fusion(function, symbols, maxOperators).run();
  }
};

} // namespace
} // namespace tilewright
