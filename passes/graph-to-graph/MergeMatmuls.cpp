//===- MergeMatmuls.cpp - matmuls of one matrix become one -----------------===//
#include "dialects/Graph/Graph.h"
#include "passes/PassSupport.h"
#include "passes/graph-to-graph/TensorTypes.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tilewright {
#define GEN_PASS_DEF_MERGEMATMULS
#include "passes/graph-to-graph/Passes.h.inc"

namespace {

/// A matmul by a weight, and what follows it up to the reshapes and transposes before attention.
struct Branch {
  graph::MatmulOp matmul;
  graph::TransposeOp transpose;   // of the weight, maybe null
  graph::DequantizeOp dequantize; // of the weight, maybe null
  graph::WeightOp weight, scale;
  graph::AddOp add; // of the bias, maybe null
  graph::CastOp castOfBias, cast;
  graph::WeightOp bias;
  Value last;
};

/// Whether `value` is only moved, and then read as queries, keys or values.
bool isOfAttention(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUses(), [](OpOperand &use) {
    if (use.getOwner()->hasTrait<graph::PermutesElements>())
      return isOfAttention(use.getOwner()->getResult(0));
    return isa<graph::AttentionOp>(use.getOwner()) && use.getOperandNumber() < 3;
  });
}

void addBias(Branch &branch, graph::AddOp add) {
  Value other = add.getA() == branch.last ? add.getB() : add.getA();
  if (add.getResult().getType() != branch.last.getType() || other == branch.last)
    return;
  branch.castOfBias = other.getDefiningOp<graph::CastOp>();
  branch.bias = (branch.castOfBias ? branch.castOfBias.getX() : other).getDefiningOp<graph::WeightOp>();
  if (!branch.bias || typeOfTensor(branch.bias).getShape() != typeOfTensor(branch.last).getShape().take_back())
    return;
  branch.add = add;
  branch.last = add.getResult();
}

std::optional<Branch> getBranch(graph::MatmulOp op) {
  Branch branch{op};
  auto type = typeOfTensor(op.getResult());
  if (type.getRank() != 2 || !type.hasStaticShape() || typeOfTensor(op.getA()).getRank() != 2)
    return std::nullopt;
  Value right = op.getB();
  if ((branch.transpose = right.getDefiningOp<graph::TransposeOp>()))
    right = branch.transpose.getX();
  if ((branch.dequantize = right.getDefiningOp<graph::DequantizeOp>())) {
    // The scales of the columns stand one behind the other, too.
    branch.scale = branch.dequantize.getScale().getDefiningOp<graph::WeightOp>();
    int64_t columns = branch.transpose ? 0 : 1;
    if (!branch.scale || typeOfTensor(branch.scale).getRank() != 1 || branch.dequantize.getBlock() ||
        int64_t(branch.dequantize.getAxis()) != columns || !matchPattern(branch.dequantize.getZero(), m_Constant()))
      return std::nullopt;
    right = branch.dequantize.getX();
  }
  branch.weight = right.getDefiningOp<graph::WeightOp>();
  if (!branch.weight || typeOfTensor(right).getRank() != 2)
    return std::nullopt;
  branch.last = op.getResult();
  auto next = [&]() { return branch.last.hasOneUse() ? *branch.last.getUsers().begin() : nullptr; };
  if (auto add = dyn_cast_or_null<graph::AddOp>(next()))
    addBias(branch, add);
  if (auto cast = dyn_cast_or_null<graph::CastOp>(next())) {
    branch.cast = cast;
    branch.last = cast.getResult();
  }
  return isOfAttention(branch.last) ? std::optional(branch) : std::nullopt;
}

bool isSameZero(Value a, Value b) {
  Attribute first, second;
  return matchPattern(a, m_Constant(&first)) && matchPattern(b, m_Constant(&second)) && first == second;
}

bool isLike(Branch a, Branch b) {
  auto isSame = [](auto one, auto other) {
    return bool(one) == bool(other) &&
           (!one || one->getDiscardableAttrDictionary() == other->getDiscardableAttrDictionary());
  };
  auto elementOf = [](Value value) { return typeOfTensor(value).getElementType(); };
  if (a.dequantize && b.dequantize && !isSameZero(a.dequantize.getZero(), b.dequantize.getZero()))
    return false;
  return a.matmul.getAcc() == b.matmul.getAcc() && a.matmul.getTo() == b.matmul.getTo() &&
         isSame(a.transpose, b.transpose) && isSame(a.dequantize, b.dequantize) && isSame(a.add, b.add) &&
         isSame(a.castOfBias, b.castOfBias) && isSame(a.cast, b.cast) && elementOf(a.weight) == elementOf(b.weight) &&
         elementOf(a.last) == elementOf(b.last) && (!a.bias || elementOf(a.bias) == elementOf(b.bias));
}

class Merger {
public:
  explicit Merger(SmallVector<Branch> given)
      : branches(std::move(given)), builder(branches.front().matmul.getContext()) {
    builder.setInsertionPoint(branches.front().matmul);
    for (Branch branch : branches)
      columns += typeOfTensor(branch.matmul.getResult()).getDimSize(1);
  }

  void run() {
    Branch first = branches.front();
    Location loc = first.matmul.getLoc();
    int64_t rows = typeOfTensor(first.matmul.getResult()).getDimSize(0);
    auto whole = [&](Value like) {
      return RankedTensorType::get({rows, columns}, typeOfTensor(like).getElementType());
    };
    Value right = join([](Branch branch) { return branch.weight; }, first.transpose ? 0 : 1);
    if (first.dequantize) {
      Value scale = join([](Branch branch) { return branch.scale; }, 0);
      auto type = typeOfTensor(right).clone(typeOfTensor(first.dequantize).getElementType());
      right = graph::DequantizeOp::create(builder, loc, type, right, scale, first.dequantize.getZero(),
                                          first.dequantize.getAxis(), 0, first.dequantize.getTo());
    }
    if (first.transpose) {
      ArrayRef<int64_t> shape = typeOfTensor(right).getShape();
      auto type = RankedTensorType::get({shape[1], shape[0]}, typeOfTensor(right).getElementType());
      right = graph::TransposeOp::create(builder, loc, type, right, ArrayRef<int64_t>{1, 0});
    }
    Value made = graph::MatmulOp::create(builder, loc, whole(first.matmul.getResult()), first.matmul.getA(), right,
                                         first.matmul.getAcc(), first.matmul.getTo());
    if (first.add) {
      Value bias = join([](Branch branch) { return branch.bias; }, 0);
      if (first.castOfBias)
        bias = cast(first.castOfBias, bias);
      made = graph::AddOp::create(builder, loc, made.getType(), made, bias);
    }
    if (first.cast)
      made = cast(first.cast, made);
    int64_t begin = 0;
    for (Branch branch : branches) {
      auto type = typeOfTensor(branch.last);
      auto slice =
          graph::SliceOp::create(builder, branch.matmul.getLoc(), type, made, builder.getI64ArrayAttr({0, begin}),
                                 ArrayRef<int64_t>{1, 1}, builder.getI64ArrayAttr(type.getShape()));
      begin += type.getDimSize(1);
      Value last = branch.last;
      last.replaceAllUsesWith(slice);
    }
    for (Branch branch : branches)
      for (Operation *op :
           std::initializer_list<Operation *>{branch.cast, branch.add, branch.castOfBias, branch.bias, branch.matmul,
                                              branch.transpose, branch.dequantize, branch.scale, branch.weight})
        if (op && op->use_empty())
          op->erase();
  }

private:
  Value cast(graph::CastOp like, Value value) {
    auto type = typeOfTensor(value).clone(typeOfTensor(like.getResult()).getElementType());
    return graph::CastOp::create(builder, like.getLoc(), type, value, like.getTo(), like.getSaturate());
  }

  /// The weights one behind the other along an axis, as one weight.
  template <typename Get> Value join(Get get, int64_t axis) {
    SmallVector<StringRef> names;
    SmallVector<int64_t> shape(typeOfTensor(get(branches.front())).getShape());
    shape[axis] = 0;
    for (Branch branch : branches) {
      graph::WeightOp weight = get(branch);
      names.push_back(weight.getName());
      shape[axis] += typeOfTensor(weight).getDimSize(axis);
    }
    auto type = RankedTensorType::get(shape, typeOfTensor(get(branches.front())).getElementType());
    auto joined = graph::WeightOp::create(builder, branches.front().matmul.getLoc(), type, llvm::join(names, "+"));
    joined->setAttr(graph::kJoinedAttr, builder.getStrArrayAttr(names));
    joined->setAttr(graph::kJoinedAxisAttr, builder.getI64IntegerAttr(axis));
    return joined;
  }

  SmallVector<Branch> branches;
  OpBuilder builder;
  int64_t columns = 0;
};

struct MergeMatmuls : impl::MergeMatmulsBase<MergeMatmuls> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      llvm::MapVector<Value, SmallVector<Branch>> byOperand;
      function.walk([&](graph::MatmulOp op) {
        if (auto branch = getBranch(op)) {
          SmallVector<Branch> &known = byOperand[op.getA()];
          if (known.empty() || isLike(known.front(), *branch))
            known.push_back(*branch);
        }
      });
      for (auto &[operand, branches] : byOperand)
        if (branches.size() > 1)
          Merger(branches).run();
    }
  }
};

} // namespace
} // namespace tilewright
