//===- FuseOperators.cpp - operators that are computed together ------------===//
#include "dialects/Graph/Graph.h"
#include "passes/graph-to-graph/Definitions.h"
#include "passes/graph-to-graph/Groups.h"
#include "passes/graph-to-graph/Passes.h"
#include "passes/graph-to-graph/Rewrites.h"
#include "passes/graph-to-graph/TensorTypes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_FUSEOPERATORS
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

/// Operators that are computed together. The last one is the only one that others read, but for `quantize`.
struct Cluster {
  SmallVector<Operation *> operators;
  bool reduces = false, onlyMoves = true;
  bool isFree = true;         // elements are moved, or converted
  graph::QuantizeOp quantize; // of the last one's result, which others read, too
};

class Fusion {
public:
  Fusion(func::FuncOp function, SymbolTable &symbols, int64_t maxOperators, bool stridedAttention)
      : function(function), symbols(symbols), maxOperators(maxOperators), stridedAttention(stridedAttention) {}

  void run();

private:
  const Definition *getDefinition(Operation *op);
  /// Why the cluster of `producer` cannot be in that of `last`, where all its users are; empty where it can.
  std::string getObstacle(Operation *producer, Operation *last);
  std::string getObstacleOfUser(Operation *producer, Operation *user, Operation *last, bool isOnly);
  std::string getObstacleOfAttention(Operation *producer, Operation *user, Operation *last);
  bool isReadElementwiseBehind(Operation *user, const Cluster &cluster);
  bool isRowProgram(const Cluster &a, const Cluster &b);
  void merge(Operation *producer, Operation *last);
  void join(Operation *user);
  void joinProducers(Operation *user);
  bool joinAll();
  bool mayComputeAgain(const Cluster &cluster);
  bool computeAgain(Operation *producer, DenseMap<Operation *, Operation *> &lasts);
  bool computeAgainAll();
  bool mayQuantize(Cluster &cluster, graph::QuantizeOp op);
  void joinQuantization();
  std::string getEnd(Value result);
  void makeGroup(Cluster &cluster);

  func::FuncOp function;
  SymbolTable &symbols;
  int64_t maxOperators;
  bool stridedAttention;
  llvm::MapVector<Operation *, Cluster> clusters; // by the last operator
  DenseMap<Operation *, std::optional<Definition>> definitions;
  DenseMap<Operation *, std::string> obstacles;
};

} // namespace

const Definition *Fusion::getDefinition(Operation *op) {
  auto [it, isNew] = definitions.try_emplace(op);
  if (isNew)
    if (auto name = op->getAttrOfType<FlatSymbolRefAttr>(graph::kDefinitionAttr))
      if (auto defined = symbols.lookup<func::FuncOp>(name.getValue()))
        it->second = readDefinition(defined);
  return it->second ? &*it->second : nullptr;
}

static std::string getShortName(Operation *op) { return op->getName().stripDialect().str(); }

/// Whether all operators compute, of the same rows, either one number a row or elements at their own places.
bool Fusion::isRowProgram(const Cluster &a, const Cluster &b) {
  SmallVector<Operation *> operators(a.operators);
  llvm::append_range(operators, b.operators);
  auto first = llvm::find_if(operators, isRowReduction);
  if (first == operators.end())
    return false;
  Type whole = (*first)->getOperand(0).getType(), row = (*first)->getResult(0).getType();
  auto isOf = [](Value value, Type type) {
    auto own = cast<RankedTensorType>(value.getType()), other = cast<RankedTensorType>(type);
    return own.getShape() == other.getShape() && own.getEncoding() == other.getEncoding();
  };
  DenseSet<Operation *> members(operators.begin(), operators.end());
  // What is moved or converted for rows to read, such as the weights of a norm, may have any shape.
  auto isBeside = [&](Operation *op) {
    const Definition *definition = getDefinition(op);
    return definition && (definition->onlyMoves || isa<graph::CastOp>(op)) && !isOf(op->getResult(0), whole) &&
           !isOf(op->getResult(0), row) &&
           llvm::none_of(op->getOperands(), [&](Value operand) { return members.contains(operand.getDefiningOp()); });
  };
  for (Operation *op : operators) {
    const Definition *definition = getDefinition(op);
    if (!definition || op->getNumResults() != 1)
      return false;
    if (isBeside(op))
      continue;
    if (definition->reduces) {
      if (!isRowReduction(op) || !isOf(op->getOperand(0), whole) || !isOf(op->getResult(0), row))
        return false;
      continue;
    }
    bool isOfRows = isOf(op->getResult(0), row);
    if (!isOfRows && !isOf(op->getResult(0), whole))
      return false;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      if (!members.contains(operand.getDefiningOp()) || isBeside(operand.getDefiningOp()))
        continue;
      bool isRowOperand = isOf(operand, row);
      if (isRowOperand ? !definition->operands[i].isBroadcast : isOfRows || !definition->operands[i].isElementwise)
        return false;
    }
  }
  return true;
}

/// Whether what the cluster makes of the result of `user` is made element by element.
bool Fusion::isReadElementwiseBehind(Operation *user, const Cluster &cluster) {
  DenseSet<Operation *> behind{user};
  for (Operation *op : cluster.operators)
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (behind.contains(operand.getDefiningOp())) {
        if (!getDefinition(op)->operands[i].isElementwise)
          return false;
        behind.insert(op);
      }
  return true;
}

std::string Fusion::getObstacleOfUser(Operation *producer, Operation *user, Operation *last, bool isOnly) {
  const Definition *reader = getDefinition(user);
  const Cluster &cluster = clusters[producer], &into = clusters[last];
  bool isReadOnce = true, isElementwise = true;
  // Reshapes and transposes before a reduction read each element once, as the reduction does. A reshape reads them as
  // they lie.
  bool isSummed = llvm::any_of(into.operators, [](Operation *op) { return op->hasTrait<graph::Reduction>(); });
  unsigned numOperands = 0;
  for (auto [i, operand] : llvm::enumerate(user->getOperands())) {
    if (operand.getDefiningOp() != producer)
      continue;
    ++numOperands;
    isReadOnce &= reader->operands[i].isReadOnce || (isSummed && user->hasTrait<graph::PermutesElements>()) ||
                  (!into.reduces && isa<graph::ReshapeOp>(user));
    isElementwise &= reader->operands[i].isElementwise;
  }
  if (cluster.onlyMoves && isStoredForConvolution(producer, user))
    return getShortName(user) + " copies it as it is stored";
  if (!cluster.reduces) {
    if (cluster.onlyMoves || (cluster.isFree && !reader->reduces) || (isOnly && isReadOnce && numOperands == 1) ||
        (isElementwise && !reader->reduces))
      return "";
    return getShortName(user) + " reads its elements several times";
  }
  if (reader->reduces)
    return getShortName(user) + " reduces, too";
  if (into.reduces)
    return getShortName(user) + " is in the group of another reduction";
  return isElementwise && isReadElementwiseBehind(user, into) ? "" : getShortName(user) + " reads it at other places";
}

/// Whether the operators may be another view of the same memory: a slice at most, then reshapes, then a transpose; or
/// behind attention a transpose, then reshapes.
static bool mayBeView(ArrayRef<Operation *> operators) {
  return llvm::all_of(operators, [](Operation *op) {
    return (op->hasTrait<graph::PermutesElements>() || isa<graph::SliceOp>(op)) &&
           cast<RankedTensorType>(op->getResult(0).getType()).hasStaticShape();
  });
}

std::string Fusion::getObstacleOfAttention(Operation *producer, Operation *user, Operation *last) {
  if (!stridedAttention)
    return "attention is a group of its own";
  ArrayRef<Operation *> from = clusters[producer].operators;
  // A mask that takes memory for each query and key is computed where it is read.
  if (llvm::all_of(from, [](Operation *op) { return isa<graph::IotaOp>(op) || isComputedMask(op); }))
    return "";
  bool isOperand = user->hasTrait<graph::Attends>() && mayBeView(from);
  // The head, queries, keys, values and the result; or queries, keys and values.
  unsigned numViews = isa<graph::AttentionGradientsOp>(user) ? 5 : 3;
  for (OpOperand &operand : user->getOpOperands())
    isOperand &= operand.get().getDefiningOp() != producer || operand.getOperandNumber() < numViews;
  if (isOperand)
    return "";
  return hasAttention(from) && !isa<graph::SliceOp>(user) && mayBeView(clusters[last].operators)
             ? ""
             : "attention is in a group with moves alone";
}

std::string Fusion::getObstacle(Operation *producer, Operation *last) {
  Cluster &from = clusters[producer], &into = clusters[last];
  if (maxOperators > 0 && int64_t(from.operators.size() + into.operators.size()) > maxOperators)
    return "a group has " + std::to_string(maxOperators) + " operators at most";
  llvm::SmallSetVector<Operation *, 4> users(producer->getUsers().begin(), producer->getUsers().end());
  for (Operation *user : users) {
    bool isKnown = getDefinition(user);
    if (!isKnown || !getDefinition(producer))
      return "nothing is known of " + getShortName(isKnown ? producer : user);
    if (producer->getNumResults() != 1)
      return getShortName(producer) + " has several results";
  }
  if (hasAttention(into.operators) && isa<graph::IotaOp>(producer) && llvm::all_of(users, isComputedMask))
    return "";
  if (hasAttention(from.operators) || hasAttention(into.operators))
    return users.size() == 1 ? getObstacleOfAttention(producer, users[0], last) : "several operators read attention";
  if (isRowProgram(from, into))
    return "";
  for (Operation *user : users)
    if (std::string obstacle = getObstacleOfUser(producer, user, last, users.size() == 1); !obstacle.empty())
      return obstacle;
  return "";
}

void Fusion::merge(Operation *producer, Operation *last) {
  Cluster joined = clusters[producer];
  clusters.erase(producer);
  Cluster &into = clusters[last];
  into.operators.insert(into.operators.begin(), joined.operators.begin(), joined.operators.end());
  llvm::sort(into.operators, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  into.reduces |= joined.reduces;
  into.onlyMoves &= joined.onlyMoves;
  into.isFree &= joined.isFree;
}

void Fusion::join(Operation *user) {
  Cluster own{{user}, true, false, false};
  if (const Definition *definition = getDefinition(user)) {
    bool onlyMoves = definition->onlyMoves || isOfFourBits(user);
    own = {{user}, definition->reduces, onlyMoves, onlyMoves || isa<graph::CastOp>(user)};
  }
  clusters.insert({user, own});
  // What is widened for several goes with these where they are one group, so that the narrow elements are stored.
  if (!widensForSeveral(user))
    joinProducers(user);
}

void Fusion::joinProducers(Operation *user) {
  for (Value operand : user->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (!producer || !clusters.count(producer))
      continue;
    bool isOnlyUser = llvm::all_of(producer->getUsers(), [&](Operation *other) { return other == user; });
    if (!isOnlyUser)
      continue;
    std::string obstacle = getObstacle(producer, user);
    if (obstacle.empty())
      merge(producer, user);
    else
      obstacles[producer] = obstacle;
  }
}

/// Merges clusters all of whose users have come to be in one other. Returns whether there were some.
bool Fusion::joinAll() {
  DenseMap<Operation *, Operation *> lasts; // of the cluster that an operator is in
  SmallVector<Operation *> producers;
  for (auto &[last, cluster] : clusters) {
    producers.push_back(last);
    for (Operation *op : cluster.operators)
      lasts[op] = last;
  }
  bool hasChanged = false;
  for (Operation *producer : producers) {
    if (producer->use_empty())
      continue;
    Operation *last = lasts.lookup(*producer->getUsers().begin());
    if (!last || widensForSeveral(last) ||
        llvm::any_of(producer->getUsers(), [&](Operation *user) { return lasts.lookup(user) != last; }))
      continue;
    if (std::string obstacle = getObstacle(producer, last); !obstacle.empty()) {
      if (llvm::all_equal(producer->getUsers()))
        obstacles.try_emplace(producer, obstacle);
      continue;
    }
    for (Operation *op : clusters[producer].operators)
      lasts[op] = last;
    merge(producer, last);
    hasChanged = true;
  }
  return hasChanged;
}

/// The bytes of a tensor, with a nominal extent where it is symbolic.
static int64_t getNominalBytes(Value value) {
  constexpr int64_t kNominal = 256;
  auto type = typeOfTensor(value);
  SmallVector<int64_t> shape(type.getShape());
  llvm::replace(shape, ShapedType::kDynamic, kNominal);
  return bytesOfTensor(RankedTensorType::get(shape, type.getElementType()));
}

/// Whether a cluster is cheap to compute once more, and reads no more bytes than it has in its result.
bool Fusion::mayComputeAgain(const Cluster &cluster) {
  constexpr size_t kMaxOperators = 8;
  if (cluster.operators.size() > kMaxOperators || cluster.quantize || !llvm::all_of(cluster.operators, isCheap))
    return false;
  // Beside elements, numbers of rows or columns are read, which stay in a cache.
  constexpr int64_t kBeside = 16;
  int64_t bytes = 0, result = getNominalBytes(cluster.operators.back()->getResult(0)), beside = result / kBeside;
  DenseSet<Value> read;
  for (Operation *op : cluster.operators) {
    // Elements that are moved apart are read one by one: better once.
    if (isa<graph::TransposeOp>(op) && getNominalBytes(op->getResult(0)) > beside)
      return false;
    for (Value operand : op->getOperands()) {
      Operation *from = operand.getDefiningOp();
      if (!llvm::is_contained(cluster.operators, from) && !isSmallConstant(from) && read.insert(operand).second &&
          llvm::AddOverflow(bytes, getNominalBytes(operand), bytes))
        return false;
    }
  }
  return bytes <= result + beside;
}

/// Computes the cluster of `producer`, which several clusters read, in each of these, where all of them can have it.
/// Then it is not stored. `lasts` has the last operator of each one's cluster.
bool Fusion::computeAgain(Operation *producer, DenseMap<Operation *, Operation *> &lasts) {
  llvm::SmallSetVector<Operation *, 4> readers;
  for (Operation *user : producer->getUsers())
    readers.insert(lasts.lookup(user));
  if (readers.size() < 2 || readers.contains(nullptr))
    return false;
  SmallVector<Operation *> own(clusters[producer].operators), copies;
  auto erase = [&](ArrayRef<Operation *> operators) {
    for (Operation *op : llvm::reverse(operators)) {
      clusters.erase(op);
      definitions.erase(op);
      obstacles.erase(op);
      lasts.erase(op);
      op->erase();
    }
  };
  for (Operation *last : readers) {
    OpBuilder builder(producer->getContext());
    builder.setInsertionPointAfter(copies.empty() ? producer : copies.back());
    IRMapping mapping;
    SmallVector<Operation *> copied;
    for (Operation *op : own)
      copied.push_back(builder.clone(*op, mapping));
    Operation *copy = copied.back();
    producer->getResult(0).replaceUsesWithIf(copy->getResult(0),
                                             [&](OpOperand &use) { return lasts.lookup(use.getOwner()) == last; });
    Cluster cluster = clusters[producer];
    cluster.operators = copied;
    clusters.insert({copy, cluster});
    copies.append(copied);
    bool contracts = llvm::any_of(clusters[last].operators, [&](Operation *op) {
      const Definition *definition = getDefinition(op);
      return !definition || (definition->reduces && !op->hasTrait<graph::Reduction>());
    });
    if (!contracts && getObstacle(copy, last).empty())
      continue;
    for (Operation *op : copies)
      if (clusters.count(op))
        op->getResult(0).replaceAllUsesWith(producer->getResult(0));
    erase(copies);
    return false;
  }
  for (auto [i, last] : llvm::enumerate(readers)) {
    for (Operation *op : ArrayRef(copies).slice(i * own.size(), own.size()))
      lasts[op] = last;
    merge(copies[(i + 1) * own.size() - 1], last);
  }
  erase(own);
  return true;
}

/// From the last cluster on: what one reads may be computed again in it, and where that reads, too.
bool Fusion::computeAgainAll() {
  if (maxOperators > 0)
    return false;
  SmallVector<Operation *> producers;
  DenseMap<Operation *, Operation *> lasts;
  for (auto &[last, cluster] : clusters) {
    producers.push_back(last);
    for (Operation *op : cluster.operators)
      lasts[op] = last;
  }
  bool hasChanged = false;
  for (Operation *producer : llvm::reverse(producers))
    if (!producer->hasOneUse() && producer->getNumResults() == 1 && mayComputeAgain(clusters[producer]))
      hasChanged |= computeAgain(producer, lasts);
  return hasChanged;
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

/// Whether the group also has the quantised result: it computes element by element, or rows, and what the quantisation
/// reads besides is there.
bool Fusion::mayQuantize(Cluster &cluster, graph::QuantizeOp op) {
  Operation *last = cluster.operators.back();
  if (last->getNumResults() != 1 || cluster.quantize || cluster.onlyMoves || !getDefinition(last) || !isElementwise(op))
    return false;
  if (cluster.reduces && !isRowProgram(cluster, Cluster()))
    return false;
  return llvm::all_of(ValueRange{op.getScale(), op.getZero()}, [&](Value operand) {
    Operation *from = operand.getDefiningOp();
    return !from || isSmallConstant(from) || (isa<graph::WeightOp>(from) && from->isBeforeInBlock(last));
  });
}

/// What is quantised and also read as it is: the group that makes it has both as results.
void Fusion::joinQuantization() {
  SmallVector<graph::QuantizeOp> alone;
  for (auto &[last, cluster] : clusters)
    if (auto op = dyn_cast<graph::QuantizeOp>(last); op && cluster.operators.size() == 1)
      alone.push_back(op);
  for (graph::QuantizeOp op : alone) {
    auto found = clusters.find(op.getX().getDefiningOp());
    if (maxOperators > 0 || found == clusters.end() || !mayQuantize(found->second, op))
      continue;
    found->second.quantize = op;
    found->second.operators.push_back(op);
    clusters.erase(op);
  }
}

void Fusion::makeGroup(Cluster &cluster) {
  Operation *last = cluster.operators.back();
  SmallVector<Value> results;
  if (cluster.quantize) {
    last = cluster.quantize.getX().getDefiningOp();
    results.push_back(cluster.quantize);
  }
  results.insert(results.begin(), last->result_begin(), last->result_end());
  OpBuilder builder(last);
  SmallVector<std::string> ends;
  for (Value result : results)
    ends.push_back(getEnd(result));
  SmallVector<StringRef> endRefs(ends.begin(), ends.end());
  auto group =
      graph::GroupOp::create(builder, last->getLoc(), TypeRange(ValueRange(results)), getGroupName(cluster.operators),
                             builder.getStrArrayAttr(endRefs), DenseI64ArrayAttr(), graph::LibraryMatmulAttr());
  for (auto [result, made] : llvm::zip(results, group.getResults()))
    result.replaceUsesWithIf(made, [&](OpOperand &use) { return use.getOwner() != cluster.quantize; });
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
  graph::YieldOp::create(builder, last->getLoc(), results);
}

void Fusion::run() {
  SmallVector<Operation *> operators;
  for (Operation &op : function.getBody().front())
    if (op.hasTrait<graph::Operator>())
      operators.push_back(&op);
  for (Operation *op : operators)
    join(op);
  do
    while (joinAll())
      ;
  while (computeAgainAll());
  operators.clear();
  for (auto &[last, cluster] : clusters)
    operators.push_back(last);
  for (Operation *op : operators)
    if (widensForSeveral(op) && clusters.count(op) && clusters[op].operators.size() == 1)
      joinProducers(op);
  joinQuantization();
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
          llvm::any_of(function.getBody().front(), [](Operation &op) { return op.hasTrait<graph::Operator>(); }))
        Fusion(function, symbols, maxOperators, stridedAttention).run();
  }
};

} // namespace
} // namespace tilewright
