//===- PlanMemory.cpp - results of groups in one arena ---------------------===//
#include "dialects/Graph/Graph.h"
#include "passes/PassSupport.h"
#include "passes/graph-to-graph/Groups.h"
#include "passes/graph-to-graph/TensorTypes.h"
#include "runtime/host/Arena.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

using Positions = DenseMap<Operation *, int64_t>; // of groups

/// Until when the memory of a result is read, also through views.
struct Life {
  int64_t last;
  bool isOutput = false; // the result lies in an output

  void addReaders(Value value, bool isWhole, const Positions &positions) {
    for (Operation *user : value.getUsers()) {
      auto reader = dyn_cast<graph::GroupOp>(user);
      reader = reader ? reader : user->getParentOfType<graph::GroupOp>();
      if (reader)
        last = std::max(last, positions.lookup(reader));
      else if (isView(user))
        addReaders(user->getResult(0), isWhole && isa<graph::ReshapeOp>(user), positions);
      else if (isWhole)
        isOutput = true;
      else // a part is copied to the output at the end
        last = positions.size() - 1;
    }
  }
};

} // namespace

static LogicalResult planFunction(func::FuncOp function) {
  Positions positions;
  for (auto group : function.getOps<graph::GroupOp>())
    positions.insert({group, positions.size()});
  SmallVector<OpResult> results;
  SmallVector<host::ArenaBuffer> buffers;
  for (auto group : function.getOps<graph::GroupOp>()) {
    group.setOffsets(SmallVector<int64_t>(group.getNumResults(), -1));
    for (OpResult result : group.getResults()) {
      Life life{positions[group]};
      life.addReaders(result, /*isWhole=*/true, positions);
      RankedTensorType type = typeOfTensor(result);
      if (!type.hasStaticShape() || life.isOutput)
        continue;
      results.push_back(result);
      buffers.push_back({bytesOfTensor(type), positions[group], life.last});
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
