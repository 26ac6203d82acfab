//===- FoldWeights.cpp - what depends on weights alone becomes a weight ----===//
#include "dialects/Graph/Graph.h"
#include "passes/PassSupport.h"
#include "passes/graph-to-graph/FoldedWeight.h"
#include "passes/graph-to-graph/TensorTypes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_FOLDWEIGHTS
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

/// A result of at most so many bytes may be larger than what it is made of.
constexpr int64_t kSmall = 64 << 10;

bool isLeaf(Operation *op) { return isa<graph::WeightOp, graph::ConstantOp>(op); }

class Folder {
public:
  explicit Folder(func::FuncOp function) : function(function) {}

  void run() {
    for (Operation &op : function.getBody().front())
      if (isLeaf(&op) || isKnown(&op))
        known.insert(&op);
    for (Operation *op : known)
      if (!isLeaf(op) && llvm::any_of(op->getUsers(), [&](Operation *user) { return !known.contains(user); }))
        fold(op);
    for (Operation *op : llvm::reverse(known))
      if (op->use_empty())
        op->erase();
  }

private:
  bool isKnown(Operation *op) {
    if (!isa_and_nonnull<graph::GraphDialect>(op->getDialect()) || op->getNumResults() != 1 ||
        op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
        isa<graph::QuantizeOp, graph::DequantizeOp, graph::UnpackOp>(op)) // weights of 8 or 4 bits stay so
      return false;
    return cast<RankedTensorType>(op->getResult(0).getType()).hasStaticShape() &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return known.contains(operand.getDefiningOp()); });
  }

  /// What a value is computed from, in the order of the block.
  static SmallVector<Operation *> getSlice(Operation *root) {
    llvm::SetVector<Operation *> slice;
    slice.insert(root);
    for (size_t i = 0; i < slice.size(); ++i)
      for (Value operand : slice[i]->getOperands())
        slice.insert(operand.getDefiningOp());
    SmallVector<Operation *> ordered(slice.begin(), slice.end());
    llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    return ordered;
  }

  /// Whether it is one weight of more than two dimensions that nothing else reads, in the shape of another.
  static bool isReshapedFilter(ArrayRef<Operation *> slice) {
    auto isMove = [](Operation *op) { return op->hasTrait<graph::PermutesElements>(); };
    auto weight = dyn_cast<graph::WeightOp>(slice.front());
    return weight && cast<RankedTensorType>(weight.getType()).getRank() > 2 &&
           llvm::all_of(slice.drop_front(), isMove) && llvm::any_of(slice, llvm::IsaPred<graph::ReshapeOp>) &&
           llvm::all_of(slice.drop_back(), [](Operation *op) { return op->hasOneUse(); });
  }

  void fold(Operation *root) {
    SmallVector<Operation *> slice = getSlice(root);
    Value result = root->getResult(0);
    int64_t bytes = 0;
    bool computes = false;
    for (Operation *op : slice) {
      bytes += isa<graph::WeightOp>(op) ? bytesOfTensor(typeOfTensor(op->getResult(0))) : 0;
      computes |= !isLeaf(op) && !op->hasTrait<graph::MovesElements>();
    }
    if (!(computes || isReshapedFilter(slice)) || bytes == 0 ||
        bytesOfTensor(typeOfTensor(result)) > std::max(bytes, kSmall))
      return;
    Value weight = foldToWeight(root, result.getType(), [&](OpBuilder &builder) {
      IRMapping mapping;
      for (Operation *op : slice)
        builder.clone(*op, mapping);
      return mapping.lookup(result);
    });
    result.replaceAllUsesWith(weight);
  }

  func::FuncOp function;
  llvm::SetVector<Operation *> known;
};

struct FoldWeights : impl::FoldWeightsBase<FoldWeights> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (llvm::hasSingleElement(function.getBody()))
        Folder(function).run();
  }
};

} // namespace
} // namespace tilewright
