//===- FoldWeights.cpp - what depends on weights alone becomes a weight ----===//
#include "dialects/Graph/Graph.h"
#include "passes/graph-to-graph/FoldedWeight.h"
#include "passes/graph-to-graph/Passes.h"
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

/// So many rows are worth another order of a matrix: fewer are as fast with either.
constexpr int64_t kRows = 8;

bool isLeaf(Operation *op) { return isa<graph::WeightOp, graph::ConstantOp>(op); }

class Folder {
public:
  Folder(func::FuncOp function, bool transposes) : function(function), transposes(transposes) {}

  void run() {
    SmallVector<graph::AddOp> sums;
    for (Operation &op : function.getBody().front()) {
      if (isLeaf(&op) || isKnown(&op))
        known.insert(&op);
      else if (auto sum = dyn_cast<graph::AddOp>(op))
        sums.push_back(sum);
    }
    for (graph::AddOp sum : sums)
      joinFactors(sum);
    for (Operation *op : known)
      if (!isLeaf(op) && llvm::any_of(op->getUsers(), [&](Operation *user) { return !known.contains(user); }))
        fold(isFilterAlongK(op) ? op->getOperand(0).getDefiningOp() : op);
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

  /// The operand of an operation on two that is computed from weights alone, and then the other one; null where none is
  /// or both are.
  std::pair<Value, Value> getWeightAndOther(Operation *op) const {
    Value a = op->getOperand(0), b = op->getOperand(1);
    bool isA = known.contains(a.getDefiningOp()), isB = known.contains(b.getDefiningOp());
    return isA == isB ? std::pair<Value, Value>() : isA ? std::pair(a, b) : std::pair(b, a);
  }

  /// (x - m) * s * g + b becomes x * (s * g) + (b - m * (s * g)), where all but x are weights: an epilogue reads two of
  /// them instead of four. Rounding to float32 changes less than that to 16 bits has changed x.
  void joinFactors(graph::AddOp sum) {
    auto [summand, rest] = getWeightAndOther(sum);
    if (!summand || !typeOfTensor(summand).getElementType().isF32())
      return;
    SmallVector<Operation *> chain;
    SmallVector<Value> factors;
    auto isOnlyHere = [](Operation *op) { return op && op->hasOneUse(); };
    while (isa_and_nonnull<graph::MulOp>(rest.getDefiningOp()) && isOnlyHere(rest.getDefiningOp())) {
      auto [factor, other] = getWeightAndOther(rest.getDefiningOp());
      if (!factor || factor.getType() != summand.getType())
        return;
      chain.push_back(rest.getDefiningOp());
      factors.push_back(factor);
      rest = other;
    }
    Value subtrahend;
    if (auto difference = rest.getDefiningOp<graph::SubOp>(); difference && isOnlyHere(difference) &&
                                                              known.contains(difference.getB().getDefiningOp()) &&
                                                              difference.getB().getType() == summand.getType()) {
      chain.push_back(difference);
      subtrahend = difference.getB();
      rest = difference.getA();
    }
    auto widened = rest.getDefiningOp<graph::CastOp>();
    if (factors.empty() || chain.size() < 2 || !widened || rest.getType() != sum.getType())
      return;
    Type narrow = typeOfTensor(widened.getX()).getElementType();
    if (!narrow.isF16() && !narrow.isBF16())
      return;
    OpBuilder builder(sum);
    Type type = summand.getType();
    auto keep = [&](Operation *op) {
      known.insert(op);
      return op->getResult(0);
    };
    Value factor = factors.pop_back_val();
    for (Value other : llvm::reverse(factors))
      factor = keep(graph::MulOp::create(builder, sum.getLoc(), type, factor, other));
    if (subtrahend) {
      Value moved = keep(graph::MulOp::create(builder, sum.getLoc(), type, subtrahend, factor));
      summand = keep(graph::SubOp::create(builder, sum.getLoc(), type, summand, moved));
    }
    Value scaled = graph::MulOp::create(builder, sum.getLoc(), sum.getType(), rest, factor);
    sum.replaceAllUsesWith(graph::AddOp::create(builder, sum.getLoc(), sum.getType(), scaled, summand).getResult());
    sum.erase();
    for (Operation *op : chain)
      op->erase();
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

  /// Whether it transposes a reshaped filter that tensor cores read along K: one of 8 bits, or one of tf32.
  bool isFilterAlongK(Operation *op) const {
    if (transposes || !isa<graph::TransposeOp>(op) || typeOfTensor(op->getResult(0)).getRank() != 2)
      return false;
    Type element = typeOfTensor(op->getResult(0)).getElementType();
    bool isOfTF32 = llvm::all_of(op->getUsers(), [](Operation *user) {
      auto matmul = dyn_cast<graph::MatmulOp>(user);
      return matmul && matmul.getAcc() == "tf32";
    });
    bool isOfBytes = element.isIntOrFloat() && element.getIntOrFloatBitWidth() == 8;
    SmallVector<Operation *> slice = getSlice(op);
    return (isOfBytes || isOfTF32) && isMovedWeight(slice) && isReshapedFilter(slice);
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
