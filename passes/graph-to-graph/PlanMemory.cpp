//===- PlanMemory.cpp - results of groups in one arena ---------------------===//
#include "dialects/Graph/Graph.h"
#include "passes/PassSupport.h"
#include "runtime/host/Arena.h"

#include <limits>

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/graph-to-graph/Passes.h.inc"

/// The bytes of a tensor, a bool being one; nothing of one of symbolic size. The most that 63 bits count where it has
/// more.
static std::optional<int64_t> getTensorBytes(RankedTensorType type) {
  if (!type.hasStaticShape())
    return std::nullopt;
  int64_t bytes = getElementBytes(type.getElementType());
  if (llvm::is_contained(type.getShape(), 0))
    return 0;
  for (int64_t extent : type.getShape())
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      return std::numeric_limits<int64_t>::max();
  return bytes;
}

static LogicalResult planFunction(func::FuncOp function) {
  DenseMap<Operation *, int64_t> position;
  for (auto group : function.getOps<graph::GroupOp>())
    position.insert({group, position.size()});
  SmallVector<OpResult> results;
  SmallVector<host::ArenaBuffer> buffers;
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
      if (!bytes || isOutput)
        continue;
      results.push_back(result);
      buffers.push_back({*bytes, position[group], last});
    }
  }
  SmallVector<host::ArenaBuffer *> order(buffers.size()), placed(buffers.size());
  int64_t arena = host::placeInArena(buffers.data(), buffers.size(), order.data(), placed.data());
  if (arena < 0)
    return function.emitError("expected results of groups whose bytes 63 bits count");
  for (auto [result, buffer] : llvm::zip(results, buffers)) {
    auto group = cast<graph::GroupOp>(result.getOwner());
    SmallVector<int64_t> offsets(*group.getOffsets());
    offsets[result.getResultNumber()] = buffer.offset;
    group.setOffsets(offsets);
  }
  function->setAttr(graph::kArenaBytesAttr, Builder(function).getI64IntegerAttr(arena));
  return success();
}

namespace {

struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.getOps<graph::GroupOp>().empty())
        if (failed(planFunction(function)))
          return signalPassFailure();
  }
};

} // namespace
} // namespace tilewright
