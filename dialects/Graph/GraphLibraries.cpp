//===- GraphLibraries.cpp - groups that libraries compute ------------------===//
#include "dialects/Graph/Graph.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::graph;

/// The dimensions that an operand of a library's call has at most.
static constexpr int64_t kMaxRank = 8;

static RankedTensorType getTypeOfTensor(Value value) { return cast<RankedTensorType>(value.getType()); }

SmallVector<Value> GroupOp::getInputs() {
  Block &body = getBody().front();
  SmallVector<Value> inputs;
  for (Operation &op : body)
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != &body && !llvm::is_contained(inputs, operand))
        inputs.push_back(operand);
  return inputs;
}

bool graph::canMultiply(Library, Type a, Type b, Type result) {
  if (a != b)
    return false;
  if (a.isInteger(8))
    return a.isSignlessInteger() && result.isSignlessInteger(32);
  if (isa<Float8E4M3FNType>(a))
    return result.isF32() || result.isF16() || result.isBF16();
  return (a.isF16() || a.isBF16() || a.isF32()) && (result == a || result.isF32());
}

bool graph::canAddBias(Library, Type a, Type result) {
  return isa<FloatType>(result) && !(isa<Float8E4M3FNType>(a) && result.isF32());
}

bool graph::isOrderOfMatrix(ArrayRef<int64_t> order, int64_t rank) {
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  return rank >= 2 && llvm::equal(sorted, llvm::seq<int64_t>(0, rank)) &&
         llvm::is_contained(order.take_back(2), rank - 1);
}

/// The extent of an operand in a dimension of what the matmul reads, counted from the end.
static int64_t getExtentFromEnd(RankedTensorType type, DenseI64ArrayAttr order, int64_t fromEnd) {
  int64_t d = type.getRank() - fromEnd;
  return type.getDimSize(order ? order[d] : d);
}

static bool differ(int64_t a, int64_t b) { return !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b) && a != b; }

static LogicalResult verifyMatrices(GroupOp group, LibraryMatmulAttr call, RankedTensorType a, RankedTensorType b,
                                    RankedTensorType result) {
  auto refuse = [&] { return group.emitOpError("library: "); };
  if (!canMultiply(call.getLibrary(), a.getElementType(), b.getElementType(), result.getElementType()))
    return refuse() << "expected a matmul of types that " << stringifyLibrary(call.getLibrary()) << " has, got "
                    << a.getElementType() << " by " << b.getElementType() << " to " << result.getElementType();
  if (std::min(a.getRank(), b.getRank()) < 2 || result.getRank() != std::max(a.getRank(), b.getRank()) ||
      result.getRank() > kMaxRank)
    return refuse() << "expected operands of 2 to " << kMaxRank << " dimensions, and a result of as many, got " << a
                    << " by " << b << " to " << result;
  for (auto [name, type, order] : {std::make_tuple("a_order", a, call.getAOrder()), {"b_order", b, call.getBOrder()}})
    if (order && !isOrderOfMatrix(order, type.getRank()))
      return refuse() << name << ": expected a permutation of " << type.getRank()
                      << " dimensions that keeps the last one among the last two, got [" << order.asArrayRef() << "]";
  int64_t rows = getExtentFromEnd(a, call.getAOrder(), 2), columns = getExtentFromEnd(b, call.getBOrder(), 1);
  if (differ(getExtentFromEnd(a, call.getAOrder(), 1), getExtentFromEnd(b, call.getBOrder(), 2)) ||
      differ(rows, getExtentFromEnd(result, {}, 2)) || differ(columns, getExtentFromEnd(result, {}, 1)))
    return refuse() << "expected a result of the rows of a and the columns of b, and as many columns of a as rows of "
                       "b, got "
                    << a << " by " << b << " to " << result;
  return success();
}

LogicalResult graph::verifyLibrary(GroupOp group) {
  LibraryMatmulAttr call = *group.getLibrary();
  auto refuse = [&] { return group.emitOpError("library: "); };
  if (group.getNumResults() != 1)
    return refuse() << "expected a group of one result, got " << group.getNumResults();
  SmallVector<Value> inputs = group.getInputs();
  int64_t count = inputs.size();
  for (auto [name, number, least] : {std::make_tuple("a", call.getA(), int64_t(0)),
                                     {"b", call.getB(), 0},
                                     {"bias", call.getBias(), -1},
                                     {"residual", call.getResidual(), -1}})
    if (number < least || number >= count)
      return refuse() << name << ": expected the number of an input, from " << least << " to " << count - 1 << ", got "
                      << number;
  if (call.getOwnNs() < 0 || call.getLibraryNs() < 0)
    return refuse() << "expected times of at least 0, got " << call.getOwnNs() << " and " << call.getLibraryNs();
  RankedTensorType a = getTypeOfTensor(inputs[call.getA()]), b = getTypeOfTensor(inputs[call.getB()]);
  RankedTensorType result = getTypeOfTensor(group.getResult(0));
  if (failed(verifyMatrices(group, call, a, b, result)))
    return failure();
  if (call.getBias() >= 0) {
    RankedTensorType bias = getTypeOfTensor(inputs[call.getBias()]);
    if (!canAddBias(call.getLibrary(), a.getElementType(), result.getElementType()))
      return refuse() << "expected no bias, which " << stringifyLibrary(call.getLibrary()) << " does not have for "
                      << a.getElementType() << " to " << result.getElementType();
    ArrayRef<int64_t> shape = bias.getShape();
    if (bias.getElementType() != result.getElementType() || shape.empty() ||
        differ(shape.back(), getExtentFromEnd(result, {}, 1)) ||
        llvm::any_of(shape.drop_back(), [](int64_t extent) { return extent != 1; }))
      return refuse() << "expected a bias of an element for each column of " << result << ", got " << bias;
  }
  if (call.getResidual() >= 0)
    if (RankedTensorType residual = getTypeOfTensor(inputs[call.getResidual()]); residual != result)
      return refuse() << "expected a residual of the result's type, " << result << ", got " << residual;
  return success();
}

DictionaryAttr graph::getParameters(LibraryMatmulAttr call) {
  Builder builder(call.getContext());
  NamedAttrList list;
  auto number = [&](StringRef name, int64_t value) { list.append(name, builder.getI64IntegerAttr(value)); };
  list.append("library", builder.getStringAttr(stringifyLibrary(call.getLibrary())));
  list.append("epilogue", builder.getStringAttr(stringifyLibraryEpilogue(call.getEpilogue())));
  for (auto [name, order] : {std::make_pair("a_order", call.getAOrder()), {"b_order", call.getBOrder()}})
    if (order)
      list.append(name, order);
  number("a", call.getA());
  number("b", call.getB());
  number("bias", call.getBias());
  number("residual", call.getResidual());
  number("own_ns", call.getOwnNs());
  number("library_ns", call.getLibraryNs());
  return list.getDictionary(call.getContext());
}
