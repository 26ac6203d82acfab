//===- FoldWeights.cpp - what depends on weights alone becomes a weight ----===//
#include "dialects/Graph/Graph.h"
#include "passes/PassSupport.h"
#include "passes/graph-to-graph/FoldedWeight.h"
#include "passes/graph-to-graph/TensorTypes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DECL_FOLDWEIGHTS
#define GEN_PASS_DEF_FOLDWEIGHTS
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

/// A result of at most so many bytes may be larger than what it is made of.
constexpr int64_t kSmall = 64 << 10;

/// So many rows are worth another order of a matrix: fewer are as fast with either.
constexpr int64_t kRows = 8;

bool isLeaf(Operation *op) { return isa<graph::WeightOp, graph::ConstantOp>(op); }

class Folder {
public:
  Folder(func::FuncOp function, bool transposes) : function(function), transposes(transposes) {}

  void run() {
    for (Operation &op : function.getBody().front())
      if (isLeaf(&op) || isKnown(&op))
        known.insert(&op);
    for (Operation *op : known)
      if (!isLeaf(op) && llvm::any_of(op->getUsers(), [&](Operation *user) { return !known.contains(user); }))
        fold(isFilterOfBytes(op) ? op->getOperand(0).getDefiningOp() : op);
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

  /// Whether it is one weight that nothing else reads, with its elements in another order.
  static bool isMovedWeight(ArrayRef<Operation *> slice) {
    auto isMove = [](Operation *op) { return op->hasTrait<graph::PermutesElements>(); };
    return isa<graph::WeightOp>(slice.front()) && llvm::all_of(slice.drop_front(), isMove) &&
           llvm::all_of(slice.drop_back(), [](Operation *op) { return op->hasOneUse(); });
  }

  /// Whether a weight has more than two dimensions, and then the shape of another.
  static bool isReshapedFilter(ArrayRef<Operation *> slice) {
    return typeOfTensor(slice.front()->getResult(0)).getRank() > 2 &&
           llvm::any_of(slice, llvm::IsaPred<graph::ReshapeOp>);
  }

  /// Whether a transposed matrix is worth to be stored so.
  bool isTransposedMatrix(ArrayRef<Operation *> slice) const {
    Operation *root = slice.back();
    if (!transposes || !isa<graph::TransposeOp>(root) || typeOfTensor(root->getResult(0)).getRank() != 2)
      return false;
    return !root->hasOneUse() || llvm::any_of(root->getUsers(), [&](Operation *user) {
      auto matmul = dyn_cast<graph::MatmulOp>(user);
      RankedTensorType a = matmul ? typeOfTensor(matmul.getA()) : RankedTensorType();
      return a && matmul.getB() == root->getResult(0) && a.hasStaticShape() &&
             a.getNumElements() >= kRows * a.getShape().back();
    });
  }

  /// Whether it transposes a reshaped filter of 8 bits, which tensor cores read along K.
  bool isFilterOfBytes(Operation *op) const {
    if (transposes || !isa<graph::TransposeOp>(op) || typeOfTensor(op->getResult(0)).getRank() != 2)
      return false;
    Type element = typeOfTensor(op->getResult(0)).getElementType();
    SmallVector<Operation *> slice = getSlice(op);
    return element.isIntOrFloat() && element.getIntOrFloatBitWidth() == 8 && isMovedWeight(slice) &&
           isReshapedFilter(slice);
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
    bool isOrdered = isMovedWeight(slice) && (isReshapedFilter(slice) || isTransposedMatrix(slice));
    if (!(computes || isOrdered) || bytes == 0 || bytesOfTensor(typeOfTensor(result)) > std::max(bytes, kSmall))
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
  bool transposes;
  llvm::SetVector<Operation *> known;
};

struct FoldWeights : impl::FoldWeightsBase<FoldWeights> {
  using FoldWeightsBase::FoldWeightsBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (llvm::hasSingleElement(function.getBody()))
        Folder(function, transposes).run();
  }
};

} // namespace
} // namespace tilewright
