//===- Groups.cpp - what passes on groups share ---------------------------===//
#include "passes/graph-to-graph/Groups.h"
#include "passes/ArgumentAlignment.h"
#include "passes/PassSupport.h"
#include "passes/graph-to-graph/TensorTypes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright {

/// Whether a slice with static extents has elements that lie together, and begin at a place that is aligned.
static bool isBlock(graph::SliceOp slice) {
  auto from = typeOfTensor(slice.getX()), to = typeOfTensor(slice);
  if (!from.hasStaticShape() || !to.hasStaticShape() || to.getNumElements() == 0)
    return false;
  int64_t begin = 0, elements = 1;
  bool isWhole = true; // whether all dimensions behind are whole
  for (int64_t d = from.getRank(); d-- > 0;) {
    auto start = dyn_cast<IntegerAttr>(slice.getStarts()[d]);
    if (!start || (!isWhole && to.getDimSize(d) != 1) || (to.getDimSize(d) != 1 && slice.getSteps()[d] != 1))
      return false;
    begin += start.getInt() * elements;
    elements *= from.getDimSize(d);
    isWhole &= to.getDimSize(d) == from.getDimSize(d);
  }
  return begin * getElementBytes(from.getElementType()) % kArgumentAlignment == 0;
}

std::string getGroupName(ArrayRef<Operation *> operators) {
  SmallVector<std::string> names;
  for (Operation *op : operators)
    names.push_back(op->getName().stripDialect().str());
  if (names.size() > 4) {
    std::string more = "and" + std::to_string(names.size() - 3) + "more";
    names.erase(names.begin() + 3, names.end() - 1);
    names.insert(names.end() - 1, more);
  }
  return llvm::join(names, "_");
}

bool isView(Operation *op) {
  auto slice = dyn_cast<graph::SliceOp>(op);
  return isa<graph::ReshapeOp>(op) || (slice && isBlock(slice));
}

/// The largest extent of rows that one program reduces several times.
static constexpr int64_t kLongestRow = 16384;

bool isRowReduction(Operation *op) {
  if (!op->hasTrait<graph::Reduction>() || !op->getAttrOfType<BoolAttr>("keepdims").getValue())
    return false;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  SmallVector<int64_t> axes(op->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef());
  llvm::sort(axes);
  int64_t elements = 1;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t d = shape.size() - axes.size() + i;
    if (axis != d || ShapedType::isDynamic(shape[d]) || shape[d] > kLongestRow)
      return false;
    elements *= shape[d];
    if (elements > kLongestRow)
      return false;
  }
  return !axes.empty();
}

bool widensForSeveral(Operation *op) {
  auto cast = dyn_cast<graph::CastOp>(op);
  if (!cast || op->hasOneUse())
    return false;
  auto bytes = [](Value value) { return getElementBytes(getElementTypeOrSelf(value.getType())); };
  return bytes(cast.getResult()) > bytes(cast.getX());
}

bool isOfFourBits(Operation *op) {
  if (auto dequantize = dyn_cast<graph::DequantizeOp>(op))
    op = dequantize.getX().getDefiningOp();
  auto unpack = dyn_cast_or_null<graph::UnpackOp>(op);
  return unpack && unpack.getX().getDefiningOp<graph::WeightOp>();
}

constexpr int64_t kMaxTable = 1 << 16, kSmaller = 4, kMaxMaskOperators = 16;

bool isSmallConstant(Operation *op) {
  auto constant = dyn_cast_or_null<graph::ConstantOp>(op);
  return constant && cast<RankedTensorType>(constant.getType()).getNumElements() == 1;
}

bool hasAttention(ArrayRef<Operation *> operators) {
  return llvm::any_of(operators, [](Operation *op) { return op->hasTrait<graph::Attends>(); });
}

static Value getMask(Operation *attention) {
  return TypeSwitch<Operation *, Value>(attention)
      .Case<graph::AttentionOp, graph::AttentionWithLogarithmsOp, graph::AttentionGradientsOp>(
          [](auto op) -> Value { return op.getMask(); })
      .Default(Value());
}

/// The mask of attention that the result comes to, where nothing else reads it; else nothing.
static Value findMask(Operation *op) {
  while (op->hasOneUse()) {
    OpOperand &use = *op->use_begin();
    op = use.getOwner();
    if (op->hasTrait<graph::Attends>())
      return use.get() == getMask(op) ? use.get() : Value();
    if (op->getNumResults() != 1)
      break;
  }
  return Value();
}

/// Whether `value` is much smaller than the mask, and stays in a cache.
static bool isTable(Value value, Value mask) {
  auto type = typeOfTensor(value), whole = typeOfTensor(mask);
  return type.hasStaticShape() && whole.hasStaticShape() &&
         type.getNumElements() <= std::min(kMaxTable, whole.getNumElements() / kSmaller);
}

bool isCheap(Operation *op) {
  return isa_and_nonnull<graph::AddOp, graph::SubOp, graph::MulOp, graph::NegOp, graph::AbsOp, graph::ReluOp,
                         graph::MinOp, graph::MaxOp, graph::AndOp, graph::OrOp, graph::NotOp, graph::EqualOp,
                         graph::LessOp, graph::LessEqualOp, graph::GreaterOp, graph::GreaterEqualOp, graph::WhereOp,
                         graph::CastOp, graph::ReshapeOp, graph::ExpandOp, graph::TransposeOp>(op);
}

/// Whether a few instructions compute an element of `value` of such tables.
static bool isOfTables(Value value, Value mask, int64_t &numOperators) {
  if (isTable(value, mask))
    return true;
  Operation *op = value.getDefiningOp();
  return isCheap(op) && ++numOperators <= kMaxMaskOperators &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isOfTables(operand, mask, numOperators); });
}

bool isComputedMask(Operation *op) {
  Value mask = findMask(op);
  if (!mask)
    return false;
  // A table is computed once.
  if (isTable(op->getResult(0), mask))
    return op->hasTrait<graph::PermutesElements>();
  int64_t numOperators = 0;
  return isOfTables(op->getResult(0), mask, numOperators);
}

bool isStoredForConvolution(Operation *producer, Operation *user) {
  // The rows of a matmul are windows that it reads where they are. Along K it reads them as they are stored.
  if (isa<graph::WindowsOp>(producer))
    return !isa<graph::MatmulOp>(user) || cast<graph::MatmulOp>(user).getA().getDefiningOp() != producer;
  auto type = cast<RankedTensorType>(producer->getResult(0).getType());
  bool isHalf = type.getElementType().isF16() || type.getElementType().isBF16();
  if (!isHalf && !type.getElementType().isF32())
    return false;
  auto isOfMatmul = [&](Operation *op) {
    auto matmul = dyn_cast<graph::MatmulOp>(op);
    return matmul && (isHalf || matmul.getAcc() == "tf32");
  };
  auto isFilter = [&](Operation *op, Operation *of) {
    return isOfMatmul(op) && cast<graph::MatmulOp>(op).getB().getDefiningOp() == of &&
           cast<graph::MatmulOp>(op).getA().getDefiningOp<graph::WindowsOp>();
  };
  if (isHalf && isa<graph::MatmulOp>(user))
    return isFilter(user, producer);
  if (isa<graph::TransposeOp>(user) && !isHalf)
    return type.getRank() == 2 && user->hasOneUse() && isFilter(*user->user_begin(), user);
  constexpr int64_t kCopy = 16;
  return isa<graph::WindowsOp>(user) && type.getShape().back() * getElementBytes(type.getElementType()) % kCopy == 0 &&
         user->hasOneUse() && llvm::all_of(user->getUsers(), isOfMatmul);
}

} // namespace tilewright
