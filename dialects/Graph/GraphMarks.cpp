//===- GraphMarks.cpp - what passes leave on operators, weights and models ===//
//
// The verifiers of the dialect's attributes that are no op's own: on which op each may stand, and what it is.
//
//===----------------------------------------------------------------------===//
#include "dialects/AttributeRules.h"
#include "dialects/Graph/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace tilewright;

static bool isOperator(Operation *op) { return op->hasTrait<graph::Operator>(); }

static constexpr StringLiteral kWeight("a weight (graph.weight)"), kModel("a model's function");

static constexpr AttributeRule kGraphRules[] = {
    {graph::kDefinitionAttr, "an operator", "the name of a function", isOperator, isOf<FlatSymbolRefAttr>},
    {graph::kMagnitudeAttr, "a matmul or a convolution", "a float", isOn<graph::MatmulOp, graph::ConvOp>,
     isOf<FloatAttr>},
    {graph::kQuantizedFromAttr, kWeight, kText, isOn<graph::WeightOp>, isOf<StringAttr>},
    {graph::kScaleAxisAttr, kWeight, "an i64 of at least -1", isOn<graph::WeightOp>, isNumber<-1, INT64_MAX>},
    {graph::kGroupAttr, kWeight, "an i64 of at least 1", isOn<graph::WeightOp>, isNumber<1, INT64_MAX>},
    {graph::kJoinedAttr, kWeight, "an array of strings", isOn<graph::WeightOp>, isArrayOf<StringAttr>},
    {graph::kJoinedAxisAttr, kWeight, "an i64 of at least 0", isOn<graph::WeightOp>, isNumber<0, INT64_MAX>},
    {graph::kFoldedAttr, kWeight, "the name of a function", isOn<graph::WeightOp>, isOf<SymbolRefAttr>},
    {graph::kArenaBytesAttr, kModel, "an i64 of at least 0", isOn<func::FuncOp>, isNumber<0, INT64_MAX>},
    {graph::kCudaGraphAttr, kModel, kUnit, isOn<func::FuncOp>, isOf<UnitAttr>},
};

LogicalResult graph::GraphDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyByRules(kGraphRules, op, attribute);
}

static LogicalResult verifyName(Operation *op, StringRef of, unsigned position, NamedAttribute attribute) {
  auto refuse = [&] { return op->emitOpError() << of << " #" << position << ": expected "; };
  if (attribute.getName() != graph::kNameAttr)
    return refuse() << "an attribute that the dialect graph has for arguments and results, got " << attribute.getName();
  if (!isa<StringAttr>(attribute.getValue()))
    return refuse() << attribute.getName() << " to be " << kText << ", got " << attribute.getValue();
  return success();
}

/// A number that data decide, on a result: what it is, and its name, which is a symbol.
static LogicalResult verifyCount(Operation *op, unsigned position, NamedAttribute attribute) {
  auto refuse = [&] { return op->emitOpError() << "result #" << position << ": expected "; };
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    return refuse() << graph::kCountAttr << " on a result of a model's function";
  if (!isa<UnitAttr>(attribute.getValue()))
    return refuse() << graph::kCountAttr << " to be " << kUnit << ", got " << attribute.getValue();
  auto number = RankedTensorType::get({}, IntegerType::get(op->getContext(), 64));
  if (Type type = function.getFunctionType().getResult(position); type != number)
    return refuse() << number << " for " << graph::kCountAttr << ", got " << type;
  if (!function.getResultAttr(position, graph::kNameAttr))
    return refuse() << "a symbol (" << graph::kNameAttr << ") for " << graph::kCountAttr;
  return success();
}

/// By what permutation the caller transposes a result.
static LogicalResult verifyOrder(Operation *op, unsigned position, NamedAttribute attribute) {
  auto refuse = [&] { return op->emitOpError() << "result #" << position << ": expected "; };
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    return refuse() << graph::kOrderAttr << " on a result of a model's function";
  auto order = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
  auto type = dyn_cast<RankedTensorType>(function.getFunctionType().getResult(position));
  if (!order || !type || order.size() != type.getRank() || !isPermutationVector(order.asArrayRef()))
    return refuse() << graph::kOrderAttr << " to be a permutation of the dimensions of "
                    << function.getFunctionType().getResult(position) << ", got " << attribute.getValue();
  return success();
}

LogicalResult graph::GraphDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned position,
                                                            NamedAttribute attribute) {
  return verifyName(op, "argument", position, attribute);
}

LogicalResult graph::GraphDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned position,
                                                               NamedAttribute attribute) {
  if (attribute.getName() == graph::kCountAttr)
    return verifyCount(op, position, attribute);
  if (attribute.getName() == graph::kOrderAttr)
    return verifyOrder(op, position, attribute);
  return verifyName(op, "result", position, attribute);
}
