//===- PlanMemory.cpp - results of groups in one arena ---------------------===//
#include "dialects/Graph/Graph.h"
#include "passes/PassSupport.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

constexpr int64_t kArenaAlignment = 64;

struct PlannedResult {
  graph::GroupOp group;
  unsigned number;
  int64_t bytes, first, last; // the groups' positions, both included
  int64_t offset = -1;
};

} // namespace

/// The bytes of a tensor, a bool being one; nothing of one of symbolic size.
static std::optional<int64_t> getTensorBytes(RankedTensorType type) {
  if (!type.hasStaticShape())
    return std::nullopt;
  return type.getNumElements() * getElementBytes(type.getElementType());
}

static void planFunction(func::FuncOp function) {
  DenseMap<Operation *, int64_t> position;
  for (auto group : function.getOps<graph::GroupOp>())
    position.insert({group, position.size()});
  SmallVector<PlannedResult> results;
  for (auto group : function.getOps<graph::GroupOp>()) {
    group.setOffsets(SmallVector<int64_t>(group.getNumResults(), -1));
    for (OpResult result : group.getResults()) {
      auto bytes = getTensorBytes(cast<RankedTensorType>(result.getType()));
      int64_t last = position[group];
      bool isOutput = false;
      for (Operation *user : result.getUsers()) {
        auto reader = dyn_cast<graph::GroupOp>(user);
        reader = reader ? reader : user->getParentOfType<graph::GroupOp>();
        isOutput |= !reader;
        last = reader ? std::max(last, position[reader]) : last;
      }
      if (bytes && !isOutput)
        results.push_back(
            {group, result.getResultNumber(), int64_t(llvm::alignTo(*bytes, kArenaAlignment)), position[group], last});
    }
  }
  SmallVector<PlannedResult *> order = llvm::map_to_vector(results, [](PlannedResult &result) { return &result; });
  llvm::stable_sort(order, [](PlannedResult *a, PlannedResult *b) { return a->bytes > b->bytes; });
  int64_t arena = 0;
  SmallVector<PlannedResult *> placed;
  for (PlannedResult *result : order) {
    result->offset = 0;
    llvm::sort(placed, [](PlannedResult *a, PlannedResult *b) { return a->offset < b->offset; });
    for (PlannedResult *other : placed) {
      bool livesApart = other->last < result->first || result->last < other->first;
      bool liesApart =
          other->offset + other->bytes <= result->offset || result->offset + result->bytes <= other->offset;
      if (!livesApart && !liesApart)
        result->offset = other->offset + other->bytes;
    }
    placed.push_back(result);
    arena = std::max(arena, result->offset + result->bytes);
    SmallVector<int64_t> offsets(*result->group.getOffsets());
    offsets[result->number] = result->offset;
    result->group.setOffsets(offsets);
  }
  function->setAttr(graph::kArenaBytesAttr, Builder(function).getI64IntegerAttr(arena));
}

namespace {

struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.getOps<graph::GroupOp>().empty())
        planFunction(function);
  }
};

} // namespace
} // namespace tilewright
