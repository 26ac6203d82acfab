//===- Groups.cpp - what passes on groups share ---------------------------===//
#include "passes/graph-to-graph/Groups.h"
#include "passes/ArgumentAlignment.h"
#include "passes/PassSupport.h"
#include "passes/graph-to-graph/TensorTypes.h"

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

} // namespace tilewright
